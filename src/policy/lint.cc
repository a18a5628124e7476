#include "policy/lint.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/path.h"
#include "policy/covers.h"
#include "policy/executable_trees.h"
#include "policy/network_rule.h"
#include "policy/pattern.h"
#include "policy/port_rule.h"
#include "policy/rule_match.h"

namespace bulkhead {
namespace {

using Severity = Diagnostic::Severity;

constexpr size_t kMaxNamed = 4;         // blocked places told in one finding
constexpr size_t kMostCompared = 2000;  // entries of a list, each with each

std::string quote(std::string_view text) { return "\"" + escape_for_display(text) + "\""; }

bool is_concrete(std::string_view resolved) {
  const auto parsed = parse_pattern(resolved);
  return parsed.ok() && parsed->pattern.is_concrete();
}

// A concrete pattern without its escapes.
std::string path_of(std::string_view resolved) {
  const auto parsed = parse_pattern(resolved);
  return parsed.ok() ? parsed->pattern.path() : std::string(resolved);
}

bool same_place(const Location& a, const Location& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

// "${home}/a" → "home"; empty for entries without a variable.
std::string variable_of(std::string_view text) {
  const auto parsed = parse_pattern(text);
  return parsed.ok() ? parsed->variable : std::string();
}

// Whether something in the tree may match.
bool reaches_into(const std::string& resolved, const std::string& tree) {
  const auto parsed = parse_pattern(resolved);
  if (resolved.empty() || !parsed.ok()) return false;
  if (parsed->pattern.is_concrete()) return is_within(parsed->pattern.path(), tree);
  if (parsed->pattern.anywhere) return true;
  PathPattern above = parsed->pattern;  // as much of it as the tree's own path can tell
  const auto depth = static_cast<size_t>(std::count(tree.begin(), tree.end(), '/'));
  if (above.components.size() > depth) above.components.resize(tree == "/" ? 0 : depth);
  return pattern_matches(above.text(), tree);
}

// Two trees that stand in each other because of what variables are on this machine say nothing
// about the manifest: the folder of a program often lies in the workspace, and need not.
bool comparable(const std::string& covering, const std::string& covered) {
  return covering == "/" || covering.starts_with("**/") ||
         variable_of(covering) == variable_of(covered);
}

class Linter {
 public:
  // `whose` grants are looked at.
  Linter(const PolicyInputs& inputs, const Policy& policy, Rule::Source whose)
      : inputs_(inputs), policy_(policy) {
    for (const Rule& rule : policy.rules()) {
      if (rule.source == whose && rule.verdict == Verdict::kAllow) grants_.push_back(&rule);
      if (rule.source == Rule::Source::kManifest)
        own_rules_.emplace(Place{rule.where.file, rule.where.line, rule.where.column}, &rule);
    }
  }

  std::vector<std::string> idle_flags() {
    std::vector<std::string> found;
    for (const Rule* grant : grants_) {
      // The program itself is granted without a flag, and why it does not start is told then.
      if (grant->resolved.empty() || !grant->where.field.starts_with("--") ||
          grant->text.starts_with('@'))
        continue;
      const Rule* block = nullptr;
      bool idle = true;
      for (const Kind kind : {Kind::kRead, Kind::kWrite, Kind::kRun, Kind::kConnect, Kind::kListen,
                              Kind::kEnvironment}) {
        if (!speaks_of(*grant, kind)) continue;
        const Rule* const one = block_of(representative(*grant, kind), kind);
        if (one == nullptr)
          idle = false;
        else
          block = one;
      }
      if (!idle || block == nullptr) continue;
      std::string text = fmt::format("{} {} grants nothing: {} blocks {}", grant->where.field,
                                     quote(grant->text), who(*block), quote(block->text));
      if (block->source == Rule::Source::kBuiltin)
        text += fmt::format("; --unblock {} lifts that", block->group);
      if (block->source == Rule::Source::kRemembered)
        text += fmt::format("; to be asked again, remove it from {}:{}", block->where.file,
                            block->where.line);
      if (std::find(found.begin(), found.end(), text) == found.end())
        found.push_back(std::move(text));
    }
    return found;
  }

  std::vector<Diagnostic> run() {
    const Manifest& manifest = inputs_.manifest;
    repeated(manifest.files.read);
    repeated(manifest.files.write);
    repeated(manifest.files.block);
    repeated(manifest.files.hide);
    repeated(manifest.network);
    repeated(manifest.listen);
    repeated(manifest.run);
    repeated(manifest.environment);
    repeated(manifest.vscode);
    covered_paths(manifest.files.read, Kind::kRead);
    covered_paths(manifest.files.write, Kind::kWrite);
    covered_networks();
    covered_names(manifest.listen, Kind::kListen);
    covered_names(manifest.environment, Kind::kEnvironment);
    covered_names(manifest.vscode, Kind::kVscode);
    cancelled();
    idle_blocks();
    wide_paths();
    wide_networks();
    secret_variables();
    programs();
    written_and_run();
    unstartable();
    unreadable_writes();
    // What the compiler left out belongs here where the manifest says it; the rest is
    // not its author's doing.
    const auto lines = lines_of_manifest();
    for (const Diagnostic& note : policy_.notes())
      if (lines.contains({note.file, note.line})) add_once(note);
    sort_by_place(found_);
    return std::move(found_);
  }

 private:
  using Place = std::tuple<std::string, int, int>;  // file, line, column

  void add(Severity severity, const Location& where, std::string message, std::string fix) {
    add_once({severity, where.file, where.line, where.column, where.field, std::move(message),
              std::move(fix)});
  }
  void add_once(Diagnostic diagnostic) {
    if (told_.emplace(diagnostic.file, diagnostic.line, diagnostic.column, diagnostic.message)
            .second)
      found_.push_back(std::move(diagnostic));
  }

  std::set<std::pair<std::string, int>> lines_of_manifest() const {
    std::set<std::pair<std::string, int>> lines;
    const Manifest& m = inputs_.manifest;
    for (const auto* list : {&m.files.read, &m.files.write, &m.files.block, &m.files.hide,
                             &m.network, &m.listen, &m.run, &m.environment, &m.vscode})
      for (const Entry& entry : *list) lines.emplace(entry.where.file, entry.where.line);
    return lines;
  }

  std::vector<const Rule*> rules_of(const Entry& entry, Kind kind) const {
    std::vector<const Rule*> result;
    const Place place{entry.where.file, entry.where.line, entry.where.column};
    for (auto [at, end] = own_rules_.equal_range(place); at != end; ++at)
      if (speaks_of(*at->second, kind) && !at->second->resolved.empty())
        result.push_back(at->second);
    return result;
  }

  // Who names so many things made them by a program: then it takes too long to compare them all.
  bool are_too_many(const std::vector<Entry>& entries) {
    if (entries.size() <= kMostCompared) return false;
    add(Severity::kNote, entries.front().where,
        fmt::format("{} entries: whether some of them say the same is not looked at",
                    entries.size()),
        "name what they have in common");
    return true;
  }

  void repeated(const std::vector<Entry>& entries) {
    std::map<std::string_view, const Entry*> seen;
    for (const Entry& entry : entries) {
      const auto [first, fresh] = seen.try_emplace(entry.text, &entry);
      if (!fresh)
        add(Severity::kWarning, entry.where,
            fmt::format("{} stands in this list twice, first in line {}", quote(entry.text),
                        first->second->where.line),
            "remove one");
    }
  }

  // An entry every rule of which lies within rules of another entry adds nothing.
  void covered_paths(const std::vector<Entry>& entries, Kind kind) {
    // Concrete trees are found by walking up; the few patterns with wildcards are tried in turn.
    std::map<std::string, std::vector<const Rule*>> trees;
    std::vector<const Rule*> patterns;
    for (const Rule* rule : grants_) {
      if (!speaks_of(*rule, kind) || rule->resolved.empty()) continue;
      if (is_concrete(rule->resolved)) {
        trees[path_of(rule->resolved)].push_back(rule);
      } else {
        patterns.push_back(rule);
      }
    }
    if (patterns.size() > kMostCompared && are_too_many(entries)) return;
    const auto covering = [&](const Rule& rule) -> const Rule* {
      const auto other = [&](const Rule* each) {
        return !same_place(each->where, rule.where) && each->text != rule.text &&
               comparable(each->text, rule.text);
      };
      if (!is_concrete(rule.resolved)) return nullptr;
      const std::string path = path_of(rule.resolved);
      for (std::string at = path;; at = std::string(parent_of(at))) {
        if (const auto found = trees.find(at); found != trees.end())
          for (const Rule* each : found->second)
            // Two entries for one tree: the later one is told of.
            if (other(each) && (at != path || each->where.line < rule.where.line)) return each;
        if (at == "/") break;
      }
      for (const Rule* each : patterns)
        if (other(each) && pattern_matches(each->resolved, path)) return each;
      return nullptr;
    };
    for (const Entry& entry : entries) {
      if (entry.text.starts_with('@')) continue;  // a set repeats others by its nature
      const auto rules = rules_of(entry, kind);
      const Rule* by = nullptr;
      for (const Rule* rule : rules) {
        by = covering(*rule);
        if (by == nullptr) break;
      }
      if (by != nullptr)
        add(Severity::kWarning, entry.where,
            fmt::format("{} grants nothing more: {} in line {} covers it", quote(entry.text),
                        quote(by->text), by->where.line),
            "remove it");
    }
  }

  void covered_networks() {
    using Host = NetworkPattern::Host;
    const std::vector<Entry>& entries = inputs_.manifest.network;
    if (are_too_many(entries)) return;
    std::vector<std::optional<NetworkPattern>> parsed;
    for (const Entry& entry : entries) {
      auto one = parse_network(entry.text);
      parsed.push_back(one.ok() ? std::optional(*one) : std::nullopt);
    }
    const auto covers = [](const NetworkPattern& a, const NetworkPattern& b) {
      if (a.first_port > b.first_port || a.last_port < b.last_port) return false;
      switch (a.host) {
        case Host::kName:
          return b.host == Host::kName && a.name == b.name;
        case Host::kBelowName:
          return (b.host == Host::kName || b.host == Host::kBelowName) &&
                 (b.name.ends_with("." + a.name) ||
                  (b.host == Host::kBelowName && a.name == b.name));
        case Host::kNetwork:
          return b.host == Host::kNetwork && a.prefix_bits <= b.prefix_bits &&
                 b.network.in_network(a.network, a.prefix_bits);
        case Host::kLoopback:
          return b.host == Host::kLoopback;
        case Host::kAny:
          return b.host == Host::kName || b.host == Host::kBelowName || b.host == Host::kAny;
      }
      return false;
    };
    for (size_t i = 0; i < entries.size(); ++i) {
      for (size_t j = 0; j < entries.size(); ++j) {
        if (i == j || !parsed[i] || !parsed[j] || entries[i].text == entries[j].text) continue;
        if (!covers(*parsed[j], *parsed[i])) continue;
        if (covers(*parsed[i], *parsed[j]) && i < j) continue;  // equal: the later one is told of
        add(Severity::kWarning, entries[i].where,
            fmt::format("{} grants nothing more: {} in line {} covers it", quote(entries[i].text),
                        quote(entries[j].text), entries[j].where.line),
            "remove it");
        break;
      }
    }
  }

  void covered_names(const std::vector<Entry>& entries, Kind kind) {
    if (are_too_many(entries)) return;
    for (const Entry& entry : entries) {
      if (entry.text.ends_with('*') || entry.text.starts_with('@')) continue;
      for (const Rule* rule : grants_) {
        if (!speaks_of(*rule, kind) || same_place(rule->where, entry.where) ||
            rule->text == entry.text)
          continue;
        if (!rule_matches(*rule, kind, entry.text)) continue;
        add(Severity::kWarning, entry.where,
            fmt::format("{} grants nothing more: {} in line {} covers it", quote(entry.text),
                        quote(rule->text), rule->where.line),
            "remove it");
        break;
      }
    }
  }

  // The block that takes back a grant of `resource`; nullptr where none does, or nothing is named.
  const Rule* block_of(const std::string& resource, Kind kind) const {
    if (resource.empty()) return nullptr;
    const Decision decision = decide(policy_, kind, resource);
    return decision.verdict == Verdict::kDeny && decision.rule != kOtherwiseRule
               ? &policy_.rule(decision.rule)
               : nullptr;
  }

  // Grants that a block takes back.
  void cancelled() {
    // The manifest's own blocks are there to cut something out of its grants. By path: what lies in
    // a tree stands behind it.
    std::multimap<std::string, const Rule*> blocks;
    for (const Rule& rule : policy_.rules())
      if (rule.verdict == Verdict::kDeny && rule.source != Rule::Source::kManifest &&
          is_concrete(rule.resolved))
        blocks.emplace(path_of(rule.resolved), &rule);
    struct Partly {
      const Rule* grant;
      std::set<std::string> places;  // "~/.ssh (ssh-keys)"
    };
    std::map<std::tuple<std::string, int, int, Kind>, Partly> partly;
    for (const Rule* grant : grants_) {
      if (grant->resolved.empty() || grant->text.starts_with('@')) continue;
      for (const Kind kind : {Kind::kRead, Kind::kWrite, Kind::kRun, Kind::kConnect, Kind::kListen,
                              Kind::kEnvironment, Kind::kVscode}) {
        if (!speaks_of(*grant, kind)) continue;
        if (kind == Kind::kConnect && inputs_.manifest.network.size() > kMostCompared) continue;
        const std::string resource = representative(*grant, kind);
        if (resource.empty()) continue;
        if (const Rule* const block = block_of(resource, kind)) {
          add(Severity::kWarning, grant->where,
              fmt::format("{} grants nothing: {} blocks {}", quote(grant->text), who(*block),
                          quote(block->text)),
              block->source == Rule::Source::kBuiltin
                  ? fmt::format("remove it, or tell users to run with --unblock {}", block->group)
              : block->source == Rule::Source::kManifest ? "remove one of the two"
                                                         : "remove it");
          continue;
        }
        if (kind != Kind::kRead && kind != Kind::kWrite) continue;
        const std::string below = resource == "/" ? "/" : resource + "/";
        for (auto at = blocks.upper_bound(below);
             at != blocks.end() && at->first.starts_with(below); ++at) {
          const Rule* const block = at->second;
          if (!speaks_of(*block, kind)) continue;
          // As "**/…": a name that no project has written, whatever its manifest grants.
          if (block->source == Rule::Source::kBuiltin && block->text.starts_with("${workspace}/"))
            continue;
          Partly& one = partly[{grant->where.file, grant->where.line, grant->where.column, kind}];
          one.grant = grant;
          one.places.insert(fmt::format(
              "{} ({})", quote(block->text),
              block->group.empty() ? label(block->source) : std::string_view(block->group)));
        }
      }
    }
    for (const auto& [key, one] : partly) {
      std::string named;
      size_t count = 0;
      for (const std::string& place : one.places) {
        if (++count > kMaxNamed) break;
        named += (named.empty() ? "" : ", ") + place;
      }
      if (one.places.size() > kMaxNamed)
        named += fmt::format(" and {} more", one.places.size() - kMaxNamed);
      add(Severity::kNote, one.grant->where,
          fmt::format("{} does not grant all in it for {}: blocked are {}", quote(one.grant->text),
                      std::get<Kind>(key) == Kind::kRead ? "reading" : "writing", named),
          "name the folders that are needed");
    }
  }

  // Something that the grant alone is about; empty where there is no such thing.
  static std::string representative(const Rule& grant, Kind kind) {
    if (kind == Kind::kConnect) {
      const auto pattern = parse_network(grant.resolved);
      if (!pattern.ok()) return {};
      const uint16_t port = pattern->first_port;
      switch (pattern->host) {
        case NetworkPattern::Host::kName:
          return fmt::format("{}:{}", pattern->name, port);
        case NetworkPattern::Host::kNetwork: {
          const bool single = pattern->prefix_bits == (pattern->network.is_v4() ? 32 : 128);
          if (!single) return {};
          return pattern->network.is_v4()
                     ? fmt::format("{}:{}", pattern->network.to_string(), port)
                     : fmt::format("[{}]:{}", pattern->network.to_string(), port);
        }
        default:
          return {};
      }
    }
    if (kind == Kind::kListen) return parse_port(grant.resolved) ? grant.resolved : std::string();
    if (kind == Kind::kEnvironment || kind == Kind::kVscode)
      return grant.resolved.ends_with('*') ? std::string() : grant.resolved;
    return is_concrete(grant.resolved) ? path_of(grant.resolved) : std::string();
  }

  static std::string who(const Rule& rule) {
    std::string text = fmt::format("the {}", label(rule.source));
    if (rule.source == Rule::Source::kRemembered) text = "a remembered answer";
    if (!rule.group.empty()) text += fmt::format(" ({})", rule.group);
    return text;
  }

  // Own blocks of what nothing grants: nothing is wrong, but perhaps something is misspelt.
  void idle_blocks() {
    std::set<std::string> trees;
    std::vector<std::string_view> patterns;
    for (const Rule& grant : policy_.rules()) {
      if (grant.verdict != Verdict::kAllow || grant.resolved.empty() ||
          !(speaks_of(grant, Kind::kRead) || speaks_of(grant, Kind::kWrite) ||
            speaks_of(grant, Kind::kRun)))
        continue;
      if (is_concrete(grant.resolved))
        trees.insert(path_of(grant.resolved));
      else
        patterns.push_back(grant.resolved);
    }
    const auto is_granted = [&](const std::string& path) {
      for (std::string at = path;; at = std::string(parent_of(at))) {
        if (trees.contains(at)) return true;
        if (at == "/") break;
      }
      const std::string below = path == "/" ? "/" : path + "/";
      const auto inside = trees.lower_bound(below);
      if (inside != trees.end() && inside->starts_with(below)) return true;
      // A wildcard grant could match inside the blocked tree.
      return patterns.size() > kMostCompared ||
             std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
               return pattern.starts_with("**/") || pattern_matches(pattern, path);
             });
    };
    for (const Entry& entry : inputs_.manifest.files.block) {
      std::vector<const Rule*> own;
      const Place place{entry.where.file, entry.where.line, entry.where.column};
      for (auto [at, end] = own_rules_.equal_range(place); at != end; ++at)
        if (at->second->verdict == Verdict::kDeny) own.push_back(at->second);
      const bool idle = std::all_of(own.begin(), own.end(), [&](const Rule* block) {
        return is_concrete(block->resolved) && !is_granted(path_of(block->resolved));
      });
      if (idle && !own.empty())
        add(Severity::kNote, entry.where,
            fmt::format("{} blocks nothing: no rule grants anything there", quote(entry.text)),
            "check its spelling, or remove it");
    }
  }

