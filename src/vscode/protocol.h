// Messages of VS Code's PersistentProtocol: a 13-byte header (type, id, ack, length; big endian)
// and a body. Pure, incremental, bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "vscode/websocket.h"

namespace bulkhead {

enum class MessageType : uint8_t {
  kNone = 0,
  kRegular = 1,
  kControl = 2,
  kAck = 3,
  kDisconnect = 5,
  kReplayRequest = 6,
  kPause = 7,
  kResume = 8,
  kKeepAlive = 9,
};

struct Message {
  MessageType type = MessageType::kNone;
  uint32_t id = 0;   // regular messages count from 1; a replayed one keeps its number
  uint32_t ack = 0;  // the last number that the sender has received
  Bytes body;        // valid during the callback
};

inline constexpr size_t kMessageHeader = 13;

class MessageReader {
 public:
  // A header that announces more than `limit` bytes is an error at once, before a byte is kept.
  explicit MessageReader(size_t limit) : limit_(limit) {}

  // Calls `each` for every message completed; its error stops reading and is returned. A message
  // that is whole within `bytes` is not copied.
  Status feed(Bytes bytes, const std::function<Status(const Message&)>& each);

  size_t buffered() const { return buffer_.size(); }

 private:
  Result<size_t> body_length(const uint8_t* header) const;
  size_t limit_;
  std::vector<uint8_t> buffer_;  // an incomplete message from its header on
};

void write_message_header(const Message& message, size_t body_size,
                          uint8_t (&into)[kMessageHeader]);

}  // namespace bulkhead
