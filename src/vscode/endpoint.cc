#include "vscode/endpoint.h"

#include <algorithm>

namespace bulkhead {
namespace {

// What a kept message takes: a short one much more than its bytes.
constexpr size_t kOverhead = 128;
size_t cost(const std::vector<uint8_t>& body) { return body.size() + kOverhead; }

}  // namespace

void Endpoint::write(MessageType type, uint32_t id, Bytes body, const SharedBytes& owner) {
  if (!connected_) return;
  Message message;
  message.type = type;
  message.id = id;
  message.ack = received_;
  acknowledged_ = received_;
  uint8_t header[kMessageHeader];
  write_message_header(message, body.size(), header);
  write_(header, body, owner);
}

void Endpoint::write_all_kept() {
  while (connected_ && !paused_ && written_ < kept_.size()) {
    const Kept& next = kept_[written_++];
    write(MessageType::kRegular, next.id, *next.body, next.body);
  }
}

Endpoint::Got Endpoint::receive(const Message& message, Clock::time_point now) {
  // An acknowledgement of what was never sent is ignored, as a lie must not make us forget.
  while (!kept_.empty() && message.ack <= sent_ && kept_.front().id <= message.ack) {
    kept_bytes_ -= cost(*kept_.front().body);
    kept_.pop_front();
    if (written_ > 0) --written_;
  }
  switch (message.type) {
    case MessageType::kRegular:
      if (message.id <= received_) return Got::kNothing;  // replayed, and had before
      if (message.id != received_ + 1) {
        if (now - replay_asked_ > kReplayDelay) {
          replay_asked_ = now;
          write(MessageType::kReplayRequest, 0, {});
        }
        return Got::kNothing;
      }
      if (received_ == acknowledged_) ack_due_ = now + kAckDelay;
      received_ = message.id;
      return Got::kMessage;
    case MessageType::kControl:
      return Got::kControl;
    case MessageType::kDisconnect:
      return Got::kDisconnect;
    case MessageType::kReplayRequest:
      if (now - replay_given_ < kReplayPause) return Got::kNothing;
      replay_given_ = now;
      written_ = 0;
      write_all_kept();
      return Got::kNothing;
    case MessageType::kPause:
      paused_ = true;
      return Got::kNothing;
    case MessageType::kResume:
      paused_ = false;
      write_all_kept();
      return Got::kNothing;
    case MessageType::kNone:
    case MessageType::kAck:
    case MessageType::kKeepAlive:
      return Got::kNothing;
  }
  return Got::kNothing;
}

void Endpoint::send(std::vector<uint8_t> body) {
  kept_bytes_ += cost(body);
  kept_.push_back(Kept{++sent_, std::make_shared<const std::vector<uint8_t>>(std::move(body))});
  write_all_kept();
}

void Endpoint::send_control(Bytes body) { write(MessageType::kControl, 0, body); }

void Endpoint::send_disconnect() { write(MessageType::kDisconnect, 0, {}); }

void Endpoint::send_resume() { write(MessageType::kResume, 0, {}); }

Endpoint::Clock::time_point Endpoint::tick(Clock::time_point now) {
  if (keep_alive_due_ == Clock::time_point{}) keep_alive_due_ = now + kKeepAlive;
  if (now >= keep_alive_due_) {
    keep_alive_due_ = now + kKeepAlive;
    write(MessageType::kKeepAlive, 0, {});
  }
  if (received_ != acknowledged_ && now >= ack_due_) write(MessageType::kAck, 0, {});
  if (received_ != acknowledged_ && connected_) return std::min(keep_alive_due_, ack_due_);
  return keep_alive_due_;
}

void Endpoint::cut_off() {
  connected_ = false;
  written_ = 0;
}

void Endpoint::reconnected(Write write_bytes, Clock::time_point now) {
  write_ = std::move(write_bytes);
  connected_ = true;
  paused_ = false;
  written_ = 0;
  replay_asked_ = {};
  replay_given_ = {};
  keep_alive_due_ = now + kKeepAlive;
  write(MessageType::kAck, 0, {});
  write_all_kept();
}

}  // namespace bulkhead
