// A person's own work: terminals, debugging, tasks, and the document before them.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(BrokerTest, APersonsTerminalsDebuggingAndTasksStayOutside) {
  const std::vector<std::pair<std::string, std::string>> told = {
      {"$shellExecutionStart", "terminal-read"},
      {"$shellExecutionData", "terminal-read"},
      {"$shellExecutionEnd", "terminal-read"},
      {"$shellEnvChange", "terminal-read"},
      {"$acceptTerminalSelection", "terminal-read"},
      {"$acceptDebugSessionStarted", "debug"},
      {"$acceptDebugSessionActiveChanged", "debug"},
      {"$acceptBreakpointsDelta", "debug"},
      {"$acceptDebugSessionCustomEvent", "debug"},
      {"$onDidStartTask", "tasks"},
      {"$OnDidEndTask", "tasks"}};
  for (const auto& [method, permission] : told) {
    EXPECT_EQ(deliver(method, R"([1,"SECRET"])"), "") << method;
    EXPECT_EQ(sent_.workbench.size(), 2U) << "acknowledged and answered: " << method;
  }
  start({"me.mine"}, nullptr, R"("terminal-read","debug","tasks")");
  for (const auto& [method, permission] : told)
    EXPECT_THAT(deliver(method, R"([1,"SECRET"])"), HasSubstr("SECRET")) << method;
  EXPECT_EQ(deliver("$updateRemoteConnectionData", R"([{"connectionToken":"SECRET"}])"), "");
}

TEST_F(BrokerTest, WhatTerminalsWereStartedWithStaysOutside) {
  const std::string opened = deliver(
      "$acceptTerminalOpened",
      R"([1,"id","bash",{"name":"bash","env":{"TOKEN":"SECRET"},"args":["--token=SECRET"]}])");
  EXPECT_THAT(opened, HasSubstr("bash"));
  EXPECT_EQ(opened.find("SECRET"), std::string::npos);
  // As it is where nobody of an extension opened it.
  RpcRequest mixed;
  mixed.number = ++asked_;
  mixed.method = "$acceptTerminalOpened";
  mixed.mixed = true;
  for (const char* json : {"1", "", R"("bash")", R"({"name":"bash","env":{"TOKEN":"SECRET"}})"})
    mixed.arguments.push_back(*json == 0 ? RpcArgument{}
                                         : RpcArgument{RpcArgument::Type::kJson, json, {}});
  sent_ = {};
  ASSERT_TRUE(broker_->from_workbench(write_request(mixed), sent_).ok());
  EXPECT_THAT(text(sent_.host.at(0)), HasSubstr("bash"));
  EXPECT_EQ(text(sent_.host.at(0)).find("SECRET"), std::string::npos);
  const std::string variables =
      deliver("$initEnvironmentVariableCollections",
              R"([[["cloud.other",[["TOKEN","SECRET"]]],["me.mine",[["MINE","own"]]]]])");
  EXPECT_EQ(variables.find("SECRET"), std::string::npos);
  EXPECT_THAT(variables, HasSubstr("own"));
}

// `type` and its like act on what has the focus, wherever that lies.
TEST_F(BrokerTest, CommandsEditOnlyDocumentsThatItMayWrite) {
  const auto types = [this](const std::string& command = "type") {
    return call("MainThreadCommands", "$executeCommand",
                {command, Json::array({Json{{"text", "evil"}}}), false});
  };
  const auto turn_to = [this](const std::string& id, const std::string& path) {
    deliver("$acceptDocumentsAndEditorsDelta",
            Json::array({Json{{"addedEditors", {{{"id", id}, {"documentUri", uri(path)}}}},
                              {"newActiveEditor", id}}})
                .dump());
  };
  EXPECT_NE(types(), "passed") << "nothing is known";
  turn_to("1", work("a.txt"));
  EXPECT_EQ(types(), "passed");
  // The workbench looks once more, when it runs.
  const auto judged = [this](const std::vector<Json>& arguments) {
    const Json said = passed("MainThreadCommands", "$executeCommand", arguments);
    return said.is_array() ? said.size() == 4 ? said[3] : Json("none") : Json("refused");
  };
  EXPECT_EQ(judged({"type", Json::array({Json{{"text", "evil"}}}), false}), uri(work("a.txt")));
  EXPECT_EQ(judged({"type", Json::array()}), uri(work("a.txt")));
  EXPECT_EQ(judged({"cursorMove", Json::array(), false}), "none");
  EXPECT_EQ(judged({"type", Json::array(), false, uri(work("b.txt"))}), "refused");
  EXPECT_NE(types("paste"), "passed") << "without the clipboard";
  turn_to("2", (folder_ / "home/.bashrc").string());
  EXPECT_NE(types(), "passed");
  turn_to("3", work(".git"));
  EXPECT_NE(types(), "passed");
  deliver("$acceptDocumentsAndEditorsDelta", R"([{"newActiveEditor":"1"}])");
  EXPECT_EQ(types(), "passed");
  deliver("$acceptDocumentsAndEditorsDelta", R"([{"removedEditors":["9"]}])");
  EXPECT_EQ(types(), "passed");
  deliver("$acceptDocumentsAndEditorsDelta", R"([{"newActiveEditor":null}])");
  EXPECT_NE(types(), "passed");
  start({"me.mine"}, nullptr, R"("commands","clipboard")");
  turn_to("1", work("a.txt"));
  EXPECT_EQ(types("paste"), "passed");
  turn_to("2", (folder_ / "home/.bashrc").string());
  EXPECT_NE(types("paste"), "passed");
}

