// Tests of other extensions, and what else the workbench finds by a name that anybody may say:
// terminals, viewers, remarks, ways to sign in, who opens links.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

class TestingTest : public BrokerTest {
 protected:
  void SetUp() override {
    BrokerTest::SetUp();
    with(R"("testing")");
  }
  void with(const std::string& permissions) {
    start({"me.mine"}, nullptr, permissions);
    if (permissions.find("testing") == std::string::npos) return;
    ASSERT_EQ(says("$registerTestController", {"mine", "Mine", 0}), "passed");
  }
  std::string says(const std::string& method, const std::vector<Json>& arguments) {
    return call("MainThreadTesting", method, arguments);
  }
  // What the workbench gets of a request that passes; empty where none does.
  // A test's id as VS Code makes it.
  static std::string test(const std::string& controller) {
    return controller + std::string(1, '\0') + "suite" + std::string(1, '\0') + "adds";
  }
  const Json own_id_ = {{"value", "Me.Mine"}, {"_lower", "me.mine"}};
};

TEST_F(TestingTest, TheTreeChangesWhereItsOwnTestsAre) {
  const auto publishes = [this](const Json& change) {
    return says("$publishDiff", {"mine", Json::array({change})});
  };
  const auto adds = [&](const std::string& controller, const std::string& id) {
    return publishes({{"op", 0},
                      {"item",
                       {{"controllerId", controller},
                        {"expand", 0},
                        {"item", {{"extId", id}, {"label", "x"}}}}}});
  };
  EXPECT_EQ(adds("mine", "mine"), "passed");
  EXPECT_EQ(adds("mine", test("mine")), "passed");
  EXPECT_NE(adds("pytest", test("mine")), "passed");
  for (const std::string& id : {std::string("pytest"), test("pytest"), std::string("mine2"),
                                std::string(), std::string("\0mine", 5)}) {
    EXPECT_THAT(adds("mine", id), HasSubstr("not its own")) << id;
    for (const Json& change :
         {Json{{"op", 1}, {"item", {{"extId", id}, {"item", {{"label", "x"}}}}}},
          Json{{"op", 3}, {"itemId", id}}, Json{{"op", 5}, {"itemId", id}},
          Json{{"op", 6}, {"tag", {{"id", id}}}}, Json{{"op", 7}, {"id", id}}})
      EXPECT_NE(publishes(change), "passed") << change;
  }
  for (const Json& change :
       {Json{{"op", 1}, {"item", {{"extId", test("mine")}}}},
        Json{{"op", 3}, {"itemId", test("mine")}}, Json{{"op", 5}, {"itemId", test("mine")}},
        Json{{"op", 6}, {"tag", {{"id", std::string("mine\0slow", 9)}}}},
        Json{{"op", 7}, {"id", std::string("mine\0slow", 9)}}, Json{{"op", 4}, {"amount", -1}}})
    EXPECT_EQ(publishes(change), "passed") << change;
  EXPECT_NE(publishes({{"op", 3}, {"itemId", Json::array({"pytest"})}}), "passed");
  EXPECT_NE(says("$publishDiff", {"mine", Json{{"0", 1}}}), "passed");
}

TEST_F(TestingTest, MarksAreGivenToItsOwnTests) {
  const auto adds = [this](const char* controller, const std::string& id) {
    return says("$addTestsToRun", {controller, "run", Json::array({{{"extId", id}}})});
  };
  EXPECT_EQ(adds("mine", test("mine")), "passed");
  EXPECT_NE(adds("pytest", test("mine")), "passed");
  EXPECT_NE(adds("mine", test("pytest")), "passed");
  EXPECT_NE(says("$addTestsToRun", {"mine", "run", Json{{"extId", test("pytest")}}}), "passed");
  const auto marks = [this](const Json& id) {
    std::string text = says("$updateTestStateInRun", {"run", "task", id, 3, 5});
    EXPECT_EQ(says("$appendTestMessagesInRun", {"run", "task", id, Json::array()}), text);
    EXPECT_EQ(says("$appendOutputToRun", {"run", "task", nullptr, nullptr, id}), text);
    EXPECT_EQ(says("$markTestRetired", {Json::array({id})}), text);
    return text;
  };
  EXPECT_EQ(marks(test("mine")), "passed");
  EXPECT_EQ(marks("mine"), "passed");
  EXPECT_THAT(marks(test("pytest")), HasSubstr("not its own"));
  EXPECT_NE(marks(""), "passed");
  EXPECT_EQ(says("$appendOutputToRun", {"run", "task", nullptr, nullptr, nullptr}), "passed");
  EXPECT_EQ(says("$markTestRetired", {nullptr}), "passed");
}

