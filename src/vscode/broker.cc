#include "vscode/broker.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "vscode/broker_parts.h"
#include "vscode/style_text.h"
#include "vscode/terminal_text.h"
#include "vscode/typed_text.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

namespace {
constexpr size_t kWhole = SIZE_MAX;            // not one argument: all of them
constexpr std::string_view kAgent = "agent ";  // before handles of participants of chats

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

// What an argument with buffers is to the workbench: an object whose `value` is the text. Some
// methods take it out, of this argument.
bool is_unwrapped(std::string_view method, size_t index) {
  return (method == "$tryApplyWorkspaceEdit" && index == 0) ||
         (method == "$tryStartChatRequest" && index == 3) ||
         ((method == "$executeCommand" || method == "$reportResponsePart" ||
           method == "$updateExecution" || method == "$completeExecution") &&
          index == 1);
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

// Whether the workbench sees the arguments that are judged: in a list, for it takes whatever has a
// length and members called 0 and 1; a text with buffers where that is unwrapped, and nowhere else;
// and where it takes out the `value` whatever it was given, nothing else.
bool has_shape(const RpcRequest& request) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = request.json.find_first_not_of(kSpace);
  if (!request.mixed && (first == std::string_view::npos || request.json[first] != '['))
    return false;
  for (size_t i = 0; i < request.arguments.size(); ++i)
    if (request.arguments[i].type == RpcArgument::Type::kJsonWithBuffers &&
        !is_unwrapped(request.method, i))
      return false;
  return request.method != "$tryApplyWorkspaceEdit" ||
         (!request.arguments.empty() &&
          request.arguments[0].type == RpcArgument::Type::kJsonWithBuffers);
}

// Of these the broker keeps something, as the workbench does: nothing of what that cannot read.
bool is_kept(std::string_view method) {
  for (const char* first : {"$register", "$unregister", "$create", "$dispose", "$executeCommand",
                            "$handleProgressChunk", "$invokeTool"})
    if (method.starts_with(first)) return true;
  return false;
}

}  // namespace

Broker::Broker(const ApiTable& table, Arbiter& arbiter, BrokerOptions options)
    : table_(table),
      arbiter_(arbiter),
      options_(std::move(options)),
      foreign_settings_(options_.setting_families) {}

Broker::~Broker() { stop(); }

void Broker::stop() {
  std::vector<Asking> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(asking_);
  }
  if (!threads.empty()) arbiter_.stop_asking();
}

std::string Broker::actor_of(const RpcRequest& request) const {
  const bool known = request.proxy >= 1 && request.proxy <= options_.actors.size();
  return known ? options_.actors[request.proxy - 1U] : fmt::format("actor {}", request.proxy);
}

