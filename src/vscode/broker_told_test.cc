// What the workbench tells a host, or asks of it, and what of that comes in.
#include <future>

#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

using ::testing::AllOf;
using ::testing::Not;

class BrokerToldTest : public BrokerTest {
 protected:
  // What became of it: "passed", "quiet", another answer, or the error's message.
  std::string told(const std::string& method, const Json& arguments, uint8_t proxy = 0) {
    sent_ = {};
    RpcRequest request;
    request.number = ++asked_;
    request.proxy = proxy;
    request.method = method;
    const std::string json = arguments.dump();
    request.json = json;
    EXPECT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
    if (sent_.host.size() == 1 && sent_.workbench.empty()) return "passed";
    EXPECT_TRUE(sent_.host.empty()) << "answered and passed on";
    if (sent_.workbench.size() != 2) return "not answered";
    EXPECT_EQ(sent_.workbench[0][0], static_cast<uint8_t>(RpcType::kAcknowledged));
    const auto reply = parse_rpc(sent_.workbench[1]);
    const auto& answer = std::get<RpcReply>(*reply);
    EXPECT_EQ(answer.number, asked_);
    if (answer.type == RpcType::kReplyOkEmpty) return "quiet";
    if (answer.type != RpcType::kReplyError) return std::string(answer.json);
    return Json::parse(answer.json)["message"].get<std::string>();
  }
  std::string given() const { return sent_.host.empty() ? "" : text(sent_.host[0]); }
  std::string key() const { return (folder_ / "home/.ssh/id_rsa").string(); }
};

TEST_F(BrokerToldTest, WhatNobodyHasClassifiedDoesNotComeIn) {
  EXPECT_THAT(told("$brandNew", {"SECRET"}), HasSubstr("nobody has classified"));
  EXPECT_EQ(told("$setVisibleChannel", {"output"}), "passed");
}

// These are definitions of servers with the keys that they are started with, and tokens of a
// person's accounts; the workbench tells them to every host.
TEST_F(BrokerToldTest, APersonsServersAndTokensDoNotComeIn) {
  const Json server = {{"label", "x"}, {"launch", {{"env", {{"API_KEY", "SECRET"}}}}}};
  EXPECT_EQ(told("$onDidChangeMcpServerDefinitions", Json::array({Json::array({server})})),
            "quiet");
  EXPECT_EQ(told("$onDidChangeDynamicAuthProviderTokens", {"id", "client", {"SECRET"}}), "quiet");
  EXPECT_EQ(told("$updateRemoteConnectionData", Json::array({Json{{"connectionToken", "SECRET"}}})),
            "quiet");
  for (const char* method : {"$startMcp", "$registerDynamicAuthProvider", "$startExtensionHost"})
    EXPECT_THAT(told(method, {1, server}), HasSubstr("no extension in a compartment")) << method;
  start({"me.mine"}, nullptr, R"("@editor","language-models","authentication")");
  EXPECT_EQ(told("$onDidChangeMcpServerDefinitions", Json::array({Json::array({server})})),
            "quiet");
  EXPECT_NE(told("$startMcp", {1, server}), "passed");
}

// Debugging asks its own host by that name; MCP, whichever host it chose.
TEST_F(BrokerToldTest, AnActorsOwnRuleGoesFirst) {
  EXPECT_EQ(told("$substituteVariables", {nullptr, Json::object()}, proxy_of("ExtHostOther")),
            "{}");
  EXPECT_THAT(told("$substituteVariables", {nullptr, Json::object()}, proxy_of("ExtHostMcp")),
              HasSubstr("ExtHostMcp.$substituteVariables"));
}

// The window runs the commands and tasks that the answer names, and debugs with whatever type it
// has.
TEST_F(BrokerToldTest, WhoMayNotDebugLeavesAConfigurationAsItIs) {
  const Json configuration = {{"type", "mine"}, {"program", "${workspaceFolder}/a"}};
  const Json folder = uri(work(""));
  EXPECT_EQ(told("$substituteVariables", {folder, configuration}), configuration.dump());
  EXPECT_EQ(told("$substituteVariables", {folder}), "quiet");
  RpcRequest without_folder;
  without_folder.number = ++asked_;
  without_folder.method = "$substituteVariables";
  without_folder.mixed = true;
  const std::string json = configuration.dump();
  without_folder.arguments = {{RpcArgument::Type::kUndefined, {}, {}},
                              {RpcArgument::Type::kJson, json, {}}};
  sent_ = {};
  EXPECT_TRUE(broker_->from_workbench(write_request(without_folder), sent_).ok());
  EXPECT_TRUE(sent_.host.empty());
  ASSERT_EQ(sent_.workbench.size(), 2U);
  EXPECT_THAT(text(sent_.workbench[1]), HasSubstr(json));
  const Json command = {{"type", "mine"}, {"x", "${command:workbench.action.debug.start}"}};
  EXPECT_EQ(answer(command), "") << "it was not asked";
  start({"me.mine"}, nullptr, R"("debug")");
  EXPECT_EQ(told("$substituteVariables", {folder, configuration}), "passed");
}

