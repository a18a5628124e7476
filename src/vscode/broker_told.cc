// What of the workbench's words comes in, rule by rule (vscode/api/table.json, "told").
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>

#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

namespace {

// Of whose arguments nothing is built but what names resources.
bool looks_for_resources(ToldRule::Way way) {
  using Way = ToldRule::Way;
  return way == Way::kResources || way == Way::kResourcesOrNone || way == Way::kSearched ||
         way == Way::kEdits;
}

// What comes in is written anew.
bool is_written(ToldRule::Way way) {
  using Way = ToldRule::Way;
  return way == Way::kDocuments || way == Way::kMarkers || way == Way::kDecorations ||
         way == Way::kEditors || way == Way::kTabs || way == Way::kFiles || way == Way::kSettings;
}

}  // namespace

bool Broker::filter_documents(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  Json& delta = arguments.at(0);
  const auto list_of = [&](const char* name) {
    const auto list = delta.find(name);
    return list != delta.end() && list->is_array() ? *list : Json::array();
  };
  for (const Json& editor : list_of("addedEditors"))
    if (editor.is_object())
      all_editors_[text_of(editor.value("id", Json()))] = editor.value("documentUri", Json());
  for (const Json& id : list_of("removedEditors")) all_editors_.erase(text_of(id));
  if (const auto active = delta.find("newActiveEditor"); active != delta.end()) {
    const auto editor = all_editors_.find(text_of(*active));
    active_ = editor == all_editors_.end() ? Json() : editor->second;
  }
  const auto keep = [&](const char* list, const char* key) {
    if (!delta.contains(list) || !delta[list].is_array()) return;
    Json kept = Json::array();
    for (Json& each : delta[list])
      if (each.is_object() && each.contains(key) && may_read(each[key]))
        kept.push_back(std::move(each));
    delta[list] = std::move(kept);
  };
  keep("addedDocuments", "uri");
  keep("addedEditors", "documentUri");
  if (delta.contains("removedDocuments") && delta["removedDocuments"].is_array()) {
    Json kept = Json::array();
    for (Json& uri : delta["removedDocuments"])
      if (may_read(uri)) kept.push_back(std::move(uri));
    delta["removedDocuments"] = std::move(kept);
  }
  if (delta.contains("addedEditors"))
    for (const Json& editor : delta["addedEditors"])
      editors_[text_of(editor.value("id", Json()))] = editor["documentUri"];
  if (delta.contains("removedEditors") && delta["removedEditors"].is_array()) {
    Json kept = Json::array();
    for (Json& id : delta["removedEditors"])
      if (editors_.erase(text_of(id)) > 0) kept.push_back(std::move(id));
    delta["removedEditors"] = std::move(kept);
  }
  if (delta.contains("newActiveEditor") && delta["newActiveEditor"].is_string() &&
      !editors_.contains(text_of(delta["newActiveEditor"])))
    delta["newActiveEditor"] = nullptr;
  outbox.to_host(with_arguments(request, arguments));
  return true;
}

// Ids of status items come back as the host knows them; others' items stay outside.
bool Broker::filter_status_items(const RpcRequest& request, Outbox& outbox) {
  Json arguments = arguments_of(request, [](size_t i) { return i == 0; });
  if (!arguments.is_array() || arguments.empty() || request.mixed) {
    withhold(request, outbox);
    return true;
  }
  Json& first = arguments[0];
  if (request.method == "$provideTooltip") {
    const std::string id = text_of(first);
    if (id.starts_with(host_prefix())) first = id.substr(host_prefix().size());
  } else {
    Json kept = Json::array();
    if (first.is_array())
      for (Json& each : first)
        if (each.is_object() && is_own_name(text_of(each.value("entryId", Json()))))
          kept.push_back(std::move(each));
    first = std::move(kept);
  }
  outbox.to_host(with_arguments(request, arguments));
  return true;
}