  void wide_paths() {
    static constexpr std::array<std::string_view, 14> kWide = {
        "/",    "/home", "/root", "/etc", "/var", "/run",   "/proc",
        "/sys", "/dev",  "/srv",  "/mnt", "/opt", "/media", "/boot"};
    for (const Rule* grant : grants_) {
      if (!is_concrete(grant->resolved) || grant->text.starts_with('@')) continue;
      const bool path = speaks_of(*grant, Kind::kRead) || speaks_of(*grant, Kind::kWrite) ||
                        speaks_of(*grant, Kind::kRun);
      if (!path) continue;
      const std::string tree = path_of(grant->resolved);
      const std::string& home = inputs_.variables.home;
      const bool home_or_above = !home.empty() && is_within(home, tree);
      if (home_or_above && tree != "/") {
        add(Severity::kWarning, grant->where,
            fmt::format("{} grants the whole home folder", quote(grant->text)),
            "name the folders in it that are needed");
      } else if (std::find(kWide.begin(), kWide.end(), tree) != kWide.end()) {
        add(Severity::kWarning, grant->where,
            fmt::format("{} grants all of {}", quote(grant->text),
                        tree == "/" ? "the file system" : tree),
            "name the folders that are needed, or a set such as @system");
      } else if (speaks_of(*grant, Kind::kWrite) &&
                 (tree == "/usr" || tree == "/bin" || tree == "/lib" || tree == "/sbin")) {
        add(Severity::kWarning, grant->where,
            fmt::format("{} lets programs of the whole machine be changed", quote(grant->text)),
            "name the folders that are written");
      }
    }
  }

