// The three layers of the wire, each against its own writer and against bytes by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "vscode/protocol.h"
#include "vscode/rpc.h"
#include "vscode/websocket.h"

namespace bulkhead {
namespace {

std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }
std::string text_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<uint8_t> masked_frame(uint8_t first, std::string_view payload) {
  uint8_t header[10];
  const size_t length = websocket_header(2, payload.size(), header);
  std::vector<uint8_t> frame(header, header + length);
  frame[0] = first;
  frame[1] |= 0x80U;
  const uint8_t mask[4] = {0x12, 0x34, 0x56, 0x78};
  frame.insert(frame.end(), mask, mask + 4);
  for (size_t i = 0; i < payload.size(); ++i)
    frame.push_back(static_cast<uint8_t>(payload[i]) ^ mask[i & 3U]);
  return frame;
}

struct Seen {
  std::string payload, pings;
  int close = 0;
  WebSocketReader::Sink sink() {
    return {[this](Bytes b) { payload += text_of(b); }, [this](Bytes b) { pings += text_of(b); },
            [this](uint16_t code) { close = code; }};
  }
};

TEST(WebSocket, ReadsFramesOfEveryLengthInEveryChunking) {
  for (const size_t size : {0UL, 1UL, 125UL, 126UL, 65535UL, 65536UL, 70001UL}) {
    std::string payload(size, 'x');
    for (size_t i = 0; i < size; ++i) payload[i] = static_cast<char>(i * 7);
    for (const size_t chunk : {1UL, 3UL, 1000UL, 1UL << 20U}) {
      std::vector<uint8_t> stream = masked_frame(0x82, payload);
      const std::vector<uint8_t> second = masked_frame(0x82, "end");
      stream.insert(stream.end(), second.begin(), second.end());
      WebSocketReader reader;
      Seen seen;
      for (size_t i = 0; i < stream.size(); i += chunk) {
        const size_t n = std::min(chunk, stream.size() - i);
        ASSERT_TRUE(reader.feed(std::span(stream).subspan(i, n), seen.sink()).ok());
      }
      ASSERT_EQ(seen.payload, payload + "end") << size << " in chunks of " << chunk;
    }
  }
}

TEST(WebSocket, FragmentsWithAPingBetween) {
  WebSocketReader reader;
  Seen seen;
  for (auto frame : {masked_frame(0x02, "one "), masked_frame(0x89, "ping"),
                     masked_frame(0x80, "two"), masked_frame(0x88, std::string("\x03\xe8", 2))})
    ASSERT_TRUE(reader.feed(frame, seen.sink()).ok());
  EXPECT_EQ(seen.payload, "one two");
  EXPECT_EQ(seen.pings, "ping");
  EXPECT_EQ(seen.close, 1000);
}

TEST(WebSocket, RefusesWhatABrowserNeverSends) {
  const auto refused = [](std::vector<uint8_t> bytes) {
    WebSocketReader reader;
    Seen seen;
    return !reader.feed(bytes, seen.sink()).ok();
  };
  EXPECT_TRUE(refused(masked_frame(0xC2, "compressed")));
  EXPECT_TRUE(refused(masked_frame(0x81, "text")));
  EXPECT_TRUE(refused(masked_frame(0x83, "opcode")));
  EXPECT_TRUE(refused(masked_frame(0x8B, "opcode")));
  EXPECT_TRUE(refused(masked_frame(0x09, "fragmented ping")));
  EXPECT_TRUE(refused(masked_frame(0x89, std::string(126, 'p'))));
  EXPECT_TRUE(refused(masked_frame(0x80, "continues nothing")));
  EXPECT_TRUE(refused({0x82, 0x01, 'x'}));
  EXPECT_TRUE(refused({0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}));
  WebSocketReader reader;
  Seen seen;
  std::vector<uint8_t> first = masked_frame(0x02, "open");
  std::vector<uint8_t> second = masked_frame(0x82, "another");
  ASSERT_TRUE(reader.feed(first, seen.sink()).ok());
  EXPECT_FALSE(reader.feed(second, seen.sink()).ok());
}

std::vector<uint8_t> protocol_message(uint8_t type, uint32_t id, std::string_view body) {
  Message message;
  message.type = static_cast<MessageType>(type);
  message.id = id;
  message.ack = id + 1;
  uint8_t header[kMessageHeader];
  write_message_header(message, body.size(), header);
  std::vector<uint8_t> bytes(kMessageHeader + body.size());
  std::copy_n(header, kMessageHeader, bytes.begin());
  std::copy(body.begin(), body.end(), bytes.begin() + kMessageHeader);
  return bytes;
}

TEST(Protocol, ReadsMessagesInEveryChunking) {
  std::vector<uint8_t> stream;
  for (uint32_t id = 1; id <= 20; ++id) {
    const auto message =
        protocol_message(1, id, std::string(id * 37 % 101, static_cast<char>('a' + id)));
    stream.insert(stream.end(), message.begin(), message.end());
  }
  for (const size_t chunk : {1UL, 2UL, 13UL, 64UL, stream.size()}) {
    MessageReader reader(1000);
    uint32_t next = 1;
    for (size_t i = 0; i < stream.size(); i += chunk) {
      const size_t n = std::min(chunk, stream.size() - i);
      ASSERT_TRUE(reader
                      .feed(Bytes(stream).subspan(i, n),
                            [&](const Message& message) -> Status {
                              EXPECT_EQ(message.id, next);
                              EXPECT_EQ(message.ack, next + 1);
                              EXPECT_EQ(
                                  text_of(message.body),
                                  std::string(next * 37 % 101, static_cast<char>('a' + next)));
                              ++next;
                              return {};
                            })
                      .ok());
    }
    EXPECT_EQ(next, 21U);
    EXPECT_EQ(reader.buffered(), 0U);
  }
}

TEST(Protocol, RefusesTooLargeBeforeKeepingAByteOfIt) {
  MessageReader reader(100);
  const auto none = [](const Message&) -> Status { return Error{"called"}; };
  const auto message = protocol_message(1, 1, std::string(101, 'x'));
  EXPECT_FALSE(reader.feed(Bytes(message).first(kMessageHeader), none).ok());
  MessageReader other(100);
  EXPECT_FALSE(other.feed(protocol_message(4, 1, ""), none).ok());
  MessageReader third(100);
  EXPECT_FALSE(third.feed(protocol_message(200, 1, ""), none).ok());
}

TEST(Rpc, RequestsRoundTrip) {
  RpcRequest request;
  request.number = 77;
  request.proxy = 12;
  request.method = "$tryOpenDocument";
  request.json = R"([{"path":"/a"}])";
  request.cancellable = true;
  const auto bytes = write_request(request);
  const auto parsed = parse_rpc(bytes);
  ASSERT_TRUE(parsed.ok());
  const auto& again = std::get<RpcRequest>(*parsed);
  EXPECT_EQ(again.number, 77U);
  EXPECT_EQ(again.proxy, 12);
  EXPECT_EQ(again.method, "$tryOpenDocument");
  EXPECT_EQ(again.json, request.json);
  EXPECT_TRUE(again.cancellable);
  EXPECT_FALSE(again.mixed);
}

TEST(Rpc, MixedArgumentsRoundTrip) {
  const auto data = bytes_of("data"), more = bytes_of("more");
  RpcRequest request;
  request.method = "$writeFile";
  request.mixed = true;
  request.arguments = {{RpcArgument::Type::kJson, "\"x\"", {}},
                       {RpcArgument::Type::kBuffer, {}, {data}},
                       {RpcArgument::Type::kUndefined, {}, {}},
                       {RpcArgument::Type::kJsonWithBuffers, "{}", {data, more}}};
  const auto bytes = write_request(request);
  const auto parsed = parse_rpc(bytes);
  ASSERT_TRUE(parsed.ok());
  const auto& again = std::get<RpcRequest>(*parsed);
  ASSERT_EQ(again.arguments.size(), 4U);
  EXPECT_EQ(again.arguments[0].json, "\"x\"");
  EXPECT_EQ(text_of(again.arguments[1].buffers.at(0)), "data");
  EXPECT_EQ(again.arguments[2].type, RpcArgument::Type::kUndefined);
  EXPECT_EQ(text_of(again.arguments[3].buffers.at(1)), "more");
  EXPECT_EQ(write_request(again), bytes);
}

TEST(Rpc, RepliesRoundTrip) {
  const auto data = bytes_of("data");
  for (const RpcReply& reply : {RpcReply{RpcType::kReplyOkEmpty, 1, {}, {}},
                                RpcReply{RpcType::kReplyOkBuffer, 2, {}, {data}},
                                RpcReply{RpcType::kReplyOkJson, 3, "[1]", {}},
                                RpcReply{RpcType::kReplyOkJsonWithBuffers, 4, "{}", {data, data}},
                                RpcReply{RpcType::kReplyError, 5, "{}", {}},
                                RpcReply{RpcType::kReplyErrorEmpty, 6, {}, {}}}) {
    const auto bytes = write_reply(reply);
    const auto parsed = parse_rpc(bytes);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(write_reply(std::get<RpcReply>(*parsed)), bytes);
  }
}

TEST(Rpc, EveryCutAndEveryExtraByteIsRefused) {
  const auto data = bytes_of("data");
  RpcRequest request;
  request.method = "$m";
  request.mixed = true;
  request.arguments = {{RpcArgument::Type::kJsonWithBuffers, "{}", {data}}};
  auto bytes = write_request(request);
  for (size_t n = 0; n < bytes.size(); ++n)
    EXPECT_FALSE(parse_rpc(Bytes(bytes).first(n)).ok()) << n;
  bytes.push_back(0);
  EXPECT_FALSE(parse_rpc(bytes).ok());
  EXPECT_FALSE(parse_rpc(bytes_of(std::string("\x05\0\0\0\1\0", 6))).ok());
  EXPECT_FALSE(parse_rpc(bytes_of(std::string("\x0d\0\0\0\1", 5))).ok());
  // Four billion buffers announced in nine bytes.
  EXPECT_FALSE(parse_rpc(bytes_of(std::string("\x0a\0\0\0\1\xff\xff\xff\xff\0\0\0\0", 13))).ok());
}

}  // namespace
}  // namespace bulkhead
