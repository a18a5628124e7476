#include "sandbox/launch/init/init.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "sandbox/kernel/capabilities.h"

namespace bulkhead {
namespace {

constexpr int kMostSignal = 64;
constexpr size_t kMostOrders = size_t{64} << 20U;

// The text of the orders, and what was made of it.
struct Memory {
  std::span<char> text, room;
};

// Not from the heap: whole pages, which are given back when init needs them no more.
std::span<char> pages(size_t size, int protection, int flags, int fd) noexcept {
  void* const at = ::mmap(nullptr, size, protection, MAP_PRIVATE | flags, fd, 0);
  return at == MAP_FAILED ? std::span<char>() : std::span<char>(static_cast<char*>(at), size);
}

// ---- its steps, in order ----

// 0 to 2 are nobody's: what the program gets as those is at kGiven and behind.
bool hold_stdio(Failure& failure) noexcept {
  for (int fd = 0; fd <= 2; ++fd)
    if (::open("/dev/null", O_RDWR | O_CLOEXEC) != fd) return failed(failure, "open /dev/null");
  return true;
}

bool take_orders(Memory& memory, Orders<Read>& orders, Failure& failure) noexcept {
  constexpr int kSealed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  struct stat status {};
  if (::fstat(kOrders, &status) != 0) return failed(failure, "read the orders");
  const int seals = ::fcntl(kOrders, F_GET_SEALS);
  const auto size = static_cast<size_t>(status.st_size);
  if (seals < 0 || (seals & kSealed) != kSealed || size == 0 || size > kMostOrders)
    return failed_with(failure, EPROTO, "read the orders");
  memory.text = pages(size, PROT_READ, 0, kOrders);
  memory.room = pages(room_for_orders(size), PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
  if (memory.text.empty() || memory.room.empty()) return failed(failure, "read the orders");
  ::close(kOrders);
  if (!read_orders(memory.text, memory.room, orders))
    return failed_with(failure, EPROTO, "read the orders");
  return true;
}

// What the kernel takes, where libc's structure has its own order.
struct KernelSigaction {
  void (*handler)(int) = nullptr;
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  uint64_t mask = 0;
};

// What the host ignores for its own sake must not be ignored here. Ignored stays ignored where it
// was so for the host's own caller (nohup); but children must become zombies for us to reap.
bool reset_signals(uint64_t ignored, Failure& failure) noexcept {
  for (int number = 1; number <= kMostSignal; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    KernelSigaction action;
    if (number != SIGCHLD && (ignored >> (number - 1) & 1) != 0) action.handler = SIG_IGN;
    if (::syscall(SYS_rt_sigaction, number, &action, nullptr, sizeof action.mask) != 0)
      return failed(failure, "reset signals");
  }
  return true;
}

// The one who made us had half of each, so that half is what the compartment may take
// (spawn.cc). What programs see of the limits are the usual numbers.
bool restore_limit(unsigned what, uint64_t most, const char* name, Failure& failure) noexcept {
  rlimit now{};
  if (::getrlimit(what, &now) != 0) return failed(failure, "limit", name);
  now.rlim_cur = most;
  return ::setrlimit(what, &now) == 0 || failed(failure, "limit", name);
}

bool ask_for_maps(Failure& failure) noexcept {
  // Dies with the supervisor from here on. Had it died before this line, waiting for the maps would
  // end (the other end of the socket has no other owner) and so would we.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return failed(failure, "die with parent");
  // The id maps belong to whoever owns this process's files in /proc; that is the user only while
  // the process is dumpable. Harmless: nothing untrusted exists in here yet.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return failed(failure, "become dumpable");
  return send_message(kControl, {SetupMessage::What::kReady}, nullptr, 0) ||
         failed(failure, "report readiness");
}

bool wait_for_maps(Failure& failure) noexcept {
  char go = 0;
  ssize_t got = -1;
  do {
    got = ::recv(kControl, &go, 1, 0);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(1);  // the supervisor gave up or is gone: nobody to tell
  // The program cannot read this process in any case (Landlock, ptrace(2)): once more.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return failed(failure, "become undumpable");
  return true;
}

bool raise_loopback(Failure& failure) noexcept {
  // Safe: the network namespace is empty but for lo. Servers inside the compartment need it.
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return failed(failure, "make a socket");
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(fd, SIOCSIFFLAGS, &request) != 0) return failed(failure, "bring lo up");
  ::close(fd);
  return true;
}

// A socket on port 53 of the loopback address, or -1: without IPv6 in the kernel that is normal.
int name_server_socket(int family, int type) noexcept {
  const int fd = ::socket(family, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(53);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(53);
  v6.sin6_addr = IN6ADDR_LOOPBACK_INIT;
  const int one = 1;
  bool done = true;
  if (family == AF_INET6) {
    done = ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) == 0 &&
           ::bind(fd, reinterpret_cast<sockaddr*>(&v6), sizeof v6) == 0;
  } else {
    done = ::bind(fd, reinterpret_cast<sockaddr*>(&v4), sizeof v4) == 0;
  }
  if (done && type == SOCK_STREAM) done = ::listen(fd, 64) == 0;
  if (done) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

struct NameServer {
  int fds[4] = {};
  size_t count = 0;
  uint32_t which = 0;  // a bit of SetupMessage::sockets for each
};

bool open_name_server(NameServer& server, Failure& failure) noexcept {
  struct Wanted {
    int family, type;
  };
  constexpr Wanted kWanted[] = {{AF_INET, SOCK_DGRAM},
                                {AF_INET6, SOCK_DGRAM},
                                {AF_INET, SOCK_STREAM},
                                {AF_INET6, SOCK_STREAM}};
  for (unsigned i = 0; i < 4; ++i) {
    const int fd = name_server_socket(kWanted[i].family, kWanted[i].type);
    if (fd >= 0) {
      server.fds[server.count++] = fd;
      server.which |= 1u << i;
    } else if (kWanted[i].family == AF_INET) {
      return failed(failure, "listen on 127.0.0.1:53");
    }
  }
  return true;
}

// Hands the supervisor what it needs of the inside; it could not open these by /proc, because this
// process is not dumpable.
bool send_inside(bool counts_memory, const NameServer& server, Failure& failure) noexcept {
  int descriptors[kMostDescriptors];
  size_t count = 0;
  SetupMessage message;
  message.what = SetupMessage::What::kInside;
  const int root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return failed(failure, "open /");
  const int proc = ::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return failed(failure, "open /proc");
  descriptors[count++] = root;
  descriptors[count++] = proc;
  for (size_t i = 0; i < server.count; ++i) descriptors[count++] = server.fds[i];
  message.sockets = server.which;
  if (counts_memory) {
    // Absent in kernels that tell nothing of their sockets.
    const int diag = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (diag < 0 && errno != EPROTONOSUPPORT) return failed(failure, "make a netlink socket");
    if (diag >= 0) {
      descriptors[count++] = diag;
      message.sockets |= 16;
    }
  }
  // A list is that of its opener's IPC namespace. Absent: such a kernel has no System V.
  for (unsigned i = 0; counts_memory && i < kSystemVLists; ++i) {
    const int fd = ::open(kSystemVFiles[i], O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) continue;
    if (fd < 0) return failed(failure, "open", kSystemVFiles[i]);
    descriptors[count++] = fd;
    message.system_v |= 1u << i;
  }
  struct stat status;
  if (::stat("/proc/self/ns/user", &status) != 0)
    return failed(failure, "look at /proc/self/ns/user");
  message.user_namespace = status.st_ino;
  if (!send_message(kControl, message, descriptors, count))
    return failed(failure, "send descriptors");
  for (size_t i = 0; i < count; ++i) ::close(descriptors[i]);
  return true;
}

// Keeps nothing that could hold a pipe open, a folder busy or a privilege, and no memory.
bool settle(const Memory& memory, Failure& failure) noexcept {
  if (::syscall(SYS_close_range, kGiven, ~0U, 0) != 0) return failed(failure, "close descriptors");
  if (::chdir("/") != 0) return failed(failure, "enter /");
  const int error = keep_capabilities(0);
  if (error != 0) return failed_with(failure, error, "drop capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed(failure, "set no_new_privs");
  for (const std::span<char> each : {memory.text, memory.room})
    if (::munmap(each.data(), each.size()) != 0) return failed(failure, "give back memory");
  if (!send_message(kControl, {SetupMessage::What::kSettled}, nullptr, 0))
    return failed(failure, "report readiness");
  return true;
}

// ---- the rest of its life ----

void report(int status) noexcept {
  using Kind = ProgramEvent::Kind;
  if (WIFSTOPPED(status)) {
    send_event(kControl, Kind::kStopped, WSTOPSIG(status));
  } else if (WIFEXITED(status)) {
    send_event(kControl, Kind::kExited, WEXITSTATUS(status));
  } else if (WIFSIGNALED(status)) {
    send_event(kControl, WCOREDUMP(status) ? Kind::kCoreDumped : Kind::kSignaled, WTERMSIG(status));
  }
}

[[noreturn]] void reap(pid_t program) noexcept {
  for (;;) {
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, WUNTRACED | __WALL);
    if (child == program) {
      report(status);
      // The compartment ends with its program. The supervisor, which sees to that too, has to wake
      // up first, and the kernel need not wait for it.
      if (!WIFSTOPPED(status)) ::_exit(0);
    } else if (child < 0 && errno == ECHILD) {
      ::_exit(0);  // nobody is left
    }
  }
}

// Until the program is on its way; -1: failed.
pid_t set_up(Memory& memory, Failure& failure) noexcept {
  Orders<Read> orders;
  NameServer server;
  ::prctl(PR_SET_NAME, "bulkhead-init", 0, 0, 0);
  if (!hold_stdio(failure) || !ask_for_maps(failure)) return -1;
  // Meanwhile, what takes no ids but only the capabilities that it begins with.
  if (!take_orders(memory, orders, failure) || !reset_signals(orders.ignored_signals, failure) ||
      !restore_limit(RLIMIT_MSGQUEUE, orders.queue_bytes, "queues", failure) ||
      !restore_limit(RLIMIT_SIGPENDING, orders.pending_signals, "signals", failure))
    return -1;
  if (orders.new_session != 0 && ::setsid() < 0) return failed(failure, "make a session"), -1;
  // A file mode mask is the program's business; ours must not depend on it.
  const mode_t mask = ::umask(0);
  int spare = -1;
  if (!leave_outer_mounts(failure) || !raise_loopback(failure) ||
      !open_name_server(server, failure) || !wait_for_maps(failure) ||
      !mount_trees(orders.mounts, spare, failure))
    return -1;
  // The program's rules of Landlock take as long as the rest of the mounts, which they do not need.
  const int mounted = ::eventfd(0, EFD_CLOEXEC);
  if (mounted < 0) return failed(failure, "make an eventfd"), -1;
  const long program = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (program == 0) {
    ::umask(mask);
    run_program(orders, mounted, spare);
  }
  if (program < 0) return failed(failure, "fork the program"), -1;
  if (!mount_system(orders.mounts, failure)) return -1;
  const uint64_t one = 1;
  if (::write(mounted, &one, sizeof one) != sizeof one)
    return failed(failure, "let the program go on"), -1;
  if (!send_inside(orders.counts_memory != 0, server, failure)) return -1;
  ::umask(mask);
  return settle(memory, failure) ? static_cast<pid_t>(program) : -1;
}

}  // namespace

void run_init() noexcept {
  Failure failure;
  Memory memory;
  const pid_t program = set_up(memory, failure);
  if (program < 0) give_up(kControl, failure);
  reap(program);
}

}  // namespace bulkhead