TEST_F(BrokerToldTest, APersonIsAskedWhetherItMayDebug) {
  struct : Asker {
    Answer ask(const Question& question) override {
      resource = question.resource;
      return yes ? Answer::kOnce : Answer::kNobody;
    }
    void cancel() noexcept override {}
    std::atomic<bool> yes = true;
    std::string resource;
  } asker;
  struct : Outbox {
    void to_host(std::vector<uint8_t>) override { became.set_value("passed"); }
    void to_workbench(std::vector<uint8_t> body) override {
      if (body.size() > 5) became.set_value(text(body));  // no acknowledgement
    }
    std::promise<std::string> became;
  } outbox;
  start({"me.mine"}, &asker, R"("@editor")");
  const Json configuration = {{"type", "mine"}, {"program", "${file}"}};
  const auto asks = [&] {
    outbox.became = {};
    const std::string json = Json::array({nullptr, configuration}).dump();
    RpcRequest request;
    request.number = ++asked_;
    request.method = "$substituteVariables";
    request.json = json;
    auto became = outbox.became.get_future();
    EXPECT_TRUE(broker_->from_workbench(write_request(request), outbox).ok());
    return became.get();
  };
  EXPECT_EQ(asks(), "passed");
  EXPECT_EQ(asker.resource, "debug");
  EXPECT_NE(answer(configuration), "");
  asker.yes = false;
  EXPECT_THAT(asks(), HasSubstr(configuration.dump()));
  EXPECT_EQ(answer(configuration), "") << "it was not asked";
  broker_.reset();  // before who answers
}

// The window runs what these answers name, outside: who registered without a word is decided on
// now.
TEST_F(BrokerToldTest, RegisteringIsNotActing) {
  start({"me.mine"}, nullptr, R"("@editor","commands")");
  const std::vector<std::tuple<const char*, const char*, Json>> registered = {
      {"MainThreadTask", "$registerTaskProvider", {1, "shell"}},
      {"MainThreadDebugService", "$registerDebugConfigurationProvider", {"mine", 1, 1, true}},
      {"MainThreadTerminalService", "$registerProfileProvider", {"mine.shell", "me.mine"}},
      {"MainThreadAuthentication",
       "$registerAuthenticationProvider",
       {"mine.login", "Mine", false}},
      {"MainThreadLanguageModelTools", "$registerTool", Json::array({"mine_tool"})},
      {"MainThreadWebviewPanels", "$registerSerializer", Json::array({"mine.panel"})}};
  for (const auto& [actor, method, arguments] : registered)
    EXPECT_EQ(call(actor, method, arguments), "passed") << method;
  const std::string no_tasks = R"({"tasks":[],"extension":{}})";
  const std::vector<std::tuple<const char*, const char*, std::string>> acts = {
      {"$provideTasks", "tasks", no_tasks},
      {"$resolveTask", "tasks", "quiet"},
      {"$provideDebugAdapter", "debug", "quiet"},
      {"$provideDebugConfigurations", "debug", "[]"},
      {"$resolveDebugConfiguration", "debug", "quiet"},
      {"$resolveDebugConfigurationWithSubstitutedVariables", "debug", "quiet"},
      {"$dataToNotebook", "notebooks", "quiet"},
      {"$notebookToData", "notebooks", "quiet"},
      {"$prepareToolInvocation", "language-models", "quiet"},
      {"$invokeTool", "language-models", "quiet"}};
  for (const auto& [method, permission, otherwise] : acts) {
    start({"me.mine"}, nullptr, R"("@editor","commands")");
    EXPECT_EQ(told(method, {1, Json::object()}), otherwise) << method;
    EXPECT_THAT(refusals_.told.back(), HasSubstr(permission)) << method;
    EXPECT_EQ(answer(Json{{"tasks", Json::array()}}), "") << method << ": it was not asked";
    start({"me.mine"}, nullptr, "\"" + std::string(permission) + "\"");
    EXPECT_EQ(told(method, {1, Json::object()}), "passed") << method;
    EXPECT_EQ(told(method, {1, uri(key())}), otherwise) << method << ": names a blocked file";
  }
  start({"me.mine"}, nullptr, R"("tasks")");
  EXPECT_EQ(told("$provideTasks", {1, Json::object(), true}), "passed");
  start({"me.mine"}, nullptr, R"("@editor","commands")");
  // A window that starts wants their labels, and nobody is there to ask.
  refusals_.told.clear();
  EXPECT_EQ(told("$provideTasks", {1, Json::object(), true}), no_tasks);
  EXPECT_TRUE(refusals_.told.empty());
  EXPECT_NE(call("MainThreadTerminalService", "$createTerminal", {"id", Json::object()}), "passed");
  EXPECT_NE(call("MainThreadTask", "$executeTask", Json::array({Json::object()})), "passed");
  EXPECT_NE(call("MainThreadDebugService", "$acceptDAMessage", {1, Json::object()}), "passed");
}

