#include "policy/review.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/path.h"
#include "policy/network_rule.h"
#include "policy/review_words.h"
#include "policy/rule_match.h"

namespace bulkhead {
namespace {

struct GroupNoun {
  std::string_view group, noun;
};
constexpr std::array<GroupNoun, 18> kSecrets = {{
    {"ssh-keys", "keys of ssh"},
    {"gpg-keys", "keys of GnuPG"},
    {"signing-keys", "signing keys"},
    {"aws", "credentials of clouds"},
    {"gcloud", "credentials of clouds"},
    {"azure", "credentials of clouds"},
    {"other-clouds", "credentials of clouds"},
    {"containers", "credentials of containers and clusters"},
    {"clusters", "credentials of containers and clusters"},
    {"registry-credentials", "tokens of package registries"},
    {"git-credentials", "passwords of git servers"},
    {"databases", "passwords of databases"},
    {"browsers", "browser profiles"},
    {"mail-and-chat", "mail and chats"},
    {"keyrings", "keyrings and password managers"},
    {"wallets", "wallets"},
    {"shell-history", "histories of shells"},
    {"editor-secrets", "secrets of the editor"},
}};
constexpr std::array<GroupNoun, 10> kAutorun = {{
    {"git-hooks", "git's hooks and settings"},
    {"package-settings", "settings of package managers"},
    {"ci-pipelines", "workflows and pipelines"},
    {"shell-startup", "start-up files of shells"},
    {"tool-startup", "settings of tools that name programs"},
    {"compiled-code", "what interpreters compiled for later"},
    {"autostart", "what a session starts"},
    {"editor-settings", "the editor's settings and extensions"},
    {"workspace-autorun", "tasks and launches of a workspace"},
    {"assistant-settings", "what assistants obey"},
}};
constexpr std::array<GroupNoun, 6> kServices = {{
    {"agents", "ssh-agent and its kind"},
    {"container-sockets", "Docker and its kind"},
    {"dbus", "the message buses"},
    {"x11", "the screen and keyboard"},
    {"wayland", "the screen and keyboard"},
    {"sound", "the microphone"},
}};
constexpr std::array<std::string_view, 9> kNotInEditor = {
    "terminal",       "tasks",     "debug",         "commands-foreign", "settings-write-foreign",
    "authentication", "clipboard", "terminal-read", "workspace-folders"};

constexpr size_t kManyPlaces = 40;

class Teller {
 public:
  explicit Teller(const ReviewContext& context)
      : context_(context), inputs_(context.inputs), policy_(context.policy) {
    for (RuleId id = 0; id < policy_.rules().size(); ++id)
      if (is_told(policy_.rule(id))) told_.push_back(id);
    asks_ = policy_.otherwise() == Otherwise::kAsk;
    for (const VscodeReach& reach : vscode_reaches()) {
      if (policy_.decide_vscode(reach.permission).verdict != Verdict::kAllow) continue;
      leaves_ = leaves_ || reach.leaves;
      sends_ = sends_ || reach.sends;
    }
  }

  Statements run() && {
    Statements all;
    all.permits = permits_of(context_, told_);
    if (!policy_.private_home().empty())
      all.permits.push_back(
          {"Keep files in a home folder of its own; of yours it finds only what is "
           "granted",
           {}});
    if (asks_)
      all.permits.push_back(
          {"Ask you, while it runs, about whatever is neither granted nor blocked", {}});
    // What runs as the user, outside of the compartment, can do whatever the user can; no sentence
    // about what cannot be done would hold.
    if (!leaves_) {
      out_ = &all.cannot;
      cannot_secrets();
      cannot_home();
      cannot_write();
      cannot_network();
      cannot_run();
      cannot_autorun();
      cannot_services();
      cannot_editor();
      cannot_exceed();
    }
    out_ = &all.unusual;
    unusual_reach();
    unusual_lifts();
    unusual_reads();
    unusual_writes();
    unusual_programs();
    unusual_network();
    return all;
  }