bool Broker::filter_settings(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  ForeignSettings::Withheld withheld;
  std::string contested;
  Json& data = arguments[0];
  const Json whole = data;
  {
    const std::lock_guard lock(mutex_);
    foreign_settings_.learn(data);
    withheld = foreign_settings_.withhold(data);
    for (const std::string& key : withheld.contested) {
      if (contested.size() > 200) {
        contested += ", …";
        break;
      }
      contested += fmt::format("{}{} ({})", contested.empty() ? "" : ", ", key,
                               fmt::join(foreign_settings_.contested().at(key), ", "));
    }
  }
  if (!contested.empty()) {
    constexpr std::string_view kShared = "settings-shared";
    const std::string why = "other extensions declare these settings too: " + contested;
    const Attempt attempt{0, 0, why, nullptr};
    switch (arbiter_.vscode(kShared, attempt, false)) {
      case Arbiter::Ruling::kAllow: {
        const std::lock_guard lock(mutex_);
        data = whole;
        foreign_settings_.share();
        withheld = foreign_settings_.withhold(data);
        break;
      }
      case Arbiter::Ruling::kWouldAsk:
        if (!told_contested_) arbiter_.note_refusal(Kind::kVscode, kShared, why, attempt);
        told_contested_ = true;
        break;
      case Arbiter::Ruling::kDeny:
        break;
    }
  }
  if (!withheld.changed) return false;
  outbox.to_host(with_arguments(request, arguments));
  return true;
}

// Whose terminal it is decides; its number comes first.
bool Broker::filter_terminal(const RpcRequest& request, ToldRule::Way way, const Json& arguments,
                             Outbox& outbox) {
  using Way = ToldRule::Way;
  const auto number = [&](size_t index) -> std::optional<uint64_t> {
    const Json& value = at(arguments, index);
    return value.is_number_unsigned() ? std::optional(value.get<uint64_t>()) : std::nullopt;
  };
  std::unique_lock lock(mutex_);
  if (way == Way::kOpenedTerminal) {
    if (const auto opened = number(0);
        opened && made_terminals_.contains(text_of(at(arguments, 1))))
      own_terminals_.insert(*opened);
    lock.unlock();
    return filter_started_with(request, outbox);
  }
  if (way == Way::kTask) {
    const Json& task =
        at(arguments, 0).is_object() ? at(arguments, 0).value("task", Json()) : kNull;
    const Json source = task.is_object() ? task.value("source", Json()) : Json();
    if (const auto terminal = number(1);
        terminal && source.is_object() && own_extension(source.value("extensionId", Json())))
      own_terminals_.insert(*terminal);
    lock.unlock();
    if (granted("tasks")) return false;
    withhold(request, outbox);
    return true;
  }
  const auto terminal = number(0);
  const bool own = terminal && own_terminals_.contains(*terminal);
  if (own || (way != Way::kOwnTerminal && way != Way::kStartTerminal && granted("terminal-read")))
    return false;
  if (way == Way::kStartTerminal) {
    // One of its tasks may run in it, which it learns later; until then it says nothing.
    unanswered_[request.number] = Awaited::kNothing;
    return false;
  }
  if (way == Way::kTouchedTerminal && terminal && touched_terminals_.insert(*terminal).second)
    return false;
  withhold(request, outbox);
  return true;
}

bool Broker::filter_started_with(const RpcRequest& request, Outbox& outbox) {
  const bool opened = request.method == "$acceptTerminalOpened";
  std::vector<std::vector<uint8_t>> changed;
  RpcRequest current = request;
  for (const size_t index : opened ? std::vector<size_t>{3} : std::vector<size_t>{0, 1}) {
    auto without = with_argument(current, index, [&](Json& started) {
      if (!started.is_object()) return;
      started.erase("env");
      if (opened) started.erase("args");
    });
    // A profile that there is not; what a terminal was opened with is always there.
    if (!without && !opened) continue;
    if (!without) {
      withhold(request, outbox);
      return true;
    }
    changed.push_back(std::move(*without));
    current = std::get<RpcRequest>(*parse_rpc(changed.back()));
  }
  outbox.to_host(write_request(current));
  return true;
}

