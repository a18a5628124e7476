// Whose it is what a person sees, and that nobody else's is taken.

#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

TEST_F(BrokerTest, WhatAsksForTextOrAChoiceSaysWhoseItIs) {
  const auto title = [&](const std::string& method, const std::vector<Json>& arguments, size_t i) {
    EXPECT_EQ(call("MainThreadQuickOpen", method, arguments), "passed");
    const auto passed = parse_rpc(sent_.workbench.at(0));
    const Json options = Json::parse(std::get<RpcRequest>(*passed).json).at(i);
    return options.value("title", Json("none")).dump() +
           (options.contains("_title") ? " _title" : "");
  };
  const std::string own = "me.mine (Bulkhead ? Prompts)";
  const std::string asked = "\"" + own + " — Password\"", bare = "\"" + own + "\"";
  EXPECT_EQ(title("$show", {1, Json{{"title", "Password"}}, Json()}, 1), asked);
  EXPECT_EQ(title("$show", {1, Json::object(), Json()}, 1), bare);
  EXPECT_EQ(title("$show", {1}, 1), bare);
  EXPECT_EQ(title("$input", {Json{{"title", "Password"}, {"password", true}}, false}, 0), asked);
  EXPECT_EQ(title("$input", {Json(), false}, 0), bare);
  // Its first update, and those that change the title.
  EXPECT_EQ(title("$createOrUpdate", {Json{{"id", 7}, {"visible", true}}}, 0), bare);
  EXPECT_EQ(title("$createOrUpdate", {Json{{"id", 7}, {"value", "x"}}}, 0), "\"none\"");
  EXPECT_EQ(title("$createOrUpdate", {Json{{"id", 7}, {"title", nullptr}}}, 0), bare);
  EXPECT_EQ(title("$createOrUpdate", {Json{{"id", 7}, {"_title", "Bulkhead asks"}}}, 0),
            "\"none\"");
  EXPECT_EQ(call("MainThreadQuickOpen", "$dispose", {7}), "passed");
  EXPECT_EQ(title("$createOrUpdate", {Json{{"id", 7}, {"visible", true}}}, 0), bare);
  // However the number is spelt: what is gone there is gone here.
  EXPECT_EQ(call(proxy_of("MainThreadQuickOpen"), "$dispose", "[7.0]"), "passed");
  EXPECT_EQ(title("$createOrUpdate", {Json{{"id", 7}, {"visible", true}}}, 0), bare);
  for (int times = 0; times < 2; ++times)
    EXPECT_EQ(title("$createOrUpdate", {Json{{"id", "7"}, {"visible", true}}}, 0), bare);
  // Undefined options make a request mixed.
  RpcRequest mixed;
  mixed.number = ++number_;
  mixed.proxy = proxy_of("MainThreadQuickOpen");
  mixed.method = "$input";
  mixed.mixed = true;
  mixed.arguments = {{RpcArgument::Type::kUndefined, {}, {}},
                     {RpcArgument::Type::kJson, "false", {}}};
  sent_ = {};
  ASSERT_TRUE(broker_->from_host(write_request(mixed), sent_).ok());
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr(own));
  mixed.number = ++number_;
  mixed.method = "$show";
  mixed.arguments = {{RpcArgument::Type::kUndefined, {}, {}}};
  sent_ = {};
  ASSERT_TRUE(broker_->from_host(write_request(mixed), sent_).ok());
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr(own));
}

// A publisher of that name is not us.
TEST_F(BrokerTest, WhoIsCalledLikeBulkheadIsSaidToBeAnExtension) {
  start({"bulkhead.prompts"});
  const Json shown = passed("MainThreadMessageService", "$showMessage",
                            {1, "Allow it?", Json::object(), Json::array()});
  ASSERT_TRUE(shown.is_array());
  EXPECT_EQ(shown[2]["source"]["label"], "extension bulkhead.prompts");
  EXPECT_EQ(shown[2]["source"]["identifier"]["value"], "bulkhead.prompts");
}

