#include "vscode/extension_host.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <future>
#include <thread>

#include "base/nlohmann.h"
#include "base/path.h"
#include "policy/git_settings.h"
#include "policy/homes.h"
#include "policy/links.h"
#include "policy/npm_settings.h"
#include "sandbox/home/home_store.h"
#include "sandbox/home/private_home.h"
#include "session/joined.h"
#include "trace/groundwork.h"
#include "trace/kept_answer.h"
#include "vscode/confinement.h"
#include "vscode/control.h"
#include "vscode/host_session.h"
#include "vscode/json_tree.h"
#include "vscode/page_reach.h"
#include "vscode/relay.h"
#include "vscode/resource.h"
#include "vscode/seal.h"
#include "vscode/usage_meter.h"
#include "vscode/workspace_folders.h"

extern char** environ;

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kChannelNumber = 3;  // of Node's channel to its parent, inside
constexpr size_t kMaxData = 16U << 20U;
constexpr std::chrono::seconds kLastMoment{1};

Result<Json> read_json(const std::string& file) {
  BULKHEAD_TRY(const std::string text, read_file(file, kMaxData));
  Json json = parse_json(text);
  if (!json.is_object()) return Error{fmt::format("{} holds no JSON object", file)};
  return json;
}

// Empty texts stand for what is none, so that the others keep their places.
std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& each : list)
    texts.push_back(each.is_string() ? each.get<std::string>() : std::string());
  return texts;
}

// What vscode/launcher/prepare.mjs wrote.
struct Launch {
  std::string server;
  std::string extensions;            // links to the built-in ones
  std::vector<std::string> shipped;  // ids of those
  std::vector<std::string> actors;
  std::vector<std::string> setting_families;
  std::vector<std::string> contexts;  // of the editor's own
  std::vector<std::string> unread;    // commands that are asked about
};

Result<Launch> read_launch(const std::string& file) {
  BULKHEAD_TRY(const Json json, read_json(file));
  Launch launch;
  const auto server = json.find("server"), actors = json.find("actors"),
             families = json.find("settingFamilies"), extensions = json.find("extensions"),
             shipped = json.find("shipped"), contexts = json.find("contexts"),
             unread = json.find("unread");
  const auto is_text = [&](const auto& it) { return it != json.end() && it->is_string(); };
  const auto is_list = [&](const auto& it) { return it != json.end() && it->is_array(); };
  if (!is_text(server) || !is_text(extensions) || !is_list(actors) || !is_list(families) ||
      !is_list(shipped) || !is_list(contexts) || !is_list(unread))
    return Error{
        fmt::format("{} is no launch file; remove it and start `bulkhead code` again", file)};
  launch.server = server->get<std::string>();
  launch.extensions = extensions->get<std::string>();
  launch.shipped = texts_of(*shipped);
  launch.actors = texts_of(*actors);
  launch.setting_families = texts_of(*families);
  launch.contexts = texts_of(*contexts);
  launch.unread = texts_of(*unread);
  return launch;
}

// vscode/api/commands.json
Result<CommandTable> read_commands(const std::string& file) {
  BULKHEAD_TRY(const Json json, read_json(file));
  auto table = CommandTable::parse(json);
  if (!table.ok()) return Error{fmt::format("{}: {}", file, table.error().message)};
  return table;
}

bool is_plain_word(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

int64_t milliseconds_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Ctrl-C in the terminal of `bulkhead code` meets every process of it. A host then ends as it does
// with its window, so that nothing is left over: its socket, its processes, its row in the journal.
// The compartment's init has none of this; it resets its signals.
class EndSignals {
 public:
  EndSignals() {
    struct sigaction action {};
    action.sa_handler = [](int) {
      signalled = true;
      if (Relay* running = relay; running != nullptr) running->stop();
    };
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction before {};
      // Ignored stays ignored, as nohup wants it.
      if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
        ::sigaction(number, &action, nullptr);
    }
  }
  // From now on `running` is stopped; at once where a signal came before.
  static void stops(Relay* running) {
    relay = running;
    if (running != nullptr && signalled) running->stop();
  }

  static bool came() { return signalled; }

 private:
  static inline std::atomic<Relay*> relay = nullptr;
  static inline std::atomic<bool> signalled = false;
  static_assert(std::atomic<Relay*>::is_always_lock_free);
};

