#include "sandbox/limits/address_spaces.h"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/kernel/process_stat.h"

namespace bulkhead {
namespace {

constexpr long kSame = 0, kLess = 1, kGreater = 2;

long compare(pid_t one, pid_t other) { return ::syscall(SYS_kcmp, one, other, KCMP_VM, 0UL, 0UL); }

}  // namespace

bool AddressSpaces::is_new(pid_t pid) {
  // A first thread that has ended has none, and looks the same as all such.
  const auto stat = stat_of(folder_of(pid));
  if (!stat || stat->state == 'Z' || compare(pid, pid) != kSame) return true;
  auto low = seen_.begin();
  for (auto high = seen_.end(); low != high;) {
    const auto middle = low + (high - low) / 2;
    const long order = compare(pid, *middle);
    if (order == kSame) return false;
    if (order == kLess)
      high = middle;
    else if (order == kGreater)
      low = middle + 1;
    else
      return true;  // one of both has gone
  }
  seen_.insert(low, pid);
  return true;
}

ProcReader::Proportional proportional_of(const ProcReader& proc, const std::vector<pid_t>& pids) {
  ProcReader::Proportional sum;
  AddressSpaces spaces;
  const std::map<pid_t, pid_t> outside = proc.outside(pids);
  for (const pid_t pid : pids) {
    ProcReader::Proportional memory;
    const auto its = outside.find(pid);
    // Between vfork and exec all of it would be told of both.
    if (its != outside.end() && !spaces.is_new(its->second)) continue;
    if (!proc.proportional(pid, &memory)) continue;
    sum.other += memory.other;
    sum.shared_files += memory.shared_files;
  }
  return sum;
}

}  // namespace bulkhead