// Comes with buffers: what the cells show.
bool Broker::filter_notebooks(const RpcRequest& request, Outbox& outbox) {
  const auto kept_of = [](Json& delta, const char* list, const auto& keep) {
    const auto found = delta.find(list);
    if (found == delta.end() || !found->is_array()) return;
    Json kept = Json::array();
    for (Json& each : *found)
      if (keep(each)) kept.push_back(std::move(each));
    *found = std::move(kept);
  };
  const auto is_known = [this](const Json& id) { return editors_.contains(text_of(id)); };
  auto changed = with_argument(request, 0, [&](Json& delta) {
    if (!delta.is_object()) return;
    kept_of(delta, "addedDocuments", [&](const Json& each) {
      return each.is_object() && may_read(each.value("uri", Json()));
    });
    kept_of(delta, "removedDocuments", [&](const Json& uri) { return may_read(uri); });
    kept_of(delta, "removedEditors", is_known);
    kept_of(delta, "addedEditors", [&](const Json& each) {
      if (!each.is_object()) return false;
      const Json uri = each.value("documentUri", Json());
      if (!may_read(uri)) return false;
      editors_[text_of(each.value("id", Json()))] = uri;
      return true;
    });
    kept_of(delta, "visibleEditors", is_known);
    if (const auto active = delta.find("newActiveEditor");
        active != delta.end() && active->is_string() && !is_known(*active))
      *active = nullptr;
  });
  if (changed)
    outbox.to_host(std::move(*changed));
  else
    withhold(request, outbox);
  return true;
}

// Those that it may not know are asked for in one go with others.
bool Broker::filter_decorations(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  if (arguments.size() < 2 || !arguments[1].is_array()) {
    withhold(request, outbox, "{}");
    return true;
  }
  Json kept = Json::array();
  for (Json& each : arguments[1])
    if (each.is_object() && may_read(each.value("uri", Json()))) kept.push_back(std::move(each));
  if (kept.empty()) {
    withhold(request, outbox, "{}");
    return true;
  }
  arguments[1] = std::move(kept);
  outbox.to_host(with_arguments(request, arguments));
  return true;
}

// An object by the ids of editors; of one that it does not know, the host throws.
bool Broker::filter_editors(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  if (arguments[0].is_object()) {
    Json kept = Json::object();
    for (auto& [id, value] : arguments[0].items())
      if (editors_.contains(id)) kept[id] = std::move(value);
    arguments[0] = std::move(kept);
  }
  outbox.to_host(with_arguments(request, arguments));
  return true;
}

bool Broker::filter_environment(const RpcRequest& request, Outbox& outbox) {
  auto changed = with_argument(request, 0, [this](Json& collections) {
    Json own = Json::array();
    if (collections.is_array())
      for (Json& each : collections)
        if (each.is_array() && !each.empty() && own_extension(each[0]))
          own.push_back(std::move(each));
    collections = std::move(own);
  });
  if (changed)
    outbox.to_host(std::move(*changed));
  else
    withhold(request, outbox);
  return true;
}

// What the window acts on by itself once it is answered: it runs the commands and tasks that a
// debugger's configuration names, and the programs of tasks, outside of the compartment.
// Registering who answers needs no permission, so here it is decided.
void Broker::pass_asked(const RpcRequest& request, const ToldRule& rule, Bytes body, bool may_block,
                        Outbox& outbox) {
  // At the window's start, for the labels of tasks alone (vscode/workbench/placement.js): of those
  // that nobody has granted there is nothing to say, to a person or to the journal.
  constexpr size_t kUnasked = 2;  // behind the arguments of $provideTasks
  if (request.method == "$provideTasks" && argument_of(request, kUnasked) == true &&
      !granted(rule.permission)) {
    withhold(request, outbox, rule.instead);
    return;
  }
  const std::string method = fmt::format("{}.{}", actor_of(request), request.method);
  const Asked asked{method, 0, may_block, may_block ? text_of_arguments(request) : ""};
  const auto settled = [this] {
    const std::lock_guard lock(mutex_);
    return settled_;
  };
  uint64_t before = settled();
  Ruling ruling = decide_permission(rule.permission, asked);
  // A person has pressed F5, and nothing but that waits.
  while (may_block && rule.way == ToldRule::Way::kConfiguration &&
         ruling.way == Ruling::Way::kLater && wait_for_answer(before)) {
    before = settled();
    ruling = decide_permission(rule.permission, asked);
  }
  if ((ruling.way == Ruling::Way::kAsk ||
       (ruling.way == Ruling::Way::kLater && rule.way == ToldRule::Way::kConfiguration &&
        !may_block)) &&
      wait_for_person(body, [this, &rule, &outbox](const RpcRequest& waiting, Bytes held) {
        pass_asked(waiting, rule, held, true, outbox);
      }))
    return;
  const Json resources =
      arguments_of(request, [](size_t, std::string_view text) { return holds(text, "\"$mid\""); });
  if (ruling.passes()) {
    const std::lock_guard lock(mutex_);
    if (resources.is_array() && !names_withheld(resources, 0)) {
      std::optional<std::vector<uint8_t>> unmarked;
      unanswered_[request.number] = awaited_of(request, &unmarked);
      outbox.to_host(unmarked ? std::move(*unmarked) : copy(body));
      return;
    }
  }
  if (rule.way == ToldRule::Way::kAsked) {
    withhold(request, outbox, rule.instead);
    return;
  }
  constexpr size_t kGiven = 1;  // behind the folder
  const Json arguments = arguments_of(request, [](size_t i) { return i == kGiven; });
  const bool is_given = arguments.is_array() && arguments.size() > kGiven;
  withhold(request, outbox, is_given ? json_string(arguments[kGiven]) : "");
}

