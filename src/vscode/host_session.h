// HostSession: an extension host's conversation from its first byte. Nothing reaches the
// host before the workbench has said what it is for and admit() has agreed; then a Broker
// decides on every message.
//
//   workbench: connected ─► we: "ready" ─► workbench: initial data ─► admit()
//   host: "ready", before or after that ─► the initial data, less what it must not have ─► Broker
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "vscode/broker.h"
#include "vscode/initial_data.h"
#include "vscode/message_judge.h"

namespace bulkhead {

class HostSession final : public MessageJudge {
 public:
  // Agrees to this data, which it may change, for the host's compartment; an error ends the
  // conversation. Called once, by the relay's thread.
  using Admit = std::function<Result<std::unique_ptr<Broker>>(InitialData& data)>;
  explicit HostSession(Admit admit) : admit_(std::move(admit)) {}

  Status begin(Outbox& outbox) override;
  Status from_host(Bytes body, Outbox& outbox) override;
  Status from_workbench(Bytes body, Outbox& outbox) override;
  bool is_initialized() const override { return heard_; }

  // The workbench has told the host to end.
  bool is_terminated() const { return terminated_; }
  // Ends the threads that wait for a person.
  void stop();

 private:
  Status pass_held(Outbox& outbox);

  Admit admit_;
  std::unique_ptr<Broker> broker_;
  bool host_ready_ = false, initialized_ = false, terminated_ = false;
  bool heard_ = false;                      // that it is initialized, by the workbench
  std::vector<std::vector<uint8_t>> held_;  // from the workbench, until the host is ready
};

}  // namespace bulkhead