// The workbench sets on the object behind it whatever is named, methods too.
TEST_F(BrokerTest, AQuickInputIsToldWhatTheApiTellsIt) {
  const auto passed = [&](const std::string& method, const std::vector<Json>& arguments, size_t i) {
    EXPECT_EQ(call("MainThreadQuickOpen", method, arguments), "passed");
    const auto rpc = parse_rpc(sent_.workbench.at(0));
    return Json::parse(std::get<RpcRequest>(*rpc).json).at(i);
  };
  const Json honest = Json::parse(R"({"id":7,"type":"quickPick","title":"x","step":1,
    "totalSteps":2,"visible":true,"enabled":true,"busy":false,"ignoreFocusOut":true,"value":"v",
    "valueSelection":[0,1],"placeholder":"p","prompt":"q","password":true,"severity":3,
    "validationMessage":"m","buttons":[{"handle":0}],"items":[{"label":"a","handle":0}],
    "activeItems":[0],"selectedItems":[0],"canSelectMany":true,"matchOnDescription":true,
    "matchOnDetail":true,"sortByLabel":true,"keepScrollPosition":true})");
  Json shown = passed("$createOrUpdate", {honest}, 0);
  shown["title"] = "x";
  EXPECT_EQ(shown, honest);
  Json options = Json::parse(R"({"title":"x","placeHolder":"p","prompt":"q","canPickMany":true,
    "matchOnDescription":true,"matchOnDetail":true,"ignoreFocusLost":true})");
  const Json kept = options;
  for (const char* evil :
       {"didHide", "willHide", "update", "ui", "visibleDisposables", "contextKey", "_title", "show",
        "onDidFocus", "quickNavigate", "hideInput", "noValidationMessage", "toString"}) {
    EXPECT_EQ(passed("$createOrUpdate", {Json{{"id", 7}, {evil, 1}}}, 0), (Json{{"id", 7}}))
        << evil;
    options[evil] = "inputFocus";
  }
  shown = passed("$show", {1, options, Json()}, 1);
  shown["title"] = "x";
  EXPECT_EQ(shown, kept);
  // What throws while it is shown would stay behind the next as well.
  for (const Json& odd : {Json{{"validationMessage", Json::object()}}, Json{{"buttons", 1}},
                          Json{{"step", Json::array()}}, Json{{"items", "x"}}}) {
    Json update = odd;
    update["id"] = 7;
    EXPECT_EQ(passed("$createOrUpdate", {update}, 0), (Json{{"id", 7}})) << odd;
  }
}

TEST_F(BrokerTest, ViewsAreThoseThatItDeclaresAlone) {
  const auto fills = [this](const Json& view) {
    return call("MainThreadTreeViews", "$registerTreeViewDataProvider", {view, Json::object()});
  };
  EXPECT_EQ(fills("mine.view"), "passed");
  for (const char* view : {"cloud.view", "workbench.scm", "bulkhead.compartments", "mine", ""})
    EXPECT_NE(fills(view), "passed") << view;
  EXPECT_NE(fills(nullptr), "passed");
  deliver("$deltaExtensions",
          R"([{"toAdd": [{"identifier": {"value": "me.mine"}, "contributes": {"views": {"x":
            [{"id": "mine.late"}, {"id": "bulkhead.late"}, {"id": "vscode.late"},
             {"id": "editor.late"}]}}}]}])");
  for (const char* family : {"mine", "bulkhead", "vscode", "editor"})
    EXPECT_EQ(fills(std::string(family) + ".late") == "passed", std::string(family) == "mine");
  // An extension of the editor's own may have such a name.
  EXPECT_NE(fills("vscode.git.view"), "passed");
  start({"vscode.git"});
  EXPECT_EQ(fills("vscode.git.view"), "passed");
  EXPECT_NE(fills("mine.view"), "passed");
}