  void wide_networks() {
    for (const Entry& entry : inputs_.manifest.network) {
      const auto pattern = parse_network(entry.text);
      if (!pattern.ok()) continue;
      const bool any =
          pattern->host == NetworkPattern::Host::kAny ||
          (pattern->host == NetworkPattern::Host::kNetwork && pattern->prefix_bits == 0);
      if (any) {
        add(Severity::kWarning, entry.where,
            fmt::format("{} grants every host: whatever can be read can be sent anywhere",
                        quote(entry.text)),
            "name the hosts");
      } else if (pattern->host == NetworkPattern::Host::kBelowName &&
                 pattern->name.find('.') == std::string::npos) {
        add(Severity::kWarning, entry.where,
            fmt::format("{} grants every host of a top-level domain", quote(entry.text)),
            "name the hosts");
      } else if (pattern->all_ports()) {
        add(Severity::kNote, entry.where, fmt::format("{} grants every port", quote(entry.text)),
            "name the port, such as 443");
      }
    }
  }

  void secret_variables() {
    static constexpr std::array<std::string_view, 8> kSigns = {
        "TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "API_KEY", "PRIVATE_KEY", "CREDENTIAL"};
    for (const Entry& entry : inputs_.manifest.environment) {
      const bool secret = std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
        return entry.text.find(sign) != std::string::npos;
      });
      if (secret)
        add(Severity::kWarning, entry.where,
            fmt::format("{} looks like a secret", quote(entry.text)),
            "leave it out if the program works without it");
      else if (entry.text.ends_with('*') && entry.text.size() <= 3)
        add(Severity::kWarning, entry.where,
            fmt::format("{} grants many unrelated variables", quote(entry.text)),
            "name the variables");
    }
  }