 private:
  void add(std::string text, std::vector<Claim> claims = {}, Topic topic = Topic::kOther) {
    out_->push_back({std::move(text), std::move(claims), topic});
  }
  // Of what is unusual, with the grants that it tells of.
  void add_unusual(std::string text, std::vector<Claim> claims, std::vector<RuleId> rules) {
    out_->push_back({std::move(text), std::move(claims), Topic::kOther, std::move(rules)});
  }
  bool allowed(Kind kind, std::string_view resource) const {
    return decide(policy_, kind, resource).verdict == Verdict::kAllow;
  }
  bool none_allowed(const std::vector<Claim>& claims) const {
    return std::none_of(claims.begin(), claims.end(),
                        [&](const Claim& claim) { return allowed(claim.kind, claim.resource); });
  }
  // For what is denied because nothing grants it: with "ask" a person may grant it yet.
  std::string unasked(const std::string& text) const {
    return asks_ ? text + ", without asking you" : text;
  }
  // Adds a sentence only where each example of it holds.
  void add_cannot(std::string text, std::vector<Claim> claims, Topic topic = Topic::kOther) {
    if (none_allowed(claims)) add(std::move(text), std::move(claims), topic);
  }

  // Grants of one kind that are told and not blocked whole.
  std::vector<RuleId> grants(Kind kind) const {
    std::vector<RuleId> result;
    for (const RuleId id : told_)
      if (!policy_.rule(id).resolved.empty() && takes_effect(context_, kind, policy_.rule(id)))
        result.push_back(id);
    return result;
  }
  static std::string concrete(const Rule& rule) { return concrete_path(rule.resolved); }
  static bool within_any(std::string_view path, const std::vector<std::string>& folders) {
    return std::any_of(folders.begin(), folders.end(),
                       [&](const std::string& folder) { return is_within(path, folder); });
  }
  bool is_own(std::string_view path) const {
    return within_any(path, context_.workspace) || within_any(path, context_.storage) ||
           within_any(path, context_.extension);
  }

  // Examples of what a group of the blocklist denies, by rules that name one path.
  std::vector<Claim> denied_by(std::string_view group, Kind kind) const {
    std::vector<Claim> claims;
    for (const Rule& rule : policy_.rules()) {
      if (rule.verdict != Verdict::kDeny || rule.source == Rule::Source::kManifest ||
          rule.group != group || !speaks_of(rule, kind))
        continue;
      if (kind == Kind::kEnvironment) {
        if (!rule.resolved.ends_with('*')) claims.push_back({kind, rule.resolved});
      } else if (std::string path = concrete(rule); !path.empty()) {
        claims.push_back({kind, std::move(path)});
      } else if (rule.resolved.starts_with("**/") &&
                 rule.resolved.find_first_of("*\\", 2) == std::string::npos) {
        for (const std::string& folder : context_.workspace)
          claims.push_back({kind, folder + rule.resolved.substr(2)});
      }
    }
    return claims;
  }
  template <size_t N>
  void cannot_by_groups(const std::string& verb, const std::array<GroupNoun, N>& groups, Kind kind,
                        Topic topic = Topic::kOther) {
    std::vector<std::string> nouns;
    std::vector<Claim> all;
    bool whole = true;
    for (const GroupNoun& each : groups) {
      std::vector<Claim> claims = denied_by(each.group, kind);
      const bool denied = !claims.empty() && none_allowed(claims);
      whole = whole && denied;
      if (!denied) continue;
      if (std::find(nouns.begin(), nouns.end(), each.noun) == nouns.end())
        nouns.emplace_back(each.noun);
      all.insert(all.end(), claims.begin(), claims.end());
    }
    if (!nouns.empty())
      add(fmt::format("{}{}", verb, joined(nouns, N)), std::move(all),
          whole ? topic : Topic::kOther);
  }

  void cannot_secrets() {
    cannot_by_groups("Read your keys and passwords where programs keep them: ", kSecrets,
                     Kind::kRead, Topic::kSecrets);
    auto variables = denied_by("secret-variables", Kind::kEnvironment);
    if (!variables.empty())
      add_cannot("See environment variables that are known to carry passwords and tokens",
                 std::move(variables));
  }

