// RenameLock: names change one at a time, so that what was judged of a name still holds when it
// changes; and not where somebody outside, who acts for the compartment, is about to follow them.
//
// What this does not stop: changes from outside, other compartments among them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace bulkhead {

class RenameLock {
 public:
  // What somebody outside does with a name, and so what must not become of it.
  enum class Use : uint8_t {
    kOpen,  // follows it: no link or folder comes or goes there or above it
    kMove,  // moves or copies the tree: nor is a link made in it, nor anything moved into it
  };
  // What is about to come or go.
  enum class Change : uint8_t { kFile, kLinkOrFolder };

  // Not owning where somebody changes a name right now and the caller may not wait. Never held
  // while a person is asked.
  std::unique_lock<std::mutex> take(bool may_wait);
  // With the lock: whether this change of a name would meet a use of it.
  bool in_use(std::string_view path, Change change) const;
  // Waits, without the lock, until some use has ended; for a second at most, and then says false.
  bool wait(std::unique_lock<std::mutex>& lock);

  // From its return until end(), the name (canonical as far as folders go) is in use. Several may
  // be for one `number`. False where too many are, and then it is not.
  [[nodiscard]] bool begin(uint32_t number, std::string path, Use use);
  void end(uint32_t number);

 private:
  struct InUse {
    std::string path;
    Use use;
  };
  std::mutex mutex_;
  std::condition_variable ended_;
  std::multimap<uint32_t, InUse> used_;
};

}  // namespace bulkhead
