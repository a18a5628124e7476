// Policy::compile(): what is compiled, in which order. All findings are collected, so that one run
// tells the whole of what is wrong.

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/path.h"
#include "base/spelling.h"
#include "policy/compiler.h"
#include "policy/whole_trees.h"

namespace bulkhead {

void Compiler::check_inputs() {
  const auto check = [&](std::string_view name, const std::string& path) {
    if (!path.empty() && !is_canonical(path))
      complain(fmt::format("${{{}}} stands for {}, which is no canonical path", name, quote(path)),
               "resolve it before compiling");
  };
  const Variables& variables = inputs_.variables;
  for (const std::string& folder : variables.workspace) {
    if (folder.empty()) complain("a workspace folder is empty", "name an absolute path");
    check("workspace", folder);
  }
  check("extension", variables.extension);
  check("storage", variables.storage);
  check("home", variables.home);
  check("config", variables.config);
  check("state", variables.state);
  check("runtime", variables.runtime);
  for (const std::string& path : variables.bulkhead) check("bulkhead", path);
  for (const std::string& path : variables.other_homes) check("home", path);
  for (const std::string& path : inputs_.scratch)
    if (!is_canonical(path) || path == "/")
      complain(fmt::format("the scratch tree {} is no canonical path below \"/\"", quote(path)),
               "resolve it before compiling");
  for (const Manifest* manifest :
       {&inputs_.manifest, inputs_.baseline ? &*inputs_.baseline : nullptr})
    if (manifest != nullptr && manifest->version != 1)
      complain(fmt::format("manifest version {} is not known to this bulkhead", manifest->version),
               "write \"manifest\": 1, or update bulkhead");

  for (const std::string& name : inputs_.lifted) {
    if (name == "all") continue;
    std::vector<std::string_view> builtin;
    bool other = false;
    for (const Blocklist& blocklist : inputs_.blocklists) {
      for (const BlockGroup& group : blocklist.groups) {
        if (blocklist.source == Blocklist::Source::kBuiltin) {
          builtin.push_back(group.name);
        } else if (group.name == name) {
          other = blocklist.source != Blocklist::Source::kTelemetry;
        }
      }
    }
    if (std::find(builtin.begin(), builtin.end(), name) != builtin.end()) continue;
    complain(fmt::format("no built-in block group is called {}", quote(name)),
             other ? "it stands in the user's or the organisation's policy, which no run lifts"
                   : suggestion(name, builtin));
  }
}

void Compiler::add_fixed_rules() {
  const Manifest* baseline = inputs_.baseline ? &*inputs_.baseline : nullptr;
  data_->otherwise = inputs_.manifest.otherwise.value_or(
      baseline != nullptr ? baseline->otherwise.value_or(Otherwise::kDeny) : Otherwise::kDeny);
  for (const Blocklist& blocklist : inputs_.blocklists)
    if (blocklist.otherwise == Otherwise::kDeny) data_->otherwise = Otherwise::kDeny;

  const bool ask = data_->otherwise == Otherwise::kAsk;
  Rule& otherwise = data_->rules.emplace_back();
  otherwise.verdict = ask ? Verdict::kAsk : Verdict::kDeny;
  otherwise.kinds = static_cast<uint16_t>((1U << kKindLabels.size()) - 1);
  otherwise.text = ask ? "ask" : "deny";
  otherwise.reason = "no rule speaks of it";
  Rule& status = data_->rules.emplace_back();
  status.source = Rule::Source::kBaseline;
  status.verdict = Verdict::kAllow;
  status.kinds = bit(Kind::kReadStatus);
  status.reason = "reading status is free where nothing is hidden";
}

namespace {

Rule::Source source_of(Blocklist::Source source) {
  switch (source) {
    case Blocklist::Source::kTelemetry:
      return Rule::Source::kTelemetry;
    case Blocklist::Source::kBuiltin:
      return Rule::Source::kBuiltin;
    case Blocklist::Source::kOrganisation:
      return Rule::Source::kOrganisation;
    case Blocklist::Source::kUser:
      return Rule::Source::kUser;
  }
  return Rule::Source::kBuiltin;
}

}  // namespace

void Compiler::each_block_group(const std::function<void(const BlockGroup&, List)>& add) const {
  const auto is_lifted = [&](const std::string& name) {
    return std::any_of(inputs_.lifted.begin(), inputs_.lifted.end(),
                       [&](const std::string& each) { return each == name || each == "all"; });
  };
  for (const Blocklist::Source source :
       {Blocklist::Source::kBuiltin, Blocklist::Source::kOrganisation, Blocklist::Source::kUser}) {
    for (const Blocklist& blocklist : inputs_.blocklists) {
      if (blocklist.source != source) continue;
      for (const BlockGroup& group : blocklist.groups) {
        if (source == Blocklist::Source::kBuiltin && is_lifted(group.name)) continue;
        List list;
        list.source = source_of(source);
        list.verdict = Verdict::kDeny;
        list.group = group.name;
        list.reason = group.reason;
        list.follow = true;
        list.needs_variable = false;
        add(group, std::move(list));
      }
    }
  }
}

void Compiler::add_blocklists() {
  each_block_group([&](const BlockGroup& group, List list) {
    list.kinds = kWriteKinds | bit(Kind::kRead) | bit(Kind::kRun);
    list.channels = {Channel::kBlockRead, Channel::kBlockWrite, Channel::kBlockRun};
    add_paths(group.block, list);
    list.kinds = kWriteKinds;
    list.channels = {Channel::kBlockWrite};
    add_paths(group.block_write, list);
    add_networks(group.network, list);
    add_listen(group.listen, list);
    add_programs(group.run, list);
    add_environment(group.environment, list);
    add_vscode(group.vscode, list);
  });
}

// Last of all rules: what is blocked or granted by name is decided before.
void Compiler::add_telemetry() {
  for (const Blocklist& blocklist : inputs_.blocklists)
    if (blocklist.telemetry == Otherwise::kAsk) return;
  for (const Blocklist& blocklist : inputs_.blocklists) {
    if (blocklist.source != Blocklist::Source::kTelemetry) continue;
    for (const BlockGroup& group : blocklist.groups) {
      List list;
      list.source = source_of(blocklist.source);
      list.verdict = Verdict::kDeny;
      list.group = group.name;
      list.reason = group.reason;
      add_networks(group.network, list);
    }
  }
}

// Homes that a grant lies in or holds: the keys in them are somebody's, whoever runs this. It comes
// after the grants, for most runs meet no home but the user's own, and a home has as many blocks as
// all the rest.
void Compiler::add_blocks_of_other_homes() {
  if (!findings_.empty()) return;  // of the same entries, and enough said
  constexpr size_t kMostBeside = 8, kMost = 64;
  std::map<std::string, std::vector<std::string>, std::less<>> met;  // by what holds them
  const auto is_met = [&](const std::string& home) {
    const std::vector<std::string> names = below(home, {}).components;
    return std::any_of(concrete_grants_.begin(), concrete_grants_.end(),
                       [&](const std::string& tree) {
                         return is_within(tree, home) || is_within(home, tree);
                       }) ||
           std::any_of(
               wildcard_grants_.begin(), wildcard_grants_.end(), [&](const PathPattern& grant) {
                 const std::vector<std::string>& globs = grant.components;
                 const size_t both = std::min(globs.size(), names.size());
                 return grant.anywhere ||
                        std::equal(globs.begin(), globs.begin() + static_cast<std::ptrdiff_t>(both),
                                   names.begin(), component_matches);
               });
  };
  for (const std::string& home : inputs_.variables.other_homes) {
    if (!is_canonical(home) || home == "/" || home == inputs_.variables.home) continue;
    if (is_met(home)) met[std::string(parent_of(home))].push_back(home);
  }
  std::vector<PathPattern> homes;
  for (const auto& [folder, beside] : met) {
    if (beside.size() > kMostBeside) {
      homes.push_back(below(folder, {.anywhere = false, .components = {std::string(1, kStar)}}));
    } else {
      for (const std::string& home : beside) homes.push_back(below(home, {}));
    }
  }
  if (homes.size() > kMost)
    return complain(fmt::format("what is granted holds {} home folders, too many to keep the keys "
                                "in each from being read",
                                homes.size()),
                    "grant the folders that are needed");
  if (homes.empty()) return;
  each_block_group([&](const BlockGroup& group, List list) {
    const auto add = [&](const std::vector<Entry>& entries) {
      for (const Entry& entry : entries)
        for (const PathPattern& home : homes) add_path_of_home(entry, list, home);
    };
    list.kinds = kWriteKinds | bit(Kind::kRead) | bit(Kind::kRun);
    list.channels = {Channel::kBlockRead, Channel::kBlockWrite, Channel::kBlockRun};
    add(group.block);
    list.kinds = kWriteKinds;
    list.channels = {Channel::kBlockWrite};
    add(group.block_write);
  });
}

void Compiler::add_own_blocks(const Manifest& manifest, Rule::Source source) {
  List list;
  list.source = source;
  list.verdict = Verdict::kDeny;
  list.follow = true;
  list.needs_variable = source != Rule::Source::kBaseline;
  list.kinds = kWriteKinds | bit(Kind::kRead) | bit(Kind::kRun);
  list.channels = {Channel::kBlockRead, Channel::kBlockWrite, Channel::kBlockRun};
  add_paths(manifest.files.block, list);
  list.kinds |= kReadKinds;
  list.channels = {Channel::kHide};
  add_paths(manifest.files.hide, list);
}

void Compiler::add_grants(const Manifest& manifest, Rule::Source source) {
  List list;
  list.source = source;
  const bool baseline = source == Rule::Source::kBaseline;
  list.needs_variable = !baseline;
  // A manifest's author does not know what a workspace's links point to, so its grants mean the
  // paths that they name. The baseline's and the sets' come with bulkhead and mean what is there.
  list.follow = baseline;
  list.kinds = kReadKinds;
  list.channels = {Channel::kAllowRead};
  add_paths(manifest.files.read, list);
  list.kinds = kWriteKinds;
  list.channels = {Channel::kAllowWrite};
  add_paths(manifest.files.write, list);
  add_networks(manifest.network, list);
  add_listen(manifest.listen, list);
  add_programs(manifest.run, list);
  add_environment(manifest.environment, list);
  add_vscode(manifest.vscode, list);
}

void Compiler::add_extras(Verdict verdict, Rule::Source source) {
  for (const Extra& extra : inputs_.extras) {
    if (extra.verdict != verdict || extra.source != source) continue;
    const bool grants = verdict == Verdict::kAllow;
    List list;
    list.source = source;
    list.verdict = verdict;
    // A typed path was followed when it was typed; what a workspace's links lead to was not meant.
    list.follow = !grants || (source == Rule::Source::kCommandLine &&
                              !extra.entry.text.starts_with("${workspace}"));
    const std::vector<Entry> one = {extra.entry};
    switch (extra.kind) {
      case Kind::kRead:
        list.kinds = grants ? kReadKinds : bit(Kind::kRead) | bit(Kind::kRun);
        if (grants) list.channels = {Channel::kAllowRead};
        if (!grants) list.channels = {Channel::kBlockRead, Channel::kBlockRun};
        add_paths(one, list);
        break;
      case Kind::kWrite:
      case Kind::kWriteStatus:
        list.kinds = kWriteKinds;
        list.channels = {grants ? Channel::kAllowWrite : Channel::kBlockWrite};
        add_paths(one, list);
        break;
      case Kind::kReadStatus:
        if (grants) break;  // free as it is
        list.kinds = kReadKinds | kWriteKinds | bit(Kind::kRun);
        list.channels = {Channel::kHide};
        add_paths(one, list);
        break;
      case Kind::kConnect:
      case Kind::kLookup:
        add_networks(one, list);
        break;
      case Kind::kListen:
        add_listen(one, list);
        break;
      case Kind::kRun:
        add_programs(one, list);
        break;
      case Kind::kEnvironment:
        add_environment(one, list);
        break;
      case Kind::kVscode:
        add_vscode(one, list);
        break;
      case Kind::kSystem:
        complain(extra.entry, "no rule grants or blocks this kernel interface",
                 "remove it: the sandbox always refuses it");
        break;
    }
  }
}

void Compiler::add_scratch() {
  if (inputs_.scratch_yields_to_grants) data_->paths.seal();  // to ask it what is granted so far
  for (const std::string& path : inputs_.scratch) {
    if (!is_canonical(path) || path == "/") continue;
    PathMatches granted;
    if (inputs_.scratch_yields_to_grants && data_->paths.find(path, &granted) &&
        (granted.lowest(Channel::kAllowRead) != kNoRule ||
         granted.lowest(Channel::kAllowWrite) != kNoRule))
      continue;
    List list;
    list.source = Rule::Source::kBaseline;
    list.group = "scratch";
    list.reason = "it is the compartment's own and ends with it";
    const PathPattern pattern = below(path, {});
    const RuleId rule =
        new_rule(Entry{quote_path(path), {}}, list, kReadKinds | kWriteKinds, pattern.text());
    data_->paths.add(pattern, Channel::kScratch, rule);
    // A tree granted below is bound there from outside. Renaming a folder above it would carry the
    // bound tree to a path where it passes for scratch.
    for (const std::string& grant : concrete_grants_)
      if (grant.size() > path.size() && is_within(grant, path)) data_->paths.guard(grant);
  }
}

namespace {

template <typename T>
void tighten(std::optional<T>* limit, const std::optional<T>& bound) {
  if (bound && (!*limit || **limit > *bound)) *limit = bound;
}

}  // namespace

void Compiler::settle_limits() {
  Limits& limits = data_->limits;
  limits = inputs_.manifest.limits;
  const auto each = [](auto&& apply, Limits& into, const Limits& from) {
    apply(&into.memory, from.memory);
    apply(&into.cpu, from.cpu);
    apply(&into.cpu_time, from.cpu_time);
    apply(&into.wall_time, from.wall_time);
    apply(&into.processes, from.processes);
    apply(&into.files, from.files);
    apply(&into.written, from.written);
    apply(&into.home, from.home);
  };
  // The baseline's are defaults, a blocklist's are upper bounds.
  if (inputs_.baseline)
    each(
        [](auto* limit, const auto& value) {
          if (!*limit) *limit = value;
        },
        limits, inputs_.baseline->limits);
  for (const Blocklist& blocklist : inputs_.blocklists)
    if (blocklist.limits)
      each([](auto* limit, const auto& bound) { tighten(limit, bound); }, limits,
           *blocklist.limits);
  const bool zero = (limits.memory && *limits.memory == 0) || (limits.cpu && !(*limits.cpu > 0)) ||
                    (limits.cpu_time && limits.cpu_time->count() <= 0) ||
                    (limits.wall_time && limits.wall_time->count() <= 0) ||
                    (limits.processes && *limits.processes == 0) ||
                    (limits.files && *limits.files == 0) ||
                    (limits.written && *limits.written == 0) || (limits.home && *limits.home == 0);
  if (zero) complain("a limit of zero", "raise it, or leave it out for no limit");
}

// With "*:443" granted a program may connect to an address that it carries with it, and nothing
// tells then which name the address belongs to: a block by name would hold only for the honest.
void Compiler::check_name_blocks() {
  for (const NetworkUse& grant : wide_grants_) {
    for (const NetworkUse& block : name_blocks_) {
      if (grant.pattern.first_port > block.pattern.last_port ||
          block.pattern.first_port > grant.pattern.last_port)
        continue;
      const Rule& rule = data_->rules[grant.rule];
      const Rule& blocking = data_->rules[block.rule];
      complain(Entry{rule.text, rule.where},
               fmt::format("grants every host, beside which the block of {} by name in the {}{}{} "
                           "cannot be enforced",
                           quote(blocking.text), label(blocking.source),
                           blocking.group.empty() ? "" : " (" + blocking.group + ")",
                           blocking.where.file.empty() ? "" : " at " + place(blocking.where)),
               "grant the hosts by name, or block addresses");
      break;
    }
  }
}

void Compiler::finish() {
  data_->paths.seal();
  data_->network_grants.seal();
  data_->network_blocks.seal();
  data_->telemetry.seal();
  data_->whole_trees = find_whole_trees(data_->paths, concrete_grants_);
  data_->hidden.assign(hidden_.begin(), hidden_.end());
  const auto runs = [&](const std::string& path) {
    PathMatches matches;
    return data_->paths.find(path, &matches) && matches.lowest(Channel::kBlockRun) == kNoRule &&
           matches.lowest(Channel::kHide) == kNoRule;
  };
  std::copy_if(runnable_files_.begin(), runnable_files_.end(),
               std::back_inserter(data_->runnable_files), runs);
  std::copy_if(runnable_trees_.begin(), runnable_trees_.end(),
               std::back_inserter(data_->runnable_trees), runs);
  const auto wanted = inputs_.manifest.files.private_home;
  if (wanted.value_or(inputs_.baseline && inputs_.baseline->files.private_home.value_or(false)))
    data_->private_home = inputs_.variables.home;
  data_->workspace = inputs_.variables.workspace;
  data_->subject = inputs_.subject.empty() ? inputs_.manifest.extension : inputs_.subject;
}

Result<std::unique_ptr<PolicyData>> Compiler::run() && {
  const auto size_of = [](const Manifest& m) {
    return m.files.read.size() + m.files.write.size() + m.files.block.size();
  };
  size_t expected =
      size_of(inputs_.manifest) + (inputs_.baseline ? size_of(*inputs_.baseline) : 0) + 512;
  for (const Blocklist& blocklist : inputs_.blocklists)
    for (const BlockGroup& group : blocklist.groups)
      expected += group.block.size() + group.block_write.size();
  data_->rules.reserve(expected);
  data_->paths.reserve(expected);

  check_inputs();
  add_fixed_rules();
  add_blocklists();
  add_own_blocks(inputs_.manifest, Rule::Source::kManifest);
  add_extras(Verdict::kDeny, Rule::Source::kCommandLine);
  add_extras(Verdict::kDeny, Rule::Source::kRemembered);
  if (inputs_.baseline) add_own_blocks(*inputs_.baseline, Rule::Source::kBaseline);
  add_grants(inputs_.manifest, Rule::Source::kManifest);
  add_extras(Verdict::kAllow, Rule::Source::kCommandLine);
  add_extras(Verdict::kAllow, Rule::Source::kRemembered);
  if (inputs_.baseline) add_grants(*inputs_.baseline, Rule::Source::kBaseline);
  add_blocks_of_other_homes();
  add_scratch();
  add_telemetry();
  settle_limits();
  check_name_blocks();
  if (!findings_.empty())
    return std::move(findings_).error(
        inputs_.manifest.extension.empty()
            ? "the policy cannot be compiled"
            : fmt::format("the policy of {} cannot be compiled", inputs_.manifest.extension));
  finish();
  return std::move(data_);
}

Result<std::unique_ptr<PolicyData>> compile_policy(const PolicyInputs& inputs) {
  return Compiler(inputs).run();
}

}  // namespace bulkhead