TEST_F(TestingTest, RunsAreOfItsOwnControllers) {
  const auto starts = [this](const Json& controller, const char* id) {
    return says("$startedExtensionTestRun", {Json{{"id", id}, {"controllerId", controller}}});
  };
  const auto task = [this](const char* run, const char* controller) {
    return says("$startedTestRunTask", {run, Json{{"id", "task"}, {"ctrlId", controller}}});
  };
  EXPECT_EQ(starts("mine", "own-run"), "passed");
  EXPECT_NE(starts("pytest", "own-run"), "passed");
  EXPECT_NE(starts(Json(), "own-run"), "passed");
  EXPECT_EQ(task("own-run", "mine"), "passed");
  EXPECT_NE(task("own-run", "pytest"), "passed");
  EXPECT_NE(says("$startedTestRunTask",
                 {"run", Json{{"id", "t"}, {"ctrlId", "pytest"}, {"controllerId", "mine"}}}),
            "passed");
  EXPECT_NE(says("$startedTestRunTask",
                 {"run", Json{{"id", "t"}, {"ctrlId", "mine"}, {"controllerId", "pytest"}}}),
            "passed");
  EXPECT_EQ(says("$finishedExtensionTestRun", {"own-run"}), "passed");
  // "Run all" gives each controller a part in one run, which ends when all are done.
  for (const char* method : {"$runControllerTests", "$startContinuousRun"}) {
    const std::string run = std::string("shared by ") + method;
    EXPECT_THAT(deliver(method, R"([[{"runId":")" + run + R"(","controllerId":"mine"}]])"),
                HasSubstr("shared"));
    EXPECT_EQ(task(run.c_str(), "mine"), "passed");
    EXPECT_NE(says("$finishedExtensionTestRun", {run}), "passed") << method;
    EXPECT_NE(starts("mine", run.c_str()), "passed") << method;
  }
}

// "Run again" repeats it.
TEST_F(TestingTest, ARunSaysNothingOfTestsOfOthers) {
  const auto starts = [this](const char* key, const Json& value) {
    return says("$startedExtensionTestRun",
                {Json{{"id", "run"}, {"controllerId", "mine"}, {key, value}}});
  };
  for (const char* key : {"include", "exclude"}) {
    EXPECT_EQ(starts(key, Json::array({"mine", test("mine")})), "passed");
    EXPECT_EQ(starts(key, Json::array()), "passed");
    EXPECT_THAT(starts(key, Json::array({test("mine"), test("pytest")})), HasSubstr("not its own"));
    EXPECT_NE(starts(key, test("pytest")), "passed");
  }
  const Json target = {{"controllerId", "pytest"}, {"profileId", 1}, {"testIds", {"pytest"}}};
  EXPECT_NE(starts("targets", Json::array({target})), "passed");
}

// It would debug, and saves what a person has not saved.
TEST_F(TestingTest, TestsOfOthersAreRunLikeCommandsOfOthers) {
  const auto runs = [this](const std::vector<Json>& controllers) {
    Json targets = Json::array();
    for (const Json& each : controllers)
      targets.push_back({{"controllerId", each}, {"profileId", 1}, {"testIds", {"x"}}});
    return says("$runTests", {Json{{"targets", targets}, {"group", 4}}});
  };
  EXPECT_EQ(runs({"mine"}), "passed");
  EXPECT_THAT(runs({"pytest"}), HasSubstr("commands-foreign"));
  EXPECT_THAT(runs({"mine", "pytest"}), HasSubstr("commands-foreign"));
  EXPECT_NE(runs({Json::array({"pytest"})}), "passed");
  EXPECT_NE(says("$runTests", {Json{{"targets", {{"0", 1}}}}}), "passed");
  with(R"("testing","commands-foreign")");
  EXPECT_EQ(runs({"pytest"}), "passed");
}

