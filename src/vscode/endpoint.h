// Endpoint: our end of one PersistentProtocol connection. The broker has two, one towards the
// extension host and one towards the workbench, each with numbers of its own: so a message can be
// dropped, held for a person's answer, or answered by us, without either side noticing a gap.
//
// Numbers, acknowledgements, replay and pausing as VS Code's own ends do them: a regular message is
// kept until the other side has acknowledged it; after a reconnection all that are kept are sent
// again; a gap asks for a replay; our acknowledgement goes with the next message, or alone after
// kAckDelay; a keep-alive every kKeepAlive. Pure: time is passed in, bytes go to a function.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "vscode/outlet.h"
#include "vscode/protocol.h"

namespace bulkhead {

class Endpoint {
 public:
  using Clock = std::chrono::steady_clock;
  // `owner` holds the body where it outlives the call, else it is null.
  using Write = std::function<void(Bytes header, Bytes body, const SharedBytes& owner)>;
  static constexpr std::chrono::milliseconds kAckDelay{500};
  static constexpr std::chrono::milliseconds kKeepAlive{5000};
  static constexpr std::chrono::milliseconds kReplayDelay{10000};
  // Who asks for a replay more often than an honest end does gets none: each one is all over again.
  static constexpr std::chrono::milliseconds kReplayPause{5000};

  explicit Endpoint(Write write) : write_(std::move(write)) {}

  enum class Got : uint8_t {
    kNothing,     // bookkeeping only
    kMessage,     // the next regular message, in order and for the first time: its body counts
    kControl,     // a control message: its body counts
    kDisconnect,  // the other side is done for good
  };
  // Every message that the reader gives, in order.
  Got receive(const Message& message, Clock::time_point now);

  // Sends a regular message, now or, while paused or cut off, later.
  void send(std::vector<uint8_t> body);
  void send_control(Bytes body);
  void send_disconnect();
  // Lets the other side write again: the server paused it while it handed the connection over.
  void send_resume();

  // Acknowledgements and keep-alives that are due. Returns when to call again.
  Clock::time_point tick(Clock::time_point now);

  // The transport is gone: keep what is sent. Then a new one is there: acknowledge, send all again.
  void cut_off();
  void reconnected(Write write, Clock::time_point now);
  bool connected() const { return connected_; }

  // Bytes of messages that are not yet acknowledged: the broker stops reading the other side
  // beyond its limit.
  size_t kept_bytes() const { return kept_bytes_; }
  // The number of the first of them; 0 where there is none.
  uint32_t oldest_kept() const { return kept_.empty() ? 0 : kept_.front().id; }

 private:
  struct Kept {
    uint32_t id;
    SharedBytes body;
  };
  void write(MessageType type, uint32_t id, Bytes body, const SharedBytes& owner = nullptr);
  void write_all_kept();

  Write write_;
  bool connected_ = true;
  bool paused_ = false;
  uint32_t sent_ = 0;          // number of our last regular message
  uint32_t received_ = 0;      // number of the last one that we took
  uint32_t acknowledged_ = 0;  // what we last told the other side of received_
  std::deque<Kept> kept_;
  size_t written_ = 0;  // how many of kept_ were written on this transport
  size_t kept_bytes_ = 0;
  Clock::time_point ack_due_{};
  Clock::time_point keep_alive_due_{};
  Clock::time_point replay_asked_{};
  Clock::time_point replay_given_{};
};

}  // namespace bulkhead