Broker::Ruling Broker::judge(const RpcRequest& request, bool may_block) {
  const std::string actor = actor_of(request);
  const std::string method = fmt::format("{}.{}", actor, request.method);
  const MethodRule* rule = table_.find(actor, request.method);
  const auto refuse = [&](const std::string& why) {
    arbiter_.note_refusal(Kind::kVscode, method, why, Attempt{0, 0, method, nullptr});
    return Ruling::deny(fmt::format("bulkhead: {} ({})", why, method));
  };
  const auto drop = [&](const Ruling& ruling, const std::string& what) {
    if (ruling.way == Ruling::Way::kAsk)
      arbiter_.note_refusal(Kind::kVscode, what, "not granted, and not asked about",
                            Attempt{0, 0, method, nullptr});
    return Ruling::quiet(rule->instead);
  };
  if (rule == nullptr) return refuse("nobody has classified this method");
  if (rule->way == MethodRule::Way::kQuiet) return Ruling::quiet();
  if (rule->way == MethodRule::Way::kRefuse)
    return refuse("no extension in a compartment may call this");
  if (!has_shape(request)) return refuse("its arguments are in another shape than its caller's");
  if (names_prototype(request.json) ||
      std::any_of(request.arguments.begin(), request.arguments.end(),
                  [](const RpcArgument& each) { return names_prototype(each.json); }))
    return refuse("its arguments would change the workbench's own objects");
  const bool asks = may_block && !rule->unasked;
  const Asked asked{method, request.number, asks, asks ? text_of_arguments(request) : ""};
  if (rule->way == MethodRule::Way::kPermission) {
    // What every host asks as it starts says nothing of an extension, to a person or to a trace.
    if (!rule->instead.empty() &&
        arbiter_.policy().decide_vscode(rule->permission).verdict != Verdict::kAllow)
      return Ruling::quiet(rule->instead);
    Ruling ruling = decide_permission(rule->permission, asked);
    if (!ruling.passes() && rule->unasked) return drop(ruling, rule->permission);
    if (!ruling.passes()) return ruling;
  }
  const bool kept = is_kept(request.method);
  if (rule->checks.empty() && !kept) return Ruling::pass();
  const Json arguments = arguments_of(request, [&](size_t i) {
    return kept || std::any_of(rule->checks.begin(), rule->checks.end(), [&](const Check& each) {
             return each.kind == ArgumentKind::kCommand || each.argument == i;
           });
  });
  if (!arguments.is_array()) return refuse("its arguments cannot be read");
  Ruling passed = Ruling::pass();
  for (const Check& each : rule->checks) {
    Ruling ruling = check(each, at(arguments, each.argument), arguments, asked);
    if (rule->unasked && ruling.way == Ruling::Way::kAsk) return drop(ruling, method);
    if (!ruling.passes()) return ruling;
    if (!ruling.document.is_null()) passed = std::move(ruling);
  }
  return passed;
}

// The request has been answered, or will not be passed on.
void Broker::forget(uint32_t number) {
  if (options_.renames != nullptr) options_.renames->end(number);
}

// What this host provides, by its own handles, and provides no more.
void Broker::note_provider(const RpcRequest& request) {
  const bool files = request.method == "$registerFileSystemProvider";
  const bool documents = request.method == "$registerTextContentProvider";
  const bool agent = request.method == "$registerAgent";
  const bool gone = request.method == "$unregisterProvider" ||
                    request.method == "$unregisterTextContentProvider" ||
                    request.method == "$unregisterAgent";
  if (!files && !documents && !agent && !gone) return;
  const std::string actor = actor_of(request);
  const bool of_files = actor == "MainThreadFileSystem",
             in_chats = actor == "MainThreadChatAgents2";
  if (!of_files && !in_chats && actor != "MainThreadDocumentContentProviders") return;
  const size_t name = in_chats ? 2 : 1;
  const Json arguments =
      arguments_of(request, [&](size_t argument) { return argument == 0 || argument == name; });
  const std::string handle = handle_of(at(arguments, 0));
  if (handle.empty()) return;
  const std::lock_guard lock(mutex_);
  auto& providers = of_files ? own_file_systems_ : in_chats ? own_agents_ : own_documents_;
  // Whoever takes its number takes its place in the workbench.
  providers.erase(handle);
  if (gone) return;
  std::string called = text_of(at(arguments, name));
  if (!Names::fits(handle) || !Names::fits(called) || providers.size() >= Names::kMost) return;
  providers[handle] = std::move(called);
  if (files) registering_[request.number] = handle;
  if (agent) registering_[request.number] = std::string(kAgent) + handle;
}

// False: too many wait.
bool Broker::await_found(uint32_t number, Found found) {
  const std::lock_guard lock(mutex_);
  if (searches_.size() >= kMaxUnanswered) return false;
  searches_.emplace(number, found);
  return true;
}

