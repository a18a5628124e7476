#include "sandbox/kernel/pending_signal.h"

#include <charconv>
#include <string>
#include <utility>

#include "base/fd.h"
#include "sandbox/kernel/process_stat.h"

namespace bulkhead {

namespace {

constexpr size_t kLongest = 1 << 20;  // of a thread in 65,536 groups

uint64_t number_of(std::string_view status, std::string_view name, int base) {
  uint64_t value = 0;
  const size_t at = status.find(name);
  if (at == std::string_view::npos) return value;
  const char* const begin = status.data() + at + name.size();
  (void)std::from_chars(begin, status.data() + status.size(), value, base);
  return value;
}

}  // namespace

// What is ignored is not kept, so all that waits and is not blocked does something: a handler's, a
// stop, an end.
PendingSignal pending_signal_in(std::string_view status) {
  const uint64_t taken = ~number_of(status, "\nSigBlk:\t", 16);
  if ((number_of(status, "\nSigPnd:\t", 16) & taken) != 0) return PendingSignal::kOwn;
  if ((number_of(status, "\nShdPnd:\t", 16) & taken) == 0) return PendingSignal::kNone;
  return number_of(status, "\nThreads:\t", 10) == 1 ? PendingSignal::kOwn : PendingSignal::kShared;
}

PendingSignal pending_signal(pid_t thread) {
  const auto status = read_file(folder_of(thread) + "/status", kLongest);
  return status.ok() ? pending_signal_in(*status) : PendingSignal::kNone;
}

PendingSignal SignalWatch::look(pid_t thread) {
  const PendingSignal now = pending_signal(thread);
  const bool shared = now == PendingSignal::kShared;
  const bool again = std::exchange(shared_before_, shared);
  return shared && !again ? PendingSignal::kNone : now;
}

}  // namespace bulkhead