TEST_F(TestingTest, CoverageIsOfFilesThatItMayRead) {
  const auto asks = [this](const std::string& path) {
    return says("$getCoverageDetails", {"run", 0, uri(path)});
  };
  EXPECT_EQ(asks(work("a.txt")), "passed");
  EXPECT_NE(asks((folder_ / "home/.ssh/id_rsa").string()), "passed");
}

TEST_F(TestingTest, WhatIsAskedAboutTestsOfOthers) {
  // The workbench goes through the answer, of which a host that is told no results has nothing to
  // say.
  EXPECT_EQ(deliver("$provideTestFollowups", R"([{"extId":"SECRET","resultId":"run"}])"), "");
  ASSERT_EQ(sent_.workbench.size(), 2U);
  EXPECT_EQ(std::get<RpcReply>(*parse_rpc(sent_.workbench[1])).json, "[]");
  EXPECT_EQ(deliver("$executeTestFollowup", "[1]"), "");
  EXPECT_EQ(deliver("$disposeTestFollowups", "[[1]]"), "");
  for (const char* method : {"$setDefaultRunProfiles", "$cancelExtensionTestRun", "$disposeRun"})
    EXPECT_THAT(deliver(method, R"(["SECRET"])"), HasSubstr("SECRET")) << method;
  with(R"("window")");
  for (const char* method : {"$setDefaultRunProfiles", "$cancelExtensionTestRun", "$disposeRun"})
    EXPECT_EQ(deliver(method, R"(["SECRET"])"), "") << method;
}

// A person's terminals come without such a name, and would be its own.
TEST_F(TestingTest, ATerminalIsMadeByAName) {
  with(R"("terminal")");
  const auto own = [this](int number, const Json& name) {
    deliver("$acceptTerminalOpened", Json::array({number, name, "zsh", Json::object()}).dump());
    return !deliver("$acceptTerminalProcessData", Json::array({number, "SECRET"}).dump()).empty();
  };
  for (const Json& name : {Json(7), Json(""), Json(), Json::array({"x"})})
    EXPECT_NE(call("MainThreadTerminalService", "$createTerminal", {name, Json::object()}),
              "passed")
        << name;
  EXPECT_FALSE(own(1, nullptr));
  EXPECT_EQ(call("MainThreadTerminalService", "$createTerminal", {"uuid", Json::object()}),
            "passed");
  EXPECT_TRUE(own(2, "uuid"));
}

TEST_F(TestingTest, WhatHasNoNameIsNoControllerOfItsOwn) {
  for (const Json& name : {Json(7), Json(""), Json::array({"x"})})
    says("$registerTestController", {name, "x", 0});
  EXPECT_NE(says("$updateTestStateInRun", {"run", "task", "", 3, 5}), "passed");
  EXPECT_NE(says("$updateController", {7, Json::object()}), "passed");
}

// Or a host could make its judge's memory grow.
TEST_F(TestingTest, NamesAreKeptAsLongAsThereIsRoom) {
  const auto makes = [this](const std::string& name) {
    says("$registerTestController", {name, "x", 0});
    return says("$updateController", {name, Json::object()}) == "passed";
  };
  EXPECT_FALSE(makes(std::string(Names::kLongest + 1, 'x')));
  EXPECT_TRUE(makes(std::string(Names::kLongest, 'x')));
  for (size_t i = 2; i < Names::kMost; ++i)  // and the fixture's own
    ASSERT_TRUE(makes(std::to_string(i))) << i;
  EXPECT_FALSE(makes("one too many"));
  EXPECT_EQ(says("$unregisterTestController", {"2"}), "passed");
  EXPECT_TRUE(makes("one too many"));
}

