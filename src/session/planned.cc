#include "session/planned.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "policy/covers.h"
#include "policy/git_settings.h"
#include "policy/npm_settings.h"

namespace bulkhead {
namespace {

// Where no network can come, tools that look for newer versions of themselves would have every run
// end with a line about it, and npm would try for 70 seconds before it says what is wrong. These
// are the tools' own words for it: npm's, and that of the package update-notifier, which many
// others use.
void spare_vain_attempts(const Policy& policy, std::vector<std::string>& environment) {
  const bool connects =
      std::any_of(policy.rules().begin(), policy.rules().end(), [](const Rule& rule) {
        return rule.verdict == Verdict::kAllow &&
               (rule.kinds & 1U << static_cast<unsigned>(Kind::kConnect)) != 0;
      });
  if (connects || policy.otherwise() == Otherwise::kAsk) return;
  for (const std::string_view setting :
       {"npm_config_update_notifier=false", "npm_config_fetch_retries=0", "NO_UPDATE_NOTIFIER=1"}) {
    const std::string_view name = setting.substr(0, setting.find('=') + 1);
    if (std::none_of(environment.begin(), environment.end(),
                     [name](const std::string& each) { return each.starts_with(name); }))
      environment.emplace_back(setting);
  }
}

Result<HomeStore> open_home(const Session& session, const PlanWishes& wishes) {
  HomeStore home;
  const std::string& state = session.inputs.variables.state;
  // An audit records what a program would do in the machine's, unless told otherwise.
  if (session.policy->private_home().empty() || (wishes.audit && !wishes.private_home)) return home;
  if (!wishes.private_home) {
    home.path = store_of(state, session.home_owner);
    if (!wishes.dry) BULKHEAD_CHECK(make_store_of(state, session.home_owner));
  } else if (wishes.private_home->empty()) {
    home.path = state + "/homes/run";
    if (wishes.dry) return home;
    BULKHEAD_TRY(home.passing, PassingStore::make(state));
    home.path = home.passing->path();
  } else {
    BULKHEAD_TRY(home.path, typed_path(session, *wishes.private_home));
    // By that name the program could change what is mounted.
    if (is_within(session.policy->private_home(), home.path) ||
        session.policy->decide_path(Kind::kWrite, home.path).verdict == Verdict::kAllow ||
        session.policy->decide_path(Kind::kWrite, inside(home.path)).verdict == Verdict::kAllow)
      return Error{fmt::format("--private={}: choose a folder that the program may not write",
                               escape_for_display(home.path))};
    if (!wishes.dry) BULKHEAD_CHECK(make_store(home.path));
  }
  // Git goes without where they cannot be had.
  if (!wishes.dry) (void)share_git_settings(session.inputs.variables.home, home.path);
  if (!wishes.dry) (void)share_npm_settings(session.inputs.variables.home, home.path);
  return home;
}

}  // namespace

Result<Planned> plan_program(PlanRequest request) {
  Planned planned;
  planned.home = std::move(request.home);
  planned.withheld = std::move(request.environment.withheld);
  PlanOptions options;
  options.enforcement = request.enforcement;
  options.serve_every_call = request.serve_every_call;
  options.home_store = planned.home.path;
  if (request.cache)
    if (auto cache =
            node_cache(*request.policy, request.enforcement, request.state, *request.cache);
        cache && (request.dry || make_node_cache(*cache)))
      options.kept.push_back(std::move(*cache));
  BULKHEAD_TRY(planned.plan, make_plan(std::move(request.policy), std::move(request.command),
                                       std::move(request.environment.passed),
                                       std::move(request.folder), options));
  return planned;
}

Result<Planned> plan_session(const Session& session, const std::vector<std::string>& command,
                             char** variables, const PlanWishes& wishes) {
  PlanRequest request;
  request.policy = session.policy;
  request.command = command;
  request.command.front() = session.program->path;
  request.folder = session.folder;
  request.enforcement = wishes.audit ? Enforcement::kAuditOnly : Enforcement::kEnforce;
  request.serve_every_call = wishes.serve_every_call;
  request.dry = wishes.dry;
  request.environment = grant_environment(*session.policy, variables, wishes.audit);
  if (!wishes.audit) spare_vain_attempts(*session.policy, request.environment.passed);
  BULKHEAD_TRY(request.home, open_home(session, wishes));
  const Variables& places = session.inputs.variables;
  request.state = places.state;
  // Nothing that an earlier run left is to be there when a person answers for this one.
  if (session.policy->otherwise() != Otherwise::kAsk)
    request.cache = {session.subject, places.workspace};
  BULKHEAD_TRY(Planned planned, plan_program(std::move(request)));
  planned.plan.argv = command;  // argv[0] as typed, as a shell passes it
  return planned;
}

}  // namespace bulkhead