// A person who answers when it is too late.
struct LatePerson final : Asker {
  Answer ask(const Question& question) override {
    asked.push_back(question);
    return Answer::kLater;
  }
  std::optional<std::chrono::milliseconds> patience(Waits) const noexcept override {
    return std::chrono::milliseconds(0);
  }
  void on_late(std::function<void(const Question&, Answer)> answered) override {
    late = std::move(answered);
  }
  std::vector<Question> asked;
  std::function<void(const Question&, Answer)> late;
};

// Everything that goes anywhere, in order.
struct Everything final : Outbox {
  void to_host(std::vector<uint8_t> body) override { add("host ", body); }
  void to_workbench(std::vector<uint8_t> body) override { add("workbench ", body); }
  void add(const std::string& to, const std::vector<uint8_t>& body) {
    const std::lock_guard lock(mutex);
    said.push_back(to + std::string(body.begin(), body.end()));
    changed.notify_all();
  }
  size_t wait_for(size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return said.size() >= count; });
    return said.size();
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> said;
};

TEST_F(BrokerToldTest, WhatAHostCallsHappensByALateYesAndWhatTheWindowAskedDoesNot) {
  LatePerson person;
  start({"me.mine"}, &person, R"("@editor")");
  Everything outbox;
  const auto ask = [&](const char* actor, const char* method, const Json& arguments) {
    const std::string json = arguments.dump();
    RpcRequest request;
    request.number = ++number_;
    request.proxy = proxy_of(actor);
    request.method = method;
    request.json = json;
    EXPECT_TRUE(broker_->from_host(write_request(request), outbox).ok());
  };
  ask("MainThreadTask", "$executeTask", Json::array({Json{{"name", "make"}}}));
  EXPECT_EQ(outbox.wait_for(2), 2U);  // acknowledged, and left off
  EXPECT_THAT(outbox.said[1], HasSubstr("not decided yet"));
  ASSERT_EQ(person.asked.size(), 1U);
  EXPECT_EQ(person.asked[0].about, R"([{"name":"make"}])") << "a person is told what would happen";
  EXPECT_EQ(person.asked[0].waits, Waits::kNobody);
  const std::string provide = R"([1,{}])";
  RpcRequest told;
  told.number = ++asked_;
  told.method = "$provideTasks";
  told.json = provide;
  EXPECT_TRUE(broker_->from_workbench(write_request(told), outbox).ok());
  EXPECT_EQ(outbox.wait_for(4), 4U);
  EXPECT_THAT(outbox.said[3], HasSubstr(R"("tasks":[])"));
  EXPECT_EQ(person.asked.size(), 1U) << "one question of one permission";
  person.late(person.asked[0], Answer::kAlways);
  EXPECT_EQ(outbox.wait_for(5), 5U);
  EXPECT_THAT(outbox.said[4], HasSubstr("$executeTask"));
  ask("MainThreadTask", "$executeTask", Json::array({Json{{"name", "test"}}}));
  EXPECT_EQ(outbox.wait_for(6), 6U);
  EXPECT_THAT(outbox.said[5], HasSubstr("workbench"));
  broker_.reset();  // before who answers
}

TEST_F(BrokerToldTest, SecretsOfOthersAreNotEvenNamed) {
  EXPECT_EQ(told("$onDidChangePassword",
                 Json::array({Json{{"extensionId", "cloud.other"}, {"key", "token"}}})),
            "quiet");
  EXPECT_EQ(told("$onDidChangePassword",
                 Json::array({Json{{"extensionId", "me.mine"}, {"key", "token"}}})),
            "passed");
}

