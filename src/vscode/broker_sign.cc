// Whose it is, in what a host shows to a person.
#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

namespace {

// What a host may say of a list or a box, and as what. The workbench sets whatever is named on the
// object that shows it: one whose `didHide` is no function stays behind all that come after it,
// hears what is typed there and answers them; a `contextKey` becomes any condition of a key.
struct Member {
  const char* name;
  bool (Json::*is_fit)() const noexcept;
};
constexpr Member kPickOptions[] = {
    {"title", &Json::is_string},          {"placeHolder", &Json::is_string},
    {"prompt", &Json::is_string},         {"matchOnDescription", &Json::is_boolean},
    {"matchOnDetail", &Json::is_boolean}, {"ignoreFocusLost", &Json::is_boolean},
    {"canPickMany", &Json::is_boolean},
};
constexpr Member kQuickInput[] = {
    {"id", &Json::is_primitive},
    {"type", &Json::is_string},
    {"visible", &Json::is_boolean},
    {"title", &Json::is_primitive},
    {"step", &Json::is_number},
    {"totalSteps", &Json::is_number},
    {"enabled", &Json::is_boolean},
    {"busy", &Json::is_boolean},
    {"ignoreFocusOut", &Json::is_boolean},
    {"value", &Json::is_string},
    {"valueSelection", &Json::is_array},
    {"placeholder", &Json::is_string},
    {"prompt", &Json::is_string},
    {"password", &Json::is_boolean},
    {"validationMessage", &Json::is_string},
    {"severity", &Json::is_number},
    {"buttons", &Json::is_array},
    {"items", &Json::is_array},
    {"activeItems", &Json::is_array},
    {"selectedItems", &Json::is_array},
    {"canSelectMany", &Json::is_boolean},
    {"matchOnDescription", &Json::is_boolean},
    {"matchOnDetail", &Json::is_boolean},
    {"sortByLabel", &Json::is_boolean},
    {"keepScrollPosition", &Json::is_boolean},
};

// Of pages: the window keeps all that stands there, and takes it for what a page may load and run
// when it shows that again.
constexpr Member kPageOptions[] = {
    {"enableFindWidget", &Json::is_boolean},
    {"retainContextWhenHidden", &Json::is_boolean},
    {"serializeBuffersForPostMessage", &Json::is_boolean},
};

// Takes out whatever else there is. How many.
size_t keep(Json& object, std::span<const Member> members) {
  size_t gone = 0;
  for (auto it = object.begin(); it != object.end();) {
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&](const Member& one) { return one.name == it.key(); });
    const bool is_kept = member != members.end() && (it.value().*(member->is_fit))();
    gone += is_kept ? 0 : 1;
    it = is_kept ? std::next(it) : object.erase(it);
  }
  return gone;
}

}  // namespace

// "publisher.name (Name)": the name is whatever the extension says, its id is true, and first: what
// is too long for its place loses its end.
std::string Broker::signature(const std::string& id) const {
  std::string title;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = titles_.find(id); found != titles_.end()) title = found->second;
  }
  return signature(id, title);
}

std::string Broker::signature(const std::string& id, std::string_view name) {
  constexpr size_t kLongest = 40;
  std::string shown;
  for (const char c : name.substr(0, 256)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f)
      shown += c;
    else if (byte == ' ' && !shown.empty() && shown.back() != ' ')
      shown += ' ';
    else if (byte >= 0x80 && (shown.empty() || shown.back() != '?'))
      shown += '?';
    if (shown.size() == kLongest) break;
  }
  // Anybody can be called like us.
  const std::string by = (id.starts_with("bulkhead") ? "extension " : "") + id;
  return shown.empty() ? by : fmt::format("{} ({})", by, shown);
}

// Whose a message is, as the person reads it, is said here and not by the host.
void Broker::sign(Json& options, bool is_message) const {
  if (!options.is_object() || is_none(options)) options = Json::object();
  std::string id = options_.extensions.empty() ? "an extension" : options_.extensions.front();
  if (const auto source = options.find("source");
      source != options.end() && source->is_object() && options_.extensions.size() > 1) {
    for (const char* key : {"identifier", "id"}) {
      const auto named = source->find(key);
      if (named == source->end() || !own_extension(*named)) continue;
      id = lower_case(text_of(named->is_object() ? named->value("value", Json()) : *named));
    }
  }
  const std::string label = signature(id);
  if (is_message)
    options["source"] = {{"identifier", {{"value", id}, {"_lower", id}}}, {"label", label}};
  else
    options["source"] = {{"label", label}, {"id", id}};
}

