// What takes the place of others' in the window: who formats alone, whose panels and logs these
// are, what terminals show.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

class PlaceTest : public BrokerTest {
 protected:
  void SetUp() override {
    BrokerTest::SetUp();
    start({"me.mine"}, nullptr, R"("languages","notebooks","scm","testing","webview","window")");
  }
  // What the workbench gets of a request that passes; empty where none does.
  Json log() const { return uri((folder_ / "logs/x.log").string()); }
};

TEST_F(PlaceTest, NobodyIsAskedAlone) {
  const Json selector = {{"language", "python"}, {"exclusive", true}, {"isBuiltin", false}};
  const Json open = {{"language", "python"}, {"isBuiltin", false}};
  EXPECT_EQ(passed("MainThreadLanguageFeatures", "$registerDocumentFormattingSupport",
                   {1, Json::array({selector, "x"}), "me.mine", "Mine"})[1],
            Json::array({open, "x"}));
  EXPECT_EQ(passed("MainThreadLanguageFeatures", "$registerHoverProvider", {1, selector})[1], open);
  EXPECT_EQ(passed("MainThreadLanguageFeatures", "$registerHoverProvider", {1, open})[1], open);
  const auto suggests = [&](const Json& excluded) {
    return passed(
        "MainThreadLanguageFeatures", "$registerInlineCompletionsSupport",
        {1, open, true, "me.mine", "1.0", nullptr, Json::array(), "Mine", 0, excluded})[9];
  };
  EXPECT_EQ(suggests(Json::array({"github.copilot"})), Json::array());
  EXPECT_EQ(suggests(nullptr), Json());
}

// What a person writes to a chat or a debugger is a document too, of which no extension is told.
TEST_F(PlaceTest, NobodyIsAskedAboutWhatIsNoFile) {
  const Json selector = {{"scheme", "*"}, {"hasAccessToAllModels", true}};
  for (const char* method : {"$registerHoverProvider", "$registerOnTypeFormattingSupport"})
    EXPECT_EQ(passed("MainThreadLanguageFeatures", method, {1, selector, "x", "me.mine"})[1],
              (Json{{"scheme", "*"}}));
}

// By a label and a folder the window keeps what a person wrote to be committed there.
TEST_F(PlaceTest, WhatWasWrittenForAnothersCommitsStaysThere) {
  const std::vector<Json> arguments = {7,
                                       nullptr,
                                       "mine",
                                       "Git",
                                       uri(work("")),
                                       nullptr,
                                       true,
                                       uri("mine/scm7/input", "vscode-scm")};
  EXPECT_EQ(passed("MainThreadSCM", "$registerSourceControl", arguments)[3], "Git (me.mine)");
  start({"vscode.git"}, nullptr, R"("scm")");
  EXPECT_EQ(passed("MainThreadSCM", "$registerSourceControl", arguments)[3], "Git");
}

TEST_F(PlaceTest, PanelsOfBeforeAreShownByWhoNamesThem) {
  const auto shows = [this](const Json& type) {
    return call("MainThreadWebviewPanels", "$registerSerializer", {type, Json::object()});
  };
  EXPECT_EQ(shows("mine.panel"), "passed");
  for (const Json& type : {Json("somebodys"), Json("cloud.panel"), Json(""), Json(),
                           Json::array({"mine.panel"}), Json{{"id", "mine.panel"}}})
    EXPECT_THAT(shows(type), HasSubstr("activationEvents")) << type;
  deliver("$deltaExtensions", R"([{"toAdd": [{"identifier": {"value": "late.comer"},
      "activationEvents": ["onWebviewPanel:mine.panel"]}], "myToAdd": []}])");
  EXPECT_NE(shows("mine.panel"), "passed") << "another's as well";
}

// The outputs of all notebooks are a page of this type, by which packages place their menu items.
TEST_F(PlaceTest, NoPageIsCalledAsTheOutputsOfNotebooks) {
  const auto shows = [this](const char* type) {
    return call("MainThreadWebviewPanels", "$createWebviewPanel",
                {"me.mine", "1", type, Json{{"webviewOptions", Json::object()}}});
  };
  EXPECT_EQ(shows("mine.page"), "passed");
  EXPECT_THAT(shows("notebook.output"), HasSubstr("the editor's"));
}