TEST_F(BrokerTest, WhatOthersDeclareIsNotTakenOver) {
  const auto takes = [this](const Json& name) {
    return call("MainThreadTimeline", "$registerTimelineProvider", {name});
  };
  EXPECT_EQ(takes({{"id", "mine"}}), "passed");
  for (const char* name : {"cloud", "cloud.panel", "cloud.editor", "cloud.view"}) {
    EXPECT_NE(takes(name), "passed") << name;
    EXPECT_NE(takes({{"id", name}}), "passed") << name;
  }
}

TEST_F(BrokerTest, AWayToSignInIsFilledByWhoDeclaresItAlone) {
  start({"me.mine"}, nullptr, R"("authentication","window")");
  for (const char* method :
       {"$registerAuthenticationProvider", "$unregisterAuthenticationProvider"}) {
    const auto takes = [&](const Json& name) {
      return call("MainThreadAuthentication", method, {name});
    };
    EXPECT_EQ(takes("mine.login"), "passed");
    EXPECT_EQ(takes({{"id", "mine.login"}}), "passed");
    for (const char* name : {"cloud", "undeclared", "mine.view", ""}) {
      EXPECT_NE(takes(name), "passed") << name;
      EXPECT_NE(takes({{"id", name}}), "passed") << name;
    }
    EXPECT_NE(takes(nullptr), "passed");
  }
  // The same by the ways that no extension's API takes.
  const Json cloud = {{"id", "cloud"}, {"providerId", "cloud"}, {"path", "/did-authenticate"}};
  for (const char* method :
       {"$registerDynamicAuthenticationProvider", "$sendDidChangeDynamicProviderInfo",
        "$setSessionsForDynamicAuthProvider", "$waitForUriHandler", "$removeSession",
        "$promptForClientRegistration", "$showContinueNotification"})
    EXPECT_NE(call("MainThreadAuthentication", method, {cloud, "x"}), "passed") << method;
  // "Allow X to open this address?"
  const Json id = {{"value", "Me.Mine"}, {"_lower", "me.mine"}};
  EXPECT_EQ(call("MainThreadUrls", "$registerUriHandler", {1, id, "GitHub"}), "passed");
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr("\"me.mine (Bulkhead ? Prompts)\""));
  // "The extension X wants to sign in"
  const std::vector<Json> signs = {"mine.login", Json::array({"read"}), "me.mine", "GitHub",
                                   Json::object()};
  EXPECT_EQ(call("MainThreadAuthentication", "$getSession", signs), "passed");
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr("\"me.mine (Bulkhead ? Prompts)\""));
  EXPECT_THAT(text(sent_.workbench.at(0)), Not(HasSubstr("GitHub")));
}

TEST_F(BrokerTest, DialogsSayWhoseTheyAre) {
  start({"me.mine"}, nullptr, R"("window")");
  for (const char* method : {"$showOpenDialog", "$showSaveDialog"}) {
    EXPECT_EQ(call("MainThreadDialogs", method, {Json{{"title", "Your key"}}}), "passed");
    EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr("me.mine (Bulkhead ? Prompts) — Your key"));
    EXPECT_EQ(call("MainThreadDialogs", method, {nullptr}), "passed");
    EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr("me.mine (Bulkhead ? Prompts)"));
  }
}

TEST_F(BrokerTest, OutputIsItsOwn) {
  start({"me.mine"}, nullptr, R"("window")");
  for (const char* method : {"$update", "$reveal", "$close", "$dispose"}) {
    for (const char* own :
         {"extension-output-me.mine-#1-Log", "extension-output-Me.Mine-#2-", "me.mine.Log.log"})
      EXPECT_EQ(call("MainThreadOutputService", method, {own, 1, 0}), "passed") << own;
    for (const char* others :
         {"extension-output-cloud.other-#1-Log", "cloud.other.Log.log", "me.mine-two.log",
          "extension-output-me.mine-two-#1-x", "rendererLog", ""})
      EXPECT_NE(call("MainThreadOutputService", method, {others, 1, 0}), "passed") << others;
    EXPECT_NE(call("MainThreadOutputService", method, {nullptr}), "passed");
  }
}

