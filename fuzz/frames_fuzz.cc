// WebSocket frames and the messages in them: whatever the bytes and however they are cut, reading
// ends, gives the same, and keeps no more than what was announced and allowed.
//
// The first byte chooses how the rest is cut; its top bit, whether frames are masked.

#include <cstdint>
#include <string>
#include <vector>

#include "require.h"
#include "vscode/protocol.h"
#include "vscode/websocket.h"

namespace {

using namespace bulkhead;

constexpr size_t kLimit = 4096;

struct Seen {
  std::string payload, control;
  bool ok = true;
  bool operator==(const Seen&) const = default;
};

Seen read_frames(Bytes bytes, bool masked, size_t chunk) {
  WebSocketReader reader(masked);
  Seen seen;
  const WebSocketReader::Sink sink{
      [&](Bytes part) { seen.payload.append(part.begin(), part.end()); },
      [&](Bytes part) {
        require(part.size() <= 125, "a ping is small");
        seen.control += "ping ";
        seen.control.append(part.begin(), part.end());
      },
      [&](uint16_t code) { seen.control += "close " + std::to_string(code); }};
  std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  for (size_t i = 0; i < copy.size() && seen.ok; i += chunk)
    seen.ok = reader.feed(std::span(copy).subspan(i, std::min(chunk, copy.size() - i)), sink).ok();
  return seen;
}

Seen read_messages(Bytes bytes, size_t chunk) {
  MessageReader reader(kLimit);
  Seen seen;
  for (size_t i = 0; i < bytes.size() && seen.ok; i += chunk) {
    seen.ok = reader
                  .feed(bytes.subspan(i, std::min(chunk, bytes.size() - i)),
                        [&](const Message& message) -> Status {
                          require(message.body.size() <= kLimit, "a message is within its limit");
                          uint8_t header[kMessageHeader];
                          write_message_header(message, message.body.size(), header);
                          seen.payload.append(header, header + kMessageHeader);
                          seen.payload.append(message.body.begin(), message.body.end());
                          return {};
                        })
                  .ok();
    require(reader.buffered() <= kLimit + kMessageHeader, "what is kept is bounded");
  }
  if (seen.ok) {
    require(seen.payload.size() + reader.buffered() == bytes.size(), "every byte is accounted for");
    require(std::equal(seen.payload.begin(), seen.payload.end(), bytes.begin(),
                       [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }),
            "what is read is written back the same");
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t chunk = (data[0] & 0x7FU) + size_t{1};
  const bool masked = (data[0] & 0x80U) != 0;
  const Bytes bytes(data + 1, size - 1);
  const Seen whole = read_frames(bytes, masked, size);
  require(read_frames(bytes, masked, chunk) == whole, "frames are the same however they are cut");
  const std::string& payload = whole.payload;
  const Bytes messages(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
  require(read_messages(messages, size) == read_messages(messages, chunk),
          "messages are the same however they are cut");
  require(read_messages(bytes, size) == read_messages(bytes, chunk),
          "messages are the same without frames");
  return 0;
}