struct HowEnded {
  std::string text;
  int code;  // for the server
};

// All of one extension host. The relay's thread makes it and ends it; the compartment's makes that
// ready, and then supervises it.
class Host {
 public:
  Host(ExtensionHostOptions options, Launch launch, ApiTable table, CommandTable commands,
       Places places)
      : options_(std::move(options)),
        launch_(std::move(launch)),
        table_(std::move(table)),
        commands_(std::move(commands)),
        places_(std::move(places)),
        opening_(places_.journal()),
        session_([this](InitialData& data) { return admit(data); }) {}

  Result<int> run();

 private:
  Status open_channel(RelayOptions options);
  Status begin();
  void end(Status& status);
  HowEnded how_it_ended(const Status& status, bool left) const;
  void tell(const HowEnded& ended);
  Result<std::unique_ptr<Broker>> admit(InitialData& data);
  Status open_control();
  void start(HostIdentity identity);
  std::string home_store(const Confinement& confinement) const;
  Result<Planned> plan(const Confinement& confinement) const;
  Status prepare();
  void tell_review(const InitialData& data);
  void supervise_until_end();
  void request_end() noexcept;
  GrantedEnvironment environment(const Policy& policy) const;
  Json hello(const std::string& state) const;
  Status remember(Kind kind, const std::string& resource, bool grant);

  ExtensionHostOptions options_;
  Launch launch_;
  ApiTable table_;
  CommandTable commands_;
  Places places_;
  JournalOpening opening_;
  int64_t since_ = milliseconds_now();
  std::string run_id_;
  WholeFolders whole_;
  std::vector<std::string> folders_;

  // Written by prepare(), before the control's thread is told.
  std::mutex mutex_;
  std::optional<Confinement> confinement_;
  std::unique_ptr<Control> control_;
  std::optional<Joined> joined_;
  UsageMeter usage_;
  std::atomic<uint64_t> home_bytes_ = 0;  // in its own home folder
  RenameLock renames_;
  HostSession session_;
  std::unique_ptr<Relay> relay_;
  Fd host_channel_;  // the program's end of its channel
  Fd end_;
  HostIdentity identity_;                // what the compartment is made for
  bool reviewed_ = false;                // by a person, as it is now, or it is
  bool unasked_ = false;                 // what needs no review
  std::shared_future<Status> prepared_;  // since start(): whether joined_ is there
  std::thread supervising_;
  std::optional<Result<RunReport>> report_;
  std::promise<void> reported_;  // report_ is there
  std::atomic<bool> wanted_end_ = false;
};

Json Host::hello(const std::string& state) const {
  Json extensions = Json::array(), grants = Json::array();
  Json permits = Json::array(), cannot = Json::array();
  if (confinement_) {
    for (const ConfinedExtension& each : confinement_->extensions)
      extensions.push_back({{"id", each.package.id},
                            {"version", each.package.version},
                            {"name", each.package.display_name},
                            {"folder", each.package.folder},
                            {"manifest", label(each.manifest.origin)}});
    for (const std::string& each : confinement_->review.permits) permits.push_back(each);
    for (const std::string& each : confinement_->review.cannot) cannot.push_back(each);
    for (const Extra& each : confinement_->inputs.extras)
      grants.push_back({{"kind", label(each.kind)},
                        {"resource", each.entry.text},
                        {"allowed", each.verdict == Verdict::kAllow},
                        {"remembered", true}});
  }
  Json message = {{"type", "hello"},          {"protocol", 1},
                  {"run", run_id_},           {"pid", ::getpid()},
                  {"extensions", extensions}, {"trace", options_.trace},
                  {"state", state},           {"since", since_},
                  {"workspace", folders_},    {"permits", permits},
                  {"cannot", cannot},         {"grants", grants}};
  if (unasked_) message["unasked"] = confinement_ ? confinement_->brief.usual : "";
  return message;
}