TEST_F(BrokerTest, ATunnelLeadsToThisMachine) {
  start({"me.mine"}, nullptr, R"("tunnels")");
  const auto opens = [this](const Json& host) {
    return call("MainThreadTunnelService", "$openTunnel",
                {Json{{"remoteAddress", {{"host", host}, {"port", 80}}}}, "x"});
  };
  for (const char* here : {"localhost", "127.0.0.1", "::1"}) EXPECT_EQ(opens(here), "passed");
  for (const char* there :
       {"192.168.0.1", "169.254.169.254", "example.org", "127.0.0.1.example.org", ""})
    EXPECT_NE(opens(there), "passed") << there;
  EXPECT_NE(opens(nullptr), "passed");
  EXPECT_NE(call("MainThreadTunnelService", "$openTunnel", {nullptr, "x"}), "passed");
}

// A page in the text, whose options name the folders that it may load from.
TEST_F(BrokerTest, ThereAreNoInsets) {
  start({"me.mine"}, nullptr, R"("webview","window")");
  const Json options = {
      {"id", "me.mine"}, {"enableScripts", true}, {"localResourceRoots", Json::array({uri("/")})}};
  EXPECT_NE(call("MainThreadEditorInsets", "$createEditorInset",
                 {1, "editor", uri(work("a.txt")), 1, 9, options, "me.mine", uri(work(""))}),
            "passed");
  EXPECT_NE(call("MainThreadEditorInsets", "$setOptions", {1, options}), "passed");
  EXPECT_NE(call("MainThreadEditorInsets", "$setHtml", {1, "<script>"}), "passed");
}

// The window has one list of status items, and every host counts its own from 0.
TEST_F(BrokerTest, StatusItemsAreTheirExtensionsAndSaySo) {
  const std::string whose = "me.mine (Bulkhead ? Prompts)";
  const auto shown = [&](const std::vector<Json>& arguments) {
    EXPECT_EQ(call("MainThreadStatusBar", "$setEntry", arguments), "passed");
    const auto request = parse_rpc(sent_.workbench.at(0));
    return Json::parse(std::get<RpcRequest>(*request).json);
  };
  const Json said = {{"label", "Bulkhead: all is well"}, {"role", "button"}};
  Json item = shown({"0", "status.extensionMessage", nullptr, "Bulkhead", "$(shield) 3", "Fine",
                     false, nullptr, nullptr, nullptr, true, 1, said});
  EXPECT_EQ(item[0], "me.mine/0");
  EXPECT_EQ(item[1], "me.mine.status.extensionMessage");
  EXPECT_EQ(item[2], "me.mine");
  EXPECT_EQ(item[3], "me.mine (Bulkhead)");
  EXPECT_EQ(item[5], whose + "\n\nFine");
  EXPECT_EQ(item[12]["label"], whose + ", Bulkhead: all is well");
  EXPECT_EQ(item[12]["role"], "button");
  // Given back by the workbench, they are signed once.
  const std::vector<Json> again(item.begin() + 1, item.end());
  item = shown({"me.mine.y", again[0], again[1], again[2], again[3], again[4], again[5], again[6],
                again[7], again[8], again[9], again[10], again[11]});
  EXPECT_EQ(std::vector<Json>(item.begin() + 1, item.end()), again);
  item = shown({"me.mine.x",
                "me.mine.x",
                "cloud.other",
                "Mine (Extension)",
                "text",
                {{"value", "<!-- **Fine**"}, {"isTrusted", false}}});
  EXPECT_EQ(item[0], "me.mine.x");
  EXPECT_EQ(item[2], "me.mine");
  EXPECT_EQ(item[3], "me.mine (Mine)");
  EXPECT_EQ(item[5]["value"], "me.mine\n\n<!-- **Fine**");
  EXPECT_EQ(shown({"bulkhead.companion.bulkhead.status"})[0],
            "me.mine/bulkhead.companion.bulkhead.status");
  for (const char* theirs : {"me.mined.x", "abc.def.x"})
    EXPECT_EQ(shown({theirs})[0], std::string("me.mine/") + theirs);
  EXPECT_EQ(shown({"1", "x", "me.mine", std::string(300, 'x')})[3],
            "me.mine (" + std::string(40, 'x') + ")");
  EXPECT_EQ(shown({"1"})[5], whose) << "also where it says nothing";
  EXPECT_EQ(call("MainThreadStatusBar", "$disposeEntry", {"0"}), "passed");
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr(R"(["me.mine/0"])"));
}

