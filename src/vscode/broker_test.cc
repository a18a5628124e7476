// The broker against a policy, message by message. Each attack has its allowed twin, so that a
// broker that refuses everything fails too.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

TEST_F(BrokerTest, FilesAreJudgedByWhatTheyAre) {
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {uri(work("a.txt"))}), "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {uri(work("not-there"))}), "passed");
  const std::string key = (folder_ / "home/.ssh/id_rsa").string();
  EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {uri(key)}), HasSubstr("NoPermissions"));
  EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {uri(key, "file")}),
              HasSubstr("NoPermissions"));
  EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {uri(work("link"))}),
              HasSubstr("NoPermissions"));
  EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {uri(work("../home/.ssh/id_rsa"))}),
              HasSubstr("NoPermissions"));
  EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {Json("/a/string")}),
              HasSubstr("NoPermissions"));
  EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {}), HasSubstr("NoPermissions"));
  EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {uri("/x", "other-extensions-scheme")}),
              HasSubstr("is not this extension's"));
  Json elsewhere = uri(work("a.txt"));
  elsewhere["authority"] = "another:2";
  EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {elsewhere}), HasSubstr("NoPermissions"));
}

TEST_F(BrokerTest, CachedSpellingsAreNotBelieved) {
  Json lie = uri(work("a.txt"));
  lie["fsPath"] = "/etc/shadow";
  lie["external"] = "file:///etc/shadow";
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {lie}), "passed");
  const std::string passed(sent_.workbench.at(0).begin(), sent_.workbench.at(0).end());
  EXPECT_EQ(passed.find("shadow"), std::string::npos) << passed;
  EXPECT_NE(passed.find("a.txt"), std::string::npos);
}

// Each is the same to a reader as "fsPath": {"work/a.txt"} with a lie in it.

TEST_F(BrokerTest, ACachedSpellingIsFoundHoweverItIsWritten) {
  const std::string head =
      R"([{"scheme":"vscode-remote","authority":"host:1","path":")" + work("a.txt") + R"(",)";
  for (const std::string lie :
       {R"("$mid":1,"fsPath":"/etc/shadow")", R"("fsPath":"/etc/shadow")",
        R"("fs\u0050ath":"/etc/shadow")", R"("\u0066sPath":"/etc/shadow","$mid":1)",
        R"("fsPath" : "/etc/shadow")", R"("fsPath":"/etc/a","fsPath":"/etc/shadow")",
        R"("ex\u0074ernal":"file:///etc/shadow")"}) {
    ASSERT_EQ(call(1, "$readFile", head + lie + "}]"), "passed") << lie;
    EXPECT_EQ(text(sent_.workbench.at(0)).find("/etc/"), std::string::npos) << lie;
    EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr("a.txt"));
  }
  // What JSON escapes of itself is no reason to write a message anew.
  ASSERT_EQ(call(1, "$readFile", head + R"("query":"\u001b\n"}]  )"), "passed");
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr("}]  "));
}

TEST_F(BrokerTest, DotDotMeansOneFileOrNone) {
  fs::create_directories(folder_ / "work/deep/er/folder");
  fs::create_directories(folder_ / "work/deep/home/.ssh");
  std::ofstream(folder_ / "work/deep/home/.ssh/id_rsa") << "decoy";
  fs::create_symlink(folder_ / "work/deep/er/folder", folder_ / "work/short");
  // The kernel: work/deep/home/.ssh/id_rsa. By name: home/.ssh/id_rsa.
  EXPECT_NE(call("MainThreadFileSystem", "$readFile", {uri(work("short/../../home/.ssh/id_rsa"))}),
            "passed");
  EXPECT_NE(call("MainThreadFileSystem", "$readFile", {uri(work("short/../../home/.ssh/new"))}),
            "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {uri(work("deep/../a.txt"))}), "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {uri(work("deep/er/../new"))}), "passed");
}

TEST_F(BrokerTest, CostlyArgumentsAreRefused) {
  const auto nested = [](size_t depth) {
    return "[" + std::string(depth, '[') + std::string(depth, ']') + "]";
  };
  EXPECT_THAT(call(1, "$readFile", nested(100000)), HasSubstr("cannot be read"));
  std::string wide = R"([{"x":0)";
  for (int i = 0; i < 30000; ++i) wide += ",\"k" + std::to_string(i) + "\":0";
  EXPECT_THAT(call(1, "$readFile", wide + "}]"), HasSubstr("cannot be read"));
  RpcRequest mixed;
  mixed.number = ++number_;
  mixed.proxy = 1;
  mixed.method = "$readFile";
  mixed.mixed = true;
  const std::string deep = nested(1000);
  mixed.arguments = {{RpcArgument::Type::kJson, deep, {}}};
  sent_ = {};
  ASSERT_TRUE(broker_->from_host(write_request(mixed), sent_).ok());
  EXPECT_THAT(text(sent_.host.at(1)), HasSubstr("cannot be read"));
  // Beside the argument that is judged, and where none is: nobody builds it.
  const std::string good = uri(work("a.txt")).dump();
  EXPECT_EQ(call(1, "$readFile", "[" + good + "," + nested(100) + "]"), "passed");
}

