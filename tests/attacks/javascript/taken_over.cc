// A worker that a bug of V8's gave to somebody: native code in the worker's process and
// compartment, with its descriptor, which speaks the wire by itself. It is loaded as src/isolate
// is, in its place; what its host runs is no script but the name of what it tries, and words for
// that. What it answers is what it reached. The verdict is the host's own
// (js/test/taken_over.test.mjs).
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "isolate/message.h"
#include "isolate/start.h"
#include "membrane/channel.h"

namespace bulkhead {
namespace {

constexpr uint8_t kOpRun = 4, kTagUndefined = 0, kTagText = 6, kTagInts = 33;
constexpr size_t kTagSize = 5;  // with a length

using Words = std::vector<std::string>;

SharedChannel channel;
MessageHeader asked;

size_t await() {
  for (;;) {
    while (!channel.has_message()) channel.sleep(0);
    const size_t length = channel.receive();
    if (length != SIZE_MAX && length >= sizeof asked) return length;
  }
}

// Puts an answer where it is read, without sending it; its length.
size_t put(uint8_t tag, const void* bytes, size_t size, uint32_t count) {
  const MessageHeader header{.op = kOpReturn,
                             .flags = 0,
                             .releases = 0,
                             .sandbox = asked.sandbox,
                             .turn = asked.turn,
                             .target = 0};
  uint8_t* const out = channel.outgoing().data();
  std::memcpy(out, &header, sizeof header);
  out[sizeof header] = tag;
  std::memcpy(out + sizeof header + 1, &count, sizeof count);
  if (size > 0) std::memcpy(out + sizeof header + kTagSize, bytes, size);
  return sizeof header + (tag == kTagUndefined ? 1 : kTagSize + size);
}
void say(const std::string& text) {
  channel.send(put(kTagText, text.data(), text.size(), static_cast<uint32_t>(text.size())));
}

// ------------------------------------------------------------------------------------ what is
// tried

// Names what came about of all that is tried.
class Attempts {
 public:
  void operator()(const std::string& name, bool reached) {
    ++tried_;
    if (reached) reached_ += " [" + name + "]";
  }
  std::string told() const { return "tried " + std::to_string(tried_) + reached_; }

 private:
  int tried_ = 0;
  std::string reached_;
};

void read(Attempts& attempt, const std::string& path) {
  for (const int flags : {O_RDONLY, O_PATH}) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
    char byte = 0;
    // A name alone is nothing that was reached.
    attempt("open " + path, fd >= 0 && (flags != O_PATH || ::read(fd, &byte, 1) == 1));
    if (fd >= 0) ::close(fd);
  }
  attempt("directory " + path, ::opendir(path.c_str()) != nullptr);
}

// paths of the machine's, which are not to be tried more
std::string reads(const Words& paths) {
  Attempts attempt;
  for (const std::string& path : paths) read(attempt, path);
  return attempt.told();
}

// paths of the test's own
std::string files(const Words& paths) {
  Attempts attempt;
  for (const std::string& path : paths) {
    read(attempt, path);
    const char* const name = path.c_str();
    for (const int flags : {O_RDWR, O_WRONLY | O_CREAT | O_APPEND})
      attempt("write " + path, ::open(name, flags | O_CLOEXEC, 0600) >= 0);
    attempt("create beside " + path,
            ::open((path + ".new").c_str(), O_WRONLY | O_CREAT, 0600) >= 0);
    attempt("truncate " + path, ::truncate(name, 0) == 0);
    attempt("rename " + path, ::rename(name, (path + ".moved").c_str()) == 0);
    attempt("link " + path, ::link(name, (path + ".link").c_str()) == 0);
    attempt("symlink " + path, ::symlink("/", (path + ".symlink").c_str()) == 0);
    attempt("mkdir " + path, ::mkdir((path + ".folder").c_str(), 0700) == 0);
    attempt("chmod " + path, ::chmod(name, 0777) == 0);
    attempt("unlink " + path, ::unlink(name) == 0);
    attempt("exec " + path, ::execl(name, name, nullptr) == 0);
  }
  return attempt.told();
}

bool connects(int domain, int type, const void* address, socklen_t size) {
  const int fd = ::socket(domain, type, 0);
  if (fd < 0) return false;
  const bool connected = ::connect(fd, static_cast<const sockaddr*>(address), size) == 0;
  // A datagram's socket says yes to anybody; whether one arrives is for the host to see.
  (void)!::sendto(fd, "taken", 5, MSG_NOSIGNAL, static_cast<const sockaddr*>(address), size);
  ::close(fd);
  return connected && type == SOCK_STREAM;
}

// port of the host's servers, the path of its socket, its abstract name
std::string network(const Words& words) {
  Attempts attempt;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<uint16_t>(std::atoi(words.at(0).c_str())));
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port;
  v6.sin6_addr = in6addr_loopback;
  for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
    attempt("IPv4", connects(AF_INET, type, &v4, sizeof v4));
    attempt("IPv6", connects(AF_INET6, type, &v6, sizeof v6));
  }
  for (const bool abstract : {false, true}) {
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    words.at(abstract ? 2 : 1).copy(local.sun_path + (abstract ? 1 : 0), sizeof local.sun_path - 2);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) +
                                             words.at(abstract ? 2 : 1).size() + 1);
    attempt(abstract ? "an abstract socket" : "a socket of a path",
            connects(AF_UNIX, SOCK_STREAM, &local, size));
  }
  attempt("packets", ::socket(AF_PACKET, SOCK_RAW, 0) >= 0);
  attempt("raw", ::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0);
  attempt("io_uring", ::syscall(SYS_io_uring_setup, 4, std::vector<char>(256).data()) >= 0);
  return attempt.told();
}

