// bulkhead check: finds mistakes in manifests, policy files, sets, remembered answers and reviews.
#include <fmt/format.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "cli/policy_options.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/lifts.h"
#include "policy/lint.h"
#include "policy/reviews.h"
#include "sandbox/limits/outcome.h"
#include "session/session.h"

namespace bulkhead {
namespace {

constexpr int kWarned = 1, kWrong = 2;

struct CheckOptions {
  PolicyOptions policy;
  std::vector<std::string> files;
  bool strict = false, json = false;
};

// Which kind of file it is; a text that is no JSON is left to the manifest's parser,
// which says where it breaks.
std::string kind_of_file(const std::string& file, const std::string& text) {
  const auto document = json::parse(file, text);
  if (document.ok())
    for (const char* key : {"blocklist", "set", "grants", "reviews", "lifts"})
      if (document->root().find(key) != nullptr) return key;
  return "manifest";
}

// What the parser and the compiler find, and what is doubtful where they find nothing.
std::vector<Diagnostic> check_file(const CheckOptions& options, const std::string& file) {
  std::vector<Diagnostic> found;
  const auto take = [&](const Error& error) {
    if (error.diagnostics.empty()) {
      Diagnostic& finding = found.emplace_back();
      finding.file = file;
      finding.message = error.message;
    }
    found.insert(found.end(), error.diagnostics.begin(), error.diagnostics.end());
  };
  const auto text = read_file(file, 1 << 20);
  if (!text.ok()) {
    take(text.error());
    return found;
  }
  const std::string kind = kind_of_file(file, *text);
  const ManifestBytes bytes = ManifestBytes::of(file, *text);
  const auto readable = [&](auto draft) {
    if (draft.error) take(*draft.error);
    return std::move(draft.readable);
  };
  if (kind == "manifest") {
    PolicyOptions policy = options.policy;
    policy.manifest = file;
    SessionRequest request;
    request.manifest = readable(draft_manifest(bytes));
    request.example_workspace = true;
    const auto session = open_session(policy, request);
    if (!session.ok()) take(session.error());
    if (found.empty()) return lint(session->inputs, *session->policy);
  } else if (kind == "grants") {
    const auto answers = GrantStore(file).load("", "");
    if (!answers.ok()) take(answers.error());
  } else if (kind == "lifts") {
    const auto lifts = LiftStore(file).load();
    if (!lifts.ok()) take(lifts.error());
  } else if (kind == "reviews") {
    const auto approved = ReviewStore(file).list();
    if (!approved.ok()) take(approved.error());
  } else {
    PolicyInputs inputs;
    if (kind == "blocklist") {
      inputs.blocklists = {readable(draft_blocklist(bytes, Blocklist::Source::kUser))};
    } else {
      inputs.sets = readable(draft_set(bytes));
      for (const auto& [name, set] : inputs.sets) {
        inputs.manifest.files.read.push_back({"@" + name, {}});
        if (!set.run.empty()) inputs.manifest.run.push_back({"@" + name, {}});
      }
    }
    if (const auto policy = Policy::compile(inputs); !policy.ok()) take(policy.error());
  }
  sort_by_place(found);
  return found;
}

std::string_view severity(const Diagnostic& finding) {
  switch (finding.severity) {
    case Diagnostic::Severity::kError:
      return "error";
    case Diagnostic::Severity::kWarning:
      return "warning";
    case Diagnostic::Severity::kNote:
      return "note";
  }
  return "error";
}

int check(const CheckOptions& options) {
  size_t errors = 0, warnings = 0;
  nlohmann::json list = nlohmann::json::array();
  std::string out;
  for (const std::string& file : options.files) {
    for (const Diagnostic& finding : check_file(options, file)) {
      Diagnostic shown = finding;
      shown.file = escape_for_display(finding.file);
      errors += finding.severity == Diagnostic::Severity::kError ? 1U : 0U;
      warnings += finding.severity == Diagnostic::Severity::kWarning ? 1U : 0U;
      // What it quotes was escaped where it was quoted.
      out += escape_quoted(to_string(shown)) + "\n";
      list.push_back({{"file", finding.file},
                      {"line", finding.line},
                      {"column", finding.column},
                      {"severity", severity(finding)},
                      {"field", finding.field},
                      {"message", finding.message},
                      {"fix", finding.fix}});
    }
  }
  if (options.json) out = to_line(list);
  if (!print(out)) return kExitFailed;
  if (errors > 0) return kWrong;
  return options.strict && warnings > 0 ? kWarned : 0;
}

}  // namespace

Action add_check(CommandLine& line) {
  auto options = std::make_shared<CheckOptions>();
  line.add_option("FILE", options->files,
                  "manifests, policy files, sets, remembered answers or reviews")
      .type_name("FILE")
      .check(not_empty)
      .required();
  line.add_option("--workspace", options->policy.workspace, "what ${workspace} stands for")
      .type_name("FOLDER")
      .repeatable()
      .check(not_empty);
  line.add_flag("--strict", options->strict, "warnings fail too");
  line.add_flag("--json", options->json, "the findings as JSON");
  line.footer(
      "Exit code: 0 nothing wrong, 1 warnings with --strict, 2 errors, 125 bulkhead itself "
      "failed.");
  return [options](const std::vector<std::string>&) { return check(*options); };
}

}  // namespace bulkhead
