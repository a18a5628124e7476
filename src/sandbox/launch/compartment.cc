#include "sandbox/launch/compartment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "sandbox/home/spare_folders.h"
#include "sandbox/kernel/capabilities.h"
#include "sandbox/kernel/kernel.h"
#include "sandbox/launch/image.h"
#include "sandbox/launch/mounts.h"
#include "sandbox/launch/orders.h"
#include "sandbox/launch/report.h"
#include "sandbox/launch/spawn.h"
#include "sandbox/launch/stdio.h"
#include "sandbox/limits/limits.h"
#include "sandbox/plan/probe.h"

namespace bulkhead {
namespace {

// Root maps every id to itself, so that it sees and sets owners as outside. That takes capabilities
// over the map's owners (user_namespaces(7)); without them root is treated as any other user.
bool maps_all_ids() {
  const uint64_t needed =
      capability(6) | capability(7) | capability(31);  // SETGID, SETUID, SETFCAP
  return ::geteuid() == 0 && (effective_capabilities() & needed) == needed;
}

// Each line "inside outside count" of our own map as "inside inside count".
Result<std::string> identity_map(const std::string& file) {
  BULKHEAD_TRY(const std::string text, read_file(file, 64 << 10));
  std::istringstream lines(text);
  std::string map;
  uint64_t inside = 0, outside = 0, count = 0;
  while (lines >> inside >> outside >> count) map += fmt::format("{0} {0} {1}\n", inside, count);
  if (map.empty()) return Error{fmt::format("{} is empty", file)};
  return map;
}

Status write_proc(pid_t pid, const char* name, const std::string& text) {
  const std::string file = fmt::format("/proc/{}/{}", pid, name);
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  // One write: the kernel takes a map whole or not at all.
  if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return errno_error(fmt::format("write the compartment's {}", name));
  }
  return {};
}

Status write_id_maps(pid_t init, bool all_ids) {
  if (all_ids) {
    BULKHEAD_TRY(const std::string users, identity_map("/proc/self/uid_map"));
    BULKHEAD_TRY(const std::string groups, identity_map("/proc/self/gid_map"));
    BULKHEAD_CHECK(write_proc(init, "uid_map", users));
    return write_proc(init, "gid_map", groups);
  }
  BULKHEAD_CHECK(write_proc(init, "uid_map", fmt::format("{0} {0} 1\n", ::geteuid())));
  // An unprivileged user may map a group only after giving up setgroups, which could otherwise
  // shed a group that a file denies something to.
  BULKHEAD_CHECK(write_proc(init, "setgroups", "deny"));
  return write_proc(init, "gid_map", fmt::format("{0} {0} 1\n", ::getegid()));
}

// What a reader can do about a failed step.
std::string_view advice(std::string_view step, int error) {
  if (step.starts_with("enter the working folder")) {
    return error == ENOENT
               ? "a compartment has a /tmp of its own: grant the folder, or start in another one"
               : "start in a folder that you may enter";
  }
  if (step.starts_with("restrict by Landlock") && error == E2BIG) return kLandlockLayersSpent;
  if (error == EMFILE) return "too many descriptors; see ulimit -n";
  if (step == "clone" && error == EAGAIN) return "too many processes; see ulimit -u";
  if (step == "clone" && (error == ENOSPC || error == EUSERS))
    return "too many namespaces; raise sysctl user.max_user_namespaces";
  if (step.starts_with("install the filter") && error == EBUSY) {
    return "this process runs under a seccomp listener already; a compartment cannot hold another";
  }
  if (step.starts_with("bind granted paths") && error == E2BIG) {
    return "grant a folder above them instead of more than 64 single paths";
  }
  if (step.starts_with("limit core dumps")) {
    return "a hard limit of 0 does not keep them from the program that kernel.core_pattern names: "
           "start where `ulimit -Hc` says 1 or more";
  }
  return "see `bulkhead doctor`";
}

Error setup_error(std::string_view step, int error) {
  return {fmt::format("cannot set up the compartment: {}: {} ({})", step, ::strerror(error),
                      advice(step, error)),
          error};
}

Result<Orders<Written>> orders_of(const Plan& plan, bool all_ids, std::vector<int>& descriptors) {
  Orders<Written> orders;
  BULKHEAD_TRY(orders.numbers, choose_numbers(plan.stdio, descriptors));
  orders.mounts = prepare_mounts(plan, all_ids);
  orders.program = plan.program;
  orders.folder = plan.folder;
  orders.arguments = plan.argv;
  orders.environment = plan.environment;
  orders.landlock = plan.landlock;
  for (int i = 0; plan.home && i < kSpareFolders; ++i)
    orders.landlock.push_back({spare_name(i), kLandlockExecute | kLandlockRead});
  orders.landlock_rights = plan.denied.rights;
  orders.landlock_scopes = plan.denied.scopes ? 1 : 0;
  orders.filter = plan.filter;
  orders.limits = process_limits(plan.limits);
  rlimit queues{}, signals{};
  if (::getrlimit(RLIMIT_MSGQUEUE, &queues) != 0 || ::getrlimit(RLIMIT_SIGPENDING, &signals) != 0)
    return errno_error("read a limit");
  orders.queue_bytes = queues.rlim_cur;
  orders.pending_signals = signals.rlim_cur;
  orders.counts_memory = counts_memory(plan.limits) ? 1 : 0;
  orders.new_session = plan.new_session ? 1 : 0;
  orders.blocked_signals = plan.blocked_signals;
  orders.ignored_signals = plan.ignored_signals;
  orders.keep_capabilities = all_ids ? kRootKeeps : 0;
  return orders;
}

// One record of the control socket.
struct Received {
  SetupMessage message;
  ProgramEvent event;
  bool is_event = false;
  std::vector<Fd> fds;
  pid_t sender = 0;
};

Result<Received> receive(int socket) {
  union {
    SetupMessage message;
    ProgramEvent event;
  } data{};
  static_assert(sizeof(SetupMessage) != sizeof(ProgramEvent));
  alignas(cmsghdr) char space[CMSG_SPACE(12 * sizeof(int)) + CMSG_SPACE(sizeof(ucred))] = {};
  iovec part{&data, sizeof data};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = space;
  header.msg_controllen = sizeof space;
  ssize_t got = -1;
  do {
    got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno_error("hear from the compartment's first process");
  if (got == 0) {
    return Error{"cannot set up the compartment: its first process was killed (out of memory?)"};
  }
  Received received;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET) continue;
    if (c->cmsg_type == SCM_RIGHTS) {
      const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
        received.fds.emplace_back(fd);
      }
    } else if (c->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials;
      std::memcpy(&credentials, CMSG_DATA(c), sizeof credentials);
      received.sender = credentials.pid;
    }
  }
  const bool all_are_here = std::all_of(received.fds.begin(), received.fds.end(),
                                        [](const Fd& fd) { return fd.valid(); });
  if (!all_are_here || (header.msg_flags & MSG_CTRUNC) != 0) {
    return Error{"cannot set up the compartment: too few free descriptors (see ulimit -n)", EMFILE};
  }
  if (got == sizeof(ProgramEvent)) {
    received.is_event = true;
    received.event = data.event;
    received.event.step[sizeof received.event.step - 1] = '\0';
  } else if (got == sizeof(SetupMessage)) {
    received.message = data.message;
  } else {
    return Error{"cannot set up the compartment: a malformed report", EPROTO};
  }
  return received;
}

