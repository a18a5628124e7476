// bulkhead check: finds mistakes in manifests, policy files and sets.
#include <fmt/format.h>

#include "base/fd.h"
#include "base/path.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/lint.h"
#include "sandbox/outcome.h"

namespace bulkhead {
namespace {

constexpr int kWarned = 1, kWrong = 2;

struct CheckOptions {
  PolicyOptions policy;
  std::vector<std::string> files;
  bool strict = false, json = false;
};

// Which of the three kinds of file it is; a text that is no JSON is left to the manifest's parser,
// which says where it breaks.
std::string kind_of_file(const std::string& text) {
  const auto value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_object())
    for (const char* key : {"blocklist", "set"})
      if (value.contains(key)) return key;
  return "manifest";
}

template <typename T>
std::vector<Diagnostic> findings_of(const Result<T>& result, const std::string& file) {
  if (result.ok()) return {};
  if (!result.error().diagnostics.empty()) return result.error().diagnostics;
  Diagnostic finding;
  finding.file = file;
  finding.message = result.error().message;
  return {finding};
}

std::vector<Diagnostic> check_file(const CheckOptions& options, const std::string& file) {
  const auto text = read_file(file, 1 << 20);
  if (!text.ok()) return findings_of(text, file);
  const std::string kind = kind_of_file(*text);
  const ManifestBytes bytes = ManifestBytes::of(file, *text);
  if (kind == "blocklist")
    return findings_of(parse_blocklist(bytes, Blocklist::Source::kUser), file);
  if (kind == "set") return findings_of(parse_set(bytes), file);
  if (auto manifest = parse_manifest(bytes); !manifest.ok()) return findings_of(manifest, file);

  PolicyOptions policy = options.policy;
  policy.manifest = file;
  SessionRequest request;
  request.manifest_text = *text;
  auto session = open_session(policy, request);
  if (!session.ok()) return findings_of(session, file);
  return lint(session->inputs, *session->policy);
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
      errors += finding.severity == Diagnostic::Severity::kError ? 1U : 0U;
      warnings += finding.severity == Diagnostic::Severity::kWarning ? 1U : 0U;
      out += escape_for_display(to_string(finding)) + "\n";
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
  if (!write_all(STDOUT_FILENO, out)) return kExitFailed;
  if (errors > 0) return kWrong;
  return options.strict && warnings > 0 ? kWarned : 0;
}

}  // namespace

Action add_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->files, "manifests, policy files or sets")
      ->type_name("FILE")
      ->required();
  app.add_option("--workspace", options->policy.workspace, "what ${workspace} stands for")
      ->type_name("FOLDER")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--strict", options->strict, "warnings fail too");
  app.add_flag("--json", options->json, "the findings as JSON");
  app.footer("Exit code: 0 nothing wrong, 1 warnings with --strict, 2 errors.");
  return [options](const std::vector<std::string>&) { return check(*options); };
}

}  // namespace bulkhead
