// Workers: threads for whatever may take its time, shared by all that one loop serves.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace bulkhead {

// Gives this thread an umask and a working folder of its own, which needs no privilege: without it
// those of one call would leak into another's, and into the host.
[[nodiscard]] bool own_thread_settings();

class Workers {
 public:
  using Job = std::function<void()>;
  // Jobs that wait for somebody (a person, a FIFO's other end, a connection) hold a thread of some
  // 25 KB and descriptors: so many at the most, and only what RLIMIT_NOFILE leaves enough for
  // beside all else that is opened. Without any descriptor nobody would see what programs use.
  static constexpr size_t kMostWaiting = 4096;
  static size_t most_waiting(uint64_t descriptors) noexcept;
  // Who has fewer than this may have one more, whatever others hold and whatever descriptors there
  // are: what then fails for want of one is a call, and not the compartment.
  static constexpr size_t kAssured = 16;

  // Each thread has an umask and a working folder of its own, and handles interrupt_signal() alone.
  // Each job begins with the umask that the process had when the thread was made.
  static Result<std::unique_ptr<Workers>> make();
  ~Workers();  // no job is under way, none waits
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // One thread makes all others: these have its credentials and its Landlock domain, and not those
  // of whoever has something to be done, who may be serving a caller with that one's. It is who
  // called make(), and from here on who calls this; `wake` has it call make_more() soon.
  void become_maker(std::function<void()> wake);
  // The maker: threads for the jobs that wait for one, if they can be had.
  void make_more();
  bool is_short() const;  // some wait still

  // Has `job` done at once by a thread that does nothing else meanwhile. False where there is none,
  // and none can be made: by the maker, only where the system gives no more.
  [[nodiscard]] bool run(Job job);
  // The same, but where there is none it waits for one. Never 0.
  using Ticket = uint64_t;
  Ticket submit(Job job);
  // False: it has begun.
  [[nodiscard]] bool cancel(Ticket ticket);

  // Who has jobs that wait joins. Among several each leaves to the others as much as it has, so
  // that none of them takes all.
  void join_waiting();
  void leave_waiting();
  // May who has `mine` of these have another? Then give_back_waiting() follows.
  [[nodiscard]] bool take_waiting(size_t mine);
  void give_back_waiting();
  // May who has `mine` have another in the place of one that has ended?
  bool may_keep_waiting(size_t mine);

 private:
  struct Waiting {
    Ticket ticket;
    Job job;
  };
  Workers() = default;
  bool has_share(size_t mine, size_t all) const;
  bool start_thread(Job& job);
  void work(Job job);
  void end(std::list<std::thread>::iterator self);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::thread::id maker_ = std::this_thread::get_id();
  std::function<void()> wake_maker_;
  std::deque<Waiting> queue_;  // for threads that are idle, and behind those for ones to be made
  Ticket next_ = 1;
  size_t idle_ = 0;
  bool ending_ = false;
  std::list<std::thread> threads_;
  std::list<std::thread> ended_;  // to be joined
  size_t sharers_ = 0, waiting_ = 0;
};

}  // namespace bulkhead