Status Host::remember(Kind kind, const std::string& resource, bool grant) {
  const std::lock_guard guard(mutex_);
  if (!confinement_) return Error{"the extension has not started yet"};
  GrantStore store(places_.grants());
  const std::string& digest = confinement_->inputs.manifest.digest;
  auto& extras = confinement_->inputs.extras;
  const auto drop = [&](Kind of, const std::string& entry) {
    std::erase_if(extras,
                  [&](const Extra& each) { return each.kind == of && each.entry.text == entry; });
  };
  if (grant) {
    // What a grant names is a resource that was refused, and it says no more than an answer to a
    // question about that.
    std::string detail;
    for (const Event& each : joined_ ? joined_->journal()->denied() : std::vector<Event>())
      if (each.kind == kind && each.resource == resource) detail = each.detail;
    BULKHEAD_TRY(const auto entries, kept_answer(kind, resource, detail, true, true));
    for (const Extra& extra : entries) {
      BULKHEAD_CHECK(store.remember(confinement_->subject, digest, extra));
      drop(extra.kind, extra.entry.text);
      extras.push_back(extra);
    }
    if (joined_) joined_->arbiter().answer(kind, resource, Answer::kThisRun);
  } else {
    // What a revocation names is an entry, as it was told in hello.
    BULKHEAD_CHECK(store.forget(confinement_->subject, kind, resource));
    drop(kind, resource);
  }
  if (control_) control_->hello(hello("running"));
  return {};
}

Status Host::open_control() {
  if (!is_plain_word(options_.window)) return {};  // no window: nobody to ask
  Control::Handlers handlers;
  handlers.review = [this](const std::string& digest, bool agreed) -> Status {
    const std::lock_guard guard(mutex_);
    if (!confinement_ || confinement_->digest != digest)
      return Error{"the extension has changed since: review it again"};
    if (!agreed) return {};
    BULKHEAD_CHECK(approve(*confinement_, places_));
    request_end();  // and it starts again, approved
    return {};
  };
  handlers.remember = [this](Kind kind, const std::string& resource, bool grant) {
    return remember(kind, resource, grant);
  };
  handlers.end = [this] { request_end(); };
  handlers.usage = [this] {
    Json usage = usage_.measure();
    if (const uint64_t bytes = home_bytes_.load(); bytes > 0 && usage.is_object())
      usage["home"] = bytes;
    return usage;
  };
  handlers.refused = [this]() -> std::vector<Event> {
    const std::lock_guard guard(mutex_);
    std::vector<Event> denied = joined_ ? joined_->journal()->denied() : std::vector<Event>();
    std::erase_if(denied, is_routine);
    return denied;
  };
  Control::clear_stale(places_.sockets() + "/code");
  Control::Options options;
  options.socket =
      fmt::format("{}/code/{}/{}.sock", places_.sockets(), options_.window, ::getpid());
  BULKHEAD_TRY(control_, Control::open(std::move(options), std::move(handlers)));
  return {};
}

void Host::request_end() noexcept {
  wanted_end_ = true;
  relay_->stop();
}

GrantedEnvironment Host::environment(const Policy& policy) const {
  auto granted = grant_environment(policy, environ, options_.trace, [](std::string_view name) {
    return name.starts_with("BULKHEAD_") || name == "NODE_CHANNEL_FD" ||
           name == "NODE_CHANNEL_SERIALIZATION_MODE";
  });
  granted.passed.push_back(fmt::format("NODE_CHANNEL_FD={}", kChannelNumber));
  granted.passed.push_back("NODE_CHANNEL_SERIALIZATION_MODE=json");
  return granted;
}

// Makes the compartment and starts Node in it, on a thread that lives as long as they do.
void Host::start(HostIdentity identity) {
  identity_ = std::move(identity);
  std::promise<Status> prepared;
  prepared_ = prepared.get_future().share();
  supervising_ = std::thread([this, prepared = std::move(prepared)]() mutable {
    const Status status = prepare();
    prepared.set_value(status);
    if (status.ok())
      supervise_until_end();
    else
      relay_->stop();
  });
}

