// Policy::compile(): variables, sets and programs resolved, every entry turned into rules, the
// rules into indexes. All findings are collected, so that one run tells the whole of what is wrong.

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/path.h"
#include "policy/links.h"
#include "policy/pattern.h"
#include "policy/policy_data.h"
#include "policy/programs.h"
#include "policy/vscode_permissions.h"
#include "policy/whole_trees.h"

namespace bulkhead {
namespace {

constexpr uint16_t bit(Kind kind) {
  return static_cast<uint16_t>(1U << static_cast<unsigned>(kind));
}

constexpr uint16_t kReadKinds = bit(Kind::kRead) | bit(Kind::kReadStatus);
constexpr uint16_t kWriteKinds = bit(Kind::kWrite) | bit(Kind::kWriteStatus);
constexpr uint16_t kNetworkKinds = bit(Kind::kConnect) | bit(Kind::kLookup);

// One list of a manifest or a blocklist: where its entries come from and what they mean.
struct List {
  Rule::Source source = Rule::Source::kManifest;
  Verdict verdict = Verdict::kAllow;
  uint16_t kinds = 0;
  std::vector<Channel> channels = {};
  std::string group = {};
  std::string reason = {};
  bool follow = false;         // links on the way are followed as well (see add_path)
  bool needs_variable = true;  // an empty variable is an error, not a note
};

class Compiler {
 public:
  explicit Compiler(const PolicyInputs& inputs)
      : inputs_(inputs), data_(std::make_unique<PolicyData>()) {}

  Result<std::unique_ptr<PolicyData>> run() &&;

 private:
  // Rules are numbered in the order in which a reader would look for the reason: blocks first.
  void check_inputs();
  void add_fixed_rules();
  void add_blocklists();
  void add_own_blocks(const Manifest& manifest, Rule::Source source);
  void add_grants(const Manifest& manifest, Rule::Source source);
  void add_extras(Verdict verdict, Rule::Source source);
  void add_scratch();
  void settle_limits();
  void check_name_blocks();
  void finish();

  void add_paths(const std::vector<Entry>& entries, const List& list);
  void add_path(const Entry& entry, const List& list);
  void add_set(const Entry& entry, const List& list);
  void add_pattern(const Entry& entry, const List& list, const PathPattern& pattern);
  void add_networks(const std::vector<Entry>& entries, const List& list);
  void add_programs(const std::vector<Entry>& entries, const List& list);
  // `has_rule`: a rule for the file itself stands already.
  void add_program_file(const Entry& entry, const List& list, const std::string& file,
                        bool has_rule);
  void add_environment(const std::vector<Entry>& entries, const List& list);
  void add_vscode(const std::vector<Entry>& entries, const List& list);

  RuleId new_rule(const Entry& entry, const List& list, uint16_t kinds, std::string resolved);
  void complain(const Entry& entry, std::string message, std::string fix = {});
  void complain(const Entry& entry, const Error& error);
  void complain(std::string message, std::string fix = {});
  void note(const Entry& entry, std::string message, std::string fix = {});

  struct NetworkUse {
    NetworkPattern pattern;
    RuleId rule;
  };

  const PolicyInputs& inputs_;
  std::unique_ptr<PolicyData> data_;
  json::Findings findings_;
  std::vector<PathPattern> concrete_grants_;  // of reading, writing or running
  std::vector<NetworkUse> wide_grants_, name_blocks_;
  std::set<std::string> runnable_files_, runnable_trees_, hidden_;
};

Diagnostic diagnostic_at(const Entry& entry, Diagnostic::Severity severity, std::string message,
                         std::string fix) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.file = entry.where.file;
  diagnostic.line = entry.where.line;
  diagnostic.column = entry.where.column;
  diagnostic.field = entry.where.field;
  diagnostic.message = std::move(message);
  diagnostic.fix = std::move(fix);
  return diagnostic;
}

std::string quoted(std::string_view text) {
  return fmt::format("\"{}\"", escape_for_display(text.substr(0, 200)));
}

void Compiler::complain(const Entry& entry, std::string message, std::string fix) {
  findings_.add(diagnostic_at(entry, Diagnostic::Severity::kError,
                              quoted(entry.text) + ": " + std::move(message), std::move(fix)));
}

void Compiler::complain(const Entry& entry, const Error& error) {
  const std::string fix = error.diagnostics.empty() ? "" : error.diagnostics[0].fix;
  complain(entry, error.message, fix);
}

void Compiler::complain(std::string message, std::string fix) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.fix = std::move(fix);
  findings_.add(std::move(diagnostic));
}

