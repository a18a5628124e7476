// What a host answers to the workbench. Most of it is only shown; some acts when a person picks it,
// or by itself: commands, snippets, edits of other files.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "vscode/broker_parts.h"
#include "vscode/style_text.h"
#include "vscode/terminal_text.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

Broker::Awaited Broker::awaited_of(std::string_view method) {
  if (method == "$provideTooltip") return Awaited::kTooltip;
  if (method == "$validateInput") return Awaited::kMessage;
  if (method == "$provideCompletionItems" || method == "$resolveCompletionItem" ||
      method == "$provideNotebookCellStatusBarItems")
    return Awaited::kItems;
  if (method == "$provideLanguageModelChatInfo") return Awaited::kModels;
  if (method == "$provideKernelSourceActions") return Awaited::kActions;
  if (method == "$provideChatSessionContent") return Awaited::kHistory;
  if (method == "$provideInlayHints" || method == "$resolveInlayHint") return Awaited::kHints;
  if (method == "$provideDocumentLinks" || method == "$resolveDocumentLink") return Awaited::kLinks;
  if (method == "$onWillRunFileOperation") return Awaited::kOperation;
  if (method == "$prepareDocumentPaste") return Awaited::kCopied;
  if (method == "$executeContributedCommand") return Awaited::kResult;
  if (method == "$provideOriginalResource" || method == "$provideSecondaryOriginalResource")
    return Awaited::kResource;
  if (method == "$provideDecorations") return Awaited::kBadges;
  if (method == "$prepareToolInvocation" || method == "$invokeTool") return Awaited::kPrepared;
  if (method == "$provideFollowups") return Awaited::kFollowups;
  for (const char* item : {"$newChatSessionItem", "$forkChatSession", "$resolveChatSessionItem"})
    if (method == item) return Awaited::kSession;
  if (method == "$getAvailableDebugSessionResources") return Awaited::kSessions;
  for (const char* places :
       {"$provideDefinition", "$provideDeclaration", "$provideImplementation",
        "$provideTypeDefinition", "$provideReferences", "$provideWorkspaceSymbols",
        "$resolveWorkspaceSymbol", "$provideCallHierarchyIncomingCalls",
        "$provideCallHierarchyOutgoingCalls", "$prepareCallHierarchy", "$prepareTypeHierarchy",
        "$provideTypeHierarchySupertypes", "$provideTypeHierarchySubtypes",
        "$provideHistoryItemChanges"})
    if (method == places) return Awaited::kPlaces;
  for (const char* inserts :
       {"$provideInline", "$providePasteEdits", "$provideDocumentOnDrop", "$resolvePaste"})
    if (method.starts_with(inserts)) return Awaited::kSnippets;
  return Awaited::kShown;
}

bool Broker::is_looked_at(Awaited awaited, std::string_view json) {
  switch (awaited) {
    case Awaited::kNothing:
    case Awaited::kShown:
    case Awaited::kMessage:
    case Awaited::kSnippets:
    case Awaited::kHints:
    case Awaited::kLinks:
    case Awaited::kPlaces:
      return false;
    case Awaited::kItems:
      return may_name(json, {"o"});
    case Awaited::kResult:
      return may_name(json, {"openFolder"});
    default:
      return true;
  }
}

