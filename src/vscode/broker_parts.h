// What the broker's parts share: private to broker*.cc.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/extension_id.h"
#include "vscode/broker.h"
#include "vscode/json_string.h"
#include "vscode/json_text.h"
#include "vscode/json_tree.h"

namespace bulkhead {
namespace broker_parts {

using Json = nlohmann::ordered_json;

inline constexpr size_t kMaxAsking = 16;
inline constexpr size_t kMaxUnanswered = 1U << 18U;
inline constexpr size_t kMaxWaiting = 64U << 20U;  // bytes, of what waits for one thing
inline constexpr size_t kWaitingOverhead = 128;
// The number of our own request; a host counts its own from 1 and never comes here.
inline constexpr uint32_t kOwnRequest = 0xfffffff0U;

// What a call is answered while the question about it is before a person.
inline constexpr std::string_view kNotYet =
    "bulkhead: not decided yet: a question about it is open in this window";

inline constexpr const char* kTakesOurPage = "closes or moves a page of Bulkhead's";

inline const Json kNull;
inline const Json& at(const Json& array, size_t i) {
  return array.is_array() && i < array.size() ? array[i] : kNull;
}

inline std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

inline std::vector<uint8_t> copy(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

// The reply of an actor whose method failed, as VS Code serialises errors.
std::vector<uint8_t> error_reply(uint32_t number, const std::string& name,
                                 const std::string& message);
std::vector<uint8_t> empty_reply(uint32_t number);
std::vector<uint8_t> json_reply(uint32_t number, std::string_view json);

// What VS Code finds things of a host by: 1, 1.0 and 1e0 are one number there. Empty where it is
// none, for then nobody can tell which values are the same.
std::string handle_of(const Json& value);

// Every request is acknowledged before it is answered: the sender counts those to see that the
// other side is alive.
std::vector<uint8_t> acknowledgement(uint32_t number);

// To the workbench: the host was not asked.
void refuse_told(const RpcRequest& request, const std::string& why, Outbox& outbox);

// To the workbench: the host was told, and has nothing to say, or this JSON.
void withhold(const RpcRequest& request, Outbox& outbox, std::string_view instead = {});

// The request with these arguments instead.
std::vector<uint8_t> with_arguments(const RpcRequest& request, const Json& arguments);

// The request with one argument behind those that its method has; nullopt where it cannot be read.
std::optional<std::vector<uint8_t>> with_added(const RpcRequest& request, size_t index,
                                               const Json& value);

// The request with one argument changed, the others as they are; nullopt where it cannot be read.
std::optional<std::vector<uint8_t>> with_argument(const RpcRequest& request, size_t index,
                                                  const std::function<void(Json&)>& change);

// The arguments of a request as a person who is asked about it may see them, and as they are told
// from those of another request.
std::string text_of_arguments(const RpcRequest& request);

// The arguments of a request as one JSON array; buffers stand as null, being content. Only those
// that `wanted` names are built: the rest is often large, and nobody looks at it. What is built is
// whole, however long: the workbench acts on all of it. Discarded where they cannot be read, or are
// made to be costly (json_text.h).
Json arguments_of(const RpcRequest& request,
                  const std::function<bool(size_t, std::string_view)>& wanted);
Json arguments_of(const RpcRequest& request, const std::function<bool(size_t)>& wanted);

// One of them; null where it is not there, or cannot be read.
Json argument_of(const RpcRequest& request, size_t index);

inline bool is_uri(const Json& value) {
  return value.is_object() && value.contains("$mid") && value["$mid"] == 1;
}

// In a text with buffers, what is undefined travels as a reference to none.
bool is_none(const Json& value);

// Whether the value, or something in it, is so. What is nested too deep is.
bool anywhere(const Json& value, const std::function<bool(const Json&)>& is, int depth = 0);

// The first refusal of the value or of something in it. What is nested too deep is refused.
template <typename Decide>
auto decide_within(const Json& value, const Decide& decide) {
  auto ruling = decide(Json());
  const bool ended = anywhere(value, [&](const Json& one) {
    ruling = decide(one);
    return !ruling.passes();
  });
  return ended && ruling.passes() ? ruling.deny("bulkhead: nested too deep") : ruling;
}

// The workbench merges what hosts say into objects of its own: this member would be the object that
// all others there are like. No honest host sends it; what cannot be read may.
bool has_prototype(const Json& value);
bool names_prototype(std::string_view json);

// contributes.commands[].command of an extension's description.
std::vector<std::string> declared_commands(const Json& description);

// Those for which it is activated, so that they are registered.
std::set<std::string> waking_commands(const Json& description);

// Views, custom editors, sign-in providers, types of webviews and parts of chats that a description
// declares. Among the views also "debug/TYPE" of a debugger, "notebook/TYPE", "renderer/ID",
// "authentication/ID", "tool/NAME", "chat/ID", "chat-session/TYPE", "panel/TYPE", "container/ID",
// and "problems/NAME" for the names that its problems may have: those of its problem matchers and
// the first words of its settings.
struct DeclaredParts {
  std::set<std::string> views;
  std::set<std::string> others;
};
DeclaredParts declared_parts(const Json& description);

// What the window puts into Markdown of its own: it ends no title or label there, and begins no
// link and no tag.
inline constexpr std::string_view kMarks = "\"\\[]<";
void strip_marks(Json& object, std::initializer_list<const char*> members);

// In place of a resource that others would read.
Json nowhere();

// The first word of a command's or view's id; where that is "extension", the first two.
std::string command_family(const std::string& id);

// Ids of commands and views that are the editor's or ours, also where they are registered later.
bool is_editors_family(const std::string& id);

// Types of chats that the window itself has, which no package declares.
bool is_editors_chat(const std::string& type);

// What the editor itself wrote for everybody to read: JSON schemas and default settings.
bool is_public_of_editor(const Resource& resource);

// Schemes that stand for files, for the editor's own things or for the network: nobody but VS
// Code provides these.
bool is_reserved_scheme(const std::string& scheme);

// The file that a document without one is saved as, without a question where that is not there yet:
// VS Code takes its path for that. Those that only have a number are nobody's.
std::optional<Json> file_to_be(const Resource& resource);

// Documents that show a file's content, or an earlier version of it, by the file's path.
bool stands_for_file(const std::string& scheme);

// Documents of the editor that no extension needs: what others write to their output, settings,
// what was found in all files, what a terminal or the clipboard holds. In small letters.
bool is_editors_own(const std::string& scheme);

}  // namespace broker_parts

// What looking through one message for commands may cost, in values of JSON. Whoever runs others
// has their arguments looked at too, for each name that it has for them: a page of text could name
// more than a lifetime's.
struct Broker::Effort {
  size_t left = kMaxJsonValues / 2;
  // False where there is more in it than is left.
  bool spend(const Json& value) {
    if (left == 0) return false;
    --left;
    return !value.is_structured() || std::all_of(value.begin(), value.end(),
                                                 [this](const Json& each) { return spend(each); });
  }
};

struct Broker::Ruling {
  // kAsk: a person is to be asked. kLater: one has been, and has not answered.
  enum class Way : uint8_t { kPass, kQuiet, kDeny, kAsk, kLater };
  Way way = Way::kPass;
  std::string error_name = "Error";
  std::string message;
  Json document;  // the URI for which it passes, where that is not among the arguments
  // Of the question, or by which it passes; empty where that is about a file.
  std::string permission;

  static Ruling pass() { return {}; }
  static Ruling ask(std::string_view permission = {}) {
    return {Way::kAsk, {}, {}, {}, std::string(permission)};
  }
  // As VS Code says that something was left off, of which people are not told.
  static Ruling later(std::string_view permission) {
    return {
        Way::kLater, "Canceled", std::string(broker_parts::kNotYet), {}, std::string(permission)};
  }
  // Answered with success: with nothing, or this JSON.
  static Ruling quiet(std::string instead = {}) {
    return {Way::kQuiet, {}, std::move(instead), {}, {}};
  }
  static Ruling deny(std::string message, std::string name = "Error") {
    return {Way::kDeny, std::move(name), std::move(message), {}, {}};
  }
  bool passes() const { return way == Way::kPass; }
  bool waits() const { return way == Way::kAsk || way == Way::kLater; }
};

}  // namespace bulkhead
