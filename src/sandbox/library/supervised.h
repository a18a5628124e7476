// Supervised: one compartment, and what all of a host's compartments have together.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "policy/judge.h"
#include "sandbox/launch/parent.h"
#include "sandbox/plan/plan.h"
#include "sandbox/run/supervisor.h"
#include "sandbox/threads/loop.h"

namespace bulkhead {

// There for as long as a compartment is: two threads, however many there are, and those that are
// busy.
class SharedThreads {
 public:
  // Those of this process; of a process that was forked they are not.
  static Result<std::shared_ptr<SharedThreads>> get();

  Loop& loop() { return *loop_; }
  Parent& parent() { return *parent_; }

 private:
  SharedThreads() = default;
  static Result<std::shared_ptr<SharedThreads>> make();

  const pid_t process_ = ::getpid();
  std::unique_ptr<Parent> parent_;
  std::unique_ptr<Loop> loop_;
};

class Supervised {
 public:
  // Returns when the program waits to begin. `given` are the descriptors that the plan names.
  static Result<std::unique_ptr<Supervised>> prepare(Plan plan, std::shared_ptr<Judge> judge,
                                                     std::string name_server,
                                                     std::vector<Fd> given);
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  Status give(int number, int fd) { return supervisor_->give(number, fd); }
  Status begin() { return supervisor_->begin(); }
  pid_t program() const { return supervisor_->program(); }
  const RunReport* wait(std::optional<std::chrono::steady_clock::time_point> deadline) {
    return supervisor_->wait(deadline);
  }
  int ended_fd() const { return ended_fd_.get(); }  // readable once it has ended
  void end() noexcept { supervisor_->end(); }
  Status signal(int number);
  Requests& requests() { return supervisor_->requests(); }

 private:
  Supervised(Plan plan, std::shared_ptr<Judge> judge)
      : plan_(std::move(plan)), judge_(std::move(judge)) {}
  Status launch(std::string name_server);

  std::shared_ptr<SharedThreads> threads_;
  const Plan plan_;
  const std::shared_ptr<Judge> judge_;
  Fd ended_fd_, program_fd_;
  std::unique_ptr<Supervisor> supervisor_;  // last: it uses all else
};

}  // namespace bulkhead
