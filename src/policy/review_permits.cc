// What rules permit, in sentences: files by where they lie, sets by what they are about, programs,
// hosts, variables, and the editor's own permissions.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/path.h"
#include "policy/network_rule.h"
#include "policy/port_rule.h"
#include "policy/review_words.h"

namespace bulkhead {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Sets that nearly everything reads and that hold nothing of the user's.
constexpr std::array<std::string_view, 7> kPlainSets = {
    "@certificates", "@fonts", "@locale", "@network-config", "@node", "@system", "@time"};

constexpr size_t kMaxCompared = 200;

std::string first_sentence(const std::string& text) {
  const size_t end = text.find(". ");
  std::string result = text.substr(0, end);
  while (result.ends_with('.')) result.pop_back();
  return result;
}

// One path that is granted, with all rights that are granted on it.
struct Place {
  std::string resolved;
  std::string path;  // of a concrete pattern; else empty
  bool anywhere = false;
  bool itself = false;  // the folder without what is in it
  bool read = false, write = false, run = false;
  bool read_whole = false, write_whole = false;  // nothing below it is blocked, nor could be
};

class Permits {
 public:
  Permits(const ReviewContext& context, std::span<const RuleId> rules)
      : context_(context), rules_(rules) {}

  std::vector<Statement> run() && {
    collect();
    tell_known(context_.workspace, "your workspace");
    tell_known(context_.extension, "its own folder");
    tell_known(context_.storage, "its own storage");
    tell_places();
    tell_names();
    tell_sets();
    tell_programs();
    tell_network();
    tell_ports();
    tell_environment();
    tell_vscode();
    return std::move(found_);
  }

 private:
  void add(std::string text, std::vector<Claim> claims) {
    found_.push_back({std::move(text), std::move(claims)});
  }
  const Rule& rule(RuleId id) const { return context_.policy.rule(id); }

  void collect() {
    std::map<std::string, Place> places;
    for (const RuleId id : rules_) {
      const Rule& each = rule(id);
      for (const Kind kind : {Kind::kRead, Kind::kWrite, Kind::kRun}) {
        if (each.resolved.empty() || !takes_effect(context_, kind, each)) continue;
        if (each.text.starts_with('@')) {
          (kind == Kind::kRun ? run_sets_ : sets_)[each.text].push_back(each.resolved);
          continue;
        }
        if (kind == Kind::kRun && !is_tree(each)) {
          programs_.emplace(each.text, each.resolved);
          continue;
        }
        Place& place = places[each.resolved];
        (kind == Kind::kRead ? place.read : kind == Kind::kWrite ? place.write : place.run) = true;
      }
      if (each.resolved.empty() && speaks_of(each, Kind::kRun) && !each.text.starts_with('@'))
        absent_.insert(each.text);
    }
    std::multimap<std::string_view, const WholeTree*> trees;
    for (const WholeTree& tree : context_.policy.whole_trees()) trees.emplace(tree.path, &tree);
    for (auto& [resolved, place] : places) {
      place.resolved = resolved;
      place.path = concrete_path(resolved);
      if (const auto parsed = parse_resolved(resolved)) {
        place.anywhere = parsed->pattern.anywhere;
        place.itself = parsed->itself;
      }
      for (std::string_view at = place.path; !at.empty(); at = parent_of(at)) {
        for (auto [tree, end] = trees.equal_range(at); tree != end; ++tree) {
          place.read_whole = place.read_whole || tree->second->read;
          place.write_whole = place.write_whole || tree->second->write;
        }
        if (at == "/") break;
      }
      places_.push_back(place);
    }
    drop_covered();
  }

  // A folder of programs, as against one program.
  bool is_tree(const Rule& each) const {
    return contains(context_.policy.runnable_trees(), concrete_path(each.resolved));
  }
  // Rights that a place above has as well. What is called by a name of its own keeps it.
  void drop_covered() {
    if (places_.size() > kMaxCompared) return;  // lists are shortened in any case
    const std::vector<Place> all = places_;
    for (Place& inner : places_) {
      if (is_known(inner)) continue;
      for (const Place& outer : all) {
        if (outer.resolved == inner.resolved || outer.anywhere) continue;
        const auto a = parse_resolved(outer.resolved), b = parse_resolved(inner.resolved);
        if (!a || !b || !covers(*a, *b)) continue;
        inner.read = inner.read && !outer.read;
        inner.write = inner.write && !outer.write;
        inner.run = inner.run && !outer.run;
      }
    }
  }
  bool is_known(const Place& place) const {
    return !place.path.empty() &&
           (contains(context_.workspace, place.path) || contains(context_.extension, place.path) ||
            contains(context_.storage, place.path));
  }

