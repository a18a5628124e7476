#include "sandbox/network/port_relay.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace bulkhead {
namespace {

constexpr uint64_t kWake = 0;
constexpr uint64_t kListener = uint64_t{1} << 63U;
constexpr std::chrono::milliseconds kPause{100};

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

void set(int socket, int level, int option, int value) {
  (void)::setsockopt(socket, level, option, &value, sizeof value);
}

// What waits for a byte that is held back to be sent with others would wait twice here.
void prepare(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_SNDBUF, PortRelay::kSocketBuffer);
  set(socket, SOL_SOCKET, SO_RCVBUF, PortRelay::kSocketBuffer);
}

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

// The compartment's loopback, as a socket of that family names it.
Address loopback(int socket, bool by_v6, uint16_t port) {
  int domain = AF_INET;
  socklen_t size = sizeof domain;
  (void)::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size);
  Address address;
  if (domain == AF_INET) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::memcpy(&address.bytes, &v4, address.size = sizeof v4);
    return address;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  constexpr uint8_t kMapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  if (!by_v6) std::memcpy(&v6.sin6_addr, kMapped, sizeof kMapped);
  std::memcpy(&address.bytes, &v6, address.size = sizeof v6);
  return address;
}

}  // namespace

PortRelay::PortRelay(int init, Workers& workers, std::function<void()> refused)
    : sockets_(init),
      refused_(std::move(refused)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      buffer_(new char[kChunk]) {
  thread_.emplace(
      workers, [this] { run(); }, false);
}

PortRelay::~PortRelay() { stop(); }

Result<std::unique_ptr<PortRelay>> PortRelay::start(int init, Workers& workers,
                                                    std::function<void()> refused) {
  std::unique_ptr<PortRelay> self(new PortRelay(init, workers, std::move(refused)));
  if (!self->events_ || !self->wake_) return errno_error("make a descriptor for a published port");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWake;
  if (::epoll_ctl(self->events_.get(), EPOLL_CTL_ADD, self->wake_.get(), &event) != 0)
    return errno_error("watch a descriptor");
  // Tells now what would else be told to whoever connects.
  BULKHEAD_TRY(const Fd probe, self->sockets_.take());
  self->thread_->submit();
  return self;
}

void PortRelay::publish(uint16_t port, std::vector<Fd> listeners) {
  const std::lock_guard lock(mutex_);
  for (Fd& each : listeners) added_.emplace_back(port, std::move(each));
  (void)::eventfd_write(wake_.get(), 1);
}

void PortRelay::withdraw(uint16_t port) {
  std::unique_lock lock(mutex_);
  if (!running_) {  // its thread has not begun yet, or is over
    std::erase_if(added_, [port](const auto& each) { return each.first == port; });
    return;
  }
  removed_.push_back(port);
  (void)::eventfd_write(wake_.get(), 1);
  done_.wait(lock, [this] { return removed_.empty() || !running_; });
}

void PortRelay::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (wake_) (void)::eventfd_write(wake_.get(), 1);
  thread_.reset();
  added_.clear();
}

// ---- Its thread ----

void PortRelay::run() {
  {
    const std::lock_guard lock(mutex_);
    running_ = true;
  }
  while (obey()) {
    watch_listeners();
    const auto now = Clock::now();
    const auto until = std::min(over_, paused_until_ > now ? paused_until_ : over_);
    int wait = -1;
    if (until != Clock::time_point::max())
      wait = static_cast<int>(
          std::max<int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(until - now).count()));
    std::array<epoll_event, 64> ready{};
    const int count =
        ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), wait);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = ready[static_cast<size_t>(i)];
      serve(event.data.u64, event.events);
    }
  }
  for (auto& [id, connection] : connections_) reset(connection);
  connections_.clear();
  const std::lock_guard lock(mutex_);
  running_ = false;
  done_.notify_all();
}

bool PortRelay::obey() {
  const std::lock_guard lock(mutex_);
  for (auto& [port, socket] : std::exchange(added_, {}))
    listeners_[kListener | next_++] = {port, std::move(socket), false};
  for (const uint16_t port : std::exchange(removed_, {})) {
    std::erase_if(listeners_, [port](const auto& each) { return each.second.port == port; });
    by_v6_.erase(port);
  }
  done_.notify_all();
  if (!stopping_) return true;
  listeners_.clear();
  if (over_ == Clock::time_point::max()) over_ = Clock::now() + kPatience;
  return !connections_.empty() && Clock::now() < over_;
}

void PortRelay::watch_listeners() {
  const bool room = connections_.size() < kMostConnections && Clock::now() >= paused_until_;
  for (auto& [key, listener] : listeners_) {
    if (listener.watched == room) continue;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = key;
    if (::epoll_ctl(events_.get(), room ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener.socket.get(),
                    &event) == 0)
      listener.watched = room;
  }
}

void PortRelay::serve(uint64_t key, uint32_t events) {
  if (key == kWake) {
    eventfd_t count = 0;
    (void)::eventfd_read(wake_.get(), &count);
    return;
  }
  if ((key & kListener) != 0) {
    if (const auto at = listeners_.find(key); at != listeners_.end()) accept_from(at->second);
    return;
  }
  const uint64_t id = key >> 1U;
  const auto side = static_cast<Side>(key & 1U);
  const auto at = connections_.find(id);
  if (at == connections_.end()) return;  // ended by an event before this one
  Connection& connection = at->second;
  bool whole = true;
  if (connection.connecting) {
    whole = settle_connect(id, connection);
  } else {
    const auto other = static_cast<Side>(1 - side);
    if ((events & EPOLLERR) != 0) whole = false;
    if (whole && (events & (EPOLLOUT | EPOLLHUP)) != 0) whole = flush(connection, other);
    if (whole && (events & (EPOLLIN | EPOLLHUP)) != 0) whole = carry(connection, side);
  }
  const auto over = [](const Way& way) { return way.ended && way.empty(); };
  if (whole && over(connection.ways[kOutside]) && over(connection.ways[kInside])) {
    connections_.erase(at);
    return;
  }
  if (whole) whole = watch(id, connection);
  if (whole) return;
  reset(connection);
  connections_.erase(at);
}

