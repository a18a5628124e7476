// connect, bind, listen, getsockname and sendto.
//
// A compartment's sockets live in a network namespace with nothing but loopback. A granted
// connection gets a new socket, made and connected outside, in the place of the caller's. So the
// caller comes to hold sockets of the machine's namespace, and each way to make something else of
// one is closed:
//   - connect again, to another address: decided like the first, and by the copy of the address
//     that was decided on. connect(AF_UNSPEC), which would undo the connection, is refused.
//   - bind, listen: refused. shutdown(2) brings a socket in SYN_SENT back to where listen(2) would
//     open a port of the machine, so listen is served although it has no address.
//   - sendto, sendmsg with an address: ignored by a connected TCP socket; MSG_FASTOPEN, which would
//     connect, and TCP_FASTOPEN_CONNECT, source routes and TCP_ULP are refused by the filter.
//   - UDP, raw and unix datagram sockets, whose every message can name another address, are never
//     injected, and unix datagram sockets not even made.
// Whether a socket is from outside is not remembered but read from the socket (SO_NETNS_COOKIE).
//
// Nothing is ever answered CONTINUE where the address counts; what is done, is done on a duplicate.
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "sandbox/caller/pool.h"
#include "sandbox/calls/common.h"
#include "sandbox/calls/epoll_entries.h"
#include "sandbox/calls/target_socket.h"
#include "sandbox/kernel/kernel.h"
#include "sandbox/network/listeners.h"
#include "sandbox/network/name_cache.h"

namespace bulkhead {

namespace {

constexpr int kLookEvery = 100;  // ms between looks whether the caller still lives
constexpr const char* kUdpStays = "only TCP leaves the compartment";
constexpr const char* kForeign = "a socket from outside keeps the connection that it was given for";

Reply result_of(int returned) { return returned < 0 ? Reply::error(errno) : Reply::value(0); }

bool is_internet(const TargetSocket& socket) {
  return socket.domain == AF_INET || socket.domain == AF_INET6;
}

using Clock = std::chrono::steady_clock;

// By SO_SNDTIMEO; of a connect that is interrupted nothing begins again where it has one.
Clock::time_point send_deadline(int socket) {
  timeval limit{};
  socklen_t size = sizeof limit;
  if (::getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, &size) != 0 ||
      (limit.tv_sec == 0 && limit.tv_usec == 0))
    return Clock::time_point::max();
  return Clock::now() + std::chrono::seconds(limit.tv_sec) +
         std::chrono::microseconds(limit.tv_usec);
}

// connect on the target's own socket, inside. Waits as the target would (its O_NONBLOCK and
// SO_SNDTIMEO count), so only on a thread that may block.
Reply connect_own(Call& call, int socket, const sockaddr* address, socklen_t size) {
  const bool begins_again = send_deadline(socket) == Clock::time_point::max();
  const Waiting waiting;
  for (bool begun = false;; begun = true) {
    if (::connect(socket, address, size) == 0) return Reply::value(0);
    // A TCP handshake goes on meanwhile, and is done when the next try says so.
    if (begun && errno == EISCONN) return Reply::value(0);
    if (errno != EINTR) return Reply::error(errno);
    if (auto no = interrupted(call, pending_signal(call.tid()), begins_again))
      return std::move(*no);
  }
}

// ---- TCP ----

// Until a handshake has ended either way: 0; EINPROGRESS after the deadline, as the kernel says for
// SO_SNDTIMEO; else what interrupted() says (a blocked connect must not hold up Ctrl-C).
int await_handshake(const Call& call, int socket, Clock::time_point deadline) {
  const bool begins_again = deadline == Clock::time_point::max();
  for (SignalWatch signals;;) {
    int wait = kLookEvery;
    if (!begins_again) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return EINPROGRESS;
      wait = static_cast<int>(std::min<int64_t>(left, wait));
    }
    pollfd polled{socket, POLLOUT, 0};
    if (::poll(&polled, 1, wait) > 0) return 0;
    if (const auto no = interrupted(call, signals.look(call.tid()), begins_again))
      return no->errno_value();
  }
}

