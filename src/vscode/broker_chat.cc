// How the broker decides on what a host says in chats: whose sessions they are, and the parts of an
// answer.
#include <algorithm>

#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

// A type of chat sessions, one of that type, an item of a list or what is new in such a list.
bool Broker::owns_sessions(const Json& value) {
  if (is_none(value)) return true;
  if (value.is_string()) {
    const std::string& type = value.get_ref<const std::string&>();
    return owns_part("chat-session/" + type) && !is_reserved_scheme(type) && !is_editors_chat(type);
  }
  const auto owns = [this](const Json& each) { return each.is_object() && owns_sessions(each); };
  if (value.is_array()) return std::all_of(value.begin(), value.end(), owns);
  bool named = false;
  for (const std::string_view key :
       {"scheme", "resource", "legacyResource", "sessionResource", "addedOrUpdated", "removed"}) {
    const auto member = value.is_object() ? value.find(key) : value.end();
    if (member == value.end()) continue;
    // VS Code makes texts of what is none: "x" of ["x"].
    if (key == "scheme" && !member->is_string()) return false;
    // Of none it takes the one that a person looks at.
    if (key == "sessionResource" && is_none(*member)) return false;
    if (!owns_sessions(*member)) return false;
    named = true;
  }
  return named;
}

// Besides: what is said to have changed in a session is opened like what an answer shows.
Broker::Ruling Broker::decide_sessions(const Json& value, const Asked& asked) {
  if (!owns_sessions(value))
    return refuse(asked, json_string(value).substr(0, 200),
                  "speaks for chats that are not its own");
  return decide_within(value, [&](const Json& item) {
    const auto changes = item.is_object() ? item.find("changes") : item.end();
    return changes != item.end() ? decide_fetched(*changes, asked) : Ruling::pass();
  });
}

// What the window loads from the web when a person opens it, without a question.
Broker::Ruling Broker::decide_fetched(const Json& value, const Asked& asked) {
  return decide_within(value, [&](const Json& one) {
    return one.is_object() && one.contains("scheme") && is_fetched(one)
               ? decide_external(one, asked)
               : Ruling::pass();
  });
}

// How a tool came to run. The window makes trusted links of words beside it.
static bool is_plain_confirmation(const Json& value) {
  if (value.is_object()) return value.size() == 1 && value.value("type", Json()).is_number();
  return value.is_null() || value.is_boolean();
}

// What a chat participant shows passes; with other parts the workbench edits files, or is told that
// somebody else does.
Broker::Ruling Broker::decide_progress(const Json& value, const Asked& asked) {
  static const std::set<std::string> kShown = {
      "markdownContent",    "markdownVuln",    "treeData",     "inlineReference",
      "reference",          "progressMessage", "progressTask", "command",
      "progressTaskResult", "warning",         "info",         "codeCitation",
      "thinking",           "multiDiffData",   "confirmation", "usage",
      "pullRequest",        "extensions"};
  // What else hosts say: the window has kinds of its own, of tools that run and of questions, with
  // what no host could answer for.
  static const std::set<std::string> kActing = {"beginToolInvocation",
                                                "updateToolInvocation",
                                                "externalToolInvocationUpdate",
                                                "toolInvocationSerialized",
                                                "textEdit",
                                                "notebookEdit",
                                                "workspaceEdit",
                                                "externalEdits",
                                                "codeblockUri",
                                                "clearToPreviousToolInvocation",
                                                "move",
                                                "hook",
                                                "questionCarousel",
                                                "voiceProgress",
                                                "autoModeResolution"};
  if (!value.is_array()) return Ruling::deny("bulkhead: not a part of an answer");
  for (const Json& each : value) {
    const Json& part = each.is_array() ? at(each, 0) : each;
    if (!part.is_object()) return Ruling::deny("bulkhead: not a part of an answer");
    const std::string kind = text_of(part.value("kind", Json()));
    if (!kShown.contains(kind) && !kActing.contains(kind))
      return refuse(asked, json_string(part.value("kind", Json())).substr(0, 200),
                    "is no part of an answer that a host gives");
    if (!is_plain_confirmation(part.value("isConfirmed", Json())))
      return refuse(asked, "isConfirmed", "says more of a tool than how it was confirmed");
    Ruling ruling = Ruling::pass();
    if (kind == "multiDiffData" || kind == "treeData") ruling = decide_fetched(part, asked);
    if (kind == "beginToolInvocation" || kind == "updateToolInvocation")
      ruling = decide_tool_call(part, asked);
    if (ruling.passes() && !kShown.contains(kind))
      ruling = decide_within(part, [&](const Json& one) {
        // A page of an MCP server of the person's, which the window asks for it.
        if (one.is_object() && one.contains("mcpAppData"))
          return refuse(asked, "mcpAppData", "shows a page that no host gives");
        return is_resource_like(one) ? decide_written(one, asked) : Ruling::pass();
      });
    if (!ruling.passes()) return ruling;
  }
  return Ruling::pass();
}

}  // namespace bulkhead