namespace {

// By this the workbench asks for the rest of a completion or a hint of a document that may not be
// written. The host's own name for it stands behind.
constexpr std::string_view kMark = "bulkhead: not written";

void mark(Json& item, const char* key) {
  if (const auto id = item.find(key); id != item.end() && !is_none(*id))
    *id = Json::array({kMark, std::move(*id)});
}

// Where what they are called is written, and nothing besides: a completion may bring other text
// and edits of other lines, take the place of what is there, and be picked by any letter.
void strip_item(Json& item) {
  if (!item.is_object()) return;
  for (const char* key : {"h", "i", "j", "k", "l", "textEdits"}) item.erase(key);
  const Json label = item.value("a", Json());
  const std::string called = text_of(label.is_object() ? label.value("label", Json()) : label);
  constexpr size_t kSeen = 100;
  if (called.size() > kSeen || called.find_first_of("\r\n\t") != std::string::npos) item["h"] = "";
  mark(item, "x");
  mark(item, "cacheId");
}

// The window shows what stands there as soon as a pointer is over it, or compares it at a click,
// and fetches that from the web.
size_t strip_places(Json& value) {
  size_t changed = 0;
  if (!value.is_structured()) return changed;
  for (Json& each : value) changed += strip_places(each);
  for (const char* key : {"uri", "originalUri", "modifiedUri"}) {
    const auto uri = value.is_object() ? value.find(key) : value.end();
    if (uri == value.end() || !is_fetched(*uri)) continue;
    *uri = nowhere();
    ++changed;
  }
  return changed;
}

// Of hints the titles of commands.
void strip_titles(Json& value) {
  if (value.is_array())
    for (Json& each : value) strip_titles(each);
  if (!value.is_object()) return;
  for (const char* part : {"hints", "label"})
    if (const auto inside = value.find(part); inside != value.end()) strip_titles(*inside);
  if (const auto command = value.find("command"); command != value.end())
    strip_marks(*command, {"title"});
}

// Whether an address, in Markdown that the window makes of it, ends where it ends: spaces, "<" and
// backslashes (before its brackets' own) would end it, or the link, before. Other spaces than these
// are of JavaScript's \s.
bool stays_one(std::string_view text) {
  for (const std::string_view space :
       {"\xC2\xA0", "\xE1\x9A\x80", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F",
        "\xE3\x80\x80", "\xEF\xBB\xBF"})
    if (text.find(space) != std::string_view::npos) return false;
  for (size_t at = 0; (at = text.find("\xE2\x80", at)) != std::string_view::npos; at += 2)
    if (at + 2 < text.size() && static_cast<unsigned char>(text[at + 2]) <= 0x8A) return false;
  return std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\' || c == '<' || c == '>';
  });
}

// The window writes what a link is called and where it leads into Markdown that may run commands.
void strip_link(Json& link) {
  strip_marks(link, {"tooltip"});
  const auto url = link.is_object() ? link.find("url") : link.end();
  if (url == link.end() || url->is_null()) return;
  const bool is_text = url->is_string();
  const bool fits =
      (is_text && stays_one(url->get_ref<const std::string&>())) ||
      (url->is_object() && std::all_of(url->begin(), url->end(), [](const Json& part) {
         return part.is_string() ? stays_one(part.get_ref<const std::string&>())
                                 : part.is_primitive();
       }));
  if (!fits) link.erase("url");
}

void strip_links(Json& value) {
  strip_link(value);
  const auto links = value.is_object() ? value.find("links") : value.end();
  if (links != value.end() && links->is_structured())
    for (Json& link : *links) strip_link(link);
}

void strip_items(Json& value, const char* list) {
  const auto items = value.is_object() ? value.find(list) : value.end();
  if (items != value.end() && items->is_structured())
    for (Json& each : *items) strip_item(each);
}

void keep_members(Json& value, const std::set<std::string>& kept) {
  if (!value.is_object()) return;
  for (auto it = value.begin(); it != value.end();)
    it = kept.contains(it.key()) ? std::next(it) : value.erase(it);
}

// What hosts say of a tool's run, before and after. With other members the window's own tools have
// buttons that allow whatever runs in a terminal from then on, and show what one wrote. A person's
// "always" is kept by a key, for all tools.
template <typename IsOthers>
void strip_prepared(Json& value, const IsOthers& is_others) {
  keep_members(value, {"confirmationMessages", "invocationMessage", "pastTenseMessage",
                       "presentation", "content", "toolResultMessage", "toolResultDetails",
                       "toolMetadata", "toolResultError"});
  const auto asks = value.is_object() ? value.find("confirmationMessages") : value.end();
  if (asks == value.end()) return;
  keep_members(*asks, {"title", "message", "approveCombination"});
  const Json same = asks->is_object() ? asks->value("approveCombination", Json()) : Json();
  const std::string key = same.is_object() ? text_of(same.value("key", Json())) : "";
  if (const size_t end = key.find(":combination:");
      same.is_object() && (end == std::string::npos || is_others(key.substr(0, end))))
    asks->erase("approveCombination");
}

// Whom a person says something to with one click.
template <typename Owns>
void strip_followups(Json& value, const Owns& owns) {
  if (!value.is_array()) return;
  Json kept = Json::array();
  for (Json& each : value)
    if (each.is_object() && owns(text_of(each.value("agentId", Json()))))
      kept.push_back(std::move(each));
  value = std::move(kept);
}

template <typename Owns>
void keep_own_sessions(Json& value, const Owns& owns) {
  if (!value.is_array()) return;
  Json kept = Json::array();
  for (Json& each : value) {
    const Json uri = each.is_object() ? each.value("uri", Json()) : Json();
    if (uri.is_object() && owns(uri)) kept.push_back(std::move(each));
  }
  value = std::move(kept);
}