// VS Code reads what our reader does not: bytes that are no UTF-8, trees of any size.

TEST_F(BrokerTest, WhatCannotBeCleanedDoesNotPass) {
  const std::string lie = R"({"scheme":"file","path":"/a","fsPath":"/etc/shadow"})";
  const auto log = [&](const std::string& beside) {
    const std::string file = uri((folder_ / "logs/me.log").string()).dump();
    return call(10, "$log", "[" + file + "," + lie + "," + beside + "]");
  };
  EXPECT_EQ(log("1"), "passed");
  EXPECT_EQ(text(sent_.workbench.at(0)).find("shadow"), std::string::npos);
  EXPECT_THAT(log("\"\xff\""), HasSubstr("cannot be read"));
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  EXPECT_THAT(log(deep), HasSubstr("cannot be read"));
  // The same of a reply: the workbench gets an error, and goes on.
  const auto reply = [&](const std::string& json) {
    deliver("$provideCodeLenses", "[1]");
    RpcReply shown;
    shown.type = RpcType::kReplyOkJson;
    shown.number = asked_;
    shown.json = json;
    sent_ = {};
    EXPECT_TRUE(broker_->from_host(write_reply(shown), sent_).ok());
    return std::get<RpcReply>(*parse_rpc(sent_.workbench.at(0)));
  };
  const std::string link = R"j({"value":"[x](command:evil)","isTrusted":true})j";
  EXPECT_EQ(reply("[" + link + "]").type, RpcType::kReplyOkJson);
  const auto refused = [&](const std::string& beside) {
    const RpcReply answer = reply("[" + link + "," + beside + "]");
    EXPECT_EQ(answer.type, RpcType::kReplyErrorEmpty);
    EXPECT_EQ(answer.number, asked_);
  };
  refused("\"\xff\"");
  refused(deep);
}

TEST_F(BrokerTest, LongContentIsPassedOnAndNamesBesideItAreJudged) {
  const std::string content(100000, 'x');
  const auto edit = [&](const std::string& path) {
    return std::vector<Json>{
        Json{{"edits", Json::array({Json{{"text", content}, {"resource", uri(path)}}})}}};
  };
  EXPECT_EQ(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit", edit(work("b.txt"))), "passed");
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr(content));
  EXPECT_NE(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
                 edit((folder_ / "home/.bashrc").string())),
            "passed");
  EXPECT_NE(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit", edit("/" + content)), "passed");
}

// A file called ".git" tells git which folder to look into instead.
TEST_F(BrokerTest, WhereABlockExpectsAFolderNoFileIsWritten) {
  const auto ask = [&](const char* method, const char* name) {
    return call("MainThreadFileSystem", method, {uri(work(name))});
  };
  const auto edit = [&](const char* key, const char* name) {
    return call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
                {Json{{"edits", {{{key, uri(work(name))}}}}}});
  };
  EXPECT_EQ(ask("$writeFile", "new.txt"), "passed");
  EXPECT_EQ(edit("newResource", "new.txt"), "passed");
  fs::create_directories(folder_ / "work/sub");
  EXPECT_THAT(ask("$writeFile", "sub/.tool"), HasSubstr("blocked path lies in it, or would"));
  EXPECT_THAT(edit("newResource", "sub/.tool"), HasSubstr("blocked path lies in it, or would"));
  EXPECT_THAT(edit("resource", "sub/.tool"), HasSubstr("blocked path lies in it, or would"));
  EXPECT_EQ(ask("$mkdir", "sub/.tool"), "passed");
  fs::create_directories(folder_ / "work/sub/.tool");
  EXPECT_EQ(ask("$writeFile", "sub/.tool/index"), "passed");
  EXPECT_THAT(ask("$writeFile", "sub/.tool/hooks"), HasSubstr("NoPermissions"));
}