  void cannot_home() {
    const std::string& home = inputs_.variables.home;
    if (home.empty()) return;
    add_cannot(
        unasked(fmt::format("Read the rest of your home folder {}", escape_for_display(home))),
        {{Kind::kRead, join(home, "Documents")}, {Kind::kRead, join(home, ".bulkhead.probe")}},
        Topic::kHome);
  }

  void cannot_write() {
    bool workspace = false, storage = false, extension = false;
    for (const RuleId id : grants(Kind::kWrite)) {
      const std::string path = concrete(policy_.rule(id));
      if (path.empty() || !is_own(path)) return;
      workspace = workspace || within_any(path, context_.workspace);
      storage = storage || within_any(path, context_.storage);
      extension = extension || within_any(path, context_.extension);
    }
    std::vector<std::string> nouns;
    if (workspace) nouns.emplace_back("your workspace");
    if (extension) nouns.emplace_back("its own folder");
    if (storage) nouns.emplace_back("its own storage");
    std::vector<Claim> claims = {{Kind::kWrite, "/etc/bulkhead.probe"},
                                 {Kind::kWrite, "/usr/bin/bulkhead.probe"}};
    if (!inputs_.variables.home.empty())
      claims.push_back({Kind::kWrite, join(inputs_.variables.home, "bulkhead.probe")});
    add_cannot(
        unasked(nouns.empty() ? "Change your files" : "Change files outside of " + joined(nouns)),
        std::move(claims));
  }

  void cannot_network() {
    if (sends_) return;
    const bool some =
        std::any_of(policy_.rules().begin(), policy_.rules().end(), [&](const Rule& rule) {
          return rule.verdict == Verdict::kAllow && takes_effect(context_, Kind::kConnect, rule);
        });
    add_cannot(unasked(some ? "Connect to any other host" : "Use the network"),
               {{Kind::kConnect, "bulkhead-probe.example:443"},
                {Kind::kConnect, "93.184.215.14:443"},
                {Kind::kLookup, "bulkhead-probe.example"}},
               some ? Topic::kOtherHosts : Topic::kNetwork);
  }

  void cannot_run() {
    bool own = false;
    for (const RuleId id : grants(Kind::kRun)) {
      if (!within_any(concrete(policy_.rule(id)), context_.extension)) {
        add_cannot(unasked("Run any other program"), {{Kind::kRun, "/usr/bin/bulkhead.probe"}});
        return;
      }
      own = true;
    }
    add_cannot(unasked(own ? "Run programs other than its own" : "Run other programs"),
               {{Kind::kRun, "/usr/bin/bulkhead.probe"}});
  }

  void cannot_autorun() {
    cannot_by_groups("Change what runs by itself outside of the compartment: ", kAutorun,
                     Kind::kWrite);
  }
  void cannot_services() {
    cannot_by_groups("Reach services that act for you: ", kServices, Kind::kWrite);
  }

  void cannot_editor() {
    if (inputs_.manifest.extension.empty()) return;
    std::vector<Claim> claims;
    std::string text;
    for (const std::string_view permission : kNotInEditor) {
      if (allowed(Kind::kVscode, permission)) continue;
      text += fmt::format("{}{}", text.empty() ? "" : "; ", vscode_about(permission));
      claims.push_back({Kind::kVscode, std::string(permission)});
    }
    if (!claims.empty()) add(unasked("In the editor: " + text), std::move(claims));
  }

  void cannot_exceed() {
    const std::string limits = limits_in_words(policy_.limits(), "or");
    if (!limits.empty()) add("Use more than " + limits);
  }

  void unusual_reach() {
    for (const VscodeReach& reach : vscode_reaches()) {
      if (!allowed(Kind::kVscode, reach.permission)) continue;
      std::vector<RuleId> rules;
      for (const RuleId id : grants(Kind::kVscode))
        if (policy_.rule(id).resolved == reach.permission) rules.push_back(id);
      add_unusual(
          fmt::format("{}: {}", capitalised(vscode_about(reach.permission)), reach.consequence),
          {{Kind::kVscode, std::string(reach.permission)}}, std::move(rules));
    }
  }

