// The relay between a server, a browser and a host that are played here, over real sockets.
// Each end is served by this thread; a message that never comes ends the test by the
// sockets' time limit.
#include "vscode/relay.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>

#include "vscode/endpoint.h"
#include "vscode/node_channel.h"

namespace bulkhead {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::pair<Fd, Fd> socket_pair() {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

void limit_time(int fd) {
  const timeval limit{20, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

// Forwards, like a broker that allows everything; "refuse…" of the host is answered at once.
class Forward final : public Judge {
 public:
  bool initialized = true;
  bool is_initialized() const override { return initialized; }
  Status begin(Outbox& outbox) override {
    outbox.to_workbench({'r', 'e', 'a', 'd', 'y'});
    return {};
  }
  Status from_host(Bytes body, Outbox& outbox) override {
    const std::string text(body.begin(), body.end());
    if (text == "bad") return Error{"that was bad", 77};
    if (text.starts_with("refuse"))
      outbox.to_host(std::vector<uint8_t>(1000, 'n'));
    else
      outbox.to_workbench({body.begin(), body.end()});
    return {};
  }
  Status from_workbench(Bytes body, Outbox& outbox) override {
    outbox.to_host({body.begin(), body.end()});
    return {};
  }
};

// One end of a conversation in VS Code's protocol: the browser's (framed) or the host's.
class End {
 public:
  End(Fd fd, bool framed) : framed_(framed) { connect(std::move(fd)); }

  void connect(Fd fd) {
    fd_ = std::move(fd);
    limit_time(fd_.get());
    frames_.emplace(false);
    reader_.emplace(size_t{64} << 20U);
    closed_ = ended_ = false;
    if (endpoint_)
      endpoint_->reconnected(writer(), Endpoint::Clock::now());
    else
      endpoint_.emplace(writer());
  }
  // Loses the connection, as a network does, after what was sent so far.
  void cut() {
    endpoint_->cut_off();
    fd_.reset();
  }

  void say(std::string_view text) { endpoint_->send({text.begin(), text.end()}); }
  void disconnect() { endpoint_->send_disconnect(); }
  void write_raw(std::string_view bytes) {
    if (queues_) {
      out_.append(bytes);
      return;
    }
    (void)!::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void write_frame(uint8_t first, std::string_view payload) {
    uint8_t header[10];
    const size_t length = websocket_header(2, payload.size(), header);
    std::string frame(reinterpret_cast<const char*>(header), length);
    frame[0] = static_cast<char>(first);
    frame[1] = static_cast<char>(frame[1] | 0x80);
    frame += std::string(4, '\0');  // the mask that changes nothing
    write_raw(frame.append(payload));
  }

  // From now on what is said waits, as in Node, until pump() finds the socket ready for it.
  void queue_writes() { queues_ = true; }
  size_t queued() const { return out_.size(); }
  bool has_message() const { return !got_.empty(); }
  // Writes what can be, reads what is there and acknowledges it. False at the end.
  bool pump() {
    pollfd polled{fd_.get(), static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    if (::poll(&polled, 1, 20000) <= 0) return false;
    if ((polled.revents & POLLOUT) != 0) {
      const ssize_t n = ::send(fd_.get(), out_.data(), std::min<size_t>(out_.size(), 65536),
                               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0) out_.erase(0, static_cast<size_t>(n));
    }
    if ((polled.revents & (POLLIN | POLLHUP)) != 0) {
      receive();
      tick(Endpoint::kAckDelay);
    }
    return !ended_;
  }

  // The next message; empty at the end.
  std::string next() {
    while (got_.empty() && !ended_) receive();
    if (got_.empty()) return {};
    std::string first = std::move(got_.front());
    got_.pop_front();
    return first;
  }
  void read_to_end() {
    while (!ended_) receive();
  }
  void tick(std::chrono::milliseconds later) {
    endpoint_->tick(Endpoint::Clock::now());
    endpoint_->tick(Endpoint::Clock::now() + later);
  }
  bool disconnected() const { return disconnected_; }  // by a message of the protocol
  bool closed() const { return closed_; }              // by a WebSocket frame
  bool ended() const { return ended_; }
  int resumed() const { return resumed_; }
  int fd() const { return fd_.get(); }

 private:
  Endpoint::Write writer() {
    return [this](Bytes header, Bytes body, const SharedBytes&) {
      std::string message(header.begin(), header.end());
      message.append(body.begin(), body.end());
      if (framed_)
        write_frame(0x82, message);
      else
        write_raw(message);
    };
  }
  void receive() {
    std::vector<uint8_t> buffer(65536);
    const ssize_t n = ::read(fd_.get(), buffer.data(), buffer.size());
    if (n <= 0) {
      ended_ = true;
      return;
    }
    const std::span<uint8_t> bytes(buffer.data(), static_cast<size_t>(n));
    if (!framed_) return take(bytes);
    const WebSocketReader::Sink sink{[this](Bytes part) { take(part); }, [](Bytes) {},
                                     [this](uint16_t) { closed_ = true; }};
    ASSERT_TRUE(frames_->feed(bytes, sink).ok());
  }
  void take(Bytes part) {
    const Status status = reader_->feed(part, [this](const Message& message) -> Status {
      if (message.type == MessageType::kResume) ++resumed_;
      const auto what = endpoint_->receive(message, Endpoint::Clock::now());
      if (what == Endpoint::Got::kMessage)
        got_.emplace_back(message.body.begin(), message.body.end());
      if (what == Endpoint::Got::kDisconnect) disconnected_ = true;
      return {};
    });
    ASSERT_TRUE(status.ok());
  }

  Fd fd_;
  bool framed_;
  std::optional<WebSocketReader> frames_;
  std::optional<MessageReader> reader_;
  std::optional<Endpoint> endpoint_;
  std::deque<std::string> got_;
  bool queues_ = false;
  std::string out_;
  bool disconnected_ = false, closed_ = false, ended_ = false;
  int resumed_ = 0;
};

// The other end of a Node channel, blocking.
class Channel {
 public:
  explicit Channel(Fd fd) : fd_(std::move(fd)) { limit_time(fd_.get()); }
  // The next line, with its descriptor; null at the end.
  std::pair<json, Fd> next() {
    for (;;) {
      const size_t end = in_.find('\n');
      if (end != std::string::npos) {
        json message = json::parse(in_.substr(0, end));
        in_.erase(0, end + 1);
        return {std::move(message), std::move(handle_)};
      }
      char buffer[4096];
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
      iovec part{buffer, sizeof buffer};
      msghdr message{};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      const ssize_t n = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
      if (n <= 0) return {};
      if (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
        handle_.reset(fd);
      }
      in_.append(buffer, static_cast<size_t>(n));
    }
  }
  void say(const std::string& line, Fd handle = Fd()) {
    NodeChannel out(Fd(::dup(fd_.get())), 1 << 20U);
    ASSERT_TRUE(out.send(line, std::move(handle)).ok());
    ASSERT_FALSE(out.wants_to_write());
    ::fcntl(fd_.get(), F_SETFL, ::fcntl(fd_.get(), F_GETFL) & ~O_NONBLOCK);
  }
  void close() { fd_.reset(); }

 private:
  Fd fd_;
  std::string in_;
  Fd handle_;
};

class RelayTest : public ::testing::Test {
 protected:
  void start(RelayOptions options = {}) {
    auto [server, server_relay] = socket_pair();
    auto [program, program_relay] = socket_pair();
    server_.emplace(std::move(server));
    channel_.emplace(std::move(program));
    relay_ =
        std::make_unique<Relay>(std::move(server_relay), std::move(program_relay), judge_, options);
    ended_ = std::async(std::launch::async, [this] { return relay_->run(); });
    EXPECT_EQ(server_->next().first["type"], "VSCODE_EXTHOST_IPC_READY")
        << "before there is a host";
  }
  void TearDown() override {
    if (relay_) relay_->stop();
    if (ended_.valid()) ended_.wait();
  }
  Status end() { return ended_.get(); }

  // The server hands a browser's socket over. `first` was read before.
  void hand_over(Fd browser, const std::string& first = "", const json& more = json::object()) {
    std::string text(sodium_base64_encoded_len(first.size(), sodium_base64_VARIANT_ORIGINAL), 0);
    sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const uint8_t*>(first.data()),
                      first.size(), sodium_base64_VARIANT_ORIGINAL);
    json message = {{"type", "VSCODE_EXTHOST_IPC_SOCKET"},
                    {"initialDataChunk", text.c_str()},
                    {"skipWebSocketFrames", false},
                    {"permessageDeflate", false},
                    {"inflateBytes", ""}};
    message.update(more);
    server_->say(json{{"cmd", "NODE_HANDLE"}, {"type", "net.Socket"}, {"msg", message}}.dump(),
                 std::move(browser));
    EXPECT_EQ(server_->next().first["cmd"], "NODE_HANDLE_ACK");
  }
  void open_browser() {
    auto [ours, theirs] = socket_pair();
    hand_over(std::move(theirs));
    browser_.emplace(std::move(ours), true);
    EXPECT_EQ(browser_->next(), "ready");
    EXPECT_EQ(browser_->resumed(), 1);
  }
  void reconnect() {
    auto [ours, theirs] = socket_pair();
    hand_over(std::move(theirs));
    browser_->connect(std::move(ours));
  }
  void open_host() {
    channel_->say(R"({"type":"VSCODE_EXTHOST_IPC_READY"})");
    auto [message, handle] = channel_->next();
    ASSERT_TRUE(handle.valid());
    EXPECT_EQ(message["cmd"], "NODE_HANDLE");
    EXPECT_EQ(message["msg"]["type"], "VSCODE_EXTHOST_IPC_SOCKET");
    EXPECT_EQ(message["msg"]["skipWebSocketFrames"], true);
    host_.emplace(std::move(handle), false);
  }
  void open_both(RelayOptions options = {}) {
    start(options);
    open_browser();
    open_host();
  }

  Forward judge_;
  std::optional<Channel> server_, channel_;
  std::unique_ptr<Relay> relay_;
  std::optional<End> browser_, host_;
  std::future<Status> ended_;
};

TEST_F(RelayTest, MessagesPassBothWaysOfEverySize) {
  open_both();
  for (const size_t size : {1UL, 100UL, 8191UL, 70000UL, 3UL << 20U}) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    auto sent = std::async(std::launch::async, [&] { host_->say(text); });
    EXPECT_TRUE(browser_->next() == text) << size;
    sent.get();
    sent = std::async(std::launch::async, [&] { browser_->say(text); });
    EXPECT_TRUE(host_->next() == text) << size;
    sent.get();
  }
}

TEST_F(RelayTest, TheHostGetsItsSocketOnceItIsReady) {
  start();
  open_browser();
  browser_->say("early");
  // Whatever else it says on its channel is nothing, and reaches nobody.
  channel_->say(R"({"type":"VSCODE_EXTHOST_IPC_SOCKET"})");
  channel_->say(R"([1])");
  channel_->say("no json");
  open_host();
  EXPECT_EQ(host_->next(), "early");
  channel_->say(R"({"type":"VSCODE_EXTHOST_IPC_READY"})");  // a second one is not for the server
  host_->say("here");
  EXPECT_EQ(browser_->next(), "here");
  relay_->stop();
  EXPECT_TRUE(end().ok());
  relay_.reset();
  EXPECT_TRUE(server_->next().first.is_null()) << "nothing but READY and one ACK";
}

TEST_F(RelayTest, AHostThatIsReadyFirstWaitsForTheBrowser) {
  start();
  channel_->say(R"({"type":"VSCODE_EXTHOST_IPC_READY"})");
  open_browser();
  auto [message, handle] = channel_->next();
  ASSERT_TRUE(handle.valid());
  End host(std::move(handle), false);
  host.say("hello");
  EXPECT_EQ(browser_->next(), "hello");
}

TEST_F(RelayTest, WhatTheServerHadReadAlreadyComesFirst) {
  start();
  Message message;
  message.type = MessageType::kRegular;
  message.id = 1;
  uint8_t header[kMessageHeader];
  write_message_header(message, 5, header);
  const std::string first = std::string(reinterpret_cast<char*>(header), kMessageHeader) + "first";
  auto [ours, theirs] = socket_pair();
  hand_over(std::move(theirs), first);
  open_host();
  EXPECT_EQ(host_->next(), "first");
}

TEST_F(RelayTest, AReconnectionReplaysWhatWasLost) {
  open_both();
  host_->say("one");
  EXPECT_EQ(browser_->next(), "one");
  browser_->cut();
  browser_->say("while cut");
  host_->say("two");
  host_->say("three");
  reconnect();
  EXPECT_EQ(browser_->next(), "two");
  EXPECT_EQ(browser_->next(), "three");
  EXPECT_EQ(host_->next(), "while cut");
  browser_->say("after");
  EXPECT_EQ(host_->next(), "after") << "and nothing twice";
  EXPECT_FALSE(host_->ended());
}

TEST_F(RelayTest, ANewConnectionTakesTheOldOnesPlace) {
  open_both();
  const End& old = *browser_;
  auto [ours, theirs] = socket_pair();
  hand_over(std::move(theirs));
  host_->say("who hears");
  End fresh(std::move(ours), true);
  EXPECT_EQ(fresh.next(), "ready") << "kept until it is acknowledged";
  EXPECT_EQ(fresh.next(), "who hears");
  char byte = 0;
  EXPECT_EQ(::read(old.fd(), &byte, 1), 0) << "the old one is closed";
}

TEST_F(RelayTest, ABrowserThatDoesNotComeBackEndsTheHost) {
  RelayOptions options;
  options.grace = std::chrono::milliseconds(1);
  open_both(options);
  browser_->cut();
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("did not come back"));
  relay_.reset();
  host_->read_to_end();
  EXPECT_TRUE(host_->disconnected());
}

TEST_F(RelayTest, APageThatIsLoadedAnewBeforeTheHostIsAtWorkIsNotWaitedFor) {
  RelayOptions options;
  options.short_grace = std::chrono::milliseconds(1);
  judge_.initialized = false;
  open_both(options);
  browser_->cut();
  EXPECT_TRUE(end().ok());
}

TEST_F(RelayTest, APageThatTheBrowserLeftIsNotWaitedFor) {
  RelayOptions options;
  options.short_grace = std::chrono::milliseconds(1);
  open_both(options);
  browser_->write_frame(0x88, "\x03\xe9");  // 1001, going away
  EXPECT_TRUE(end().ok());
  EXPECT_FALSE(relay_->lost_host());
}

TEST_F(RelayTest, APageThatWasLeftAndCameBackIsMissedAgain) {
  RelayOptions options;
  options.grace = std::chrono::seconds(2);  // as long as the way back may take here
  open_both(options);
  browser_->write_frame(0x88, "\x03\xe9");
  browser_->cut();
  host_->say("kept");
  reconnect();
  EXPECT_EQ(browser_->next(), "kept");
  browser_->cut();
  EXPECT_FALSE(end().ok()) << "this time nobody said that the page was left";
}

TEST_F(RelayTest, AWindowThatClosesEndsTheHostWithoutError) {
  open_both();
  browser_->disconnect();
  EXPECT_TRUE(end().ok());
  EXPECT_FALSE(relay_->lost_host());
  relay_.reset();
  host_->read_to_end();
  EXPECT_TRUE(host_->disconnected()) << "told, so that it does not wait for a reconnection";
}

TEST_F(RelayTest, ABrowserThatClosesItsSocketMayComeBack) {
  open_both();
  browser_->write_frame(0x88, "\x03\xe8");
  browser_->cut();
  host_->say("kept");
  reconnect();
  EXPECT_EQ(browser_->next(), "kept");
}

TEST_F(RelayTest, AHostThatDiesEndsTheConversationAndTheBrowserIsTold) {
  open_both();
  host_->say("last words");
  host_->cut();
  EXPECT_TRUE(end().ok());
  EXPECT_TRUE(relay_->lost_host());
  relay_.reset();
  EXPECT_EQ(browser_->next(), "last words");
  browser_->read_to_end();
  EXPECT_TRUE(browser_->disconnected());
  EXPECT_TRUE(browser_->closed());
}

TEST_F(RelayTest, StoppingSaysGoodbyeToBoth) {
  open_both();
  relay_->stop();
  EXPECT_TRUE(end().ok());
  relay_.reset();
  host_->read_to_end();
  browser_->read_to_end();
  EXPECT_TRUE(host_->disconnected());
  EXPECT_TRUE(browser_->disconnected());
  EXPECT_TRUE(browser_->closed());
}

TEST_F(RelayTest, AHostThatSaysGoodbyeIsDone) {
  open_both();
  host_->disconnect();
  EXPECT_TRUE(end().ok());
  EXPECT_TRUE(relay_->lost_host());
}

TEST_F(RelayTest, TheServersEndIsTheEnd) {
  open_both();
  server_->close();
  EXPECT_TRUE(end().ok());
  EXPECT_FALSE(relay_->lost_host());
}

TEST_F(RelayTest, AnOversizedMessageEndsTheHostWithItsSize) {
  RelayOptions options;
  options.message_limit = 1000;
  open_both(options);
  host_->say(std::string(1000, 'x'));
  EXPECT_EQ(browser_->next().size(), 1000U);
  host_->say(std::string(1001, 'x'));
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("extension host"));
  EXPECT_THAT(status.error().message, HasSubstr("1001 bytes, 1000 allowed"));
}

TEST_F(RelayTest, AJudgesErrorEndsTheHostAndKeepsItsNumber) {
  open_both();
  host_->say("bad");
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("that was bad"));
  EXPECT_EQ(status.error().errno_value, 77);
}

TEST_F(RelayTest, GarbageOfAHostEndsIt) {
  open_both();
  host_->write_raw("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(end().ok());
}

TEST_F(RelayTest, GarbageOfABrowserEndsIt) {
  open_both();
  browser_->write_raw("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(end().ok());
}

TEST_F(RelayTest, CompressionIsRefusedBeforeAByteIsRead) {
  start();
  auto [ours, theirs] = socket_pair();
  hand_over(std::move(theirs), "", {{"permessageDeflate", true}});
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("--disable-websocket-compression"));
}

TEST_F(RelayTest, AFrameThatIsCompressedAfterAllIsRefused) {
  open_both();
  browser_->write_frame(0xC2, "x");
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("compression"));
}

TEST_F(RelayTest, MessagesOfTheServerThatAreNone) {
  start();
  server_->say(R"({"type":"something else"})");
  server_->say(R"({"cmd":"NODE_HANDLE","msg":{"type":"VSCODE_EXTHOST_IPC_SOCKET"}})");
  EXPECT_EQ(server_->next().first["cmd"], "NODE_HANDLE_ACK");
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("something else than a browser's socket"));
}