// A socket that is not in its first state: the kernel's answers, without
// touching it. nullopt: it is.
std::optional<Reply> answer_by_state(Call& call, const TargetSocket& socket) {
  switch (tcp_state(socket.fd.get())) {
    case TCP_CLOSE:
      // A connection that failed behind the caller's back tells why, once.
      if (const int error = take_socket_error(socket.fd.get()); error != 0)
        return Reply::error(error);
      return std::nullopt;
    case TCP_SYN_SENT:
    case TCP_SYN_RECV: {
      if (socket.non_blocking) return Reply::error(EALREADY);
      if (!call.may_block()) return Reply::later();
      const int wait = await_handshake(call, socket.fd.get(), send_deadline(socket.fd.get()));
      if (wait != 0) return Reply::error(wait == EINPROGRESS ? EALREADY : wait);
      const int error = take_socket_error(socket.fd.get());
      return error != 0 ? Reply::error(error) : Reply::value(0);
    }
    default:
      return Reply::error(EISCONN);
  }
}

Reply connect_outside(Call& call, const TargetSocket& own, const SocketAddress& address) {
  Fd fresh(::socket(own.domain, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fresh) return Reply::error(errno);
  copy_client_options(own.fd.get(), fresh.get());
  int error = ::connect(fresh.get(), address.get(), address.size) == 0 ? 0 : errno;
  if (error == EINPROGRESS && !own.non_blocking) {
    error = await_handshake(call, fresh.get(), send_deadline(fresh.get()));
    // The second call tells the end of the first, and lets the socket know that it is connected.
    if (error == 0 && ::connect(fresh.get(), address.get(), address.size) != 0) error = errno;
  }
  const bool goes_on = error == EINPROGRESS || error == EINTR || error == kRestart;
  if (error != 0 && !goes_on) return Reply::error(error);
  // O_NONBLOCK lives in the open socket and so comes with it.
  if (!own.non_blocking && ::fcntl(fresh.get(), F_SETFL, O_RDWR) != 0) return Reply::error(errno);
  Service& service = call.service();
  const auto entries = epoll_entries(service.processes, call.tid(), own);
  const bool close_on_exec = closes_on_exec(call.tid(), own.number);
  if (!call.still_valid()) return Reply::error(EINTR);
  if (const int failed =
          service.listener.replace(call.notification(), fresh.get(), own.number, close_on_exec);
      failed != 0)
    return Reply::error(failed);
  move_epoll_entries(entries, own, fresh.get());
  // Ours is closed before the caller hears of it: whoever listens for its end waits for all of
  // them.
  return error == 0 ? Reply::value(0) : Reply::error(error);
}

Reply connect_tcp(Call& call, const TargetSocket& socket, const SocketAddress& address) {
  if (address.size < sizeof(sa_family_t)) return Reply::error(EINVAL);
  if (address.family() == AF_UNSPEC) {
    if (socket.inside) return result_of(::connect(socket.fd.get(), address.get(), address.size));
    call.note_refusal(Kind::kSystem, "connect", kForeign);
    return Reply::error(EOPNOTSUPP);
  }
  const auto endpoint = endpoint_of(address);
  if (address.family() != socket.domain)
    return Reply::error(endpoint || address.size >= sizeof(sockaddr_in) ? EAFNOSUPPORT : EINVAL);
  if (!endpoint) return Reply::error(EINVAL);
  if (auto reply = answer_by_state(call, socket)) return std::move(*reply);

  Service& service = call.service();
  if (endpoint->address.is_loopback()) {
    if (!call.may_block()) return Reply::later();  // before the look, which takes its time
    // A socket from outside cannot come back in; its next connect needs a new one.
    if (listens_inside(service.compartment.init, endpoint->port)) {
      if (!socket.inside) return Reply::error(ECONNREFUSED);
      return connect_own(call, socket.fd.get(), address.get(), address.size);
    }
  }
  // Inside there are loopback addresses only, and from such a one no packet leaves a machine. A
  // local port alone is not taken along: outside, ports are the machine's to give.
  const auto bound = socket.inside ? bound_address(socket.fd.get()) : std::nullopt;
  if (bound && !endpoint->address.is_loopback()) return Reply::error(EINVAL);

  // Before the decision, so that it is made, and counted, once.
  if (!socket.non_blocking && !call.may_block()) return Reply::later();
  const std::vector<std::string> names = service.names.names(endpoint->address);
  const std::vector<std::string_view> views(names.begin(), names.end());
  switch (call.decide_connect(endpoint->address, endpoint->port, views)) {
    case Judge::Ruling::kWouldAsk:
      return Reply::later();
    case Judge::Ruling::kDeny:
      return Reply::error(ECONNREFUSED);
    case Judge::Ruling::kAllow:
      break;
  }
  return connect_outside(call, socket, address);
}

// ---- UDP: inside, where the stub resolver is all that it reaches ----

// Resolver libraries connect UDP sockets to addresses that they are about to use, to learn their
// order (RFC 6724), and send nothing: no attempt where TCP may go there.
bool is_address_probe(const Call& call, const SocketEndpoint& endpoint) {
  const Service& service = call.service();
  const std::vector<std::string> names = service.names.names(endpoint.address);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const Policy& policy = service.judge.policy();
  return endpoint.port == 0 ||
         policy.decide_connect(endpoint.address, endpoint.port, views).verdict == Verdict::kAllow;
}

Reply connect_datagram(Call& call, const TargetSocket& socket, const SocketAddress& address) {
  if (!socket.inside) {
    call.note_refusal(Kind::kSystem, "connect", kUdpStays);
    return Reply::error(EPERM);
  }
  const auto endpoint = endpoint_of(address);
  if (endpoint && !endpoint->address.is_loopback() && !is_address_probe(call, *endpoint))
    call.note_refusal(Kind::kConnect, "udp " + endpoint->to_string(), kUdpStays);
  // Sets the peer, or undoes that; never waits.
  return result_of(::connect(socket.fd.get(), address.get(), address.size));
}

// ---- unix sockets ----

// The path of a pathname address; nullopt for unnamed and abstract ones, which live in the
// socket's network namespace.
std::optional<std::string> socket_path(const SocketAddress& address) {
  constexpr size_t kPath = offsetof(sockaddr_un, sun_path);
  if (address.size <= kPath) return std::nullopt;
  const char* const text = reinterpret_cast<const char*>(&address.bytes) + kPath;
  if (text[0] == '\0') return std::nullopt;
  return std::string(text, ::strnlen(text, address.size - kPath));
}

bool is_unix_address(const SocketAddress& address) {
  return address.family() == AF_UNIX && address.size >= sizeof(sa_family_t) &&
         address.size <= sizeof(sockaddr_un);
}

Reply connect_unix(Call& call, const TargetSocket& socket, const SocketAddress& address) {
  if (!socket.inside || (socket.type != SOCK_STREAM && socket.type != SOCK_SEQPACKET)) {
    call.note_refusal(Kind::kSystem, "connect",
                      socket.inside ? "a unix datagram socket" : kForeign);
    return Reply::error(EPERM);
  }
  if (!is_unix_address(address) || address.size == sizeof(sa_family_t)) return Reply::error(EINVAL);
  const auto path = socket_path(address);
  if (!path) {
    if (!call.may_block()) return Reply::later();
    return connect_own(call, socket.fd.get(), address.get(), address.size);
  }
  const Walker& walker = call.service().walker;
  Spelling spelling;
  Found found;
  if (const int error = walker.spell(call, AT_FDCWD, *path, &spelling); error != 0)
    return Reply::error(error);
  if (const int error = walker.resolve(call, spelling, Follow::kYes, &found); error != 0)
    return Reply::error(error);
  if (const int error = Walker::look(&found); error != 0) return Reply::error(error);
  if (!found.is_path) return Reply::error(ECONNREFUSED);
  // To what is no socket nothing connects: the kernel says which refusal it is (EACCES comes
  // first).
  if (S_ISSOCK(found.type)) {
    if (!call.may_block()) return Reply::later();
    if (auto refusal = refuse_name(call, Kind::kWrite, spelling, found.canonical))
      return std::move(*refusal);
    if (auto refusal = call.refuse_unless(Kind::kWrite, found.canonical))
      return std::move(*refusal);
  }
  const OwnLink link(found.fd.get());
  sockaddr_un target{};
  target.sun_family = AF_UNIX;
  static_assert(sizeof target.sun_path > sizeof link.text);
  std::memcpy(target.sun_path, link.text, sizeof link.text);
  return connect_own(call, socket.fd.get(), reinterpret_cast<const sockaddr*>(&target),
                     sizeof target);
}

Reply bind_unix(Call& call, const TargetSocket& socket, const SocketAddress& address) {
  if (!is_unix_address(address)) return Reply::error(EINVAL);
  const auto path = socket_path(address);
  if (!path) return result_of(::bind(socket.fd.get(), address.get(), address.size));
  const Walker& walker = call.service().walker;
  Spelling spelling;
  FoundEntry entry;
  if (const int error = walker.spell(call, AT_FDCWD, *path, &spelling); error != 0)
    return Reply::error(error);
  if (const int error = walker.resolve_entry(call, spelling, &entry); error != 0)
    return Reply::error(error);
  if (entry.tail == Tail::kSlash) return Reply::error(ENOENT);
  if (entry.tail != Tail::kName) return Reply::error(EADDRINUSE);
  sockaddr_un target{};
  target.sun_family = AF_UNIX;
  if (entry.name.size() > sizeof target.sun_path) return Reply::error(ENAMETOOLONG);
  const std::string& name = entry.canonical;
  if (call.has_no_room(name)) return Reply::error(EDQUOT);
  if (auto refusal = call.refuse_unless(Kind::kWrite, name)) return std::move(*refusal);
  if (auto refusal = refuse_device(call, true, name, 0)) return std::move(*refusal);
  if (auto refusal = refuse_above_block(call, name, S_IFSOCK)) return std::move(*refusal);
  std::memcpy(target.sun_path, entry.name.data(), entry.name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + entry.name.size());
  // One component, relative to the folder that was decided on: no path is walked again, and none is
  // too long. Working folder and umask are this thread's own (threads/workers.h). The kernel
  // then knows the last name only: serve_own_name tells the path.
  if (const int error = adopt_umask(call); error != 0) return Reply::error(error);
  if (::fchdir(entry.folder.get()) != 0) return Reply::error(errno);
  note_taken(call, entry.folder.get(), kNameBytes);
  Reply reply =
      result_of(::bind(socket.fd.get(), reinterpret_cast<const sockaddr*>(&target), size));
  if (::chdir("/") != 0) return Reply::error(errno);
  struct stat status {};
  if (*path != entry.name && ::fstat(socket.fd.get(), &status) == 0)
    call.service().socket_paths.add(status.st_ino, *path);
  return reply;
}

// ---- bind ----

// The supervisor is privileged in the namespaces that it made, its user's programs are not there
// outside: an ordinary user's server gets the refusal that it would get on the machine.
bool is_reserved_port(uint16_t port) {
  static const unsigned first_free = [] {
    const auto text = read_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", 64);
    return text.ok() ? static_cast<unsigned>(std::strtoul(text->c_str(), nullptr, 10)) : 1024U;
  }();
  return port != 0 && port < first_free && ::geteuid() != 0;
}

Reply bind_internet(Call& call, const TargetSocket& socket, const SocketAddress& address) {
  if (!socket.inside) {
    call.note_refusal(Kind::kSystem, "bind", kForeign);
    return Reply::error(EINVAL);  // what a connected socket answers
  }
  const auto endpoint = endpoint_of(address);
  if (endpoint && is_reserved_port(endpoint->port)) return Reply::error(EACCES);
  return result_of(::bind(socket.fd.get(), address.get(), address.size));
}

}  // namespace