// Another extension may have been first, and that not told yet.
void Broker::note_registered(const RpcReply& reply) {
  const std::lock_guard lock(mutex_);
  const auto found = registering_.find(reply.number);
  if (found == registering_.end()) return;
  const std::string handle = std::move(found->second);
  registering_.erase(found);
  if (reply.type != RpcType::kReplyError && reply.type != RpcType::kReplyErrorEmpty) return;
  if (handle.starts_with(kAgent)) own_agents_.erase(handle.substr(kAgent.size()));
  const auto provider = own_file_systems_.find(handle);
  if (provider == own_file_systems_.end()) return;
  others_schemes_.insert(provider->second);
  own_file_systems_.erase(provider);
}

// The workbench looked once more as the command was to run, and another document had the focus.
void Broker::note_judged(const RpcReply& reply) {
  std::string command;
  {
    const std::lock_guard lock(mutex_);
    const auto found = judged_.find(reply.number);
    if (found == judged_.end()) return;
    command = std::move(found->second);
    judged_.erase(found);
  }
  if (reply.type != RpcType::kReplyError) return;
  const Json error = parse_json(reply.json);
  const std::string said = error.is_object() ? text_of(error.value("message", Json())) : "";
  if (!said.starts_with("bulkhead: " + command + " was allowed for ")) return;
  refuse({"MainThreadCommands.$executeCommand " + command, reply.number, false}, command,
         "another document had the focus when it was to run");
}

bool Broker::provides(const std::map<std::string, std::string>& providers,
                      const std::string& scheme) {
  return std::any_of(providers.begin(), providers.end(),
                     [&](const auto& each) { return each.second == scheme; });
}

// That another extension has files of it goes before documents of this host's.
bool Broker::is_own_scheme(const std::string& scheme) {
  const std::lock_guard lock(mutex_);
  return !others_schemes_.contains(scheme) &&
         (provides(own_file_systems_, scheme) || provides(own_documents_, scheme));
}

