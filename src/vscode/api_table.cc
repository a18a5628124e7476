#include "vscode/api_table.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <optional>

#include "base/nlohmann.h"
#include "policy/vscode_permissions.h"
#include "vscode/json_tree.h"

namespace bulkhead {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, ArgumentKind>, 54> kKinds = {{
    {"uri-read", ArgumentKind::kUriRead},
    {"uri-read-or-none", ArgumentKind::kUriReadOrNone},
    {"uri-status", ArgumentKind::kUriStatus},
    {"uri-write", ArgumentKind::kUriWrite},
    {"uri-remove", ArgumentKind::kUriRemove},
    {"uri-folder", ArgumentKind::kUriFolder},
    {"uri-moved", ArgumentKind::kUriMoved},
    {"editor-read", ArgumentKind::kEditorRead},
    {"editor-write", ArgumentKind::kEditorWrite},
    {"edit", ArgumentKind::kEdit},
    {"extension", ArgumentKind::kExtension},
    {"own-name", ArgumentKind::kOwnName},
    {"command", ArgumentKind::kCommand},
    {"command-id", ArgumentKind::kCommandId},
    {"setting", ArgumentKind::kSetting},
    {"view", ArgumentKind::kView},
    {"panel", ArgumentKind::kPanel},
    {"notebook", ArgumentKind::kNotebook},
    {"declared", ArgumentKind::kDeclared},
    {"sign-in", ArgumentKind::kSignIn},
    {"channel", ArgumentKind::kChannel},
    {"renderer", ArgumentKind::kRenderer},
    {"kernel", ArgumentKind::kKernel},
    {"debug-type", ArgumentKind::kDebugType},
    {"controller", ArgumentKind::kController},
    {"tests", ArgumentKind::kTests},
    {"test-diff", ArgumentKind::kTestDiff},
    {"test-run", ArgumentKind::kTestRun},
    {"own-run", ArgumentKind::kOwnRun},
    {"test-targets", ArgumentKind::kTestTargets},
    {"notebook-viewer", ArgumentKind::kViewer},
    {"number", ArgumentKind::kNumber},
    {"text", ArgumentKind::kText},
    {"no-json", ArgumentKind::kNoJson},
    {"tool", ArgumentKind::kTool},
    {"chat-progress", ArgumentKind::kProgress},
    {"chat-context", ArgumentKind::kContext},
    {"chat-session", ArgumentKind::kSession},
    {"own-vendor", ArgumentKind::kVendor},
    {"nested-write", ArgumentKind::kNestedWrite},
    {"changes", ArgumentKind::kChanges},
    {"tunnel", ArgumentKind::kTunnel},
    {"folders", ArgumentKind::kFolders},
    {"scheme", ArgumentKind::kScheme},
    {"log-file", ArgumentKind::kLogFile},
    {"log-resource", ArgumentKind::kLogResource},
    {"own-log", ArgumentKind::kLogger},
    {"external", ArgumentKind::kExternal},
    {"webview-options", ArgumentKind::kWebviewOptions},
    {"webview-init", ArgumentKind::kWebviewInit},
    {"own-terminal", ArgumentKind::kOwnTerminal},
    {"scm-input", ArgumentKind::kScmInput},
    {"tab-groups", ArgumentKind::kGroups},
    {"style-name", ArgumentKind::kStyleName},
}};

constexpr std::array<std::pair<std::string_view, ToldRule::Way>, 32> kTold = {{
    {"free", ToldRule::Way::kFree},
    {"resources", ToldRule::Way::kResources},
    {"resources or []", ToldRule::Way::kResourcesOrNone},
    {"search", ToldRule::Way::kSearched},
    {"edits", ToldRule::Way::kEdits},
    {"documents", ToldRule::Way::kDocuments},
    {"notebooks", ToldRule::Way::kNotebooks},
    {"markers", ToldRule::Way::kMarkers},
    {"decorations", ToldRule::Way::kDecorations},
    {"editor", ToldRule::Way::kEditor},
    {"editors", ToldRule::Way::kEditors},
    {"tabs", ToldRule::Way::kTabs},
    {"files", ToldRule::Way::kFiles},
    {"settings", ToldRule::Way::kSettings},
    {"status-item", ToldRule::Way::kStatusItem},
    {"status-items", ToldRule::Way::kStatusItems},
    {"opened-terminal", ToldRule::Way::kOpenedTerminal},
    {"terminal-profile", ToldRule::Way::kTerminalProfile},
    {"own-terminal", ToldRule::Way::kOwnTerminal},
    {"heard-terminal", ToldRule::Way::kHeardTerminal},
    {"touched-terminal", ToldRule::Way::kTouchedTerminal},
    {"start-terminal", ToldRule::Way::kStartTerminal},
    {"task", ToldRule::Way::kTask},
    {"environment", ToldRule::Way::kEnvironment},
    {"secret", ToldRule::Way::kSecret},
    {"renderer", ToldRule::Way::kRenderer},
    {"question", ToldRule::Way::kQuestion},
    {"own-chat", ToldRule::Way::kChat},
    {"git", ToldRule::Way::kGit},
    {"quiet", ToldRule::Way::kQuiet},
    {"[]", ToldRule::Way::kNone},
    {"refuse", ToldRule::Way::kRefuse},
}};

// Permissions are written "needs NAME", and "asks NAME" or "asks NAME or JSON" where a person is
// asked for them.
std::optional<ToldRule> parse_told(std::string_view text) {
  constexpr std::string_view kNeeds = "needs ";
  if (text.starts_with(kNeeds)) {
    text.remove_prefix(kNeeds.size());
    if (!is_vscode_permission(text)) return std::nullopt;
    return ToldRule{ToldRule::Way::kPermission, std::string(text), {}};
  }
  constexpr std::string_view kAsks = "asks ", kOr = " or ";
  if (text.starts_with(kAsks)) {
    text.remove_prefix(kAsks.size());
    const size_t either = text.find(kOr);
    ToldRule rule{ToldRule::Way::kAsked, std::string(text.substr(0, either)), {}};
    if (either != std::string_view::npos) rule.instead = text.substr(either + kOr.size());
    if (!is_vscode_permission(rule.permission) ||
        (either != std::string_view::npos && parse_json<json>(rule.instead).is_discarded()))
      return std::nullopt;
    return rule;
  }
  if (text == "configuration") return ToldRule{ToldRule::Way::kConfiguration, "debug", {}};
  for (const auto& [label, way] : kTold)
    if (label == text) return ToldRule{way, {}, {}};
  return std::nullopt;
}

std::optional<Check> parse_check(std::string_view text) {
  Check check;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), check.argument);
  if (error != std::errc() || check.argument > 31) return std::nullopt;
  std::string_view name = text.substr(static_cast<size_t>(end - text.data()));
  if (name.empty() || name[0] != ' ') return std::nullopt;
  name.remove_prefix(1);
  for (const auto& [label, kind] : kKinds) {
    if (label != name) continue;
    check.kind = kind;
    return check;
  }
  return std::nullopt;
}