// Where an argument is undefined, as the extension of a message in the status bar.
TEST_F(BrokerTest, StatusItemsOfAnyFormSaySo) {
  sent_ = {};
  RpcRequest request;
  request.number = ++number_;
  request.proxy = proxy_of("MainThreadStatusBar");
  request.method = "$setEntry";
  request.mixed = true;
  for (const char* json : {R"("0")", "", "", R"("Name")", R"("text")", ""})
    request.arguments.push_back(*json == 0 ? RpcArgument{}
                                           : RpcArgument{RpcArgument::Type::kJson, json, {}});
  ASSERT_TRUE(broker_->from_host(write_request(request), sent_).ok());
  ASSERT_EQ(sent_.workbench.size(), 1U);
  const auto passed = parse_rpc(sent_.workbench[0]);
  const auto& arguments = std::get<RpcRequest>(*passed).arguments;
  ASSERT_EQ(arguments.size(), 6U);
  EXPECT_EQ(arguments[0].json, R"("me.mine/0")");
  EXPECT_EQ(arguments[1].json, R"("me.mine")");
  EXPECT_EQ(arguments[2].json, R"("me.mine")");
  EXPECT_EQ(arguments[3].json, "\"me.mine (Name)\"");
  EXPECT_EQ(arguments[5].json, "\"me.mine (Bulkhead ? Prompts)\"");
}

// A name that others could have too is told from theirs: a host could empty their lists.
TEST_F(BrokerTest, CollectionsOfProblemsAreToldFromOtherHosts) {
  for (const char* method : {"$changeMany", "$clear"}) {
    for (const char* name : {"_generated_0", "cloud", "shared", "git", "eslint"}) {
      EXPECT_EQ(call("MainThreadDiagnostics", method, {name, Json::array({1})}), "passed");
      EXPECT_THAT(text(sent_.workbench.at(0)),
                  HasSubstr(Json({std::string("me.mine/") + name, {1}}).dump()));
    }
    EXPECT_EQ(call("MainThreadDiagnostics", method, {"mine", Json::array({1})}), "passed");
    EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr(R"(["mine",[1]])"))
        << "a task's problems take the place of its own";
  }
}

TEST_F(BrokerTest, ProblemsThatCannotBeReadDoNotPassUnderAnotherName) {
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  EXPECT_NE(call(proxy_of("MainThreadDiagnostics"), "$changeMany", R"(["cloud",)" + deep + "]"),
            "passed");
}

// Every host registers all debuggers that there are, and the last one has them.
TEST_F(BrokerTest, NobodyIsTheDebuggerOfOthersPrograms) {
  EXPECT_EQ(call("MainThreadDebugService", "$registerDebugTypes",
                 {Json::array({"mine", "node", "php", 1})}),
            "passed");
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr(R"([["mine"]])"));
}

TEST_F(BrokerTest, NotebooksOfATypeOfOthersAreNotRead) {
  const auto reads = [this](const Json& type) {
    return call("MainThreadNotebook", "$registerNotebookSerializer", {1, Json::object(), type});
  };
  EXPECT_EQ(reads("mine"), "passed");
  EXPECT_NE(reads("jupyter-notebook"), "passed");
}

