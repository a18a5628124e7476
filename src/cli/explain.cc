// bulkhead explain: which rule decides, and the smallest change that would alter it.
#include "policy/explain.h"

#include <fmt/format.h>

#include "base/path.h"
#include "base/spelling.h"
#include "cli/policy_options.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/port_rule.h"
#include "policy/vscode_permissions.h"
#include "sandbox/home/private_home.h"
#include "sandbox/limits/outcome.h"
#include "session/session.h"
#include "terminal/user_terminal.h"

namespace bulkhead {
namespace {

constexpr int kDenied = 1, kAsked = 3;

struct ExplainOptions {
  PolicyOptions policy;
  std::string program, kind, resource;
  bool json = false;
};

// The kinds that a person may ask about, as the manifest's fields are called.
std::optional<Kind> askable(std::string_view text) {
  const auto kind = kind_of(text);
  return kind != Kind::kSystem ? kind : std::nullopt;
}

std::string kind_names() {
  std::string names;
  for (const std::string_view name : kKindLabels)
    if (askable(name)) names.append(names.empty() ? "" : "|").append(name);
  return names;
}

std::vector<std::string_view> vscode_names() {
  std::vector<std::string_view> names;
  names.reserve(kVscodePermissions.size() + kVscodeGroups.size());
  for (const VscodePermission& permission : kVscodePermissions) names.push_back(permission.name);
  for (const VscodeGroup& group : kVscodeGroups) names.push_back(group.name);
  return names;
}

Result<std::string> resource_of(const Session& session, Kind kind, const std::string& text) {
  if (text.empty())
    return Error{.message = fmt::format("an empty RESOURCE names nothing to {}", label(kind))};
  switch (kind) {
    case Kind::kRead:
    case Kind::kWrite:
    case Kind::kReadStatus:
    case Kind::kWriteStatus:
      return typed_path(session, text);
    case Kind::kRun: {
      auto program =
          find_program({text}, session.folder, session.inputs.search_path, session.homes);
      if (!program.ok()) return std::move(program).error();
      return program->canonical;
    }
    case Kind::kConnect:
      if (text.find(':') == std::string::npos)
        return Error{.message = fmt::format("{}: name a port too, such as {}:443", text, text)};
      return text;
    case Kind::kListen:
      if (!parse_port(text))
        return Error{.message = fmt::format("{}: name a port, such as 5173", text)};
      return text;
    case Kind::kVscode:
      if (const auto group = vscode_group(text))
        return Error{.message = fmt::format("{} is a set of permissions, which are decided one by "
                                            "one: name {}",
                                            text, fmt::join(*group, " or "))};
      if (!is_vscode_permission(text))
        return Error{.message = fmt::format("no permission of the VS Code API is called \"{}\": {}",
                                            text, suggestion(text, vscode_names()))};
      return text;
    case Kind::kEnvironment:
      if (const size_t equals = text.find('='); equals != std::string::npos)
        return Error{.message = fmt::format("{}: name the variable alone, such as {}", text,
                                            equals > 0 ? text.substr(0, equals) : "PATH")};
      return text;
    default:
      return text;
  }
}

// Whether a program finds by that path only what it made there itself.
bool is_in_private_home(const Session& session, Kind kind, const std::string& resource) {
  if (session.policy->private_home().empty() || kind == Kind::kConnect || kind == Kind::kLookup ||
      kind == Kind::kListen || kind == Kind::kVscode || kind == Kind::kEnvironment)
    return false;
  const auto home = plan_home(*session.policy, "", session.policy->private_home());
  return home.ok() && home->holds(resource);
}

// A flag that run would refuse is no advice.
bool flag_can_name(Kind kind, const std::string& resource) {
  switch (kind) {
    case Kind::kRead:
      return must_exist(resource, kind).ok();
    case Kind::kWrite:
    case Kind::kWriteStatus:
      return must_exist(resource, Kind::kWrite).ok();
    default:
      return true;
  }
}

std::string explanation_json(const Policy& policy, Kind kind, const Explanation& found, bool own,
                             const std::string& flag) {
  const auto describe_rule = [&](RuleId id) {
    const Rule& rule = policy.rule(id);
    return nlohmann::json{{"source", label(rule.source)},
                          {"verdict", label(rule.verdict)},
                          {"text", rule.text},
                          {"resolved", rule.resolved},
                          {"group", rule.group},
                          {"file", rule.where.file},
                          {"line", rule.where.line}};
  };
  nlohmann::json also = nlohmann::json::array();
  for (const RuleId id : found.also) also.push_back(describe_rule(id));
  return to_line({{"verdict", label(found.decision.verdict)},
                  {"kind", label(kind)},
                  {"resource", found.resource},
                  {"because", found.because},
                  {"rule", describe_rule(found.decision.rule)},
                  {"also", also},
                  {"change", found.change},
                  {"private-home", own},
                  {"flag", flag}});
}

std::string explanation_text(const Policy& policy, Kind kind, const Explanation& found, bool own) {
  const Verdict verdict = found.decision.verdict;
  const size_t width = terminal_width(STDOUT_FILENO);
  std::string out = paint(label(verdict),
                          verdict == Verdict::kAllow ? Colour::kGreen
                          : verdict == Verdict::kAsk ? Colour::kYellow
                                                     : Colour::kRed,
                          wants_colour(STDOUT_FILENO)) +
                    fmt::format("  {} {}\n", label(kind), escape_for_display(found.resource));
  const auto paragraph = [&](std::string_view text) {
    for (const std::string& line : wrap(escape_quoted(text), width == 0 ? 100'000 : width - 2))
      out += "  " + line + "\n";
  };
  paragraph(found.because);
  for (const RuleId id : found.also) {
    const Rule& rule = policy.rule(id);
    paragraph(fmt::format("overruled: {} {} ({})", label(rule.verdict),
                          escape_for_display(rule.text), label(rule.source)));
  }
  if (own)
    paragraph(
        "This is about the machine's own. The program has a home folder for itself, and finds by "
        "this path what it made there, if anything.");
  if (!found.change.empty()) paragraph("to change it: " + found.change);
  return out;
}

Error unknown_kind(const std::string& name) {
  std::vector<std::string_view> kinds;
  for (const std::string_view each : kKindLabels)
    if (askable(each)) kinds.push_back(each);
  return Error{fmt::format("unknown kind of access \"{}\": {}", name, suggestion(name, kinds))};
}

Result<int> explain_it(const ExplainOptions& options) {
  const auto kind = askable(options.kind);
  if (!kind) return unknown_kind(options.kind);
  SessionRequest request;
  if (!options.program.empty()) request.command = {options.program};
  request.otherwise = is_terminal_there() ? Otherwise::kAsk : Otherwise::kDeny;  // as run has it
  BULKHEAD_TRY(const Session session, open_session(options.policy, request));
  // Without a program no answer counts, but run would refuse here, whatever it is to run.
  if (const GrantStore store(session.places.grants()); session.answers_for.empty())
    if (auto readable = store.load("", ""); !readable.ok()) return std::move(readable).error();
  BULKHEAD_TRY(const std::string resource, resource_of(session, *kind, options.resource));
  const Policy& policy = *session.policy;
  const bool flags = flag_can_name(*kind, resource);
  const Explanation found = explain(policy, *kind, resource, flags);
  const bool own = is_in_private_home(session, *kind, resource);
  const std::string flag = flags ? granting_flag(policy, *kind, resource) : "";
  if (!print(options.json ? explanation_json(policy, *kind, found, own, flag)
                          : explanation_text(policy, *kind, found, own)))
    return kExitFailed;
  const Verdict verdict = found.decision.verdict;
  return verdict == Verdict::kAllow ? 0 : verdict == Verdict::kAsk ? kAsked : kDenied;
}

}  // namespace

Action add_explain(CommandLine& line) {
  auto options = std::make_shared<ExplainOptions>();
  add_policy_options(line, options->policy);
  line.add_option("--program", options->program, "decide as for this program")
      .type_name("PROGRAM")
      .check(not_empty);
  line.add_flag("--json", options->json, "the explanation as JSON");
  line.add_option("KIND", options->kind, "what is attempted").type_name(kind_names()).required();
  line.add_option("RESOURCE", options->resource, "a path, HOST:PORT, program or name")
      .type_name("PATH")
      .required();
  line.footer("Exit code: 0 allowed, 1 denied, 3 asked, 125 error.");
  return [options](const std::vector<std::string>&) {
    const auto code = explain_it(*options);
    if (!code.ok()) complain(code.error());
    return code.ok() ? *code : kExitFailed;
  };
}

}  // namespace bulkhead
