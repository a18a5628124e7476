// Joined: one program of this process's: its policy, who judges by it, where that is recorded, and
// its compartment. What `run`, `host` and `isolate` have in common from the plan to the end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "policy/policy.h"
#include "sandbox/run/supervisor.h"
#include "session/planned.h"
#include "trace/arbiter.h"
#include "trace/journal.h"

namespace bulkhead {

struct JoinOptions {
  std::unique_ptr<Journal> journal;  // null: nothing is recorded
  Asker* asker = nullptr;            // outlives the object; null: what would be asked is denied
  // Whose answers are remembered, under which manifest, in which file (GrantStore).
  std::string subject, digest, grants;
  // Whose answers about ports are: the workspace. Empty: the subject.
  std::string folder = {};
  std::function<void(const Extra&)> remembered = {};        // and then
  std::function<void(const std::string&)> on_warning = {};  // Arbiter::on_warning()
};

class Joined {
 public:
  Joined(Planned planned, JoinOptions options);

  Plan& plan() { return planned_.plan; }
  Arbiter& arbiter() { return *arbiter_; }
  Journal* journal() { return journal_.get(); }

  // Blocks until the compartment has ended. This process is there for it alone: it takes the
  // descriptors that it may have, gives back memory, and goes to a cgroup where its limits want
  // one (own_process.h).
  Result<RunReport> supervise(SupervisorOptions options);
  // Notes how it ended.
  Status finish(const std::string& outcome) {
    return journal_ ? journal_->finish(outcome) : Status();
  }
  // Where it was there for this run alone.
  void empty_home();

 private:
  Planned planned_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Arbiter> arbiter_;
};

}  // namespace bulkhead