TEST_F(BrokerTest, ATreeIsNotMovedWithLinksThatWouldLeadElsewhere) {
  fs::create_directories(folder_ / "work/tree/sub");
  fs::create_symlink("../a.txt", folder_ / "work/tree/sub/inside");
  const auto move = [&](const std::string& from, const std::string& to) {
    return call("MainThreadFileSystem", "$rename",
                {uri(work(from)), uri(work(to)), Json::object()});
  };
  const auto edit = [&](const std::string& from, const std::string& to) {
    return call(
        "MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
        {Json{{"edits", {{{"oldResource", uri(work(from))}, {"newResource", uri(work(to))}}}}}});
  };
  EXPECT_EQ(move("tree", "tree2"), "passed");
  EXPECT_EQ(edit("tree", "tree2"), "passed");
  EXPECT_EQ(move("a.txt", "b.txt"), "passed");
  for (const char* target : {"../../a.txt", "../../../home/.ssh", "/etc", "sub/../x"}) {
    fs::create_symlink(target, folder_ / "work/tree/sub/link");
    EXPECT_THAT(move("tree", "tree2"), HasSubstr("symbolic link")) << target;
    EXPECT_THAT(edit("tree", "tree2"), HasSubstr("symbolic link")) << target;
    fs::remove(folder_ / "work/tree/sub/link");
  }
  fs::create_symlink("a.txt", folder_ / "work/alone");
  EXPECT_THAT(move("alone", "tree/alone"), HasSubstr("symbolic link"));
  EXPECT_NE(move("tree", ".git"), "passed") << "and its hooks";
  fs::path deep = folder_ / "work/deep";
  for (int i = 0; i < 250; ++i) deep /= "d";
  fs::create_directories(deep);
  EXPECT_THAT(move("deep", "deep2"), HasSubstr("cannot all be looked at"));
}

TEST_F(BrokerTest, ANumberStandsForOneRequest) {
  ASSERT_EQ(call("MainThreadFileSystem", "$readFile", {uri(work("a.txt"))}), "passed");
  RpcRequest request;
  request.number = number_;
  request.proxy = 1;
  request.method = "$readFile";
  request.json = "[]";
  EXPECT_FALSE(broker_->from_host(write_request(request), sent_).ok());
}

TEST_F(BrokerTest, AFolderAboveABlockedPathIsNotRemoved) {
  EXPECT_EQ(call("MainThreadFileSystem", "$delete", {uri(work("a.txt")), Json::object()}),
            "passed");
  EXPECT_NE(
      call("MainThreadFileSystem", "$delete", {uri((folder_ / "work").string()), Json::object()}),
      "passed");
  EXPECT_NE(call("MainThreadFileSystem", "$delete", {uri(work(".git")), Json::object()}), "passed");
}

TEST_F(BrokerTest, PermissionsDecide) {
  EXPECT_THAT(call("MainThreadTask", "$executeTask", {Json::object()}),
              HasSubstr("no permission \"tasks\""));
  EXPECT_THAT(call("MainThreadWindow", "$openUri", {uri("/", "https")}),
              HasSubstr("open-external"));
}

TEST_F(BrokerTest, NestedResourcesAreJudgedBesideTheirHolder) {
  const Json good = uri(work("a.txt"));
  const Json bad = uri((folder_ / "home/.ssh").string());
  const auto search = [&](const Json& folder) {
    return call("MainThreadWorkspace", "$startFileSearch", {folder, Json::object()});
  };
  EXPECT_EQ(search(nullptr), "passed");
  EXPECT_EQ(search(good), "passed");
  EXPECT_EQ(search(Json{{"uri", good}, {"pattern", "*"}}), "passed");
  Json lie = bad;
  lie["uri"] = good;
  Json other = good;
  other["uri"] = bad;
  for (const Json& refused : {bad, lie, other, Json{{"uri", bad}}, Json{{"baseUri", bad}},
                              Json{{"uri", good}, {"baseUri", bad}}, Json::object(), Json("/etc")})
    EXPECT_NE(search(refused), "passed") << refused;
  const Json log = uri((folder_ / "logs/me.log").string());
  const auto logger = [&](const Json& value) {
    return call("MainThreadLogger", "$registerLogger", {value});
  };
  EXPECT_EQ(logger(Json{{"resource", log}, {"id", "me.mine.x"}}), "passed");
  EXPECT_EQ(logger(log), "passed");
  lie = log;
  lie["resource"] = bad;
  other = bad;
  other["resource"] = log;
  for (const Json& refused : {Json{{"resource", bad}}, lie, other, Json{{"id", "x"}}, Json()})
    EXPECT_NE(logger(refused), "passed") << refused;
}

TEST_F(BrokerTest, AnotherExtensionsSecretsAreOutOfReach) {
  EXPECT_EQ(call("MainThreadSecretState", "$getPassword", {"me.mine", "token"}), "passed");
  EXPECT_EQ(call("MainThreadSecretState", "$getPassword", {"ME.Mine", "token"}), "passed");
  EXPECT_NE(call("MainThreadSecretState", "$getPassword", {"vscode.github", "token"}), "passed");
  EXPECT_NE(call("MainThreadSecretState", "$getPassword",
                 {Json{{"value", "vscode.github"}, {"_lower", "me.mine"}}, "t"}),
            "passed");
  // VS Code compares _lower, and reads id where it expects a description.
  for (const Json& lie : {Json{{"value", "me.mine"}, {"_lower", "vscode.github"}},
                          Json{{"value", "me.mine"}, {"id", "vscode.github"}},
                          Json{{"id", Json{{"value", "me.mine"}, {"_lower", "vscode.github"}}}},
                          Json{{"name", "me.mine"}}, Json::object(), Json()})
    EXPECT_NE(call("MainThreadSecretState", "$getPassword", {lie, "t"}), "passed") << lie;
  EXPECT_EQ(call("MainThreadSecretState", "$getPassword",
                 {Json{{"id", Json{{"value", "Me.mine"}, {"_lower", "me.mine"}}}}, "t"}),
            "passed");
}

