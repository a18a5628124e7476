// HostSession: an extension host's conversation from its first byte. The compartment is made when
// the workbench has said what it is for; then a Broker decides on every message.
//
//   workbench: connected ─► we: "ready" ─► workbench: initial data ─► admit() starts the host
//   host: "ready" ─► the initial data, less what it must not have ─► Broker from here on
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "vscode/broker.h"
#include "vscode/initial_data.h"
#include "vscode/judge.h"

namespace bulkhead {

class HostSession final : public Judge {
 public:
  // Starts the compartment for this data, which it may change; an error ends the conversation.
  // Called once, by the relay's thread.
  using Admit = std::function<Result<std::unique_ptr<Broker>>(InitialData& data)>;
  explicit HostSession(Admit admit) : admit_(std::move(admit)) {}

  Status begin(Outbox& outbox) override;
  Status from_host(Bytes body, Outbox& outbox) override;
  Status from_workbench(Bytes body, Outbox& outbox) override;

  // Ends the threads that wait for a person.
  void stop();

 private:
  Admit admit_;
  std::unique_ptr<Broker> broker_;
  bool host_ready_ = false;
  std::vector<std::vector<uint8_t>> held_;  // from the workbench, until the host is ready
};

}  // namespace bulkhead