TEST_F(RelayTest, OddTypesInTheServersMessageDoNotThrow) {
  start();
  auto [ours, theirs] = socket_pair();
  hand_over(std::move(theirs), "",
            {{"permessageDeflate", "no"}, {"skipWebSocketFrames", 1}, {"initialDataChunk", 7}});
  browser_.emplace(std::move(ours), true);
  EXPECT_EQ(browser_->next(), "ready");
}

// Nobody reads what it is answered: it is not read either, and holds no more than the limit.
TEST_F(RelayTest, AHostThatDoesNotReadItsAnswersStandsStill) {
  RelayOptions options;
  options.kept_limit = 100000;
  open_both(options);
  const int flags = ::fcntl(host_->fd(), F_GETFL);
  ::fcntl(host_->fd(), F_SETFL, flags | O_NONBLOCK);
  Message message;
  message.type = MessageType::kRegular;
  std::string flood;
  for (uint32_t id = 1; id <= 200000; ++id) {
    message.id = id;
    uint8_t header[kMessageHeader];
    write_message_header(message, 6, header);
    flood.append(reinterpret_cast<char*>(header), kMessageHeader).append("refuse");
  }
  // 200 MB of answers would be kept. The relay stops it by not reading, or ends it.
  size_t sent = 0;
  for (int idle = 0; sent < flood.size() && idle < 200;) {
    const ssize_t n = ::send(host_->fd(), flood.data() + sent, flood.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<size_t>(n);
      idle = 0;
    } else if (errno == EAGAIN) {
      ::usleep(1000);
      ++idle;
    } else {
      break;
    }
  }
  EXPECT_LT(sent, flood.size());
}

