// The line that /proc/PID/stat and /proc/PID/task/TID/stat hold (proc_pid_stat(5)).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
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
  pid_t foreground = -1;  // the group that has its controlling terminal; -1 where it has none
  // Clock ticks, sysconf(_SC_CLK_TCK) a second.
  uint64_t own_ticks = 0;       // user and system
  uint64_t children_ticks = 0;  // of children that were waited for
  uint64_t start_ticks = 0;     // since boot; tells a reused number
};

// nullopt on what the kernel would not write.
std::optional<ProcessStat> parse_stat(std::string_view text);

// "/proc/PID".
std::string folder_of(pid_t pid);

// Of a process or a thread, by its folder in /proc; nullopt for one that has gone.
std::optional<ProcessStat> stat_of(const std::string& folder);

// The numbers that a folder of /proc has entries for, by its name below another's descriptor;
// nullopt, with errno, where it cannot be listed.
std::optional<std::vector<pid_t>> numbers_in(int proc, const char* name);
// By its path; none where it has gone.
std::vector<pid_t> numbers_in(const std::string& folder);

// True where nobody is there, such as a shell, that sees the group stop and can continue it: what a
// terminal stops others by (Ctrl-Z, SIGTTIN, SIGTTOU) stops no such group (credentials(7)).
bool is_orphaned(pid_t group);

// Whether one of these sets of a process or thread ("SigPnd", "SigBlk", …: see proc_pid_status(5))
// has the signal.
bool has_signal(const std::string& folder, std::initializer_list<std::string_view> sets,
                int signal);

}  // namespace bulkhead
