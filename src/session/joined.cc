#include "session/joined.h"

#include <utility>

#include "policy/config.h"
#include "session/delegated_scope.h"
#include "session/own_process.h"

namespace bulkhead {

Joined::Joined(Planned planned, JoinOptions options)
    : planned_(std::move(planned)), journal_(std::move(options.journal)) {
  if (journal_)
    for (Event& event : planned_.withheld) journal_->record(std::move(event));
  const auto remember = [subject = options.subject, folder = options.folder,
                         digest = options.digest, store = GrantStore(options.grants),
                         then =
                             std::move(options.remembered)](const Extra& extra) mutable -> Status {
    const bool of_folder = extra.kind == Kind::kListen && !folder.empty();
    BULKHEAD_CHECK(store.remember(of_folder ? folder : subject, digest, extra));
    if (then) then(extra);
    return {};
  };
  arbiter_ = std::make_unique<Arbiter>(planned_.plan.policy, journal_.get(), options.asker,
                                       planned_.plan.enforcement, remember);
  if (options.on_warning) arbiter_->on_warning(std::move(options.on_warning));
}

Result<RunReport> Joined::supervise(SupervisorOptions options) {
  // Where it cannot be had, limits are kept as they can be; `doctor` tells.
  if (lacks_cgroup(planned_.plan.limits)) static_cast<void>(enter_delegated_scope());
  return bulkhead::supervise(planned_.plan, *arbiter_, serving_alone(std::move(options)));
}

void Joined::empty_home() {
  if (planned_.home.passing) planned_.home.passing->empty();
}

}  // namespace bulkhead