TEST_F(BrokerToldTest, FileEventsTellOnlyOfWhatMayBeRead) {
  const auto event = [&](const std::vector<std::string>& paths) {
    Json list = Json::array();
    for (const std::string& path : paths) list.push_back(uri(path));
    return Json::array({Json{{"session", 3}, {"created", list}, {"deleted", list}}});
  };
  EXPECT_EQ(told("$onFileEvent", event({work("a.txt"), work("new")})), "passed");
  EXPECT_EQ(told("$onFileEvent", event({key(), work(".git"), "/tmp/x"})), "quiet");
  const auto of = [&](const Json& one) {
    return told("$onFileEvent", Json::array({Json{{"changed", Json::array({one})}}}));
  };
  EXPECT_EQ(of(uri(work("a.txt"), "git")), "passed");
  EXPECT_EQ(of(uri(key(), "git")), "quiet");
  EXPECT_EQ(of(uri("/User/settings.json", "vscode-userdata")), "quiet");
  EXPECT_EQ(told("$onFileEvent", event({key(), work("a.txt"), work(".git/config")})), "passed");
  EXPECT_THAT(given(), AllOf(HasSubstr("a.txt"), HasSubstr(R"("session":3)"),
                             Not(HasSubstr("id_rsa")), Not(HasSubstr(".git"))));
}

TEST_F(BrokerToldTest, TabsOfWhatMayNotBeReadHaveNoName) {
  const auto tab = [&](const std::string& path) {
    return Json{{"id", "0~editor-" + path},
                {"label", path.substr(path.rfind('/'))},
                {"input", {{"kind", 1}, {"uri", uri(path)}}},
                {"isActive", true}};
  };
  const Json group = {{"groupId", 0}, {"tabs", {tab(work("a.txt")), tab(key())}}};
  EXPECT_EQ(told("$acceptEditorTabModel", Json::array({Json::array({group})})), "passed");
  EXPECT_THAT(given(), AllOf(HasSubstr("a.txt"), Not(HasSubstr("id_rsa"))));
  const Json shown = Json::parse(given().substr(given().find('[')));
  const Json masked = shown[0][0]["tabs"].at(1);
  EXPECT_EQ(masked["isActive"], true) << "it stays in its place";
  EXPECT_EQ(
      told("$acceptTabOperation",
           Json::array({Json{{"kind", 2}, {"index", 1}, {"groupId", 0}, {"tabDto", tab(key())}}})),
      "passed");
  EXPECT_EQ(given().find("id_rsa"), std::string::npos);
  EXPECT_THAT(given(), HasSubstr(masked["id"].get<std::string>())) << "the same tab";
  Json difference = tab(work("a.txt"));
  difference["input"] = {{"kind", 2}, {"original", uri(key())}, {"modified", uri(work("a.txt"))}};
  EXPECT_EQ(
      told("$acceptTabGroupUpdate", Json::array({Json{{"groupId", 0}, {"tabs", {difference}}}})),
      "passed");
  EXPECT_EQ(given().find("id_rsa"), std::string::npos);
}

TEST_F(BrokerToldTest, NothingIsToldOfEditorsThatAreNotThere) {
  const auto moves = [&](const std::string& id) {
    return told("$acceptEditorPropertiesChanged", {id, Json{{"selections", Json::array()}}});
  };
  const auto opens = [&](const std::string& id, const std::string& path) {
    told("$acceptDocumentsAndEditorsDelta",
         Json::array({Json{{"addedEditors", {{{"id", id}, {"documentUri", uri(path)}}}}}}));
  };
  opens("1", work("a.txt"));
  opens("2", key());
  EXPECT_EQ(moves("1"), "passed");
  EXPECT_EQ(moves("2"), "quiet");
  const auto closes = [&](const char* list, const Json& what) {
    told("$acceptDocumentsAndEditorsDelta", Json::array({Json{{list, what}}}));
    return given();
  };
  EXPECT_THAT(closes("removedDocuments", {uri(work("a.txt")), uri(key())}),
              AllOf(HasSubstr("a.txt"), Not(HasSubstr("id_rsa"))));
  EXPECT_THAT(closes("removedEditors", {"1", "2"}),
              AllOf(HasSubstr("\"1\""), Not(HasSubstr("\"2\""))));
  EXPECT_EQ(moves("1"), "quiet");
  EXPECT_NE(call("MainThreadTextEditors", "$tryApplyEdits", {"1", 1, Json::array()}), "passed");
}

