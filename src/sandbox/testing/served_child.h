// For tests: code of the test's own runs in a forked child whose calls are served by a real Server,
// without namespaces and Landlock. What the child returns is compared with what it did.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/plan/plan.h"

namespace bulkhead::testing {

// A throwaway folder; removed with everything in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Makes a file (and the folders above it).
  std::string file(const std::string& name, const std::string& content, unsigned mode = 0644) const;
  std::string folder(const std::string& name) const;

 private:
  std::string path_;
};

struct Grants {
  std::vector<std::string> read = {}, write = {}, block = {}, run = {};
  std::vector<std::string> block_write = {};
  std::vector<std::string> opened = {}, moved = {};  // by somebody outside, all the time
  bool audit = false;
  std::vector<WholeTree> kernel_decides = {};  // answered CONTINUE there
  // The child gets a network namespace of its own, with lo up, and these connections out of it.
  bool own_network = false;
  std::vector<std::string> connect = {};
  // Sockets (their inodes), and the paths that they were bound to.
  std::vector<std::pair<ino_t, std::string>> bound = {};
  // A person, who is asked of what is neither granted nor blocked, while the call waits: yes or no.
  std::function<bool(const std::string& resource)> ask = nullptr;
};

// Runs `code` in the child and returns what it returned ("died: 9" if it was killed by a signal).
// What was refused goes to *denied as "kind path" lines, where wanted.
std::string serve(const Grants& grants, const std::function<std::string()>& code,
                  std::vector<std::string>* denied = nullptr);

// What the handler of call `number` answers where its caller died just after the call was received:
// the name of errno, "went on", "later" or "done". `args` are of this very process.
std::string serve_gone(const Grants& grants, int number, const std::array<uint64_t, 6>& args);

// "ok" or the name of errno: what a test compares.
std::string outcome_of(long result);
// The file's content, or the name of errno.
std::string read_all(const std::string& path);

}  // namespace bulkhead::testing
