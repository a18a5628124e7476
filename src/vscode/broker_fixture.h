// A broker with a policy, a table and two sides that listen: what the broker's tests share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "vscode/broker.h"

namespace bulkhead::testing {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

inline constexpr const char* kTable = R"({"methods":{
  "MainThreadFileSystem":{"$readFile":{"needs":"workspace-files","check":["0 uri-read"]},
                          "$watch":{"needs":"workspace-files","otherwise":"quiet","check":["0 uri-read"]},
                          "$writeFile":{"needs":"workspace-files","check":["0 uri-write"]},
                          "$mkdir":{"needs":"workspace-files","check":["0 uri-folder"]},
                          "$delete":{"needs":"workspace-files","check":["0 uri-remove"]},
                          "$rename":{"needs":"workspace-files","check":["0 uri-remove","0 uri-moved","1 uri-remove"]},
                          "$registerFileSystemProvider":{"needs":"workspace-files","check":["1 scheme"]}},
  "MainThreadCommands":{"$executeCommand":{"needs":"commands","check":["0 command"]},
                        "$registerCommand":{"needs":"commands","check":["0 command-id"]},
                        "$unregisterCommand":"free"},
  "MainThreadSecretState":{"$getPassword":{"needs":"secrets","check":["0 extension"]}},
  "MainThreadBulkEdits":{"$tryApplyWorkspaceEdit":{"needs":"workspace-edit","check":["0 edit"]}},
  "MainThreadSearch":{"$registerFileSearchProvider":"quiet"},
  "MainThreadTerminalService":{"$setEnvironmentVariableCollection":{"needs":"terminal","otherwise":"quiet"},
                               "$sendProcessData":{"needs":"free","check":["0 own-terminal"]},
                               "$sendProcessExit":{"needs":"free","check":["0 own-terminal"]}},
  "MainThreadSCM":{"$registerSourceControl":{"needs":"scm","check":["2 declared","7 scm-input"]}},
  "MainThreadLanguageModelTools":{"$getTools":{"needs":"language-models","otherwise":"[]"}},
  "MainThreadTask":{"$executeTask":"tasks"},
  "MainThreadConfiguration":{"$updateConfigurationOption":{"needs":"settings-write","check":["1 setting"]}},
  "MainThreadTextEditors":{"$tryApplyEdits":{"needs":"workspace-edit","check":["0 editor-write"]},
                           "$registerTextEditorDecorationType":{"needs":"documents","check":["1 style-name"]},
                           "$trySetDecorations":{"needs":"documents","check":["1 style-name"]}},
  "MainThreadWindow":{"$openUri":{"needs":"open-external","check":["0 external"]}},
  "MainThreadMessageService":{"$showMessage":"free"},
  "MainThreadProgress":{"$startProgress":"free"},
  "MainThreadStatusBar":{"$setEntry":"window","$disposeEntry":"free"},
  "MainThreadDiagnostics":{"$changeMany":"diagnostics","$clear":"diagnostics"},
  "MainThreadTreeViews":{"$registerTreeViewDataProvider":{"needs":"window","check":["0 view"]}},
  "MainThreadTimeline":{"$registerTimelineProvider":{"needs":"window","check":["0 declared"]},"$unregisterTimelineProvider":{"needs":"free","check":["0 declared"]}},
  "MainThreadQuickOpen":{"$show":"window","$input":"window","$createOrUpdate":"window","$dispose":"free"},
  "MainThreadLogger":{"$log":{"needs":"free","check":["0 log-file"]}},
  "MainThreadWorkspace":{"$startFileSearch":{"needs":"workspace-files","check":["0 uri-read-or-none"]},
                         "$updateWorkspaceFolders":{"needs":"workspace-folders","check":["3 folders"]},
                         "$checkExists":{"needs":"workspace-files","check":["0 uri-read-or-none"]},
                         "$startTextSearch":{"needs":"workspace-files","check":["1 uri-read-or-none"]}},
  "MainThreadDebugService":{"$registerDebugTypes":"free","$registerDebugAdapterDescriptorFactory":{"needs":"debug","check":["0 debug-type"]}},
  "MainThreadNotebookKernels":{"$addKernel":{"needs":"window","check":["1 kernel"]},"$updateKernel":"window"},
  "MainThreadNotebook":{"$registerNotebookSerializer":{"needs":"window","check":["2 notebook"]}},
  "MainThreadChatStatus":{"$setEntry":"window"}
}})";