  // Shells and interpreters run whatever text they are given, so granting one grants all that its
  // compartment allows. That is so by design, but an author should know it.
  void programs() {
    const auto all = std::find_if(inputs_.manifest.run.begin(), inputs_.manifest.run.end(),
                                  [](const Entry& entry) { return entry.text == kPrograms; });
    for (const Entry& entry : inputs_.manifest.run) {
      if (all == inputs_.manifest.run.end() || entry.text == kPrograms) continue;
      const auto rules = rules_of(entry, Kind::kRun);
      // Elsewhere a program starts only where it is named, which makes a tree of itself.
      const auto is_whole = [&](const Rule* rule) {
        if (!is_concrete(rule->resolved)) return false;
        const std::string path = path_of(rule->resolved);
        return std::any_of(policy_.whole_trees().begin(), policy_.whole_trees().end(),
                           [&](const WholeTree& tree) {
                             return tree.read && tree.path != path && is_within(path, tree.path);
                           });
      };
      const bool covered = std::all_of(rules.begin(), rules.end(), is_whole);
      if (covered && !rules.empty())
        add(Severity::kWarning, entry.where,
            fmt::format("{} grants nothing more: \"{}\" in line {} covers it", quote(entry.text),
                        kPrograms, all->where.line),
            "remove it");
    }
    static constexpr std::array<std::string_view, 29> kInterpreters = {
        "sh",      "bash",    "dash", "zsh",   "fish",  "ksh",  "mksh",   "csh",
        "tcsh",    "busybox", "env",  "xargs", "nohup", "node", "nodejs", "python",
        "python2", "python3", "perl", "ruby",  "php",   "lua",  "awk",    "gawk",
        "mawk",    "deno",    "bun",  "make",  "find"};
    for (const Entry& entry : inputs_.manifest.run) {
      const std::string_view name =
          entry.text.starts_with('/') ? last_of(entry.text) : std::string_view(entry.text);
      if (std::find(kInterpreters.begin(), kInterpreters.end(), name) != kInterpreters.end())
        add(Severity::kNote, entry.where,
            fmt::format("{} runs whatever it is told to: with it the list of programs says little",
                        quote(entry.text)),
            "name the programs that are needed, if they are few");
      if (name.starts_with("ld.so") || name.starts_with("ld-linux"))
        add(Severity::kWarning, entry.where,
            fmt::format("{} is the loader: it runs any file", quote(entry.text)), "remove it");
    }
  }