// All extensions of this host: which of them asks, nobody but the host knows.
std::string Broker::signatures() const {
  constexpr size_t kMost = 3;
  std::string text;
  for (size_t i = 0; i < options_.extensions.size() && i < kMost; ++i)
    text += (i == 0 ? "" : ", ") + signature(options_.extensions[i]);
  if (options_.extensions.size() > kMost) text += ", …";
  return text.empty() ? "an extension" : text;
}

bool Broker::is_quick_input(const RpcRequest& request) const {
  return actor_of(request) == "MainThreadQuickOpen";
}

Broker::Shown Broker::shown_by(const RpcRequest& request) const {
  if (request.method == "$showMessage") return Shown::kMessage;
  if (request.method == "$startProgress") return Shown::kProgress;
  const std::string actor = actor_of(request);
  if (request.method == "$setEntry" || request.method == "$disposeEntry") {
    if (actor == "MainThreadChatStatus") return Shown::kChatStatusItem;
    if (actor != "MainThreadStatusBar") return Shown::kNothing;
    return request.method == "$setEntry" ? Shown::kStatusItem : Shown::kStatusItemGone;
  }
  if (request.method == "$startTextSearch") return Shown::kTextSearch;
  if (request.method == "$getSession") return Shown::kSignIn;
  if (request.method == "$registerUriHandler") return Shown::kAddresses;
  if (request.method == "$updateWorkspaceFolders") return Shown::kFolders;
  if (actor == "MainThreadDialogs") return Shown::kInput;
  if (!is_quick_input(request)) return Shown::kNothing;
  if (request.method == "$show") return Shown::kPick;
  if (request.method == "$input") return Shown::kInput;
  if (request.method == "$createOrUpdate") return Shown::kQuickInput;
  return Shown::kNothing;
}

namespace {

// Arguments of $setEntry.
enum StatusItem : size_t {
  kEntryId = 0,
  kItemId = 1,
  kExtensionId = 2,
  kName = 3,
  kTooltip = 5,
  kClicked = 7,
  kAccessibility = 12,
};

}  // namespace

bool Broker::is_signed(Shown shown, size_t index) {
  switch (shown) {
    case Shown::kNothing:
    case Shown::kTextSearch:
      return false;
    case Shown::kMessage:
      return index == 2;
    case Shown::kProgress:
    case Shown::kPick:
      return index == 1;
    case Shown::kInput:
    case Shown::kQuickInput:
    case Shown::kStatusItemGone:
    case Shown::kChatStatusItem:
    case Shown::kFolders:
      return index == 0;
    case Shown::kStatusItem:
      return index <= kName || index == kTooltip;
    case Shown::kSignIn:
      return index == 3;
    case Shown::kAddresses:
      return index == 2;
  }
  return false;
}

size_t Broker::signed_count(Shown shown) {
  for (size_t count = kTooltip + 1; count > 0; --count)
    if (is_signed(shown, count - 1)) return count;
  return 0;
}

size_t Broker::sign_argument(Shown shown, size_t index, Json& value, const std::string& whose) {
  if (shown == Shown::kProgress && index == 2) {
    if (is_none(value) || own_extension(value)) return 0;
    value = options_.extensions.empty() ? Json() : Json(options_.extensions.front());
    return 1;
  }
  if (shown == Shown::kStatusItem) return sign_status_item(index, value, whose);
  // A search that stops early tells of files that are left out of its results.
  if (shown == Shown::kTextSearch)
    return index == 2 && value.is_object() ? value.erase("maxResults") : 0;
  if (shown == Shown::kChatStatusItem && index == 1 && value.is_object()) {
    const auto title = value.find("title");
    if (title != value.end() && title->is_object())
      sign_title(*title, "label");
    else
      sign_title(value);
    return 1;
  }
  if (!is_signed(shown, index)) return 0;
  switch (shown) {
    case Shown::kNothing:
    case Shown::kTextSearch:
      return 0;
    case Shown::kMessage:
    case Shown::kProgress:
      sign(value, shown == Shown::kMessage);
      return 1;
    case Shown::kPick:
    case Shown::kInput:
      if (!value.is_object() || is_none(value)) value = Json::object();
      if (shown == Shown::kPick) keep(value, kPickOptions);
      sign_title(value);
      return 1;
    case Shown::kQuickInput:
      return sign_quick_input(value);
    case Shown::kSignIn:
    case Shown::kAddresses:
      value = signature(whose);
      return 1;
    case Shown::kFolders:
      value = signatures();
      return 1;
    case Shown::kStatusItem:
    case Shown::kStatusItemGone:
    case Shown::kChatStatusItem:
      return sign_status_item(kEntryId, value, whose);
  }
  return 0;
}