  std::vector<Claim> claims_on(const Place& place) const {
    std::vector<Claim> result;
    if (place.path.empty()) return result;
    // A granted tree: the place itself where it is no blocked one, and something in it.
    const std::string inside = join(place.path, "bulkhead.probe");
    if (place.read) result.push_back({Kind::kRead, place.read_whole ? inside : place.path});
    if (place.write) result.push_back({Kind::kWrite, place.write_whole ? inside : place.path});
    return result;
  }

  // "your workspace /a": everything that is granted there, in one sentence.
  void tell_known(const std::vector<std::string>& folders, std::string_view name) {
    std::map<std::string, std::vector<std::string>> by_text;  // sentence → folders
    std::map<std::string, std::vector<Claim>> claims_of;
    for (Place& place : places_) {
      if (place.path.empty() || !contains(folders, place.path)) continue;
      std::string text;
      if (place.read && place.write) {
        text = place.read_whole && place.write_whole ? "Read and change everything in {}"
               : place.read_whole ? "Read everything in {} and change what is not blocked in it"
                                  : "Read and change what is not blocked in {}";
      } else if (place.read) {
        text = place.read_whole ? "Read everything in {}" : "Read what is not blocked in {}";
      } else if (place.write) {
        text = place.write_whole ? "Change everything in {}" : "Change what is not blocked in {}";
      }
      if (!text.empty()) {
        by_text[text].push_back(escape_for_display(place.path));
        for (Claim& claim : claims_on(place)) claims_of[text].push_back(std::move(claim));
      }
      if (place.run) {
        by_text["Run any program in {}"].push_back(escape_for_display(place.path));
        claims_of["Run any program in {}"].push_back(
            {Kind::kRun, join(place.path, "bulkhead.probe")});
      }
      place.read = place.write = place.run = false;
    }
    for (auto& [text, paths] : by_text) {
      // Where there is one workspace or storage, its path says which; of own
      // folders it says little.
      const std::string noun =
          name == "your workspace" ? fmt::format("{} {}", name, joined(paths)) : std::string(name);
      std::string sentence = text;
      sentence.replace(sentence.find("{}"), 2, noun);
      add(std::move(sentence), std::move(claims_of[text]));
    }
  }

