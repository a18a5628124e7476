#include "sandbox/launch/child.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "sandbox/kernel/capabilities.h"
#include "sandbox/kernel/kernel.h"
#include "sandbox/launch/inherited_memory.h"
#include "sandbox/launch/report.h"
#include "sandbox/limits/limits.h"
#include "sandbox/limits/usage.h"

namespace bulkhead {
namespace {

// The one descriptor above 2 that survives in both processes.
constexpr int kControl = 3;
constexpr int kMaxSignal = 64;

// ---- talking to the supervisor ----

void send_event(ProgramEvent::Kind kind, int value, const char* step = "",
                const char* on = "") noexcept {
  ProgramEvent event{};
  event.kind = kind;
  event.value = value;
  size_t used = 0;
  for (const char* part : {step, on}) {
    if (*part == '\0') continue;
    if (used > 0 && used + 1 < sizeof event.step) event.step[used++] = ' ';
    while (*part != '\0' && used + 1 < sizeof event.step) event.step[used++] = *part++;
  }
  // Blocks while the supervisor is behind; fails once it is gone: we are about to be killed then.
  while (::send(kControl, &event, sizeof event, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void give_up(const Failure& failure) noexcept {
  send_event(ProgramEvent::Kind::kSetupFailed, failure.error, failure.step, failure.on);
  ::_exit(1);
}

constexpr size_t kMostDescriptors = 7 + kSystemVLists;

bool send_message(const SetupMessage& message, const int* descriptors, size_t count) noexcept {
  iovec data{const_cast<SetupMessage*>(&message), sizeof message};
  alignas(cmsghdr) char space[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (count > 0) {
    header.msg_control = space;
    header.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(control), descriptors, count * sizeof(int));
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(kControl, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

// ---- init's steps, in order ----

bool reset_signals(const Plan& plan, Failure& failure) noexcept {
  // The supervisor's handlers must not run here. Ignored stays ignored where it was so for the
  // supervisor's own caller (nohup).
  for (int number = 1; number <= kMaxSignal; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    const bool ignored = (plan.ignored_signals >> (number - 1) & 1) != 0;
    // libc hides its two internal signals (32, 33) and says EINVAL; they are at their default.
    struct sigaction action {};
    action.sa_handler = ignored ? SIG_IGN : SIG_DFL;
    if (::sigaction(number, &action, nullptr) != 0 && errno != EINVAL) {
      return failed(failure, "reset signals");
    }
  }
  // Children must become zombies for us to reap, whatever the caller did with SIGCHLD.
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  if (::sigaction(SIGCHLD, &action, nullptr) != 0) return failed(failure, "reset signals");
  return true;
}

bool place_descriptor(int fd, int at) noexcept {
  return fd == at ? ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 : ::dup3(fd, at, O_CLOEXEC) >= 0;
}

// Afterwards: 0 to 2 as the caller has them (what it had closed is closed again by execve), the
// control socket at kControl, what the program inherits at kInherited, nothing else.
bool keep_descriptors(const ChildSetup& setup, Failure& failure) noexcept {
  static_assert(kControl + 1 == kInherited);
  int inherited = setup.plan->inherited;
  // Out of the way first: it may stand where the control socket goes.
  if (inherited == kControl) inherited = ::fcntl(inherited, F_DUPFD_CLOEXEC, kInherited + 1);
  const bool inherits = setup.plan->inherited >= 0;
  int control = setup.control;
  if (inherits && control == kInherited)
    control = ::fcntl(control, F_DUPFD_CLOEXEC, kInherited + 1);
  if (!place_descriptor(control, kControl) ||
      (inherits && !place_descriptor(inherited, kInherited))) {
    return failed(failure, "place descriptors");
  }
  if (::syscall(SYS_close_range, inherits ? kInherited + 1 : kControl + 1, ~0u, 0) != 0) {
    return failed(failure, "close descriptors");
  }
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is `fd`, so nothing that is opened later on lands there.
    if (::open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
      return failed(failure, "hold closed", "stdio");
  }
  return true;
}

bool ask_for_maps(Failure& failure) noexcept {
  // Dies with the supervisor from here on. Had it died before this line, waiting for the maps would
  // end (the other end of the socket has no other owner) and so would we.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return failed(failure, "die with parent");
  // The id maps belong to whoever owns this process's files in /proc; that is the user only while
  // the process is dumpable. Harmless: nothing untrusted exists in here yet.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return failed(failure, "become dumpable");
  return send_message({SetupMessage::What::kReady}, nullptr, 0) ||
         failed(failure, "report readiness");
}

bool wait_for_maps(Failure& failure) noexcept {
  char go = 0;
  ssize_t got = -1;
  do {
    got = ::recv(kControl, &go, 1, 0);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(1);  // the supervisor gave up or is gone: nobody to tell
  // From now on this process, which holds a copy of the supervisor's memory, cannot be read by
  // others of the user; by the program it cannot in any case (Landlock, ptrace(2)).
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
bool send_inside(const Plan& plan, const NameServer& server, Failure& failure) noexcept {
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
  if (plan.limits.memory) {
    // Absent in kernels that tell nothing of their sockets.
    const int diag = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (diag < 0 && errno != EPROTONOSUPPORT) return failed(failure, "make a netlink socket");
    if (diag >= 0) {
      descriptors[count++] = diag;
      message.sockets |= 16;
    }
  }
  // A list is that of its opener's IPC namespace. Absent: such a kernel has no System V.
  for (unsigned i = 0; plan.limits.memory && i < kSystemVLists; ++i) {
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
  if (!send_message(message, descriptors, count)) return failed(failure, "send descriptors");
  for (size_t i = 0; i < count; ++i) ::close(descriptors[i]);
  return true;
}

// ---- the program's steps ----

// To a program of the machine or its socket, core(5). Unknown is yes.
bool cores_leave_the_file_system() noexcept {
  const int file = ::open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
  char first = '|';
  if (file >= 0) (void)!::read(file, &first, 1);
  if (file >= 0) ::close(file);
  return first == '|' || first == '@';
}

bool forbid_core_dumps(Failure& failure) noexcept {
  // core(5): 0 keeps files away but not a core_pattern that pipes to a program of the machine,
  // which would get the compartment's memory; 1 stops both. The filter keeps it at that.
  const rlimit no_core{1, 1};
  rlimit now{};
  if (::getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_max == 0 && !cores_leave_the_file_system())
    return true;  // nobody can raise it, and it suffices
  if (::setrlimit(RLIMIT_CORE, &no_core) != 0) return failed(failure, "limit", "core dumps");
  return true;
}

// Last before execve: a limit on descriptors is the program's, not that of setting up.
bool limit_resources(const Plan& plan, Failure& failure) noexcept {
  const int error = apply_rlimits(plan.limits);
  return error == 0 || failed_with(failure, error, "limit", "resources");
}

bool drop_privileges(const ChildSetup& setup, Failure& failure) noexcept {
  const int error = keep_capabilities(setup.keep_capabilities);
  if (error != 0) return failed_with(failure, error, "drop capabilities");
  // execve gives no privileges any more: not setuid, not file capabilities. Also what lets an
  // unprivileged process use Landlock and seccomp.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed(failure, "set no_new_privs");
  return true;
}

// A process can give back most of a large page, and the kernel still keeps all of it, while no
// number shows more than the small rest. Inherited, also across execve; the filter keeps it so.
bool use_small_pages(const Plan& plan, Failure& failure) noexcept {
  if (!counts_memory(plan.limits) || ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0) return true;
  return failed(failure, "turn off large pages");
}

int install_filter(const Plan& plan) noexcept {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(plan.filter.size());
  program.filter = const_cast<sock_filter*>(plan.filter.data());
  return static_cast<int>(::syscall(
      SYS_seccomp, SECCOMP_SET_MODE_FILTER,
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program));
}

// `mounted` tells by being readable that all mounts stand.
[[noreturn]] void run_program(const ChildSetup& setup, int mounted) noexcept {
  const Plan& plan = *setup.plan;
  Failure failure;
  // No signal to its group or by a key leaves the compartment. Not a session's leader: of a group
  // whose parent is in the same session others can tell that it has stopped.
  if (::setpgid(0, 0) != 0) {
    failed(failure, "make a process group");
    give_up(failure);
  }
  // While there are the capabilities for it. A kernel without queues refuses mq_open by itself.
  const int queues = open_queues();
  if (queues < 0 && errno != ENODEV) {
    failed(failure, "open the queues of the IPC namespace");
    give_up(failure);
  }
  if (!forbid_core_dumps(failure) || !drop_privileges(setup, failure) ||
      !use_small_pages(plan, failure)) {
    give_up(failure);
  }
  if (plan.inherited >= 0 && ::fcntl(kInherited, F_SETFD, 0) != 0) {
    failed(failure, "pass a descriptor on");
    give_up(failure);
  }
  const int error = landlock_restrict(setup.landlock, plan.landlock, queues);
  if (queues >= 0) ::close(queues);
  if (error != 0) {
    failed_with(failure, error, "restrict by Landlock");
    give_up(failure);
  }
  // Where init fails, the kernel ends this process with it.
  uint64_t count = 0;
  while (::read(mounted, &count, sizeof count) < 0 && errno == EINTR) {
  }
  if (count == 0) ::_exit(1);
  ::close(mounted);
  // By path and not inherited: the path leads through the compartment's own mounts.
  if (::chdir(plan.folder.c_str()) != 0) {
    failed(failure, "enter the working folder", plan.folder.c_str());
    give_up(failure);
  }
  // The supervisor reads the arguments of the first execve from this process, which was forked from
  // an undumpable one. From here on there is nothing in it that the user may not read.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) {
    failed(failure, "become dumpable");
    give_up(failure);
  }
  uint64_t mask = plan.blocked_signals;
  if (::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask) != 0) {
    failed(failure, "set the signal mask");
    give_up(failure);
  }
  const int listener = install_filter(plan);
  if (listener < 0) {
    failed(failure, "install the filter");
    give_up(failure);
  }
  // From here on every call goes through the filter: sendmsg, close, prlimit and execve only.
  if (!send_message({SetupMessage::What::kListener}, &listener, 1)) ::_exit(1);
  ::close(listener);
  if (!limit_resources(plan, failure)) give_up(failure);
  ::execve(plan.program.c_str(), setup.argv.data(), setup.environment.data());
  send_event(ProgramEvent::Kind::kExecFailed, errno);
  ::_exit(127);
}

// ---- init's life ----

void report(int status) noexcept {
  using Kind = ProgramEvent::Kind;
  if (WIFSTOPPED(status)) {
    send_event(Kind::kStopped, WSTOPSIG(status));
  } else if (WIFEXITED(status)) {
    send_event(Kind::kExited, WEXITSTATUS(status));
  } else if (WIFSIGNALED(status)) {
    send_event(WCOREDUMP(status) ? Kind::kCoreDumped : Kind::kSignaled, WTERMSIG(status));
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

// Keeps nothing that could hold a pipe open, a folder busy or a privilege.
bool settle(Failure& failure) noexcept {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return failed(failure, "open /dev/null");
  for (int fd = 0; fd <= 2; ++fd) {
    if (::dup2(null, fd) < 0) return failed(failure, "let go of", "stdio");
  }
  ::close(null);
  ::close(kInherited);
  if (::chdir("/") != 0) return failed(failure, "enter /");
  const int error = keep_capabilities(0);
  if (error != 0) return failed_with(failure, error, "drop capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed(failure, "set no_new_privs");
  if (!send_message({SetupMessage::What::kSettled}, nullptr, 0)) {
    return failed(failure, "report readiness");
  }
  return true;
}

}  // namespace

void run_init(const ChildSetup& setup) noexcept {
  Failure failure;
  // Placed first, so that every later failure can be told.
  if (!keep_descriptors(setup, failure) || !ask_for_maps(failure)) give_up(failure);
  // Meanwhile, what takes no ids but only the capabilities that it begins with.
  if (!reset_signals(*setup.plan, failure)) give_up(failure);
  if (setup.plan->new_session && ::setsid() < 0) {
    failed(failure, "make a session");
    give_up(failure);
  }
  ::prctl(PR_SET_NAME, "bulkhead-init", 0, 0, 0);
  // A file mode mask is the program's business; ours must not depend on it.
  const mode_t mask = ::umask(0);
  NameServer server;
  if (!leave_outer_mounts(failure) || !raise_loopback(failure) ||
      !open_name_server(server, failure) || !wait_for_maps(failure)) {
    give_up(failure);
  }
  // The program's rules of Landlock take as long as the rest of the mounts, which they do not need.
  const int mounted = ::eventfd(0, EFD_CLOEXEC);
  if (mounted < 0) {
    failed(failure, "make an eventfd");
    give_up(failure);
  }
  if (!mount_trees(setup.mounts, failure)) give_up(failure);
  // Straight to the kernel: libc's fork runs handlers that may wait for locks of lost threads.
  const long program = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (program == 0) {
    ::umask(mask);
    run_program(setup, mounted);
  }
  if (program < 0) {
    failed(failure, "fork the program");
    give_up(failure);
  }
  if (!mount_system(setup.mounts, failure)) give_up(failure);
  const uint64_t one = 1;
  if (::write(mounted, &one, sizeof one) != sizeof one) {
    failed(failure, "let the program go on");
    give_up(failure);
  }
  ::close(mounted);
  if (!send_inside(*setup.plan, server, failure)) give_up(failure);
  ::umask(mask);
  if (!settle(failure)) give_up(failure);
  drop_inherited_memory(__builtin_frame_address(0));
  reap(static_cast<pid_t>(program));
}

}  // namespace bulkhead
