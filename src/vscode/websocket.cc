#include "vscode/websocket.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace bulkhead {
namespace {

constexpr uint8_t kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10;

bool is_control(uint8_t opcode) { return (opcode & 8U) != 0; }

Error broken(std::string what) { return Error{"broken WebSocket frame: " + std::move(what)}; }

}  // namespace

void unmask(std::span<uint8_t> bytes, const uint8_t (&mask)[4], size_t offset) noexcept {
  uint8_t rotated[8];
  for (size_t i = 0; i < 8; ++i) rotated[i] = mask[(offset + i) & 3U];
  uint64_t wide = 0;
  std::memcpy(&wide, rotated, sizeof wide);
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {  // one word at a time; compilers make vectors of it
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    word ^= wide;
    std::memcpy(bytes.data() + i, &word, sizeof word);
  }
  for (; i < bytes.size(); ++i) bytes[i] ^= rotated[i & 3U];
}

size_t WebSocketReader::head_size() const {
  if (head_length_ < 2) return 2;
  const uint8_t short_length = head_[1] & 0x7FU;
  const size_t extended = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
  return 2 + extended + (masked_ ? 4 : 0);
}

Status WebSocketReader::head_complete() {
  const bool final = (head_[0] & 0x80U) != 0;
  opcode_ = head_[0] & 0x0FU;
  if ((head_[0] & 0x70U) != 0)
    return broken("reserved bits set; compression must be off (--disable-websocket-compression)");
  uint64_t length = head_[1] & 0x7FU;
  size_t at = 2;
  if (length >= 126) {
    const size_t bytes = length == 126 ? 2 : 8;
    length = 0;
    for (size_t i = 0; i < bytes; ++i) length = (length << 8U) | head_[at++];
    if (length >> 63U) return broken("length with the top bit set");
  }
  if (masked_) std::memcpy(mask_, head_ + at, 4);
  mask_offset_ = 0;
  left_ = length;
  if (is_control(opcode_)) {
    if (!final) return broken("fragmented control frame");
    if (length > 125) return broken(fmt::format("control frame of {} bytes", length));
    if (opcode_ > kPong) return broken(fmt::format("unknown opcode {}", opcode_));
    control_.clear();
  } else {
    if (opcode_ > kBinary) return broken(fmt::format("unknown opcode {}", opcode_));
    if ((opcode_ == kContinuation) != in_message_)
      return broken(in_message_ ? "a new message inside another" : "continuation of nothing");
    if (opcode_ == kText) return broken("text, where the protocol is binary");
    in_message_ = !final;
  }
  state_ = State::kPayload;
  head_length_ = 0;
  if (left_ == 0 && !is_control(opcode_)) state_ = State::kHead;
  return {};
}

Status WebSocketReader::feed(std::span<uint8_t> bytes, const Sink& sink) {
  for (;;) {
    if (state_ == State::kHead) {
      if (bytes.empty()) return {};
      const size_t wanted = head_size();
      const size_t take = std::min(wanted - head_length_, bytes.size());
      std::memcpy(head_ + head_length_, bytes.data(), take);
      head_length_ += take;
      bytes = bytes.subspan(take);
      if (head_length_ == 2 && ((head_[1] & 0x80U) != 0) != masked_)
        return broken(masked_ ? "not masked, as a browser's must be"
                              : "masked, as a server's must not be");
      if (head_length_ < head_size())
        continue;  // more to come, or a longer head than the first two bytes told
      BULKHEAD_CHECK(head_complete());
      continue;
    }
    const size_t take = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
    const std::span<uint8_t> part = bytes.first(take);
    if (masked_) unmask(part, mask_, mask_offset_);
    mask_offset_ = (mask_offset_ + take) & 3U;
    left_ -= take;
    bytes = bytes.subspan(take);
    if (!is_control(opcode_)) {
      if (take > 0) sink.payload(part);
      if (left_ > 0) return {};
      state_ = State::kHead;
      continue;
    }
    control_.append(part.begin(), part.end());
    if (left_ > 0) return {};
    state_ = State::kHead;
    if (opcode_ == kPing) {
      std::vector<uint8_t> copy(control_.begin(), control_.end());
      sink.ping(copy);
    } else if (opcode_ == kClose) {
      uint16_t code = 1005;
      if (control_.size() >= 2)
        code = static_cast<uint16_t>((static_cast<uint8_t>(control_[0]) << 8U) |
                                     static_cast<uint8_t>(control_[1]));
      sink.close(code);
    }
  }
}

size_t websocket_header(uint8_t opcode, uint64_t length, uint8_t (&into)[10]) {
  into[0] = static_cast<uint8_t>(0x80U | opcode);
  if (length < 126) {
    into[1] = static_cast<uint8_t>(length);
    return 2;
  }
  const size_t bytes = length <= 0xFFFF ? 2 : 8;
  into[1] = bytes == 2 ? 126 : 127;
  for (size_t i = 0; i < bytes; ++i)
    into[2 + i] = static_cast<uint8_t>(length >> (8 * (bytes - 1 - i)));
  return 2 + bytes;
}

}  // namespace bulkhead