TEST_F(BrokerTest, EveryResourceOfAnEditIsJudged) {
  const auto edit = [&](const std::string& key, const std::string& path) {
    Json edits = Json::array();
    edits.push_back({{"resource", uri(work("a.txt"))}});
    edits.push_back({{key, uri(path)}});
    return std::vector<Json>{Json{{"edits", std::move(edits)}}};
  };
  EXPECT_EQ(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit", edit("resource", work("b.txt"))),
            "passed");
  for (const char* key : {"resource", "oldResource", "newResource"})
    EXPECT_NE(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
                   edit(key, (folder_ / "home/.bashrc").string())),
              "passed")
        << key;
  EXPECT_NE(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
                 std::vector<Json>{Json{{"edits", Json::array({Json{{"other", 1}}})}}}),
            "passed");
  EXPECT_NE(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit", {Json()}), "passed");
  const Json moves = {{"oldResource", uri(work("a.txt"))}, {"newResource", uri(work("b.txt"))}};
  for (const char* then : {"c.txt", ".git/config"})
    EXPECT_EQ(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
                   {Json{{"edits", {moves, {{"resource", uri(work(then))}}}}}}) == "passed",
              std::string(then) == "c.txt");
}

TEST_F(BrokerTest, AnArgumentThatIsATextOfItsOwnIsJudgedAsWell) {
  for (const std::string& path : {work("a.txt"), (folder_ / "home/.ssh").string()}) {
    const std::string folder = uri(path).dump();
    RpcRequest search;
    search.number = ++number_;
    search.proxy = proxy_of("MainThreadWorkspace");
    search.method = "$startFileSearch";
    search.mixed = true;
    search.arguments = {{RpcArgument::Type::kJson, folder, {}},
                        {RpcArgument::Type::kJson, "{}", {}}};
    sent_ = {};
    ASSERT_TRUE(broker_->from_host(write_request(search), sent_).ok());
    EXPECT_EQ(sent_.workbench.size(), path == work("a.txt") ? 1U : 0U);
  }
}

TEST_F(BrokerTest, WhatIsOpenedOutsideIsAnAddress) {
  start({"me.mine"}, nullptr, R"("open-external")");
  for (const char* method : {"$openUri", "$asExternalUri"}) {
    const auto opens = [&](const Json& address) {
      return call("MainThreadWindow", method, {address, Json::object()});
    };
    for (const char* scheme : {"http", "https", "HTTPS", "mailto"}) {
      Json address = uri("/x", scheme);
      address["authority"] = "example.com";
      EXPECT_EQ(opens(address), "passed") << scheme;
    }
    for (const char* scheme : {"file", "vscode-remote", "vscode", "command", "ssh"})
      EXPECT_THAT(opens(uri("/x", scheme)), HasSubstr("only http")) << scheme;
    EXPECT_THAT(opens(nullptr), HasSubstr("not an address"));
  }
}

TEST_F(BrokerTest, APageLoadsWhatItsExtensionMayRead) {
  start({"me.mine"}, nullptr, R"("webview")");
  const auto shows = [this](const Json& options) {
    std::string one = call("MainThreadWebviews", "$setOptions", {"1", options});
    EXPECT_EQ(call("MainThreadWebviewPanels", "$createWebviewPanel",
                   {"me.mine", "1", "mine.page", Json{{"webviewOptions", options}}}),
              one);
    return one;
  };
  EXPECT_EQ(shows({{"enableScripts", true}}), "passed");
  const Json own = uri(work("")), key = uri((folder_ / "home/.ssh").string());
  EXPECT_EQ(shows({{"localResourceRoots", {own}}}), "passed");
  EXPECT_THAT(shows({{"localResourceRoots", {own, key}}}), HasSubstr("NoPermissions"));
  const Json ports = Json::array({{{"webviewPort", 80}, {"extensionHostPort", 80}}});
  EXPECT_THAT(shows({{"portMapping", ports}}), HasSubstr("\"tunnels\""));
  start({"me.mine"}, nullptr, R"("webview","tunnels")");
  EXPECT_EQ(shows({{"portMapping", ports}}), "passed");
  EXPECT_THAT(shows({{"portMapping", ports}, {"localResourceRoots", {key}}}),
              HasSubstr("NoPermissions"));
}

