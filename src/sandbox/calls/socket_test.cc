// connect, bind, listen, getsockname and sendto as a real child sees them, in a network of its own.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <thread>

#include "base/fd.h"
#include "sandbox/testing/served_child.h"

namespace bulkhead::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
};
Address v4(const char* text, uint16_t port) {
  Address result;
  auto* in = reinterpret_cast<sockaddr_in*>(&result.bytes);
  in->sin_family = AF_INET;
  in->sin_port = htons(port);
  ::inet_pton(AF_INET, text, &in->sin_addr);
  result.size = sizeof *in;
  return result;
}
Address v6(const char* text, uint16_t port) {
  Address result;
  auto* in = reinterpret_cast<sockaddr_in6*>(&result.bytes);
  in->sin6_family = AF_INET6;
  in->sin6_port = htons(port);
  ::inet_pton(AF_INET6, text, &in->sin6_addr);
  result.size = sizeof *in;
  return result;
}
Address local(const std::string& path) {
  Address result;
  auto* un = reinterpret_cast<sockaddr_un*>(&result.bytes);
  un->sun_family = AF_UNIX;
  std::memcpy(un->sun_path, path.data(), path.size());
  result.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return result;
}

Fd tcp(int flags = 0, int domain = AF_INET) {
  return Fd(::socket(domain, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}
std::string connect_to(int fd, const Address& address) {
  return outcome_of(::connect(fd, address.get(), address.size));
}
// In a braced list the calls are made from left to right; the operands of + have no order.
std::string words(std::initializer_list<std::string> list) {
  return fmt::format("{}", fmt::join(list, " "));
}
uint16_t port_of(int fd) {
  Address own;
  own.size = sizeof own.bytes;
  ::getsockname(fd, own.get(), &own.size);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&own.bytes)->sin_port);
}
std::string peer_of(int fd) {
  Address peer;
  peer.size = sizeof peer.bytes;
  if (::getpeername(fd, peer.get(), &peer.size) != 0) return strerrorname_np(errno);
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&peer.bytes)->sin_addr, text,
              sizeof text);
  return text;
}

// A server of the machine, outside of every compartment.
class Server {
 public:
  explicit Server(int backlog = 16, Address address = v4("127.0.0.1", 0))
      : fd_(tcp(SOCK_NONBLOCK, address.bytes.ss_family)) {
    EXPECT_EQ(::bind(fd_.get(), address.get(), address.size), 0);
    EXPECT_EQ(::listen(fd_.get(), backlog), 0);
  }
  uint16_t port() const { return port_of(fd_.get()); }
  std::string grant() const { return fmt::format("localhost:{}", port()); }
  Address address() const { return v4("127.0.0.1", port()); }
  // What the next client said; "nobody" without one.
  std::string heard() const {
    const Fd client(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) return "nobody";
    char buffer[64];
    const ssize_t n = ::recv(client.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    return n < 0 ? "silence" : std::string(buffer, static_cast<size_t>(n));
  }
  // Fills the queue of a server with a backlog of 0, so that the next handshake does not end.
  std::vector<Fd> fill() const {
    std::vector<Fd> clients;
    for (int i = 0; i < 2; ++i) {
      clients.push_back(tcp(SOCK_NONBLOCK));
      (void)connect_to(clients.back().get(), address());
    }
    return clients;
  }

 private:
  Fd fd_;
};

Grants network(std::vector<std::string> connect) {
  Grants grants;
  grants.own_network = true;
  grants.connect = std::move(connect);
  return grants;
}

TEST(Connect, ReachesWhatIsGrantedAndNothingElse) {
  const Server granted;
  const Server denied;
  std::vector<std::string> denials;
  const auto text = serve(
      network({granted.grant()}),
      [&] {
        const Fd one = tcp();
        const Fd two = tcp();
        return words(
            {connect_to(one.get(), granted.address()), outcome_of(::send(one.get(), "hello", 5, 0)),
             peer_of(one.get()), connect_to(two.get(), denied.address()),
             connect_to(one.get(), denied.address()), connect_to(two.get(), v4("192.0.2.1", 80))});
      },
      &denials);
  EXPECT_EQ(text, "ok ok 127.0.0.1 ECONNREFUSED EISCONN ECONNREFUSED");
  EXPECT_EQ(granted.heard(), "hello");
  EXPECT_EQ(denied.heard(), "nobody");
  EXPECT_THAT(denials, ElementsAre(fmt::format("connect 127.0.0.1:{}", denied.port()),
                                   "connect 192.0.2.1:80"));
}

TEST(Connect, NonBlockingSocketsGoOnAtOnce) {
  const Server server;
  const auto text = serve(network({server.grant()}), [&] {
    const Fd fd = tcp(SOCK_NONBLOCK);
    std::string result = connect_to(fd.get(), server.address());
    pollfd polled{fd.get(), POLLOUT, 0};
    ::poll(&polled, 1, -1);
    int error = -1;
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    result += fmt::format(" {} {} {} ", error, (::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) != 0,
                          ::fcntl(fd.get(), F_GETFD));
    return result + connect_to(fd.get(), server.address());
  });
  EXPECT_EQ(text, "EINPROGRESS 0 true 1 EISCONN");
}

TEST(Connect, KeepsTheDescriptorsFlagsAndTheSocketsOptions) {
  const Server server;
  const auto text = serve(network({server.grant()}), [&] {
    const Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
    const int one = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    std::string result = connect_to(fd.get(), server.address());
    int value = 0;
    socklen_t size = sizeof value;
    ::getsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &value, &size);
    return result + fmt::format(" {} {} {}", value, ::fcntl(fd.get(), F_GETFD),
                                (::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) != 0);
  });
  EXPECT_EQ(text, "ok 1 0 false");
}