inline const std::vector<std::string> kActors = {"MainThreadFileSystem",
                                                 "MainThreadCommands",
                                                 "MainThreadSecretState",
                                                 "MainThreadBulkEdits",
                                                 "MainThreadSearch",
                                                 "MainThreadTask",
                                                 "MainThreadConfiguration",
                                                 "MainThreadTextEditors",
                                                 "MainThreadWindow",
                                                 "MainThreadLogger",
                                                 "MainThreadWorkspace",
                                                 "MainThreadMessageService",
                                                 "MainThreadProgress",
                                                 "MainThreadTerminalService",
                                                 "MainThreadQuickOpen",
                                                 "MainThreadStatusBar",
                                                 "MainThreadTreeViews",
                                                 "MainThreadAuthentication",
                                                 "MainThreadDiagnostics",
                                                 "MainThreadDebugService",
                                                 "MainThreadNotebook",
                                                 "MainThreadChatStatus",
                                                 "MainThreadNotebookKernels",
                                                 "ExtHostMcp",
                                                 "ExtHostOther",
                                                 "MainThreadSCM",
                                                 "MainThreadWebviewPanels",
                                                 "MainThreadLanguageModelTools",
                                                 "MainThreadTimeline",
                                                 "MainThreadDialogs",
                                                 "MainThreadOutputService",
                                                 "MainThreadTunnelService",
                                                 "MainThreadEditorInsets",
                                                 "MainThreadUrls",
                                                 "MainThreadStorage",
                                                 "MainThreadChatAgents2",
                                                 "MainThreadChatSessions",
                                                 "MainThreadCodeMapper",
                                                 "MainThreadLanguageModels",
                                                 "MainThreadComments",
                                                 "MainThreadNotebookRenderers",
                                                 "MainThreadTesting",
                                                 "MainThreadExtensionService",
                                                 "MainThreadDocumentContentProviders",
                                                 "MainThreadCustomEditors",
                                                 "MainThreadWebviews",
                                                 "MainThreadWebviewViews",
                                                 "MainThreadDocuments",
                                                 "MainThreadDocumentDiff",
                                                 "MainThreadLanguages",
                                                 "MainThreadLanguageFeatures",
                                                 "MainThreadFileSystemEventService",
                                                 "MainThreadNotebookDocuments",
                                                 "MainThreadNotebookEditors",
                                                 "MainThreadLocalization",
                                                 "MainThreadAgentEditorComments",
                                                 "MainThreadQuickDiff",
                                                 "MainThreadUriOpeners",
                                                 "MainThreadChatContext",
                                                 "MainThreadChatOutputRenderer",
                                                 "MainThreadSpeech",
                                                 "MainThreadDownloadService",
                                                 "MainThreadManagedSockets",
                                                 "MainThreadBrowserTunnelProxy",
                                                 "MainThreadBrowsers",
                                                 "MainThreadMcp",
                                                 "MainThreadEmbeddings",
                                                 "MainThreadChatDebug",
                                                 "MainThreadDataChannels",
                                                 "MainThreadShare",
                                                 "MainThreadEditorTabs"};

// vscode/api/table.json.
inline Json shipped_table() {
  const char* data = std::getenv("BULKHEAD_DATA");
  EXPECT_NE(data, nullptr) << "set by ctest: the source folder";
  std::ifstream file(std::string(data == nullptr ? "" : data) + "/vscode/api/table.json");
  return Json::parse(file);
}

struct Sent : Outbox {
  std::vector<std::vector<uint8_t>> host, workbench;
  void to_host(std::vector<uint8_t> body) override { host.push_back(std::move(body)); }
  void to_workbench(std::vector<uint8_t> body) override { workbench.push_back(std::move(body)); }
};

// What was refused, as the journal has it.
class Refusals final : public Journal {
 public:
  void record(Event event) override {
    const std::lock_guard lock(mutex_);
    told.push_back(event.resource + ": " + event.rule);
  }
  std::atomic<uint64_t>* record_counted(Event event) override {
    record(std::move(event));
    return nullptr;
  }
  Status flush() override { return {}; }
  Status finish(const std::string&) override { return {}; }
  std::vector<Event> denied() const override { return {}; }
  std::vector<std::string> told;

 private:
  std::mutex mutex_;
};