// process ids: the host's, other workers', whoever started us
std::string processes(const Words& words) {
  Attempts attempt;
  for (const std::string& word : words) {
    const pid_t pid = std::atoi(word.c_str());
    char bytes[16] = {};
    iovec own{bytes, sizeof bytes}, theirs{reinterpret_cast<void*>(0x400000), sizeof bytes};
    attempt("kill " + word, ::kill(pid, 0) == 0 || ::kill(pid, SIGCONT) == 0);
    attempt("tgkill " + word, ::syscall(SYS_tgkill, pid, pid, SIGCONT) == 0);
    attempt("queue " + word, ::sigqueue(pid, SIGCONT, {}) == 0);
    attempt("ptrace " + word, ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0);
    attempt("attach " + word, ::ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0);
    attempt("read memory " + word, ::process_vm_readv(pid, &own, 1, &theirs, 1, 0) > 0);
    attempt("write memory " + word, ::process_vm_writev(pid, &own, 1, &theirs, 1, 0) > 0);
    const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    attempt("pidfd " + word, fd >= 0);
    attempt("take its memory " + word, fd >= 0 && ::syscall(SYS_pidfd_getfd, fd, 0, 0) >= 0);
    rlimit limit{1 << 20, 1 << 20};
    attempt("limit " + word, ::prlimit(pid, RLIMIT_AS, &limit, nullptr) == 0);
    attempt("renice " + word, ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 19) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    attempt("move " + word, ::sched_setaffinity(pid, sizeof one, &one) == 0);
    for (const char* const file :
         {"mem", "environ", "maps", "fd/0", "fd/3", "root/etc/passwd", "cwd", "exe"})
      attempt(std::string(file) + " of " + word,
              ::open(("/proc/" + word + "/" + file).c_str(), O_RDONLY) >= 0);
  }
  return attempt.told();
}

// path of a program
std::string children(const Words& words) {
  Attempts attempt;
  const auto born = [&](const char* name, auto make) {
    const long child = make();
    if (child == 0) ::_exit(0);
    attempt(name, child > 0);
  };
  born("fork", [] { return static_cast<long>(::fork()); });
  born("clone", [] { return ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr); });
  struct {
    uint64_t flags = 0, fields[3] = {}, signal = SIGCHLD, more[6] = {};
  } order;
  born("clone3", [&] { return ::syscall(SYS_clone3, &order, sizeof order); });
  const int program = ::open(words.at(0).c_str(), O_RDONLY);
  const int memory = ::memfd_create("program", 0);
  char bytes[4096];
  for (ssize_t size = 0; program >= 0 && (size = ::read(program, bytes, sizeof bytes)) > 0;)
    if (::write(memory, bytes, static_cast<size_t>(size)) != size) break;
  char* const argv[] = {const_cast<char*>("node"), const_cast<char*>("--version"), nullptr};
  attempt("exec of memory", ::syscall(SYS_execveat, memory, "", argv, environ, AT_EMPTY_PATH) == 0);
  attempt("a user namespace", ::unshare(CLONE_NEWUSER) == 0);
  attempt("a mount", ::mount("none", "/tmp", "tmpfs", 0, nullptr) == 0);
  attempt("chroot", ::chroot("/tmp") == 0);
  attempt("bpf", ::syscall(SYS_bpf, 0, nullptr, 0) >= 0);
  attempt("perf", ::syscall(SYS_perf_event_open, std::vector<char>(256).data(), 0, -1, -1, 0) >= 0);
  attempt("userfaultfd", ::syscall(SYS_userfaultfd, 0) >= 0);
  attempt("keys", ::syscall(SYS_add_key, "user", "taken", "over", 4, -5) >= 0);
  return attempt.told();
}