// Texts and addresses are what an editor pastes by itself; what is a product's own
// ("application/vnd.…"), whoever made it asks for.
void strip_pasted(Json& value) {
  const auto items = value.is_object() ? value.find("items") : value.end();
  if (items == value.end() || !items->is_structured()) return;
  Json kept = Json::array();
  for (Json& each : *items)
    if (lower_case(text_of(at(each, 0))).starts_with("application/vnd."))
      kept.push_back(std::move(each));
  *items = std::move(kept);
}

}  // namespace

Broker::Awaited Broker::awaited_of(const RpcRequest& request,
                                   std::optional<std::vector<uint8_t>>* unmarked) {
  const Awaited awaited = awaited_of(request.method);
  const bool hints = awaited == Awaited::kHints;
  if (!hints && !request.method.ends_with("CompletionItem") &&
      !request.method.ends_with("CompletionItems"))
    return awaited;
  if (request.method.starts_with("$provide")) {
    const Json document = arguments_of(request, [](size_t i) { return i == 1; });
    if (may_write(at(document, 1))) return awaited;
    return hints ? Awaited::kHintsAlone : Awaited::kItemsAlone;
  }
  bool is_marked = false;
  auto without = with_argument(request, 1, [&](Json& id) {
    is_marked = text_of(at(id, 0)) == kMark;
    if (is_marked) id = Json(at(id, 1));
  });
  const bool alone = is_marked || !without;
  if (is_marked) *unmarked = std::move(without);
  return alone ? Awaited::kItemAlone : awaited;
}

// The workbench makes the edits of a rename, a quick fix (some when a file is saved), a
// paste or an inline suggestion by itself: they are decided like those that a host asks for,
// but nobody is asked.
size_t Broker::refuse_edits(Json& value, bool* unfit) {
  const Asked asked{"an edit in a reply", 0, false};
  const auto passes = [&](const Ruling& ruling) {
    if (ruling.way == Ruling::Way::kAsk)
      arbiter_.note_refusal(Kind::kVscode, "workspace-edit", "not granted, and not asked about",
                            Attempt{0, 0, asked.method, nullptr});
    return ruling.passes();
  };
  const auto is_edit = [](const Json& edit) {
    return edit.is_object() && (edit.contains("resource") || edit.contains("oldResource") ||
                                edit.contains("newResource"));
  };
  size_t refused = 0;
  if (value.is_object()) {
    const auto edits = value.find("edits");
    if (edits != value.end() && edits->is_array() &&
        std::any_of(edits->begin(), edits->end(), is_edit) && !passes(decide_edit(value, asked))) {
      value["edits"] = Json::array();
      value["rejectReason"] = "bulkhead: this extension may not change all of these files";
      ++refused;
    }
    const auto uri = value.find("uri");
    if (value.contains("insertText") && uri != value.end() && !is_none(*uri) &&
        !passes(decide_written(*uri, asked)))
      *unfit = true;
  }
  if (value.is_structured())
    for (Json& child : value) refused += refuse_edits(child, unfit);
  return refused;
}

// What a button beside a row opens: an address, or where it is a text, a command.
bool Broker::may_document(const Json& documentation) {
  if (documentation.is_string()) return runs_own(documentation.get<std::string>());
  if (!documentation.is_object()) return documentation.is_null();
  const std::string scheme = text_of(documentation.value("scheme", Json()));
  return scheme == "https" || scheme == "http";
}

// What was answered in a chat before is made anew, with what it edits. Nobody is asked.
size_t Broker::refuse_parts(Json& value) {
  const Asked asked{"a part of an answer", 0, false};
  size_t refused = 0;
  const auto parts = value.is_object() ? value.find("parts") : value.end();
  if (parts != value.end()) {
    Json kept = Json::array();
    if (parts->is_array())
      for (Json& part : *parts)
        if (decide_progress(Json::array({part}), asked).passes()) kept.push_back(std::move(part));
    refused += parts->size() - kept.size();
    *parts = std::move(kept);
  } else if (value.is_structured()) {
    for (Json& child : value) refused += refuse_parts(child);
  }
  return refused;
}