// The workbench's word on a command that was let through and then did not run.
TEST_F(BrokerTest, ARefusalAtTheMomentOfRunningIsInTheJournal) {
  deliver("$acceptDocumentsAndEditorsDelta",
          Json::array({Json{{"addedEditors", {{{"id", "1"}, {"documentUri", uri(work("a.txt"))}}}},
                            {"newActiveEditor", "1"}}})
              .dump());
  const std::string refusal = "bulkhead: type was allowed for /a.txt, and another document has";
  const auto told = [&](const std::string& command, const Json& error, int replies = 1) {
    EXPECT_EQ(call("MainThreadCommands", "$executeCommand", {command, Json::array(), false}),
              "passed");
    refusals_.told.clear();
    const std::string json = error.dump();
    for (int i = 0; i < replies; ++i) {
      RpcReply reply;
      reply.type = error.is_null() ? RpcType::kReplyOkEmpty : RpcType::kReplyError;
      reply.number = number_;
      if (!error.is_null()) reply.json = json;
      EXPECT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
    }
    return refusals_.told;
  };
  EXPECT_THAT(told("type", {{"message", refusal}}, 2),
              ElementsAre("type: another document had the focus when it was to run"));
  EXPECT_THAT(told("type", nullptr), IsEmpty());
  EXPECT_THAT(told("type", {{"message", "no such thing"}}), IsEmpty());
  EXPECT_THAT(told("type", Json::array({refusal})), IsEmpty());
  EXPECT_THAT(told("cursorMove", {{"message", refusal}}), IsEmpty()) << "for no document";
}

TEST_F(BrokerTest, OnlyBulkheadSaysHowBulkheadIs) {
  const auto sets = [this](const std::string& key) {
    return call("MainThreadCommands", "$executeCommand",
                {"setContext", Json::array({key, "off"}), false});
  };
  EXPECT_EQ(sets("mine.ready"), "passed");
  EXPECT_NE(sets("bulkhead.state"), "passed");
  for (const char* key : {"inputFocus", "textInputFocus", "editorTextFocus", "terminalFocus"})
    EXPECT_NE(sets(key), "passed") << "where a person writes";
  EXPECT_EQ(sets("mine.focus"), "passed");
}

// With "accessibilityModeEnabled", Control+Shift+A answered our questions.
TEST_F(BrokerTest, AHostSetsContextsOfItsOwnExtensions) {
  const auto sets = [this](const std::string& key) {
    return call("MainThreadCommands", "$executeCommand",
                {"setContext", Json::array({key, true}), false});
  };
  for (const char* own :
       {"mine", "mine:on", "me.x", "mineReady", "myWord", "Mine.On", "mineShared"})
    EXPECT_EQ(sets(own), "passed") << own;
  for (const char* editors : {"accessibilityModeEnabled", "notificationFocus", "chatOption.x",
                              "config.editor.accessibilitySupport", "view.mine.visible"})
    EXPECT_THAT(sets(editors), HasSubstr("only the editor")) << editors;
  // "mineCount" is read by one of the editor's own, whatever it is called.
  for (const char* others :
       {"mineCount", "sharedWord", "gitWord", "minedWord", "cloud.x", "nobodys", ""})
    EXPECT_EQ(sets(others), "quiet") << others;
  // What the editor reads of Git, Git says, also in a compartment.
  EXPECT_THAT(sets("git.conflicts"), HasSubstr("only the editor"));
  start({"vscode.git"}, nullptr, R"("@editor","commands")");
  EXPECT_EQ(sets("git.conflicts"), "passed");
  EXPECT_THAT(sets("accessibilityModeEnabled"), HasSubstr("only the editor"));
}

// What a chat shows of a file, an earlier version of one, what is typed into a box: nobody has said
// whose it is.
TEST_F(BrokerTest, ADocumentWithoutAFileIsReadByWhoShowsIt) {
  start({"me.mine"}, nullptr, R"("documents","workspace-files")");
  const auto told = [&](const char* scheme, const char* path = "/x") {
    const Json opened = {{"uri", uri(path, scheme)}, {"lines", {"SECRET"}}};
    return deliver("$acceptDocumentsAndEditorsDelta",
                   Json::array({{{"addedDocuments", {opened}}}}).dump())
               .find("SECRET") != std::string::npos;
  };
  for (const char* others : {"vscode-chat-code-block", "vscode-chat-code-compare-block", "gitlens",
                             "vscode-scm", "inmemory", "chatSessionInput", "memfs", "fresh", ""})
    EXPECT_FALSE(told(others)) << others;
  EXPECT_TRUE(told("untitled", "Untitled-1"));
  EXPECT_EQ(
      call("MainThreadDocumentContentProviders", "$registerTextContentProvider", {1, "mine-docs"}),
      "passed");
  EXPECT_TRUE(told("mine-docs"));
}