// What the extension makes in its home folder goes here; "": it has the machine's, and is asked.
std::string Host::home_store(const Confinement& confinement) const {
  const Policy& policy = *confinement.policy;
  // What is recorded is what it would do in the machine's.
  if (policy.private_home().empty() || options_.trace) return {};
  const std::string &state = confinement.inputs.variables.state, &subject = confinement.subject;
  std::vector<std::string> packages;
  for (const ConfinedExtension& each : confinement.extensions)
    packages.push_back(each.package.folder);
  std::string store = store_of(state, subject);
  Status made = make_store_of(state, subject, packages);
  // Git goes without where it cannot be had.
  if (made.ok()) (void)share_git_settings(confinement.inputs.variables.home, store);
  if (made.ok()) (void)share_npm_settings(confinement.inputs.variables.home, store);
  if (made.ok())
    if (auto home = plan_home(policy, store, "/"); !home.ok()) made = std::move(home).error();
  if (made.ok()) return store;
  say_sealed(options_.mark, fmt::format("bulkhead: {} has no home folder of its own: {}", subject,
                                        to_string(made.error())));
  return {};
}

Result<Planned> Host::plan(const Confinement& confinement) const {
  const Variables& variables = confinement.inputs.variables;
  PlanRequest request;
  request.policy = confinement.policy;
  request.command = options_.command;
  request.folder = "/";
  request.enforcement = options_.trace ? Enforcement::kAuditOnly : Enforcement::kEnforce;
  request.environment = environment(*confinement.policy);
  request.home.path = home_store(confinement);
  request.state = variables.state;
  // By what a person agreed to: no code that an earlier version left runs before this one's review.
  request.cache = NodeCacheOwner{
      confinement.digest, variables.workspace, {identity_.logs, follow_links(identity_.logs)}};
  BULKHEAD_TRY(Planned planned, plan_program(std::move(request)));
  planned.plan.stdio[kChannelNumber] = host_channel_.get();
  for (const KeptFolder& kept : planned.plan.kept)  // vscode/launcher/compile_cache.cjs
    planned.plan.environment.push_back("BULKHEAD_COMPILE_CACHE=" + kept.place);
  return planned;
}

Status Host::prepare() {
  ConfinementRequest request{places_,
                             identity_,
                             folders_,
                             launch_.server,
                             launch_.extensions,
                             launch_.shipped,
                             options_.command.front()};
  BULKHEAD_TRY(Confinement confinement, confine(request));
  unasked_ = !options_.review_all && confinement.is_usual();
  reviewed_ = unasked_ || confinement.reason() == ReviewReason::kNone;

  Run row;
  row.id = run_id_;
  row.subject = confinement.subject;
  row.command = std::string(kHostCommand) + confinement.subject;
  row.workspace = folders_.empty() ? "" : folders_.front();
  row.audit = options_.trace;
  JoinOptions joining;
  BULKHEAD_TRY(joining.journal, opening_.start(row));
  joining.asker = control_.get();
  joining.subject = confinement.subject;
  joining.digest = confinement.inputs.manifest.digest;
  joining.grants = places_.grants();
  joining.remembered = [this](const Extra& extra) {
    const std::lock_guard guard(mutex_);
    if (confinement_) confinement_->inputs.extras.push_back(extra);
    if (control_) control_->hello(hello("running"));
  };
  joining.on_warning = [this](const std::string& text) {
    say_sealed(options_.mark, fmt::format("bulkhead: {}", text));
    if (control_) control_->tell(Json{{"type", "error"}, {"message", text}});
  };
  BULKHEAD_TRY(Planned planned, plan(confinement));
  {
    const std::lock_guard guard(mutex_);
    joined_.emplace(std::move(planned), std::move(joining));
    confinement_.emplace(std::move(confinement));
  }
  if (control_) control_->hello(hello(reviewed_ ? "running" : "review"));
  return {};
}

