#include "policy/policy.h"

#include <algorithm>
#include <utility>

#include "policy/policy_data.h"

namespace bulkhead {

struct Policy::Data : PolicyData {
  explicit Data(PolicyData&& data) : PolicyData(std::move(data)) {}
};

std::string_view label(Rule::Source source) {
  switch (source) {
    case Rule::Source::kOtherwise:
      return "otherwise";
    case Rule::Source::kBuiltin:
      return "built-in blocklist";
    case Rule::Source::kOrganisation:
      return "organisation's policy";
    case Rule::Source::kUser:
      return "user's policy";
    case Rule::Source::kManifest:
      return "manifest";
    case Rule::Source::kCommandLine:
      return "command line";
    case Rule::Source::kRemembered:
      return "remembered answer";
    case Rule::Source::kBaseline:
      return "baseline";
    case Rule::Source::kTelemetry:
      return "known telemetry";
  }
  return "unknown";
}

Policy::Policy(std::unique_ptr<const Data> data) : data_(std::move(data)) {}
Policy::~Policy() = default;

Result<std::shared_ptr<const Policy>> Policy::compile(const PolicyInputs& inputs) {
  BULKHEAD_TRY(std::unique_ptr<PolicyData> data, compile_policy(inputs));
  return std::shared_ptr<const Policy>(new Policy(std::make_unique<Data>(std::move(*data))));
}

RuleId NameIndex::find(std::string_view name) const noexcept {
  RuleId best = kNoRule;
  if (const auto it = exact_.find(name); it != exact_.end()) best = it->second.rule;
  for (const auto& [prefix, rule] : prefixes_)
    if (rule < best && name.substr(0, prefix.size()) == prefix) best = rule;
  return best;
}

namespace {

constexpr Decision kRefused{Verdict::kDeny, kOtherwiseRule};

// A block always wins; then a grant; then `otherwise`.
Decision ruling(RuleId block, RuleId grant, Otherwise otherwise) noexcept {
  if (block != kNoRule) return {Verdict::kDeny, block};
  if (grant != kNoRule) return {Verdict::kAllow, grant};
  return {otherwise == Otherwise::kAsk ? Verdict::kAsk : Verdict::kDeny, kOtherwiseRule};
}

// Whom a person has said no to beforehand, of those about whom they would be asked.
Decision unless_telemetry(Decision decision, RuleId telemetry) noexcept {
  const bool refused = decision.verdict == Verdict::kAsk && telemetry != kNoRule;
  return refused ? Decision{Verdict::kDeny, telemetry} : decision;
}

}  // namespace

Decision Policy::decide_path(Kind kind, std::string_view path) const noexcept {
  Channel grant_channel = Channel::kAllowRead, block_channel = Channel::kBlockRead;
  switch (kind) {
    case Kind::kRead:
    case Kind::kReadStatus:
      break;
    case Kind::kWrite:
    case Kind::kWriteStatus:
      grant_channel = Channel::kAllowWrite;
      block_channel = Channel::kBlockWrite;
      break;
    case Kind::kRun:
      grant_channel = Channel::kAllowRun;
      block_channel = Channel::kBlockRun;
      break;
    default:
      return kRefused;
  }
  PathMatches matches;
  if (!data_->paths.find(path, &matches)) return kRefused;
  const RuleId hidden = matches.concrete[static_cast<size_t>(Channel::kHide)];
  if (kind == Kind::kReadStatus) {
    if (hidden != kNoRule) return {Verdict::kDeny, hidden};
    return {Verdict::kAllow, kFreeStatusRule};
  }
  const auto channel = static_cast<size_t>(block_channel);
  // A scratch tree is the compartment's own and ends with it: a wildcard block, which speaks of
  // files of the user's, does not mean those in it.
  RuleId block = matches.in_scratch ? matches.concrete[channel] : matches.lowest(block_channel);
  if (block_channel == Channel::kBlockWrite) {
    constexpr auto kItself = Channel::kBlockWriteItself;
    block = std::min(block, matches.in_scratch ? matches.concrete[static_cast<size_t>(kItself)]
                                               : matches.lowest(kItself));
  }
  if (hidden < block) block = hidden;
  RuleId grant = matches.lowest(grant_channel);
  if (kind == Kind::kRead) grant = std::min(grant, matches.lowest(Channel::kAllowReadItself));
  const RuleId scratch = matches.concrete[static_cast<size_t>(Channel::kScratch)];
  if (matches.in_scratch && kind != Kind::kRun && scratch < grant) grant = scratch;
  if (kind == Kind::kRun && grant == kNoRule && data_->programs != kNoRule) {
    const bool blocked =
        (matches.in_scratch ? matches.concrete[static_cast<size_t>(Channel::kBlockRead)]
                            : matches.lowest(Channel::kBlockRead)) != kNoRule;
    const bool granted = matches.in_scratch || matches.lowest(Channel::kAllowRead) != kNoRule;
    if (granted && !blocked) grant = data_->programs;
  }
  if (kind == Kind::kRead && grant == kNoRule && block == kNoRule)
    if (const RuleId named = data_->names_above.find(path); named != kNoRule)
      return {data_->rules[named].verdict, named};
  return ruling(block, grant, data_->otherwise);
}

bool Policy::in_scratch(std::string_view path) const noexcept {
  PathMatches matches;
  return data_->paths.find(path, &matches) && matches.in_scratch;
}

bool Policy::above_block(std::string_view path) const noexcept {
  const PathIndex::Below below = data_->paths.below(path, false);
  return below.guarded || below.blocked_read || below.blocked_write;
}

bool Policy::stands_above_block(std::string_view path) const noexcept {
  const PathIndex::Below below = data_->paths.below(path, false);
  return below.guarded || below.blocked_by_name;
}

bool Policy::above_read_block(std::string_view path) const noexcept {
  return data_->paths.below(path, false).blocked_read_in_place;
}

bool Policy::above_read_grant(std::string_view path) const noexcept {
  return data_->paths.below(path, false).granted_read || data_->names_above.lies_below(path);
}

bool Policy::allows_everything(Kind kind) const noexcept {
  PathMatches matches;
  const PathIndex::Below below = data_->paths.below("/", true, &matches);
  const auto granted = [&](Channel channel) { return matches.lowest(channel) != kNoRule; };
  switch (kind) {
    case Kind::kRead:
      return granted(Channel::kAllowRead) && !below.blocked_read;
    case Kind::kWrite:
      return granted(Channel::kAllowWrite) && !below.blocked_write;
    default:
      return false;
  }
}

Decision Policy::decide_connect(const IpAddress& address, uint16_t port,
                                std::span<const std::string_view> names) const noexcept {
  // Port 0 is no port that a program can mean to reach.
  if (port == 0) return kRefused;
  return unless_telemetry(
      ruling(data_->network_blocks.connect(address, port, names),
             data_->network_grants.connect(address, port, names), data_->otherwise),
      data_->telemetry.connect(address, port, names));
}

Decision Policy::decide_lookup(std::string_view normalized_name) const noexcept {
  if (normalized_name.empty()) return kRefused;
  return unless_telemetry(ruling(data_->network_blocks.lookup(normalized_name),
                                 data_->network_grants.lookup(normalized_name), data_->otherwise),
                          data_->telemetry.lookup(normalized_name));
}

Decision Policy::decide_listen(uint16_t port) const noexcept {
  if (port == 0) return kRefused;
  const auto first = [port](const std::vector<PortRule>& rules) {
    for (const PortRule& each : rules)
      if (each.ports.holds(port)) return each.rule;
    return kNoRule;
  };
  return ruling(first(data_->listen_blocks), first(data_->listen_grants), data_->otherwise);
}

Decision Policy::decide_environment(std::string_view name) const noexcept {
  // A variable is there at the start or not at all, so nobody is asked.
  return ruling(data_->environment_blocks.find(name), data_->environment_grants.find(name),
                Otherwise::kDeny);
}

Decision Policy::decide_vscode(std::string_view permission) const noexcept {
  return ruling(data_->vscode_blocks.find(permission), data_->vscode_grants.find(permission),
                data_->otherwise);
}

const std::vector<Rule>& Policy::rules() const noexcept { return data_->rules; }
const Limits& Policy::limits() const noexcept { return data_->limits; }
Otherwise Policy::otherwise() const noexcept { return data_->otherwise; }
const std::vector<WholeTree>& Policy::whole_trees() const noexcept { return data_->whole_trees; }
const std::vector<std::string>& Policy::hidden() const noexcept { return data_->hidden; }
bool Policy::runs_what_it_reads() const noexcept { return data_->programs != kNoRule; }
const std::string& Policy::private_home() const noexcept { return data_->private_home; }
const std::vector<std::string>& Policy::workspace() const noexcept { return data_->workspace; }
const std::vector<std::string>& Policy::runnable_files() const noexcept {
  return data_->runnable_files;
}
const std::vector<std::string>& Policy::runnable_trees() const noexcept {
  return data_->runnable_trees;
}
const std::string& Policy::subject() const noexcept { return data_->subject; }
const std::vector<Diagnostic>& Policy::notes() const noexcept { return data_->notes; }

}  // namespace bulkhead