void Compiler::note(const Entry& entry, std::string message, std::string fix) {
  if (data_->notes.size() < json::kMaxDiagnostics)
    data_->notes.push_back(diagnostic_at(entry, Diagnostic::Severity::kNote,
                                         quoted(entry.text) + ": " + std::move(message),
                                         std::move(fix)));
}

RuleId Compiler::new_rule(const Entry& entry, const List& list, uint16_t kinds,
                          std::string resolved) {
  Rule& rule = data_->rules.emplace_back();
  rule.source = list.source;
  rule.verdict = list.verdict;
  rule.kinds = kinds;
  rule.text = entry.text;
  rule.resolved = std::move(resolved);
  rule.group = list.group;
  rule.reason = list.reason;
  rule.where = entry.where;
  return static_cast<RuleId>(data_->rules.size() - 1);
}

void Compiler::check_inputs() {
  const auto check = [&](std::string_view name, const std::string& path) {
    if (!path.empty() && !is_canonical(path))
      complain(fmt::format("${{{}}} stands for {}, which is no canonical path", name, quoted(path)),
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
  for (const std::string& path : inputs_.scratch)
    if (!is_canonical(path) || path == "/")
      complain(fmt::format("the scratch tree {} is no canonical path below \"/\"", quoted(path)));
  for (const Manifest* manifest :
       {&inputs_.manifest, inputs_.baseline ? &*inputs_.baseline : nullptr})
    if (manifest != nullptr && manifest->version != 1)
      complain(fmt::format("manifest version {} is not known to this bulkhead", manifest->version),
               "write \"manifest\": 1, or update bulkhead");

  for (const std::string& name : inputs_.lifted) {
    if (name == "all") continue;
    bool builtin = false, other = false;
    for (const Blocklist& blocklist : inputs_.blocklists)
      for (const BlockGroup& group : blocklist.groups)
        if (group.name == name)
          (blocklist.source == Blocklist::Source::kBuiltin ? builtin : other) = true;
    if (builtin) continue;
    complain(fmt::format("no built-in block group is called {}", quoted(name)),
             other ? "it stands in the user's or the organisation's policy, which no run lifts"
                   : "see the names that a refusal or `bulkhead explain` gives");
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

Rule::Source source_of(Blocklist::Source source) {
  switch (source) {
    case Blocklist::Source::kBuiltin:
      return Rule::Source::kBuiltin;
    case Blocklist::Source::kOrganisation:
      return Rule::Source::kOrganisation;
    case Blocklist::Source::kUser:
      return Rule::Source::kUser;
  }
  return Rule::Source::kBuiltin;
}

void Compiler::add_blocklists() {
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
        list.kinds = kWriteKinds | bit(Kind::kRead) | bit(Kind::kRun);
        list.channels = {Channel::kBlockRead, Channel::kBlockWrite, Channel::kBlockRun};
        add_paths(group.block, list);
        list.kinds = kWriteKinds;
        list.channels = {Channel::kBlockWrite};
        add_paths(group.block_write, list);
        add_networks(group.network, list);
        add_programs(group.run, list);
        add_environment(group.environment, list);
        add_vscode(group.vscode, list);
      }
    }
  }
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
    list.follow = !grants || source == Rule::Source::kCommandLine;
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

void Compiler::add_paths(const std::vector<Entry>& entries, const List& list) {
  for (const Entry& entry : entries) add_path(entry, list);
}

void Compiler::add_path(const Entry& entry, const List& list) {
  if (!entry.text.empty() && entry.text[0] == '@') {
    add_set(entry, list);
    return;
  }
  const Result<ParsedPattern> parsed = parse_pattern(entry.text);
  if (!parsed.ok()) {
    complain(entry, parsed.error());
    return;
  }
  if (parsed->variable.empty()) {
    add_pattern(entry, list, parsed->pattern);
    return;
  }
  const std::vector<std::string> values = values_of(parsed->variable, inputs_.variables);
  if (values.empty()) {
    const std::string message =
        fmt::format("${{{}}} stands for nothing in this run", parsed->variable);
    if (list.needs_variable) {
      complain(entry, message,
               parsed->variable == "workspace" ? "name a workspace, or remove the entry"
                                               : "remove the entry, or give the variable a value");
    } else {
      note(entry, message, "the entry is left out");
    }
    return;
  }
  for (const std::string& value : values)
    if (is_canonical(value)) add_pattern(entry, list, below(value, parsed->pattern));
}

void Compiler::add_set(const Entry& entry, const List& list) {
  const bool reads = list.channels == std::vector{Channel::kAllowRead};
  const bool runs = list.channels == std::vector{Channel::kAllowRun};
  if (!reads && !runs) {
    complain(entry, "a set stands only in files.read and run",
             "no set grants writing, and none blocks: name the paths");
    return;
  }
  const auto set = inputs_.sets.find(std::string_view(entry.text).substr(1));
  if (set == inputs_.sets.end()) {
    std::string known;
    for (const auto& [name, content] : inputs_.sets) known += " @" + name;
    complain(entry, "unknown set", known.empty() ? "no set is known here" : "known are" + known);
    return;
  }
  if (runs && set->second.run.empty()) {
    complain(entry, "this set names no programs", "name the programs");
    return;
  }
  List inner = list;
  inner.group = entry.text;
  inner.follow = true;
  inner.needs_variable = false;
  for (const Entry& item : reads ? set->second.read : set->second.run) {
    if (!item.text.empty() && item.text[0] == '@') {
      complain(item, "a set must not name another set", "name its paths");
      continue;
    }
    const size_t first = data_->rules.size();
    if (reads) {
      add_path(item, inner);
    } else {
      add_programs({item}, inner);
    }
    // What a reader looks for is the entry that asked for the set.
    for (size_t i = first; i < data_->rules.size(); ++i) {
      data_->rules[i].text = entry.text;
      data_->rules[i].where = entry.where;
    }
  }
}

// Adds `pattern`, and with list.follow also what it leads to once the links on the way are
// followed: an access is decided by where it really goes, so a block on ~/.ssh has to hold for the
// folder that ~/.ssh is a link to.
void Compiler::add_pattern(const Entry& entry, const List& list, const PathPattern& pattern) {
  const bool hides = list.channels == std::vector{Channel::kHide};
  const bool runs = list.channels == std::vector{Channel::kAllowRun};
  if (hides && (!pattern.is_concrete() || pattern.components.empty())) {
    complain(entry,
             pattern.components.empty() ? "hiding everything leaves nothing to run"
                                        : "a wildcard cannot be hidden: hiding masks a place",
             pattern.components.empty() ? "name a folder or a file"
                                        : "name each path, or move the entry to files.block");
    return;
  }
  if (runs && !pattern.is_concrete()) {
    complain(entry, "a program to run must not be named by a wildcard",
             "name the program, its path, or the tree that it stands in");
    return;
  }
  const auto add = [&](const PathPattern& each) {
    const RuleId rule = new_rule(entry, list, list.kinds, each.text());
    for (const Channel channel : list.channels) data_->paths.add(each, channel, rule);
    const bool concrete = each.is_concrete();
    if (concrete && list.verdict == Verdict::kAllow) concrete_grants_.push_back(each);
    if (concrete && hides) hidden_.insert(each.path());
  };
  add(pattern);
  if (list.follow && !pattern.anywhere) {
    // Only what stands before the first wildcard can be followed.
    PathPattern start;
    for (const std::string& component : pattern.components) {
      if (component.find(kStar) != std::string::npos) break;
      start.components.push_back(component);
    }
    const std::string written = start.path();
    const std::string real = follow_links(written);
    if (real != written) {
      PathPattern rest;
      rest.components.assign(
          pattern.components.begin() + static_cast<std::ptrdiff_t>(start.components.size()),
          pattern.components.end());
      add(below(real, rest));
    }
  }
}

void Compiler::add_networks(const std::vector<Entry>& entries, const List& list) {
  using Host = NetworkPattern::Host;
  const bool grants = list.verdict == Verdict::kAllow;
  for (const Entry& entry : entries) {
    Result<NetworkPattern> parsed = parse_network(entry.text);
    if (!parsed.ok()) {
      complain(entry, parsed.error());
      continue;
    }
    const RuleId rule = new_rule(entry, list, kNetworkKinds, parsed->text());
    (grants ? data_->network_grants : data_->network_blocks).add(*parsed, rule);
    const bool whole_internet = parsed->host == Host::kNetwork && parsed->prefix_bits == 0;
    if (grants && (parsed->host == Host::kAny || whole_internet))
      wide_grants_.push_back({*parsed, rule});
    if (!grants && (parsed->host == Host::kName || parsed->host == Host::kBelowName))
      name_blocks_.push_back({*parsed, rule});
  }
}

bool is_program_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return c > 0x20 && c != '/' && c != '*' && c != '\\' && c != '$' && c != 0x7F;
         });
}