TEST_F(BrokerTest, ChatStatusItemsSayWhoseTheyAre) {
  const auto shown = [&](const Json& title) {
    EXPECT_EQ(call("MainThreadChatStatus", "$setEntry", {"id", Json{{"title", title}}}), "passed");
    return text(sent_.workbench.at(0));
  };
  for (const Json& title : {Json("Signed out"), Json{{"label", "Signed out"}}})
    EXPECT_THAT(shown(title), HasSubstr("me.mine (Bulkhead ? Prompts) — Signed out"));
}

TEST_F(BrokerTest, AStatusItemRunsItsOwnCommandsOnly) {
  const auto shown = [&](const Json& command) {
    EXPECT_EQ(call("MainThreadStatusBar", "$setEntry",
                   {"0", "x", "me.mine", "Mine", "text", nullptr, false, command}),
              "passed");
    return text(sent_.workbench.at(0));
  };
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  for (const char* id : {"mine.hello", "workbench.action.terminal.sendSequence"}) {
    const bool own = std::string(id) == "mine.hello";
    EXPECT_EQ(shown(Json{{"id", id}, {"title", "x"}}).find(id) != std::string::npos, own) << id;
    EXPECT_EQ(shown(id).find(id) != std::string::npos, own) << id;
  }
}

TEST_F(BrokerTest, TooltipsOfStatusItemsComeBackSigned) {
  EXPECT_THAT(deliver("$provideTooltip", R"(["me.mine/3"])"), HasSubstr(R"(["3"])"));
  EXPECT_THAT(answer({{"value", "Bulkhead"}}), HasSubstr(R"({"value":"me.mine\n\nBulkhead"})"));
}

TEST_F(BrokerTest, StatusItemsOfOthersDoNotComeIn) {
  RpcRequest request;
  request.method = "$acceptStaticEntries";
  request.json =
      R"([[{"entryId":"cloud.other.account","text":"SECRET"},{"entryId":"0","text":"SECRET"},
                      {"entryId":"me.mine.x","text":"own"}]])";
  ASSERT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
  EXPECT_EQ(text(sent_.host.at(0)).find("SECRET"), std::string::npos);
  EXPECT_THAT(text(sent_.host.at(0)), HasSubstr("own"));
}

TEST_F(BrokerTest, ALanguagesStatusSaysWhoseItIs) {
  start({"me.mine"}, nullptr, R"("languages")");
  const auto status = [&](const Json& said) {
    return passed("MainThreadLanguages", "$setLanguageStatus", {1, said}).at(1);
  };
  const std::string label = "me.mine (Bulkhead ? Prompts)";
  const Json forged = status({{"id", "cloud.other/sync"},
                              {"source", "Cloud"},
                              {"name", "Cloud"},
                              {"label", "x"},
                              {"detail", "signed in"},
                              {"command", {{"id", "mine.hello"}, {"tooltip", "Cloud"}}},
                              {"accessibilityInfo", {{"label", "Cloud"}}}});
  EXPECT_EQ(forged["id"], "me.mine/cloud.other/sync");
  EXPECT_EQ(forged["source"], label);
  EXPECT_EQ(forged["name"], "me.mine (Cloud)");
  EXPECT_EQ(forged["detail"], "me.mine — signed in");
  EXPECT_EQ(forged["accessibilityInfo"]["label"], label + " — Cloud");
  EXPECT_EQ(
      status({{"id", "x"}, {"detail", "see ![a](https://e.org/?b) [c](https://e.org)"}})["detail"],
      "me.mine — see [a](https://e.org/?b) [c](https://e.org)");
  EXPECT_NE(forged["command"].value("tooltip", ""), "Cloud");
  EXPECT_EQ(status({{"id", "Me.Mine/sync"}, {"source", "Cloud"}})["id"], "Me.Mine/sync");
  EXPECT_EQ(status({{"id", Json::array({"me.mine/sync"})}})["source"], label);
}

}  // namespace
}  // namespace bulkhead::testing