  void written_and_run() {
    for (const Rule* run : grants_) {
      if (!speaks_of(*run, Kind::kRun) || !is_concrete(run->resolved)) continue;
      const std::string path = path_of(run->resolved);
      for (const Rule* write : grants_) {
        if (!speaks_of(*write, Kind::kWrite) || !is_concrete(write->resolved) ||
            !comparable(write->text, run->text))
          continue;
        const std::string tree = path_of(write->resolved);
        if (!is_within(path, tree) && !is_within(tree, path)) continue;
        add(Severity::kNote, run->where,
            fmt::format("{} can be written (line {}) and run: the program can make programs of its "
                        "own there",
                        quote(run->text), write->where.line),
            "keep what is written apart from what is run");
        break;
      }
    }
  }

  // Trees whose programs the kernel will not start: not all of them may be read.
  void unstartable() {
    const std::set<std::string> trees(policy_.runnable_trees().begin(),
                                      policy_.runnable_trees().end());
    std::vector<const Rule*> blocks;
    for (const Rule& rule : policy_.rules())
      if (rule.verdict == Verdict::kDeny && speaks_of(rule, Kind::kRead)) blocks.push_back(&rule);
    for (const Rule* run : grants_) {
      if (!speaks_of(*run, Kind::kRun) || !is_concrete(run->resolved)) continue;
      const std::string tree = path_of(run->resolved);
      struct stat status {};
      if (!trees.contains(tree) || ::stat(tree.c_str(), &status) != 0 ||
          can_start(policy_, tree + "/program"))
        continue;
      const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const Rule* rule) {
        return reaches_into(rule->resolved, tree);
      });
      const Rule* const inside = found != blocks.end() ? *found : nullptr;
      const bool granted = policy_.decide_path(Kind::kRead, tree).verdict == Verdict::kAllow;
      add(Severity::kWarning, run->where,
          granted && inside != nullptr
              ? fmt::format("programs in {} cannot start: {} blocks {} in it, and the kernel lets "
                            "programs start only in what may be read as a whole",
                            quote(run->text), who(*inside), quote(inside->text))
              : fmt::format("programs in {} cannot start: it may be run and not read",
                            quote(run->text)),
          granted ? "name the programs, or folders with nothing blocked in them"
                  : "add it to files.read");
    }
  }

  void unreadable_writes() {
    for (const Rule* write : grants_) {
      if (!speaks_of(*write, Kind::kWrite) || !is_concrete(write->resolved)) continue;
      const std::string path = path_of(write->resolved);
      if (policy_.decide_path(Kind::kRead, path).verdict != Verdict::kAllow &&
          policy_.decide_path(Kind::kWrite, path).verdict == Verdict::kAllow)
        add(Severity::kNote, write->where,
            fmt::format("{} can be written and not read", quote(write->text)),
            "add it to files.read if the program reads what it writes");
    }
  }

  const PolicyInputs& inputs_;
  const Policy& policy_;
  std::vector<const Rule*> grants_;
  std::multimap<Place, const Rule*> own_rules_;  // the manifest's, by where they stand
  std::vector<Diagnostic> found_;
  std::set<std::tuple<std::string, int, int, std::string>> told_;
};

}  // namespace

std::vector<Diagnostic> lint(const PolicyInputs& inputs, const Policy& policy) {
  return Linter(inputs, policy, Rule::Source::kManifest).run();
}

std::vector<std::string> idle_flags(const PolicyInputs& inputs, const Policy& policy) {
  return Linter(inputs, policy, Rule::Source::kCommandLine).idle_flags();
}

}  // namespace bulkhead
