// The permissions of the VS Code API that a manifest can name, and their groups. The broker's table
// of methods (src/vscode) maps every method to one of these.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace bulkhead {

struct VscodePermission {
  std::string_view name;
  std::string_view about;  // for reviews: what an extension with it can do
};

//  name               what it allows
inline constexpr std::array kVscodePermissions = {
    VscodePermission{"authentication", "use the accounts that you are signed in to"},
    VscodePermission{"clipboard", "read and write the clipboard"},
    VscodePermission{"commands", "register commands and run those of the editor"},
    VscodePermission{"commands-foreign", "run commands and tools of other extensions"},
    VscodePermission{"comments", "show and manage comment threads"},
    VscodePermission{"debug", "start and steer debug sessions"},
    VscodePermission{"diagnostics", "report problems"},
    VscodePermission{"documents", "read open documents of files that it may read"},
    VscodePermission{"extensions", "see which extensions are installed and use their exports"},
    VscodePermission{"language-models", "send text to language models, offer chat and tools"},
    VscodePermission{"languages", "offer completion, formatting, hovers and the like"},
    VscodePermission{"machine-id", "be told by which ids this machine and session are known"},
    VscodePermission{"notebooks", "read and run notebooks"},
    VscodePermission{"open-external", "open addresses in the browser and files in other programs"},
    VscodePermission{"scm", "show source control"},
    VscodePermission{"secrets", "keep secrets of its own"},
    VscodePermission{"settings-read", "read settings of the editor and its own"},
    VscodePermission{"settings-shared",
                     "read and change settings that it and other extensions declare"},
    VscodePermission{"settings-write", "change its own settings"},
    VscodePermission{"settings-write-foreign", "change any setting"},
    VscodePermission{"storage", "keep state of its own"},
    VscodePermission{"tasks", "define and run tasks"},
    VscodePermission{"terminal", "open terminals and type into them"},
    VscodePermission{"terminal-read", "read what terminals show"},
    VscodePermission{"testing", "define and run tests"},
    VscodePermission{"tunnels", "forward ports of this machine"},
    VscodePermission{"typing", "be given every key that you type in editors, and what you paste"},
    VscodePermission{"webview",
                     "show pages with scripts of its own, which reach the hosts that it may"},
    VscodePermission{"webview-network", "show such pages that reach any host"},
    VscodePermission{"window", "show messages, prompts, views and the status bar"},
    VscodePermission{"workspace-edit", "change documents and files that it may write"},
    VscodePermission{"workspace-files",
                     "read, write and search files by the editor, as far as files allow"},
    VscodePermission{"workspace-folders", "open folders that it may read as your workspace"},
};

struct VscodeGroup {
  std::string_view name;  // with "@"
  std::span<const std::string_view> permissions;
};

namespace vscode_groups {
inline constexpr std::array<std::string_view, 14> kEditor = {
    "comments", "diagnostics",   "documents",      "languages",      "scm",
    "secrets",  "settings-read", "settings-write", "storage",        "testing",
    "webview",  "window",        "workspace-edit", "workspace-files"};
inline constexpr std::array<std::string_view, 1> kCommands = {"commands"};
inline constexpr std::array<std::string_view, 3> kRunning = {"tasks", "terminal", "debug"};
inline constexpr std::array<std::string_view, 3> kViews = {"webview", "comments", "scm"};
}  // namespace vscode_groups

inline constexpr std::array kVscodeGroups = {
    VscodeGroup{"@commands", vscode_groups::kCommands},
    VscodeGroup{"@editor", vscode_groups::kEditor},
    VscodeGroup{"@running", vscode_groups::kRunning},
    VscodeGroup{"@views", vscode_groups::kViews},
};

constexpr bool is_vscode_permission(std::string_view name) {
  for (const VscodePermission& permission : kVscodePermissions)
    if (permission.name == name) return true;
  return false;
}

// The permissions of "@editor"; none where there is no such group.
constexpr std::optional<std::span<const std::string_view>> vscode_group(std::string_view name) {
  for (const VscodeGroup& group : kVscodeGroups)
    if (group.name == name) return group.permissions;
  return std::nullopt;
}

constexpr bool vscode_groups_are_known() {
  for (const VscodeGroup& group : kVscodeGroups)
    for (const std::string_view name : group.permissions)
      if (!is_vscode_permission(name)) return false;
  return true;
}
static_assert(vscode_groups_are_known());

}  // namespace bulkhead
