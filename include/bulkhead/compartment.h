// bulkhead/compartment.h: programs that nobody trusts, each in a compartment that holds nothing but
// what a policy grants.
//
//   auto policy = bulkhead::Policy::parse(R"({
//     "manifest": 1, "files": {"read": ["@system", "/srv/in"]}, "run": ["/usr/bin/wc"]})");
//   if (!policy) return complain(policy.error().message);
//   bulkhead::Options options;
//   options.command = {"/usr/bin/wc", "-l", "/srv/in/list"};
//   options.descriptors = {{1, 1}, {2, 2}};
//   auto compartment = bulkhead::Compartment::start(*policy, options);
//   if (!compartment) return complain(compartment.error().message);
//   return compartment->wait().code;
//
// Linux, x86-64, for root and for ordinary users; what the kernel lacks is an error of start().
// Link with CMake (find_package(bulkhead), target bulkhead::compartment) or pkg-config (bulkhead).
//
// What holds for all of it:
//   - Errors are values. Nothing here prints, throws (but std::bad_alloc), or exits.
//   - Many compartments may live in one process. Objects may be used by several threads at a time,
//     but a Compartment must not be moved or destroyed while another thread uses it.
//   - Of the host's process one thing changes: of the real-time signals the highest that has no
//     handler when the first compartment starts gets one that does nothing, for good; threads of
//     ours are interrupted by it. The host's other signals, masks, working folder, umask, limits
//     and descriptors stay as they are.
//   - A compartment's first process is a child of the host, so its end raises SIGCHLD like another
//     child's. A host that waits for whatever child there is may do so.
//   - Two threads of ours serve all compartments, and one more each that is busy; an idle one costs
//     none, but where its memory is polled and sockets are looked at. While calls of one wait for
//     somebody, two more are kept for the others': these go on where the system gives no more
//     threads. The first start makes them: credentials, Landlock domain and processors are of
//     whoever called that. The host's code runs there in Judge alone.
//   - All processes of a compartment end with it, and it ends with the host's process.
//   - A host that forks without executing leaves its compartments to the parent: in the child
//     objects end without them, and are good for nothing else. One that changes its user or its
//     capabilities does that before it starts one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#if defined(__GNUC__)
#define BULKHEAD_API __attribute__((visibility("default")))
#else
#define BULKHEAD_API
#endif