Status take_inside(Compartment& compartment, Received& received) {
  const uint32_t sockets = received.message.sockets, system_v = received.message.system_v;
  const auto expected = size_t{2} + static_cast<size_t>(std::popcount(sockets)) +
                        static_cast<size_t>(std::popcount(system_v));
  if (received.fds.size() != expected) {
    return Error{"cannot set up the compartment: descriptors are missing", EPROTO};
  }
  compartment.root = std::move(received.fds[0]);
  compartment.proc = std::move(received.fds[1]);
  compartment.user_namespace = received.message.user_namespace;
  Fd* const places[] = {&compartment.dns_udp[0], &compartment.dns_udp[1], &compartment.dns_tcp[0],
                        &compartment.dns_tcp[1], &compartment.socket_diag};
  size_t next = 2;
  for (unsigned i = 0; i < std::size(places); ++i) {
    if ((sockets >> i & 1) != 0) *places[i] = std::move(received.fds[next++]);
  }
  for (unsigned i = 0; i < kSystemVLists; ++i) {
    if ((system_v >> i & 1) != 0) compartment.system_v[i] = std::move(received.fds[next++]);
  }
  return {};
}

// The conversation with the children until the program is about to execute.
Status follow_setup(Compartment& compartment, bool all_ids, const Meanwhile& meanwhile) {
  bool settled = false;
  while (!settled || !compartment.listener) {
    BULKHEAD_TRY(Received received, receive(compartment.status.get()));
    if (received.is_event) {
      if (received.event.kind == ProgramEvent::Kind::kSetupFailed) {
        return setup_error(received.event.step, received.event.value);
      }
      // By Ctrl-Z, say. It goes on when somebody continues it.
      if (received.event.kind == ProgramEvent::Kind::kStopped) continue;
      // Before its filter is installed the program cannot end otherwise than by being killed.
      return Error{"cannot set up the compartment: its program was killed before it began"};
    }
    switch (received.message.what) {
      case SetupMessage::What::kReady: {
        BULKHEAD_CHECK(write_id_maps(compartment.init, all_ids));
        if (::send(compartment.status.get(), "", 1, MSG_NOSIGNAL) != 1) {
          return errno_error("answer the compartment's first process");
        }
        break;
      }
      case SetupMessage::What::kInside: {
        BULKHEAD_CHECK(take_inside(compartment, received));
        if (meanwhile) BULKHEAD_CHECK(meanwhile(compartment));
        break;
      }
      case SetupMessage::What::kListener: {
        // The kernel put the sender's pid there, as we see it.
        if (received.fds.size() != 1 || received.sender <= 0) {
          return Error{"cannot set up the compartment: the listener is missing", EPROTO};
        }
        compartment.listener = std::move(received.fds[0]);
        compartment.program = received.sender;
        break;
      }
      case SetupMessage::What::kSettled:
        settled = true;
        break;
    }
  }
  return {};
}