void Compiler::add_program_file(const Entry& entry, const List& list, const std::string& file,
                                bool has_rule) {
  std::vector<std::string> files = {file};
  for (std::string& interpreter : interpreters_of(file, inputs_.search_path))
    files.push_back(std::move(interpreter));
  for (const std::string& each : files) {
    runnable_files_.insert(each);
    if (has_rule && each == file) continue;
    List one = list;
    if (each != file) one.reason = "runs the script " + file;
    const PathPattern pattern = below(each, {});
    const RuleId rule = new_rule(entry, one, bit(Kind::kRun), pattern.text());
    data_->paths.add(pattern, Channel::kAllowRun, rule);
    concrete_grants_.push_back(pattern);
  }
}

void Compiler::add_programs(const std::vector<Entry>& entries, const List& given) {
  List list = given;
  list.kinds = bit(Kind::kRun);
  const bool grants = list.verdict == Verdict::kAllow;
  list.channels = {grants ? Channel::kAllowRun : Channel::kBlockRun};
  for (const Entry& entry : entries) {
    const char first = entry.text.empty() ? '\0' : entry.text[0];
    if (first == '@') {
      add_set(entry, list);
      continue;
    }
    const bool is_path = first == '/' || first == '~' || entry.text.substr(0, 2) == "${" ||
                         entry.text.substr(0, 2) == "**";
    if (!is_path && !is_program_name(entry.text)) {
      complain(entry, "is neither a program's name nor an absolute path",
               entry.text.find('/') != std::string::npos
                   ? "write \"${extension}/" + escape_for_display(entry.text.substr(0, 200)) +
                         "\", or the name alone"
                   : "write the name of one program, without arguments");
      continue;
    }
    if (!is_path) {
      const auto file = find_program(entry.text, inputs_.search_path);
      if (!grants) {
        // A block of a name means every file of that name.
        PathPattern pattern;
        pattern.anywhere = true;
        pattern.components = {entry.text};
        data_->paths.add(pattern, Channel::kBlockRun,
                         new_rule(entry, list, list.kinds, pattern.text()));
        if (file) {
          const PathPattern found = below(*file, {});
          data_->paths.add(found, Channel::kBlockRun,
                           new_rule(entry, list, list.kinds, found.text()));
        }
      } else if (file) {
        add_program_file(entry, list, *file, false);
      } else {
        note(entry, "no such program on this machine", "install it, or remove the entry");
        new_rule(entry, list, list.kinds, "");
      }
      continue;
    }
    const size_t before = data_->rules.size();
    add_path(entry, list);
    if (!grants) continue;
    for (size_t i = before, end = data_->rules.size(); i < end; ++i) {
      const Result<ParsedPattern> resolved = parse_pattern(data_->rules[i].resolved);
      if (!resolved.ok()) continue;
      const std::string path = resolved->pattern.path();
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
        // What runs is the file that the path leads to.
        const std::string file = follow_links(path);
        add_program_file(entry, list, file, file == path);
      } else {
        runnable_trees_.insert(path);
      }
    }
  }
}

