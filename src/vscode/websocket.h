// WebSocket frames (RFC 6455) between the browser and us, after the server's handshake.
//
// VS Code treats the payloads as one stream of bytes: a message of its protocol may span frames,
// and a frame may hold several. Pure: bytes in, bytes out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bulkhead {

using Bytes = std::span<const uint8_t>;

// Reads what the browser sends: masked frames, of any length up to the limit, without extensions.
// A reserved bit (compression that nobody agreed to), an unmasked or a fragmented control frame, or
// an unknown opcode is an error: the connection must be closed.
class WebSocketReader {
 public:
  struct Sink {
    std::function<void(Bytes)> payload;        // unmasked; in order; any chunking
    std::function<void(Bytes)> ping;           // answer with a pong of the same payload
    std::function<void(uint16_t code)> close;  // 1005 where the frame gave none
  };
  // `unmask` is false for frames that a server sent (tests, other transports).
  explicit WebSocketReader(bool masked = true) : masked_(masked) {}

  // Takes the bytes as they come. `bytes` is unmasked in place.
  Status feed(std::span<uint8_t> bytes, const Sink& sink);

 private:
  enum class State : uint8_t { kHead, kPayload };
  Status head_complete();
  size_t head_size() const;

  bool masked_;
  State state_ = State::kHead;
  uint8_t head_[14] = {};
  size_t head_length_ = 0;
  uint8_t opcode_ = 0;
  bool in_message_ = false;  // a data message whose last frame has not come
  uint64_t left_ = 0;        // payload bytes of this frame still to come
  uint8_t mask_[4] = {};
  size_t mask_offset_ = 0;
  std::string control_;  // payload of a control frame, at most 125 bytes
};

// The header of an unmasked final frame of this length; opcode 2 is binary, 8 close, 10 pong.
size_t websocket_header(uint8_t opcode, uint64_t length, uint8_t (&into)[10]);

// XORs in place with a 4-byte mask from the given offset of the mask.
void unmask(std::span<uint8_t> bytes, const uint8_t (&mask)[4], size_t offset) noexcept;

}  // namespace bulkhead