// Hosts count their things from 0, and the window has one list of some: what is not named after an
// extension of this host is told from others' by this.
std::string Broker::host_prefix() const {
  return (options_.extensions.empty() ? "?" : options_.extensions.front()) + "/";
}

namespace {

// Whether it is that request, with that argument.
bool is_given(const RpcRequest& request, std::string_view method, size_t index) {
  return request.method == method &&
         !is_none(at(arguments_of(request, [&](size_t each) { return each == index; }), index));
}

bool is_modal(const RpcRequest& request) {
  const Json arguments = arguments_of(request, [](size_t each) { return each == 2; });
  const Json& options = at(arguments, 2);
  const auto modal = options.is_object() ? options.find("modal") : options.end();
  return modal != options.end() && !modal->is_null() && *modal != false;
}

}  // namespace

// Where progress is shown: the workbench's own places, and its views and their containers.
bool Broker::is_own_place(const Json& location) {
  static const std::set<int64_t> kPlaces = {1, 3, 10, 15};  // source control … a notification
  if (location.is_number_integer()) return kPlaces.contains(location.get<int64_t>());
  const std::string place = text_of(location);
  constexpr std::string_view kContainer = "workbench.view.extension.";
  if (place.starts_with(kContainer))
    return owns_part("container/" + place.substr(kContainer.size()));
  return owns_part(place) || command_family(place) == "workbench";
}

// The request without what is not its host's to say, where there is such a thing in it.
// Collections of problems and debuggers have names of the whole window: a host could empty
// another's list, or be the debugger of its programs. A name for problems stays as it is where the
// settings or problem matchers of this host alone have it, for a task's problems are to take their
// place. Empty where the request cannot be read.
std::optional<std::vector<uint8_t>> Broker::as_its_own(const RpcRequest& request) {
  const std::string actor = actor_of(request);
  std::optional<std::vector<uint8_t>> changed;
  if (actor == "MainThreadDiagnostics")
    changed = with_argument(request, 0, [&](Json& name) {
      if (!owns_part("problems/" + text_of(name))) name = host_prefix() + text_of(name);
    });
  // Each host registers all that it knows of, and whoever comes last has them.
  else if (request.method == "$registerDebugTypes")
    changed = with_argument(request, 0, [&](Json& types) {
      Json own = Json::array();
      if (types.is_array())
        for (Json& type : types)
          if (owns_part("debug/" + text_of(type))) own.push_back(std::move(type));
      types = std::move(own);
    });
  // What a click on it runs has no name that is judged, and a dialog or a row of buttons no source.
  else if (request.method == "$startProgress")
    changed = with_argument(request, 1, [this](Json& options) {
      if (!options.is_object()) return;
      Json own = Json::object();
      for (const char* key : {"title", "source", "cancellable", "total"})
        if (options.contains(key)) own[key] = options[key];
      const Json place = options.value("location", Json());
      own["location"] = is_own_place(place) ? place : Json(place.is_string() ? 10 : 15);
      // With a command it is shown in the status bar as it is, whose it is in its hover.
      if (own["location"] == 10) own["command"] = "notifications.showList";
      options = std::move(own);
    });
  // Among those of a language, and by its id in the status bar where a person wants it there.
  else if (request.method == "$setLanguageStatus")
    changed = with_argument(request, 1, [this](Json& status) {
      sign_language_status(status);
      if (!status.is_object()) return;
      Json markdown = {{"value", status["detail"]}};  // as the window takes it
      disarm().disarm(markdown, Disarm::Strings::kText);
      status["detail"] = markdown["value"];
    });
  // That somebody else's suggestions are not shown beside its own.
  else if (is_given(request, "$registerInlineCompletionsSupport", 9))
    changed = with_argument(request, 9, [](Json& excluded) { excluded = Json::array(); });
  // Dialogs show no source. In front, where nothing that follows can push it out of sight.
  else if (request.method == "$showMessage" && is_modal(request))
    changed = with_argument(request, 1, [this](Json& message) {
      message = fmt::format("{} — {}", signatures(), text_of(message));
    });
  // What a person wrote for it is kept by this name.
  else if (request.method == "$registerSourceControl" && !own_extension(Json("vscode.git")))
    changed = with_argument(request, 3, [&](Json& label) {
      label = fmt::format("{} ({})", text_of(label),
                          options_.extensions.empty() ? "?" : options_.extensions.front());
    });
  // All pages of notebooks may read what lies below it.
  else if (request.method == "$registerNotebookSerializer")
    changed = with_argument(request, 1, [](Json& extension) {
      if (extension.is_object()) extension.erase("location");
    });
  // What somebody else has decided about a tool, which nobody has: the window asks no person then,
  // and makes trusted links of the words beside it.
  else if (request.method == "$invokeTool")
    changed = with_argument(request, 0, [&](Json& call) {
      if (!call.is_object()) return;
      for (const char* key : {"preToolUseResult", "preApproved", "selectedCustomButton"})
        call.erase(key);
    });
  // Of which another extension it is a tool, or VS Code's own; and by whose names it is called too.
  else if (request.method == "$registerToolWithDefinition")
    changed = with_argument(request, 1, [&](Json& tool) {
      if (!tool.is_object()) return;
      for (const char* key : {"toolSet", "legacyToolReferenceFullNames"}) tool.erase(key);
      strip_marks(tool, {"displayName", "toolReferenceName"});
      const std::string id = options_.extensions.empty() ? "?" : options_.extensions.front();
      tool["source"] = {{"type", "extension"},
                        {"label", signature(id)},
                        {"extensionId", {{"value", id}, {"_lower", id}}}};
    });
  // A participant that no package declares: what a person reads of who made it.
  else if (is_given(request, "$registerAgent", 4))
    changed = with_argument(request, 4, [&](Json& agent) {
      if (!agent.is_object()) return;
      const std::string id = options_.extensions.empty() ? "?" : options_.extensions.front();
      const std::string named = text_of(agent.value("fullName", Json()));
      agent["fullName"] =
          signature(id, named.empty() ? text_of(agent.value("name", Json())) : named);
      agent["publisherName"] = id;
    });
  // Who trusts a folder reads the editor's own words, and buttons that do what they say.
  else if (is_given(request, "$requestWorkspaceTrust", 0) ||
           is_given(request, "$requestResourceTrust", 0))
    changed = with_argument(request, 0, [](Json& options) {
      if (!options.is_object()) return;
      options.erase("message");
      options.erase("buttons");
    });
  // It offers to install what it names there, in the editor's own words.
  else if (is_given(request, "$onExtensionActivationError", 2))
    changed = with_argument(request, 2, [](Json& missing) { missing = nullptr; });
  else
    return std::nullopt;
  return changed ? std::move(*changed) : std::vector<uint8_t>();
}

