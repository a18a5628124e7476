// A relay between a server, a browser and a host that are played here, over real sockets: what the
// relay's tests share. Each end is served by the test's thread; a message that never comes ends the
// test by the sockets' time limit.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/nlohmann.h"
#include "vscode/endpoint.h"
#include "vscode/node_channel.h"
#include "vscode/relay.h"

namespace bulkhead::testing {

using nlohmann::json;

inline std::pair<Fd, Fd> socket_pair() {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

inline void limit_time(int fd) {
  const timeval limit{20, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

// Forwards, like a broker that allows everything; "refuse…" of the host is answered at once.
class Forward final : public MessageJudge {
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
  void start(const RelayOptions& options = {}) {
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
  void open_both(const RelayOptions& options = {}) {
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

}  // namespace bulkhead::testing