void Broker::act(const RpcRequest& request, Bytes body, const Ruling& ruling, Outbox& outbox) {
  if (!ruling.passes()) forget(request.number);
  switch (ruling.way) {
    case Ruling::Way::kPass: {
      for (const auto& [method, found] : {std::pair("$startTextSearch", Found::kText),
                                          std::pair("$startFileSearch", Found::kFiles),
                                          std::pair("$executeCommand", Found::kAnything)})
        if (request.method == method && !await_found(request.number, found)) {
          act(request, body, Ruling::deny("bulkhead: too many requests wait for an answer"),
              outbox);
          return;
        }
      const auto text_at = [&](size_t index) {
        const auto wanted = [&](size_t argument) { return argument == index; };
        return text_of(at(arguments_of(request, wanted), index));
      };
      if (request.method == "$unregisterCommand") {
        const std::string command = text_at(0);
        const std::lock_guard lock(mutex_);
        registered_commands_.remove(command);
      }
      if (request.method == "$unregisterTestController") {
        const std::string controller = text_at(0);
        const std::lock_guard lock(mutex_);
        own_controllers_.remove(controller);
      }
      for (const auto& [method, index, names] :
           {std::tuple("$registerTestController", 0, &own_controllers_),
            std::tuple("$createTerminal", 0, &made_terminals_),
            std::tuple("$registerLanguageModelProvider", 0, &own_models_),
            std::tuple("$createWebviewPanel", 2, &panels_)})
        if (request.method == method) {
          // What is no text is none of its own, or what has no name would be.
          std::string name = text_at(static_cast<size_t>(index));
          const std::lock_guard lock(mutex_);
          names->add(std::move(name));
        }
      note_provider(request);
      if (request.method == "$handleProgressChunk") learn_questions(request);
      if (request.method == "$dispose") {  // its number may be given again
        const Json arguments = arguments_of(request, [](size_t argument) { return argument == 0; });
        const std::lock_guard lock(mutex_);
        quick_inputs_.remove(handle_of(at(arguments, 0)));
      }
      // Only requests whose arguments were judged hold URIs that matter; their cached spellings go.
      const auto spells = [](std::string_view text) {
        return may_name(text, {"fsPath", "external"});
      };
      auto strings = Disarm::Strings::kText;
      for (const char* method : {"$showMessage", "$startProgress", "$progressReport",
                                 "$setLanguageStatus", "$setMessage"})
        if (request.method == method) strings = Disarm::Strings::kMessages;
      if (request.method == "$tryInsertSnippet") strings = Disarm::Strings::kSnippets;
      RpcRequest changed = request;
      // Whose problems and debuggers they are, of which there may be too many to build, and the
      // like.
      auto renamed = as_its_own(request);
      if (!renamed) renamed = without_claims(request);
      // The workbench looks whether that is what a person has before them when the command runs.
      constexpr size_t kJudged = 3;  // behind the arguments of $executeCommand
      if (!ruling.document.is_null()) {
        renamed = with_added(request, kJudged, ruling.document);
        if (!renamed) renamed.emplace();
        const std::string command = text_at(0);
        const std::lock_guard lock(mutex_);
        judged_[request.number] = command;
      }
      if (renamed && renamed->empty()) {
        act(request, body, Ruling::deny("bulkhead: arguments that cannot be read"), outbox);
        return;
      }
      if (renamed) changed = std::get<RpcRequest>(*parse_rpc(*renamed));
      const Shown shown = shown_by(request);
      if (shown == Shown::kChatStatusItem) strings = Disarm::Strings::kMessages;
      if (is_quick_input(request)) strings = Disarm::Strings::kPicks;
      const std::string by = whose(request, shown);
      if (request.mixed && changed.arguments.size() < signed_count(shown))
        changed.arguments.resize(signed_count(shown));
      std::vector<std::string> texts;
      texts.reserve(changed.arguments.size() + 1);
      size_t changes = renamed ? 1 : 0;
      bool readable = true;
      const auto sign_in = [&](Json& value, size_t index) -> size_t {
        if (shown == Shown::kNothing) return 0;
        if (index != kWhole) return sign_argument(shown, index, value, by);
        if (!value.is_array()) return 0;
        while (value.size() < signed_count(shown)) value.push_back(nullptr);
        size_t signs = 0;
        for (size_t i = 0; i < value.size(); ++i) signs += sign_argument(shown, i, value[i], by);
        return signs;
      };
      const bool provides_language = actor_of(request) == "MainThreadLanguageFeatures";
      const bool looks = request.method == "$registerTextEditorDecorationType";
      const bool decorates = request.method == "$trySetDecorations";
      const auto holds_blocked = [&](const Json& root) {
        const auto resource = parse_resource(root, remote_authority_);
        const auto folder =
            resource && resource->is_file ? canonical_file(resource->path) : std::nullopt;
        if (!folder || !arbiter_.policy().above_read_block(*folder)) return false;
        arbiter_.note_refusal(Kind::kRead, *folder, "a page could load what is blocked in it",
                              Attempt{0, 0, std::string(request.method), nullptr});
        return true;
      };
      const auto clean = [&](std::string_view text, size_t index) -> std::string_view {
        // Each of these looks through all of it.
        const bool named = may_name(text, {"fsPath", "external", "localResourceRoots"});
        const bool spelt = named && spells(text);
        // What an extension only keeps for itself is shown to nobody.
        const bool is_kept = request.method == "$setValue";
        const bool styles = looks || (decorates && may_name(text, {"renderOptions"}));
        const bool loads =
            request.method.ends_with("Kernel") && may_name(text, {"preloads", "extensionLocation"});
        const bool resources =
            request.method == "$spliceResourceStates" || request.method == "$registerGroups";
        const bool roots = named && may_name(text, {"localResourceRoots"});
        const bool types = request.method == "$setLanguageConfiguration";
        const bool prints = is_printed(request.method) && may_control(text);
        const bool alone =
            provides_language && may_name(text, {"exclusive", "hasAccessToAllModels"});
        if (!spelt && !roots && !styles && !loads && !resources && !types && !prints && !alone &&
            shown == Shown::kNothing && (is_kept || !Disarm::concerns(text)))
          return text;
        // VS Code takes bytes that are no UTF-8, and trees of any size; what cannot be
        // cleaned does not pass.
        Json value = parse_json(text);
        if (value.is_discarded()) {
          readable = false;
          return text;
        }
        const size_t here =
            (spelt ? strip_cached_spellings(value) : 0) +
            (roots ? strip_roots(value, holds_blocked) : 0) + (loads ? strip_kernels(value) : 0) +
            (resources ? disarm_resources(value, disarm(), granted("open-external")) : 0) +
            (styles ? strip_styles(value, granted("open-external")) : 0) +
            (types ? strip_typed(value) : 0) + (prints ? plain_outputs(value) : 0) +
            (alone ? strip_exclusive(value) : 0) + (is_kept ? 0 : disarm().disarm(value, strings)) +
            sign_in(value, index);
        if (here == 0) return text;
        changes += here;
        texts.push_back(dumped(value));
        return texts.back();
      };
      if (!request.mixed) changed.json = clean(changed.json, kWhole);
      for (size_t i = 0; i < changed.arguments.size(); ++i)
        if (RpcArgument& argument = changed.arguments[i];
            argument.type == RpcArgument::Type::kBuffer && request.method == "$appendOutputToRun") {
          Bytes& output = argument.buffers.at(0);
          const std::string_view said(reinterpret_cast<const char*>(output.data()), output.size());
          std::string plain = plain_output(said);
          if (plain == said) continue;
          texts.push_back(std::move(plain));
          output = {reinterpret_cast<const uint8_t*>(texts.back().data()), texts.back().size()};
          ++changes;
        } else if (!argument.json.empty()) {
          argument.json = clean(argument.json, i);
        } else if (is_signed(shown, i)) {  // undefined
          argument = RpcArgument{RpcArgument::Type::kJson, clean("{}", i), {}};
        }
      if (!readable) {
        const Ruling refused = Ruling::deny("bulkhead: arguments that cannot be read");
        act(request, body, refused, outbox);
        return;
      }
      if (changes == 0) {
        outbox.to_workbench(copy(body));
        return;
      }
      outbox.to_workbench(write_request(changed));
      return;
    }
    case Ruling::Way::kQuiet:
      outbox.to_host(acknowledgement(request.number));
      outbox.to_host(ruling.message.empty() ? empty_reply(request.number)
                                            : json_reply(request.number, ruling.message));
      return;
    case Ruling::Way::kDeny:
    case Ruling::Way::kAsk:
      outbox.to_host(acknowledgement(request.number));
      outbox.to_host(error_reply(request.number, ruling.error_name, ruling.message));
      return;
  }
}

