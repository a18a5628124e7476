#include "vscode/broker.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

namespace {
constexpr std::string_view kAgent = "agent ";  // before handles of participants of chats

// What an argument with buffers is to the workbench: an object whose `value` is the text. Some
// methods take it out, of this argument.
bool is_unwrapped(std::string_view method, size_t index) {
  return (method == "$tryApplyWorkspaceEdit" && index == 0) ||
         (method == "$tryStartChatRequest" && index == 3) ||
         ((method == "$executeCommand" || method == "$reportResponsePart" ||
           method == "$updateExecution" || method == "$completeExecution") &&
          index == 1);
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
      foreign_settings_(options_.setting_families) {
  arbiter_.on_settled([this] { release(); });
}

Broker::~Broker() { stop(); }

void Broker::stop() {
  arbiter_.on_settled(nullptr);
  std::vector<Asking> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    settled_changed_.notify_all();
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
  Ruling passed = Ruling::pass();
  passed.permission = rule->permission;
  if (rule->checks.empty() && !kept) return passed;
  const Json arguments = arguments_of(request, [&](size_t i) {
    return kept || std::any_of(rule->checks.begin(), rule->checks.end(), [&](const Check& each) {
             return each.kind == ArgumentKind::kCommand || each.argument == i;
           });
  });
  if (!arguments.is_array()) return refuse("its arguments cannot be read");
  for (const Check& each : rule->checks) {
    Ruling ruling = check(each, at(arguments, each.argument), arguments, asked);
    if (rule->unasked && ruling.waits()) return drop(ruling, method);
    if (!ruling.passes()) return ruling;
    if (!ruling.document.is_null()) passed.document = std::move(ruling.document);
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
  if (files) registering_[request.number] = {handle, providers[handle]};
  if (agent) registering_[request.number] = {std::string(kAgent) + handle};
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
  const auto [handle, scheme] = std::move(found->second);
  registering_.erase(found);
  if (reply.type != RpcType::kReplyError && reply.type != RpcType::kReplyErrorEmpty) return;
  if (handle.starts_with(kAgent)) {
    own_agents_.erase(handle.substr(kAgent.size()));
    return;
  }
  others_schemes_.insert(scheme);
  const auto provider = own_file_systems_.find(handle);
  if (provider != own_file_systems_.end() && provider->second == scheme)
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
  if (ruling.passes()) return pass(request, body, ruling, outbox);
  forget(request.number);
  outbox.to_host(acknowledgement(request.number));
  if (ruling.way != Ruling::Way::kQuiet)
    outbox.to_host(error_reply(request.number, ruling.error_name, ruling.message));
  else
    outbox.to_host(ruling.message.empty() ? empty_reply(request.number)
                                          : json_reply(request.number, ruling.message));
}

void Broker::pass(const RpcRequest& request, Bytes body, const Ruling& ruling, Outbox& outbox) {
  const auto deny = [&](const char* why) {
    act(request, body, Ruling::deny(std::string("bulkhead: ") + why), outbox);
  };
  if (!await_results(request)) return deny("too many requests wait for an answer");
  note_passed(request);
  auto renamed = renamed_for(request, ruling.document);
  if (renamed && renamed->empty()) return deny("arguments that cannot be read");
  switch (Cleaned cleaned = cleaned_for(request, renamed); cleaned.how) {
    case Cleaned::How::kUnreadable:
      return deny("arguments that cannot be read");
    case Cleaned::How::kSame:
      return outbox.to_workbench(renamed ? std::move(*renamed) : copy(body));
    case Cleaned::How::kChanged:
      return outbox.to_workbench(std::move(cleaned.body));
  }
}

// What comes back of it tells of files. False: too many wait.
bool Broker::await_results(const RpcRequest& request) {
  for (const auto& [method, found] :
       {std::pair("$startTextSearch", Found::kText), std::pair("$startFileSearch", Found::kFiles),
        std::pair("$executeCommand", Found::kAnything)})
    if (request.method == method) return await_found(request.number, found);
  return true;
}

// What is this host's from now on, and what no more.
void Broker::note_passed(const RpcRequest& request) {
  struct Named {
    std::string_view method;
    size_t argument;
    Names& names;
    bool ends = false;
  };
  for (const Named& each : {Named{"$registerTestController", 0, own_controllers_},
                            Named{"$unregisterTestController", 0, own_controllers_, true},
                            Named{"$unregisterCommand", 0, registered_commands_, true},
                            Named{"$createTerminal", 0, made_terminals_},
                            Named{"$registerLanguageModelProvider", 0, own_models_},
                            Named{"$createWebviewPanel", 2, panels_}}) {
    if (request.method != each.method) continue;
    // What is no text is none of its own, or what has no name would be.
    std::string name = text_of(argument_of(request, each.argument));
    const std::lock_guard lock(mutex_);
    if (each.ends)
      each.names.remove(name);
    else
      each.names.add(std::move(name));
  }
  note_provider(request);
  if (request.method == "$handleProgressChunk") learn_questions(request);
  if (request.method == "$unregisterCommand") let_go(text_of(argument_of(request, 0)));
  if (request.method == "$dispose") {  // its number may be given again
    const std::string handle = handle_of(argument_of(request, 0));
    const std::lock_guard lock(mutex_);
    quick_inputs_.remove(handle);
  }
}

// With what the workbench is to take for the host's word in it: whose problems and debuggers they
// are, of which there may be too many to build, and the like. nullopt: as it is; empty: it cannot
// be read.
std::optional<std::vector<uint8_t>> Broker::renamed_for(const RpcRequest& request,
                                                        const Json& document) {
  if (document.is_null()) {
    auto own = as_its_own(request);
    return own ? std::move(own) : without_claims(request);
  }
  // The workbench looks whether that is what a person has before them when the command runs.
  constexpr size_t kJudged = 3;  // behind the arguments of $executeCommand
  auto with = with_added(request, kJudged, document);
  std::string command = text_of(argument_of(request, 0));
  const std::lock_guard lock(mutex_);
  judged_[request.number] = std::move(command);
  return with ? std::move(with) : std::vector<uint8_t>();
}

bool Broker::granted(std::string_view permission) const { return arbiter_.grants(permission); }

Disarm Broker::disarm() {
  const auto effort = std::make_shared<Effort>();
  const auto are_told = std::make_shared<bool>(false);
  return Disarm(
      {.may_run = [this, effort](
                      const std::string& command) { return may_offer(command, nullptr, *effort); },
       .may_run_with =
           [this, effort](const std::string& command, const Json& arguments) {
             return effort->spend(arguments) && may_offer(command, &arguments, *effort);
           },
       // Megabytes for a word: once in a message, as a page has one.
       .own_commands =
           [this, are_told] {
             if (std::exchange(*are_told, true)) return std::vector<std::string>();
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
  const bool behind = ruling.passes() && stands_behind(ruling.permission);
  if (!behind && !ruling.waits()) {
    act(*request, body, ruling, outbox);
    return {};
  }
  forget(request->number);  // others need not wait for a person
  const bool waits =
      !ruling.permission.empty()
          ? hold(*request, body, ruling.permission, outbox)
          : wait_for_person(body, [this, &outbox](const RpcRequest& waiting, Bytes held) {
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
