// What the hosts of these tests share.
#pragma once

#include <bulkhead/compartment.h>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

namespace host {

#if defined(__SANITIZE_THREAD__)
constexpr bool kWatched = true;
#else
constexpr bool kWatched = false;
#endif

inline int log_fd = STDERR_FILENO;  // 0 to 2 may be closed

inline void say(const std::string& text) {
  const std::string line = text + "\n";
  (void)!::write(log_fd, line.data(), line.size());
}

[[noreturn]] inline void fail(const std::string& text) {
  say("FAILED: " + text);
  std::_Exit(1);
}

inline void expect(bool holds, const std::string& what) {
  if (!holds) fail(what);
}

template <typename T>
T must(bulkhead::Result<T> result, const std::string& what) {
  if (!result.ok()) fail(what + ": " + result.error().message);
  return std::move(*result);
}

// A shell with what Debian's tools read, and nothing else.
inline bulkhead::Policy shell_policy(const std::string& more = "") {
  return must(
      bulkhead::Policy::parse(R"({"manifest": 1, "files": {"read": ["@system"], "write": []},
                                          "run": ["/usr/bin", "/bin"])" +
                              more + "}"),
      "a policy");
}

inline bulkhead::Options shell(const std::string& script) {
  bulkhead::Options options;
  options.command = {"/bin/sh", "-c", script};
  options.environment = {"PATH=/usr/bin:/bin"};
  return options;
}

// What can be read of a file: nothing of a process that has ended meanwhile (a read of /proc then
// fails with ESRCH, which a stream buffer would throw).
inline std::string read_file(const std::string& path) {
  std::string text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char part[4096];
  for (ssize_t size = 0; (size = ::read(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(size));
  ::close(file);
  return text;
}

// Names in a folder of /proc/self: descriptors, threads.
inline std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  DIR* const dir = ::opendir(folder.c_str());
  if (dir == nullptr) return names;
  const std::string own = std::to_string(::dirfd(dir));
  while (const dirent* entry = ::readdir(dir))
    if (entry->d_name[0] != '.' && entry->d_name != own) names.insert(entry->d_name);
  ::closedir(dir);
  return names;
}

// The threads, once they are no more than so many, or have not become so for five seconds: who
// joins another is told before the kernel takes that one off this list.
inline std::set<std::string> threads_down_to(size_t count) {
  std::set<std::string> threads = names_in("/proc/self/task");
  for (int i = 0; i < 5000 && threads.size() > count; ++i) {
    ::usleep(1000);
    threads = names_in("/proc/self/task");
  }
  return threads;
}

// Threads of the program that none of this has made: its own, and a sanitizer's, which begins with
// the first that the program makes.
inline const size_t first_threads = [] {
  if (kWatched) std::thread([] {}).join();
  return threads_down_to(kWatched ? 2 : 1).size();
}();

// Processes whose parent this one is.
inline size_t children() {
  size_t count = 0;
  for (const std::string& thread : names_in("/proc/self/task")) {
    const std::string text = read_file("/proc/self/task/" + thread + "/children");
    count += static_cast<size_t>(std::count(text.begin(), text.end(), ' '));
  }
  return count;
}

}  // namespace host
