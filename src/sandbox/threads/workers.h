// Workers: threads for whatever may take its time, shared by all that one loop serves.
//
// Whoever floods them costs another no more than a turn: owners get threads one after the other, a
// job each, and where the system gives no more threads, kKept of those there are stay for owners
// that have no job under way.
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
  // An owner that has fewer than this may have one more, whatever others hold and whatever
  // descriptors there are: what then fails for want of one is a call, and not the compartment.
  static constexpr size_t kAssured = 16;
  // Of several owners; while any of them has a job under way.
  static constexpr size_t kKept = 2;

  // Each thread has an umask and a working folder of its own, and handles interrupt_signal() alone.
  // Each job begins with the umask that the process had when the thread was made.
  static Result<std::unique_ptr<Workers>> make();
  ~Workers();  // no job is under way, none waits, no owner is left
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // One thread makes all others: these have its credentials and its Landlock domain, and not those
  // of whoever has something to be done, who may be serving a caller with that one's. It is who
  // called make(), and from here on who calls this; `wake` has it call make_more() soon.
  void become_maker(std::function<void()> wake);
  // The maker: threads for the jobs that wait for one, if they can be had.
  void make_more();
  // Some wait still, or none is kept: nobody tells when there are threads again.
  bool is_short();

  // Has `job` done at once by a thread that does nothing else meanwhile. False where there is none,
  // and none can be made: by the maker, only where the system gives no more.
  [[nodiscard]] bool run(Job job);

  // Whose jobs wait: a compartment. Among several each leaves to the others as many threads as it
  // has, so that none of them takes all.
  class Owner {
   public:
    // `job` is done once for each submit(), by several threads at a time. Who does not share has
    // jobs that wait for nobody, and takes nothing from the others.
    Owner(Workers& workers, Job job, bool shares = true);
    ~Owner();  // drops what has not begun, and waits for what has
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

    // Never blocks: the job begins when this owner's turn comes.
    void submit();
    void drop();  // what has not begun

   private:
    friend class Workers;
    Workers& workers_;
    const Job job_;
    const bool shares_;
    size_t queued_ = 0, under_way_ = 0;
  };

 private:
  Workers() = default;
  // All of these with the lock:
  size_t kept() const;
  bool has_share(size_t mine, size_t all) const;
  Owner* next() const;
  Job take();
  void rouse();
  size_t promised(size_t enough) const;
  bool lacks() const { return promised(idle_ + 1) > idle_; }
  void start_threads();
  bool start_thread();

  void work();
  void finish(Owner& owner);
  void end(std::list<std::thread>::iterator self);

  mutable std::mutex mutex_;
  std::condition_variable wake_, finished_;
  std::thread::id maker_ = std::this_thread::get_id();
  std::function<void()> wake_maker_;
  bool refused_ = false;               // the last thread that was wanted could not be made
  std::deque<Job> turns_;              // for each a thread is idle
  std::deque<Owner*> lined_up_;        // who has jobs that have not begun, in turn
  size_t most_ = kAssured;             // that may wait
  size_t owners_ = 0, under_way_ = 0;  // of those that share
  size_t idle_ = 0;
  bool ending_ = false;
  std::list<std::thread> threads_;
  std::list<std::thread> ended_;  // to be joined
};

}  // namespace bulkhead
