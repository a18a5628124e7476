// How one entry of a manifest or a blocklist becomes rules.

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/fd.h"
#include "base/path.h"
#include "base/spelling.h"
#include "policy/compiler.h"
#include "policy/links.h"
#include "policy/names_above.h"
#include "policy/programs.h"
#include "policy/vscode_permissions.h"

namespace bulkhead {

namespace {

// Its values are canonical, or the names of links (names_of()), which hold for themselves: what one
// leads to may be the project.
constexpr std::string_view kOwnFiles = "bulkhead";

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

}  // namespace

std::string quote(std::string_view text) {
  return fmt::format("\"{}\"", escape_for_display(text.substr(0, 200)));
}

void Compiler::complain(const Entry& entry, std::string message, std::string fix) {
  findings_.add(diagnostic_at(entry, Diagnostic::Severity::kError,
                              quote(entry.text) + ": " + std::move(message), std::move(fix)));
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
                                         quote(entry.text) + ": " + std::move(message),
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

void Compiler::miss_variable(const Entry& entry, const List& list, const std::string& variable) {
  const std::string message = fmt::format("${{{}}} stands for nothing in this run", variable);
  const bool lacks = variable == "workspace" && inputs_.variables.may_lack_workspace;
  if (list.needs_variable && !lacks) {
    complain(entry, message,
             variable == "workspace" ? "name a workspace, or remove the entry"
                                     : "remove the entry, or give the variable a value");
  } else {
    note(entry, message, "the entry is left out");
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
  if (add_plain_path(entry, list)) return;
  if (std::string_view(entry.text).ends_with("/.")) {
    add_folder_itself(entry, list);
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
  if (values.empty()) miss_variable(entry, list, parsed->variable);
  List as_named = list;
  as_named.follow = list.follow && parsed->variable != kOwnFiles;
  for (const std::string& value : values)
    if (is_canonical(value)) add_pattern(entry, as_named, below(value, parsed->pattern));
  if (list.verdict != Verdict::kDeny || !list.follow || !parsed->pattern.is_concrete()) return;
  const auto add_targets = [&](const std::string& value) {
    if (is_canonical(value)) add_targets_in(entry, list, below(value, parsed->pattern).path());
  };
  const std::string* value = only_value(parsed->variable, inputs_.variables);
  if (value != nullptr && holds_settings(value)) add_targets(*value);
  if (value == nullptr && parsed->variable == "workspace")
    std::for_each(values.begin(), values.end(), add_targets);
}

// What parses a rule's resolved text as a path pattern fails on "/a/.", and so
// takes it for no tree.
void Compiler::add_folder_itself(const Entry& entry, const List& list) {
  std::string_view folder = entry.text;
  folder.remove_suffix(folder.size() == 2 ? 1 : 2);
  const Result<ParsedPattern> parsed = parse_pattern(folder);
  if (!parsed.ok()) {
    complain(entry, parsed.error());
    return;
  }
  if (list.channels != std::vector{Channel::kAllowRead}) {
    complain(entry, "\"/.\" names a folder without what is in it, and stands only in files.read",
             "write the path without \"/.\"");
    return;
  }
  const auto add = [&](const PathPattern& pattern) {
    const std::string text = pattern.text();
    data_->paths.add(pattern, Channel::kAllowReadItself,
                     new_rule(entry, list, list.kinds, text == "/" ? "/." : text + "/."));
    if (!list.follow || !pattern.is_concrete()) return;
    const std::string written = pattern.path(), real = links_.follow(written);
    if (real == written) return;
    const PathPattern target = below(real, {});
    data_->paths.add(target, Channel::kAllowReadItself,
                     new_rule(entry, list, list.kinds, target.text() + "/."));
  };
  if (parsed->variable.empty()) {
    add(parsed->pattern);
    return;
  }
  const std::vector<std::string> values = values_of(parsed->variable, inputs_.variables);
  if (values.empty()) miss_variable(entry, list, parsed->variable);
  for (const std::string& value : values)
    if (is_canonical(value)) add(below(value, parsed->pattern));
}

bool Compiler::holds_settings(const std::string* value) const {
  const Variables& variables = inputs_.variables;
  return value != nullptr &&
         (value == &variables.home || value == &variables.config ||
          (!variables.workspace.empty() && value == &variables.workspace.front()));
}

bool Compiler::add_plain_path(const Entry& entry, const List& list) {
  constexpr size_t kLongest = 256;  // bytes: too few for more components than a pattern may have
  std::string_view rest = entry.text;
  const auto is_special = [](char c) { return c == '*' || c == '\\' || c == '\0'; };
  if (rest.size() > kLongest || std::any_of(rest.begin(), rest.end(), is_special)) return false;
  if (list.channels.empty() || list.channels[0] == Channel::kHide) return false;
  const std::string* value = nullptr;
  bool follow = list.follow;
  if (rest.starts_with("${")) {
    const size_t end = rest.find('}');
    if (end == rest.npos) return false;
    follow = follow && rest.substr(2, end - 2) != kOwnFiles;
    value = only_value(rest.substr(2, end - 2), inputs_.variables);
    // The value is taken literally, so its text in a rule would need escapes.
    if (value == nullptr || value->size() < 2 || value->find_first_of("*\\$") != value->npos ||
        !is_canonical(*value))
      return false;
    rest.remove_prefix(end + 1);
    if (rest.empty()) return false;
  }
  if (rest.find("${") != rest.npos || rest.size() < 2 || !is_canonical(rest)) return false;
  if (value != nullptr) buffer_ = *value;
  if (value == nullptr) buffer_.clear();
  buffer_ += rest;

  const auto id = static_cast<RuleId>(data_->rules.size());
  if (!data_->paths.add(buffer_, list.channels, id)) return false;
  new_rule(entry, list, list.kinds, buffer_);
  const bool grants = list.verdict == Verdict::kAllow;
  if (grants) concrete_grants_.push_back(buffer_);
  if (!follow) return true;
  const LinkFollower::State state = links_.state(buffer_);
  if (!grants && state == LinkFollower::State::kThere && holds_settings(value))
    add_targets_in(entry, list, buffer_);
  if (state != LinkFollower::State::kLinked) return true;
  std::vector<std::string> passed;
  const std::string real = follow_links(buffer_, passed);
  if (real == buffer_) return true;
  const PathPattern target = below(real, {});
  data_->paths.add(target, list.channels, new_rule(entry, list, list.kinds, target.text()));
  if (grants) concrete_grants_.push_back(real);
  if (!grants) add_way(entry, list, buffer_, passed);
  return true;
}

void Compiler::add_set(const Entry& entry, const List& list) {
  const bool reads = list.channels == std::vector{Channel::kAllowRead};
  const bool runs = list.channels == std::vector{Channel::kAllowRun};
  if (!reads && !runs) {
    complain(entry, "a set stands only in files.read and run",
             "no set grants writing, and none blocks: name the paths");
    return;
  }
  if (entry.text == kPrograms) {
    complain(entry, "this set stands only in run, where it means whatever may be read",
             "move it to run");
    return;
  }
  const auto set = inputs_.sets.find(std::string_view(entry.text).substr(1));
  if (set == inputs_.sets.end()) {
    std::vector<std::string> names;
    for (const auto& [name, content] : inputs_.sets) names.push_back("@" + name);
    if (runs) names.emplace_back(kPrograms);
    const std::vector<std::string_view> known(names.begin(), names.end());
    complain(
        entry, "unknown set",
        known.empty() ? "name the paths: no set is known here" : suggestion(entry.text, known));
    return;
  }
  if (runs && set->second.run.empty()) {
    complain(entry, "this set names no programs",
             fmt::format("name the programs, or write \"{}\" for whatever may be read", kPrograms));
    return;
  }
  if (reads && !set->second.names.empty()) add_names(entry, list, set->second.names);
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

// One rule for all files: its pattern would be a wildcard for each name in each folder, which every
// access would be compared with. What it resolves to is its own name, which no pattern is.
void Compiler::add_names(const Entry& entry, const List& list, const std::vector<Entry>& names) {
  List named = list;
  named.reason = "A regular file of yours, found by its name alone in a folder above the workspace";
  const RuleId rule = new_rule(entry, named, list.kinds, entry.text);
  data_->rules[rule].own_file = true;
  named.verdict = Verdict::kDeny;
  named.reason = "the folders above the workspace show only the files that tools read by name";
  const RuleId listing = new_rule(entry, named, 0, "");  // of no kind: it blocks nothing elsewhere
  const std::vector<std::string> above = folders_above(inputs_.variables);
  data_->names_above.set_folders(above, ancestors(inputs_.variables));
  List trees = list;
  trees.group = entry.text;
  trees.follow = false;  // what others could make a link of, it leads to nothing
  for (const Entry& name : names) {
    std::string_view text = name.text;
    const bool is_tree = text.ends_with('/');
    if (is_tree) text.remove_suffix(1);
    const Result<ParsedPattern> parsed = parse_pattern("/" + std::string(text));
    const bool is_name = parsed.ok() && parsed->pattern.components.size() == 1 &&
                         parsed->pattern.components[0] != std::string(1, kStar) &&
                         !(is_tree && !parsed->pattern.is_concrete());
    if (!is_name) {
      complain(name, "is no name of a file or folder",
               "write one name, such as \".editorconfig\" or \"node_modules/\"");
    } else if (is_tree) {
      // What stands in the home folder itself belongs to no project.
      for (const std::string& folder : above)
        if (folder != inputs_.variables.home)
          add_pattern(entry, trees, below(folder, parsed->pattern));
    } else {
      data_->names_above.add(parsed->pattern.components[0], rule, listing);
    }
  }
}

void Compiler::add_path_of_home(const Entry& entry, const List& list, const PathPattern& home) {
  // Where bulkhead has its own unless somebody's environment says otherwise.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPlaces = {
      {{"${home}", ""},
       {"${config}", "/.config/bulkhead"},
       {"${state}", "/.local/state/bulkhead"}}};
  const auto* const place = std::find_if(kPlaces.begin(), kPlaces.end(), [&](const auto& each) {
    return entry.text.starts_with(each.first);
  });
  if (place == kPlaces.end()) return;
  // A pattern's text is what an entry says, wildcards and escapes included.
  Entry there = entry;
  there.text = home.text() + std::string(place->second) + entry.text.substr(place->first.size());
  const size_t first = data_->rules.size();
  add_path(there, list);
  if (home.is_concrete()) add_targets_in(there, list, there.text);
  for (size_t i = first; i < data_->rules.size(); ++i) data_->rules[i].text = entry.text;
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
    data_->paths.add(each, list.channels, rule);
    const bool concrete = each.is_concrete();
    if (concrete && list.verdict == Verdict::kAllow) concrete_grants_.push_back(each.path());
    // Of those that come with bulkhead, "**/…" names files of the kernel's (memory.max), no keys.
    const bool own = list.source == Rule::Source::kBaseline || list.group.starts_with('@');
    if (!concrete && list.verdict == Verdict::kAllow && !(own && each.anywhere))
      wildcard_grants_.push_back(each);
    if (concrete && hides) hidden_.insert(each.path());
  };
  add(pattern);
  if (list.follow && pattern.anywhere && list.verdict == Verdict::kDeny)
    add_named_links(entry, list, pattern);
  if (list.follow && !pattern.anywhere) {
    // Only what stands before the first wildcard can be followed.
    PathPattern start;
    for (const std::string& component : pattern.components) {
      if (component.find(kStar) != std::string::npos) break;
      start.components.push_back(component);
    }
    const std::string written = start.path();
    const std::string real = links_.follow(written);
    if (real != written) {
      if (list.verdict == Verdict::kDeny) {
        std::vector<std::string> passed;
        follow_links(written, passed);
        add_way(entry, list, written, passed);
      }
      PathPattern rest;
      rest.components.assign(
          pattern.components.begin() + static_cast<std::ptrdiff_t>(start.components.size()),
          pattern.components.end());
      add(below(real, rest));
    }
  }
}

namespace {

// The links directly in a folder; none where it is no folder.
std::vector<std::string> links_in(const std::string& folder) {
  std::vector<std::string> links;
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  alignas(struct dirent64) char buffer[16384];
  while (fd) {
    const long size = ::syscall(SYS_getdents64, fd.get(), buffer, sizeof buffer);
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      const auto* each = reinterpret_cast<const struct dirent64*>(buffer + at);
      at += each->d_reclen;
      if (each->d_type == DT_LNK || each->d_type == DT_UNKNOWN)
        links.push_back(join(folder, each->d_name));
    }
  }
  std::sort(links.begin(), links.end());
  return links;
}

}  // namespace

// git runs .git/hooks/pre-commit, and an editor reads .vscode/tasks.json, wherever a link of that
// name leads: what is there has to be blocked by its own name. Looked for is where such names
// stand, at the top of a workspace, a "*" standing for nothing; not in every folder below.
void Compiler::add_named_links(const Entry& entry, const List& list, const PathPattern& pattern) {
  PathPattern name;
  for (std::string component : pattern.components) {
    std::erase(component, kStar);
    if (component.empty() || component == "." || component == "..") return;
    name.components.push_back(std::move(component));
  }
  const bool blocks_write = std::find(list.channels.begin(), list.channels.end(),
                                      Channel::kBlockWrite) != list.channels.end();
  for (const std::string& workspace : inputs_.variables.workspace) {
    if (!is_canonical(workspace)) continue;
    const std::string path = below(workspace, name).path();
    const LinkFollower::State state = links_.state(path);
    if (state == LinkFollower::State::kMissing) continue;
    if (state == LinkFollower::State::kLinked) add_target_of(entry, list, path);
    if (blocks_write) add_targets_in(entry, list, path);
  }
}

void Compiler::add_target_of(const Entry& entry, const List& list, const std::string& link) {
  std::vector<std::string> passed;
  const std::string real = follow_links(link, passed);
  if (real != link && !passed.empty()) add_linked(entry, list, link, real, passed);
}

// Who reads through a link in a blocked folder names that folder, and is refused. Who writes what
// it leads to does not. In a home too: people keep their settings in a project of their own, where
// ~/.ssh/config, ~/.config/fish/* and our own grants.json are links to.
void Compiler::add_targets_in(const Entry& entry, const List& list, const std::string& folder) {
  for (const std::string& link : links_in(folder)) {
    std::vector<std::string> passed;
    const std::string real = follow_links(link, passed);
    // What holds the folder itself, such as the home, is not what is obeyed there.
    if (passed.empty() || is_within(link, real)) continue;
    List writes = list;
    writes.kinds = kWriteKinds;
    writes.channels = {Channel::kBlockWrite};
    add_linked(entry, writes, link, real, passed);
  }
}

void Compiler::add_linked(const Entry& entry, const List& list, const std::string& link,
                          const std::string& real, const std::vector<std::string>& passed) {
  List because = list;
  because.reason =
      fmt::format("The link {} leads there. {}", escape_for_display(link), list.reason);
  const PathPattern pattern = below(real, {});
  data_->paths.add(pattern, because.channels,
                   new_rule(entry, because, because.kinds, pattern.text()));
  add_way(entry, because, link, passed);
}

void Compiler::add_way(const Entry& entry, const List& list, const std::string& path,
                       const std::vector<std::string>& passed) {
  for (const std::string& way : passed) {
    if (way == path) continue;
    const PathPattern pattern = below(way, {});
    // The link alone: what it leads to has rules of its own.
    data_->paths.add(pattern, Channel::kBlockWriteItself,
                     new_rule(entry, list, kWriteKinds, pattern.text() + "/."));
  }
}

void Compiler::add_listen(const std::vector<Entry>& entries, const List& list) {
  auto& into = list.verdict == Verdict::kAllow ? data_->listen_grants : data_->listen_blocks;
  for (const Entry& entry : entries) {
    const Result<PortRange> parsed = parse_port_range(entry.text);
    if (!parsed.ok())
      complain(entry, parsed.error());
    else
      into.push_back({*parsed, new_rule(entry, list, bit(Kind::kListen), parsed->text())});
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
    if (list.source == Rule::Source::kTelemetry) {
      data_->telemetry.add(*parsed, rule);
      continue;
    }
    (grants ? data_->network_grants : data_->network_blocks).add(*parsed, rule);
    const bool whole_internet = parsed->host == Host::kNetwork && parsed->prefix_bits == 0;
    if (grants && (parsed->host == Host::kAny || whole_internet))
      wide_grants_.push_back({*parsed, rule});
    if (!grants && (parsed->host == Host::kName || parsed->host == Host::kBelowName))
      name_blocks_.push_back({*parsed, rule});
  }
}

namespace {

bool is_program_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return c > 0x20 && c != '/' && c != '*' && c != '\\' && c != '$' && c != 0x7F;
         });
}

}  // namespace

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
    concrete_grants_.push_back(pattern.path());
  }
}