// The request without what it only claims: names that stand for the editor or for another's.
std::optional<std::vector<uint8_t>> Broker::without_claims(const RpcRequest& request) {
  std::optional<std::vector<uint8_t>> changed;
  // By whose servers the workbench picks a way to sign in, which nobody declares. Of the editor's
  // own it is known.
  if (request.method == "$registerAuthenticationProvider")
    changed = with_argument(request, 0, [&](Json& provider) {
      if (!provider.is_object()) return;
      const std::string name = text_of(provider.value("id", Json()));
      if (knows(builtin_views_, "authentication/" + name)) return;
      provider.erase("supportedAuthorizationServers");
      provider.erase("resourceServer");
    });
  else if (is_given(request, "$registerCustomEditorProvider", 2) ||
           is_given(request, "$registerTextEditorProvider", 2) ||
           is_given(request, "$registerWebviewViewProvider", 2))
    changed = with_argument(request, 2, [](Json& options) {
      if (!options.is_object()) options = Json::object();
      keep(options, kPageOptions);
    });
  // A tab is called as its notebook is.
  else if (is_given(request, "$tryShowNotebookDocument", 2))
    changed = with_argument(request, 2, [](Json& options) {
      if (options.is_object()) options.erase("label");
    });
  else
    return std::nullopt;
  return changed ? std::move(*changed) : std::vector<uint8_t>();
}

// "publisher.name" or "publisher.name.item", as VS Code makes them.
bool Broker::is_own_name(const std::string& id) const {
  return std::any_of(options_.extensions.begin(), options_.extensions.end(),
                     [name = lower_case(id)](const std::string& own) {
                       return name.starts_with(own) &&
                              (name.size() == own.size() || name[own.size()] == '.');
                     });
}

std::string Broker::whose(const RpcRequest& request, Shown shown) const {
  size_t named = 0;
  if (shown == Shown::kStatusItem)
    named = kExtensionId;
  else if (shown == Shown::kSignIn)
    named = 2;
  else if (shown == Shown::kAddresses)
    named = 1;
  else
    return {};
  const Json arguments = arguments_of(request, [&](size_t argument) { return argument == named; });
  Json id = at(arguments, named);
  if (id.is_object()) id = id.value("value", Json());
  if (id.is_string() && own_extension(id)) return lower_case(text_of(id));
  return options_.extensions.empty() ? "an extension" : options_.extensions.front();
}

