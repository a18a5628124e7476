// MessageJudge: what may pass between an extension host and the workbench. The relay moves bytes
// and knows no method; the judge knows methods and moves no bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "vscode/websocket.h"

namespace bulkhead {

// The messages of one byte that frame a host's conversation; everything else is RPC.
enum class HostSignal : uint8_t { kInitialized = 1, kReady = 2, kTerminate = 3 };

// Where a judge puts what shall be sent. Any thread; the relay sends it in the order of the calls.
class Outbox {
 public:
  virtual ~Outbox() = default;
  virtual void to_host(std::vector<uint8_t> body) = 0;
  virtual void to_workbench(std::vector<uint8_t> body) = 0;
};

// Called by the relay's thread, once for each regular message, in order. A judge passes a message
// on by putting it into the outbox: at once, changed, later, or never. An error ends the connection
// and the host with it.
class MessageJudge {
 public:
  virtual ~MessageJudge() = default;
  // The workbench is there, for the first time.
  virtual Status begin(Outbox& outbox) {
    static_cast<void>(outbox);
    return {};
  }
  virtual Status from_host(Bytes body, Outbox& outbox) = 0;
  virtual Status from_workbench(Bytes body, Outbox& outbox) = 0;
  // The workbench has heard that the host is at work, and speaks to it. A page that goes away
  // before does not say so.
  virtual bool is_initialized() const { return true; }
};

}  // namespace bulkhead