// No path of its own: what it resolves to is its own name, which no pattern is.
void Compiler::add_readable_programs(const Entry& entry, const List& list) {
  List all = list;
  all.reason = "What may be read may run: a program has no more rights than what starts it";
  const RuleId rule = new_rule(entry, all, bit(Kind::kRun), std::string(kPrograms));
  data_->programs = std::min(data_->programs, rule);
}

void Compiler::add_programs(const std::vector<Entry>& entries, const List& given) {
  List list = given;
  list.kinds = bit(Kind::kRun);
  const bool grants = list.verdict == Verdict::kAllow;
  list.channels = {grants ? Channel::kAllowRun : Channel::kBlockRun};
  for (const Entry& entry : entries) {
    const char first = entry.text.empty() ? '\0' : entry.text[0];
    if (entry.text == kPrograms && grants) {
      add_readable_programs(entry, list);
      continue;
    }
    if (first == '@') {
      add_set(entry, list);
      continue;
    }
    const bool is_path = first == '/' || first == '~' || entry.text.substr(0, 2) == "${" ||
                         entry.text.substr(0, 2) == "**";
    if (!is_path && !is_program_name(entry.text)) {
      complain(entry, "is neither a program's name nor an absolute path",
               entry.text.find('/') != std::string::npos
                   ? "write \"${extension}/" +
                         escape_for_display(
                             entry.text.substr(entry.text.starts_with("./") ? 2 : 0, 200)) +
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
      std::vector<std::string_view> known;
      known.reserve(std::size(kVscodeGroups) + std::size(kVscodePermissions));
      for (const VscodeGroup& each : kVscodeGroups) known.push_back(each.name);
      for (const VscodePermission& each : kVscodePermissions) known.push_back(each.name);
      complain(entry, "unknown vscode permission", suggestion(entry.text, known));
    }
  }
}

}  // namespace bulkhead
