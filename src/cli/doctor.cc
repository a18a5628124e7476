// bulkhead doctor: what this machine can enforce, and what is missing.
#include <fmt/format.h>

#include <algorithm>

#include "cli/code.h"
#include "cli/policy_options.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "sandbox/limits/outcome.h"
#include "sandbox/plan/probe.h"
#include "session/delegated_scope.h"
#include "session/session.h"

namespace bulkhead {
namespace {

// As a run with limits does it: where no cgroup is ours to write, the user's service manager is
// asked for one, and what it does not give is polled.
std::vector<Feature> probe_as_run() {
  Limits limits;
  limits.memory = uint64_t{1} << 30U;
  limits.cpu = 0.5;
  const bool asks = lacks_cgroup(limits);
  const Status entered = asks ? enter_delegated_scope() : Status();
  std::vector<Feature> features = probe_features();
  for (Feature& feature : features) {
    if (!feature.name.starts_with("cgroup-")) continue;
    if (feature.present)
      feature.detail = asks && entered.ok() ? "in a scope of the user's service manager"
                                            : "in a cgroup that this user may write";
    else if (!entered.ok())
      feature.detail += "; nor does the service manager give one: " + entered.error().message;
  }
  return features;
}

int doctor(bool as_json) {
  const std::vector<Feature> features = probe_as_run();
  const auto lacking = [](const Feature& feature) { return feature.required && !feature.present; };
  const auto missing = std::count_if(features.begin(), features.end(), lacking);
  std::string out;
  if (as_json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Feature& feature : features)
      list.push_back({{"name", feature.name},
                      {"what", feature.what},
                      {"required", feature.required},
                      {"present", feature.present},
                      {"detail", feature.detail}});
    out = to_line({{"ok", missing == 0}, {"features", list}});
  } else {
    const bool colour = wants_colour(STDOUT_FILENO);
    Table table({{"feature"}, {""}, {"for", false, 20, true}, {"detail", false, 16, true}});
    for (const Feature& feature : features) {
      table.add({{feature.name},
                 {feature.present    ? "ok"
                  : feature.required ? "MISSING"
                                     : "missing",
                  feature.present    ? Colour::kGreen
                  : feature.required ? Colour::kRed
                                     : Colour::kYellow},
                 {feature.what},
                 // What is missing is told in full below.
                 {feature.present ? feature.detail : "", Colour::kDim}});
    }
    const size_t width = terminal_width(STDOUT_FILENO);
    out = table.to_string(width, colour);
    // One cause takes many away.
    std::vector<std::pair<std::string, std::string>> causes;  // and who lacks for it
    for (const Feature& feature : features) {
      if (feature.present) continue;
      const auto told = std::find_if(causes.begin(), causes.end(), [&](const auto& cause) {
        return cause.first == feature.detail;
      });
      if (told == causes.end())
        causes.emplace_back(feature.detail, feature.name);
      else
        told->second += ", " + feature.name;
    }
    for (const auto& [cause, names] : causes) {
      const std::string note = fmt::format("{}: {}", names, cause);
      out += '\n';
      for (const std::string& line : wrap(note, width == 0 ? note.size() : width))
        out += line + "\n";
    }
    out += missing == 0 ? "\nThis machine can run compartments.\n"
                        : fmt::format("\n`bulkhead run` refuses here: {} required {} missing.\n",
                                      missing, missing == 1 ? "feature is" : "features are");
  }
  if (!print(out)) return kExitFailed;
  return missing == 0 ? 0 : 1;
}

}  // namespace

Action add_doctor(CommandLine& line) {
  auto as_json = std::make_shared<bool>(false);
  line.add_flag("--json", *as_json, "the features as JSON");
  auto editor = std::make_shared<bool>(false);
  const Option code =
      line.add_flag("--code", *editor, "whether `bulkhead code` knows the installed VS Code");
  auto server = std::make_shared<std::string>();
  line.add_option("--server", *server, "with --code: the lib/vscode of another code-server")
      .type_name("FOLDER")
      .check(not_empty)
      .needs(code);
  line.footer(
      "Exit code: 0 where `bulkhead run` works, 1 where something required is missing, 125 "
      "bulkhead itself failed.");
  return [as_json, editor, server](const std::vector<std::string>&) {
    if (!*editor) return doctor(*as_json);
    std::vector<std::string> arguments;
    arguments.emplace_back("--diagnose");
    if (*as_json) arguments.emplace_back("--json");
    if (!server->empty()) arguments.insert(arguments.end(), {"--server", *server});
    return become_launcher(arguments);
  };
}

}  // namespace bulkhead