TEST_F(BrokerTest, APageThatTheBrowserDoesNotKeepOffTheNetworkIsAnotherPermission) {
  const auto creates = [this] {
    return call("MainThreadWebviewPanels", "$createWebviewPanel",
                {"me.mine", "1", "mine.page", Json{{"webviewOptions", Json::object()}}});
  };
  start({"me.mine"}, nullptr, R"("@editor")");
  EXPECT_EQ(creates(), "passed");
  keeps_pages_ = false;
  start({"me.mine"}, nullptr, R"("@editor")");
  EXPECT_THAT(creates(), HasSubstr("\"webview-network\""));
  EXPECT_THAT(call("MainThreadWebviews", "$setHtml", {"1", "<p>"}),
              HasSubstr("\"webview-network\""));
  start({"me.mine"}, nullptr, R"("@editor","webview-network")");
  EXPECT_EQ(creates(), "passed");
  start({"me.mine"}, nullptr, R"("webview-network")");
  EXPECT_THAT(creates(), HasSubstr("\"webview\""));
}

TEST_F(BrokerTest, WhatIsRegisteredAtTheStartIsNotAskedAbout) {
  struct : Asker {
    Answer ask(const Question&) override {
      ++asked;
      return Answer::kThisRun;
    }
    void cancel() noexcept override {}
    int asked = 0;
  } asker;
  start({"me.mine"}, &asker);
  EXPECT_EQ(call("MainThreadTerminalService", "$setEnvironmentVariableCollection", {}), "quiet");
  EXPECT_EQ(call("MainThreadFileSystem", "$watch", {uri("/etc")}), "quiet");
  EXPECT_EQ(call("MainThreadFileSystem", "$watch", {uri(work("a.txt"))}), "passed");
  EXPECT_EQ(asker.asked, 0);
  broker_.reset();  // before who answers
}

TEST_F(BrokerTest, WhatTheEditorWroteForEverybodyIsRead) {
  const auto of_editor = [this](const char* authority) {
    Json resource = uri("/x.json", "vscode");
    resource["authority"] = authority;
    return resource;
  };
  for (const char* authority : {"schemas", "schemas-associations", "defaultsettings"}) {
    EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {of_editor(authority)}), "passed");
    EXPECT_NE(call("MainThreadFileSystem", "$delete", {of_editor(authority)}), "passed");
  }
  for (const char* authority : {"", "settings", "SCHEMAS", "host:1"})
    EXPECT_NE(call("MainThreadFileSystem", "$readFile", {of_editor(authority)}), "passed");
}

TEST_F(BrokerTest, GitsSchemeIsGitsAlone) {
  EXPECT_NE(call("MainThreadFileSystem", "$registerFileSystemProvider", {1, "git", 2}), "passed");
  start({"vscode.git"});
  EXPECT_EQ(call("MainThreadFileSystem", "$registerFileSystemProvider", {1, "git", 2}), "passed");
  EXPECT_NE(call("MainThreadFileSystem", "$registerFileSystemProvider", {1, "vscode", 2}),
            "passed");
}

TEST_F(BrokerTest, TakeoversAreAnsweredQuietly) {
  EXPECT_EQ(call("MainThreadSearch", "$registerFileSearchProvider", {1, "file"}), "quiet");
  EXPECT_NE(call("MainThreadFileSystem", "$registerFileSystemProvider", {1, "vscode-remote", 2}),
            "passed");
  EXPECT_NE(call("MainThreadFileSystem", "$registerFileSystemProvider", {1, "FILE", 2}), "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$registerFileSystemProvider", {1, "mine", 2}), "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {uri("/x", "mine")}), "passed");
}

TEST_F(BrokerTest, LogsStayInTheLogFolder) {
  EXPECT_EQ(
      call("MainThreadLogger", "$log", {uri((folder_ / "logs/me.log").string()), Json::array()}),
      "passed");
  EXPECT_NE(call("MainThreadLogger", "$log",
                 {uri((folder_ / "logs/../work/a.txt").string()), Json::array()}),
            "passed");
  EXPECT_NE(call("MainThreadLogger", "$log", {uri(work("a.txt")), Json::array()}), "passed");
  for (const char* method : {"$createLogger", "$deregisterLogger", "$flush", "$setVisibility"})
    EXPECT_NE(call("MainThreadLogger", method, {uri(work("a.txt"))}), "passed") << method;
  EXPECT_NE(call("MainThreadLogger", "$log",
                 {uri((folder_ / "logs/me.log").string(), "vscode-userdata"), Json::array()}),
            "passed");
}

