// Broker: the judge of one extension host's conversation with the workbench.
//
// Out: every request is looked up in the table, needs its permission, and each argument that names
// a file, a command, an extension, a program or an address is decided like a system call. What is
// refused is answered here, as the API would; it never reaches the workbench.
// In: what the workbench tells a host is looked up too, and nothing comes in that nobody has
// classified. Documents, problems, tabs, file events and search results of files that the policy
// does not let this compartment read are taken out, and so is what is other extensions'.
//
// Until an allowed request is answered, the compartment exchanges no name on the way to its files.
//
// What this does not stop: what the workbench does with an allowed request, and what it does with a
// file by its name afterwards: see docs/security-editor.md on files.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sandbox/calls/rename_lock.h"
#include "trace/arbiter.h"
#include "vscode/api_table.h"
#include "vscode/command_table.h"
#include "vscode/disarm.h"
#include "vscode/foreign_settings.h"
#include "vscode/message_judge.h"
#include "vscode/names.h"
#include "vscode/resource.h"
#include "vscode/rpc.h"

namespace bulkhead {

struct BrokerOptions {
  std::vector<std::string> extensions;  // ids of this host's extensions, lower case
  std::vector<std::string> actors;      // actor by number less one, as extracted from this version
  CommandTable commands = {};
  std::vector<std::string> setting_families = {};  // first words of the editor's own settings
  // The folders of the workspace, as the workbench tells them at first and whenever they change. An
  // error ends the host; with ERESTART it starts again, under a policy that knows them.
  std::function<Status(const std::vector<std::string>&)> on_folders = {};
  // The window's browser keeps an extension's pages off the network (vscode/launcher/trial.cjs).
  bool keeps_pages = false;
  RenameLock* renames = nullptr;  // of the compartment; null: there is none. Outlives the broker
};

class Broker final : public MessageJudge {
 public:
  Broker(const ApiTable& table, Arbiter& arbiter, BrokerOptions options);
  ~Broker() override;

  Status from_host(Bytes body, Outbox& outbox) override;
  Status from_workbench(Bytes body, Outbox& outbox) override;

  // Ends the threads that wait for a person. The outbox is not used afterwards.
  void stop();

 private:
  struct Ruling;
  struct Argument;
  class Cleaning;
  using Json = nlohmann::ordered_json;

