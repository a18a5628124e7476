#include "sandbox/testing/served_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "base/fd.h"
#include "base/path.h"
#include "policy/policy_judge.h"
#include "sandbox/caller/walker.h"
#include "sandbox/calls/rename_lock.h"
#include "sandbox/kernel/processes.h"
#include "sandbox/network/name_cache.h"
#include "sandbox/plan/filter.h"
#include "sandbox/run/server.h"

namespace bulkhead::testing {

namespace {

// The policy, and what the test answers; keeps what was refused.
class TestJudge final : public PolicyJudge {
 public:
  TestJudge(const Plan& plan, const Grants& grants)
      : PolicyJudge(plan.policy, plan.enforcement), grants_(grants) {}
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::move(lines_);
  }

 private:
  bool answers() const noexcept override { return grants_.ask != nullptr; }
  bool answer(Kind, const std::string& resource, const Attempt&) override {
    return grants_.ask(resource);
  }
  void refused(Kind kind, std::string_view resource, std::string_view, const Attempt&) override {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::string(label(kind)).append(" ").append(resource));
  }

  const Grants& grants_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

std::shared_ptr<const Policy> policy_of(const Grants& grants) {
  PolicyInputs inputs;
  if (grants.ask) inputs.manifest.otherwise = Otherwise::kAsk;
  const auto add = [&](Verdict verdict, Kind kind, const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      Extra extra;
      extra.verdict = verdict;
      extra.kind = kind;
      extra.entry.text = path;
      inputs.extras.push_back(std::move(extra));
    }
  };
  add(Verdict::kAllow, Kind::kRead, grants.read);
  add(Verdict::kAllow, Kind::kWrite, grants.write);
  add(Verdict::kAllow, Kind::kRun, grants.run);
  add(Verdict::kAllow, Kind::kConnect, grants.connect);
  add(Verdict::kDeny, Kind::kRead, grants.block);
  add(Verdict::kDeny, Kind::kWrite, grants.block);
  add(Verdict::kDeny, Kind::kWrite, grants.block_write);
  auto policy = Policy::compile(inputs);
  EXPECT_TRUE(policy.ok()) << (policy.ok() ? "" : to_string(policy.error()));
  return policy.ok() ? *policy : nullptr;
}

Plan plan_of(const Grants& grants) {
  Plan plan;
  plan.policy = policy_of(grants);
  plan.enforcement = grants.audit ? Enforcement::kAuditOnly : Enforcement::kEnforce;
  plan.kernel_decides = grants.kernel_decides;
  plan.private_tmp = plan.private_shm = false;  // no mounts are made here
  plan.landlock = {{"/", kLandlockExecute}};    // nor is a ruleset in force
  index_kernel_decides(plan);
  return plan;
}

void send_fd(int socket, int fd) {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  ::sendmsg(socket, &message, 0);
}

int receive_fd(int socket) {
  char byte = 0;
  iovec data = {&byte, 1};
  int fd = -1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message))
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

bool write_text(const char* path, const std::string& text) {
  const Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  return ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A network of this process's own, with lo up. A user namespace lets an ordinary user have one.
bool enter_own_network() {
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    // A process of several threads gets no user namespace, and ThreadSanitizer adds one to each
    // child. Root does without.
    if (errno != EINVAL || ::geteuid() != 0 || ::unshare(CLONE_NEWNET) != 0) return false;
  } else if (!write_text("/proc/self/setgroups", "deny") ||
             !write_text("/proc/self/uid_map", user + " " + user + " 1") ||
             !write_text("/proc/self/gid_map", group + " " + group + " 1"))
    return false;
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq lo{};
  std::strcpy(lo.ifr_name, "lo");
  lo.ifr_flags = IFF_UP | IFF_RUNNING;
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &lo) == 0;
}

}  // namespace