void PortRelay::accept_from(Listener& listener) {
  for (int times = 0; times < 16 && connections_.size() < kMostConnections; ++times) {
    Fd outside(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!outside) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
        paused_until_ = Clock::now() + kPause;
      return;
    }
    prepare(outside.get());
    const uint64_t id = next_++;
    Connection& connection = connections_[id];
    connection.port = listener.port;
    connection.by_v6 = by_v6_[listener.port];
    connection.ends[kOutside] = std::move(outside);
    if (connect_inside(id, connection) && watch(id, connection)) continue;
    reset(connection);
    connections_.erase(id);
  }
}

bool PortRelay::connect_inside(uint64_t id, Connection& connection) {
  auto socket = sockets_.take();
  if (!socket.ok()) {
    paused_until_ = Clock::now() + kPause;
    return false;
  }
  connection.watched[kInside] = 0;  // the epoll set forgets a socket that is closed
  Fd& inside = connection.ends[kInside] = std::move(*socket);
  prepare(inside.get());
  const Address address = loopback(inside.get(), connection.by_v6, connection.port);
  if (::connect(inside.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0)
    return settle_connect(id, connection);
  if (errno == EINPROGRESS) return true;
  return errno == ECONNREFUSED && settle_connect(id, connection);
}

// By the other family where nobody listens in this one.
bool PortRelay::settle_connect(uint64_t id, Connection& connection) {
  const int inside = connection.ends[kInside].get();
  int error = 0;
  socklen_t size = sizeof error;
  (void)::getsockopt(inside, SOL_SOCKET, SO_ERROR, &error, &size);
  tcp_info info{};
  size = sizeof info;
  if (error == 0 && ::getsockopt(inside, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
    if (info.tcpi_state == TCP_SYN_SENT) return true;  // told too early
    if (info.tcpi_state == TCP_CLOSE) error = ECONNREFUSED;
  }
  if (error == 0) {
    connection.connecting = false;
    by_v6_[connection.port] = connection.by_v6;
    return true;
  }
  if (error == ECONNREFUSED && !std::exchange(connection.tried_other, true)) {
    connection.by_v6 = !connection.by_v6;
    return connect_inside(id, connection);
  }
  if (error == ECONNREFUSED) refused_();
  return false;
}

bool PortRelay::carry(Connection& connection, Side from) {
  Way& way = connection.ways[from];
  if (way.ended || !way.empty()) return true;
  const int to = connection.ends[1 - from].get();
  const ssize_t got = ::recv(connection.ends[from].get(), buffer_.get(), kChunk, 0);
  if (got < 0) return would_block();
  if (got == 0) {
    way.ended = true;
    return ::shutdown(to, SHUT_WR) == 0 || errno == ENOTCONN;
  }
  const auto size = static_cast<size_t>(got);
  ssize_t sent = ::send(to, buffer_.get(), size, MSG_NOSIGNAL);
  if (sent < 0 && !would_block()) return false;
  sent = std::max<ssize_t>(sent, 0);
  if (static_cast<size_t>(sent) == size) return true;
  way.begin = 0;
  way.end = size - static_cast<size_t>(sent);
  way.kept.reset(new char[way.end]);
  std::memcpy(way.kept.get(), buffer_.get() + sent, way.end);
  return true;
}

bool PortRelay::flush(Connection& connection, Side from) {
  Way& way = connection.ways[from];
  if (way.empty()) return true;
  const ssize_t sent = ::send(connection.ends[1 - from].get(), way.kept.get() + way.begin,
                              way.end - way.begin, MSG_NOSIGNAL);
  if (sent < 0) return would_block();
  way.begin += static_cast<size_t>(sent);
  if (way.empty()) way.kept.reset();
  return true;
}

// Each end for what can be done there. An end with nothing to be done leaves the set: its hanging
// up would be told over and over.
bool PortRelay::watch(uint64_t id, Connection& connection) {
  for (const Side side : {kOutside, kInside}) {
    const Way& in = connection.ways[side];
    const Way& out = connection.ways[1 - side];
    uint32_t wanted = 0;
    if (connection.connecting) {
      if (side == kInside) wanted = EPOLLOUT;
    } else {
      if (!in.ended && in.empty()) wanted |= EPOLLIN;
      if (!out.empty()) wanted |= EPOLLOUT;
    }
    uint32_t& watched = connection.watched[side];
    if (wanted == watched) continue;
    epoll_event event{};
    event.events = wanted;
    event.data.u64 = id << 1U | side;
    const int what = watched == 0 ? EPOLL_CTL_ADD : wanted == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    if (::epoll_ctl(events_.get(), what, connection.ends[side].get(), &event) != 0) return false;
    watched = wanted;
  }
  return true;
}

// Who is at the other end is to know that something is missing.
void PortRelay::reset(Connection& connection) {
  const linger at_once{1, 0};
  for (const Fd& end : connection.ends)
    if (end) (void)::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace bulkhead