TEST_F(PlaceTest, LogsAreOfItsOwnName) {
  const auto named = [this](Json about) {
    std::string one = call("MainThreadLogger", "$createLogger", {log(), about});
    about["resource"] = log();
    EXPECT_EQ(call("MainThreadLogger", "$registerLogger", {about}), one);
    return one;
  };
  for (const char* id : {"me.mine.Mine.log", "Me.Mine.x", "remoteexthost", "-1a2b3c"})
    EXPECT_EQ(named({{"id", id}, {"name", "x"}}), "passed") << id;
  EXPECT_EQ(named({{"logLevel", "always"}, {"hidden", true}}), "passed");
  EXPECT_EQ(named({{"id", "remoteExtHostTelemetry"}, {"group", {{"id", "telemetry"}}}}), "passed");
  EXPECT_EQ(named({{"id", "me.mine.x"}, {"extensionId", "me.mine"}}), "passed");
  EXPECT_EQ(call("MainThreadLogger", "$createLogger", {log()}), "passed");
  for (const Json& about :
       {Json{{"id", "cloud.other.Cloud.log"}}, Json{{"id", "rendererLog"}},
        Json{{"id", "me.mine2"}}, Json{{"id", Json::array({"rendererLog"})}}, Json{{"id", 7}},
        Json{{"id", "me.mine.x"}, {"group", {{"id", "remote"}}}},
        Json{{"id", "me.mine.x"}, {"group", "remote"}},
        Json{{"id", "me.mine.x"}, {"extensionId", "cloud.other"}}})
    EXPECT_THAT(named(about), HasSubstr("no log of its own")) << about;
}

TEST_F(PlaceTest, WhatTheStatusBarSaysIsDoneIsSomebodys) {
  const Json shown = passed("MainThreadProgress", "$startProgress",
                            {1, Json{{"location", 10}, {"title", "Bulkhead"}}, "me.mine"})[1];
  EXPECT_EQ(shown.value("command", Json()), "notifications.showList");
  EXPECT_THAT(shown["source"]["label"].get<std::string>(), HasSubstr("me.mine"));
  EXPECT_FALSE(passed("MainThreadProgress", "$startProgress",
                      {2, Json{{"location", 15}, {"command", "x"}}, "me.mine"})[1]
                   .contains("command"));
}

// Its file names would be those that a person opens with it.
TEST_F(PlaceTest, ATypeOfNotebooksIsWhatItsPackageSays) {
  // The fixture's own row is an easier one.
  auto table = ApiTable::parse(ManifestBytes::of("table.json", shipped_table().dump()));
  ASSERT_TRUE(table.ok());
  *table_ = std::move(*table);
  const auto reads = [this](const Json& files) {
    return call("MainThreadNotebook", "$registerNotebookSerializer",
                {1, Json{{"id", {{"value", "me.mine"}}}}, "mine", Json::object(), files});
  };
  EXPECT_EQ(reads(nullptr), "passed");
  EXPECT_NE(reads({{"filenamePattern", {"*"}}, {"exclusive", true}}), "passed");
}

// Terminals of the window write the clipboard, if they are told so.
TEST_F(PlaceTest, ResultsOfTestsHaveColoursAndNoOrders) {
  ASSERT_EQ(call("MainThreadTesting", "$registerTestController", {"mine", "Mine", 0}), "passed");
  const std::string copies = "\x1b]52;c;cm0gLXJm\x07", colour = "\x1b[31mred\x1b[0m";
  const auto puts_out = [&](const std::string& output) -> std::string {
    RpcRequest request;
    request.number = ++number_;
    request.proxy = proxy_of("MainThreadTesting");
    request.method = "$appendOutputToRun";
    request.mixed = true;
    request.arguments = {{RpcArgument::Type::kJson, R"("run")", {}},
                         {RpcArgument::Type::kJson, R"("task")", {}},
                         {RpcArgument::Type::kBuffer, {}, {bytes(output)}},
                         {},
                         {}};
    if (call(request) != "passed") return "refused";
    const auto message = parse_rpc(sent_.workbench.at(0));
    const Bytes said = std::get<RpcRequest>(*message).arguments.at(2).buffers.at(0);
    return {said.begin(), said.end()};
  };
  EXPECT_EQ(puts_out(colour), colour);
  EXPECT_EQ(puts_out(colour + copies), colour);
  EXPECT_NE(call("MainThreadTesting", "$appendOutputToRun",
                 {"run", "task", Json{{"buffer", copies}, {"byteLength", 9}}, nullptr, nullptr}),
            "passed");
  const std::string test = std::string("mine\0a", 6);
  const Json said = passed("MainThreadTesting", "$appendTestMessagesInRun",
                           {"run", "task", test, Json::array({{{"message", colour + copies}}})});
  ASSERT_TRUE(said.is_array());
  EXPECT_EQ(said[3][0]["message"], colour);
  EXPECT_EQ(said[2], test);
}

}  // namespace
}  // namespace bulkhead::testing