Reply serve_connect(Call& call) {
  const auto socket = take_socket(call, call.fd_arg(0));
  if (!socket.ok()) return Reply::error(socket.error().errno_value);
  SocketAddress address;
  if (const int error = read_address(call, call.arg(1), call.arg(2), &address); error != 0)
    return Reply::error(error);
  if (!call.still_valid()) return Reply::error(EINTR);
  if (socket->domain == AF_UNIX) return connect_unix(call, *socket, address);
  if (is_internet(*socket) && socket->type == SOCK_STREAM)
    return connect_tcp(call, *socket, address);
  if (is_internet(*socket)) return connect_datagram(call, *socket, address);
  if (socket->domain == AF_NETLINK && socket->inside)
    return result_of(::connect(socket->fd.get(), address.get(), address.size));
  call.note_refusal(Kind::kSystem, "connect", "a socket of a family that is not served");
  return Reply::error(EPERM);
}

Reply serve_bind(Call& call) {
  const auto socket = take_socket(call, call.fd_arg(0));
  if (!socket.ok()) return Reply::error(socket.error().errno_value);
  SocketAddress address;
  if (const int error = read_address(call, call.arg(1), call.arg(2), &address); error != 0)
    return Reply::error(error);
  if (!call.still_valid()) return Reply::error(EINTR);
  if (is_internet(*socket)) return bind_internet(call, *socket, address);
  if (socket->inside && socket->domain == AF_UNIX) return bind_unix(call, *socket, address);
  if (socket->inside && socket->domain == AF_NETLINK)
    return result_of(::bind(socket->fd.get(), address.get(), address.size));
  call.note_refusal(Kind::kSystem, "bind",
                    socket->inside ? "a socket of a family that is not served" : kForeign);
  return Reply::error(EPERM);
}