  // Whose request is decided, and whether a person may be asked meanwhile.
  struct Asked {
    std::string method;  // with what else tells the request from others, for the journal
    uint32_t number = 0;
    bool may_block = false;
    std::string given = {};  // the arguments, where a person may be asked
    Asked about(std::string detail) const { return {std::move(detail), number, may_block, given}; }
    Attempt attempt() const { return {0, 0, method, nullptr, {}, Waits::kNobody}; }
  };
  void learn_scheme(const RpcRequest& request);
  std::string actor_of(const RpcRequest& request) const;  // "actor 7" where it is unknown
  Ruling judge(const RpcRequest& request, bool may_block);
  // Notes it in the journal, and denies it in the same words.
  Ruling refuse(const Asked& asked, const std::string& what, const std::string& why);
  Ruling check(const Check& check, const Json& value, const Json& arguments, const Asked& asked);
  // `decided`: where it passes for a file, that one's canonical path. What else is decided on is
  // the same file then, and not what the name leads to by that time.
  Ruling decide_file(Kind kind, const Json& uri, const Asked& asked,
                     std::string* decided = nullptr);
  Ruling decide_written(const Json& uri, const Asked& asked);
  Ruling decide_removed(const Json& uri, const Asked& asked, std::string* decided = nullptr);
  Ruling decide_opened(const std::string& canonical, const Asked& asked);
  Ruling decide_moved(const Json& uri, const Json& to, const Asked& asked);
  Ruling use(const std::string& path, const std::string& canonical, RenameLock::Use use,
             const Asked& asked);
  Ruling decide_permission(std::string_view permission, const Asked& asked);
  Ruling decide_argument(const Json& value, bool names_resources, const Asked& asked, int depth);
  std::string viewer_needs(const std::string& command, const Json& arguments);
  Ruling decide_command(const Json& value, const Json& arguments, const Asked& asked);
  struct Effort;
  Ruling decide_given(const std::string& command, const Json& arguments, const Asked& asked,
                      Effort& effort);
  Ruling decide_used(const CommandArgument& rule, const Json& given, const Asked& asked);
  Ruling decide_context(const Json& key, const Asked& asked);
  bool names_resources(const std::string& command);
  std::string unfit_command(const Json& value, Effort& effort, int depth = 0);
  bool may_offer(const std::string& command, const Json* arguments, Effort& effort);
  Ruling decide_opening(const std::string& command, const Json& given, const Asked& asked);
  Ruling decide_active(const Asked& asked);
  Ruling decide_edit(const Json& value, const Asked& asked);
  Ruling decide_logger(const Json& value, const Asked& asked);
  Ruling decide_tool(const Json& name, const Asked& asked);
  Ruling decide_tool_call(const Json& part, const Asked& asked);
  Ruling decide_progress(const Json& value, const Asked& asked);
  Ruling decide_fetched(const Json& value, const Asked& asked);
  bool owns_part(const std::string& part);
  bool owns_sessions(const Json& value);
  Ruling decide_sessions(const Json& value, const Asked& asked);
  bool owns_test(const Json& id);
  Ruling decide_tests(const Json& value, const Asked& asked);
  Ruling decide_test_diff(const Json& value, const Asked& asked);
  Ruling decide_test_run(const Json& value, const Asked& asked);
  Ruling decide_test_targets(const Json& value, const Asked& asked);
  void learn_runs(const RpcRequest& request);
  void learn_questions(const RpcRequest& request);
  Ruling decide_notebook_viewer(const Json& value, const Asked& asked);
  Ruling decide_external(const Json& value, const Asked& asked);
  void forget(uint32_t number);
  void sign(Json& options, bool is_message) const;
  std::string signature(const std::string& id) const;
  static std::string signature(const std::string& id, std::string_view name);
  std::string signatures() const;
  // What a request shows to a person, or has to be changed for.
  enum class Shown : uint8_t {
    kNothing,
    kTextSearch,
    kMessage,
    kProgress,
    kPick,
    kInput,
    kQuickInput,
    kStatusItem,
    kStatusItemGone,
    kChatStatusItem,
    kSignIn,
    kAddresses,  // "Allow … to open this address?"
    kFolders,    // "… added a folder to the workspace"
  };
  Shown shown_by(const RpcRequest& request) const;
  bool is_quick_input(const RpcRequest& request) const;
  static bool is_signed(Shown shown, size_t index);  // an argument that says whose it is
  static size_t signed_count(Shown shown);           // so many arguments there are at least
  // The number of changes. `whose`: the extension that a status item says it is of.
  size_t sign_argument(Shown shown, size_t index, Json& value, const std::string& whose);
  size_t sign_status_item(size_t index, Json& value, const std::string& whose);
  std::string whose(const RpcRequest& request, Shown shown) const;
  std::string host_prefix() const;
  bool is_own_name(const std::string& name) const;
  bool is_own_scheme(const std::string& scheme);
  static bool provides(const std::map<std::string, std::string>& providers,
                       const std::string& scheme);
  void note_provider(const RpcRequest& request);
  bool is_own_place(const Json& location);
  void note_registered(const RpcReply& reply);
  void note_judged(const RpcReply& reply);
  static void sign_tooltip(Json& tooltip, const std::string& label, const std::string& id);
  void sign_title(Json& options, const char* key = "title") const;
  size_t sign_quick_input(Json& update);
  void sign_language_status(Json& status) const;
  template <class Set, class Name>
  bool knows(const Set& names, const Name& name) const {
    const std::lock_guard lock(mutex_);
    return names.contains(name);
  }
  bool owns_command(const std::string& command);
  // One of its words is the name of a built-in extension that runs in this host. Under mutex_.
  bool is_of_own_builtin(std::string_view command) const;
  bool runs_own(const std::string& command);
  bool is_nobodys(const std::string& command) const;
  bool wakes_own(const std::string& command);
  bool shows_own_view(const std::string& command);
  bool owns_context(const std::string& key) const;
  void learn_contexts(const Json& description, bool is_own, bool is_builtin);
  bool own_extension(const Json& value) const;
  void act(const RpcRequest& request, Bytes body, const Ruling& ruling, Outbox& outbox);
  void pass(const RpcRequest& request, Bytes body, const Ruling& ruling, Outbox& outbox);
  bool await_results(const RpcRequest& request);
  void note_passed(const RpcRequest& request);
  std::optional<std::vector<uint8_t>> renamed_for(const RpcRequest& request, const Json& document);
  // What goes to the workbench of a message.
  struct Cleaned {
    enum class How : uint8_t { kSame, kChanged, kUnreadable } how = How::kSame;
    std::vector<uint8_t> body = {};  // where it was changed
  };
  Cleaned cleaned_for(const RpcRequest& request,
                      const std::optional<std::vector<uint8_t>>& renamed);
  std::optional<std::vector<uint8_t>> as_its_own(const RpcRequest& request);
  std::optional<std::vector<uint8_t>> without_claims(const RpcRequest& request);
  bool wait_for_person(Bytes body, std::function<void(const RpcRequest&, Bytes)> decide);
  bool stands_behind(const std::string& permission) const;
  bool hold(const RpcRequest& request, Bytes body, const std::string& permission, Outbox& outbox);
  struct Line;
  void work_off(const std::string& permission, Outbox& outbox);
  void start_on(const std::string& permission, Line& line);
  void release();
  void let_go(const std::string& command);
  bool wait_for_answer(uint64_t settled);
  bool granted(std::string_view permission) const;

