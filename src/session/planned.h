// Planned: a program with all that is decided before it starts: its home, what is kept for it, its
// environment, its plan.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/home/home_store.h"
#include "sandbox/plan/node_cache.h"
#include "sandbox/plan/plan.h"
#include "session/session.h"
#include "trace/environment.h"
#include "trace/event.h"

namespace bulkhead {

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

struct PlanRequest {
  std::shared_ptr<const Policy> policy;
  std::vector<std::string> command;  // the program's path first
  std::string folder;                // its working folder
  Enforcement enforcement = Enforcement::kEnforce;
  bool serve_every_call = false;  // PlanOptions::serve_every_call
  bool dry = false;               // nothing is to be started, so nothing is made
  GrantedEnvironment environment = {};
  HomeStore home = {};
  // Whose what Node compiled is; none: it is not kept. `state` is bulkhead's own folder.
  std::optional<NodeCacheOwner> cache = {};
  std::string state = {};
};

// Whoever asks.
Result<Planned> plan_program(PlanRequest request);

struct PlanWishes {
  bool audit = false;                       // nothing is denied
  bool serve_every_call = false;            // PlanRequest::serve_every_call
  bool dry = false;                         // PlanRequest::dry
  std::optional<std::string> private_home;  // PolicyOptions::private_home
};

// A session's program. `variables` is NULL-terminated like environ(7).
Result<Planned> plan_session(const Session& session, const std::vector<std::string>& command,
                             char** variables, const PlanWishes& wishes);

}  // namespace bulkhead