TEST_F(BrokerToldTest, WhatCannotBeReadDoesNotComeIn) {
  const std::string json = std::string(250, '[') + uri(key()).dump() + std::string(250, ']');
  EXPECT_EQ(deliver("$provideHover", json), "");
  EXPECT_EQ(sent_.workbench.size(), 2U);
  // Lists that are written anew come without buffers, or not at all.
  for (const auto& [method, first] : std::vector<std::pair<std::string, Json>>{
           {"$acceptDocumentsAndEditorsDelta", {{"addedDocuments", {{{"uri", uri(key())}}}}}},
           {"$acceptMarkersChange", Json::array({Json::array({uri(key()), Json::array()})})},
           {"$acceptEditorTabModel", Json::array({{{"tabs", {{{"input", {{"kind", 0}}}}}}}})},
           {"$onFileEvent", {{"changed", {uri(key()), uri(work("a.txt"))}}}},
           {"$acceptConfigurationChanged",
            {{"userLocal",
              {{"contents", {{"cloud", {{"token", "x"}}}}}, {"keys", {"cloud.token"}}}}}},
           {"$acceptEditorViewColumns", {{"n2", 1}}},
           {"$acceptStaticEntries", Json::array({{{"entryId", "cloud.other.account"}}})}}) {
    const std::string text = first.dump();
    RpcRequest mixed;
    mixed.number = ++asked_;
    mixed.method = method;
    mixed.mixed = true;
    mixed.arguments = {RpcArgument{RpcArgument::Type::kJson, text, {}}, RpcArgument{}};
    sent_ = {};
    ASSERT_TRUE(broker_->from_workbench(write_request(mixed), sent_).ok());
    EXPECT_EQ(given(), "") << method;
  }
}

// A person answers a remark: what they write is for the extension that shows it.
// VS Code's server looks at no authority, and takes one path for whatever file its query names.
TEST_F(BrokerToldTest, OtherNamesOfAFileAreNoWayIn) {
  const auto comes_in = [this](const std::string& path, const Json& more) {
    Json named = uri(path);
    named.update(more);
    const Json delta = {{"addedDocuments", {{{"uri", named}, {"lines", {"CONTENT"}}}}}};
    deliver("$acceptDocumentsAndEditorsDelta", Json::array({delta}).dump());
    return text(sent_.host.at(0)).find("CONTENT") != std::string::npos;
  };
  const std::string key = (folder_ / "home/.ssh/id_rsa").string();
  EXPECT_TRUE(comes_in(work("a.txt"), Json::object()));
  EXPECT_FALSE(comes_in(key, {{"authority", "another:2"}}));
  EXPECT_FALSE(comes_in(key, {{"authority", ""}}));
  EXPECT_FALSE(comes_in(key, {{"scheme", "file"}, {"authority", "another"}}));
  // A history's query says where it lies, Git's of which file it is.
  const auto made_of = [&](const std::string& scheme, const Json& query) {
    return comes_in(work("a.txt"), {{"scheme", scheme},
                                    {"authority", ""},
                                    {"query", query.is_string() ? query : Json(query.dump())}});
  };
  EXPECT_TRUE(made_of("git", {{"path", work("a.txt")}, {"ref", "HEAD"}}));
  EXPECT_FALSE(made_of("git", {{"path", key}, {"ref", "HEAD"}}));
  for (const std::string& location :
       std::vector<std::string>{"vscode-remote://host:1" + key, "vscode-remote://x" + key,
                                "vscode-userdata:" + key, "git:" + key})
    EXPECT_FALSE(made_of("vscode-local-history", {{"location", location}})) << location;
  EXPECT_FALSE(made_of("vscode-local-history",
                       R"({"a":"\ud800","location":"vscode-remote://x)" + key + "\"}"));
  EXPECT_FALSE(made_of("vscode-bulkeditpreview-editor", "vscode-remote://host:1" + key));
  EXPECT_FALSE(comes_in("/vscode-remote-resource", {{"scheme", "http"}, {"query", "path=" + key}}));
  const Json query = {{"query", Json{{"requestResourcePath", key}}.dump()}};
  start({"me.mine"}, nullptr, R"("@editor","commands","secrets")", R"("/vscode-resource")");
  for (const char* path : {"/vscode-resource", "/./vscode-resource"}) {
    EXPECT_FALSE(comes_in(path, query));
    Json named = uri(path);
    named.update(query);
    EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {named}), HasSubstr("NoPermissions"));
  }
}

TEST_F(BrokerToldTest, AnswersToRemarksComeToWhomTheyAreFor) {
  const auto writes = [&](const std::string& extension) {
    const Json document = uri("/" + extension + "/commentinput-1.md", "comment");
    told("$acceptDocumentsAndEditorsDelta",
         Json::array({Json{
             {"addedDocuments", {{{"uri", document}, {"lines", Json::array({"well seen"})}}}}}}));
    return given().find("well seen") != std::string::npos;
  };
  EXPECT_TRUE(writes("me.mine"));
  EXPECT_TRUE(writes("Me.Mine"));
  for (const char* other : {"cloud.other", "me.mine2", ""}) EXPECT_FALSE(writes(other)) << other;
}

