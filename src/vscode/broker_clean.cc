// What goes to the workbench of a request that passes: without what would act by itself, and with
// whose it is in what a person reads.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vscode/broker_parts.h"
#include "vscode/style_text.h"
#include "vscode/terminal_text.h"
#include "vscode/typed_text.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

namespace {

constexpr size_t kWhole = SIZE_MAX;  // not one argument: all of them

// A kernel's scripts would run in the pages of notebooks, beside what others put out there; and
// what lies below its place, all of these may read.
size_t strip_kernels(Json& value) {
  size_t changed = 0;
  if (value.is_array())
    for (Json& each : value) changed += strip_kernels(each);
  for (const auto& [key, instead] :
       {std::pair<const char*, Json>("preloads", Json::array()), {"extensionLocation", nowhere()}})
    if (value.is_object() && value.contains(key)) {
      value[key] = instead;
      ++changed;
    }
  return changed;
}

// Resources of a source control come as lists, in which what a click runs, the pictures and what is
// compared have no names: [7, uri, [light, dark], "", false, false, "", command, original,
// modified].
size_t disarm_resources(Json& value, const Disarm& disarm, bool may_fetch, int depth = 0) {
  size_t changed = 0;
  if (!value.is_array() || depth > 8) return changed;
  const auto is_part = [](const Json& one) { return one.is_object() || one.is_null(); };
  const bool pictures = depth > 0 && std::all_of(value.begin(), value.end(), is_part);
  for (Json& each : value) {
    changed += disarm_resources(each, disarm, may_fetch, depth + 1);
    if (!each.is_object()) continue;
    if (each.contains("arguments")) changed += disarm.disarm_command(each);
    if (may_fetch || !is_fetched(each)) continue;
    each = pictures ? Json() : nowhere();
    ++changed;
  }
  return changed;
}

// What lies in these folders, the workbench reads for a page: none that holds a blocked path.
template <typename Holds>
size_t strip_roots(Json& value, const Holds& holds_blocked) {
  size_t changed = 0;
  if (!value.is_structured()) return changed;
  for (Json& each : value) changed += strip_roots(each, holds_blocked);
  const auto roots = value.is_object() ? value.find("localResourceRoots") : value.end();
  if (roots == value.end() || !roots->is_array()) return changed;
  Json kept = Json::array();
  for (Json& root : *roots)
    if (!holds_blocked(root)) kept.push_back(std::move(root));
  changed += roots->size() - kept.size();
  *roots = std::move(kept);
  return changed;
}

// That nobody else is asked about documents of a kind: who formats, say, would be the only one. And
// that it is asked about those that no extension is told of: what a person writes to a chat, a
// debugger, a commit.
size_t strip_exclusive(Json& value) {
  size_t changed =
      value.is_object() ? value.erase("exclusive") + value.erase("hasAccessToAllModels") : 0;
  if (value.is_structured())
    for (Json& each : value) changed += strip_exclusive(each);
  return changed;
}

// What terminals of the window show of it, which are no program's.
bool is_printed(std::string_view method) {
  return method == "$appendTestMessagesInRun" || method == "$handleProgressChunk";
}

// What the strings are that a person sees of it.
Disarm::Strings shown_strings(std::string_view method) {
  for (const char* one :
       {"$showMessage", "$startProgress", "$progressReport", "$setLanguageStatus", "$setMessage"})
    if (method == one) return Disarm::Strings::kMessages;
  return method == "$tryInsertSnippet" ? Disarm::Strings::kSnippets : Disarm::Strings::kText;
}

}  // namespace

// One request that is being cleaned.
class Broker::Cleaning {
 public:
  Cleaning(Broker& broker, const RpcRequest& request)
      : broker_(broker),
        request_(request),
        shown_(broker.shown_by(request)),
        by_(broker.whose(request, shown_)),
        provides_language_(broker.actor_of(request) == "MainThreadLanguageFeatures"),
        strings_(shown_strings(request.method)) {
    if (shown_ == Shown::kChatStatusItem) strings_ = Disarm::Strings::kMessages;
    if (broker.is_quick_input(request)) strings_ = Disarm::Strings::kPicks;
  }

  // `changed`: the request, by other names perhaps.
  Cleaned clean(RpcRequest changed);

 private:
  // What of this the text may hold. Each looks through all of it.
  struct Held {
    bool spelt, roots, styles, kernels, resources, typed, printed, alone;
    bool any() const {
      return spelt || roots || styles || kernels || resources || typed || printed || alone;
    }
  };
  Held held_in(std::string_view text) const;
  std::string_view clean_text(std::string_view text, size_t index);
  void clean_output(Bytes& output);
  size_t sign(Json& value, size_t index);
  bool holds_blocked(const Json& root) const;

  Broker& broker_;
  const RpcRequest& request_;
  const Shown shown_;
  const std::string by_;  // the extension that it shows
  const bool provides_language_;
  Disarm::Strings strings_;
  std::optional<Disarm> disarm_;    // one for all arguments
  std::vector<std::string> texts_;  // what is read instead
  bool changed_ = false, readable_ = true;
};

