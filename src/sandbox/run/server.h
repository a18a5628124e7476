// Server: receives notifications and has each one served by its handler. While calls come it has
// one of the workers, so that each compartment is served beside the others; when none has come for
// a while it gives that back, and costs no thread.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "sandbox/caller/pool.h"
#include "sandbox/caller/settled_opens.h"
#include "sandbox/calls/call.h"
#include "sandbox/threads/loop.h"

namespace bulkhead {

class Server final : private Task {
 public:
  static constexpr std::chrono::milliseconds kTick{100};

  // `watcher` has a turn when serving has ended by itself, and kTick after it has begun: it calls
  // tick() from then on while busy(). 0: nobody does.
  Server(Service& service, Loop& loop, Loop::Key watcher = 0);
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // `first` is a call that was received already (prepared.h): it is served before all others.
  Status start(std::optional<Notification> first = {});
  // No call is served any more. Their callers must be dead or dying: what is under way is answered
  // or dropped.
  void stop();

  // All callers are dead, or failure() says why nobody is served any more.
  bool ended() const { return ended_.load(); }
  std::string failure() const;
  // Something is served, or waits: tick() is wanted.
  bool busy() const;
  // Interrupts calls that wait for a caller that is gone, forgets the dead, and gives back the
  // thread that has had nothing to do since the last one.
  void tick();
  uint64_t notifications() const { return notifications_.load(std::memory_order_relaxed); }

 private:
  enum class Calls : uint8_t { kNone, kSome, kNoMore };  // kNoMore: all callers are dead

  Clock::time_point turn(bool briefly) override;
  Calls look() const;
  void serve_calls(bool briefly);
  bool serve_next();
  Status wait_for_calls();
  void rest();
  void fail(const std::string& why);
  void serve(const Notification& notification, bool may_block);
  SettledOpens::Epoch epoch() const;
  bool repeats_settled_open(const Notification& notification);
  // Counts as written by the compartment what this thread has made the kernel write since `before`:
  // an overlay copies a whole file before it is changed. Where the kernel makes the change it
  // counts that for the program; where we do, for us. In a chroot nobody tells what is on an
  // overlay.
  void note_copied_up(uint64_t before);

  Service& service_;
  Loop& loop_;
  const Loop::Key watcher_;
  Loop::Key key_ = 0;
  std::unique_ptr<SettledOpens> settled_;  // while calls come
  Pool pool_;
  std::optional<Notification> first_;
  std::atomic<bool> stopping_ = false, ended_ = false;
  std::atomic<bool> receiving_ = false, rests_ = false;
  std::atomic<uint64_t> notifications_ = 0;
  // Of who calls tick():
  Clock::time_point looked_ = {};
  uint64_t seen_ = 0;  // notifications, then
  mutable std::mutex mutex_;
  std::condition_variable served_;
  std::optional<pthread_t> thread_;  // that serves
  std::string failure_;
};

}  // namespace bulkhead