// What an epoll descriptor says next: events and data.
std::string next_of(const Fd& epoll, int patience = 2000) {
  epoll_event event{};
  if (::epoll_wait(epoll.get(), &event, 1, patience) != 1) return "nothing";
  const uint32_t events = event.events;
  const uint64_t data = event.data.u64;
  return fmt::format("{:x}/{:x}", events, data);
}
std::string put(const Fd& epoll, int operation, int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = 0xfedcba9876543210;
  return outcome_of(::epoll_ctl(epoll.get(), operation, fd, &event));
}

TEST(Connect, EpollDescriptorsKnowTheConnection) {
  const Server server;
  const auto body = [&] {
    const Fd level(::epoll_create1(EPOLL_CLOEXEC));
    const Fd edge(::epoll_create1(EPOLL_CLOEXEC));
    const Fd once(::epoll_create1(EPOLL_CLOEXEC));
    const Fd exclusive(::epoll_create1(EPOLL_CLOEXEC));
    const Fd other(::epoll_create1(EPOLL_CLOEXEC));
    const Fd low = tcp(SOCK_NONBLOCK);
    const Fd fd(::fcntl(low.get(), F_DUPFD_CLOEXEC, 300));
    std::string text = words({put(level, EPOLL_CTL_ADD, fd.get(), EPOLLIN | EPOLLOUT),
                              put(edge, EPOLL_CTL_ADD, fd.get(), EPOLLIN | EPOLLOUT | EPOLLET),
                              put(once, EPOLL_CTL_ADD, fd.get(), EPOLLOUT | EPOLLONESHOT),
                              put(exclusive, EPOLL_CTL_ADD, fd.get(), EPOLLOUT | EPOLLEXCLUSIVE),
                              put(other, EPOLL_CTL_ADD, low.get(), EPOLLOUT)});
    text += words({"", next_of(level), next_of(edge), next_of(once), next_of(edge, 0), ""});
    text += connect_to(fd.get(), server.address());
    pollfd polled{fd.get(), POLLOUT, 0};
    ::poll(&polled, 1, -1);
    return text + words({"", next_of(edge), next_of(edge, 0), next_of(level), next_of(exclusive),
                         next_of(once, 0), put(once, EPOLL_CTL_MOD, fd.get(), EPOLLOUT),
                         next_of(once), put(level, EPOLL_CTL_MOD, fd.get(), EPOLLIN),
                         next_of(level, 0), put(level, EPOLL_CTL_ADD, fd.get(), EPOLLIN),
                         put(edge, EPOLL_CTL_DEL, fd.get(), 0), next_of(edge, 0)});
  };
  EXPECT_EQ(serve(network({server.grant()}), body), body());
}