// What can be told of the review only now: what else the window has.
void Host::tell_review(const InitialData& data) {
  Json message, greeting;
  {
    const std::lock_guard guard(mutex_);
    const std::vector<std::string> shared = contested_settings(*confinement_, data);
    auto& cannot = confinement_->review.cannot;
    cannot.insert(cannot.end(), shared.begin(), shared.end());
    if (reviewed_ && shared.empty()) return;
    Json extensions = Json::array();
    for (const ConfinedExtension& each : confinement_->extensions)
      extensions.push_back({{"id", each.package.id},
                            {"version", each.package.version},
                            {"name", each.package.display_name},
                            {"reason", label(each.reason)},
                            {"manifest", label(each.manifest.origin)}});
    message = Json{{"type", "review"},
                   {"digest", confinement_->digest},
                   {"reason", label(confinement_->reason())},
                   {"extensions", extensions},
                   {"usual", confinement_->brief.usual},
                   {"notable", confinement_->brief.notable},
                   {"permits", confinement_->review.permits},
                   {"cannot", confinement_->review.cannot},
                   {"unusual", confinement_->review.unusual},
                   {"widened", confinement_->widened}};
    greeting = hello(reviewed_ ? "running" : "review");
  }
  if (!control_) return;
  control_->hello(std::move(greeting));
  if (!reviewed_) control_->keep("review", std::move(message));
}

Result<std::unique_ptr<Broker>> Host::admit(InitialData& data) {
  if (!prepared_.valid()) {
    start(data.identity());
  } else if (data.identity() != identity_) {
    return Error{
        "the workbench's first message names other extensions or folders than it asked the host "
        "for; the host starts again"};
  }
  BULKHEAD_CHECK(prepared_.get());
  // Told once, and what an update widens is compared with it.
  if (unasked_) BULKHEAD_CHECK(approve(*confinement_, places_));
  tell_review(data);
  if (!reviewed_) data.remove_extensions();
  if (!joined_->arbiter().grants("machine-id")) data.replace_ids(confinement_->subject);

  BrokerOptions options;
  for (const HostExtension& each : identity_.extensions) options.extensions.push_back(each.id);
  PageReach reach = reviewed_ ? PageReach::of(joined_->arbiter().policy()) : PageReach();
  if (options_.trace) reach.open = true;  // recorded, not enforced
  BULKHEAD_CHECK(write_page_reach(places_.sockets() + (options_.trace ? "/pages-trace" : "/pages"),
                                  options.extensions, reach));
  options.actors = launch_.actors;
  options.commands = commands_;
  options.setting_families = launch_.setting_families;
  options.keeps_pages = data.keeps_pages();
  options.renames = &renames_;
  options.on_folders = [this](const std::vector<std::string>& paths) -> Status {
    BULKHEAD_TRY(const auto now, workspace_folders(options_.folder, options_.workspace, whole_));
    for (const std::string& path : paths) {
      if (std::find(folders_.begin(), folders_.end(), path) != folders_.end()) continue;
      if (std::find(now.begin(), now.end(), path) == now.end()) continue;  // not ours to give
      return Error{"the workspace has another folder now, and the host starts again for it",
                   ERESTART};
    }
    return {};
  };
  return std::make_unique<Broker>(table_, joined_->arbiter(), std::move(options));
}

void Host::supervise_until_end() {
  SupervisorOptions supervisor;
  supervisor.end_fd = end_.get();
  supervisor.renames = &renames_;
  supervisor.home_bytes = &home_bytes_;
  supervisor.started = [this](int proc, pid_t) {
    host_channel_.reset();  // the program has it now; its end must be seen
    usage_.start(proc);
  };
  report_.emplace(joined_->supervise(std::move(supervisor)));
  reported_.set_value();
  usage_.stop();
  host_channel_.reset();
  relay_->stop();
}