Broker::Cleaned Broker::cleaned_for(const RpcRequest& request,
                                    const std::optional<std::vector<uint8_t>>& renamed) {
  return Cleaning(*this, request)
      .clean(renamed ? std::get<RpcRequest>(*parse_rpc(*renamed)) : request);
}

Broker::Cleaned Broker::Cleaning::clean(RpcRequest changed) {
  if (request_.mixed && changed.arguments.size() < signed_count(shown_))
    changed.arguments.resize(signed_count(shown_));
  texts_.reserve(changed.arguments.size() + 1);  // they are pointed at
  if (!request_.mixed) changed.json = clean_text(changed.json, kWhole);
  for (size_t i = 0; i < changed.arguments.size(); ++i) {
    RpcArgument& argument = changed.arguments[i];
    if (argument.type == RpcArgument::Type::kBuffer && request_.method == "$appendOutputToRun")
      clean_output(argument.buffers.at(0));
    else if (!argument.json.empty())
      argument.json = clean_text(argument.json, i);
    else if (is_signed(shown_, i))  // undefined
      argument = RpcArgument{RpcArgument::Type::kJson, clean_text("{}", i), {}};
  }
  if (!readable_) return {Cleaned::How::kUnreadable, {}};
  if (!changed_) return {Cleaned::How::kSame, {}};
  return {Cleaned::How::kChanged, write_request(changed)};
}

Broker::Cleaning::Held Broker::Cleaning::held_in(std::string_view text) const {
  const std::string_view method = request_.method;
  const bool named = may_name(text, {"fsPath", "external", "localResourceRoots"});
  return {
      // Only requests whose arguments were judged hold URIs that matter; their cached spellings go.
      .spelt = named && may_name(text, {"fsPath", "external"}),
      .roots = named && may_name(text, {"localResourceRoots"}),
      .styles = method == "$registerTextEditorDecorationType" ||
                (method == "$trySetDecorations" && may_name(text, {"renderOptions"})),
      .kernels = method.ends_with("Kernel") && may_name(text, {"preloads", "extensionLocation"}),
      .resources = method == "$spliceResourceStates" || method == "$registerGroups",
      .typed = method == "$setLanguageConfiguration",
      .printed = is_printed(method) && may_control(text),
      .alone = provides_language_ && may_name(text, {"exclusive", "hasAccessToAllModels"}),
  };
}

std::string_view Broker::Cleaning::clean_text(std::string_view text, size_t index) {
  const Held held = held_in(text);
  // What an extension only keeps for itself is shown to nobody.
  const bool is_kept = request_.method == "$setValue";
  if (!held.any() && shown_ == Shown::kNothing && (is_kept || !Disarm::concerns(text))) return text;
  // VS Code takes bytes that are no UTF-8, and trees of any size; what cannot be cleaned does not
  // pass.
  Json value = parse_json(text);
  if (value.is_discarded()) {
    readable_ = false;
    return text;
  }
  const bool may_fetch = broker_.granted("open-external");
  if (!disarm_) disarm_.emplace(broker_.disarm());
  size_t changes = 0;
  if (held.spelt) changes += strip_cached_spellings(value);
  if (held.roots)
    changes += strip_roots(value, [this](const Json& root) { return holds_blocked(root); });
  if (held.kernels) changes += strip_kernels(value);
  if (held.resources) changes += disarm_resources(value, *disarm_, may_fetch);
  if (held.styles) changes += strip_styles(value, may_fetch);
  if (held.typed) changes += strip_typed(value);
  if (held.printed) changes += plain_outputs(value);
  if (held.alone) changes += strip_exclusive(value);
  if (!is_kept) changes += disarm_->disarm(value, strings_);
  changes += sign(value, index);
  if (changes == 0) return text;
  changed_ = true;
  texts_.push_back(json_string(value));
  return texts_.back();
}

void Broker::Cleaning::clean_output(Bytes& output) {
  const std::string_view said(reinterpret_cast<const char*>(output.data()), output.size());
  std::string plain = plain_output(said);
  if (plain == said) return;
  changed_ = true;
  texts_.push_back(std::move(plain));
  output = {reinterpret_cast<const uint8_t*>(texts_.back().data()), texts_.back().size()};
}

size_t Broker::Cleaning::sign(Json& value, size_t index) {
  if (shown_ == Shown::kNothing) return 0;
  if (index != kWhole) return broker_.sign_argument(shown_, index, value, by_);
  if (!value.is_array()) return 0;
  while (value.size() < signed_count(shown_)) value.push_back(nullptr);
  size_t signs = 0;
  for (size_t i = 0; i < value.size(); ++i)
    signs += broker_.sign_argument(shown_, i, value[i], by_);
  return signs;
}

bool Broker::Cleaning::holds_blocked(const Json& root) const {
  const auto resource = parse_resource(root, broker_.remote_authority_);
  const auto folder = resource && resource->is_file ? canonical_file(resource->path) : std::nullopt;
  if (!folder || !broker_.arbiter_.policy().above_read_block(*folder)) return false;
  broker_.arbiter_.note_refusal(Kind::kRead, *folder, "a page could load what is blocked in it",
                                Attempt{0, 0, std::string(request_.method), nullptr});
  return true;
}

}  // namespace bulkhead