TEST(Connect, EpollDescriptorsKnowAConnectionThatWasWaitedFor) {
  const Server server;
  const auto body = [&] {
    const Fd level(::epoll_create1(EPOLL_CLOEXEC));
    const Fd fd = tcp();
    const std::string added = put(level, EPOLL_CTL_ADD, fd.get(), EPOLLOUT);
    return words({added, next_of(level), connect_to(fd.get(), server.address()), next_of(level),
                  put(level, EPOLL_CTL_MOD, fd.get(), EPOLLIN), next_of(level, 0)});
  };
  EXPECT_EQ(serve(network({server.grant()}), body), body());
}

TEST(Connect, RefusalsOfTheMachineAreTold) {
  uint16_t closed = 0;
  {
    const Server gone;
    closed = gone.port();
  }
  const auto text = serve(network({fmt::format("localhost:{}", closed)}), [&] {
    const Address address = v4("127.0.0.1", closed);
    const Fd blocking = tcp();
    std::string result = connect_to(blocking.get(), address) + " ";
    result += connect_to(blocking.get(), address) + " ";
    const Fd fd = tcp(SOCK_NONBLOCK);
    result += connect_to(fd.get(), address) + " ";
    pollfd polled{fd.get(), POLLOUT, 0};
    ::poll(&polled, 1, -1);
    // The error of the first try, then a new one.
    result += connect_to(fd.get(), address) + " ";
    return result + connect_to(fd.get(), address);
  });
  EXPECT_EQ(text, "ECONNREFUSED ECONNREFUSED EINPROGRESS ECONNREFUSED EINPROGRESS");
}

TEST(Connect, Ipv6AndMappedAddresses) {
  const Fd probe = tcp(0, AF_INET6);
  if (!probe || ::bind(probe.get(), v6("::1", 0).get(), v6("::1", 0).size) != 0)
    GTEST_SKIP() << "needs ipv6";
  const Server six(16, v6("::1", 0));
  const Server four;
  const Server denied;
  const auto text = serve(network({six.grant(), four.grant()}), [&] {
    const Fd one = tcp(0, AF_INET6);
    const Fd two = tcp(0, AF_INET6);
    const Fd three = tcp(0, AF_INET6);
    return words({connect_to(one.get(), v6("::1", six.port())),
                  connect_to(two.get(), v6("::ffff:127.0.0.1", four.port())),
                  connect_to(three.get(), v6("::ffff:127.0.0.1", denied.port()))});
  });
  EXPECT_EQ(text, "ok ok ECONNREFUSED");
  EXPECT_EQ(denied.heard(), "nobody");
}

