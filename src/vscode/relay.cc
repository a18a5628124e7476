#include "vscode/relay.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <malloc.h>
#include <poll.h>
#include <sodium.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <thread>

#include "base/nlohmann.h"
#include "vscode/endpoint.h"
#include "vscode/json_string.h"
#include "vscode/json_tree.h"
#include "vscode/node_channel.h"
#include "vscode/outlet.h"
#include "vscode/protocol.h"
#include "vscode/pulse.h"
#include "vscode/websocket.h"

namespace bulkhead {
namespace {

using Clock = Endpoint::Clock;
using nlohmann::json;

constexpr size_t kChannelLine = 16U << 20U;       // the first chunk of a connection rides in a line
constexpr std::chrono::minutes kReducedGrace{5};  // as VS Code's own host reduces it
// So much is said before memory is given back, in the next moment of quiet.
constexpr size_t kMuch = 256U << 10U;
constexpr std::chrono::seconds kQuiet{1};
constexpr uint8_t kOpcodeBinary = 2, kOpcodeClose = 8, kOpcodePong = 10;
// RFC 6455, section 7.4.1: a browser has navigated away from the page.
constexpr uint16_t kGoingAway = 1001;

std::string text_at(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

bool true_at(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

Result<std::vector<uint8_t>> decode_base64(const std::string& text) {
  if (text.empty()) return std::vector<uint8_t>();
  std::vector<uint8_t> bytes(text.size());
  size_t length = 0;
  if (sodium_base642bin(bytes.data(), bytes.size(), text.data(), text.size(), nullptr, &length,
                        nullptr, sodium_base64_VARIANT_ORIGINAL) != 0)
    return Error{"the server's first chunk of a connection is not base64"};
  bytes.resize(length);
  return bytes;
}

}  // namespace

class Relay::Loop final : public Outbox {
 public:
  Loop(Fd server, Fd host, MessageJudge& judge, RelayOptions options)
      : server_(std::move(server), kChannelLine),
        channel_(std::move(host), 1U << 20U),
        judge_(judge),
        options_(std::move(options)),
        grace_(options_.grace),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        host_reader_(options_.message_limit) {}

  Status run();
  Status move_bytes();
  void say_goodbye();
  bool lost_host() const noexcept { return lost_host_ && !done_; }

  void to_host(std::vector<uint8_t> body) override { put(false, std::move(body)); }
  void to_workbench(std::vector<uint8_t> body) override { put(true, std::move(body)); }

  void stop() noexcept {
    stopping_ = true;
    wake();
  }

 private:
  void put(bool to_workbench, std::vector<uint8_t> body) {
    {
      const std::lock_guard lock(mutex_);
      posted_.emplace_back(to_workbench, std::move(body));
    }
    if (std::this_thread::get_id() != thread_) wake();
  }
  void wake() noexcept {
    const uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }
  void send_posted();

  Status from_server(std::string_view line, Fd handle);
  Status accept_browser(const json& message, Fd handle);
  Status from_host_channel(std::string_view line);
  Status hand_over();
  Status read_browser();
  Status read_host();
  Status feed_browser(std::span<uint8_t> bytes);
  void browser_gone();
  Endpoint::Write browser_writer();

  // A side is not read while the other one is behind with taking what that side says. But who has
  // to acknowledge is read all the same: its acknowledgement may be what both wait for.
  bool may_read_host() const {
    if (to_host_.size() >= options_.kept_limit) return false;  // it does not take its answers
    return !workbench_ || (!behind(*workbench_) && to_browser_.size() < options_.kept_limit) ||
           behind(host_end_);
  }
  bool may_read_browser() const {
    if (to_browser_.size() >= options_.kept_limit) return false;
    return (!behind(host_end_) && to_host_.size() < options_.kept_limit) || behind(*workbench_);
  }
  bool behind(const Endpoint& end) const { return end.kept_bytes() >= options_.kept_limit; }
  // An honest end acknowledges within half a second, whatever it is doing.
  Status check_kept() const;
  // Both return when to call again.
  Clock::time_point feel_pulse(Clock::time_point now);
  Clock::time_point give_back_memory(Clock::time_point now);

  void heard(ssize_t bytes) {
    heard_ += static_cast<size_t>(bytes);
    heard_at_ = Clock::now();
  }

  NodeChannel server_;   // towards VS Code's server
  NodeChannel channel_;  // towards the extension host
  MessageJudge& judge_;
  RelayOptions options_;
  std::chrono::milliseconds grace_;
  Fd wake_;
  std::atomic<bool> stopping_{false};
  std::thread::id thread_;  // run()'s, which needs no waking
  std::mutex mutex_;
  std::vector<std::pair<bool, std::vector<uint8_t>>> posted_;

  Fd browser_;
  bool framed_ = true;  // the browser's bytes come in WebSocket frames
  std::optional<WebSocketReader> frames_;
  std::optional<MessageReader> browser_reader_;
  std::optional<Endpoint> workbench_;  // since the first connection
  Outlet to_browser_;
  Clock::time_point cut_off_at_{};
  bool page_left_ = false;  // the browser said so as it closed the socket

  size_t heard_ = 0;  // bytes, since memory was given back
  Clock::time_point heard_at_{};

  Fd host_;       // our end of the pair
  Fd hand_over_;  // the host's end, until it is ready to take it
  bool host_ready_ = false;
  MessageReader host_reader_;
  Endpoint host_end_{[this](Bytes header, Bytes body, const SharedBytes& owner) {
    to_host_.add(header);
    to_host_.add(body, owner);
  }};
  Outlet to_host_;
  Pulse pulse_;
  Clock::time_point beat_due_{};
  bool done_ = false, lost_host_ = false;
};

Endpoint::Write Relay::Loop::browser_writer() {
  return [this](Bytes header, Bytes body, const SharedBytes& owner) {
    if (framed_) {
      uint8_t frame[10];
      const size_t length = websocket_header(kOpcodeBinary, header.size() + body.size(), frame);
      to_browser_.add(Bytes(frame, length));
    }
    to_browser_.add(header);
    to_browser_.add(body, owner);
  };
}

Status Relay::Loop::from_server(std::string_view line, Fd handle) {
  const json message = parse_json<json>(line);
  if (!message.is_object()) return Error{"the server's channel sent something that is no message"};
  if (text_at(message, "cmd") == "NODE_HANDLE") {
    // Node's sender keeps every later message back until its handle is acknowledged.
    BULKHEAD_CHECK(server_.send(R"({"cmd":"NODE_HANDLE_ACK"})"));
    const auto body = message.find("msg");
    if (body == message.end() || !body->is_object() ||
        text_at(*body, "type") != "VSCODE_EXTHOST_IPC_SOCKET" || !handle)
      return Error{"the server handed over something else than a browser's socket"};
    return accept_browser(*body, std::move(handle));
  }
  if (text_at(message, "type") == "VSCODE_EXTHOST_IPC_REDUCE_GRACE_TIME")
    grace_ = std::min<std::chrono::milliseconds>(grace_, kReducedGrace);
  return {};
}

Status Relay::Loop::accept_browser(const json& message, Fd handle) {
  if (true_at(message, "permessageDeflate"))
    return Error{
        "the browser's socket is compressed: start the server with "
        "--disable-websocket-compression"};
  BULKHEAD_TRY(std::vector<uint8_t> first, decode_base64(text_at(message, "initialDataChunk")));
  const bool reconnects = workbench_.has_value();
  if (reconnects) browser_gone();
  browser_ = std::move(handle);
  page_left_ = false;
  ::fcntl(browser_.get(), F_SETFL, ::fcntl(browser_.get(), F_GETFL) | O_NONBLOCK);
  framed_ = !true_at(message, "skipWebSocketFrames");
  frames_.emplace(true);
  browser_reader_.emplace(options_.message_limit);
  to_browser_.clear();
  if (reconnects) {
    workbench_->reconnected(browser_writer(), Clock::now());
  } else {
    workbench_.emplace(browser_writer());
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      return errno_error("make the extension host's socket");
    host_.reset(pair[0]);
    Fd theirs(pair[1]);
    ::fcntl(host_.get(), F_SETFL, ::fcntl(host_.get(), F_GETFL) | O_NONBLOCK);
    // Once the host is ready to take it.
    hand_over_ = std::move(theirs);
    if (host_ready_) BULKHEAD_CHECK(hand_over());
  }
  workbench_->send_resume();
  if (!reconnects) BULKHEAD_CHECK(judge_.begin(*this));
  // The server has taken the frames off what it had read itself.
  return browser_reader_->feed(first, [this](const Message& each) -> Status {
    const auto got = workbench_->receive(each, Clock::now());
    if (got == Endpoint::Got::kMessage) return judge_.from_workbench(each.body, *this);
    if (got == Endpoint::Got::kControl) host_end_.send_control(each.body);
    if (got == Endpoint::Got::kDisconnect) done_ = true;
    return {};
  });
}

Status Relay::Loop::from_host_channel(std::string_view line) {
  const json message = parse_json<json>(line);
  const auto type = message.is_object() ? message.find("type") : message.end();
  if (!message.is_object() || type == message.end() || *type != "VSCODE_EXTHOST_IPC_READY" ||
      host_ready_)
    return {};
  host_ready_ = true;
  if (hand_over_) return hand_over();
  return {};  // NODE_HANDLE_ACK, and whatever else it thinks of
}

// Gives the host its end of the pair, as the server would have given it the browser's socket.
Status Relay::Loop::hand_over() {
  const json message = {{"cmd", "NODE_HANDLE"},
                        {"type", "net.Socket"},
                        {"msg",
                         {{"type", "VSCODE_EXTHOST_IPC_SOCKET"},
                          {"initialDataChunk", ""},
                          {"skipWebSocketFrames", true},
                          {"permessageDeflate", false},
                          {"inflateBytes", ""}}}};
  return channel_.send(json_string(message), std::move(hand_over_));
}

void Relay::Loop::browser_gone() {
  browser_.reset();
  to_browser_.clear();
  if (workbench_) workbench_->cut_off();
  cut_off_at_ = Clock::now();
}

Status Relay::Loop::feed_browser(std::span<uint8_t> bytes) {
  const auto messages = [this](Bytes part) -> Status {
    return browser_reader_->feed(part, [this](const Message& each) -> Status {
      const auto got = workbench_->receive(each, Clock::now());
      if (got == Endpoint::Got::kMessage) return judge_.from_workbench(each.body, *this);
      if (got == Endpoint::Got::kControl) host_end_.send_control(each.body);
      if (got == Endpoint::Got::kDisconnect) done_ = true;
      return {};
    });
  };
  if (!framed_) return messages(bytes);
  Status status;
  const WebSocketReader::Sink sink{
      [&](Bytes part) {
        if (status.ok()) status = messages(part);
      },
      [this](Bytes payload) {
        uint8_t frame[10];
        to_browser_.add(Bytes(frame, websocket_header(kOpcodePong, payload.size(), frame)));
        to_browser_.add(payload);
      },
      [this](uint16_t code) {
        page_left_ = code == kGoingAway;
        browser_.reset();
      }};
  BULKHEAD_CHECK(frames_->feed(bytes, sink));
  if (!browser_) browser_gone();
  return status;
}

Status Relay::Loop::read_browser() {
  std::array<uint8_t, 262144> buffer;
  const ssize_t n = ::read(browser_.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (n <= 0) {
    browser_gone();
    return {};
  }
  heard(n);
  return feed_browser(std::span(buffer.data(), static_cast<size_t>(n)));
}

Status Relay::Loop::read_host() {
  std::array<uint8_t, 262144> buffer;
  const ssize_t n = ::read(host_.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (n <= 0) {
    lost_host_ = true;
    return {};
  }
  heard(n);
  Status status = host_reader_.feed(
      Bytes(buffer.data(), static_cast<size_t>(n)), [this](const Message& each) -> Status {
        const auto got = host_end_.receive(each, Clock::now());
        if (got == Endpoint::Got::kMessage) return judge_.from_host(each.body, *this);
        if (got == Endpoint::Got::kDisconnect) lost_host_ = true;
        return {};  // no control message of a host means anything to a workbench
      });
  if (!status.ok())
    return Error{"the extension host broke the protocol: " + status.error().message,
                 status.error().errno_value};
  return status;
}

void Relay::Loop::send_posted() {
  std::vector<std::pair<bool, std::vector<uint8_t>>> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(posted_);
  }
  for (auto& [to_workbench, body] : batch) {
    if (!to_workbench)
      host_end_.send(std::move(body));
    else if (workbench_)
      workbench_->send(std::move(body));
  }
}

Status Relay::Loop::check_kept() const {
  const size_t most = 2 * options_.kept_limit + options_.message_limit;
  if (host_end_.kept_bytes() > most)
    return Error{"the extension host does not acknowledge what it is sent"};
  if (workbench_ && workbench_->kept_bytes() > most)
    return Error{"the browser does not acknowledge what it is sent"};
  return {};
}

Clock::time_point Relay::Loop::feel_pulse(Clock::time_point now) {
  if (now >= beat_due_) {
    beat_due_ = now + options_.beat;
    // What a host says that is not read now may be the acknowledgement.
    if (may_read_host() && pulse_.beat(host_end_.oldest_kept(), options_.is_excused()))
      options_.on_pulse(pulse_.responds());
  }
  const bool waits = host_end_.oldest_kept() != 0 || !pulse_.responds();
  return waits ? beat_due_ : now + Endpoint::kKeepAlive;
}

// What the words of a start took, as JSON: 8 MB of each host's heap, which would stay until it
// ends.
Clock::time_point Relay::Loop::give_back_memory(Clock::time_point now) {
  if (heard_ < kMuch) return now + Endpoint::kKeepAlive;
  if (now >= heard_at_ + kQuiet) {
    ::malloc_trim(0);
    heard_ = 0;
  }
  return now + kQuiet;
}

Status Relay::Loop::run() {
  Status status = move_bytes();
  say_goodbye();
  return status;
}

Status Relay::Loop::move_bytes() {
  thread_ = std::this_thread::get_id();
  // In the host's name, and before there is one: what it may do depends on what the
  // workbench says first.
  BULKHEAD_CHECK(server_.send(R"({"type":"VSCODE_EXTHOST_IPC_READY"})"));
  while (!done_ && !lost_host_ && !stopping_) {
    const auto now = Clock::now();
    auto next = host_ ? host_end_.tick(now) : now + Endpoint::kKeepAlive;
    if (workbench_) next = std::min(next, workbench_->tick(now));
    if (workbench_ && !browser_) {
      const bool expected = page_left_ || !judge_.is_initialized();
      const auto grace = expected ? std::min(grace_, options_.short_grace) : grace_;
      if (now - cut_off_at_ >= grace)
        return expected ? Status{} : Error{"the browser did not come back in time"};
      next = std::min(next, cut_off_at_ + grace);
    }
    send_posted();
    if (host_ && options_.on_pulse) next = std::min(next, feel_pulse(now));
    next = std::min(next, give_back_memory(now));
    BULKHEAD_CHECK(check_kept());
    if (browser_ && !to_browser_.write(browser_.get())) browser_gone();
    if (host_ && !to_host_.write(host_.get())) {
      lost_host_ = true;
      break;
    }
    BULKHEAD_CHECK(server_.flush());
    BULKHEAD_CHECK(channel_.flush());

    const auto writes = [](bool wanted) { return static_cast<short>(wanted ? POLLOUT : 0); };
    const auto reads = [](bool wanted) { return static_cast<short>(wanted ? POLLIN : 0); };
    std::array<pollfd, 5> polled{{
        {wake_.get(), POLLIN, 0},
        {server_.fd(), static_cast<short>(POLLIN | writes(server_.wants_to_write())), 0},
        {channel_.fd(), static_cast<short>(POLLIN | writes(channel_.wants_to_write())), 0},
        {browser_.get(),
         static_cast<short>(reads(may_read_browser()) | writes(!to_browser_.empty())), 0},
        {host_.get(), static_cast<short>(reads(may_read_host()) | writes(!to_host_.empty())), 0},
    }};
    // poll(2) tells of a closed end whether asked or not: who is not to be read is not looked at.
    for (pollfd& each : polled)
      if (each.events == 0) each.fd = -1;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
    const int timeout = static_cast<int>(std::clamp<int64_t>(left + 1, 0, 60000));
    if (::poll(polled.data(), polled.size(), timeout) < 0 && errno != EINTR)
      return errno_error("wait for the extension host");
    if (polled[0].revents != 0) {
      uint64_t count = 0;
      (void)!::read(wake_.get(), &count, sizeof count);
    }
    if (polled[1].revents != 0) {
      BULKHEAD_TRY(const bool open,
                   server_.receive([this](std::string_view line, Fd handle) -> Status {
                     return from_server(line, std::move(handle));
                   }));
      if (!open) break;
    }
    if (polled[2].revents != 0) {
      BULKHEAD_TRY(const bool open, channel_.receive([this](std::string_view line, Fd) -> Status {
        return from_host_channel(line);
      }));
      lost_host_ = !open;
    }
    constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
    if (browser_ && (polled[3].revents & kReadable) != 0 && may_read_browser())
      BULKHEAD_CHECK(read_browser());
    if (host_ && (polled[4].revents & kReadable) != 0 && may_read_host())
      BULKHEAD_CHECK(read_host());
  }
  return {};
}

// What is still due reaches its side where that can be done without waiting; and neither side tries
// to come back.
void Relay::Loop::say_goodbye() {
  send_posted();
  if (host_) {
    host_end_.send_disconnect();
    to_host_.write(host_.get());
  }
  if (browser_) {
    if (workbench_) workbench_->send_disconnect();
    if (framed_) {
      uint8_t frame[10];
      to_browser_.add(Bytes(frame, websocket_header(kOpcodeClose, 0, frame)));
    }
    to_browser_.write(browser_.get());
  }
}

Relay::Relay(Fd server, Fd host, MessageJudge& judge, RelayOptions options)
    : loop_(std::make_unique<Loop>(std::move(server), std::move(host), judge, std::move(options))) {
}
Relay::~Relay() = default;
Status Relay::run() { return loop_->run(); }
bool Relay::lost_host() const noexcept { return loop_->lost_host(); }
void Relay::stop() noexcept { loop_->stop(); }

}  // namespace bulkhead