// What serving takes, tried while the program waits to execute: where it is missing, nothing
// starts, instead of something that is refused whatever it does.
Status check_reach(const Compartment& compartment) {
  if (const int error = try_hand_in(compartment.listener.get()); error != 0)
    return setup_error("hand in descriptors", error);
  if (const int error = try_take_descriptor(compartment.program); error != 0)
    return setup_error("take the program's descriptors", error);
  if (const int error = try_take_of_thread(compartment.program); error != 0)
    return setup_error("tell its threads' descriptors apart", error);
  if (const int error = try_reach_memory(compartment.program); error != 0)
    return setup_error("reach the program's memory", error);
  return {};
}

}  // namespace

Result<Compartment> launch(const Plan& plan, const Meanwhile& meanwhile, Parent* parent) {
  const bool all_ids = maps_all_ids();
  std::vector<int> descriptors = {-1, -1};  // kControl, kOrders
  BULKHEAD_TRY(Orders<Written> orders, orders_of(plan, all_ids, descriptors));
  BULKHEAD_TRY(const int image, init_image());
  BULKHEAD_TRY(const Fd text, sealed_file("bulkhead-orders", write_orders(orders), false));
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return errno_error("make a socket pair");
  }
  Fd ours(pair[0]), theirs(pair[1]);
  if (!ours || !theirs) return errno_error("make a socket pair");
  // Records carry their sender's pid, translated into our pid namespace.
  const int on = 1;
  if (::setsockopt(ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return errno_error("receive credentials");
  }
  descriptors[0] = theirs.get();
  descriptors[1] = text.get();

  Compartment compartment;
  const auto spawn = std::make_unique<Spawn>(image, std::move(descriptors));
  Result<pid_t> init = pid_t{-1};
  const auto start = [&] { init = spawn->start(compartment.init_pidfd); };
  if (parent != nullptr)
    parent->run(start);
  else
    start();
  if (!init.ok())
    return with_what_is_missing(setup_error(init.error().message, init.error().errno_value));
  compartment.init = *init;
  theirs.reset();  // else we would not hear of init's end
  compartment.status = std::move(ours);
  Status status = follow_setup(compartment, all_ids, meanwhile);
  if (status.ok()) status = check_reach(compartment);
  if (!status.ok()) {
    kill_compartment(compartment);
    return with_what_is_missing(std::move(status).error());
  }
  return compartment;
}

void begin_to_kill(const Compartment& compartment) noexcept {
  if (compartment.init <= 0) return;
  // By pidfd where there is one: a pid can be somebody else's by now if the caller waited for init.
  if (compartment.init_pidfd) {
    ::syscall(SYS_pidfd_send_signal, compartment.init_pidfd.get(), SIGKILL, nullptr, 0);
  } else {
    ::kill(compartment.init, SIGKILL);
  }
}

void kill_compartment(Compartment& compartment) noexcept {
  if (compartment.init <= 0) return;
  begin_to_kill(compartment);
  // Returns once the kernel has killed and reaped all other processes of the namespace. ECHILD:
  // the caller has waited already.
  // By pidfd: where the caller has waited, its number may be another child's by now.
  siginfo_t end{};
  const auto pidfd = static_cast<id_t>(compartment.init_pidfd.get());
  while ((compartment.init_pidfd ? ::waitid(P_PIDFD, pidfd, &end, WEXITED | __WALL)
                                 : ::waitpid(compartment.init, nullptr, __WALL)) < 0 &&
         errno == EINTR) {
  }
  compartment.init = -1;
}

}  // namespace bulkhead