bool Broker::filter_files(const RpcRequest& request, Json& event, Outbox& outbox) {
  bool some = false;
  size_t taken = 0;
  for (const char* key : {"created", "changed", "deleted"}) {
    const auto list = event.is_object() ? event.find(key) : event.end();
    if (list == event.end() || !list->is_array()) continue;
    Json kept = Json::array();
    for (Json& uri : *list)
      if (may_know(uri)) kept.push_back(std::move(uri));
    taken += list->size() - kept.size();
    some = some || !kept.empty();
    *list = std::move(kept);
  }
  if (taken == 0) return false;
  if (!some) {
    withhold(request, outbox);
    return true;
  }
  outbox.to_host(with_arguments(request, Json::array({std::move(event)})));
  return true;
}

bool Broker::knows_all(const Json& value, int depth) const {
  if (depth > 30) return false;
  if (is_uri(value)) return may_know(value);
  return !value.is_structured() || std::all_of(value.begin(), value.end(), [&](const Json& each) {
    return knows_all(each, depth + 1);
  });
}

namespace {

// The review and the journal.
bool is_our_page(const Json& tab) {
  const Json input = tab.is_object() ? tab.value("input", Json()) : Json();
  return input.is_object() &&
         text_of(input.value("viewType", Json())).starts_with("mainThreadWebview-bulkhead.");
}

}  // namespace

// What is told: groups with all of their tabs, or what became of one tab. Which of a group was in
// front before is not told.
void Broker::learn_our_pages(const RpcRequest& request, const Json& told) {
  constexpr int kClosed = 1;
  const Json& first = at(told, 0);
  if (request.method == "$acceptEditorTabModel") our_pages_.clear();
  const bool closed = first.is_object() && first.value("kind", Json()) == kClosed;
  const std::function<void(const Json&, int)> learn = [&](const Json& value, int depth) {
    if (depth > 4 || !value.is_structured()) return;
    if (!value.is_object() || !value.contains("input")) {
      for (const Json& each : value) learn(each, depth + 1);
      return;
    }
    const std::string id = text_of(value.value("id", Json()));
    const bool in_front = value.value("isActive", Json()) == true;
    if (in_front)
      for (auto& [page, is_in_front] : our_pages_)
        if (page.substr(0, page.find('~')) == id.substr(0, id.find('~'))) is_in_front = false;
    if (!is_our_page(value)) return;
    if (closed)
      our_pages_.erase(id);
    else
      our_pages_[id] = in_front;
  };
  learn(told, 0);
}

bool Broker::our_page_is_in_front() {
  const std::lock_guard lock(mutex_);
  return std::any_of(our_pages_.begin(), our_pages_.end(),
                     [](const auto& one) { return one.second; });
}