TEST_F(BrokerToldTest, PagesInNotebooksSpeakToTheirOwnExtension) {
  EXPECT_EQ(told("$postRendererMessage", {"editor", "mine.renderer", "x"}), "passed");
  EXPECT_EQ(told("$postRendererMessage", {"editor", "cloud.renderer", "x"}), "quiet");
}

TEST_F(BrokerToldTest, OnlyGitIsAskedWhatGitIs) {
  EXPECT_EQ(told("$isGitExtensionAvailable", Json::array()), "quiet");
  start({"vscode.git"});
  EXPECT_EQ(told("$isGitExtensionAvailable", Json::array()), "passed");
}

TEST_F(BrokerToldTest, TheDefaultTerminalsVariablesStayOutside) {
  const Json profile = {{"path", "/bin/bash"}, {"args", {"-l"}}, {"env", {{"TOKEN", "SECRET"}}}};
  EXPECT_EQ(told("$acceptDefaultProfile", {profile, profile}), "passed");
  EXPECT_THAT(given(), AllOf(HasSubstr("/bin/bash"), HasSubstr("-l"), Not(HasSubstr("SECRET"))));
  // Without one for automation, which is undefined then.
  RpcRequest mixed;
  mixed.number = ++asked_;
  mixed.method = "$acceptDefaultProfile";
  mixed.mixed = true;
  const std::string json = profile.dump();
  mixed.arguments = {RpcArgument{RpcArgument::Type::kJson, json, {}}, RpcArgument{}};
  sent_ = {};
  ASSERT_TRUE(broker_->from_workbench(write_request(mixed), sent_).ok());
  EXPECT_THAT(given(), AllOf(HasSubstr("/bin/bash"), Not(HasSubstr("SECRET"))));
}

// A person types into one that an extension runs, a password say; whose it is follows from who made
// it, or from whose task runs in it.
TEST_F(BrokerToldTest, KeysComeToWhomTheTerminalIs) {
  start({"me.mine"}, nullptr, R"("terminal","tasks")");
  ASSERT_EQ(call("MainThreadTerminalService", "$createTerminal", {"mine", Json::object()}),
            "passed");
  const auto opened = [&](int number, const Json& name) {
    return told("$acceptTerminalOpened", {number, name, "title", Json::object()});
  };
  EXPECT_EQ(opened(1, "mine"), "passed");
  EXPECT_EQ(opened(2, "theirs"), "passed");
  const auto runs = [&](int number, const std::string& extension) {
    const Json task = {{"id", "t"}, {"task", {{"source", {{"extensionId", extension}}}}}};
    return told("$onDidStartTask", {task, number});
  };
  EXPECT_EQ(runs(3, "me.mine"), "passed");
  EXPECT_EQ(runs(4, "cloud.other"), "passed");
  for (const char* method : {"$acceptProcessInput", "$shellExecutionStart", "$cwdChange",
                             "$acceptTerminalTitleChange"}) {
    for (const int own : {1, 3}) EXPECT_EQ(told(method, {own, "keys"}), "passed") << method;
    for (const int other : {2, 4, 5}) EXPECT_EQ(told(method, {other, "keys"}), "quiet") << method;
    EXPECT_EQ(told(method, {"1", "keys"}), "quiet") << method;
  }
  for (const char* method : {"$sendProcessData", "$sendProcessExit", "$sendProcessReady"}) {
    EXPECT_EQ(call("MainThreadTerminalService", method, {3, "text"}), "passed") << method;
    for (const Json& other : {Json(2), Json("3"), Json(3.5), Json()})
      EXPECT_THAT(call("MainThreadTerminalService", method, {other, "text"}),
                  HasSubstr("not its own"));
  }
  EXPECT_EQ(told("$acceptTerminalInteraction", {2}), "passed");
  EXPECT_EQ(told("$acceptTerminalInteraction", {2}), "quiet") << "when each key is pressed";
  EXPECT_EQ(told("$acceptTerminalInteraction", {1}), "passed");
  EXPECT_EQ(told("$acceptTerminalInteraction", {1}), "passed");
  start({"me.mine"}, nullptr, R"("terminal-read")");
  EXPECT_EQ(told("$shellExecutionStart", {2, "keys"}), "passed");
  EXPECT_EQ(told("$acceptProcessInput", {2, "keys"}), "quiet");
}

