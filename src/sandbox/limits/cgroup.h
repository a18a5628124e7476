// Control groups, version 1 and 2, as far as limits need them: finding a folder in which we may
// make one, making it, and removing it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bulkhead {

struct CgroupMount {
  int version = 2;
  std::string point;                     // where it is mounted
  std::string root;                      // which of its folders is mounted there
  std::vector<std::string> controllers;  // version 1 only
};

// Pure: /proc/self/mountinfo and /proc/self/cgroup. The key of the second is a controller of
// version 1, or "" for version 2.
std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);
std::map<std::string, std::string> parse_own_cgroups(std::string_view text);

// Where our own cgroup of version 2 stands below its mount; empty where it is outside of that.
std::string own_cgroup_folder(std::string_view mountinfo, std::string_view own);

// A folder in which cgroups with some controller can be made, and processes moved to them.
struct CgroupParent {
  int version = 2;
  std::string path;
};

// Where this process may make a cgroup with `controller` ("memory", "cpu", "cpuacct"; in version 2
// "cpuacct" needs no controller). Version 1: our own cgroup, so that no limit that holds for us is
// left. Version 2: the nearest ancestor that has the controller switched on for its children, as a
// cgroup with processes cannot do that for its own. An error says why there is none.
Result<CgroupParent> find_cgroup_parent(const std::string& controller);
// The same over given texts; `prefix` stands before every path (tests use a made-up tree).
Result<CgroupParent> find_cgroup_parent(const std::string& controller, std::string_view mountinfo,
                                        std::string_view own, const std::string& prefix);

// One cgroup that we made. Removed with the object.
class Cgroup {
 public:
  // Removes what dead supervisors left in the same folder first.
  static Result<Cgroup> make(const CgroupParent& parent);
  Cgroup(Cgroup&& other) noexcept : version_(other.version_), path_(std::move(other.path_)) {
    other.path_.clear();
  }
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();

  int version() const { return version_; }
  const std::string& path() const { return path_; }
  Status write(const char* file, const std::string& value) const;
  Result<std::string> read(const char* file) const;
  bool has(const char* file) const;
  Status add(pid_t pid) const;

 private:
  Cgroup(int version, std::string path) : version_(version), path_(std::move(path)) {}
  int version_;
  std::string path_;
};

// "bulkhead-PIDNS-PID-START": tells whether the supervisor that made a cgroup still lives.
std::string cgroup_name_of(pid_t supervisor);
// False for names that are not ours, or of another pid namespace: those are nobody's to judge.
bool is_left_behind(std::string_view cgroup_name);

}  // namespace bulkhead
