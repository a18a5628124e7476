#include "vscode/protocol.h"

#include <fmt/core.h>

#include <algorithm>

namespace bulkhead {
namespace {

constexpr size_t kFirstReserve = 2U << 20U;

uint32_t read_u32(const uint8_t* at) {
  return (uint32_t{at[0]} << 24U) | (uint32_t{at[1]} << 16U) | (uint32_t{at[2]} << 8U) | at[3];
}

void write_u32(uint32_t value, uint8_t* at) {
  for (unsigned i = 0; i < 4; ++i) at[i] = static_cast<uint8_t>(value >> (24U - 8U * i));
}

Message parse(const uint8_t* header, size_t length) {
  Message message;
  message.type = static_cast<MessageType>(header[0]);
  message.id = read_u32(header + 1);
  message.ack = read_u32(header + 5);
  message.body = Bytes(header + kMessageHeader, length);
  return message;
}

bool is_known(uint8_t type) { return type <= 9 && type != 4; }

}  // namespace

Result<size_t> MessageReader::body_length(const uint8_t* header) const {
  if (!is_known(header[0]))
    return Error{fmt::format("unknown protocol message type {}", header[0])};
  const size_t length = read_u32(header + 9);
  if (length > limit_)
    return Error{fmt::format("protocol message of {} bytes, {} allowed", length, limit_)};
  return length;
}

Status MessageReader::feed(Bytes bytes, const std::function<Status(const Message&)>& each) {
  while (!bytes.empty()) {
    if (buffer_.empty() && bytes.size() >= kMessageHeader) {  // whole messages, in place
      BULKHEAD_TRY(const size_t length, body_length(bytes.data()));
      if (bytes.size() >= kMessageHeader + length) {
        BULKHEAD_CHECK(each(parse(bytes.data(), length)));
        bytes = bytes.subspan(kMessageHeader + length);
        continue;
      }
    }
    size_t wanted = kMessageHeader;
    if (buffer_.size() >= kMessageHeader) {
      BULKHEAD_TRY(const size_t length, body_length(buffer_.data()));
      wanted += length;
    }
    const size_t take = std::min(wanted - buffer_.size(), bytes.size());
    // At once, but not on the word of a header alone.
    if (buffer_.capacity() < wanted)
      buffer_.reserve(std::min(wanted, std::max(2 * buffer_.capacity(), kFirstReserve)));
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(take));
    bytes = bytes.subspan(take);
    if (buffer_.size() < kMessageHeader) return {};
    BULKHEAD_TRY(const size_t length, body_length(buffer_.data()));
    if (buffer_.size() < kMessageHeader + length) continue;
    Status status = each(parse(buffer_.data(), length));
    buffer_.clear();
    if (buffer_.capacity() > kFirstReserve) buffer_.shrink_to_fit();
    if (!status.ok()) return status;
  }
  return {};
}

void write_message_header(const Message& message, size_t body_size,
                          uint8_t (&into)[kMessageHeader]) {
  into[0] = static_cast<uint8_t>(message.type);
  write_u32(message.id, into + 1);
  write_u32(message.ack, into + 5);
  write_u32(static_cast<uint32_t>(body_size), into + 9);
}

}  // namespace bulkhead