  void unusual_lifts() {
    for (const std::string& name : inputs_.lifted) {
      std::string reason = name == "all" ? "Everything that is blocked for all" : "";
      for (const Blocklist& list : inputs_.blocklists)
        for (const BlockGroup& group : list.groups)
          if (list.source == Blocklist::Source::kBuiltin && group.name == name)
            reason = group.reason;
      add(fmt::format("The block \"{}\" is lifted: {}", escape_for_display(name),
                      escape_for_display(reason)));
    }
  }

  // Names of paths, each once, those that hold most first.
  static std::string list_of(std::vector<std::string> paths) {
    std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
      const auto depth = [](const std::string& text) {
        return text == "/" ? 0 : std::count(text.begin(), text.end(), '/');
      };
      return std::pair(depth(a), a) < std::pair(depth(b), b);
    });
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return joined(paths);
  }

  void unusual_reads() {
    const std::string& home = inputs_.variables.home;
    std::vector<std::string> in_home, anywhere;
    std::vector<RuleId> of_home, of_anywhere, of_others;
    size_t places = 0;
    bool whole_home = false, whole_system = false;
    for (const RuleId id : grants(Kind::kRead)) {
      const Rule& rule = policy_.rule(id);
      if (rule.text.starts_with('@')) continue;
      ++places;
      const std::string path = concrete(rule);
      if (rule.resolved.starts_with("**/") && rule.resolved.find('*', 3) != std::string::npos) {
        anywhere.push_back(shown_pattern(rule.resolved).substr(3));
        of_anywhere.push_back(id);
      }
      const std::string start = path.empty() ? rule.resolved : path;
      const bool holds_home = !path.empty() && !home.empty() && is_within(home, path);
      whole_system = whole_system || path == "/";
      whole_home = whole_home || holds_home;
      if (!home.empty() && start.starts_with(home + "/") && !is_own(start)) {
        in_home.push_back(shown_pattern(rule.resolved));
        of_home.push_back(id);
      } else if (holds_home) {
        of_home.push_back(id);
      }
      for (const std::string& own : context_.extension) {
        const std::string shelf(parent_of(own));
        if (path.empty() || is_own(path) || within_any(shelf, context_.workspace)) continue;
        if (is_within(path, shelf) || is_within(shelf, path)) of_others.push_back(id);
      }
    }
    if (whole_system) {
      add_unusual("Read all files of this machine that are not blocked", {}, std::move(of_home));
    } else if (whole_home) {
      add_unusual(fmt::format("Read everything in your home folder {} that is not blocked",
                              escape_for_display(home)),
                  {}, std::move(of_home));
    } else if (!in_home.empty()) {
      add_unusual("Read in your home folder: " + list_of(std::move(in_home)), {},
                  std::move(of_home));
    }
    if (!anywhere.empty())
      add_unusual("Read by name alone, wherever it lies: " + list_of(anywhere), {},
                  std::move(of_anywhere));
    if (!of_others.empty())
      add_unusual("Read the folders of other extensions", {}, std::move(of_others));
    if (places > kManyPlaces)
      add(fmt::format("Its manifest names {} places to read: the lists here are shortened",
                      places));
  }

