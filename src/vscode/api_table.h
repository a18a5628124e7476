// ApiTable: every method that an extension host can call on the workbench, what permission it needs
// and which of its arguments name something that the policy decides on. Read from
// vscode/api/table.json, which a test compares with the methods of the installed version.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/manifest.h"

namespace bulkhead {

// What an argument is, and so how it is decided.
enum class ArgumentKind : uint8_t {
  kUriRead,        // a resource whose content is read
  kUriReadOrNone,  // the same, where null means every folder of the workspace
  kUriStatus,
  kUriWrite,    // and no blocked path below it, which nothing but a folder may stand above
  kUriRemove,   // the same: what goes takes along what is below
  kUriFolder,   // a folder that is made
  kUriMoved,    // besides: its links come to stand elsewhere
  kEditorRead,  // an editor's id, which stands for its document
  kEditorWrite,
  kEdit,         // a workspace edit: every resource in it is written
  kExtension,    // an extension's id, which must be one of this host's own
  kCommand,      // a command that is run
  kCommandId,    // a command that is registered
  kSetting,      // a setting's key
  kView,         // a view or custom editor, which only this host's extensions declare
  kNotebook,     // a type of notebooks, the same
  kDeclared,     // what no other extension declares: a sign-in provider, a type of webview
  kScheme,       // a scheme that is taken over
  kLogFile,      // a file in this host's log folder
  kLogResource,  // an object with such a file
  kExternal,     // an address that is opened outside
  kTask,
  kTerminal,
  kDebugConfiguration,
  kEnvironment,
  kWebviewOptions,
  kWebviewInit,
  kStyleName,  // a part of a selector or of a variable's name in the window's style sheets
};

struct Check {
  size_t argument = 0;  // from 0
  ArgumentKind kind = ArgumentKind::kUriRead;
};

struct MethodRule {
  enum class Way : uint8_t {
    kFree,        // passes, if its checks pass
    kPermission,  // needs `permission`, and its checks
    kQuiet,       // is answered with success and goes nowhere
    kRefuse,      // is never allowed
  };
  Way way = Way::kRefuse;
  std::string permission;
  // Nobody is asked: what is not granted is answered with success and goes nowhere. For what hosts
  // register by themselves, of which a person could not tell what it is for.
  bool unasked = false;
  std::vector<Check> checks;
};

class ApiTable {
 public:
  static Result<ApiTable> parse(const ManifestBytes& bytes);
  // nullptr where nobody has classified the method: refuse it.
  const MethodRule* find(std::string_view actor, std::string_view method) const;

 private:
  std::map<std::string, std::map<std::string, MethodRule, std::less<>>, std::less<>> actors_;
};

}  // namespace bulkhead