TEST_F(BrokerToldTest, WhoDidNotMakeATerminalCannotFailItsStart) {
  const auto answers = [&](RpcType type) {
    sent_ = {};
    RpcReply reply;
    reply.type = type;
    reply.number = asked_;
    reply.json = R"({"message":"fails"})";
    EXPECT_TRUE(broker_->from_host(write_reply(reply), sent_).ok());
    return text(sent_.workbench.at(0)).find("fails") != std::string::npos;
  };
  EXPECT_EQ(told("$startExtensionTerminal", {7, nullptr}), "passed");
  EXPECT_FALSE(answers(RpcType::kReplyOkJson));
  EXPECT_EQ(told("$startExtensionTerminal", {7, nullptr}), "passed");
  EXPECT_FALSE(answers(RpcType::kReplyError));
  start({"me.mine"}, nullptr, R"("terminal")");
  call("MainThreadTerminalService", "$createTerminal", {"mine", Json::object()});
  told("$acceptTerminalOpened", {7, "mine", "title", Json::object()});
  EXPECT_EQ(told("$startExtensionTerminal", {7, nullptr}), "passed");
  EXPECT_TRUE(answers(RpcType::kReplyOkJson));
  start({"me.mine"}, nullptr, R"("terminal-read")");
  EXPECT_EQ(told("$startExtensionTerminal", {7, nullptr}), "passed");
  EXPECT_FALSE(answers(RpcType::kReplyOkJson));
}

TEST_F(BrokerToldTest, InputBoxesOfSourceControlAreNoOtherDocuments) {
  start({"me.mine"}, nullptr, R"("scm")");
  const auto registers = [&](const std::string& id, const Json& input) {
    return call("MainThreadSCM", "$registerSourceControl",
                {0, nullptr, id, "Mine", nullptr, nullptr, false, input});
  };
  const auto box = [&](const std::string& path) { return uri(path, "vscode-scm"); };
  EXPECT_EQ(registers("mine", box("mine/scm0/input")), "passed");
  EXPECT_EQ(registers("mine", box("/mine/scm0/input")), "passed");
  for (const Json& other :
       {uri(work("a.txt")), uri("/mine/x", "file"), box("git/scm0/input"), Json()})
    EXPECT_NE(registers("mine", other), "passed") << other;
  EXPECT_NE(registers("git", box("git/scm0/input")), "passed") << "Git's";
}

TEST_F(BrokerToldTest, NotebooksThatMayNotBeReadDoNotComeIn) {
  const auto notebook = [&](const std::string& path) {
    return Json{{"uri", uri(path)}, {"cells", Json::array({"CELL of " + path})}};
  };
  const auto editor = [&](const std::string& id, const std::string& path) {
    return Json{{"id", id}, {"documentUri", uri(path)}};
  };
  EXPECT_EQ(
      told("$acceptDocumentAndEditorsDelta",
           Json::array({Json{{"addedDocuments", {notebook(work("a.txt")), notebook(key())}},
                             {"addedEditors", {editor("n1", work("a.txt")), editor("n2", key())}},
                             {"visibleEditors", {"n1", "n2"}},
                             {"newActiveEditor", "n2"}}})),
      "passed");
  EXPECT_THAT(given(), AllOf(HasSubstr("CELL of " + work("a.txt")), HasSubstr("n1"),
                             Not(HasSubstr("id_rsa")), Not(HasSubstr("n2"))));
  EXPECT_EQ(told("$acceptEditorPropertiesChanged", {"n1", Json::object()}), "passed");
  EXPECT_EQ(told("$acceptEditorPropertiesChanged", {"n2", Json::object()}), "quiet");
  EXPECT_EQ(told("$acceptEditorViewColumns", Json::array({Json{{"n1", 1}, {"n2", 2}}})), "passed");
  EXPECT_THAT(given(), AllOf(HasSubstr("n1"), Not(HasSubstr("n2"))));
}

// The workbench waits for an answer about each, and for a list where there may be several.
TEST_F(BrokerToldTest, OfSeveralFilesItIsAskedAboutThoseThatItMayRead) {
  const auto asks = [&](const std::vector<std::string>& paths) {
    Json list = Json::array();
    for (const std::string& path : paths) list.push_back({{"id", list.size()}, {"uri", uri(path)}});
    return told("$provideDecorations", {1, list});
  };
  EXPECT_EQ(asks({work("a.txt"), key()}), "passed");
  EXPECT_THAT(given(), AllOf(HasSubstr("a.txt"), Not(HasSubstr("id_rsa"))));
  EXPECT_EQ(asks({key()}), "{}");
  for (const char* method :
       {"$participateInSave", "$provideDocumentColors", "$getTestsRelatedToCode"})
    EXPECT_EQ(told(method, {uri(key()), 1}), "[]") << method;
}

