#include "policy/explain.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/nlohmann.h"
#include "base/path.h"
#include "policy/executable_trees.h"
#include "policy/lifts.h"
#include "policy/pattern.h"
#include "policy/port_rule.h"
#include "policy/rule_match.h"
#include "policy/vscode_permissions.h"

namespace bulkhead {
namespace {

using What = ChangeStep::What;

constexpr bool is_path_kind(Kind kind) {
  return kind == Kind::kRead || kind == Kind::kWrite || kind == Kind::kReadStatus ||
         kind == Kind::kWriteStatus || kind == Kind::kRun;
}

std::string in_quotes(std::string_view text) { return "\"" + escape_for_display(text) + "\""; }

bool is_utf8(std::string_view text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

// As a manifest takes it, which holds UTF-8 alone. What a terminal could take amiss is written as
// \uNNNN.
std::string json_text(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '\\');
  const bool shown = escape_for_display(plain) == plain;
  return is_utf8(text) ? nlohmann::json(text).dump(-1, ' ', !shown) : in_quotes(text);
}

// The run flag for a kind; empty where there is none.
std::string_view flag_of(Kind kind) {
  switch (kind) {
    case Kind::kRead:
      return "--read";
    case Kind::kWrite:
    case Kind::kWriteStatus:
      return "--write";
    case Kind::kConnect:
    case Kind::kLookup:
      return "--connect";
    case Kind::kListen:
      return "--listen";
    case Kind::kRun:
      return "--run";
    case Kind::kEnvironment:
      return "--env";
    case Kind::kReadStatus:
    case Kind::kVscode:
    case Kind::kSystem:
      return "";
  }
  return "";
}

}  // namespace

std::string shell_word(std::string_view text) {
  const auto plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:@%+=,").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string without_backslashes(text);
  std::erase(without_backslashes, '\\');
  if (escape_for_display(without_backslashes) == without_backslashes &&
      text.find('\'') == std::string_view::npos)
    return fmt::format("'{}'", text);
  std::string result = "$'";
  for (const char each : text) {
    const auto c = static_cast<unsigned char>(each);
    if (each == '\\' || each == '\'') {
      result += '\\';
      result += each;
    } else if (c < 0x20 || c >= 0x7F) {
      result += fmt::format("\\{:03o}", static_cast<unsigned>(c));  // \x could run on into a digit
    } else {
      result += each;
    }
  }
  return result + "'";
}

namespace {

bool is_folder(std::string_view path) {
  struct stat status {};
  return ::stat(std::string(path).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// A folder that holds what belongs to many. Who was refused it mostly wanted its list of names, and
// nobody should be led to grant all of it for that.
bool is_wide_folder(std::string_view path) {
  const bool wide = parent_of(path) == "/" || parent_of(path) == "/home";
  return wide && is_folder(path);
}

bool writes(Kind kind) { return kind == Kind::kWrite || kind == Kind::kWriteStatus; }

// To write there is to change the machine for everybody, and no project needs that: what asks for
// it wants something else, such as a link to a program.
bool is_of_the_system(std::string_view path) {
  constexpr std::string_view kTrees[] = {"/bin", "/boot", "/etc",  "/lib", "/lib32", "/lib64",
                                         "/nix", "/proc", "/sbin", "/sys", "/usr"};
  return std::any_of(std::begin(kTrees), std::end(kTrees),
                     [path](std::string_view tree) { return is_within(path, tree); });
}

std::string names_alone(std::string_view path) {
  return path == "/" ? "/." : fmt::format("{}/.", path);
}

// What a flag takes: paths as they are, since the command line quotes them; other
// entries as in a manifest. Empty where no flag can say it.
std::string flag_for(Kind kind, std::string_view resource) {
  const std::string_view flag = flag_of(kind);
  if (flag.empty()) return {};
  // There it would be a pattern, and a program that tries names of its own choice says what is
  // proposed here.
  if (is_path_kind(kind) && resource.find('*') != std::string_view::npos) return {};
  if (writes(kind) && is_wide_folder(resource)) return {};
  if (kind == Kind::kRead && is_wide_folder(resource))
    return fmt::format("{} {}", flag, shell_word(names_alone(resource)));
  if (kind == Kind::kLookup)
    return fmt::format("{} {}", flag, shell_word(fmt::format("{}:443", resource)));
  return fmt::format("{} {}", flag, shell_word(resource));
}

// The entry in a manifest that names exactly this; empty where none can.
std::string entry_for(Kind kind, std::string_view resource) {
  if (is_path_kind(kind)) return is_canonical(resource) ? quote_path(resource) : std::string();
  switch (kind) {
    case Kind::kConnect: {
      const auto endpoint = parse_endpoint(kind, resource);
      return endpoint ? std::string(resource) : std::string();
    }
    case Kind::kLookup: {
      const auto endpoint = parse_endpoint(kind, resource);
      return endpoint ? endpoint->name + ":443" : std::string();
    }
    case Kind::kListen:
      return parse_port(resource) ? std::string(resource) : std::string();
    case Kind::kEnvironment: {
      const auto ok = [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
      };
      const bool name = !resource.empty() && (resource[0] < '0' || resource[0] > '9') &&
                        std::all_of(resource.begin(), resource.end(), ok);
      return name ? std::string(resource) : std::string();
    }
    case Kind::kVscode:
      return is_vscode_permission(resource) ? std::string(resource) : std::string();
    default:
      return {};
  }
}

// "the built-in blocklist, group ssh-keys", "the manifest".
std::string who(const Rule& rule) {
  std::string text;
  switch (rule.source) {
    case Rule::Source::kOtherwise:
      return "\"otherwise\"";
    case Rule::Source::kCommandLine:
      return "the command line";
    case Rule::Source::kRemembered:
      return "a remembered answer";
    default:
      text = fmt::format("the {}", label(rule.source));
  }
  if (!rule.group.empty() && rule.group[0] != '@' && rule.group != "scratch")
    text += fmt::format(", group {}", rule.group);
  return text;
}

std::string because_of(const Policy& policy, const Explanation& found) {
  const Rule& rule = policy.rule(found.decision.rule);
  const std::string verb = found.decision.verdict == Verdict::kAllow  ? "allowed"
                           : found.decision.verdict == Verdict::kDeny ? "denied"
                                                                      : "asked";
  if (found.decision.rule == kOtherwiseRule) {
    if (is_path_kind(found.kind) && !is_canonical(found.resource))
      return "denied because it is no canonical path: absolute, without \"//\", \".\", \"..\" and "
             "a slash at the end";
    if ((found.kind == Kind::kConnect || found.kind == Kind::kLookup) &&
        !parse_endpoint(found.kind, found.resource))
      return found.kind == Kind::kConnect
                 ? "denied because it is no host and port, such as example.com:443"
                 : "denied because it is no host name";
    if (found.kind == Kind::kListen && !parse_port(found.resource))
      return "denied because it is no port, such as 5173";
    if (found.kind == Kind::kSystem)
      return "denied because no compartment has this kernel interface";
    if (found.decision.verdict == Verdict::kAsk)
      return "asked about, because no rule grants or blocks it and \"otherwise\" is \"ask\"";
    return "denied because no rule grants it";
  }
  if (rule.resolved.empty() || rule.group == "scratch")  // the fixed rules, with a reason each
    return fmt::format("{} because {}", verb, rule.reason);
  std::string text = fmt::format("{} by {}: {}", verb, who(rule), in_quotes(rule.text));
  if (rule.text != rule.resolved) text += fmt::format(", which is {}", in_quotes(rule.resolved));
  if (!rule.where.field.empty() && rule.source != Rule::Source::kCommandLine)
    text += fmt::format(" in {}", escape_for_display(rule.where.field));
  if (!rule.where.file.empty() && rule.source != Rule::Source::kCommandLine)
    text += fmt::format(" ({})", place(rule.where));
  if (!rule.reason.empty()) text += fmt::format(". {}", rule.reason);
  return text;
}

// "add X to Y in the manifest".
std::string addition(Kind kind, std::string_view text) {
  const bool is_port = kind == Kind::kListen;
  return fmt::format("add {} to \"{}{}\" in the manifest",
                     is_port ? std::string(text) : json_text(text), field(kind),
                     is_port ? ".listen" : "");
}

std::string in_words(const ChangeStep& step, std::string_view resource, bool flags) {
  const bool in_manifest = step.what == What::kBlock || step.what == What::kHide;
  if (in_manifest && !is_utf8(step.text)) return "nothing: no manifest can name it, JSON is UTF-8";
  switch (step.what) {
    case What::kGrant: {
      const std::string flag = flags ? flag_for(step.kind, resource) : "";
      if (!flag.empty() && !is_utf8(step.text))
        return fmt::format("run with {} (no manifest can name it: JSON is UTF-8)", flag);
      const std::string manifest = addition(step.kind, step.text);
      // Which port comes with the connection, which a refused name never gets to.
      return flag.empty() ? manifest
                          : fmt::format("run with {}, or {}{}", flag, manifest,
                                        step.kind == Kind::kLookup
                                            ? ", with the port that is to be reached for 443"
                                            : "");
    }
    case What::kUnblock:
      return fmt::format(
          "run with --unblock {}{}", step.text,
          step.of_workspace
              ? fmt::format(", or lift it for this project: bulkhead unblock {}", step.text)
              : "");
    case What::kRemove:
      if (step.source == Rule::Source::kCommandLine)
        return fmt::format("leave out {} {}", escape_for_display(step.where.field),
                           escape_for_display(step.text));
      return fmt::format("remove {} at {}", in_quotes(step.text), place(step.where));
    case What::kBlock:
      if (is_path_kind(step.kind))
        return fmt::format("add {} to \"files.block\" in the manifest", json_text(step.text));
      if (step.kind == Kind::kListen)
        return fmt::format(
            "add {{\"name\": \"my-blocks\", \"network\": {{\"listen\": [{}]}}}} to \"groups\" "
            "in your policy.json",
            step.text);
      return fmt::format(
          "add {{\"name\": \"my-blocks\", \"{}\": [{}]}} to \"groups\" in your policy.json",
          field(step.kind), json_text(step.text));
    case What::kHide:
      return fmt::format("add {} to \"files.hide\" in the manifest", json_text(step.text));
  }
  return {};
}

// As why_no_lift() has it, of the rules that the group became.
bool is_liftable(const Policy& policy, const std::string& group) {
  const auto& rules = policy.rules();
  return std::all_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    return rule.source != Rule::Source::kBuiltin || rule.group != group ||
           ((rule.kinds & 1U << static_cast<unsigned>(Kind::kRead)) == 0 &&
            is_of_workspace(rule.text));
  });
}

// What a step that takes this rule away is. False where nobody but the organisation can.
bool add_removal(const Policy& policy, const Rule& rule, Kind kind,
                 std::vector<ChangeStep>& steps) {
  ChangeStep step;
  step.kind = kind;
  step.text = rule.text;
  step.where = rule.where;
  step.source = rule.source;
  step.what = What::kRemove;
  switch (rule.source) {
    case Rule::Source::kBuiltin:
      step.what = What::kUnblock;
      step.text = rule.group;
      step.of_workspace = is_liftable(policy, rule.group);
      break;
    case Rule::Source::kOrganisation:
    case Rule::Source::kOtherwise:
    case Rule::Source::kBaseline:
      return false;
    case Rule::Source::kTelemetry:  // a grant wins over it
      return true;
    case Rule::Source::kUser:
    case Rule::Source::kManifest:
    case Rule::Source::kCommandLine:
    case Rule::Source::kRemembered:
      break;
  }
  // One entry may have become several rules: folders of a workspace, members of a set or a group.
  const auto same = [&](const ChangeStep& each) {
    return each.what == step.what && each.text == step.text && each.where.file == step.where.file &&
           each.where.line == step.where.line && each.where.column == step.where.column;
  };
  if (std::none_of(steps.begin(), steps.end(), same)) steps.push_back(std::move(step));
  return true;
}

// Steps that turn a denial, or a question, into a grant; `why_not` where there are none.
std::vector<ChangeStep> towards_allow(const Policy& policy, const Explanation& found,
                                      const std::vector<RuleId>& matching, std::string& why_not) {
  std::vector<ChangeStep> steps;
  bool granted = found.kind == Kind::kReadStatus;  // free once nothing hides it
  const std::string entry = entry_for(found.kind, found.resource);
  if (entry.empty()) {
    why_not = found.kind == Kind::kSystem
                  ? "nothing: no manifest and no flag gives a compartment this kernel interface"
                  : "nothing: no rule can name it";
    return {};
  }
  for (const RuleId id : matching) {
    const Rule& rule = policy.rule(id);
    if (rule.verdict == Verdict::kAllow) {
      granted = true;
    } else if (!add_removal(policy, rule, found.kind, steps)) {
      why_not =
          fmt::format("nothing that you can edit: {} blocks it ({})", who(rule), place(rule.where));
      return {};
    }
  }
  if (!granted) {
    ChangeStep step;
    step.what = What::kGrant;
    step.kind = found.kind;
    step.text =
        found.kind == Kind::kRead && is_wide_folder(found.resource) ? names_alone(entry) : entry;
    steps.push_back(std::move(step));
  }
  return steps;
}

// Steps that turn a grant into a denial.
std::vector<ChangeStep> towards_deny(const Policy& policy, const Explanation& found,
                                     const std::vector<RuleId>& matching) {
  ChangeStep step;
  step.kind = found.kind;
  step.text = entry_for(found.kind, found.resource);
  if (found.kind == Kind::kReadStatus) {
    step.what = What::kHide;
    return {step};
  }
  // Where one entry grants exactly this and nothing else, taking it out is the smaller edit; it is
  // the only one for a host that a wide grant covers, beside which no block by name can stand.
  std::vector<ChangeStep> removals;
  bool removable = true, exact = true, wide = false;
  for (const RuleId id : matching) {
    const Rule& rule = policy.rule(id);
    if (rule.verdict != Verdict::kAllow) continue;
    removable = add_removal(policy, rule, found.kind, removals) && removable;
    exact = exact && rule.resolved == step.text && rule.group.empty();
    wide =
        wide || rule.resolved.starts_with("*:") || rule.resolved.find("/0:") != std::string::npos;
  }
  const bool alone = removals.size() == 1;
  if (removable && !removals.empty() &&
      ((exact && alone) || (wide && found.kind == Kind::kConnect) ||
       (wide && found.kind == Kind::kLookup)))
    return removals;
  step.what = What::kBlock;
  if (found.kind == Kind::kLookup)  // only a block of every port stops looking a name up
    step.text = std::string(found.resource) + ":*";
  return {step};
}

}  // namespace

Explanation explain(const Policy& policy, Kind kind, std::string_view resource, bool flags) {
  Explanation found;
  found.kind = kind;
  found.resource = resource;
  found.decision = decide(policy, kind, resource);
  found.because = because_of(policy, found);

  std::vector<RuleId> matching = matching_rules(policy, kind, resource);
  const bool allowed = found.decision.verdict == Verdict::kAllow;
  // In a scratch tree wildcard blocks match and do not count (policy.h): the decision has the word.
  const auto block = [&](RuleId id) { return policy.rule(id).verdict == Verdict::kDeny; };
  if (allowed) std::erase_if(matching, block);
  for (const RuleId id : matching)
    if (id != found.decision.rule) found.also.push_back(id);

  if (kind == Kind::kRun && !can_start(policy, resource)) {
    // What somebody asks about then is why it does not run.
    found.because += fmt::format(". It cannot start all the same: {}", kCannotStart);
    found.steps = {{.kind = kind, .text = entry_for(kind, resource), .where = {}}};
    found.change = in_words(found.steps.front(), resource, flags);
    return found;
  }
  std::string why_not;
  found.steps = allowed ? towards_deny(policy, found, matching)
                        : towards_allow(policy, found, matching, why_not);
  std::vector<std::string> told;  // a group that two rules come from is lifted once
  for (const ChangeStep& step : found.steps) {
    std::string words = in_words(step, resource, flags);
    if (std::find(told.begin(), told.end(), words) != told.end()) continue;
    found.change += (found.change.empty() ? "" : "; and ") + words;
    told.push_back(std::move(words));
  }
  if (found.steps.empty()) found.change = why_not;
  return found;
}

std::string folder_flag(const Policy& policy, Kind kind, const std::string& folder) {
  const Decision decision = decide(policy, kind, folder);
  const bool blocked = decision.verdict == Verdict::kDeny && decision.rule != kOtherwiseRule;
  if (blocked || !is_folder(folder) || folder == "/" || is_wide_folder(folder) ||
      is_of_the_system(folder) || entry_for(kind, folder).empty())
    return {};
  return flag_for(kind, folder);
}

std::string granting_flag(const Policy& policy, Kind kind, std::string_view resource) {
  const Decision decision = decide(policy, kind, resource);
  const bool stuck = kind == Kind::kRun && !can_start(policy, resource);
  // The rule that keeps the names in folders above the workspace blocks nothing: it grants less.
  const bool listing = policy.rule(decision.rule).kinds == 0 && kind == Kind::kRead;
  if (!stuck && !listing &&
      (decision.verdict == Verdict::kAllow || decision.rule != kOtherwiseRule))
    return {};
  if (entry_for(kind, resource).empty()) return {};
  if (kind == Kind::kRun)
    if (const std::string own = own_tree_of(policy, resource); !own.empty())
      return flag_for(kind, own);
  // Its mode or its name was refused; a flag would grant all that is in it.
  if (writes(kind) && (is_folder(resource) || is_of_the_system(resource))) return {};
  if (listing) return fmt::format("{} {}", flag_of(kind), shell_word(names_alone(resource)));
  return flag_for(kind, resource);
}

}  // namespace bulkhead