// VS Code names the notebook's scheme at the end of a cell's fragment: "W0s" and base64.
TEST_F(BrokerTest, CellsComeInWithTheirNotebook) {
  const std::string key = (folder_ / "home/.ssh/id_rsa").string();
  ASSERT_EQ(call("MainThreadFileSystem", "$registerFileSystemProvider", {1, "mine", 2, Json()}),
            "passed");
  const auto cell = [](const std::string& path, const std::string& fragment) {
    Json made = uri(path, "vscode-notebook-cell");
    made["fragment"] = fragment;
    return made;
  };
  const auto comes_in = [&](const std::string& path, const std::string& fragment) {
    const Json opened = {{"uri", cell(path, fragment)}, {"lines", {"CONTENT"}}};
    return deliver("$acceptDocumentsAndEditorsDelta",
                   Json::array({{{"addedDocuments", {opened}}}}).dump())
               .find("CONTENT") != std::string::npos;
  };
  EXPECT_TRUE(comes_in("/n.ipynb", "W0sbWluZQ==")) << "mine";
  EXPECT_TRUE(comes_in("Untitled-1.ipynb", "W0sdW50aXRsZWQ=")) << "untitled";
  EXPECT_TRUE(comes_in(work("n.ipynb"), "W0sdnNjb2RlLXJlbW90ZQ==")) << "vscode-remote";
  for (const char* fragment :
       {"W0sZmlsZQ==", "W0sRklMRQ==", "W0sdnNjb2RlLXJlbW90ZQ==", "W0sVnNjb2RlLVJlbW90ZQ=="})
    EXPECT_FALSE(comes_in(key, fragment)) << "a file: " << fragment;
  // What is not as VS Code writes it is the file of its path; what is another's stays there.
  for (const char* fragment :
       {"", "W0", "W0s", "W0sbWluZQ", "W0sbWluZR==", "W0s+bWluZQ==", "W0sb3RoZXI=",
        "W0sdnNjb2RlLXVzZXJkYXRh", "W0sdnNjb2RlLW5vdGVib29rLWNlbGw=", "W0sZ2l0"})
    EXPECT_FALSE(comes_in(key, fragment)) << fragment;
  EXPECT_FALSE(comes_in(work("n.ipynb"), "W0sb3RoZXI=")) << "another's, by the path of a file";
  // By its own word no extension opens or changes a cell.
  for (const char* fragment : {"W0sbWluZQ==", "W0sdW50aXRsZWQ="}) {
    EXPECT_NE(call("MainThreadDocuments", "$tryOpenDocument", {cell(key, fragment), Json()}),
              "passed");
    EXPECT_NE(call("MainThreadDocuments", "$trySaveDocument", {cell(key, fragment)}), "passed");
    EXPECT_NE(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
                   {{{"edits", {{{"resource", cell(key, fragment)}}}}}}),
              "passed");
  }
}

// Where a search stops, and whether there is a file of that name, tells of what is
// left out of its results.
TEST_F(BrokerTest, SearchesTellNothingOfWhatTheyMayNotFind) {
  EXPECT_EQ(call("MainThreadWorkspace", "$startTextSearch",
                 {Json{{"pattern", "x"}}, nullptr, Json{{"maxResults", 1}, {"a", 2}}, 7}),
            "passed");
  EXPECT_EQ(text(sent_.workbench.at(0)).find("maxResults"), std::string::npos);
  RpcReply reply;
  reply.type = RpcType::kReplyOkJson;
  reply.number = number_;
  reply.json = R"({"limitHit":true})";
  sent_ = {};
  ASSERT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
  EXPECT_THAT(text(sent_.host.at(0)), HasSubstr(R"({"limitHit":false})"));
  const auto asks = [this](const std::string& path) {
    return call("MainThreadWorkspace", "$checkExists",
                {Json::array({uri(work("")), uri(path)}), Json::array({"**/a*"})});
  };
  EXPECT_EQ(asks(work("a.txt")), "passed");
  EXPECT_NE(asks((folder_ / "home").string()), "passed");
}

TEST_F(BrokerTest, KernelsBringNoScriptsIntoPagesOfNotebooks) {
  for (const char* method : {"$addKernel", "$updateKernel"}) {
    const Json kernel = {{"id", "me.mine/x"},
                         {"extensionId", {{"value", "me.mine"}}},
                         {"label", "Proof"},
                         {"preloads", {{{"uri", uri(work("x.js"))}}}}};
    EXPECT_EQ(call("MainThreadNotebookKernels", method, {1, kernel}), "passed");
    EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr("Proof"));
    EXPECT_EQ(text(sent_.workbench.at(0)).find("x.js"), std::string::npos) << method;
  }
}

}  // namespace
}  // namespace bulkhead::testing