// A tab stays in its place, so that what is told of the others fits; what it shows does not come
// in.
size_t Broker::mask_tabs(Json& value, int depth) {
  if (depth > 30 || !value.is_structured()) return 0;
  const auto input = value.is_object() ? value.find("input") : value.end();
  if (input == value.end()) {
    size_t masked = 0;
    for (Json& each : value) masked += mask_tabs(each, depth + 1);
    return masked;
  }
  // VS Code's TabInputKind. The id of a tab names what it shows, also where its input does not: two
  // files side by side, several differences.
  constexpr int kUnknown = 0, kWebview = 7, kTerminal = 8, kChat = 10, kDifferences = 11;
  const Json said = input->is_object() ? input->value("kind", Json()) : Json();
  const int kind = said.is_number_unsigned() && said <= kDifferences ? said.get<int>() : kUnknown;
  const auto is_own_panel = [&] {
    constexpr std::string_view kPrefix = "mainThreadWebview-";
    const std::string type = text_of(input->value("viewType", Json()));
    return own_views_.contains(type) ||
           (type.starts_with(kPrefix) && panels_.contains(type.substr(kPrefix.size())));
  };
  const bool titled = kind == kTerminal || kind == kChat || (kind == kWebview && !is_own_panel());
  if (titled) value["label"] = "";
  if (kind != kUnknown && kind != kDifferences && !is_our_page(value) && knows_all(*input, depth))
    return titled ? 1 : 0;
  *input = Json{{"kind", kUnknown}};
  value["label"] = "";
  if (masked_tabs_.size() >= Names::kMost) masked_tabs_.clear();
  const std::string next = fmt::format("bulkhead-{}", masked_tabs_.size());
  value["id"] = masked_tabs_.emplace(text_of(value.value("id", Json())), next).first->second;
  return 1;
}

bool Broker::filter_tabs(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  learn_our_pages(request, arguments);
  if (mask_tabs(arguments, 0) == 0) return false;
  outbox.to_host(with_arguments(request, arguments));
  return true;
}

// What a host asks in a chat. The window tells each the answers of all.
void Broker::learn_questions(const RpcRequest& request) {
  const Json arguments = arguments_of(
      request, [](size_t, std::string_view text) { return may_name(text, {"resolveId"}); });
  const std::lock_guard lock(mutex_);
  anywhere(arguments, [this](const Json& part) {
    if (!part.is_object() || part.value("kind", Json()) != "questionCarousel") return false;
    std::string name = text_of(part.value("resolveId", Json()));
    own_questions_.add(std::move(name));
    return false;
  });
}

bool Broker::withhold_unless(bool comes_in, const RpcRequest& request, Outbox& outbox) {
  if (!comes_in) withhold(request, outbox);
  return !comes_in;
}

bool Broker::refuse_incoming(const RpcRequest& request, const std::string& why, Outbox& outbox) {
  const std::string method = fmt::format("{}.{}", actor_of(request), request.method);
  arbiter_.note_refusal(Kind::kVscode, method, why, Attempt{0, 0, method, nullptr});
  refuse_told(request, fmt::format("bulkhead: {} ({})", why, method), outbox);
  return true;
}

bool Broker::filter_incoming(const RpcRequest& request, Outbox& outbox) {
  const ToldRule* rule = table_.find_told(actor_of(request), request.method);
  if (rule == nullptr)
    return refuse_incoming(request, "nobody has classified what the workbench says here", outbox);
  if (request.method == "$acceptProviderInfos") learn_scheme(request);
  if (request.method == "$runControllerTests" || request.method == "$startContinuousRun")
    learn_runs(request);
  if (const auto decided = filter_by_rule(request, *rule, outbox)) return *decided;
  // Mixed where an argument is undefined, as a hover's context is.
  const bool all = !looks_for_resources(rule->way);
  Json arguments = arguments_of(request, [&](size_t, std::string_view text) {
    return all || holds(text, "\"$mid\"");  // as the workbench marks its resources
  });
  // What cannot be read cannot be judged; what is written anew is never mixed.
  if (!arguments.is_array() || (request.mixed && is_written(rule->way)))
    return withhold_unless(false, request, outbox);
  return !arguments.empty() && filter_by_arguments(request, *rule, arguments, outbox);
}