bool Broker::granted(std::string_view permission) const { return arbiter_.grants(permission); }

Disarm Broker::disarm() {
  return Disarm(
      {.may_run = [this](const std::string& command) { return may_offer(command, nullptr); },
       .may_run_with = [this](const std::string& command,
                              const Json& arguments) { return may_offer(command, &arguments); },
       .own_commands =
           [this] {
             std::set<std::string> own, declared;
             Names registered;
             {
               const std::lock_guard lock(mutex_);
               declared = declared_;
               registered = registered_commands_;
             }
             for (const std::string& command : declared)
               if (owns_command(command)) own.insert(command);
             for (const std::string& command : registered)
               if (runs_own(command)) own.insert(command);
             return std::vector<std::string>(own.begin(), own.end());
           },
       .may_fetch = granted("open-external"),
       .may_paste = granted("clipboard")});
}

// Asks the workbench, in the host's place, for every command that exists.
void Broker::ask_for_commands(Outbox& outbox) {
  const auto actor =
      std::find(options_.actors.begin(), options_.actors.end(), "MainThreadCommands");
  if (actor == options_.actors.end()) {
    commands_known_ = true;
    return;
  }
  RpcRequest request;
  request.number = kOwnRequest;
  request.proxy = static_cast<uint8_t>(actor - options_.actors.begin() + 1);
  request.method = "$getCommands";
  request.json = "[]";
  outbox.to_workbench(write_request(request));
}