TEST_F(BrokerToldTest, TitlesOfOthersPagesDoNotComeIn) {
  const auto tab = [&](int kind, const std::string& type) {
    return Json{
        {"id", "0~page"}, {"label", "TITLE"}, {"input", {{"kind", kind}, {"viewType", type}}}};
  };
  const auto shown = [&](const Json& one) {
    told("$acceptEditorTabModel", Json::array({Json::array({Json{{"tabs", {one}}}})}));
    return given().find("TITLE") != std::string::npos;
  };
  EXPECT_FALSE(shown(tab(7, "mainThreadWebview-cloud.page")));
  EXPECT_FALSE(shown(tab(8, "")));
  EXPECT_FALSE(shown(tab(10, ""))) << "a chat";
  EXPECT_FALSE(shown(tab(11, ""))) << "several differences";
  EXPECT_FALSE(shown(tab(0, ""))) << "two files side by side";
  start({"me.mine"}, nullptr, R"("webview")");
  ASSERT_EQ(call("MainThreadWebviewPanels", "$createWebviewPanel", {"me.mine", "1", "mine.page"}),
            "passed");
  EXPECT_TRUE(shown(tab(7, "mainThreadWebview-mine.page")));
  EXPECT_FALSE(shown(tab(7, "mainThreadWebview-cloud.page")));
}

// The review and the journal: nobody closes or moves what a person decides on.
TEST_F(BrokerToldTest, OurPagesAreNotForAnExtensionToCloseOrToMove) {
  start({"me.mine"}, nullptr, R"("@editor","commands","window")");
  const auto tab = [&](const std::string& id, const std::string& type, bool active) {
    return Json{{"id", id},
                {"label", "TITLE"},
                {"isActive", active},
                {"input", {{"kind", 7}, {"viewType", "mainThreadWebview-" + type}}}};
  };
  const auto happens = [&](int kind, const Json& one) {
    told("$acceptTabOperation",
         Json::array({Json{{"kind", kind}, {"index", 0}, {"groupId", 2}, {"tabDto", one}}}));
    return given();
  };
  const auto closes = [&](const Json& groups) {
    return call("MainThreadEditorTabs", "$closeGroup", {groups, true});
  };
  const auto runs = [&](const char* command) {
    return call("MainThreadCommands", "$executeCommand", {command, Json::array(), false});
  };
  const Json review = tab("2~review", "bulkhead.review", true);
  const Json other = tab("2~other", "cloud.page", true);
  told("$acceptEditorTabModel",
       Json::array({Json::array({Json{{"groupId", 1}, {"tabs", Json::array()}},
                                 Json{{"groupId", 2}, {"tabs", Json::array({review})}}})}));
  EXPECT_EQ(given().find("2~review"), std::string::npos) << "by this it would be closed";
  EXPECT_THAT(closes(Json::array({1, 2})), HasSubstr("Bulkhead's"));
  EXPECT_EQ(closes(Json::array({1})), "passed");
  for (const char* command : {"workbench.action.closeActiveEditor",
                              "workbench.action.moveEditorToNextGroup", "moveActiveEditor"})
    EXPECT_THAT(runs(command), HasSubstr("Bulkhead's")) << command;
  EXPECT_THAT(happens(0, other), HasSubstr("2~other"));
  EXPECT_EQ(runs("workbench.action.closeActiveEditor"), "passed") << "another is in front";
  EXPECT_THAT(closes(Json::array({2})), HasSubstr("Bulkhead's"));
  EXPECT_EQ(happens(2, review).find("2~review"), std::string::npos);
  EXPECT_THAT(runs("workbench.action.closeActiveEditor"), HasSubstr("Bulkhead's"));
  EXPECT_EQ(happens(1, review).find("2~review"), std::string::npos);
  EXPECT_EQ(closes(Json::array({2})), "passed");
  EXPECT_EQ(runs("workbench.action.closeActiveEditor"), "passed");
  happens(0, review);
  EXPECT_THAT(closes(Json::array({2})), HasSubstr("Bulkhead's"));
  const Json empty = {{"groupId", 2}, {"tabs", Json::array()}};
  told("$acceptEditorTabModel", Json::array({Json::array({empty})}));
  EXPECT_EQ(closes(Json::array({2})), "passed") << "all tabs were told anew";
}

// The host goes through the list as it starts.
TEST_F(BrokerToldTest, APersonsToolsAreAnEmptyList) {
  EXPECT_EQ(call("MainThreadLanguageModelTools", "$getTools", {}), "quiet");
  EXPECT_THAT(text(sent_.host.at(1)), HasSubstr("[]"));
}

}  // namespace
}  // namespace bulkhead::testing
