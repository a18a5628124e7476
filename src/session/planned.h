// Planned: a session's program with all that is decided before it starts: its home, what is kept
// for it, its environment, its plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/home/home_store.h"
#include "sandbox/plan/plan.h"
#include "session/session.h"
#include "trace/event.h"

namespace bulkhead {

struct PlanWishes {
  bool audit = false;                       // nothing is denied
  bool serve_every_call = false;            // PlanOptions::serve_every_call
  bool dry = false;                         // nothing is to be started, so nothing is made
  std::optional<std::string> private_home;  // PolicyOptions::private_home
};

// What is made in a private home goes here.
struct HomeStore {
  std::string path;  // empty: there is none
  std::optional<PassingStore> passing;
};

struct Planned {
  Plan plan;
  std::vector<Event> withheld;  // of the environment
  HomeStore home;
};

// `variables` is NULL-terminated like environ(7).
Result<Planned> plan_session(const Session& session, const std::vector<std::string>& command,
                             char** variables, const PlanWishes& wishes);

}  // namespace bulkhead