// The one memory that it has: sealed.
std::string memory(const Words&) {
  Attempts attempt;
  struct stat status {};
  ::fstat(0, &status);
  attempt("shrinking", ::ftruncate(0, 0) == 0);
  attempt("growing", ::ftruncate(0, 2 * status.st_size) == 0);
  attempt("growing by room", ::fallocate(0, 0, status.st_size, 1 << 20) == 0);
  attempt("writing beyond", ::pwrite(0, "x", 1, status.st_size) == 1);
  for (const int seal : {F_SEAL_WRITE, F_SEAL_FUTURE_WRITE})
    attempt("sealing", ::fcntl(0, F_ADD_SEALS, seal) == 0);
  attempt("opening again", ::open("/proc/self/fd/0", O_RDWR | O_TRUNC) >= 0);
  ::flock(0, LOCK_EX);
  ::fchmod(0, 0);
  return attempt.told();
}

// What it was born with: descriptors by what they are, and the environment.
std::string born_with(const Words&) {
  std::string told;
  for (int fd = 0; fd < 256; ++fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) continue;
    const bool null = S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
    const bool sealed = S_ISREG(status.st_mode) && ::fcntl(fd, F_GET_SEALS) > 0;
    told += std::to_string(fd) + "=" + (null ? "null" : sealed ? "memory" : "something") + "\n";
  }
  for (char** each = environ; *each != nullptr; ++each) told += std::string(*each) + "\n";
  return told;
}

// Looks for bytes in all that it can read of its own memory: how often they are there. They come in
// hex, and are kept disguised, so that they are nowhere because of this.
std::string scan(const Words& words) {
  constexpr unsigned char kDisguise = 0x5a;
  std::vector<unsigned char> wanted;
  for (size_t i = 0; i + 1 < words.at(0).size(); i += 2)
    wanted.push_back(static_cast<unsigned char>(
        static_cast<unsigned char>(std::stoi(words[0].substr(i, 2), nullptr, 16)) ^ kDisguise));
  FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return "no maps";
  std::vector<std::pair<uintptr_t, uintptr_t>> parts;
  char line[512], rights[8];
  uintptr_t from = 0, to = 0;
  while (std::fgets(line, sizeof line, maps) != nullptr)
    if (std::sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && rights[0] == 'r' &&
        std::strstr(line, "[v") == nullptr)
      parts.emplace_back(from, to);
  std::fclose(maps);
  size_t found = 0, seen = 0;
  for (const auto& [begin, end] : parts) {
    const auto* at = reinterpret_cast<const unsigned char*>(begin);
    const auto* const last = reinterpret_cast<const unsigned char*>(end - wanted.size());
    for (; at < last; ++at) {
      at = static_cast<const unsigned char*>(
          std::memchr(at, wanted[0] ^ kDisguise, static_cast<size_t>(last - at)));
      if (at == nullptr) break;
      size_t same = 1;
      while (same < wanted.size() && at[same] == (wanted[same] ^ kDisguise)) ++same;
      if (same == wanted.size()) ++found;
    }
    seen += end - begin;
  }
  return "tried " + std::to_string(seen) + " found " + std::to_string(found);
}