// Whether its port is reached from outside is decided apart (network/ports.h): what the program
// asked for is done.
Reply serve_listen(Call& call) {
  const auto socket = take_socket(call, call.fd_arg(0));
  if (!socket.ok()) return Reply::error(socket.error().errno_value);
  if (!call.still_valid()) return Reply::error(EINTR);
  if (socket->inside) {
    if (::listen(socket->fd.get(), call.fd_arg(1)) != 0) return Reply::error(errno);
    if (is_internet(*socket) && socket->type == SOCK_STREAM)
      if (const auto own = own_endpoint(socket->fd.get())) call.note_listening(own->port);
    return Reply::value(0);
  }
  call.note_refusal(Kind::kSystem, "listen", kForeign);
  return Reply::error(EINVAL);  // what a connected socket answers
}

// Programs publish what this tells as the address of their server (multiprocessing of Python does).
// All but a known path is the kernel's to tell.
Reply serve_own_name(Call& call) {
  const SocketPaths& paths = call.service().socket_paths;
  if (paths.empty()) return Reply::go_on();
  const auto socket = take_socket(call, call.fd_arg(0));
  if (!socket.ok() || socket->domain != AF_UNIX) return Reply::go_on();
  SocketAddress own;
  own.size = sizeof own.bytes;
  struct stat status {};
  if (::getsockname(socket->fd.get(), reinterpret_cast<sockaddr*>(&own.bytes), &own.size) != 0 ||
      ::fstat(socket->fd.get(), &status) != 0)
    return Reply::go_on();
  const std::string path = paths.find(status.st_ino, socket_path(own).value_or(""));
  if (path.empty()) return Reply::go_on();

  int32_t room = 0;
  if (!call.memory().read(call.arg(2), &room, sizeof room).ok()) return Reply::error(EFAULT);
  if (room < 0) return Reply::error(EINVAL);
  // With a NUL behind the path, which is counted also where it has no room in sun_path.
  constexpr size_t kPath = offsetof(sockaddr_un, sun_path);
  std::memcpy(reinterpret_cast<char*>(&own.bytes) + kPath, path.c_str(), path.size() + 1);
  const auto size = static_cast<int32_t>(kPath + path.size() + 1);
  const auto told = static_cast<size_t>(std::min(room, size));
  int error = call.write(call.arg(1), &own.bytes, told);
  if (error == 0) error = call.write(call.arg(2), &size, sizeof size);
  return Reply::error(error);
}

// Served for the journal's sake, and answered CONTINUE: inside, no address leads anywhere but
// loopback, whichever the caller puts there meanwhile; and sendmsg, which keeps its address in
// memory, is not seen at all.
Reply serve_send(Call& call) {
  const uint32_t flags = call.flags_arg(3);
  if ((flags & MSG_FASTOPEN) != 0) return serve_refusal(call);
  const auto socket = take_socket(call, call.fd_arg(0));
  if (!socket.ok()) return Reply::error(socket.error().errno_value);
  const bool stream = socket->type == SOCK_STREAM || socket->type == SOCK_SEQPACKET;
  if (!stream && (!socket->inside || socket->domain == AF_UNIX)) {
    call.note_refusal(Kind::kSystem, "sendto", kUdpStays);
    return Reply::error(EPERM);
  }
  SocketAddress address;
  if (!stream && is_internet(*socket) &&
      read_address(call, call.arg(4), call.arg(5), &address) == 0) {
    const auto endpoint = endpoint_of(address);
    if (endpoint && !endpoint->address.is_loopback())
      call.note_refusal(Kind::kConnect, "udp " + endpoint->to_string(), kUdpStays);
  }
  return Reply::go_on();
}

}  // namespace bulkhead
