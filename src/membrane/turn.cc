#include "membrane/turn.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "base/stat_line.h"

namespace bulkhead {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
// Whoever hears it in the worker has to come to a processor first, while the guest uses one: on a
// busy machine 20 ms of that were too few.
constexpr uint64_t kGrace = 50 * kMillisecond;
// A worker that was asked to end, uses no time of its own and is not seen asleep: it does not get
// to run, or waits in the kernel.
constexpr uint64_t kPatience = 500 * kMillisecond;
// An answer that comes by then costs no system call but the sleep. Longer than a tick of the
// kernel's: a timer that is due before the next tick has to be told to the hardware, which costs
// microseconds in a virtual machine.
constexpr uint64_t kLook = 5 * kMillisecond;
constexpr uint64_t kLeastPause = kMillisecond / 2;

uint64_t read_clock(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

bool is_runnable(pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR* const tasks = ::opendir(path);
  if (tasks == nullptr) return true;
  bool found = false;
  // Ours has three. One that makes thousands, to keep us reading, is seen by the first.
  int left = 16;
  for (const dirent* task = nullptr; !found && left > 0 && (task = ::readdir(tasks)) != nullptr;) {
    if (task->d_name[0] == '.') continue;
    --left;
    std::snprintf(path, sizeof path, "%.20s/stat", task->d_name);
    const int fd = ::openat(::dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
    char text[128];
    const ssize_t size = fd >= 0 ? ::read(fd, text, sizeof text) : -1;
    if (fd >= 0) ::close(fd);
    if (size <= 0) continue;
    const std::string_view fields = behind_name({text, static_cast<size_t>(size)});
    found = fields.empty() || fields.front() == 'R' || fields.front() == 'D';
  }
  ::closedir(tasks);
  return found;
}

Turn::~Turn() { forget(); }

void Turn::forget() {
  if (keeper_fd_ >= 0) ::close(keeper_fd_);
  if (statm_ >= 0) ::close(statm_);
  keeper_fd_ = statm_ = -1;
}

bool Turn::watch(pid_t keeper, pid_t worker) {
  const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0));
  if (fd < 0) return false;
  if (keeper_fd_ >= 0) ::close(keeper_fd_);
  keeper_fd_ = fd;
  worker_ = worker;
  has_clock_ = worker > 0 && ::clock_getcpuclockid(worker, &clock_) == 0;
  char path[40];
  std::snprintf(path, sizeof path, "/proc/%d/statm", worker);
  if (statm_ >= 0) ::close(statm_);
  statm_ = worker > 0 ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  return true;
}

void Turn::begin(uint32_t number, const TurnLimits& limits) {
  resident_bytes_ = limits.resident_bytes;
  levels_.clear();
  levels_.push_back(level_of(number, limits, 0, 0));
  soonest_ = levels_.back().soonest();
  running_ = fresh_ = true;
  next_look_ = kLook;
  begun_ = monotonic_ns();
  clock_begun_ = unclocked_ = others_ = asked_ = used_asked_ = 0;
  stopped_.store(false);
}

Turn::Level Turn::level_of(uint32_t number, const TurnLimits& limits, uint64_t used,
                           uint64_t passed) {
  Level level{.number = number};
  uint64_t wall = limits.wall_ns;
  if (wall == 0 && limits.processor_ns != 0) wall = 10 * limits.processor_ns + 1000 * kMillisecond;
  if (limits.processor_ns != 0) level.processor_end = used + limits.processor_ns;
  if (wall != 0) level.wall_end = passed + wall;
  return level;
}

void Turn::begin_inner(uint32_t number, const TurnLimits& limits) {
  const uint64_t now = monotonic_ns();
  levels_.push_back(level_of(number, limits, charge(now), now - begun_));
  // What is charged is never more than what has passed, but for what others used.
  soonest_ = std::min(soonest_, levels_.back().soonest());
}

void Turn::end_inner() {
  if (levels_.size() < 2) return;
  levels_.pop_back();
  soonest_ = UINT64_MAX;
  for (const Level& level : levels_) soonest_ = std::min(soonest_, level.soonest());
  // It came back.
  if (asked_ != 0 && level_asked_ >= levels_.size()) asked_ = used_asked_ = 0;
}

uint64_t Turn::used() { return charge(monotonic_ns()); }

Turn::Left Turn::left() {
  const uint64_t now = monotonic_ns(), used = charge(now), passed = now - begun_;
  Left left;
  for (const Level& level : levels_) {
    const auto rest = [](uint64_t end, uint64_t at) {
      return end == UINT64_MAX ? end : end > at ? end - at : 0;
    };
    left.processor_ns = std::min(left.processor_ns, rest(level.processor_end, used));
    left.wall_ns = std::min(left.wall_ns, rest(level.wall_end, passed));
  }
  return left;
}

void Turn::stop() {
  stopped_.store(true);
  channel_.nudge();
}

// The clock of another process costs a system call, so short turns do without: it is first read
// when one is waited for asleep, and what passed before counts as it passed.
uint64_t Turn::charge(uint64_t now) {
  const uint64_t wall = now - begun_;
  const uint64_t clock = has_clock_ ? read_clock(clock_) : 0;
  if (clock == 0) return wall;
  if (clock_begun_ == 0) {
    clock_begun_ = clock;
    unclocked_ = std::min(wall, kMillisecond);
  }
  return std::min(wall, unclocked_ + clock - clock_begun_ + others_);
}

uint64_t Turn::resident() const {
  char text[128];
  const ssize_t size = statm_ >= 0 ? ::pread(statm_, text, sizeof text, 0) : -1;
  if (size <= 0) return 0;
  // "size resident shared …", in pages.
  const char* const end = text + size;
  const char* const at = std::find(static_cast<const char*>(text), end, ' ');
  uint64_t pages = 0;
  if (at != end) std::from_chars(at + 1, end, pages);
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool Turn::gone() const {
  if (keeper_fd_ < 0) return false;
  pollfd fd{.fd = keeper_fd_, .events = POLLIN, .revents = 0};
  return ::poll(&fd, 1, 0) > 0;
}

uint64_t Turn::processor_time() const { return has_clock_ ? read_clock(clock_) : 0; }

void Turn::kill() {
  if (keeper_fd_ >= 0) ::syscall(SYS_pidfd_send_signal, keeper_fd_, SIGKILL, nullptr, 0);
}

// What is to be done now; kMessage: nothing.
Turn::End Turn::check() {
  if (gone()) return End::kGone;
  if (!running_) return End::kMessage;
  const uint64_t now = monotonic_ns(), used = charge(now), wall = now - begun_;
  if (resident_bytes_ != 0 && resident() > resident_bytes_) {
    kill();
    return End::kMemoryOver;
  }
  size_t over = stopped_.load() ? 0 : levels_.size();
  for (size_t i = 0; i < over; ++i)
    if (used >= levels_[i].processor_end || wall >= levels_[i].wall_end) over = i;
  if (over == levels_.size()) return End::kMessage;
  // What ends an outer call has to end more than what was asked to.
  if (asked_ == 0 || over < level_asked_) {
    if (asked_ == 0) {
      asked_ = now;
      used_asked_ = used;
      looked_ = now;
      asleep_ = 0;
    }
    level_asked_ = over;
    channel_.control().terminate.store(levels_[over].number, std::memory_order_seq_cst);
    futex_wake(channel_.control().terminate);
    return End::kMessage;
  }
  const bool late = used >= used_asked_ + kGrace;
  if (!late && !pretends(now) && now - asked_ < kPatience) return End::kMessage;
  kill();
  return End::kTimeOver;
}

// Whoever sleeps when it was asked to end waits for nothing that will come. A look that came late,
// because the host itself did not run, counts as one in time.
bool Turn::pretends(uint64_t now) {
  const uint64_t since = std::min(now - looked_, kLook);
  looked_ = now;
  if (!channel_.has_message() && !is_runnable(worker_)) asleep_ += since;
  return asleep_ >= kGrace;
}

bool Turn::is_due() {
  const uint64_t passed = monotonic_ns() - begun_;
  if (passed < std::min(soonest_, next_look_)) return false;
  next_look_ = passed + kLook;
  return true;
}

Turn::End Turn::wait(const std::function<bool()>& is_over) {
  // A guest that calls back without end never lets us sleep for long, and is looked after here.
  if (running_ && (stopped_.load() || (!fresh_ && is_due())))
    if (const End end = check(); end != End::kMessage) return end;
  fresh_ = false;
  if (channel_.spin()) return End::kMessage;
  for (uint64_t pause = until(soonest_, monotonic_ns() - begun_);; pause = next_pause()) {
    if (channel_.has_message()) return End::kMessage;
    if (abandoned_.load()) return End::kAbandoned;
    channel_.sleep(pause);
    if (channel_.has_message()) return End::kMessage;
    if (is_over && is_over()) return End::kAbandoned;
    if (const End end = check(); end != End::kMessage)
      return end == End::kGone && channel_.has_message() ? End::kMessage : end;
  }
}

uint64_t Turn::until(uint64_t end, uint64_t at) const {
  return running_ && end != UINT64_MAX ? std::clamp(end > at ? end - at : 0, kLeastPause, kLook)
                                       : kLook;
}

uint64_t Turn::next_pause() {
  const uint64_t end = asked_ != 0 ? used_asked_ + kGrace : processor_end();
  return end != UINT64_MAX ? until(end, used()) : kLook;
}

void Turn::abandon() {
  abandoned_.store(true);
  channel_.nudge();
}

}  // namespace bulkhead