// True where the message answers ask_for_commands().
Result<bool> Broker::take_commands(const RpcMessage& message, Outbox& outbox) {
  if (const auto* signal = std::get_if<RpcSignal>(&message)) return signal->number == kOwnRequest;
  const auto* reply = std::get_if<RpcReply>(&message);
  if (reply == nullptr || reply->number != kOwnRequest) return false;
  const Json commands = parse_json(reply->json);
  if (!commands.is_array()) return Error{"the workbench did not tell which commands exist"};
  {
    const std::lock_guard lock(mutex_);
    for (const Json& each : commands) existing_commands_.insert(text_of(each));
  }
  commands_known_ = true;
  const auto waiting = std::exchange(waiting_, {});
  waiting_bytes_ = 0;
  for (const auto& body : waiting) BULKHEAD_CHECK(from_host(body, outbox));
  return true;
}

Status Broker::from_host(Bytes body, Outbox& outbox) {
  if (body.size() == 1) {
    // "initialised", once; a host has no business ending the window's side.
    if (initialised_ && !host_initialised_ &&
        body[0] == static_cast<uint8_t>(HostSignal::kInitialized)) {
      host_initialised_ = true;
      outbox.to_workbench(copy(body));
      ask_for_commands(outbox);
    }
    return {};
  }
  if (!initialised_) return Error{"the extension host spoke before it was initialised"};
  BULKHEAD_TRY(const RpcMessage message, parse_rpc(body));
  const auto* request = std::get_if<RpcRequest>(&message);
  if (request == nullptr) {
    pass_reply(message, body, outbox);
    return {};
  }
  // Until it is known which commands exist, nobody can be kept from taking one over.
  if (!commands_known_) {
    waiting_bytes_ += body.size() + kWaitingOverhead;
    if (waiting_bytes_ > kMaxWaiting)
      return Error{"the extension host said too much before the workbench answered"};
    waiting_.push_back(copy(body));
    return {};
  }
  // Two requests of one number could not be told apart by their replies.
  if (request->number <= last_number_)
    return Error{"the extension host used the number of an earlier request again"};
  last_number_ = request->number;
  Ruling ruling = judge(*request, false);
  if (ruling.way != Ruling::Way::kAsk) {
    act(*request, body, ruling, outbox);
    return {};
  }
  forget(request->number);  // others need not wait for a person
  const bool waits = wait_for_person(body, [this, &outbox](const RpcRequest& waiting, Bytes held) {
    act(waiting, held, judge(waiting, true), outbox);
  });
  if (!waits) act(*request, body, Ruling::deny("bulkhead: too many open questions"), outbox);
  return {};
}

// A person decides: this request waits on a thread of its own, all others go on. False: too many
// wait.
bool Broker::wait_for_person(Bytes body, std::function<void(const RpcRequest&, Bytes)> decide) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return true;
  std::erase_if(asking_, [](const Asking& each) { return each.done->load(); });
  size_t held = body.size();
  for (const Asking& each : asking_) held += each.bytes;
  if (asking_.size() >= kMaxAsking || (held > kMaxWaiting && !asking_.empty())) return false;
  auto done = std::make_shared<std::atomic<bool>>(false);
  asking_.push_back(
      Asking{done, body.size(), std::jthread([done, held = copy(body), decide = std::move(decide)] {
               if (const auto again = parse_rpc(held); again.ok())
                 decide(std::get<RpcRequest>(*again), held);
               done->store(true);
             })});
  return true;
}

}  // namespace bulkhead