void Compiler::add_environment(const std::vector<Entry>& entries, const List& list) {
  const bool grants = list.verdict == Verdict::kAllow;
  NameIndex& index = grants ? data_->environment_grants : data_->environment_blocks;
  for (const Entry& entry : entries) {
    std::string name = entry.text;
    const bool prefix = !name.empty() && name.back() == '*';
    if (prefix) name.pop_back();
    // environ(7) allows more, but no shell can set it.
    const bool ok = !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '_';
                    });
    if (!ok) {
      complain(entry, "is no name of an environment variable",
               entry.text == "*" ? "name the variables; \"*\" alone would hand over every token"
                                 : "write NAME, or PREFIX_* for all that start so");
      continue;
    }
    const RuleId rule = new_rule(entry, list, bit(Kind::kEnvironment), entry.text);
    if (prefix) {
      index.add_prefix(std::move(name), rule);
    } else {
      index.add(name, rule);
    }
  }
}

void Compiler::add_vscode(const std::vector<Entry>& entries, const List& list) {
  const bool grants = list.verdict == Verdict::kAllow;
  NameIndex& index = grants ? data_->vscode_grants : data_->vscode_blocks;
  for (const Entry& entry : entries) {
    if (is_vscode_permission(entry.text)) {
      index.add(entry.text, new_rule(entry, list, bit(Kind::kVscode), entry.text));
    } else if (const auto group = vscode_group(entry.text)) {
      for (const std::string_view permission : *group) {
        const std::string name(permission);
        index.add(name, new_rule(entry, list, bit(Kind::kVscode), name));
      }
    } else {
      std::string known;
      for (const VscodeGroup& each : kVscodeGroups) known += fmt::format(" {}", each.name);
      for (const VscodePermission& each : kVscodePermissions)
        known += fmt::format(" {}", each.name);
      complain(entry, "unknown vscode permission", "known are" + known);
    }
  }
}

void Compiler::add_scratch() {
  for (const std::string& path : inputs_.scratch) {
    if (!is_canonical(path) || path == "/") continue;
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
    for (const PathPattern& grant : concrete_grants_)
      if (grant.components.size() > pattern.components.size() && is_within(grant.path(), path))
        data_->paths.guard(grant);
  }
}

template <typename T>
void tighten(std::optional<T>* limit, const std::optional<T>& bound) {
  if (bound && (!*limit || **limit > *bound)) *limit = bound;
}

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
                    (limits.written && *limits.written == 0);
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
               fmt::format("grants every host, beside which the block of {} by name in the {}{} "
                           "cannot be enforced",
                           quoted(blocking.text), label(blocking.source),
                           blocking.group.empty() ? "" : " (" + blocking.group + ")"),
               "grant the hosts by name, or block addresses");
      break;
    }
  }
}

void Compiler::finish() {
  data_->paths.seal();
  data_->network_grants.seal();
  data_->network_blocks.seal();
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
  data_->subject = inputs_.manifest.extension;
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
  add_scratch();
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

}  // namespace

Result<std::unique_ptr<PolicyData>> compile_policy(const PolicyInputs& inputs) {
  return Compiler(inputs).run();
}

}  // namespace bulkhead