// Models have one list in the window, in which the first of a name is the one that others' texts go
// to. Leaves those of its own vendors, and says whose they are.
size_t Broker::claim_models(Json& value) {
  if (!value.is_array()) return 0;
  const std::string id = options_.extensions.empty() ? "?" : options_.extensions.front();
  Json own = Json::array();
  for (Json& model : value) {
    const auto about = model.is_object() ? model.find("metadata") : model.end();
    if (about == model.end() || !about->is_object()) continue;
    const std::string vendor = text_of(about->value("vendor", Json()));
    if (!knows(own_models_, vendor) ||
        !text_of(model.value("identifier", Json())).starts_with(vendor + "/"))
      continue;
    about->erase("isBYOK");
    strip_marks(*about, {"name", "id", "version", "tooltip"});
    if (const auto icon = about->find("statusIcon"); icon != about->end())
      strip_marks(*icon, {"id"});
    if (!own_extension(about->value("extension", Json())))
      (*about)["extension"] = {{"value", id}, {"_lower", id}};
    if (const auto sign_in = about->find("auth"); sign_in != about->end() && sign_in->is_object())
      (*sign_in)["providerLabel"] = signatures();
    own.push_back(std::move(model));
  }
  value = std::move(own);
  return 1;
}

// One reply for each request, and none before it: a second one would not be looked at, and taken
// where the workbench could not read the first. nullopt: for none.
std::optional<Broker::Awaited> Broker::take_awaited(uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = unanswered_.find(number);
  if (found == unanswered_.end()) return std::nullopt;
  const Awaited awaited = found->second;
  unanswered_.erase(found);
  return awaited;
}

void Broker::pass_reply(const RpcMessage& message, Bytes body, Outbox& outbox) {
  const auto* reply = std::get_if<RpcReply>(&message);
  if (reply == nullptr) return outbox.to_workbench(copy(body));
  const auto awaited = take_awaited(reply->number);
  if (!awaited) return;
  if (*awaited == Awaited::kNothing) return outbox.to_workbench(empty_reply(reply->number));
  Cleaned cleaned = cleaned_reply(*reply, *awaited);
  RpcReply none;
  none.type = RpcType::kReplyErrorEmpty;
  none.number = reply->number;
  switch (cleaned.how) {
    case Cleaned::How::kSame:
      return outbox.to_workbench(copy(body));
    case Cleaned::How::kChanged:
      return outbox.to_workbench(std::move(cleaned.body));
    case Cleaned::How::kUnreadable:
      return outbox.to_workbench(write_reply(none));
  }
}

Disarm::Strings Broker::strings_of(Awaited awaited, bool is_error) {
  switch (awaited) {
    case Awaited::kMessage:
      return Disarm::Strings::kMessages;
    case Awaited::kSnippets:
      return Disarm::Strings::kSnippets;
    case Awaited::kItems:
    case Awaited::kItemsAlone:
    case Awaited::kItemAlone:
    case Awaited::kActions:
      return Disarm::Strings::kItems;
    default:
      // What went wrong with a command is shown in a notification.
      return is_error ? Disarm::Strings::kMessages : Disarm::Strings::kText;
  }
}

// A command failed for want of what a person is being asked about: a dialog about the error would
// stand before the question. As VS Code says that it was left off, of which nobody is told.
bool Broker::is_undecided(const RpcReply& reply) const {
  if (reply.type != RpcType::kReplyError) return false;
  const auto says = [&](std::string_view words) {
    return reply.json.find(words) != std::string_view::npos;
  };
  if (says(kNotYet)) return true;
  constexpr std::string_view kRefused[] = {"EACCES", "EPERM", "ENOTFOUND", "EAI_AGAIN",
                                           "ECONNREFUSED"};
  return std::any_of(std::begin(kRefused), std::end(kRefused), says) && arbiter_.any_still_asked();
}