TEST_F(TestingTest, ANotebookIsShownAsOne) {
  const auto shows = [this](const Json& viewer) {
    return passed("MainThreadNotebookEditors", "$tryShowNotebookDocument",
                  {uri(work("a.txt")), viewer, Json{{"label", "settings.json"}, {"pinned", true}}});
  };
  with(R"("notebooks")");
  for (const Json& type : {Json("mine"), Json("repl"), Json()}) {
    const Json shown = shows(type);
    ASSERT_TRUE(shown.is_array()) << type;
    EXPECT_EQ(shown[2], (Json{{"pinned", true}}));
  }
  for (const Json& viewer : {Json("vscode.markdown.preview.editor"), Json("cloud.editor"), Json(""),
                             Json::array({"cloud.editor"})})
    EXPECT_TRUE(shows(viewer).is_null()) << viewer;
  deliver("$deltaExtensions", R"([{"toAdd": [{"identifier": {"value": "late.comer"}, "contributes":
      {"notebooks": [{"type": "late"}], "customEditors": [{"viewType": "mine"}]}}],
      "myToAdd": []}])");
  EXPECT_TRUE(shows("late").is_array());
  EXPECT_TRUE(shows("mine").is_null()) << "a viewer of another's by now";
  with(R"("notebooks","commands-foreign")");
  EXPECT_TRUE(shows("cloud.editor").is_array());
}

// The workbench empties the list of remarks that has this for its name.
TEST_F(TestingTest, AControllerOfRemarksHasANumber) {
  with(R"("comments")");
  const auto registers = [this](const Json& handle) {
    return call("MainThreadComments", "$registerCommentController",
                {handle, "mine", "Mine", "me.mine"});
  };
  EXPECT_EQ(registers(1), "passed");
  for (const Json& handle : {Json("github-pr-x.y"), Json::array({"github-pr-x.y"}), Json()})
    EXPECT_NE(registers(handle), "passed") << handle;
}

TEST_F(TestingTest, AWayToSignInClaimsNoServers) {
  const Json claims = {{"id", "mine.login"},
                       {"label", "Mine"},
                       {"supportedAuthorizationServers", {uri("/login/oauth", "https")}},
                       {"resourceServer", uri("/", "https")}};
  with(R"("authentication")");
  const auto registers = [&] {
    return passed("MainThreadAuthentication", "$registerAuthenticationProvider", {claims});
  };
  EXPECT_EQ(registers(), Json::array({Json{{"id", "mine.login"}, {"label", "Mine"}}}));
  // The editor's own do.
  deliver("$deltaExtensions", R"([{"toAdd": [{"identifier": {"value": "me.mine"}, "isBuiltin": true,
      "contributes": {"authentication": [{"id": "mine.login"}]}}], "myToAdd": []}])");
  EXPECT_TRUE(registers()[0].contains("resourceServer"));
}

// Who opens links is given every one that a person follows, and may keep it.
TEST_F(TestingTest, LinksAreOpenedByWhoMayRunWhatIsOthers) {
  const auto registers = [this] {
    return call("MainThreadUriOpeners", "$registerUriOpener",
                {"x", Json::array({"https"}), own_id_, "x"});
  };
  with(R"("open-external")");
  EXPECT_EQ(registers(), "quiet");
  EXPECT_EQ(call("MainThreadUriOpeners", "$unregisterUriOpener", {"another's"}), "quiet");
  with(R"("open-external","commands-foreign")");
  EXPECT_EQ(registers(), "passed");
}

TEST_F(TestingTest, CodeIsMappedToFilesThatItMayRead) {
  const auto maps = [this](const std::string& path) {
    return deliver(
        "$mapCode",
        Json::array({1, {{"codeBlocks", {{{"code", "SECRET"}, {"resource", uri(path)}}}}}}).dump());
  };
  EXPECT_THAT(maps(work("a.txt")), HasSubstr("SECRET"));
  EXPECT_EQ(maps((folder_ / "home/.ssh/id_rsa").string()), "");
}

// What a person searches for, of which only folders are named.
TEST_F(TestingTest, NotebooksAreSearchedInFoldersThatItMayRead) {
  const auto searches = [this](const std::string& folder) {
    const Json query = {{"contentPattern", {{"pattern", "SECRET"}}},
                        {"folderQueries", {{{"folder", uri(folder)}}}}};
    return deliver("$searchInNotebooks", Json::array({1, query, Json::array()}).dump());
  };
  EXPECT_THAT(searches((folder_ / "work").string()), HasSubstr("SECRET"));
  EXPECT_EQ(searches((folder_ / "home").string()), "");
  ASSERT_EQ(sent_.workbench.size(), 2U);
  EXPECT_THAT(text(sent_.workbench[1]), HasSubstr(R"({"results":[],"limitHit":false})"));
}

}  // namespace
}  // namespace bulkhead::testing