Folder::Folder() {
  std::string pattern = std::filesystem::temp_directory_path() / "bulkhead-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) std::abort();
  ::chmod(pattern.c_str(), 0755);
  path_ = std::filesystem::canonical(pattern);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::file(const std::string& name, const std::string& content, unsigned mode) const {
  std::string path = *this / name;
  std::filesystem::create_directories(std::string(parent_of(path)));
  EXPECT_TRUE(write_file_atomically(path, content, mode).ok());
  return path;
}

std::string Folder::folder(const std::string& name) const {
  std::filesystem::create_directories(*this / name);
  return *this / name;
}

std::string outcome_of(long result) { return result >= 0 ? "ok" : strerrorname_np(errno); }

std::string read_all(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return strerrorname_np(errno);
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = ::read(fd.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(n));
  return n < 0 ? strerrorname_np(errno) : text;
}

std::string serve(const Grants& grants, const std::function<std::string()>& code,
                  std::vector<std::string>* denied) {
  const Plan plan = plan_of(grants);
  if (plan.policy == nullptr) return "no policy";
  const std::vector<sock_filter> filter = make_filter({});

  int sockets[2];
  int answer[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0 ||
      ::pipe2(answer, O_CLOEXEC) != 0)
    return "no sockets";
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (grants.own_network) {
      if (!enter_own_network()) ::_exit(98);
      send_fd(sockets[1], ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    }
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    sock_fprog program = {static_cast<unsigned short>(filter.size()),
                          const_cast<sock_filter*>(filter.data())};
    const auto listener = static_cast<int>(syscall(
        SYS_seccomp, SECCOMP_SET_MODE_FILTER,
        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program));
    send_fd(sockets[1], listener);
    ::close(listener);
    char go = 0;
    if (::read(sockets[1], &go, 1) != 1) ::_exit(99);
    const std::string text = code();
    (void)!::write(answer[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(answer[1]);
  ::close(sockets[1]);
  Compartment compartment;
  compartment.init = child;
  if (grants.own_network) compartment.dns_udp[0] = Fd(receive_fd(sockets[0]));
  Listener listener(Fd(receive_fd(sockets[0])));
  if (listener.fd() < 0) return "no listener";

  TestJudge judge(plan, grants);
  compartment.root = Fd(::open("/", O_PATH | O_CLOEXEC));
  compartment.proc = Fd(::open("/proc", O_PATH | O_CLOEXEC));
  NameCache names;
  Processes processes(compartment.proc.get());
  Walker walker(compartment.root.get(), processes);
  RenameLock renames;
  for (const std::string& path : grants.opened)
    EXPECT_TRUE(renames.begin(1, path, RenameLock::Use::kOpen));
  for (const std::string& path : grants.moved)
    EXPECT_TRUE(renames.begin(1, path, RenameLock::Use::kMove));
  Service service{plan, compartment, listener, judge, walker, names, processes, renames};
  std::string text;
  int status = 0;
  {
    const auto loop = std::move(Loop::make()).value();
    Server server(service, *loop);
    EXPECT_TRUE(server.start().ok());
    (void)!::write(sockets[0], "g", 1);
    char buffer[65536];
    ssize_t n = 0;
    while ((n = ::read(answer[0], buffer, sizeof buffer)) > 0)
      text.append(buffer, static_cast<size_t>(n));
    ::waitpid(child, &status, 0);
    server.stop();
  }
  ::close(answer[0]);
  ::close(sockets[0]);
  if (denied != nullptr) *denied = judge.take();
  if (WIFSIGNALED(status)) return "died: " + std::to_string(WTERMSIG(status));
  return text;
}

std::string serve_gone(const Grants& grants, int number, const std::array<uint64_t, 6>& args) {
  const Plan plan = plan_of(grants);
  if (plan.policy == nullptr) return "no policy";
  Compartment compartment;
  compartment.init = ::getpid();
  compartment.root = Fd(::open("/", O_PATH | O_CLOEXEC));
  compartment.proc = Fd(::open("/proc", O_PATH | O_CLOEXEC));
  // No listener, so that no notification is valid.
  Listener listener(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  PolicyJudge judge(plan.policy, plan.enforcement);
  NameCache names;
  Processes processes(compartment.proc.get());
  Walker walker(compartment.root.get(), processes);
  RenameLock renames;
  Service service{plan, compartment, listener, judge, walker, names, processes, renames};
  for (const auto& [socket, path] : grants.bound) service.socket_paths.add(socket, path);
  Call call({.id = 1, .tid = ::gettid(), .number = number, .args = args}, service, true);
  const CallRow* const row = find_call(number);
  if (row == nullptr) return "not notified";
  const Reply reply = row->handler(call);
  switch (reply.type()) {
    case Reply::Type::kContinue:
      return "went on";
    case Reply::Type::kLater:
      return "later";
    case Reply::Type::kValue:
      return reply.errno_value() == 0 ? "done" : strerrorname_np(reply.errno_value());
    default:
      return "done";
  }
}

}  // namespace bulkhead::testing