TEST_F(BrokerTest, UnknownMethodsActorsAndBrokenArgumentsAreRefused) {
  EXPECT_NE(call("MainThreadFileSystem", "$brandNew", {}), "passed");
  EXPECT_NE(call(99, "$readFile", "[]"), "passed");
  EXPECT_NE(call(0, "$readFile", "[]"), "passed");
  EXPECT_NE(call(1, "$readFile", "[{\"scheme\":"), "passed");
  EXPECT_NE(call(1, "$readFile", "{\"0\":1}"), "passed");
  Sent sent;
  EXPECT_FALSE(broker_->from_host(bytes("garbage!"), sent).ok());
}

TEST_F(BrokerTest, ABlockedDocumentDoesNotComeInBecauseTheUserOpenedIt) {
  const std::string key = (folder_ / "home/.ssh/id_rsa").string();
  const auto incoming = [&](const std::string& method, const std::vector<Json>& arguments) {
    sent_ = {};
    RpcRequest request;
    request.number = 5;
    request.proxy = 100;
    request.method = method;
    const std::string text = Json(arguments).dump();
    request.json = text;
    EXPECT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
    if (sent_.host.empty()) return std::string("withheld");
    return std::string(sent_.host.at(0).begin(), sent_.host.at(0).end());
  };
  const auto document = [&](const std::string& path) {
    return Json{{"uri", uri(path)}, {"lines", Json::array({"secret of " + path})}};
  };
  const std::string seen = incoming(
      "$acceptDocumentsAndEditorsDelta",
      {Json{{"addedDocuments",
             Json::array({document(work("a.txt")), document(key), document(work("link"))})},
            {"addedEditors", Json::array({Json{{"id", "e1"}, {"documentUri", uri(work("a.txt"))}},
                                          Json{{"id", "e2"}, {"documentUri", uri(key)}}})},
            {"newActiveEditor", "e2"}}});
  EXPECT_THAT(seen, HasSubstr("a.txt"));
  EXPECT_EQ(seen.find("id_rsa"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("secret of " + work("link")), std::string::npos) << seen;
  EXPECT_EQ(seen.find("e2"), std::string::npos) << seen;
  EXPECT_EQ(
      incoming("$acceptModelChanged", {uri(key), Json{{"changes", Json::array({"x"})}}, false}),
      "withheld");
  EXPECT_EQ(sent_.workbench.size(),
            2U);  // acknowledged and answered, so that the workbench goes on
  EXPECT_THAT(incoming("$acceptModelChanged", {uri(work("a.txt")), Json::object(), false}),
              HasSubstr("a.txt"));
  EXPECT_EQ(incoming("$provideHover", {1, uri(key), Json::object()}), "withheld");
  // The same in mixed form, as it comes with an argument that is undefined.
  for (const std::string& path : {key, work("a.txt")}) {
    sent_ = {};
    const std::string document_uri = uri(path).dump();
    RpcRequest hover;
    hover.method = "$provideHover";
    hover.mixed = true;
    hover.arguments = {{RpcArgument::Type::kJson, "1", {}},
                       {RpcArgument::Type::kJson, document_uri, {}},
                       {RpcArgument::Type::kUndefined, {}, {}}};
    EXPECT_TRUE(broker_->from_workbench(write_request(hover), sent_).ok());
    EXPECT_EQ(sent_.host.size(), path == key ? 0U : 1U);
    EXPECT_EQ(sent_.workbench.size(), path == key ? 2U : 0U);
  }
  const std::string markers = incoming(
      "$acceptMarkersChange", {Json::array({Json::array({uri(key), Json::array()}),
                                            Json::array({uri(work("a.txt")), Json::array()})})});
  EXPECT_EQ(markers.find("id_rsa"), std::string::npos);
  EXPECT_THAT(markers, HasSubstr("a.txt"));
  // An editor of a withheld document is no way to write to it; that of a given one is.
  EXPECT_NE(call("MainThreadTextEditors", "$tryApplyEdits", {"e2", 1, Json::array()}), "passed");
  EXPECT_EQ(call("MainThreadTextEditors", "$tryApplyEdits", {"e1", 1, Json::array()}), "passed");
}

TEST_F(BrokerTest, DocumentsThatStandForABlockedFileDoNotComeInEither) {
  const std::string key = (folder_ / "home/.ssh/id_rsa").string();
  const auto comes_in = [&](const std::string& path, const std::string& scheme) {
    sent_ = {};
    const std::string json =
        Json::array(
            {Json{{"addedDocuments", Json::array({Json{{"uri", uri(path, scheme)},
                                                       {"lines", Json::array({"CONTENT"})}}})}}})
            .dump();
    RpcRequest request;
    request.method = "$acceptDocumentsAndEditorsDelta";
    request.json = json;
    EXPECT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
    return text(sent_.host.at(0)).find("CONTENT") != std::string::npos;
  };
  EXPECT_TRUE(comes_in(work("a.txt"), "vscode-remote"));
  EXPECT_TRUE(comes_in(work("a.txt"), "git"));
  EXPECT_TRUE(comes_in("Untitled-1", "untitled"));
  EXPECT_FALSE(comes_in("/input", "vscode-scm"));
  for (const char* scheme : {"git", "vscode-notebook-cell", "vscode-local-history", "GIT",
                             "private", "showModifications"})
    EXPECT_FALSE(comes_in(key, scheme)) << scheme;
  for (const char* scheme : {"output", "vscode-userdata", "clipboardCompare0", "search-editor"})
    EXPECT_FALSE(comes_in("/User/settings.json", scheme)) << scheme;
}

TEST_F(BrokerTest, SearchResultsAreFiltered) {
  EXPECT_EQ(call("MainThreadWorkspace", "$startFileSearch", {Json(), Json::object()}), "passed");
  const std::string found =
      Json::array({uri(work("a.txt")), uri(work("link")), uri(work(".git/config"))}).dump();
  RpcReply reply;
  reply.type = RpcType::kReplyOkJson;
  reply.number = number_;
  reply.json = found;
  sent_ = {};
  ASSERT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
  const std::string seen(sent_.host.at(0).begin(), sent_.host.at(0).end());
  EXPECT_THAT(seen, HasSubstr("a.txt"));
  EXPECT_EQ(seen.find(".git"), std::string::npos);
  EXPECT_EQ(seen.find("link"), std::string::npos);
}

TEST_F(BrokerTest, WhatCommandsGiveBackIsFilteredAsSearchesAre) {
  const auto gives = [&](const Json& value) {
    EXPECT_EQ(call("MainThreadCommands", "$executeCommand", {"vscode.open", Json::array()}),
              "passed");
    const std::string json = value.dump();
    RpcReply reply;
    reply.type = RpcType::kReplyOkJson;
    reply.number = number_;
    reply.json = json;
    sent_ = {};
    EXPECT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
    const auto given = parse_rpc(sent_.host.at(0));
    return Json::parse(std::get<RpcReply>(*given).json);
  };
  const auto symbol = [&](const std::string& file) {
    return Json{{"name", "symbol of " + file}, {"location", {{"uri", uri(work(file))}}}};
  };
  EXPECT_EQ(gives(Json::array({symbol("a.txt"), symbol(".git/config"), symbol("link")})),
            Json::array({symbol("a.txt")}));
  EXPECT_EQ(gives({{"incoming", Json::array({symbol(".git/config")})}}),
            (Json{{"incoming", Json::array()}}));
  EXPECT_EQ(gives(symbol(".git/config")), Json());
  const Json edits = Json::array({Json::array({uri(work(".git/config")), Json::array({"secret"})}),
                                  Json::array({uri(work("a.txt")), Json::array({"mine"})})});
  EXPECT_EQ(gives(edits), Json::array({edits[1]}));
  EXPECT_EQ(gives(Json{{"anything", "else"}}), (Json{{"anything", "else"}}));
}

TEST_F(BrokerTest, FormattingIsNotAskedForWhatMayNotBeWritten) {
  const auto asked = [&](const char* method, const std::string& file) {
    return deliver(method, Json{1, uri(file), Json::object()}.dump());
  };
  EXPECT_THAT(asked("$provideDocumentFormattingEdits", work("a.txt")), HasSubstr("a.txt"));
  for (const char* method :
       {"$provideDocumentFormattingEdits", "$provideOnTypeFormattingEdits",
        "$provideDocumentRangeFormattingEdits", "$provideDocumentRangesFormattingEdits",
        "$provideLinkedEditingRanges"})
    EXPECT_EQ(asked(method, (folder_ / "home/only/read.txt").string()), "") << method;
  EXPECT_THAT(asked("$provideHover", (folder_ / "home/only/read.txt").string()),
              HasSubstr("read.txt"));
}

TEST_F(BrokerTest, AnAddedExtensionEndsTheHostWhichStartsAgain) {
  const auto delta = [&](const Json& delta_of) {
    RpcRequest request;
    request.method = "$deltaExtensions";
    const std::string json = Json::array({delta_of}).dump();
    request.json = json;
    sent_ = {};
    return broker_->from_workbench(write_request(request), sent_);
  };
  const Status added = delta({{"toAdd", Json::array()}, {"myToAdd", Json::array({"me.more"})}});
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().errno_value, ERESTART);
  EXPECT_TRUE(sent_.host.empty());
  // Extensions of other hosts come and go; this one's may go.
  EXPECT_TRUE(delta({{"toAdd", Json::array({1})}, {"myToAdd", Json::array()}}).ok());
  EXPECT_TRUE(delta({{"myToRemove", Json::array({"me.mine"})}}).ok());
  EXPECT_EQ(sent_.host.size(), 1U);
  // What nobody can read may say so too: packages can be nested as deep as they like.
  Json deep = 1;
  for (int i = 0; i < 300; ++i) deep = Json::array({std::move(deep)});
  const Status unread =
      delta({{"toAdd", Json::array({Json{{"x", deep}}})}, {"myToAdd", {"me.mine"}}});
  ASSERT_FALSE(unread.ok());
  EXPECT_EQ(unread.error().errno_value, ERESTART);
  EXPECT_TRUE(sent_.host.empty());
}