  // Allowed to the compartment because it has a file of its own by that name.
  bool is_elsewhere(const std::string& path, const std::string& canonical) const;
  bool is_of_host(const Resource& resource) const;  // with mutex_ held, as for what follows
  bool may_read(const Json& uri);
  bool may_read_named(const std::string& query);
  bool may_write(const Json& uri);
  bool may_know(const Json& uri) const;  // that there is a file of that name
  Status initialise(Bytes body, Outbox& outbox);
  void learn_extension(const Json& description);
  // True where the request was changed or answered here.
  bool filter_incoming(const RpcRequest& request, Outbox& outbox);
  std::optional<bool> filter_by_rule(const RpcRequest& request, const ToldRule& rule,
                                     Outbox& outbox);
  bool filter_by_arguments(const RpcRequest& request, const ToldRule& rule, Json& arguments,
                           Outbox& outbox);
  static bool withhold_unless(bool comes_in, const RpcRequest& request, Outbox& outbox);
  bool refuse_incoming(const RpcRequest& request, const std::string& why, Outbox& outbox);
  bool filter_markers(const RpcRequest& request, Json& arguments, Outbox& outbox);
  bool filter_named(const RpcRequest& request, ToldRule::Way way, const Json& arguments,
                    Outbox& outbox);
  bool filter_documents(const RpcRequest& request, Json& arguments, Outbox& outbox);
  bool filter_status_items(const RpcRequest& request, Outbox& outbox);
  bool filter_settings(const RpcRequest& request, Json& arguments, Outbox& outbox);
  bool filter_notebooks(const RpcRequest& request, Outbox& outbox);
  bool filter_decorations(const RpcRequest& request, Json& arguments, Outbox& outbox);
  bool filter_editors(const RpcRequest& request, Json& arguments, Outbox& outbox);
  bool filter_terminal(const RpcRequest& request, ToldRule::Way way, const Json& arguments,
                       Outbox& outbox);
  bool filter_started_with(const RpcRequest& request, Outbox& outbox);
  bool filter_environment(const RpcRequest& request, Outbox& outbox);
  void pass_asked(const RpcRequest& request, const ToldRule& rule, Bytes body, bool may_block,
                  Outbox& outbox);
  bool filter_files(const RpcRequest& request, Json& event, Outbox& outbox);
  bool filter_tabs(const RpcRequest& request, Json& arguments, Outbox& outbox);
  bool knows_all(const Json& value, int depth) const;
  size_t mask_tabs(Json& value, int depth);
  void learn_our_pages(const RpcRequest& request, const Json& told);
  bool our_page_is_in_front();
  Disarm disarm();
  std::string permission_of(const std::string& command);
  // What the reply to a request of the workbench holds that acts, when a person picks what it
  // offers.
  enum class Awaited : uint8_t {
    kShown,    // what is shown
    kNothing,  // whatever it answers
    kTooltip,
    kMessage,
    kSnippets,
    kItems,
    kItemsAlone,  // as they are called, and nothing besides: their document may not be written
    kHints,
    kHintsAlone,  // which are shown alone, for the same reason
    kLinks,       // of a document
    kItemAlone,   // one of either
    kHistory,     // parts of a chat's answers, which edit files
    kActions,     // rows of a list, and what a button beside each runs
    kOperation,   // edits beside what a person does with files, and whose they are
    kCopied,      // what is pasted of it later, wherever that is
    kResult,      // of its command, which may open a folder
    kModels,      // language models, and whose they are
    kResource,
    kBadges,
    kPrepared,   // a tool that is about to run, or ran: what is said of it
    kFollowups,  // what a person may say next, and to whom
    kSession,    // a chat session of its own
    kSessions,   // several, with their titles
    kPlaces,     // which a person goes to, or sees before that
  };
  static Awaited awaited_of(std::string_view method);
  // Whether an answer of this kind is looked at as a whole, and not for edits and commands alone.
  static bool is_looked_at(Awaited awaited, std::string_view json);
  // The same where the document decides, with mutex_ held. What is asked of something that the
  // reply was marked for comes without the mark, in `unmarked`.
  Awaited awaited_of(const RpcRequest& request, std::optional<std::vector<uint8_t>>* unmarked);
  static Disarm::Strings strings_of(Awaited awaited, bool is_error);
  std::optional<Awaited> take_awaited(uint32_t number);
  void pass_reply(const RpcMessage& message, Bytes body, Outbox& outbox);
  bool is_undecided(const RpcReply& reply) const;
  Cleaned cleaned_reply(const RpcReply& reply, Awaited awaited);
  size_t clean_answer(Json& value, Awaited awaited, bool* unfit);
  size_t refuse_folder(Json& value);
  size_t refuse_edits(Json& value, bool* unfit);
  size_t refuse_parts(Json& value);
  size_t claim_models(Json& value);
  bool may_document(const Json& documentation);
  void ask_for_commands(Outbox& outbox);
  Result<bool> take_commands(const RpcMessage& message, Outbox& outbox);
  Status check_changes(const RpcRequest& request);
  bool names_withheld(const Json& value, int depth);
  bool leave_readable(Json& value, int depth);
  // What came back of a search or a command.
  enum class Found : uint8_t { kFiles, kText, kAnything };
  bool await_found(uint32_t number, Found found);
  void give_found(const RpcReply& reply, Found found, Outbox& outbox);