std::optional<MethodRule> parse_needs(const std::string& text) {
  MethodRule rule;
  if (text == "free")
    rule.way = MethodRule::Way::kFree;
  else if (text == "quiet")
    rule.way = MethodRule::Way::kQuiet;
  else if (text == "refuse")
    rule.way = MethodRule::Way::kRefuse;
  else if (is_vscode_permission(text)) {
    rule.way = MethodRule::Way::kPermission;
    rule.permission = text;
  } else {
    return std::nullopt;
  }
  return rule;
}

std::optional<MethodRule> parse_rule(const json& value) {
  if (value.is_string()) return parse_needs(value.get<std::string>());
  if (!value.is_object() || !value.contains("needs") || !value["needs"].is_string())
    return std::nullopt;
  auto rule = parse_needs(value["needs"].get<std::string>());
  if (!rule) return std::nullopt;
  if (const auto otherwise = value.find("otherwise"); otherwise != value.end()) {
    if ((*otherwise != "quiet" && *otherwise != "[]") || rule->way != MethodRule::Way::kPermission)
      return std::nullopt;
    if (*otherwise == "[]") rule->instead = "[]";
    rule->unasked = true;
    if (!value.contains("check")) return rule;
  }
  if (!value.contains("check") || !value["check"].is_array()) return std::nullopt;
  for (const json& each : value["check"]) {
    if (!each.is_string()) return std::nullopt;
    const auto check = parse_check(each.get_ref<const std::string&>());
    if (!check) return std::nullopt;
    rule->checks.push_back(*check);
  }
  return rule;
}

}  // namespace

Result<ApiTable> ApiTable::parse(const ManifestBytes& bytes) {
  const auto broken = [&](const std::string& what) {
    return Error{fmt::format("{}: {}", bytes.file(), what)};
  };
  const json root = parse_json<json>(bytes.bytes());
  if (!root.is_object() || !root.contains("methods") || !root["methods"].is_object())
    return broken("is no table of methods");
  ApiTable table;
  for (const auto& [actor, methods] : root["methods"].items()) {
    if (!methods.is_object()) return broken(actor + " is no object");
    for (const auto& [method, value] : methods.items()) {
      auto rule = parse_rule(value);
      if (!rule) return broken(fmt::format("{}.{} has no rule that can be read", actor, method));
      table.actors_[actor].emplace(method, std::move(*rule));
    }
  }
  const auto told = root.find("told");
  if (told == root.end()) return table;
  if (!told->is_object()) return broken("told is no object");
  for (const auto& [method, value] : told->items()) {
    auto rule = value.is_string() ? parse_told(value.get_ref<const std::string&>()) : std::nullopt;
    if (!rule) return broken(fmt::format("told: {} has no rule that can be read", method));
    table.told_.emplace(method, std::move(*rule));
  }
  return table;
}

const ToldRule* ApiTable::find_told(std::string_view actor, std::string_view method) const {
  auto rule = told_.find(fmt::format("{}.{}", actor, method));
  if (rule == told_.end()) rule = told_.find(method);
  return rule == told_.end() ? nullptr : &rule->second;
}

const MethodRule* ApiTable::find(std::string_view actor, std::string_view method) const {
  const auto methods = actors_.find(actor);
  if (methods == actors_.end()) return nullptr;
  const auto rule = methods->second.find(method);
  return rule == methods->second.end() ? nullptr : &rule->second;
}

}  // namespace bulkhead
