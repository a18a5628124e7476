#include "sandbox/limits/limits.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/units.h"
#include "sandbox/limits/address_spaces.h"
#include "sandbox/limits/limit_cgroups.h"
#include "sandbox/limits/socket_memory.h"
#include "sandbox/limits/unlisted_sockets.h"
#include "sandbox/limits/usage.h"

namespace bulkhead {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;

constexpr Microseconds kSlowest = 50ms;  // between samples of what a process can use up quickly
constexpr Microseconds kFastest = 4ms;
constexpr Microseconds kKernelKills =
    100ms;  // between looks at whether the kernel killed for memory
constexpr uint64_t kBytesPerMs = 4U << 20U;  // what two cores dirty at the most, about
constexpr int kDearEvery = 4;                // samples of what takes long to look at
constexpr size_t kMostCounts = 512;          // descriptors that are kept open
// What an open file of /proc that tells of a descriptor keeps at the most. Its text has a line of
// 190 bytes for each watch of inotify, of which there are as many as mounts.cc says, or of 96 for
// each number that an epoll watches; the kernel doubles the buffer until the text fits.
constexpr uint64_t kTellers = 16;  // that part of the limit, or:
constexpr uint64_t kWatchedNumber = uint64_t{2} * 96;

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000.0);
}

// How long nothing can go wrong, from how much is left and how fast it can go.
Microseconds time_left(uint64_t used, uint64_t limit, uint64_t per_ms) {
  const uint64_t left = limit - std::min(used, limit);
  return std::clamp<Microseconds>(std::chrono::milliseconds(left / per_ms), kFastest, kSlowest);
}

struct Cores {
  cpu_set_t set{};
  unsigned count = 0;
};

Result<Cores> usable_cores() {
  Cores cores;
  if (::sched_getaffinity(0, sizeof cores.set, &cores.set) != 0)
    return errno_error("read the CPU affinity");
  cores.count = static_cast<unsigned>(CPU_COUNT(&cores.set));
  return cores;
}

// `count` of them, beginning at a place that differs between supervisors, so that compartments side
// by side do not all sit on the first core.
cpu_set_t choose_cores(const Cores& from, unsigned count) {
  std::vector<size_t> all;
  for (size_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &from.set)) all.push_back(i);
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  static std::atomic<size_t> next = static_cast<size_t>(::getpid());
  const size_t begin = next.fetch_add(count) % all.size();
  for (size_t i = 0; i < count; ++i) CPU_SET(all[(begin + i) % all.size()], &chosen);
  return chosen;
}

// What the kernel has made on the whole machine and cannot give back; all bits where it does not
// tell.
uint64_t unreclaimable_bytes() {
  const Result<std::string> text = read_file("/proc/meminfo", 16384);
  uint64_t bytes = 0;
  return text.ok() && parse_field(*text, "SUnreclaim", &bytes) ? bytes : UINT64_MAX;
}

bool machine_swaps() {
  struct sysinfo info {};
  return ::sysinfo(&info) == 0 && info.totalswap > 0;
}

uint64_t file_system_bytes(const Fd& folder) {
  struct statfs status {};
  if (!folder || ::fstatfs(folder.get(), &status) != 0) return 0;
  const auto used = [](uint64_t all, uint64_t free) { return all - std::min(all, free); };
  // A file that holds nothing is an object of the kernel's, and so are its attributes: the file
  // system counts both by this (tmpfs, BOGO_INODE_SIZE).
  constexpr uint64_t kFile = 1024;
  return used(status.f_blocks, status.f_bfree) * static_cast<uint64_t>(status.f_bsize) +
         used(status.f_files, status.f_ffree) * kFile;
}

class Keeper final : public LimitKeeper {
 public:
  explicit Keeper(const Limits& limits) : limits_(limits) {}