TEST_F(BrokerTest, TheFoldersOfTheWorkspaceAreTold) {
  std::vector<std::vector<std::string>> told;
  Status answer;
  BrokerOptions options;
  options.on_folders = [&](const std::vector<std::string>& paths) {
    told.push_back(paths);
    return answer;
  };
  Broker broker(*table_, *arbiter_, options);
  const std::string init = Json{{"remote", {{"authority", "host:1"}}}}.dump();
  ASSERT_TRUE(broker.from_workbench(bytes(init), sent_).ok());
  const auto folders = [&](const std::string& method, const Json& data) {
    RpcRequest request;
    request.method = method;
    const std::string json = Json::array({data, true}).dump();
    request.json = json;
    return broker.from_workbench(write_request(request), sent_);
  };
  const Json data = {{"folders", Json::array({Json{{"uri", uri("/a/b/")}, {"name", "b"}},
                                              Json{{"uri", uri("/x", "other")}}, Json("odd")})}};
  EXPECT_TRUE(folders("$initializeWorkspace", data).ok());
  EXPECT_TRUE(folders("$acceptWorkspaceData", Json()).ok());
  EXPECT_EQ(told, (std::vector<std::vector<std::string>>{{"/a/b"}, {}}));
  answer = Error{"again", ERESTART};
  const Status changed = folders("$acceptWorkspaceData", data);
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().errno_value, ERESTART);
}

