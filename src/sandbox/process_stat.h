// The line that /proc/PID/stat and /proc/PID/task/TID/stat hold (proc_pid_stat(5)).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

struct ProcessStat {
  char state = '\0';  // 'R' running or ready to run, 'S' asleep, 'D' beyond signals, 'T' stopped, …
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  // Clock ticks, sysconf(_SC_CLK_TCK) a second.
  uint64_t own_ticks = 0;       // user and system
  uint64_t children_ticks = 0;  // of children that were waited for
  uint64_t start_ticks = 0;     // since boot; tells a reused number
};

// nullopt on what the kernel would not write.
std::optional<ProcessStat> parse_stat(std::string_view text);

// Of a process or a thread, by its folder in /proc; nullopt for one that has gone.
std::optional<ProcessStat> stat_of(const std::string& folder);

// The numbers that a folder of /proc has entries for, by its name below another's descriptor;
// nullopt where it cannot be listed.
std::optional<std::vector<pid_t>> numbers_in(int proc, const char* name);
// By its path; none where it has gone.
std::vector<pid_t> numbers_in(const std::string& folder);

}  // namespace bulkhead