  Status choose(const LimitOptions& options) {
    if (limits_.memory) BULKHEAD_CHECK(choose_memory(options));
    if (limits_.cpu) BULKHEAD_CHECK(choose_cpu(options));
    if (limits_.cpu_time) choose_cpu_time(options);
    if (limits_.wall_time) how_.wall_time = Mechanism::kTimer;
    if (limits_.written) BULKHEAD_CHECK(choose_written());
    if (!limits_.memory && !limits_.cpu_time && !limits_.wall_time && !limits_.written) return {};
    timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!timer_) return errno_error("make the timer of the limits");
    return {};
  }

  Status attach(const LimitTarget& target) override {
    // Neither process has children that would stay outside: the program waits in its first execve.
    for (const pid_t pid : {target.init, target.program})
      if (const Status added = cgroups_.add(pid); !added.ok())
        return Error{"cannot enforce the limits: " + added.error().message,
                     added.error().errno_value};
    if (how_.cpu == Mechanism::kAffinity)
      for (const pid_t pid : {target.init, target.program})
        if (::sched_setaffinity(pid, sizeof pinned_, &pinned_) != 0)
          return errno_error("enforce the limit cpu by CPU affinity");
    Fd proc(::fcntl(target.proc, F_DUPFD_CLOEXEC, 3));
    if (!proc) return errno_error("duplicate the compartment's /proc");
    proc_ = std::make_unique<ProcReader>(std::move(proc));
    if (target.tmp >= 0) tmp_ = Fd(::fcntl(target.tmp, F_DUPFD_CLOEXEC, 3));
    if (target.shm >= 0) shm_ = Fd(::fcntl(target.shm, F_DUPFD_CLOEXEC, 3));
    for (size_t i = 0; i < kSystemVLists; ++i)
      if (target.system_v[i] >= 0)
        system_v_[i] = Fd(::fcntl(target.system_v[i], F_DUPFD_CLOEXEC, 3));
    if (target.socket_diag >= 0) socket_diag_ = Fd(::fcntl(target.socket_diag, F_DUPFD_CLOEXEC, 3));
    if (socket_diag_ && limits_.memory) unlisted_.emplace();
    taken_ = target.taken;
    if (samples_memory_) least_unreclaimable_ = unreclaimable_bytes();
    return {};
  }

  void begin() override {
    start_ = Clock::now();
    set_timer(kFastest);
  }

  int fd() const override { return timer_.get(); }
  uint64_t peak_memory() const override { return peak_; }
  LimitMechanisms mechanisms() const override { return how_; }

  std::optional<LimitBreached> poll() override {
    uint64_t expirations = 0;
    if (timer_) (void)!::read(timer_.get(), &expirations, sizeof expirations);
    if (breach_ || !timer_ || proc_ == nullptr) return breach_;
    const Clock::time_point begin = Clock::now();
    next_ = std::chrono::hours(1);
    check_wall_time(begin);
    if (how_.memory != Mechanism::kNone) check_kernel_kills();
    sample();
    const auto cost = std::chrono::duration_cast<Microseconds>(Clock::now() - begin);
    // With thousands of processes looking takes longer: then it is done less often, so that the
    // supervisor never spends more than a fifth of a core on it.
    set_timer(std::max(next_, std::min<Microseconds>(cost * 5, 250ms)));
    return breach_;
  }

  Result<UsedNow> used() override {
    BULKHEAD_TRY(const std::vector<pid_t> pids, proc_->processes());
    UsedNow now;
    uint64_t ticks = 0;
    for (const pid_t pid : pids) {
      if (pid != 1) ++now.processes;  // init
      ProcReader::Resident memory;
      if (proc_->resident(pid, &memory)) now.memory += memory.pages + memory.swapped;
      if (const auto stat = proc_->stat(pid)) ticks += stat->own_ticks + stat->children_ticks;
    }
    now.cpu_time =
        std::chrono::milliseconds(ticks * 1000 / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK)));
    return now;
  }

  Status change(const Limits& to) override {
    const auto cannot = [](const char* name, const char* why) {
      return Error{fmt::format("cannot change the limit {}: {}", name, why), EINVAL};
    };
    constexpr auto kNone = "it was not set at the start";
    if (to.memory && !limits_.memory) return cannot("memory", kNone);
    if (to.cpu && how_.cpu != Mechanism::kCgroup) return cannot("cpu", "no cgroup keeps it");
    if (to.cpu_time && !limits_.cpu_time) return cannot("cpu-time", kNone);
    if (to.cpu_time && *to.cpu_time > first_cpu_time_)
      return cannot("cpu-time", "it was less at the start, and each process keeps that");
    if (to.wall_time && !limits_.wall_time) return cannot("wall-time", kNone);
    if (to.written && !limits_.written) return cannot("written", kNone);
    if (to.processes && !limits_.processes) return cannot("processes", kNone);
    if (to.files || to.home) return cannot("files", "it is kept from the start");
    const Limits before = std::exchange(limits_, with_limits(limits_, to));
    Status written = write_cgroups(to, before);
    // Version 1 takes no limit below what is used, which is a breach of it.
    if (!written.ok() && to.memory && written.error().errno_value == EBUSY) {
      breach(LimitBreached::Which::kMemory, fmt::format("memory: {} bytes allowed", *to.memory));
      written = {};
    }
    if (!written.ok()) limits_ = before;
    set_timer(kFastest);
    return written;
  }

  std::optional<LimitBreached> ended_by_kernel() override {
    if (!breach_ && how_.memory != Mechanism::kNone) check_kernel_kills();
    return breach_;
  }

 private:
  // ---- choosing ----

  Status choose_memory(const LimitOptions& options) {
    if (options.use_cgroups && cgroups_.limit_memory(*limits_.memory).ok()) {
      how_.memory = Mechanism::kCgroup;
      samples_memory_ = cgroups_.leaves_swap() && machine_swaps();
      return {};
    }
    how_.memory = Mechanism::kSampling;
    samples_memory_ = true;
    return {};
  }

  Status write_cgroups(const Limits& to, const Limits& before) const {
    if (to.memory && how_.memory == Mechanism::kCgroup)
      BULKHEAD_CHECK(cgroups_.change_memory(*to.memory, *to.memory > *before.memory));
    return to.cpu ? cgroups_.change_cpu(*to.cpu) : Status();
  }

  Status choose_cpu(const LimitOptions& options) {
    std::string why = "cgroups are not used";
    if (options.use_cgroups) {
      const Status made = cgroups_.limit_cpu(*limits_.cpu);
      if (made.ok()) {
        how_.cpu = Mechanism::kCgroup;
        return {};
      }
      why = made.error().message;
    }
    BULKHEAD_TRY(const Cores cores, usable_cores());
    const double whole = std::floor(*limits_.cpu);
    if (*limits_.cpu >= cores.count) {
      pinned_ = cores.set;  // there are no more cores than that
    } else if (whole >= 1 && *limits_.cpu - whole < 1e-9) {
      pinned_ = choose_cores(cores, static_cast<unsigned>(whole));
    } else {
      const double least = std::max(1.0, std::ceil(*limits_.cpu));
      return Error{fmt::format(
          "cannot enforce the limit cpu of {:g} cores: {}, and without one only whole cores "
          "can be limited; use \"cpu\": {:g} (on the command line --cpu {:g}), or run as root or "
          "below a delegated cgroup (systemd-run --user --scope -p Delegate=yes)",
          *limits_.cpu, why, least, least)};
    }
    how_.cpu = Mechanism::kAffinity;
    return {};
  }

  void choose_cpu_time(const LimitOptions& options) {
    const bool counts = options.use_cgroups && cgroups_.count_cpu_time().ok();
    how_.cpu_time = counts ? Mechanism::kCgroup : Mechanism::kSampling;
  }

  Status choose_written() {
    const Result<std::string> text = read_file("/proc/self/io", 4096);
    uint64_t value = 0;
    if (!text.ok() || !parse_field(*text, "write_bytes", &value))
      return Error{
          "cannot enforce the limit written: this kernel does not count written bytes "
          "(CONFIG_TASK_IO_ACCOUNTING)"};
    how_.written = Mechanism::kSampling;
    return {};
  }

  // ---- watching ----

  void breach(LimitBreached::Which which, std::string message) {
    if (!breach_) breach_ = LimitBreached{which, std::move(message)};  // the first one stays
  }

  void set_timer(Microseconds when) {
    if (!timer_) return;
    const int64_t nanoseconds = std::max<int64_t>(1, when.count() % 1'000'000 * 1000);
    const itimerspec spec{{}, {when.count() / 1'000'000, nanoseconds}};
    ::timerfd_settime(timer_.get(), 0, &spec, nullptr);
  }

  void soon(Microseconds when) { next_ = std::min(next_, when); }

  void check_wall_time(Clock::time_point now) {
    if (!limits_.wall_time) return;
    const auto spent = std::chrono::duration_cast<Microseconds>(now - start_);
    if (spent >= *limits_.wall_time)
      breach(LimitBreached::Which::kWallTime,
             fmt::format("wall time: {} allowed", seconds_text(*limits_.wall_time)));
    else
      soon(std::chrono::duration_cast<Microseconds>(*limits_.wall_time) - spent);
  }

  void check_kernel_kills() {
    if (how_.memory != Mechanism::kCgroup) return;
    const auto memory = cgroups_.memory();
    if (!memory) {
      breach(LimitBreached::Which::kMemory,
             "memory: the cgroup that enforced the limit is gone; somebody else removed it or its "
             "controller");
      return;
    }
    peak_ = std::max(peak_, memory->peak);
    if (memory->kills > 0)
      breach(LimitBreached::Which::kMemory,
             fmt::format("memory: {} allowed, and the kernel killed a process that needed more",
                         size_text(*limits_.memory, *limits_.memory)));
    soon(kKernelKills);
  }

  // The kernel charges to the supervisor what that makes for the program: names in the private
  // trees, and what is open. The files' content, which is charged where it is written, is memory
  // too.
  void check_made_for_it(const std::vector<pid_t>& pids) {
    uint64_t bytes = file_system_bytes(tmp_) + file_system_bytes(shm_);
    for (const pid_t pid : pids) bytes += proc_->descriptor_bytes(pid);
    if (socket_diag_) {
      const bool counts_tcp = cgroups_.leaves_tcp();
      if (counts_tcp || looks_closely_) {
        const InetSockets inet = inet_sockets(socket_diag_.get());
        if (looks_closely_) {
          ProcReader::Open open;
          if (counts_tcp)
            for (const pid_t pid : pids) proc_->add_open(pid, &open);
          unlisted_bytes_ = unlisted_->bytes(socket_diag_.get(), inet, *proc_, open.sockets);
        }
        inet_bytes_ = counts_tcp ? inet.bytes : inet.uncharged;
      }
      bytes += uncharged_socket_bytes(socket_diag_.get()) + inet_bytes_ + unlisted_bytes_;
    }
    if (bytes > *limits_.memory) bytes -= miscounted_sockets();
    if (bytes > *limits_.memory)
      breach(LimitBreached::Which::kMemory,
             fmt::format("memory: {} in files, descriptors and sockets, {} allowed",
                         size_text(bytes, *limits_.memory),
                         size_text(*limits_.memory, *limits_.memory)));
  }

  // How much less the unlisted sockets hold than was taken for it, by a closer look.
  uint64_t miscounted_sockets() {
    if (!socket_diag_) return 0;
    const uint64_t before = unlisted_bytes_;
    unlisted_bytes_ = std::min(before, unlisted_->bytes_at_the_least(socket_diag_.get()));
    return before - unlisted_bytes_;
  }

  void sample() {
    const bool samples_cpu = how_.cpu_time == Mechanism::kSampling;
    if (how_.cpu_time == Mechanism::kCgroup) check_cpu_cgroup();
    if (!limits_.memory && !samples_cpu && !limits_.written) return;
    const Result<std::vector<pid_t>> pids = proc_->processes();
    if (!pids.ok()) return note_unseen(pids.error());
    looks_closely_ = samples_++ % kDearEvery == 0;
    if (samples_memory_)
      check_memory(*pids);
    else if (how_.memory == Mechanism::kCgroup)
      check_made_for_it(*pids);
    if (samples_cpu || limits_.written) check_inherited(*pids, samples_cpu);
  }

  // A limit that cannot be watched is not kept, so the compartment ends: whoever makes that happen
  // must not gain by it. ESRCH and ENOENT: it has ended by itself.
  void note_unseen(const Error& error) {
    if (error.errno_value == ESRCH || error.errno_value == ENOENT) return;
    breach(limits_.memory                          ? LimitBreached::Which::kMemory
           : how_.cpu_time == Mechanism::kSampling ? LimitBreached::Which::kCpuTime
                                                   : LimitBreached::Which::kWritten,
           "what the processes use cannot be told any more: " + error.message);
  }

  void check_memory(const std::vector<pid_t>& pids) {
    uint64_t resident = 0, kernel = 0, threads = 0;
    for (const pid_t pid : pids) {
      ProcReader::Resident memory;
      if (!proc_->resident(pid, &memory)) continue;
      resident += memory.pages + memory.swapped;
      kernel += memory.kernel;
      threads += memory.threads;
      most_numbers_ = std::max(most_numbers_, memory.numbers);
    }
    if (looks_closely_) {
      ProcReader::Open open;
      for (const pid_t pid : pids) proc_->add_open(pid, &open);
      if (socket_diag_) {
        const InetSockets inet = inet_sockets(socket_diag_.get());
        inet_bytes_ = inet.bytes;
        unlisted_bytes_ = unlisted_->bytes(socket_diag_.get(), inet, *proc_, open.sockets);
      }
      memfds_ = 0;
      for (const auto& [inode, bytes] : open.memfds) memfds_ += bytes;
      tellers_ =
          open.tellers * std::max(*limits_.memory / kTellers, most_numbers_ * kWatchedNumber);
      maps_ = map_bytes(pids);
    }
    kernel += maps_ + tellers_;
    if (socket_diag_)
      kernel += unix_socket_bytes(socket_diag_.get()) + netlink_socket_bytes(socket_diag_.get()) +
                inet_bytes_ + unlisted_bytes_;
    const uint64_t files =
        file_system_bytes(tmp_) + file_system_bytes(shm_) + memfds_ + system_v_bytes(threads);
    const uint64_t limit = *limits_.memory;
    // At least what is used: shared pages count for each process.
    uint64_t used = resident + kernel + files;
    // Exact, and dearer: only where it could matter, or for a peak that is worth telling.
    if (used > limit || used > peak_ + peak_ / 8) {
      used = kernel + exact_bytes(pids, files);
      // Again: a process that has executed meanwhile may have counted twice.
      if (used > limit) used = std::min(used, kernel + exact_bytes(pids, files));
      if (used > limit) used -= miscounted_sockets();
      peak_ = std::max(peak_, used);
    }
    if (used > limit)
      breach(LimitBreached::Which::kMemory,
             fmt::format("memory: {} used, {} allowed", size_text(used, limit),
                         size_text(limit, limit)));
    soon(time_left(used, limit, kBytesPerMs));
  }

  uint64_t exact_bytes(const std::vector<pid_t>& pids, uint64_t files) const {
    const ProcReader::Proportional memory = proportional_of(*proc_, pids);
    return memory.other + std::max(memory.shared_files, files);
  }

  // A map that was forked is known to each process above that still has it, as 64 bytes: forks of
  // forks make that many times what the maps are. Who forked whom nobody tells once parents have
  // ended. So it is the most that there can be, but no more than what the machine's kernel has made
  // meanwhile.
  uint64_t map_bytes(const std::vector<pid_t>& pids) {
    constexpr uint64_t kMap = 224, kLink = 64;
    uint64_t maps = 0;
    for (const pid_t pid : pids)
      if (maps * kMap <= *limits_.memory) maps += proc_->maps(pid);
    const uint64_t now = unreclaimable_bytes();
    least_unreclaimable_ = std::min(least_unreclaimable_, now);
    const uint64_t made = now == UINT64_MAX ? now : now - least_unreclaimable_;
    // The maps themselves are among what was made.
    const uint64_t links = std::min(maps * pids.size() * kLink, made - std::min(made, maps * kMap));
    return maps * kMap + links;
  }

  // Segments that are attached are in the processes' shared memory, too, as files in memory are.
  uint64_t system_v_bytes(uint64_t threads) const {
    uint64_t bytes = 0;
    for (size_t i = 0; i < kSystemVLists; ++i) {
      std::string text;
      std::array<char, 16384> part{};
      ssize_t size = 0;
      while (system_v_[i] && (size = ::pread(system_v_[i].get(), part.data(), part.size(),
                                             static_cast<off_t>(text.size()))) > 0)
        text.append(part.data(), static_cast<size_t>(size));
      bytes += parse_system_v(text, static_cast<SystemV>(i), threads);
    }
    return bytes;
  }

  void check_inherited(const std::vector<pid_t>& pids, bool samples_cpu) {
    std::map<uint64_t, Inheritance::Sample> cpu, written;
    std::map<uint64_t, Fd> counts;
    std::set<uint64_t> uncounted;
    for (const pid_t pid : pids) {
      const auto stat = proc_->stat(pid);
      if (!stat) continue;
      const uint64_t key = stat->start_ticks << 22U | static_cast<uint64_t>(pid);
      cpu[key] = {stat->own_ticks + stat->children_ticks, stat->children_ticks};
      if (!limits_.written) continue;
      uint64_t bytes = 0;
      // Opened once: a first thread that ends later does not matter then.
      const auto known = counts_.find(key);
      Fd count = known != counts_.end() ? std::move(known->second) : proc_->written_count(pid);
      if (ProcReader::written_bytes(count, &bytes))
        written[key] = {bytes, bytes};
      else if (proc_->outlives_its_first_thread(pid))
        uncounted.insert(key);
      if (count && counts.size() < kMostCounts) counts.emplace(key, std::move(count));
    }
    counts_ = std::move(counts);
    if (samples_cpu) {
      static const auto kTicks = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
      check_cpu_time(Microseconds(static_cast<int64_t>(cpu_.update(cpu) * 1'000'000 / kTicks)));
    }
    if (limits_.written) {
      const uint64_t bytes = written_.update(written) +
                             (taken_ != nullptr ? taken_->load(std::memory_order_relaxed) : 0);
      if (bytes > *limits_.written)
        breach(LimitBreached::Which::kWritten,
               fmt::format("written: {} written, {} allowed", size_text(bytes, *limits_.written),
                           size_text(*limits_.written, *limits_.written)));
      // Twice: at its end, a process is seen so for a moment.
      if (std::any_of(uncounted.begin(), uncounted.end(),
                      [this](uint64_t key) { return uncounted_.contains(key); }))
        breach(
            LimitBreached::Which::kWritten,
            "written: a process goes on whose first thread ended at its start, and this user may "
            "not see what such a one writes");
      uncounted_ = std::move(uncounted);
      soon(time_left(bytes, *limits_.written, kBytesPerMs));
    }
  }

  void check_cpu_cgroup() {
    if (const auto used = cgroups_.cpu_time())
      check_cpu_time(*used);
    else
      breach(LimitBreached::Which::kCpuTime, "CPU time: the cgroup that counted it is gone");
  }

  void check_cpu_time(Microseconds used) {
    if (used >= *limits_.cpu_time) {
      breach(LimitBreached::Which::kCpuTime,
             fmt::format("CPU time: {} used, {} allowed",
                         seconds_text(std::chrono::duration_cast<std::chrono::milliseconds>(used)),
                         seconds_text(*limits_.cpu_time)));
      return;
    }
    static const auto kCores = static_cast<int64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    const auto left = (std::chrono::duration_cast<Microseconds>(*limits_.cpu_time) - used) / kCores;
    // Sampled, it must be looked at often, or processes come and go unseen.
    const Microseconds slowest =
        how_.cpu_time == Mechanism::kSampling ? kSlowest : Microseconds(500ms);
    soon(std::clamp<Microseconds>(left, kFastest, slowest));
  }

  Limits limits_;
  const std::chrono::milliseconds first_cpu_time_ = limits_.cpu_time.value_or(0ms);
  LimitMechanisms how_;
  LimitCgroups cgroups_;
  cpu_set_t pinned_{};
  bool samples_memory_ = false;

  Fd timer_, tmp_, shm_;
  std::array<Fd, kSystemVLists> system_v_;
  Fd socket_diag_;
  std::optional<UnlistedSockets> unlisted_;  // where socket_diag_ and memory is limited
  std::unique_ptr<ProcReader> proc_;
  Clock::time_point start_;
  Microseconds next_{};
  Inheritance cpu_, written_;
  const std::atomic<uint64_t>* taken_ = nullptr;
  std::map<uint64_t, Fd> counts_;  // of written bytes, by process as in written_
  std::set<uint64_t> uncounted_;   // processes without one, at the last look
  uint64_t memfds_ = 0, maps_ = 0, tellers_ = 0;
  uint64_t inet_bytes_ = 0, unlisted_bytes_ = 0;  // the first without what is charged to a cgroup
  uint64_t least_unreclaimable_ = UINT64_MAX;     // of the whole machine, since the start
  uint64_t most_numbers_ = 0;                     // of descriptors, that a process had a table for
  uint64_t peak_ = 0;
  unsigned samples_ = 0;
  bool looks_closely_ = true;  // at what is dear, in this sample
  std::optional<LimitBreached> breach_;
};

}  // namespace

Result<std::unique_ptr<LimitKeeper>> LimitKeeper::prepare(const Limits& limits,
                                                          const LimitOptions& options) {
  auto keeper = std::make_unique<Keeper>(limits);
  BULKHEAD_CHECK(keeper->choose(options));
  return std::unique_ptr<LimitKeeper>(std::move(keeper));
}

std::vector<ProcessLimit> process_limits(const Limits& limits) {
  std::vector<ProcessLimit> kept;
  if (limits.files) kept.push_back({RLIMIT_NOFILE, *limits.files});
  // Backstops for one process between two samples, far enough away that no program which keeps to
  // its limit meets them: reserved address space is not counted (RLIMIT_AS would, and breaks V8),
  // but stacks and heap that are never touched are. Node has 560 MiB of these when it begins.
  if (limits.memory && *limits.memory < (rlim_t{1} << 50U))
    kept.push_back({RLIMIT_DATA, *limits.memory * 2 + (rlim_t{640} << 20U)});
  if (limits.cpu_time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*limits.cpu_time).count();
    kept.push_back({RLIMIT_CPU, static_cast<rlim_t>(seconds) + 3});
  }
  return kept;
}

}  // namespace bulkhead