TEST_F(BrokerTest, OnlyInitialisedIsPassedOnOfTheSignals) {
  const auto signal = [&](HostSignal which) {
    sent_ = {};
    const uint8_t body[] = {static_cast<uint8_t>(which)};
    EXPECT_TRUE(broker_->from_host(body, sent_).ok());
    return sent_.workbench.size();
  };
  EXPECT_EQ(signal(HostSignal::kTerminate), 0U);
  EXPECT_EQ(signal(HostSignal::kReady), 0U);
  EXPECT_EQ(signal(HostSignal::kInitialized), 0U) << "it was, in SetUp";
}

TEST_F(BrokerTest, AHostThatWasNotInitialisedSaysNothing) {
  BrokerOptions options;
  options.actors = kActors;
  Broker broker(*table_, *arbiter_, options);
  const auto signal = [&](HostSignal which) {
    sent_ = {};
    const uint8_t body[] = {static_cast<uint8_t>(which)};
    EXPECT_TRUE(broker.from_host(body, sent_).ok());
    return sent_.workbench.size();
  };
  EXPECT_EQ(signal(HostSignal::kInitialized), 0U);
  RpcRequest request;
  request.number = 1;
  request.proxy = proxy_of("MainThreadMessageService");
  request.method = "$showMessage";
  request.json = "[]";
  EXPECT_FALSE(broker.from_host(write_request(request), sent_).ok());
  EXPECT_FALSE(broker.from_workbench(bytes("no data"), sent_).ok());
  ASSERT_TRUE(broker.from_workbench(bytes("{}"), sent_).ok());
  EXPECT_EQ(signal(HostSignal::kTerminate), 0U);
  EXPECT_EQ(signal(HostSignal::kReady), 0U);
  EXPECT_EQ(signal(HostSignal::kInitialized), 2U) << "and asks which commands there are";
}

TEST_F(BrokerTest, WithoutALogFolderNothingIsLogged) {
  BrokerOptions options;
  options.actors = {"MainThreadLogger"};
  Broker broker(*table_, *arbiter_, options);
  ASSERT_TRUE(broker.from_workbench(bytes("{}"), sent_).ok());
  const uint8_t initialised[] = {static_cast<uint8_t>(HostSignal::kInitialized)};
  ASSERT_TRUE(broker.from_host(initialised, sent_).ok());
  sent_ = {};
  RpcRequest request;
  request.number = 1;
  request.proxy = 1;
  request.method = "$log";
  const std::string json = Json::array({uri(work("a.txt"), "file"), Json::array()}).dump();
  request.json = json;
  ASSERT_TRUE(broker.from_host(write_request(request), sent_).ok());
  EXPECT_TRUE(sent_.workbench.empty());
  EXPECT_EQ(sent_.host.size(), 2U);
}

}  // namespace
}  // namespace bulkhead::testing
