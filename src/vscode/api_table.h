// ApiTable: every method that an extension host can call on the workbench, what permission it needs
// and which of its arguments name something that the policy decides on; and every method that the
// workbench calls on a host, and what of that comes in. Read from vscode/api/table.json, which a
// test compares with the methods of the installed version.
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
  kOwnName,      // a name that begins with such an id
  kCommand,      // a command that is run
  kCommandId,    // a command that is registered
  kSetting,      // a setting's key
  kView,         // a view or custom editor, which only this host's extensions declare
  kPanel,        // a type of webviews, the same: those of before are shown in it
  kNotebook,     // a type of notebooks, the same
  kDeclared,     // what no other extension declares: a type of webview, a timeline
  kSignIn,       // a sign-in provider that this host's extensions declare, and no other
  kChannel,      // an output channel of this host's extensions
  kRenderer,     // a renderer of notebooks' outputs, the same
  kKernel,       // a kernel of notebooks, the same
  kDebugType,    // a type of debuggers, the same
  kController,   // a controller of tests that this host registered
  kTests,        // tests of such, by their ids: one, several or none
  kTestDiff,     // what changes in the window's tree of tests: of such
  kTestRun,      // a run, or a part of one, of such a controller
  kOwnRun,       // the id of a run that is not the workbench's, shared by several hosts
  kTestTargets,  // tests that are run
  kTool,         // a tool of language models that is run
  kProgress,     // parts of a chat's answer, some of which edit files
  kContext,      // a provider of what chats are about: named after an extension of this host
  kSession,      // a type of chat sessions that this host declares, sessions of such, or none
  kVendor,       // a vendor of language models, whose provider this host is
  kNestedWrite,  // an object whose "uri" is written
  kChanges,      // what changed in file systems of this host
  kTunnel,       // where a tunnel leads to
  kFolders,      // folders that the workspace gets
  kScheme,       // a scheme that is taken over
  kLogFile,      // a file in this host's log folder
  kLogResource,  // an object with such a file
  kLogger,       // what a log is called, and by which name it is found
  kExternal,     // an address that is opened outside
  kWebviewOptions,
  kWebviewInit,
  kOwnTerminal,  // the number of a terminal that this host made
  kScmInput,     // the document of an input box, by the id of its source control
  kGroups,       // groups of editors that are closed
  kStyleName,    // a part of a selector or of a variable's name in the window's style sheets
  kViewer,       // what a notebook is shown by
  kNumber,
  kText,
  kNoJson,  // nothing, or bytes
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
  std::string instead;  // the answer then, as JSON; empty: undefined
  std::vector<Check> checks;
};

// What the workbench tells a host, or asks of it.
struct ToldRule {
  enum class Way : uint8_t {
    kFree,             // comes in as it is
    kPermission,       // comes in with `permission`
    kResources,        // unless it names a file that may not be read
    kResourcesOrNone,  // the same, and where it does the answer is an empty list
    kSearched,         // the same, of what was found
    kEdits,        // nor one that may not be written: the workbench makes the edits of the answer
    kDocuments,    // without documents and editors of files that may not be read
    kNotebooks,    // the same
    kMarkers,      // without the problems of such files
    kDecorations,  // not asked about such files
    kEditor,       // if the editor is one that the host was told of
    kEditors,      // without other editors
    kTabs,         // without what tabs of such files are called
    kFiles,        // without files whose names it may not know
    kSettings,     // without settings of other extensions
    kStatusItem,   // its name is the host's
    kStatusItems,  // without those of others
    kOpenedTerminal,   // without what the terminal was started with
    kTerminalProfile,  // without its variables
    kOwnTerminal,      // if the host made the terminal
    kHeardTerminal,    // the same, or with "terminal-read"
    kTouchedTerminal,  // the same, or once: that a person has typed in it at all
    kStartTerminal,    // who did not make it has no say in whether it starts
    kTask,             // with "tasks"; its own may be terminals
    kEnvironment,      // without what other extensions give to terminals
    kAsked,          // with `permission`, for which a person is asked; else the answer is `instead`
    kConfiguration,  // the same of a debugger's; else the answer is what was asked
    kSecret,         // if it is of its own extensions
    kRenderer,       // the same, of a page in notebooks
    kQuestion,       // if it answers a question that this host asked in a chat
    kChat,           // of a chat session of its own
    kGit,            // to the built-in extension that is Git
    kQuiet,          // is answered with nothing
    kNone,           // is answered with an empty list
    kRefuse,         // is answered with an error
  };
  Way way = Way::kRefuse;
  std::string permission;
  std::string instead = {};  // as JSON; empty: undefined
};

class ApiTable {
 public:
  static Result<ApiTable> parse(const ManifestBytes& bytes);
  // nullptr where nobody has classified the method: refuse it.
  const MethodRule* find(std::string_view actor, std::string_view method) const;
  // The same for what the workbench calls. Rules are by method; one for "ACTOR.METHOD" goes first.
  const ToldRule* find_told(std::string_view actor, std::string_view method) const;

 private:
  std::map<std::string, std::map<std::string, MethodRule, std::less<>>, std::less<>> actors_;
  std::map<std::string, ToldRule, std::less<>> told_;
};

}  // namespace bulkhead