TEST_F(RelayTest, AHostThatNeverAcknowledgesIsEnded) {
  RelayOptions options;
  options.kept_limit = 100000;
  options.message_limit = 100000;
  open_both(options);
  // It reads, as far as it must to be read, and acknowledges nothing.
  Message message;
  message.type = MessageType::kRegular;
  std::vector<char> drain(1 << 20U);
  uint32_t id = 0;
  while (ended_.wait_for(std::chrono::seconds(0)) != std::future_status::ready && id < 100000) {
    message.id = id + 1;
    uint8_t header[kMessageHeader];
    write_message_header(message, 6, header);
    std::string bytes(reinterpret_cast<char*>(header), kMessageHeader);
    bytes += "refuse";
    if (::send(host_->fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) ++id;
    while (::recv(host_->fd(), drain.data(), drain.size(), MSG_DONTWAIT) > 0) {
    }
  }
  ASSERT_LT(id, 100000U);
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("does not acknowledge"));
}

// Both directions beyond the limit, and every acknowledgement behind other bytes: a relay that
// reads neither before the other is acknowledged waits for ever.
TEST_F(RelayTest, TwoFullSidesDoNotWaitForEachOther) {
  RelayOptions options;
  options.kept_limit = 100000;
  options.message_limit = 4U << 20U;
  open_both(options);
  const std::string text(50000, 'x');
  constexpr size_t kCount = 200;
  const auto serve = [&](End& end) {
    end.queue_writes();
    size_t said = 0, got = 0;
    while (got < kCount || said < kCount || end.queued() > 0) {
      while (said < kCount && end.queued() < 400000) {
        end.say(text);
        ++said;
      }
      if (!end.pump()) break;
      for (; end.has_message(); ++got) end.next();
    }
    return got;
  };
  auto at_host = std::async(std::launch::async, [&] { return serve(*host_); });
  EXPECT_EQ(serve(*browser_), kCount);
  EXPECT_EQ(at_host.get(), kCount);
}

TEST_F(RelayTest, APingIsAnswered) {
  open_both();
  browser_->write_frame(0x89, "are you there");
  host_->say("then this");
  char buffer[256];
  std::string bytes;
  while (bytes.find("then this") == std::string::npos ||
         bytes.find("are you there") == std::string::npos) {
    const ssize_t n = ::read(browser_->fd(), buffer, sizeof buffer);
    ASSERT_GT(n, 0);
    bytes.append(buffer, static_cast<size_t>(n));
  }
  EXPECT_NE(bytes.find("\x8a\x0d"
                       "are you there"),
            std::string::npos);
}

}  // namespace
}  // namespace bulkhead