namespace bulkhead {
inline namespace v1 {

struct Error {
  std::string message;  // the step that failed, on what, why, and what to do about it
  int errno_value = 0;  // of the call that failed; 0 where none did
};

// A value or an Error. value() and its like are for one that is ok(), error() for one that is not;
// else they throw std::bad_variant_access.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};
using Status = Result<std::monostate>;

// ---- What is granted ----

// What ${…} stands for in a manifest: absolute paths without symlinks. What is empty grants
// nothing: a manifest that names it is an error.
struct Variables {
  std::vector<std::string> workspace;  // ${workspace}
  std::string extension;               // ${extension}: the program's own folder
  std::string storage;                 // ${storage}: a folder that it may write
  std::string home;                    // ${home}
};

struct PolicyOptions {
  Variables variables;
  // Grants what every program needs besides (/dev/null and its kind).
  bool essentials = true;
  // Blocks what no program gets, whatever the manifest grants: private keys, credentials, stores of
  // passwords, shells' start-up files … Rules about the home folder need Variables::home.
  bool blocklist = true;
};

// An immutable set of rules, made of a manifest (docs/manifest.md): what that grants and nothing
// else. No file of configuration is read, neither the user's nor the organisation's. Copies share
// it.
class BULKHEAD_API Policy {
 public:
  // All that is wrong with the manifest is told at once, by line and field. `name` stands for the
  // text in these messages.
  static Result<Policy> parse(std::string_view manifest, const PolicyOptions& options = {},
                              const std::string& name = "manifest");
  static Result<Policy> load(const std::string& file, const PolicyOptions& options = {});

  // For Compartment, which sees what it is.
  struct Data;
  const Data& data() const { return *data_; }

 private:
  explicit Policy(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

// ---- Who decides ----

// Something that a program attempts.
struct Access {
  std::string_view kind;  // "read", "write", "read-status", "write-status", "run", "connect",
                          // "lookup", "listen"; of a refusal also "system": an interface of the
                          // kernel that no manifest grants
  std::string_view resource;  // a path without symlinks, "host:port", a host's name; bytes that the
                              // program may have chosen, so escape them before you show them
  pid_t pid = 0;              // the process, as the host sees it; 0: not known
  std::string_view call;      // the system call
};

// Decides what the policy leaves open: whatever its manifest neither grants nor blocks, where it
// says "otherwise": "ask". Called by threads of ours, several at a time, and but for stop() never
// by the host's own; not after the compartment has ended. It may ask the compartment for its usage
// or change its limits, but not wait for its end or destroy it.
class BULKHEAD_API Judge {
 public:
  virtual ~Judge();
  // May take its time: the program's thread waits, and no other does. Each attempt asks again. It
  // must not throw, and return once stop() was called.
  virtual bool allow(const Access& access) = 0;
  // Each refusal, with the rule that made it. Must not throw or wait, nor ask the compartment for
  // its usage or change its limits: where threads are short it is called by who would answer.
  virtual void refused(const Access& access, std::string_view rule);
  // The compartment is ending: whatever allow() returns from now on does not count. Must not throw.
  // Of one that never began it is called by the thread that drops it.
  virtual void stop();
};

// ---- What may be used ----

// Of all processes of a compartment together, but `files`. What is not set is not limited; what is,
// is more than 0 and at most 4096 cores, ten years, 4194304 processes, 1048576 files.
struct Limits {
  std::optional<uint64_t> memory;                     // bytes
  std::optional<double> cpu;                          // cores
  std::optional<std::chrono::milliseconds> cpu_time;  // of processors
  std::optional<std::chrono::milliseconds> wall_time;
  std::optional<uint32_t> processes;
  std::optional<uint32_t> files;    // descriptors of each process
  std::optional<uint64_t> written;  // bytes written to storage
};

struct Usage {
  uint64_t memory = 0;  // bytes: pages of all processes, what several share counting for each
  std::chrono::milliseconds cpu_time{0};
  uint32_t processes = 0;
};

// ---- Compartments ----

struct Options {
  // The program's absolute path, and its arguments. It starts because the host names it; what it
  // reads (its libraries: "@system") and which others it starts, the policy says.
  std::vector<std::string> command;
  // "NAME=value": all of its environment. Nothing of the host's is added.
  std::vector<std::string> environment;
  // Its working folder, an absolute path without symlinks.
  std::string folder = "/";
  // The host's descriptors that the program gets, by the numbers that it finds them under (0 to
  // 255). They are duplicated by start(). Of 0 to 2, what is not named is /dev/null. What a
  // descriptor gives access to, the program has, past every rule.
  std::map<int, int> descriptors;
  // Those that are set take the place of the manifest's.
  Limits limits;
  // Null: what the policy leaves open is refused.
  std::shared_ptr<Judge> judge;
  // Hosts that the policy grants are looked up there: "ADDRESS" or "ADDRESS:PORT". Empty: as the
  // machine does (/etc/resolv.conf, /etc/hosts).
  std::string name_server;
};

struct Outcome {
  enum class How : uint8_t {
    kExited,     // `code` is the program's own
    kSignaled,   // by `signal`
    kCannotRun,  // there is no such program, or it is none
    kLimit,      // of Limits; `text` says which
    kKilled,     // by kill(), or the object's end
    kFailed,     // of ourselves: what was enforced could be so no longer
  };
  How how = How::kFailed;
  // As `bulkhead run` exits (`bulkhead run --help`): the program's own, 128 and the signal, 119 to
  // 127 else.
  int code = 125;
  int signal = 0;
  bool core_dumped = false;
  std::string text;  // "ended with exit code 3"
};

class Prepared;

// A program, and all processes that come of it. What it starts lives no longer than it does.
class BULKHEAD_API Compartment {
 public:
  // Returns when the program is about to begin. That it then cannot be run is an outcome.
  static Result<Compartment> start(const Policy& policy, const Options& options);
  // The same, but the program waits to begin until Prepared::start(). `later`: by which numbers it
  // is given descriptors then, besides those of `options`.
  static Result<Prepared> prepare(const Policy& policy, const Options& options,
                                  const std::set<int>& later = {});
  Compartment(Compartment&& other) noexcept;
  Compartment& operator=(Compartment&& other) noexcept;
  // kill(), and waits for the end.
  ~Compartment();

  pid_t pid() const;  // of the program, as the host sees it; somebody else's once it has ended

  // The outcome, once there is one. Its processes are gone by then.
  const Outcome& wait() const;
  const Outcome* wait_until(std::chrono::steady_clock::time_point deadline) const;  // null: not yet
  const Outcome* outcome() const;  // null: it lives
  // Readable (poll(2), epoll(7)) once there is an outcome. Not to be read or closed.
  int descriptor() const;

  // Begins to end all of its processes, by SIGKILL. Does not wait.
  void kill();
  // Sends a signal to the program. ESRCH where it has ended.
  Status signal(int number);

  Result<Usage> usage() const;
  // Changes those that are set, while it runs. Only what was limited at the start can be: by an
  // error nothing has changed. `files` cannot be changed, cpu only where a cgroup keeps it, and
  // cpu_time be made no more than at the start.
  Status set_limits(const Limits& limits);

 private:
  friend class Prepared;
  struct Impl;
  explicit Compartment(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A compartment whose program waits to begin: all that takes time is done, so a pool of these has a
// program at once for whatever comes. Nothing of the program has run.
//   - What the policy grants is what stood there when it was prepared.
//   - Wall time counts from start(); memory and processes are limited from the beginning.
//   - It can die meanwhile, as any process can: start() says so (ESRCH), and another takes its
//   place.
class BULKHEAD_API Prepared {
 public:
  Prepared(Prepared&& other) noexcept;
  Prepared& operator=(Prepared&& other) noexcept;
  // Where it was not started: ends it, and waits for that. Nothing of it is left.
  ~Prepared();

  pid_t pid() const;  // of the program; 0 once it was started

  // Lets the program begin, with these descriptors of the host's by numbers of prepare()'s `later`.
  // They are duplicated. Of these numbers those that are not named here are closed; of 0 to 2 they
  // are /dev/null. Once. By the error that a descriptor cannot be given (EBADF, EINVAL) nothing has
  // changed; by any other it has ended.
  Result<Compartment> start(const std::map<int, int>& descriptors = {});

 private:
  friend class Compartment;
  struct Impl;
  explicit Prepared(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace v1
}  // namespace bulkhead
