#include "vscode/usage_meter.h"

#include <unistd.h>

#include "vscode/listening.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kPortsAfter = 4;  // measurements

}  // namespace

void UsageMeter::start(int proc) {
  const std::lock_guard guard(mutex_);
  reader_.emplace(Fd(::dup(proc)));
  proc_ = Fd(::dup(proc));
}

void UsageMeter::stop() {
  const std::lock_guard guard(mutex_);
  reader_.reset();
  proc_.reset();
}

Json UsageMeter::measure() {
  const std::lock_guard guard(mutex_);
  if (!reader_) return nullptr;
  const auto processes = reader_->processes();
  if (!processes.ok()) return nullptr;
  uint64_t memory = 0, count = 0;
  std::map<uint64_t, Inheritance::Sample> living;
  std::map<uint64_t, Memory> known;
  for (const pid_t pid : *processes) {
    if (pid == 1) continue;  // init is ours
    const auto stat = reader_->stat(pid);
    if (!stat) continue;
    ++count;
    const uint64_t process = (static_cast<uint64_t>(pid) << 40U) ^ stat->start_ticks;
    living[process] = {stat->own_ticks + stat->children_ticks, stat->children_ticks};
    memory += (known[process] = memory_of(pid, process)).share;
  }
  memory_.swap(known);
  // The kernel looks through all of the machine's connections for it.
  if (measured_++ % kPortsAfter == 0) ports_ = chosen_ports(proc_.get(), 1);
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return Json{{"cpu", static_cast<double>(cpu_.update(living)) / ticks},
              {"memory", memory},
              {"processes", count},
              {"listens", ports_}};
}

// What a process shares with others takes the kernel milliseconds to tell, every two seconds: it is
// asked again when the process grew or shrank, or some time has passed.
UsageMeter::Memory UsageMeter::memory_of(pid_t pid, uint64_t process) {
  constexpr uint64_t kChange = 1U << 20U;
  constexpr auto kFresh = std::chrono::seconds(30);
  Memory now{0, 0, Clock::now()};
  ProcReader::Resident memory;
  const bool told = reader_->resident(pid, &memory);
  now.resident = memory.pages;
  if (const auto before = memory_.find(process); before != memory_.end() && told) {
    const uint64_t was = before->second.resident;
    const uint64_t change = now.resident > was ? now.resident - was : was - now.resident;
    if (change < kChange && now.read - before->second.read < kFresh) return before->second;
  }
  ProcReader::Proportional shares;
  if (reader_->proportional(pid, &shares)) now.share = shares.other + shares.shared_files;
  return now;
}

}  // namespace bulkhead