TEST(Connect, ServersInsideComeFirst) {
  const Server outside;
  std::vector<std::string> denials;
  const auto text = serve(
      network({}),
      [&] {
        const Fd server = tcp();
        const Address address = outside.address();
        std::string result = words({outcome_of(::bind(server.get(), address.get(), address.size)),
                                    outcome_of(::listen(server.get(), 4)), ""});
        const Fd client = tcp();
        result += connect_to(client.get(), address) + " ";
        (void)!::write(client.get(), "inside", 6);
        const Fd accepted(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
        char buffer[16] = {};
        (void)!::read(accepted.get(), buffer, sizeof buffer);
        // No server on ::1, but on the same port of 127.0.0.1: the kernel inside refuses.
        const Fd six = tcp(0, AF_INET6);
        return result + buffer + " " + connect_to(six.get(), v6("::1", outside.port()));
      },
      &denials);
  EXPECT_EQ(text, "ok ok ok inside ECONNREFUSED");
  EXPECT_EQ(outside.heard(), "nobody");
  EXPECT_THAT(denials, IsEmpty());
}

TEST(Connect, ErrorsAreTheKernels) {
  const Server server;
  const auto text = serve(network({server.grant()}), [&] {
    const Fd fd = tcp();
    const Fd file(::eventfd(0, EFD_CLOEXEC));
    const Address good = server.address();
    const auto raw = [](int number, const void* address, long size) {
      return outcome_of(::syscall(SYS_connect, number, address, size));
    };
    Address odd = good;
    odd.bytes.ss_family = AF_APPLETALK;
    return words(
        {raw(999, good.get(), good.size), raw(file.get(), good.get(), good.size),
         raw(fd.get(), good.get(), -1), raw(fd.get(), good.get(), 129),
         raw(fd.get(), good.get(), 8), raw(fd.get(), good.get(), 1), raw(fd.get(), good.get(), 0),
         raw(fd.get(), reinterpret_cast<void*>(16), good.size), raw(fd.get(), odd.get(), odd.size),
         raw(fd.get(), v6("::1", 1).get(), 28), raw(fd.get(), good.get(), good.size)});
  });
  EXPECT_EQ(
      text,
      "EBADF ENOTSOCK EINVAL EINVAL EINVAL EINVAL EINVAL EFAULT EAFNOSUPPORT EAFNOSUPPORT ok");
}

TEST(Connect, AnInjectedSocketBecomesNothingElse) {
  const Server server(0);
  const std::vector<Fd> full = server.fill();
  std::vector<std::string> denials;
  const auto text = serve(
      network({server.grant()}),
      [&] {
        // Its handshake does not end, so shutdown brings it back to its first state.
        const Fd fd = tcp(SOCK_NONBLOCK);
        std::string result = connect_to(fd.get(), server.address()) + " ";
        const Address nothing{};  // AF_UNSPEC
        result += outcome_of(::connect(fd.get(), nothing.get(), sizeof(sockaddr_in))) + " ";
        result += outcome_of(::shutdown(fd.get(), SHUT_RDWR)) + " ";
        result += outcome_of(::listen(fd.get(), 1)) + " ";
        const Address any = v4("0.0.0.0", 0);
        result += outcome_of(::bind(fd.get(), any.get(), any.size)) + " ";
        // What shutdown left behind, once; then a connection like any other.
        result += connect_to(fd.get(), v4("192.0.2.1", 80)) + " ";
        result += connect_to(fd.get(), v4("192.0.2.1", 80)) + " ";
        const Address far = v4("192.0.2.1", 80);
        result += outcome_of(
            ::sendto(fd.get(), "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, far.get(), far.size));
        return result;
      },
      &denials);
  EXPECT_EQ(text, "EINPROGRESS EOPNOTSUPP ok EINVAL EINVAL ECONNRESET ECONNREFUSED EOPNOTSUPP");
  EXPECT_THAT(denials, ElementsAre("system connect", "system listen", "system bind",
                                   "connect 192.0.2.1:80", "system sendto"));
}

TEST(Connect, OwnSocketsMayBeUndone) {
  const auto text = serve(network({}), [] {
    const Fd server = tcp();
    const Address any = v4("127.0.0.1", 0);
    (void)::bind(server.get(), any.get(), any.size);
    (void)::listen(server.get(), 4);
    const Fd fd = tcp();
    const Address nothing{};
    return words({connect_to(fd.get(), v4("127.0.0.1", port_of(server.get()))),
                  outcome_of(::connect(fd.get(), nothing.get(), sizeof(sockaddr_in))),
                  peer_of(fd.get())});
  });
  EXPECT_EQ(text, "ok ok ENOTCONN");
}

TEST(Connect, ARacingAddressGetsNowhere) {
  const Server granted(512);
  const Server denied(512);
  const auto text = serve(network({granted.grant()}), [&] {
    Address shared = granted.address();
    auto* port = &reinterpret_cast<sockaddr_in*>(&shared.bytes)->sin_port;
    std::atomic<bool> end = false;
    std::thread racer([&] {
      std::atomic_ref<in_port_t> racing(*port);
      while (!end) {
        racing = htons(granted.port());
        racing = htons(denied.port());
      }
    });
    int reached = 0;
    for (int i = 0; i < 100; ++i) {
      const Fd fd = tcp();
      if (::connect(fd.get(), shared.get(), shared.size) != 0) continue;
      ++reached;
      Address peer;
      peer.size = sizeof peer.bytes;
      ::getpeername(fd.get(), peer.get(), &peer.size);
      if (reinterpret_cast<sockaddr_in*>(&peer.bytes)->sin_port != htons(granted.port())) {
        end = true;
        racer.join();
        return std::string("reached the denied server");
      }
    }
    end = true;
    racer.join();
    return std::string(reached > 0 ? "fine" : "never connected");
  });
  EXPECT_EQ(text, "fine");
  EXPECT_EQ(denied.heard(), "nobody");
}

TEST(Connect, SignalsInterruptAWait) {
  const Server server(0);
  const std::vector<Fd> full = server.fill();
  const auto text = serve(network({server.grant()}), [&] {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval soon{{0, 20000}, {0, 20000}};  // again, as the first may come before the wait
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    const Fd fd = tcp();
    return connect_to(fd.get(), server.address());
  });
  EXPECT_EQ(text, "EINTR");
}

TEST(Connect, SendTimeoutsEndAWait) {
  const Server server(0);
  const std::vector<Fd> full = server.fill();
  const auto text = serve(network({server.grant()}), [&] {
    const Fd fd = tcp();
    const timeval limit{0, 20000};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return connect_to(fd.get(), server.address());
  });
  EXPECT_EQ(text, "EINPROGRESS");
}

TEST(Connect, ACallerThatDiesWhileItWaitsIsForgotten) {
  const Server server(0);
  const std::vector<Fd> full = server.fill();
  const auto text = serve(network({server.grant()}), [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      const Fd fd = tcp();
      ::_exit(connect_to(fd.get(), server.address()) == "ok" ? 1 : 2);
    }
    // Long enough to be inside connect on most runs; right either way.
    ::usleep(20000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    return std::string(WIFSIGNALED(status) ? "killed" : "ended");
  });
  EXPECT_EQ(text, "killed");
}

TEST(Datagram, StaysInside) {
  std::vector<std::string> denials;
  const auto text = serve(
      network({}),
      [] {
        const Fd server(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        const Address any = v4("127.0.0.1", 0);
        std::string result = outcome_of(::bind(server.get(), any.get(), any.size)) + " ";
        const Address address = v4("127.0.0.1", port_of(server.get()));
        const Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        result += outcome_of(::sendto(fd.get(), "one", 3, 0, address.get(), address.size)) + " ";
        result += connect_to(fd.get(), address) + " ";
        char buffer[8] = {};
        (void)!::recv(server.get(), buffer, sizeof buffer, 0);
        result += std::string(buffer) + " ";
        const Address far = v4("192.0.2.1", 53);
        const Fd other(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        result += connect_to(other.get(), far) + " ";
        return result + outcome_of(::sendto(other.get(), "x", 1, 0, far.get(), far.size));
      },
      &denials);
  EXPECT_EQ(text, "ok ok ok one ENETUNREACH ENETUNREACH");
  EXPECT_THAT(denials, ElementsAre("connect udp 192.0.2.1:53", "connect udp 192.0.2.1:53"));
}

TEST(Bind, ReservedPortsNeedTheirUser) {
  const auto text = serve(network({}), [] {
    const Fd fd = tcp();
    const Address low = v4("127.0.0.1", 80);
    return outcome_of(::bind(fd.get(), low.get(), low.size));
  });
  EXPECT_EQ(text, ::geteuid() == 0 ? "ok" : "EACCES");
}

// A unix server of the machine.
Fd unix_server(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Address address = local(path);
  EXPECT_EQ(::bind(fd.get(), address.get(), address.size), 0);
  EXPECT_EQ(::listen(fd.get(), 4), 0);
  return fd;
}

TEST(UnixSockets, ConnectingIsWritingToThePath) {
  const Folder folder;
  const Fd granted = unix_server(folder / "granted");
  const Fd denied = unix_server(folder / "denied");
  ASSERT_EQ(::symlink("denied", (folder / "link").c_str()), 0);
  folder.file("file", "");
  Grants grants = network({});
  grants.write = {folder / "granted", folder / "file", folder / "missing"};
  grants.read = {folder.path()};
  std::vector<std::string> denials;
  const auto text = serve(
      grants,
      [&] {
        std::string result;
        for (const auto name : {"granted", "denied", "link", "file", "missing"}) {
          const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
          result += connect_to(fd.get(), local(folder / name)) + " ";
        }
        (void)!::chdir(folder.path().c_str());
        const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return result + connect_to(fd.get(), local("granted"));
      },
      &denials);
  EXPECT_EQ(text, "ok EACCES EACCES ECONNREFUSED ENOENT ok");
  EXPECT_THAT(denials, ElementsAre("write " + (folder / "denied"), "write " + (folder / "denied")));
}

TEST(UnixSockets, BindingCreatesTheFileWithTheCallersUmask) {
  const Folder folder;
  const std::string long_name(100 - folder.path().size(), 'x');  // a path close to sun_path's end
  Grants grants = network({});
  grants.write = {folder.path()};
  grants.read = {folder.path()};
  grants.block = {folder / "blocked"};
  grants.block_write = {"**/.git/hooks"};
  const auto text = serve(grants, [&] {
    std::string result;
    ::umask(027);
    for (const std::string& name :
         {std::string("one"), std::string("one"), std::string("blocked"), std::string(".git"),
          std::string("no/folder"), std::string("."), long_name}) {
      const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const Address address = local(folder / name);
      result += outcome_of(::bind(fd.get(), address.get(), address.size)) + " ";
    }
    const Fd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    (void)!::chdir(folder.path().c_str());
    const Address address = local("relative");
    result += outcome_of(::bind(server.get(), address.get(), address.size)) + " ";
    result += outcome_of(::listen(server.get(), 1)) + " ";
    const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return result + connect_to(client.get(), local(folder / "relative"));
  });
  EXPECT_EQ(text, "ok EADDRINUSE EACCES EACCES ENOENT EADDRINUSE ok ok ok ok");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "one").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode, static_cast<mode_t>(S_IFSOCK | 0750));
  EXPECT_EQ(::stat((folder / "relative").c_str(), &status), 0);
  EXPECT_EQ(::stat((folder / long_name).c_str(), &status), 0);
}

TEST(UnixSockets, TellThePathThatTheyWereBoundTo) {
  const Folder folder;
  Grants grants = network({});
  grants.write = {folder.path()};
  grants.read = {folder.path()};
  // What fits is written, the length is the whole one's, and nothing behind either.
  const auto told = [](int fd, int room) {
    Address own;
    std::memset(&own.bytes, '#', sizeof own.bytes);
    auto size = static_cast<socklen_t>(room);
    const std::string outcome = outcome_of(::getsockname(fd, own.get(), &size));
    std::string text(reinterpret_cast<const char*>(&own.bytes) + offsetof(sockaddr_un, sun_path));
    text.resize(text.find('#') == std::string::npos ? text.size() : text.find('#'));
    return fmt::format("{} {} {}", outcome, size, text);
  };
  const auto code = [&] {
    (void)!::chdir(folder.path().c_str());
    const std::string longest = "./" + std::string(106, 'n');
    std::string result;
    for (const std::string& name : {std::string("plain"), std::string("./dotted"), longest}) {
      const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const Address address = local(name);
      EXPECT_EQ(::bind(fd.get(), address.get(), address.size), 0) << name;
      const Fd another(::dup(fd.get()));
      for (const int room : {128, 6, 2, 0, -1}) result += told(another.get(), room) + "\n";
      socklen_t size = 100;
      result += outcome_of(::getsockname(fd.get(), nullptr, &size)) + "\n";
      result += outcome_of(::getsockname(fd.get(), nullptr, nullptr)) + "\n";
      ::unlink(name.c_str());
    }
    const Fd fresh(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Fd file(::eventfd(0, EFD_CLOEXEC));
    return result + told(fresh.get(), 128) + " " + told(file.get(), 128) + " " + told(-1, 128);
  };
  const std::string served = serve(grants, code);
  const Fd before(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(served, code()) << "as the kernel says it";
  EXPECT_EQ(::fchdir(before.get()), 0);
}

TEST(UnixSockets, AbstractNamesAreTheCompartmentsOwn) {
  const std::string name = std::string(1, '\0') + fmt::format("bulkhead-test-{}", ::getpid());
  const Fd outside(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Address address = local(name);
  ASSERT_EQ(::bind(outside.get(), address.get(), address.size), 0);
  ASSERT_EQ(::listen(outside.get(), 4), 0);
  const auto text = serve(network({}), [&] {
    const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    std::string result = connect_to(fd.get(), address) + " ";
    const Fd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    result += outcome_of(::bind(server.get(), address.get(), address.size)) + " ";
    result += outcome_of(::listen(server.get(), 1)) + " ";
    return result + connect_to(fd.get(), address);
  });
  EXPECT_EQ(text, "ECONNREFUSED ok ok ok");
}

}  // namespace
}  // namespace bulkhead::testing