  const ApiTable& table_;
  Arbiter& arbiter_;
  BrokerOptions options_;
  bool initialised_ = false, host_initialised_ = false;
  uint32_t last_number_ = 0;  // of the host's requests
  std::string remote_authority_;
  std::string logs_;
  // Requests of the host that wait until the existing commands are known.
  bool commands_known_ = false;
  std::vector<std::vector<uint8_t>> waiting_;
  size_t waiting_bytes_ = 0;

  mutable std::mutex mutex_;                   // for what follows; the asking threads use it too
  std::map<std::string, std::string> titles_;  // own extension's id → what it calls itself
  std::set<std::string> declared_;  // commands in the package.json of this host's extensions
  ForeignSettings foreign_settings_;
  bool told_contested_ = false;
  std::set<std::string> own_views_;      // ids in the package.json of this host's extensions
  std::set<std::string> builtin_views_;  // of these, those of the editor's own extensions
  // Views, sign-in providers, types of webviews of others; the editor's own are in no package.
  std::set<std::string> others_parts_ = {"timeline.localHistory"};
  std::set<std::string> others_declared_;        // commands of others, perhaps not registered yet
  std::map<std::string, bool> others_families_;  // of commands of others → whether a built-in's
  std::set<std::string> own_families_;           // names and publishers of this host's extensions
  std::set<std::string> own_builtins_;           // first words of those of the editor's own: "git"
  std::set<std::string> builtins_wakers_;        // commands for which these are activated
  std::set<std::string> own_contexts_;           // that conditions in their package.json read
  std::set<std::string> others_contexts_;        // that those of others read
  std::set<std::string> builtins_contexts_;      // of these, those of the editor's own extensions
  Names registered_commands_;
  std::set<std::string> existing_commands_;  // when this host began: the editor's and others'
  Names quick_inputs_;                       // ids that have a title
  // Requests of the workbench that the host was passed, and has not answered.
  std::unordered_map<uint32_t, Awaited> unanswered_;
  std::map<std::string, std::string> own_file_systems_;  // this host's handle → scheme
  std::map<std::string, std::string> own_documents_;     // the same of what only shows documents
  std::map<std::string, std::string> own_agents_;        // its handle → participant of chats
  struct Registering {
    std::string handle;
    std::string scheme = {};  // of files
  };
  std::map<uint32_t, Registering> registering_;  // requests that register such handles
  std::set<std::string> others_schemes_;     // of file systems that were there before this host's
  Names own_controllers_;                    // of tests
  std::set<std::string> shared_runs_;        // of tests, which the workbench began
  Names own_questions_;                      // in chats, by what their answers name
  Names own_calls_;                          // of tools, which began in its answers
  Names own_models_;                         // vendors of language models, which this host has
  Names answered_;                           // files that a person was asked about, and said yes
  std::map<std::string, Json> editors_;      // editor id → its document's URI
  std::map<std::string, Json> all_editors_;  // also those that this host is not told of
  Names made_terminals_;                     // by the name that this host gave them
  std::set<uint64_t> own_terminals_;  // by the workbench's number: these, and those of its tasks
  std::set<uint64_t> touched_terminals_;            // others', of which that was told
  Names panels_;                                    // types of its webviews
  std::map<std::string, std::string> masked_tabs_;  // id, in which the file stands → what is told
  std::map<std::string, bool> our_pages_;   // ids of their tabs → whether in front of their group
  Json active_;                             // the URI of the document that a person writes in
  std::map<uint32_t, std::string> judged_;  // requests of commands that edit one document
  std::map<uint32_t, Found> searches_;      // requests whose replies tell of files
  struct Asking {
    std::shared_ptr<std::atomic<bool>> done;
    size_t bytes = 0;
    std::jthread thread;
  };
  std::vector<Asking> asking_;
  struct Held {
    uint32_t number = 0;
    std::vector<uint8_t> body;
    std::string registers = {};  // a command
    bool answered = false;       // that it is not decided yet
  };
  struct Line {
    std::deque<Held> held;
    bool at_work = false;  // a thread of asking_ is on it
    Outbox* outbox = nullptr;
  };
  std::map<std::string, Line> lines_;  // by the permission that is waited for
  uint64_t settled_ = 0;               // answers of people that came late
  std::condition_variable settled_changed_;
  std::set<uint32_t> late_;  // passed on when the host had its answer: the workbench's goes nowhere
  bool takes_keys_ = false;  // somebody has let it
  bool stopping_ = false;
};

}  // namespace bulkhead
