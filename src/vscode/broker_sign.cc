// Whose it is, in what a host shows to a person.
#include <fmt/core.h>

#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in four files

// "Name (publisher.name)": the name is whatever the extension says, its id is true. Nothing in the
// name can hide what follows it.
std::string Broker::signature(const std::string& id) const {
  constexpr size_t kLongest = 40;
  std::string shown;
  if (const auto name = names_.find(id); name != names_.end()) {
    for (const char c : name->second.substr(0, 256)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte > 0x20 && byte < 0x7f)
        shown += c;
      else if (byte == ' ' && !shown.empty() && shown.back() != ' ')
        shown += ' ';
      else if (byte >= 0x80 && (shown.empty() || shown.back() != '?'))
        shown += '?';
      if (shown.size() == kLongest) break;
    }
  }
  return shown.empty() ? id : fmt::format("{} ({})", shown, id);
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
  // Dialogs show no source.
  if (const auto modal = options.find("modal");
      is_message && modal != options.end() && !modal->is_null() && *modal != false) {
    const std::string detail = text_of(options.value("detail", Json()));
    options["detail"] =
        fmt::format("{}{}Shown by the extension {}.", detail, detail.empty() ? "" : "\n\n", label);
  }
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

Broker::Shown Broker::shown_by(const RpcRequest& request) const {
  if (request.method == "$showMessage") return Shown::kMessage;
  if (request.method == "$startProgress") return Shown::kProgress;
  if (request.proxy < 1 || request.proxy > options_.actors.size() ||
      options_.actors[request.proxy - 1U] != "MainThreadQuickOpen")
    return Shown::kNothing;
  if (request.method == "$show") return Shown::kPick;
  if (request.method == "$input") return Shown::kInput;
  if (request.method == "$createOrUpdate") return Shown::kQuickInput;
  return Shown::kNothing;
}

size_t Broker::signed_at(Shown shown) {
  switch (shown) {
    case Shown::kMessage:
      return 2;
    case Shown::kProgress:
    case Shown::kPick:
      return 1;
    case Shown::kNothing:
    case Shown::kInput:
    case Shown::kQuickInput:
      break;
  }
  return 0;
}

size_t Broker::sign_argument(Shown shown, size_t index, Json& value) {
  if (shown == Shown::kProgress && index == 2) {
    if (is_none(value) || own_extension(value)) return 0;
    value = options_.extensions.empty() ? Json() : Json(options_.extensions.front());
    return 1;
  }
  if (index != signed_at(shown)) return 0;
  switch (shown) {
    case Shown::kNothing:
      return 0;
    case Shown::kMessage:
    case Shown::kProgress:
      sign(value, shown == Shown::kMessage);
      return 1;
    case Shown::kPick:
    case Shown::kInput:
      if (!value.is_object() || is_none(value)) value = Json::object();
      sign_title(value);
      return 1;
    case Shown::kQuickInput:
      return sign_quick_input(value);
  }
  return 0;
}

// In front: a title that is too long loses its end.
void Broker::sign_title(Json& options) const {
  const auto title = options.find("title");
  const std::string text = title == options.end() ? "" : text_of(*title);
  options["title"] = text.empty() ? signatures() : fmt::format("{} — {}", signatures(), text);
}

// Made with its first update; later ones hold what has changed only.
size_t Broker::sign_quick_input(Json& update) {
  if (!update.is_object()) return 0;
  // The workbench sets whatever is named: its own fields would be the title behind the title.
  size_t changes = 0;
  for (auto it = update.begin(); it != update.end();) {
    const bool inner = it.key().starts_with('_');
    changes += inner ? 1 : 0;
    it = inner ? update.erase(it) : std::next(it);
  }
  const std::string id = update.contains("id")
                             ? update["id"].dump(-1, ' ', false, Json::error_handler_t::replace)
                             : "";
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    is_new = !quick_inputs_.contains(id);
    if (is_new && quick_inputs_.size() < kMaxAnswered) quick_inputs_.insert(id);
  }
  if (!is_new && !update.contains("title")) return changes;
  sign_title(update);
  return changes + 1;
}

}  // namespace bulkhead