size_t Broker::sign_status_item(size_t index, Json& value, const std::string& whose) {
  const std::string label = signature(whose);
  switch (index) {
    case kEntryId: {
      const std::string id = value.is_string() ? value.get<std::string>() : json_string(value);
      if (value.is_string() && is_own_name(id)) return 0;
      value = host_prefix() + id;
      return 1;
    }
    case kItemId: {
      if (value.is_string() && is_own_name(value.get<std::string>())) return 0;
      value = whose + (value.is_string() ? "." + value.get<std::string>() : "");
      return 1;
    }
    case kExtensionId:
      if (value.is_string() && own_extension(value)) return 0;
      value = whose;
      return 1;
    case kName: {  // in the status bar's menu
      const std::string said = text_of(value);
      std::string_view name = said;
      constexpr std::string_view kAdded = " (Extension)";  // by VS Code
      if (name.ends_with(kAdded)) name.remove_suffix(kAdded.size());
      // An item that was there before is given back with its name.
      const std::string begin = whose + " (";
      if (name.starts_with(begin) && name.ends_with(')')) {
        name.remove_prefix(begin.size());
        name.remove_suffix(1);
      }
      const std::string signed_name = signature(whose, name);
      if (value == signed_name) return 0;
      value = signed_name;
      return 1;
    }
    case kTooltip:
      sign_tooltip(value, label, whose);
      return 1;
    case kClicked:
      return disarm().disarm_command(value);
    case kAccessibility: {
      if (!value.is_object() || is_none(value)) return 0;
      const std::string said = text_of(value.value("label", Json()));
      if (!said.starts_with(label)) value["label"] = fmt::format("{}, {}", label, said);
      return 1;
    }
    default:
      return 0;
  }
}

// In front, where nothing that follows can hide it. Markdown gets the id alone, which has no marks.
void Broker::sign_tooltip(Json& tooltip, const std::string& label, const std::string& id) {
  const auto sign_text = [](const std::string& by, const std::string& text) {
    if (text == by || text.starts_with(by + "\n\n")) return text;
    return text.empty() ? by : fmt::format("{}\n\n{}", by, text);
  };
  if (tooltip.is_object() && tooltip.contains("value"))
    tooltip["value"] = sign_text(id, text_of(tooltip["value"]));
  else
    tooltip = sign_text(label, text_of(tooltip));
}

// VS Code shows what it says in a row of its own, without a source.
void Broker::sign_language_status(Json& status) const {
  if (!status.is_object()) return;
  const auto said = [&](const char* key) { return text_of(status.value(key, Json())); };
  const std::string id = said("id"), named = id.substr(0, id.find('/'));
  const bool own = own_extension(Json(named));
  if (!own) status["id"] = host_prefix() + id;
  const std::string by = own                           ? lower_case(named)
                         : options_.extensions.empty() ? "an extension"
                                                       : options_.extensions.front();
  const std::string label = signature(by);
  status["source"] = label;
  status["name"] = signature(by, said("name"));
  const std::string detail = said("detail");
  status["detail"] = detail.empty() ? by : fmt::format("{} — {}", by, detail);
  const auto sign_in = [&](const char* part, const char* key) {
    const auto found = status.find(part);
    if (found == status.end() || !found->is_object() || is_none(*found)) return;
    if (const std::string text = text_of(found->value(key, Json())); !text.empty())
      (*found)[key] = fmt::format("{} — {}", label, text);
  };
  sign_in("command", "tooltip");  // goes before the detail
  sign_in("accessibilityInfo", "label");
}

// In front: a title that is too long loses its end.
void Broker::sign_title(Json& options, const char* key) const {
  const auto title = options.find(key);
  const std::string text = title == options.end() ? "" : text_of(*title);
  options[key] = text.empty() ? signatures() : fmt::format("{} — {}", signatures(), text);
}

// Made with its first update; later ones hold what has changed only.
size_t Broker::sign_quick_input(Json& update) {
  if (!update.is_object()) return 0;
  const size_t changes = keep(update, kQuickInput);
  const std::string id = handle_of(update.value("id", Json()));
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    is_new = !quick_inputs_.contains(id);
    quick_inputs_.add(id);
  }
  if (!is_new && !update.contains("title")) return changes;
  sign_title(update);
  return changes + 1;
}

}  // namespace bulkhead