Status Host::open_channel(RelayOptions options) {
  end_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  int pair[2];
  if (!end_ || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return errno_error("make the host's channel");
  host_channel_.reset(pair[0]);
  relay_ = std::make_unique<Relay>(std::move(options_.server), Fd(pair[1]), session_,
                                   std::move(options));
  return {};
}

// What is known before the workbench has said a word.
Status Host::begin() {
  whole_ = {homes_with(canonical_file(places_.home).value_or(places_.home)), options_.whole};
  auto folders = workspace_folders(options_.folder, options_.workspace, whole_);
  if (folders.ok()) folders_ = *folders;
  if (control_) control_->hello(hello("starting"));
  if (!folders.ok()) return std::move(folders).error();
  const std::string& text = options_.identity;
  if (text.empty()) return {};
  BULKHEAD_TRY(const InitialData known,
               InitialData::parse({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  start(known.identity());
  return {};
}

// Ends the compartment and whoever waits for it. Where it never came to be, `status` says why.
void Host::end(Status& status) {
  const uint64_t one = 1;
  (void)!::write(end_.get(), &one, sizeof one);  // the host first: then nobody waits for an answer
  if (prepared_.valid()) {
    const Status& prepared = prepared_.get();  // waits: the arbiter might come into being only now
    if (status.ok()) status = prepared;
  }
  if (joined_) joined_->arbiter().stop_asking();
  session_.stop();
  if (supervising_.joinable()) supervising_.join();
}

// `left`: the host hung up, and nobody had told it to.
HowEnded Host::how_it_ended(const Status& status, bool left) const {
  if (report_ && !report_->ok()) return {to_string(report_->error()), 125};
  if (EndSignals::came()) return {"the editor was ended", 0};  // which met the program as well
  if (!status.ok())
    return {to_string(status.error()), status.error().errno_value == ERESTART ? 0 : 125};
  if (!report_) return {"the window was closed", 0};
  const Outcome& ended = (*report_)->outcome;
  if (!std::holds_alternative<Ended>(ended))
    return {describe(ended), left && exit_code(ended) == 0 ? 125 : exit_code(ended)};
  if (wanted_end_) return {"ended on request", 0};
  if (left) return {"the extension host hung up", 125};
  return {"the window was closed", 0};
}

void Host::tell(const HowEnded& ended) {
  if (ended.code != 0) say_sealed(options_.mark, fmt::format("bulkhead host: {}", ended.text));
  if (joined_) {
    if (const Status finished = joined_->finish(ended.text); !finished.ok())
      say_sealed(options_.mark, fmt::format("bulkhead host: {}", finished.error().message));
  }
  if (!control_) return;
  control_->keep("state", Json{{"type", "state"},
                               {"state", "ended"},
                               {"outcome", ended.text},
                               {"expected", ended.code == 0}});
  // A host that ended before its window had a companion: the reason shall still be read.
  if (ended.code != 0) control_->wait_for_somebody(std::chrono::seconds(5));
  control_.reset();
}

Result<int> Host::run() {
  const EndSignals signals;
  BULKHEAD_TRY(run_id_, new_run_id());
  BULKHEAD_CHECK(open_control());
  RelayOptions relay;
  if (control_) {
    relay.on_pulse = [this](bool responds) {
      control_->keep("pulse", Json{{"type", "pulse"}, {"responds", responds}});
    };
    relay.is_excused = [this] { return control_->asking(); };
  }
  BULKHEAD_CHECK(open_channel(std::move(relay)));
  EndSignals::stops(relay_.get());
  Status status = begin();
  if (status.ok()) status = relay_->run();
  EndSignals::stops(nullptr);

  // It went by itself, and how is known in a moment: else it would pass for one that was ended
  // here, and start again without a pause.
  const bool left = status.ok() && !wanted_end_ && relay_->lost_host() && !session_.is_terminated();
  if (left) reported_.get_future().wait_for(kLastMoment);
  end(status);
  const HowEnded ended = how_it_ended(status, left);
  tell(ended);
  return ended.code;
}

}  // namespace

Result<int> run_extension_host(ExtensionHostOptions options) {
  if (options.command.empty()) return Error{"no program to run the host was named"};
  ::signal(SIGPIPE, SIG_IGN);
  BULKHEAD_TRY(Places places, find_places());
  BULKHEAD_TRY(Launch launch, read_launch(options.launch_file));
  const std::string table_file = places.data + "/vscode/api/table.json";
  BULKHEAD_TRY(std::string text, read_file(table_file, kMaxData));
  BULKHEAD_TRY(ApiTable table, ApiTable::parse(ManifestBytes::of(table_file, std::move(text))));
  BULKHEAD_TRY(auto commands, read_commands(places.data + "/vscode/api/commands.json"));
  commands.set_contexts(launch.contexts);
  commands.leave_unread(launch.unread);
  Host host(std::move(options), std::move(launch), std::move(table), std::move(commands),
            std::move(places));
  return host.run();
}

}  // namespace bulkhead