// megabytes; "pages" or "descriptor"
std::string grow(const Words& words) {
  const int most = std::atoi(words.at(0).c_str());
  const bool pages = words.at(1) == "pages";
  const int fd = ::memfd_create("more", 0);
  std::vector<char> one(1 << 20, 'x');
  int got = 0;
  for (; got < most; ++got) {
    if (pages) {
      void* const more = ::mmap(nullptr, one.size(), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (more == MAP_FAILED) break;
      std::memset(more, 1, one.size());
    } else if (::write(fd, one.data(), one.size()) != static_cast<ssize_t>(one.size())) {
      break;
    }
  }
  return std::to_string(got);
}

std::string threads(const Words&) {
  int made = 0;
  for (; made < 2000; ++made) {
    try {
      std::thread([] { ::pause(); }).detach();
    } catch (...) {
      break;
    }
  }
  return std::to_string(made);
}

// ------------------------------------------------------------------------------------ what is said

// a length, of which nothing else is true
void lie(const Words& words) {
  put(kTagUndefined, nullptr, 0, 0);
  channel.send(static_cast<size_t>(std::stoull(words.at(0))));
}

// Its message changes while the host reads it: how many numbers there are, and what the whole is.
void rewrite(const Words&) {
  const int32_t numbers[16] = {1, 2, 3};
  const size_t length = put(kTagInts, numbers, sizeof numbers, 16);
  static std::atomic<bool> going{false};
  if (!going.exchange(true))
    std::thread([] {
      uint8_t* const out = channel.outgoing().data();
      for (uint32_t i = 0;; ++i) {
        const uint32_t count = i % 2 == 0 ? 16 : 0x7fffffff;
        std::memcpy(out + sizeof(MessageHeader) + 1, &count, sizeof count);
        *const_cast<volatile uint32_t*>(reinterpret_cast<uint32_t*>(out) - 1) =
            i % 3 == 0 ? 0xffffffff : 85;
      }
    }).detach();
  channel.send(length);
}

// All of the memory, the host's own slot too, is written over while it speaks and is spoken to.
void scribble(const Words&) {
  struct stat status {};
  ::fstat(0, &status);
  void* const all = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ | PROT_WRITE,
                           MAP_SHARED, 0, 0);
  if (all == MAP_FAILED) return say("no memory");
  std::thread([=] {
    const size_t words = static_cast<size_t>(status.st_size) / 4;
    uint32_t seed = 1;
    for (;;) {
      for (size_t i = 0; i < 4000; ++i) {
        seed = seed * 1664525U + 1013904223U;
        // The first pages more often: flags, lengths, numbers.
        const size_t at = (seed >> 8) % (i % 2 == 0 ? std::min<size_t>(words, 1100) : words);
        static_cast<volatile uint32_t*>(all)[at] = seed;
      }
      ::syscall(SYS_futex, all, 1, 1 << 20, nullptr, nullptr, 0);
    }
  }).detach();
  say("scribbled");
}

// What it holds of the memory goes back to the system, under the host that reads it.
void punch(const Words&) {
  struct stat status {};
  ::fstat(0, &status);
  say("punched");
  for (int i = 0; i < 100; ++i)
    ::fallocate(0, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, status.st_size);
}

// Answers that nobody asked for.
void chatter(const Words&) {
  say("said");
  std::thread([] {
    for (int i = 0; i < 100000; ++i) channel.send(sizeof(MessageHeader) + kTagSize + 4);
  }).detach();
}

void sleep_on(const Words&) {
  for (;;) ::pause();
}
void stop_itself(const Words&) {
  for (;;) ::raise(SIGSTOP);
}
void spin(const Words&) {
  for (std::atomic<int> i{0};; ++i) {
  }
}
// It answers, and goes on.
void linger(const Words&) {
  std::thread([] { spin({}); }).detach();
  say("lingers");
}

const std::map<std::string, std::function<std::string(const Words&)>> kTries = {
    {"reads", reads},         {"files", files},       {"network", network},
    {"processes", processes}, {"children", children}, {"memory", memory},
    {"born-with", born_with}, {"scan", scan},         {"grow", grow},
    {"threads", threads},
};
const std::map<std::string, void (*)(const Words&)> kWays = {
    {"lie", lie},          {"rewrite", rewrite}, {"scribble", scribble},
    {"punch", punch},      {"chatter", chatter}, {"sleep", sleep_on},
    {"stop", stop_itself}, {"spin", spin},       {"linger", linger},
};

void run(const std::string& text) {
  std::istringstream stream(text);
  std::string name;
  stream >> name;
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (const auto found = kTries.find(name); found != kTries.end()) return say(found->second(words));
  if (const auto found = kWays.find(name); found != kWays.end()) return found->second(words);
  say("what is " + name + "?");
}

}  // namespace

int worker_main(int, char**, char**) {
  if (!channel.attach(STDIN_FILENO, ChannelSide::kWorker)) ::_exit(1);
  await();  // the guests' program
  channel.control().ready.store(1);
  futex_wake(channel.control().ready);
  for (;;) {
    const size_t length = await();
    std::memcpy(&asked, channel.incoming(), sizeof asked);
    // Line, column, and the script as a text.
    constexpr size_t kText = sizeof asked + 8;
    uint32_t size = 0;
    if (asked.op == kOpRun && length > kText + kTagSize)
      std::memcpy(&size, channel.incoming() + kText + 1, sizeof size);
    if (size == 0 || size > length - kText - kTagSize) {
      channel.send(put(kTagUndefined, nullptr, 0, 0));
      continue;
    }
    run(std::string(reinterpret_cast<const char*>(channel.incoming()) + kText + kTagSize, size));
  }
}

}  // namespace bulkhead