inline constexpr const char* kCommands = R"({
  "refused": ["bad.*"],
  "arguments": {
    "vscode.open": ["* read"], "vscode.openFolder": ["* read"], "vscode.openWith": ["* read"],
    "_workbench.open": ["* read"], "_workbench.openWith": ["* read"],
    "_open.mergeEditor": ["* read", "0.output write"],
    "workbench.action.openSettingsJson": ["0.revealSetting.edit refused"]
  },
  "commands": {
    "free": ["setContext"],
    "commands": ["vscode.open", "vscode.openWith", "_workbench.open", "_workbench.openWith",
                 "_open.mergeEditor", "classified.here", "cursorMove", "workbench.action.quickOpen",
                 "workbench.action.openSettingsJson", "workbench.action.showCommands",
                 "workbench.action.closeActiveEditor", "workbench.action.moveEditorToNextGroup",
                 "moveActiveEditor"],
    "workspace-folders": ["vscode.openFolder", "vscode.newWindow"],
    "tasks": ["workbench.action.tasks.runTask", "workbench.action.tasks.build"],
    "workspace-edit": ["type", "editor.action.commentLine"],
    "clipboard": ["paste", "editor.action.showSnippets", "editor.action.insertSnippet"],
    "language-models": ["workbench.action.chat.open"],
    "refuse": ["bad.exactly", "mine.tabled", "git.tabled", "_git.tabled",
               "editor.git.action.tabled"]
  }
})";

class BrokerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "broker-XXXXXX").string();
    folder_ = fs::canonical(::mkdtemp(name.data()));
    fs::create_directories(folder_ / "work/.git");
    fs::create_directories(folder_ / "home/.ssh");
    std::ofstream(folder_ / "work/a.txt") << "a";
    std::ofstream(folder_ / "home/.ssh/id_rsa") << "key";
    fs::create_symlink(folder_ / "home/.ssh/id_rsa", folder_ / "work/link");

    start();
  }
  // Once more, for other extensions or with somebody who answers.
  void start(const std::vector<std::string>& extensions = {"me.mine"}, Asker* asker = nullptr,
             const std::string& permissions = R"("@editor","commands","secrets")",
             const std::string& readable = R"("${home}/only")",
             const std::string& writable = R"("${workspace}")") {
    sent_ = {};
    number_ = 0;
    PolicyInputs inputs;
    const std::string text =
        R"({"manifest":1,"extension":"me.mine","files":{"read":["${workspace}",)" + readable +
        R"(],"write":[)" + writable +
        R"(],
            "block":["${home}/.ssh","${workspace}/.git","**/.tool/hooks"]},
            "vscode":[)" +
        permissions + R"(],"otherwise":")" + std::string(asker != nullptr ? "ask" : "deny") + "\"}";
    auto manifest = parse_manifest(ManifestBytes::of("m.json", text));
    ASSERT_TRUE(manifest.ok()) << to_string(manifest.error());
    inputs.manifest = *manifest;
    inputs.variables.workspace = {(folder_ / "work").string()};
    inputs.scratch = {"/tmp", "/dev/shm"};
    inputs.variables.home = (folder_ / "home").string();
    auto policy = Policy::compile(inputs);
    ASSERT_TRUE(policy.ok()) << to_string(policy.error());
    // Of other methods and of what the workbench tells, the rules that hold everywhere.
    Json rules = Json::parse(kTable);
    Json real = shipped_table();
    rules["told"] = real["told"];
    for (const auto& [actor, methods] : real["methods"].items())
      for (const auto& [method, rule] : methods.items())
        if (Json& known = rules["methods"][actor]; !known.contains(method)) known[method] = rule;
    auto table = ApiTable::parse(ManifestBytes::of("table.json", rules.dump()));
    ASSERT_TRUE(table.ok()) << table.error().message;
    table_ = std::make_unique<ApiTable>(std::move(*table));
    broker_.reset();  // it hears of the arbiter's answers
    arbiter_ =
        std::make_unique<Arbiter>(*policy, &refusals_, asker, Enforcement::kEnforce, nullptr);
    BrokerOptions options;
    options.extensions = extensions;
    options.actors = kActors;
    auto commands = CommandTable::parse(Json::parse(kCommands));
    ASSERT_TRUE(commands.ok()) << commands.error().message;
    commands->set_contexts(
        {"accessibilityModeEnabled", "notificationFocus", "chatOption.*", "git.conflicts"});
    options.commands = std::move(*commands);
    options.keeps_pages = keeps_pages_;
    options.renames = &renames_;
    broker_ = std::make_unique<Broker>(*table_, *arbiter_, options);
    const std::string init = Json{{"parentPid", 4711},
                                  {"remote", {{"authority", "host:1"}}},
                                  {"logsLocation", uri((folder_ / "logs").string())},
                                  {"extensions", {{"allExtensions", Json::parse(R"([
                                    {"identifier": {"value": "me.mine"}, "activationEvents": ["onWebviewPanel:mine.panel"], "displayName": "Bulkhead\t \u202e  Prompts", "contributes":
                                      {"menus": {"view/title": [{"command": "mine.declared", "when": "view == mine.view && myWord && sharedWord && gitWord && accessibilityModeEnabled"}]},
                                       "commands": [{"command": "mine.declared"}, {"command": "editor.own"},
                                        {"command": "workbench.later"}, {"command": "cloud.token"},
                                        {"command": "git.undeclared"}, {"command": "_mine.hidden"},
                                        {"command": "classified.here"}, {"command": "mine.taken"},
                                        {"command": "mine.view.open"}, {"command": "cloud.view.open"}],
                                       "viewsContainers": {"activitybar": [{"id": "mine"}, {"id": "cloud"}]},
                                       "views": {"explorer": [{"id": "mine.view"}, {"id": "cloud.view"}, {"id": "workbench.scm"}]},
                                       "authentication": [{"id": "mine.login"}, {"id": "cloud"}],
                                       "languageModelTools": [{"name": "mine_tool"}], "chatParticipants": [{"id": "mine.chat"}],
                                       "chatSessions": [{"type": "mine.chat"}, {"type": "cloud.chat"}, {"type": "local"}, {"type": "vscode-chat-session"}, {"type": "agent-host-claude"}],
                                       "debuggers": [{"type": "mine"}, {"type": "node"}], "notebooks": [{"type": "mine"}], "notebookRenderer": [{"id": "mine.renderer"}],
                                       "configuration": {"properties": {"mine.url": {}, "shared.url": {}, "git.path": {}}}}},
                                    {"identifier": {"value": "cloud.other"}, "activationEvents": ["onWebviewPanel:cloud.panel"], "contributes":
                                      {"menus": {"editor/title": [{"command": "cloud.token", "when": "sharedWord || mine.theirs || mineShared"}]},
                                       "commands": [{"command": "cloud.token"}, {"command": "cloud.login"}, {"command": "mine.theirs"}, {"command": "cursorTools.run"}],
                                       "viewsContainers": {"panel": [{"id": "cloud"}]}, "views": {"cloud": {"id": "cloud.view"}}, "authentication": [{"id": "cloud"}],
                                       "languageModelTools": [{"name": "cloud_tool"}], "chatParticipants": [{"id": "cloud.chat"}], "languageModelChatProviders": [{"vendor": "cloud"}], "chatSessions": {"type": "cloud.chat"},
                                       "customEditors": [{"viewType": "cloud.editor"}], "notebookRenderer": [{"id": "cloud.renderer"}], "debuggers": [{"type": "node"}],
                                       "configuration": {"properties": {"cloud.token": {}, "shared.url": {}}}}},
                                    {"identifier": {"value": "me.mine-too"}, "contributes": {"chatContext": [{"id": "issues"}]}},
                                    {"identifier": {"value": "vscode.git"}, "isBuiltin": true, "contributes":
                                      {"commands": [{"command": "git.commit", "enablement": "!gitWord && mineCount"}, {"command": "extension.js-debug.start"}], "views": {"scm": {"id": "vscode.git.view"}},
                                       "configuration": {"properties": {"git.path": {}}}}}])")}}}}
                                 .dump();
    ASSERT_TRUE(broker_->from_workbench(bytes(init), sent_).ok());
    ASSERT_EQ(sent_.host.size(), 1U);
    EXPECT_EQ(std::string(sent_.host[0].begin(), sent_.host[0].end()),
              init);  // what it must not have was taken out before
    begin({"editor.own", "other.command", "mine.taken", "mine.view.open", "cloud.view.open"});
    deliver("$setVisibleChannel", "[]");
    sent_ = {};
  }
  // A request of the workbench, and what the host gets of it.
  std::string deliver(const std::string& method, const std::string& json) {
    sent_ = {};
    RpcRequest request;
    request.number = ++asked_;
    request.method = method;
    request.json = json;
    EXPECT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
    return sent_.host.empty() ? "" : text(sent_.host[0]);
  }
  // What the workbench gets of the host's reply to that.
  std::string answer(const Json& value) {
    sent_ = {};
    RpcReply reply;
    reply.type = RpcType::kReplyOkJson;
    reply.number = asked_;
    const std::string json = value.dump();
    reply.json = json;
    EXPECT_TRUE(broker_->from_host(write_reply(reply), sent_).ok());
    return sent_.workbench.empty() ? "" : text(sent_.workbench[0]);
  }
  // The host is initialised, and the workbench tells which commands exist.
  void begin(const std::vector<std::string>& commands) {
    sent_ = {};
    const uint8_t initialised[] = {static_cast<uint8_t>(HostSignal::kInitialized)};
    ASSERT_TRUE(broker_->from_host(initialised, sent_).ok());
    ASSERT_EQ(sent_.workbench.size(), 2U);
    const auto asked = parse_rpc(sent_.workbench[1]);
    ASSERT_TRUE(asked.ok());
    const auto& question = std::get<RpcRequest>(*asked);
    ASSERT_EQ(question.method, "$getCommands");
    const std::string json = Json(commands).dump();
    RpcReply reply;
    reply.type = RpcType::kReplyOkJson;
    reply.number = question.number;
    reply.json = json;
    ASSERT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
    EXPECT_TRUE(sent_.host.empty()) << "the host did not ask";
    sent_ = {};
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Bytes bytes(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }
  static std::string text(const std::vector<uint8_t>& body) { return {body.begin(), body.end()}; }
  static Json uri(const std::string& path, const std::string& scheme = "vscode-remote") {
    return {{"$mid", 1},
            {"path", path},
            {"scheme", scheme},
            {"authority", scheme == "file" ? "" : "host:1"}};
  }
  std::string work(const std::string& name) const { return (folder_ / "work" / name).string(); }

  static uint8_t proxy_of(const std::string& actor) {
    return static_cast<uint8_t>(std::find(kActors.begin(), kActors.end(), actor) - kActors.begin() +
                                1);
  }
  // What became of a request: "passed", "quiet", or the error's "name: message".
  std::string call(const std::string& actor, const std::string& method,
                   const std::vector<Json>& arguments) {
    return call(proxy_of(actor), method, Json(arguments).dump());
  }
  // The arguments that the workbench is given; null where the request does not reach it.
  Json passed(const std::string& actor, const std::string& method,
              const std::vector<Json>& arguments) {
    if (call(actor, method, arguments) != "passed") return {};
    const auto request = parse_rpc(sent_.workbench.at(0));
    return Json::parse(std::get<RpcRequest>(*request).json);
  }
  std::string call(uint8_t proxy, const std::string& method, const std::string& json) {
    RpcRequest request;
    request.number = ++number_;
    request.proxy = proxy;
    request.method = method;
    request.json = json;
    std::vector<std::string> texts;
    if (method == "$tryApplyWorkspaceEdit") {  // as hosts send it
      request.json = {};
      request.mixed = true;
      for (const Json& each : Json::parse(json)) texts.push_back(each.dump());
      for (const std::string& each : texts)
        request.arguments.push_back({request.arguments.empty() ? RpcArgument::Type::kJsonWithBuffers
                                                               : RpcArgument::Type::kJson,
                                     each,
                                     {}});
    }
    return call(request);
  }
  std::string call(const RpcRequest& request) {
    sent_ = {};
    const Status status = broker_->from_host(write_request(request), sent_);
    EXPECT_TRUE(status.ok());
    if (sent_.workbench.size() == 1 && sent_.host.empty()) return "passed";
    EXPECT_TRUE(sent_.workbench.empty()) << "answered and passed on";
    if (sent_.host.size() != 2) return "not answered";
    EXPECT_EQ(sent_.host[0][0], static_cast<uint8_t>(RpcType::kAcknowledged));
    const auto reply = parse_rpc(sent_.host[1]);
    const auto& answer = std::get<RpcReply>(*reply);
    EXPECT_EQ(answer.number, number_);
    if (answer.type != RpcType::kReplyError) return "quiet";
    const Json error = Json::parse(answer.json);
    return error["name"].get<std::string>() + ": " + error["message"].get<std::string>();
  }

  // The workbench tells the settings, these of the user among them; what the host gets to see.
  std::string settings(const std::string& user = "") {
    sent_ = {};
    RpcRequest request;
    request.method = "$initializeConfiguration";
    const std::string json = R"([{"defaults": {"contents": {}, "keys": ["mine.url", "shared.url",
      "cloud.token", "git.path", "editor.tabSize"]}, "userLocal": {"contents": {)" +
                             user + R"(}, "keys": []}}])";
    request.json = json;
    EXPECT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
    EXPECT_EQ(sent_.host.size(), 1U);
    return sent_.host.empty() ? std::string() : text(sent_.host[0]);
  }

  fs::path folder_;
  std::unique_ptr<ApiTable> table_;
  Refusals refusals_;
  std::unique_ptr<Arbiter> arbiter_;
  RenameLock renames_;
  bool keeps_pages_ = true;  // the next broker's browser
  std::unique_ptr<Broker> broker_;
  uint32_t number_ = 0;
  uint32_t asked_ = 100;  // the workbench's
  Sent sent_;
};

}  // namespace bulkhead::testing