// nullopt: what the arguments hold decides.
std::optional<bool> Broker::filter_by_rule(const RpcRequest& request, const ToldRule& rule,
                                           Outbox& outbox) {
  using Way = ToldRule::Way;
  switch (rule.way) {
    case Way::kFree:
      return false;
    case Way::kPermission:
      return withhold_unless(granted(rule.permission), request, outbox);
    case Way::kGit:
      return withhold_unless(own_extension(Json("vscode.git")), request, outbox);
    case Way::kQuiet:
      return withhold_unless(false, request, outbox);
    case Way::kNone:
      withhold(request, outbox, "[]");
      return true;
    case Way::kRefuse:
      return refuse_incoming(request, "no extension in a compartment is asked this", outbox);
    case Way::kAsked:  // answered before
    case Way::kConfiguration:
      return refuse_incoming(request, "it is not asked here", outbox);
    case Way::kStatusItem:
    case Way::kStatusItems:
      return filter_status_items(request, outbox);
    case Way::kTerminalProfile:
      return filter_started_with(request, outbox);
    case Way::kNotebooks: {
      const std::lock_guard lock(mutex_);
      return filter_notebooks(request, outbox);
    }
    case Way::kEnvironment:
      return filter_environment(request, outbox);
    default:
      return std::nullopt;
  }
}

bool Broker::filter_by_arguments(const RpcRequest& request, const ToldRule& rule, Json& arguments,
                                 Outbox& outbox) {
  using Way = ToldRule::Way;
  Json& first = arguments[0];
  const Json& second = at(arguments, 1);
  switch (rule.way) {
    case Way::kSettings:
      return filter_settings(request, arguments, outbox);
    case Way::kFiles:
      return filter_files(request, first, outbox);
    case Way::kOpenedTerminal:
    case Way::kOwnTerminal:
    case Way::kHeardTerminal:
    case Way::kTouchedTerminal:
    case Way::kStartTerminal:
    case Way::kTask:
      return filter_terminal(request, rule.way, arguments, outbox);
    case Way::kSecret:
      return withhold_unless(first.is_object() && own_extension(first.value("extensionId", Json())),
                             request, outbox);
    case Way::kQuestion:
      return withhold_unless(knows(own_questions_, text_of(second)), request, outbox);
    case Way::kChat:
      return withhold_unless(second.is_object() && owns_sessions(second), request, outbox);
    case Way::kRenderer:
      return withhold_unless(owns_part("renderer/" + text_of(second)), request, outbox);
    default:
      break;
  }
  const std::lock_guard lock(mutex_);
  switch (rule.way) {
    case Way::kTabs:
      return filter_tabs(request, arguments, outbox);
    case Way::kDecorations:
      return filter_decorations(request, arguments, outbox);
    case Way::kEditors:
      return filter_editors(request, arguments, outbox);
    case Way::kDocuments:
      return first.is_object() && filter_documents(request, arguments, outbox);
    case Way::kMarkers:
      return filter_markers(request, arguments, outbox);
    case Way::kEditor:
      if (!editors_.contains(text_of(first))) return withhold_unless(false, request, outbox);
      [[fallthrough]];
    default:
      return filter_named(request, rule.way, arguments, outbox);
  }
}

bool Broker::filter_markers(const RpcRequest& request, Json& arguments, Outbox& outbox) {
  Json kept = Json::array();
  if (arguments[0].is_array())
    for (Json& pair : arguments[0])
      if (pair.is_array() && !pair.empty() && may_read(pair[0])) kept.push_back(std::move(pair));
  arguments[0] = std::move(kept);
  outbox.to_host(with_arguments(request, arguments));
  return true;
}

// Where it names a file that may not be read, or written, nothing of it comes in.
bool Broker::filter_named(const RpcRequest& request, ToldRule::Way way, const Json& arguments,
                          Outbox& outbox) {
  const auto may_edit = [&](const Json& each) {
    return !each.is_object() || !each.contains("$mid") || may_write(each);
  };
  const bool writable =
      way != ToldRule::Way::kEdits || std::all_of(arguments.begin(), arguments.end(), may_edit);
  if (writable && !names_withheld(arguments, 0)) return false;
  std::string_view instead;
  if (way == ToldRule::Way::kResourcesOrNone) instead = "[]";
  if (way == ToldRule::Way::kSearched) instead = R"({"results":[],"limitHit":false})";
  withhold(request, outbox, instead);
  return true;
}

}  // namespace bulkhead