Broker::Cleaned Broker::cleaned_reply(const RpcReply& reply, Awaited awaited) {
  const std::string_view json = reply.json;
  if (json.empty()) return {};
  if (awaited == Awaited::kResult && is_undecided(reply))
    return {Cleaned::How::kChanged, error_reply(reply.number, "Canceled", "Canceled")};
  if (names_prototype(json)) {
    arbiter_.note_refusal(Kind::kVscode, "__proto__",
                          "an answer that would change the workbench's own objects",
                          Attempt{0, 0, "an answer", nullptr});
    return {Cleaned::How::kUnreadable};
  }
  const bool edits = may_name(json, {"resource", "oldResource", "newResource"}) ||
                     (awaited == Awaited::kSnippets && may_name(json, {"uri"}));
  const bool looked_at = is_looked_at(awaited, json);
  // To the workbench it is the `value` of an object. Few take it out again, and to the others a
  // text would be Markdown.
  const bool has_buffers = reply.type == RpcType::kReplyOkJsonWithBuffers;
  if (!edits && !looked_at && !has_buffers && !Disarm::concerns(json)) return {};
  Json value = parse_json(json);
  if (value.is_discarded() || (has_buffers && awaited != Awaited::kShown &&
                               awaited != Awaited::kPrepared && awaited != Awaited::kResult))
    return {Cleaned::How::kUnreadable};
  if (has_buffers) value = Json{{"value", std::move(value)}};
  size_t changes = disarm().disarm(value, strings_of(awaited, reply.type == RpcType::kReplyError));
  if (has_buffers) value = Json(value["value"]);
  // What a command gives is whoever ran it's, and may only look like a resource.
  if (edits || awaited != Awaited::kResult) changes += strip_cached_spellings(value);
  bool unfit = false;
  if (awaited == Awaited::kHistory) changes += refuse_parts(value) + plain_outputs(value);
  if (edits) changes += refuse_edits(value, &unfit);
  changes += clean_answer(value, awaited, &unfit);
  if (unfit) return {Cleaned::How::kUnreadable};
  if (changes == 0 && !looked_at) return {};
  RpcReply changed = reply;
  const std::string text = json_string(value);
  changed.json = text;
  return {Cleaned::How::kChanged, write_reply(changed)};
}

// By what was asked for. The number of changes, or 1.
size_t Broker::clean_answer(Json& value, Awaited awaited, bool* unfit) {
  switch (awaited) {
    case Awaited::kModels:
      return claim_models(value);
    case Awaited::kPlaces:
      return granted("open-external") ? 0 : strip_places(value);
    case Awaited::kLinks:
      strip_links(value);
      break;
    case Awaited::kHints:
    case Awaited::kHintsAlone:
    case Awaited::kItemAlone:
      if (!granted("open-external")) strip_places(value);
      strip_titles(value);
      if (awaited == Awaited::kHintsAlone) strip_items(value, "hints");
      if (awaited == Awaited::kItemAlone) strip_item(value);
      break;
    case Awaited::kItemsAlone:
      strip_items(value, "b");
      if (value.is_object()) value.erase("a");  // where those without "j" go: then the word
      break;
    case Awaited::kActions:
      if (value.is_array())
        for (Json& action : value)
          if (action.is_object() && !may_document(action.value("documentation", Json())))
            action.erase("documentation");
      break;
    case Awaited::kBadges:
      strip_badges(value);
      break;
    case Awaited::kCopied:
      strip_pasted(value);
      break;
    case Awaited::kPrepared:
      strip_prepared(value, [this](const std::string& tool) { return knows(others_parts_, tool); });
      break;
    case Awaited::kFollowups:
      strip_followups(value, [this](const std::string& agent) {
        if (owns_part("chat/" + agent) || owns_part("chat-session/" + agent)) return true;
        const std::lock_guard lock(mutex_);
        return provides(own_agents_, agent);
      });
      break;
    case Awaited::kSession:
      *unfit =
          *unfit || !decide_sessions(value, {"a chat session in an answer", 0, false}).passes();
      break;
    case Awaited::kSessions:
      keep_own_sessions(value, [this](const Json& uri) { return owns_sessions(uri); });
      break;
    case Awaited::kResult:
      return refuse_folder(value);
    case Awaited::kOperation:
      // A person is asked whether these names may edit.
      if (value.is_object()) value["extensionNames"] = Json::array({signatures()});
      break;
    case Awaited::kResource:
      // The workbench compares it with a document, and tells where they differ.
      *unfit =
          *unfit ||
          (!value.is_null() &&
           !decide_file(Kind::kRead, value, {"the original of a document", 0, false}).passes());
      break;
    case Awaited::kTooltip:
      sign_tooltip(value, signatures(), fmt::format("{}", fmt::join(options_.extensions, ", ")));
      break;
    default:
      return 0;
  }
  return 1;
}

// Which it opens as its result: a click in a walkthrough does so without a question.
size_t Broker::refuse_folder(Json& value) {
  const Json folder = value.is_object() ? value.value("openFolder", Json()) : Json();
  if (folder.is_null()) return 0;
  const Asked asked{"a folder in a command's answer", 0, false};
  size_t changes = strip_cached_spellings(value);
  if (!decide_permission("workspace-folders", asked).passes() ||
      !decide_file(Kind::kRead, folder, asked).passes())
    changes += value.erase("openFolder");
  return changes;
}

}  // namespace bulkhead
