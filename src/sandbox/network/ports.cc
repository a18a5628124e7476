#include "sandbox/network/ports.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sandbox/network/listeners.h"

namespace bulkhead {
namespace {

constexpr int kBacklog = 128;
constexpr uint16_t kMostFurther = 20;  // ports that are tried before any that is free

struct Published {
  uint16_t port = 0;
  std::vector<Fd> listeners;
};

template <class Address>
Result<Fd> listen_at(const Address& address) {
  Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return errno_error("make a socket");
  const auto set = [&socket](int level, int option, int value) {
    (void)::setsockopt(socket.get(), level, option, &value, sizeof value);
  };
  // Connections of an earlier run that have just ended are no reason; who listens there is.
  set(SOL_SOCKET, SO_REUSEADDR, 1);
  // What is accepted has the same.
  set(SOL_SOCKET, SO_SNDBUF, PortRelay::kSocketBuffer);
  set(SOL_SOCKET, SO_RCVBUF, PortRelay::kSocketBuffer);
  if (address.family() == AF_INET6) set(IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (::bind(socket.get(), address.get(), address.size()) != 0 ||
      ::listen(socket.get(), kBacklog) != 0)
    return errno_error("listen");
  return socket;
}

// The machine's loopback and nothing else of it.
struct Loopback4 {
  explicit Loopback4(uint16_t port) {
    bytes.sin_family = AF_INET;
    bytes.sin_port = htons(port);
    bytes.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  int family() const { return AF_INET; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  socklen_t size() const { return sizeof bytes; }
  sockaddr_in bytes{};
};
struct Loopback6 {
  explicit Loopback6(uint16_t port) {
    bytes.sin6_family = AF_INET6;
    bytes.sin6_port = htons(port);
    bytes.sin6_addr = in6addr_loopback;
  }
  int family() const { return AF_INET6; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  socklen_t size() const { return sizeof bytes; }
  sockaddr_in6 bytes{};
};

// Both families or none: with one of them somebody else's a browser would reach now this server,
// now that one. A machine without IPv6 has one.
Result<Published> publish_at(uint16_t port) {
  Published published{port, {}};
  BULKHEAD_TRY(Fd v4, listen_at(Loopback4(port)));
  if (port == 0) {
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    if (::getsockname(v4.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
      return errno_error("read a socket's port");
    published.port = ntohs(bound.sin_port);
  }
  auto v6 = listen_at(Loopback6(published.port));
  published.listeners.push_back(std::move(v4));
  if (v6.ok())
    published.listeners.push_back(std::move(*v6));
  else if (v6.error().errno_value != EAFNOSUPPORT && v6.error().errno_value != EADDRNOTAVAIL)
    return std::move(v6).error();
  return published;
}

Result<Published> publish_near(uint16_t port, std::string& why) {
  auto published = publish_at(port);
  if (published.ok()) return published;
  const int error = published.error().errno_value;
  if (error != EADDRINUSE && error != EACCES) return published;
  why = error == EADDRINUSE ? fmt::format("port {} is taken on this machine", port)
                            : fmt::format("port {} is root's on this machine", port);
  for (uint32_t next = port + 1U; next <= 65535 && next <= uint32_t{port} + kMostFurther; ++next)
    if (published = publish_at(static_cast<uint16_t>(next)); published.ok()) return published;
  for (int times = 0; times < 8 && !published.ok(); ++times) published = publish_at(0);
  return published;
}

}  // namespace

Ports::Ports(const Compartment& compartment, Judge& judge, Loop& loop,
             std::function<void(const PortNews&)> tell)
    : compartment_(compartment),
      judge_(judge),
      loop_(loop),
      tell_(std::move(tell)),
      key_(loop.add(*this)) {}

void Ports::listens(uint16_t port, const Attempt& attempt) {
  const std::lock_guard lock(mutex_);
  const auto known = ports_.find(port);
  if (stopped_ || port == 0) return;
  if (known != ports_.end()) {
    Port& one = known->second;
    if (one.state == State::kAway) publish(port, one);
    return;
  }
  const bool granted = judge_.policy().decide_listen(port).verdict == Verdict::kAllow;
  if (!granted && is_passing_port(port)) return;
  if (!granted && ports_.size() >= kMostPorts) return;
  Port one;
  one.since = Clock::now();
  one.pid = attempt.pid;
  if (attempt.program != nullptr && *attempt.program) one.program = (*attempt.program)();
  Port& kept = ports_.emplace(port, std::move(one)).first->second;
  if (granted || judge_.enforcement() == Enforcement::kAuditOnly) {
    if (judge_.listen(port, attempt, false) == Judge::Ruling::kAllow) return publish(port, kept);
    kept.state = State::kInside;
    return;
  }
  loop_.call_by(key_, kept.since + kStays);
}

void Ports::publish(uint16_t number, Port& port) {
  const auto failed = [&](const Error& error) {
    port.state = State::kInside;
    tell(port, {PortNews::What::kFailed, number, 0, port.program, error.message});
  };
  if (!relay_) {
    auto relay = PortRelay::start(compartment_.init_pidfd.get(), loop_.workers(),
                                  [this] { loop_.call(key_); });
    if (!relay.ok()) return failed(relay.error());
    relay_ = std::move(*relay);
  }
  std::string why;
  auto published = publish_near(number, why);
  if (!published.ok()) return failed(published.error());
  relay_->publish(number, std::move(published->listeners));
  port.state = State::kPublished;
  if (published->port != number)
    tell(port, {PortNews::What::kElsewhere, number, published->port, port.program, why});
  loop_.call_by(key_, Clock::now() + kLookEvery);
}

void Ports::tell(Port& port, PortNews news) {
  if (std::exchange(port.told, true) || !tell_) return;
  tell_(news);
}

// Who stopped listening is not told by anybody.
Task::Clock::time_point Ports::turn(bool briefly) {
  static_cast<void>(briefly);  // a look at a table of sockets, and nothing that waits
  const std::lock_guard lock(mutex_);
  auto next = kNever;
  if (stopped_) return next;
  const auto now = Clock::now();
  for (auto at = ports_.begin(); at != ports_.end();) {
    auto& [number, port] = *at;
    const bool looked_at =
        port.state == State::kNew ? now - port.since >= kStays : port.state == State::kPublished;
    if (port.state == State::kNew && !looked_at) next = std::min(next, port.since + kStays);
    if (!looked_at) {
      ++at;
      continue;
    }
    const bool there = listens_inside(compartment_.init, number);
    if (port.state == State::kNew && !there) {
      at = ports_.erase(at);
      continue;
    }
    if (port.state == State::kNew) {
      port.state = State::kDeciding;
      undecided_.push_back(number);
      if (!deciding_) deciding_.emplace(loop_.workers(), [this] { decide_one(); });
      deciding_->submit();
    } else if (!there) {
      relay_->withdraw(number);
      port.state = State::kAway;
    } else {
      next = std::min(next, now + kLookEvery);
    }
    ++at;
  }
  return next;
}

void Ports::decide_one() {
  uint16_t number = 0;
  std::string program;
  Attempt attempt;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || undecided_.empty()) return;
    number = undecided_.back();
    undecided_.pop_back();
    const Port& port = ports_.at(number);
    attempt.pid = port.pid;
    program = port.program;
  }
  const std::function<std::string()> named = [&program] { return program; };
  attempt.program = &named;
  attempt.detail = "listen";
  attempt.waits = Waits::kNobody;
  const bool allowed = judge_.listen(number, attempt, true) == Judge::Ruling::kAllow;
  const bool unnamed = judge_.policy().decide_listen(number).rule == kOtherwiseRule;

  const std::lock_guard lock(mutex_);
  Port& port = ports_.at(number);
  if (stopped_) return;
  if (allowed) return publish(number, port);
  port.state = State::kInside;
  // A rule that refuses it is an answer already.
  if (unnamed) tell(port, {PortNews::What::kInside, number, 0, program, {}});
}

void Ports::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  loop_.remove(key_);
  deciding_.reset();
  relay_.reset();
}

}  // namespace bulkhead
