#include "sandbox/limits/limit_cgroups.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "sandbox/limits/usage.h"

namespace bulkhead {
namespace {

// "oom_kill 3", one space: not the "Name:" form of /proc.
bool read_word(std::string_view text, std::string_view name, uint64_t* value) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() <= name.size() || !line.starts_with(name) || line[name.size()] != ' ') continue;
    return parse_field(fmt::format("{}:{}", name, line.substr(name.size())), name, value);
  }
  return false;
}

}  // namespace

// The cgroup that has the controller; one for each hierarchy. In version 2 there is one hierarchy
// and a process is in one cgroup of it: what the first one lacks cannot be had.
Result<size_t> LimitCgroups::with(const std::string& controller) {
  BULKHEAD_TRY(const CgroupParent parent, find_cgroup_parent(controller));
  for (size_t i = 0; i < cgroups_.size(); ++i) {
    if (parents_[i].path == parent.path) return i;
    if (parents_[i].version != 2 || parent.version != 2) continue;
    if (controller == "cpuacct") return i;
    return Error{fmt::format("the cgroup {} has no {} controller", parents_[i].path, controller)};
  }
  BULKHEAD_TRY(Cgroup cgroup, Cgroup::make(parent));
  cgroups_.push_back(std::move(cgroup));
  parents_.push_back(parent);
  return cgroups_.size() - 1;
}

Status LimitCgroups::limit_memory(uint64_t bytes) {
  BULKHEAD_TRY(memory_, with("memory"));
  const Cgroup& cgroup = of_memory();
  const bool first = cgroup.version() == 1;
  leaves_swap_ = !cgroup.has(first ? "memory.memsw.limit_in_bytes" : "memory.swap.max");
  // The kernel then kills all of it, not the process that looks worst.
  if (!first && cgroup.has("memory.oom.group"))
    BULKHEAD_CHECK(cgroup.write("memory.oom.group", "1"));
  return change_memory(bytes, false);
}

Status LimitCgroups::change_memory(uint64_t limit, bool raises) const {
  const Cgroup& cgroup = of_memory();
  const std::string bytes = fmt::format("{}", limit);
  if (cgroup.version() == 1) {
    // With swap it is never less than without.
    if (!leaves_swap_ && raises) BULKHEAD_CHECK(cgroup.write("memory.memsw.limit_in_bytes", bytes));
    BULKHEAD_CHECK(cgroup.write("memory.limit_in_bytes", bytes));
    return leaves_swap_ ? Status() : cgroup.write("memory.memsw.limit_in_bytes", bytes);
  }
  BULKHEAD_CHECK(cgroup.write("memory.max", bytes));
  return leaves_swap_ ? Status() : cgroup.write("memory.swap.max", "0");
}

Status LimitCgroups::limit_cpu(double cores) {
  BULKHEAD_TRY(cpu_, with("cpu"));
  return change_cpu(cores);
}

Status LimitCgroups::change_cpu(double cores) const {
  // The kernel's least quota is 1 ms, of a period of at most 1 s (sched-bwc.rst).
  const int64_t period = cores < 0.02 ? 1'000'000 : 100'000;
  const auto quota =
      std::max(int64_t{1000}, static_cast<int64_t>(cores * static_cast<double>(period)));
  const Cgroup& cgroup = cgroups_[cpu_];
  if (cgroup.version() == 2) return cgroup.write("cpu.max", fmt::format("{} {}", quota, period));
  BULKHEAD_CHECK(cgroup.write("cpu.cfs_period_us", fmt::format("{}", period)));
  return cgroup.write("cpu.cfs_quota_us", fmt::format("{}", quota));
}

Status LimitCgroups::count_cpu_time() {
  BULKHEAD_TRY(cpu_time_, with("cpuacct"));
  return {};
}

Status LimitCgroups::add(pid_t pid) const {
  for (const Cgroup& cgroup : cgroups_) BULKHEAD_CHECK(cgroup.add(pid));
  return {};
}

std::optional<LimitCgroups::Memory> LimitCgroups::memory() const {
  const Cgroup& cgroup = of_memory();
  const bool first = cgroup.version() == 1;
  const Result<std::string> events = cgroup.read(first ? "memory.oom_control" : "memory.events");
  Memory memory;
  if (!events.ok() || !read_word(*events, "oom_kill", &memory.kills)) return std::nullopt;
  const Result<std::string> peak = cgroup.read(first ? "memory.max_usage_in_bytes" : "memory.peak");
  if (peak.ok()) (void)read_word("peak " + *peak, "peak", &memory.peak);
  return memory;
}

std::optional<std::chrono::microseconds> LimitCgroups::cpu_time() const {
  const Cgroup& cgroup = cgroups_[cpu_time_];
  const bool first = cgroup.version() == 1;
  const Result<std::string> text = cgroup.read(first ? "cpuacct.usage" : "cpu.stat");
  uint64_t value = 0;
  if (!text.ok() || !(first ? read_word("usage " + *text, "usage", &value)
                            : read_word(*text, "usage_usec", &value)))
    return std::nullopt;
  return std::chrono::microseconds(static_cast<int64_t>(first ? value / 1000 : value));
}

}  // namespace bulkhead
