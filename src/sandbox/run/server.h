// Server: the thread that receives notifications and has each one served by its handler.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/caller/pool.h"
#include "sandbox/caller/settled_opens.h"
#include "sandbox/calls/call.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {

class Server {
 public:
  explicit Server(Service& service);
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // All signals but kInterruptSignal are blocked in its threads; a handler for
  // that one must be set.
  // `first` is a call that was received already (prepared.h): it is served before all others.
  Status start(std::optional<Notification> first = {});
  // Ends all threads. Their callers must be dead or dying: what is under way is
  // answered or dropped.
  void stop();

  // Readable once the thread has ended by itself: all callers are dead, or failure() says why.
  int ended_fd() const { return ended_.get(); }
  std::string failure() const;
  // Interrupts calls that wait for a caller that is gone, and forgets the dead. About every 100 ms.
  void tick() {
    pool_.tick();
    service_.processes.forget_dead();
  }
  bool idle() const { return pool_.idle(); }
  uint64_t notifications() const { return notifications_.load(std::memory_order_relaxed); }

 private:
  void loop(const std::optional<Notification>& first);
  void serve(const Notification& notification, bool may_block);
  SettledOpens::Epoch epoch() const;
  bool repeats_settled_open(const Notification& notification);
  // Counts as written by the compartment what this thread has made the kernel write since `before`:
  // an overlay copies a whole file before it is changed. Where the kernel makes the change it
  // counts that for the program; where we do, for us. In a chroot nobody tells what is on an
  // overlay.
  void note_copied_up(uint64_t before);

  Service& service_;
  SettledOpens settled_;
  Pool pool_;
  Fd ended_;
  std::thread thread_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> finished_ = false;
  std::atomic<uint64_t> notifications_ = 0;
  mutable std::mutex mutex_;
  std::string failure_;
};

}  // namespace bulkhead
