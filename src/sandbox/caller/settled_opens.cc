#include "sandbox/caller/settled_opens.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

namespace bulkhead {

namespace {

constexpr uint64_t kPage = 4096;
constexpr int32_t kNotLookedAtFirst = 16;  // most processes open a few files, each once
constexpr int32_t kNotLookedAt = 500;
constexpr int32_t kMostCredit = 64;

struct Arguments {
  bool is_open = false;
  uint64_t path = 0;
  uint32_t flags = 0;
};

Arguments arguments_of(const Notification& notification) {
  switch (notification.number) {
    case __NR_open:
      return {true, notification.args[0], static_cast<uint32_t>(notification.args[1])};
    case __NR_openat:
      return {true, notification.args[1], static_cast<uint32_t>(notification.args[2])};
    default:
      return {};
  }
}

}  // namespace

SettledOpens::Epoch SettledOpens::epoch(uint64_t changes, uint32_t execs) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return {changes, execs, now.tv_sec};
}

SettledOpens::Slot& SettledOpens::slot_of(std::string_view path, pid_t tid, uint32_t flags) {
  const size_t hash = std::hash<std::string_view>()(path) ^ static_cast<size_t>(tid) * 31 ^ flags;
  return slots_[hash % slots_.size()];
}

void SettledOpens::keep(const Notification& notification, SettledOpen open, const Epoch& epoch) {
  const Arguments arguments = arguments_of(notification);
  if (!arguments.is_open || open.path.size() >= text_.size()) return;
  Slot& slot = slot_of(open.path, notification.tid, arguments.flags);
  slot = {notification.tid, notification.number, arguments.flags, epoch, std::move(open)};
}

bool SettledOpens::repeats(const Notification& notification, const Epoch& epoch) {
  const Arguments arguments = arguments_of(notification);
  if (!arguments.is_open) return false;
  Caller& caller = caller_of(notification.tid, epoch.execs);
  if (caller.credit < 0 && ++caller.credit < 0) return false;
  const std::string_view path = read_path(caller, arguments.path);
  const Slot& slot = slot_of(path, notification.tid, arguments.flags);
  if (path.empty() || slot.tid != notification.tid || slot.number != notification.number ||
      slot.flags != arguments.flags || !(slot.epoch == epoch) || slot.open.path != path) {
    if (--caller.credit < 0) caller.credit = -kNotLookedAt;
    return false;
  }
  caller.credit = std::min(caller.credit + 1, kMostCredit);
  for (std::atomic<uint64_t>* const counter : slot.open.counters)
    if (counter != nullptr) counter->fetch_add(1, std::memory_order_relaxed);
  return true;
}

SettledOpens::Caller& SettledOpens::caller_of(pid_t tid, uint32_t execs) {
  Caller& caller = callers_[static_cast<size_t>(tid) % callers_.size()];
  if (caller.tid != tid || caller.execs != execs) caller = {tid, execs, -kNotLookedAtFirst, Fd()};
  return caller;
}

// /proc/TID/mem costs less than process_vm_readv once it is open. It reads what is mapped without
// PROT_READ too, which does not matter for what the kernel reads again. The file stays with the
// memory that the thread had when it was opened, so not beyond an exec.
std::string_view SettledOpens::read_path(Caller& caller, uint64_t address) {
  if (!caller.memory) {
    char name[32];
    std::snprintf(name, sizeof name, "/proc/%d/mem", caller.tid);
    caller.memory.reset(::open(name, O_RDONLY | O_CLOEXEC));
    if (!caller.memory) return {};
  }
  const size_t size = std::min<size_t>(text_.size(), kPage - address % kPage);
  const ssize_t got = ::pread(caller.memory.get(), text_.data(), size, static_cast<off_t>(address));
  if (got <= 0) return {};
  const void* const end = std::memchr(text_.data(), 0, static_cast<size_t>(got));
  if (end == nullptr) return {};
  return {text_.data(), static_cast<size_t>(static_cast<const char*>(end) - text_.data())};
}

}  // namespace bulkhead