  // Other places: those with the same rights in one sentence, the widest first.
  void tell_places() {
    std::stable_sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
      return std::count(a.resolved.begin(), a.resolved.end(), '/') <
             std::count(b.resolved.begin(), b.resolved.end(), '/');
    });
    struct Group {
      std::string_view verb;
      bool read, write;
    };
    for (const Group& group : {Group{"Read and change", true, true}, Group{"Read", true, false},
                               Group{"Change", false, true}}) {
      for (const bool whole : {true, false}) {
        std::vector<std::string> names;
        std::vector<Claim> claims;
        for (const Place& place : places_) {
          const bool is_whole =
              (!place.read || place.read_whole) && (!place.write || place.write_whole);
          if (place.anywhere || place.itself || place.read != group.read ||
              place.write != group.write || is_whole != whole)
            continue;
          names.push_back(shown_pattern(place.resolved));
          for (Claim& claim : claims_on(place)) claims.push_back(std::move(claim));
        }
        if (!names.empty())
          add(fmt::format("{} {}{}", group.verb, joined(names, context_.most),
                          whole ? "" : ", as far as nothing there is blocked"),
              std::move(claims));
      }
    }
    std::vector<std::string> names;
    std::vector<Claim> claims;
    for (const Place& place : places_) {
      if (!place.run || place.path.empty()) continue;
      names.push_back(shown_pattern(place.resolved));
      claims.push_back({Kind::kRun, join(place.path, "bulkhead.probe")});
    }
    if (!names.empty())
      add("Run any program in " + joined(names, context_.most), std::move(claims));
  }

  void tell_names() {
    std::vector<std::string> folders;
    for (const Place& place : places_)
      if (place.itself && place.read)
        folders.push_back(escape_for_display(place.resolved.substr(0, place.resolved.size() - 1)));
    if (!folders.empty())
      add("List the names in " + joined(folders, context_.most) + ", but read nothing there", {});
    for (const auto& [verb, read] : {std::pair{"Read", true}, {"Change", false}}) {
      std::vector<std::string> names;
      for (const Place& place : places_)
        if (place.anywhere && !place.itself && (read ? place.read : place.write))
          names.push_back(escape_for_display(place.resolved.substr(3)));
      if (!names.empty())
        add(fmt::format("{} every file or folder named {}, wherever it lies and is not blocked",
                        verb, joined(names, context_.most)),
            {});
    }
  }

  std::string about(const std::string& set) const {
    const auto found = context_.inputs.sets.find(std::string_view(set).substr(1));
    return found == context_.inputs.sets.end()
               ? std::string()
               : escape_for_display(first_sentence(found->second.about));
  }

  static void claim_set(const std::vector<std::string>& resolved, Kind kind,
                        std::vector<Claim>* claims) {
    for (const std::string& each : resolved) {
      if (std::string path = concrete_path(each); !path.empty())
        claims->push_back({kind, std::move(path)});
    }
  }

  void tell_sets() {
    std::vector<std::string> plain, named;
    std::vector<Claim> plain_claims, claims;
    for (const auto& [set, resolved] : sets_) {
      const bool is_plain =
          std::find(kPlainSets.begin(), kPlainSets.end(), set) != kPlainSets.end();
      (is_plain ? plain : named).push_back(escape_for_display(set));
      claim_set(resolved, Kind::kRead, is_plain ? &plain_claims : &claims);
    }
    if (!plain.empty())
      add("Read programs, libraries and public settings: " + joined(plain),
          std::move(plain_claims));
    if (named.size() > 3) {
      add("Read what these sets hold: " + joined(named, named.size()), std::move(claims));
    } else {
      for (const std::string& set : named) {
        std::vector<Claim> of_set;
        claim_set(sets_[set], Kind::kRead, &of_set);
        add(fmt::format("Read {}: {}", set, about(set)), std::move(of_set));
      }
    }
  }

  void tell_programs() {
    std::vector<std::string> names;
    std::vector<Claim> claims;
    for (const auto& [text, resolved] : programs_) {
      const bool is_name = text.find('/') == std::string::npos;
      names.push_back(is_name ? escape_for_display(text) : shown_pattern(resolved));
      claims.push_back({Kind::kRun, concrete_path(resolved)});
    }
    for (const std::string& text : absent_)
      names.push_back(escape_for_display(text) + " (not installed)");
    if (!names.empty())
      add(fmt::format("Run {}, with these same permissions", joined(names, context_.most)),
          std::move(claims));
    for (const auto& [set, resolved] : run_sets_) {
      std::vector<Claim> of_set;
      if (set == kPrograms) {
        for (const auto* folders : {&context_.workspace, &context_.extension})
          for (const std::string& folder : *folders)
            if (context_.policy.decide_path(Kind::kRead, folder).verdict == Verdict::kAllow)
              of_set.push_back({Kind::kRun, folder});
        add("Run any program that it may read, with these same permissions", std::move(of_set));
        continue;
      }
      claim_set(resolved, Kind::kRun, &of_set);
      add(fmt::format("Run the programs of {}: {}", escape_for_display(set), about(set)),
          std::move(of_set));
    }
  }

  static std::string ports(const NetworkPattern& pattern) {
    if (pattern.all_ports()) return "any port";
    if (pattern.first_port == pattern.last_port) return fmt::format("port {}", pattern.first_port);
    return fmt::format("ports {} to {}", pattern.first_port, pattern.last_port);
  }
  static std::string host(const NetworkPattern& pattern) {
    using Host = NetworkPattern::Host;
    switch (pattern.host) {
      case Host::kName:
        return pattern.name;
      case Host::kBelowName:
        return "every host below " + pattern.name;
      case Host::kLoopback:
        return "services of this machine";
      case Host::kAny:
        return "every public host";
      case Host::kNetwork:
        break;
    }
    const unsigned all = pattern.network.is_v4() ? 32 : 128;
    const std::string address = pattern.network.to_string();
    return pattern.prefix_bits == all
               ? address
               : fmt::format("the network {}/{}", address, pattern.prefix_bits);
  }

  void tell_network() {
    struct Group {
      std::string ports;
      std::vector<std::string> hosts;
      std::vector<Claim> claims;
      bool wide = false;  // more than names, so that a block of addresses may lie within
    };
    std::vector<Group> groups;
    for (const RuleId id : rules_) {
      const Rule& each = rule(id);
      if (!takes_effect(context_, Kind::kConnect, each)) continue;
      const auto pattern = parse_network(each.resolved);
      if (!pattern.ok()) continue;
      const std::string on = ports(*pattern), name = host(*pattern);
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&](const Group& one) { return one.ports == on; });
      if (group == groups.end()) group = groups.insert(groups.end(), Group{on, {}, {}, false});
      if (!contains(group->hosts, name)) group->hosts.push_back(name);
      if (pattern->host == NetworkPattern::Host::kName) {
        group->claims.push_back(
            {Kind::kConnect, fmt::format("{}:{}", pattern->name, pattern->first_port)});
      } else {
        group->wide = true;
      }
    }
    for (Group& group : groups)
      add(fmt::format("Connect to {} on {}{}", joined(group.hosts, context_.most), group.ports,
                      group.wide ? ", where nothing blocks it" : ""),
          std::move(group.claims));
  }

  void tell_ports() {
    std::vector<std::string> ports;
    std::vector<Claim> claims;
    for (const RuleId id : rules_) {
      const Rule& each = rule(id);
      if (!takes_effect(context_, Kind::kListen, each)) continue;
      const std::string name = each.resolved == "*" ? "every port" : "port " + each.resolved;
      if (contains(ports, name)) continue;
      ports.push_back(name);
      if (parse_port(each.resolved)) claims.push_back({Kind::kListen, each.resolved});
    }
    if (!ports.empty())
      add(fmt::format("Be reached by your browser, and by other programs of this machine, at {}",
                      joined(ports, context_.most)),
          std::move(claims));
  }

  void tell_environment() {
    std::vector<std::string> names;
    std::vector<Claim> claims;
    for (const RuleId id : rules_) {
      const Rule& each = rule(id);
      if (each.source == Rule::Source::kBaseline ||
          !takes_effect(context_, Kind::kEnvironment, each) || contains(names, each.text))
        continue;
      names.push_back(each.text);
      if (!each.resolved.ends_with('*')) claims.push_back({Kind::kEnvironment, each.resolved});
    }
    if (!names.empty())
      add(fmt::format("See the environment variable{} {}", names.size() > 1 ? "s" : "",
                      joined(names, context_.most)),
          std::move(claims));
  }

  void tell_vscode() {
    std::vector<std::string> plain;
    std::vector<Claim> claims;
    std::vector<Statement> single;
    std::set<std::string> seen;
    for (const RuleId id : rules_) {
      const Rule& each = rule(id);
      if (!takes_effect(context_, Kind::kVscode, each) || !seen.insert(each.resolved).second)
        continue;
      const auto reaches = vscode_reaches();
      const bool reach = std::any_of(reaches.begin(), reaches.end(), [&](const VscodeReach& one) {
        return one.permission == each.resolved;
      });
      const std::string about(vscode_about(each.resolved));
      if (reach) {
        single.push_back({"In the editor: " + about, {{Kind::kVscode, each.resolved}}});
      } else {
        plain.push_back(about);
        claims.push_back({Kind::kVscode, each.resolved});
      }
    }
    if (!plain.empty()) {
      std::string text = "In the editor: ";
      for (size_t i = 0; i < plain.size(); ++i) text += (i == 0 ? "" : "; ") + plain[i];
      add(std::move(text), std::move(claims));
    }
    for (Statement& one : single) found_.push_back(std::move(one));
  }

  const ReviewContext& context_;
  std::span<const RuleId> rules_;
  std::vector<Statement> found_;
  std::vector<Place> places_;
  std::map<std::string, std::vector<std::string>> sets_, run_sets_;  // by "@name": what they hold
  std::map<std::string, std::string> programs_;                      // as written: its path
  std::set<std::string> absent_;
};

}  // namespace

std::vector<Statement> permits_of(const ReviewContext& context, std::span<const RuleId> rules) {
  return Permits(context, rules).run();
}

}  // namespace bulkhead