  void unusual_writes() {
    std::vector<std::string> outside, anywhere;
    std::vector<RuleId> of_outside, of_anywhere, of_code;
    std::vector<Claim> claims;
    for (const RuleId id : grants(Kind::kWrite)) {
      const Rule& rule = policy_.rule(id);
      const std::string path = concrete(rule);
      const bool code =
          !path.empty() &&
          std::any_of(context_.extension.begin(), context_.extension.end(), [&](const auto& own) {
            return is_within(path, own) || is_within(own, path);
          });
      if (code) of_code.push_back(id);
      if (rule.resolved.starts_with("**/")) {
        anywhere.push_back(shown_pattern(rule.resolved).substr(3));
        of_anywhere.push_back(id);
      } else if (path.empty() || !is_own(path)) {
        outside.push_back(shown_pattern(rule.resolved));
        of_outside.push_back(id);
        if (!path.empty()) claims.push_back({Kind::kWrite, path});
      }
    }
    if (!outside.empty())
      add_unusual("Change files outside of your workspace: " + list_of(std::move(outside)),
                  std::move(claims), std::move(of_outside));
    if (!anywhere.empty())
      add_unusual("Change by name alone, wherever it lies: " + list_of(std::move(anywhere)), {},
                  std::move(of_anywhere));
    if (!of_code.empty())
      add_unusual("Change its own folder, and with it the code that you review here", {},
                  std::move(of_code));
  }

  void unusual_programs() {
    std::set<std::string> runners, trees;
    std::vector<RuleId> of_runners, of_trees;
    std::vector<Claim> claims;
    for (const RuleId id : grants(Kind::kRun)) {
      const Rule& rule = policy_.rule(id);
      const std::string path = concrete(rule);
      if (rule.source == Rule::Source::kBaseline || path.empty()) continue;
      const auto& folders = policy_.runnable_trees();
      if (std::find(folders.begin(), folders.end(), path) != folders.end()) {
        if (within_any(path, context_.extension)) continue;
        trees.insert(escape_for_display(path));
        of_trees.push_back(id);
      } else if (runs_any_code(path)) {
        runners.insert(escape_for_display(last_of(path)));
        of_runners.push_back(id);
        claims.push_back({Kind::kRun, path});
      }
    }
    if (!runners.empty())
      add_unusual(fmt::format("Run {}, which can be told to run anything else",
                              joined({runners.begin(), runners.end()})),
                  std::move(claims), std::move(of_runners));
    if (!trees.empty())
      add_unusual("Run whatever lies in " + joined({trees.begin(), trees.end()}), {},
                  std::move(of_trees));
  }

  void unusual_network() {
    using Host = NetworkPattern::Host;
    std::vector<RuleId> everything, near;
    for (const RuleId id : grants(Kind::kConnect)) {
      const auto pattern = parse_network(policy_.rule(id).resolved);
      if (!pattern.ok()) continue;
      const bool network = pattern->host == Host::kNetwork;
      const bool special = network && network_is_special(pattern->network, pattern->prefix_bits);
      if (pattern->host == Host::kLoopback || special) near.push_back(id);
      const unsigned wide = network && pattern->network.is_v4() ? 16 : 32;
      if (pattern->host == Host::kAny || (network && !special && pattern->prefix_bits < wide) ||
          (pattern->host == Host::kBelowName && pattern->name.find('.') == std::string::npos))
        everything.push_back(id);
    }
    if (!everything.empty())
      add_unusual("Connect to any host, so that what it reads can go anywhere", {},
                  std::move(everything));
    if (!near.empty())
      add_unusual("Connect to services of this machine or of your own network", {},
                  std::move(near));
  }

  const ReviewContext& context_;
  const PolicyInputs& inputs_;
  const Policy& policy_;
  std::vector<RuleId> told_;
  bool asks_ = false, leaves_ = false, sends_ = false;
  std::vector<Statement>* out_ = nullptr;
};

std::vector<std::string> texts_of(std::vector<Statement> statements) {
  std::vector<std::string> result;
  result.reserve(statements.size());
  for (Statement& each : statements) result.push_back(std::move(each.text));
  return result;
}

}  // namespace

Statements statements(const PolicyInputs& inputs, const Policy& policy, const OwnFolders& own) {
  const ReviewContext context = review_context(inputs, policy, own);
  return Teller(context).run();
}

Review review(const PolicyInputs& inputs, const Policy& policy, const OwnFolders& own) {
  Statements all = statements(inputs, policy, own);
  return {texts_of(std::move(all.permits)), texts_of(std::move(all.cannot)),
          texts_of(std::move(all.unusual))};
}

}  // namespace bulkhead
