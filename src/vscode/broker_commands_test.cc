// Commands that a host runs, registers, or shows for a person to click; and whose a message is.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

TEST_F(BrokerTest, CommandsAreJudgedByNameAndByTheirResources) {
  EXPECT_EQ(call("MainThreadCommands", "$executeCommand",
                 {"vscode.open", Json::array({uri(work("a.txt"))}), false}),
            "passed");
  EXPECT_NE(
      call("MainThreadCommands", "$executeCommand",
           {"vscode.open", Json::array({uri((folder_ / "home/.ssh/id_rsa").string())}), false}),
      "passed");
  EXPECT_THAT(call("MainThreadCommands", "$executeCommand",
                   {"workbench.action.tasks.runTask", Json::array(), false}),
              HasSubstr("tasks"));
  EXPECT_THAT(
      call("MainThreadCommands", "$executeCommand", {"other.command", Json::array(), false}),
      HasSubstr("commands-foreign"));
  EXPECT_THAT(
      call("MainThreadCommands", "$executeCommand", {"somebody.else", Json::array(), false}),
      HasSubstr("not found"))
      << "nobody has it";
  EXPECT_THAT(call("MainThreadCommands", "$executeCommand", {"bad.command", Json::array(), false}),
              HasSubstr("cannot run"));
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  EXPECT_EQ(call("MainThreadCommands", "$executeCommand", {"mine.hello", Json::array(), false}),
            "passed");
  EXPECT_NE(call("MainThreadCommands", "$registerCommand", {"vscode.open"}), "passed");
  for (const char* taken : {"editor.own", "other.command"})
    EXPECT_NE(call("MainThreadCommands", "$registerCommand", {taken}), "passed") << taken;
  // A command that was its own for a moment is whoever's it was before.
  EXPECT_EQ(call("MainThreadCommands", "$unregisterCommand", {"mine.hello"}), "passed");
  EXPECT_THAT(call("MainThreadCommands", "$executeCommand", {"mine.hello", Json::array(), false}),
              HasSubstr("commands-foreign"));
}

// The merge editor writes what it is told to write to: a read-only file, or tasks.json.
TEST_F(BrokerTest, WhatACommandWritesIsJudgedAsWritten) {
  const auto merges = [&](const Json& output) {
    const Json input = uri(work("a.txt"));
    return call("MainThreadCommands", "$executeCommand",
                {"_open.mergeEditor",
                 Json::array({{{"base", input},
                               {"input1", {{"uri", input}}},
                               {"input2", {{"uri", input}}},
                               {"output", output}}}),
                 false});
  };
  EXPECT_EQ(merges(uri(work("a.txt"))), "passed");
  EXPECT_EQ(merges(work("a.txt")), "passed");
  for (const Json& output :
       {uri(work(".git/config")), Json("file://" + work(".git/config")), Json(work(".git/config")),
        uri((folder_ / "home/notes.txt").string()), Json(1), Json::array({work("a.txt")})})
    EXPECT_NE(merges(output), "passed") << output;
}

// "edit" sets it to false, "" or 0.
TEST_F(BrokerTest, ACommandThatShowsASettingWritesNone) {
  const auto shows = [&](const Json& options) {
    return call("MainThreadCommands", "$executeCommand",
                {"workbench.action.openSettingsJson", Json::array({options}), false});
  };
  EXPECT_EQ(shows({{"revealSetting", {{"key", "mine.url"}}}}), "passed");
  EXPECT_EQ(shows({{"revealSetting", {{"key", "mine.url"}, {"edit", false}}}}), "passed");
  EXPECT_EQ(shows("mine.url"), "passed");
  for (const Json& edit : {Json(true), Json(1), Json("x"), Json::object()})
    EXPECT_THAT(shows({{"revealSetting", {{"key", "http.proxyStrictSSL"}, {"edit", edit}}}}),
                HasSubstr("not for an extension to say"))
        << edit;
  deliver("$provideCodeLenses", "[1]");
  const Json lens = {{"id", "workbench.action.openSettingsJson"},
                     {"title", "x"},
                     {"arguments", {{{"revealSetting", {{"key", "x"}, {"edit", true}}}}}}};
  EXPECT_EQ(answer(Json::array({Json{{"command", lens}}})).find("openSettingsJson"),
            std::string::npos);
}

// Whoever is not in the table is asked about, however it is called, or not found.
TEST_F(BrokerTest, ACommandIsKnownByItsWholeName) {
  for (const char* command :
       {"editor.action.commentLine2", "workbench.action.openSettingsJson2", "vscode.openX"})
    EXPECT_THAT(call("MainThreadCommands", "$executeCommand", {command, Json::array(), false}),
                HasSubstr("commands-foreign"))
        << command;
  for (const char* command : {"cursorMoveBy", "cursorMove."})
    EXPECT_THAT(call("MainThreadCommands", "$executeCommand", {command, Json::array(), false}),
                HasSubstr("not found"))
        << command;
  EXPECT_THAT(call("MainThreadCommands", "$executeCommand", {"bad.new", Json::array(), false}),
              HasSubstr("cannot run"));
}

// What an extension depends on is activated by it, and TypeScript by that of a plug-in.
TEST_F(BrokerTest, ACommandThatItsOwnHostIsWokenForIsItsOwn) {
  const auto runs = [&](const std::string& command) {
    return call("MainThreadCommands", "$executeCommand", {command, Json::array({"x"}), false});
  };
  EXPECT_EQ(runs("mine.declared"), "passed");
  const auto arrives = [&](bool is_builtin) {
    const Json description = {
        {"identifier", {{"value", "me.mine"}}},
        {"isBuiltin", is_builtin},
        {"activationEvents",
         {"onCommand:_mine.configurePlugin", "onCommand:mine.theirs", "onCommand:mine.taken",
          "onCommand:mine.tabled", "onCommand:somebody.else", "onLanguage:x"}}};
    deliver("$deltaExtensions",
            Json::array({Json{{"toAdd", {description}}, {"myToAdd", Json::array()}}}).dump());
  };
  arrives(false);
  EXPECT_THAT(runs("_mine.configurePlugin"), HasSubstr("commands-foreign"));
  arrives(true);
  EXPECT_EQ(runs("_mine.configurePlugin"), "passed");
  for (const char* others : {"mine.theirs", "mine.taken", "_mine.other"})
    EXPECT_THAT(runs(others), HasSubstr("commands-foreign")) << others;
  EXPECT_THAT(runs("somebody.else"), HasSubstr("not found"));
  EXPECT_THAT(runs("mine.tabled"), HasSubstr("cannot run")) << "the editor's own";
}

TEST_F(BrokerTest, ItsOwnViewsAreShownAndNoOthers) {
  const auto runs = [&](const char* command) {
    return call("MainThreadCommands", "$executeCommand", {command, Json::array(), false});
  };
  for (const char* own : {"mine.view.focus", "workbench.view.extension.mine"})
    EXPECT_EQ(runs(own), "passed") << own;
  for (const char* others :
       {"cloud.view.focus", "workbench.view.extension.cloud", "workbench.scm.focus",
        "vscode.git.view.focus", "workbench.view.extension.bulkhead", "mine.view.removeView"})
    EXPECT_THAT(runs(others), HasSubstr("commands-foreign")) << others;
}

// "workbench.action.chat.addDynamicVariable" does so, and whatever a new version has of that kind.
TEST_F(BrokerTest, ACommandThatACommandIsGivenIsOneThatItMayRun) {
  const auto runs = [&](const Json& argument) {
    return call("MainThreadCommands", "$executeCommand",
                {"classified.here", Json::array({argument, 1}), false});
  };
  const Json bad = {{"id", "bad.command"}, {"arguments", {1}}};
  for (const Json& given :
       {Json{{"command", bad}}, Json{{"of", {Json{{"acceptInputCommand", bad}}}}},
        Json{{"command", "bad.exactly"}}, Json{{"commands", {"mine.hello", "editor.own"}}},
        Json{{"commands", {Json{{"command", "bad.command"}, {"args", 1}}}}},
        Json{{"command", {{"more", {{"command", bad}}}}}},
        Json{{"command", {{"id", "setContext"}, {"arguments", {"bulkhead.x", 1}}}}},
        Json{{"command", "setContext"}, {"args", {"bulkhead.x", 1}}},
        Json{{"command", {{"id", "cursorMove"}, {"command", "bad.command"}}}},
        Json{{"command", {{"id", "cursorMove"}, {"arguments", {Json{{"command", bad}}}}}}},
        Json{{"command",
              {{"id", "cursorMove"},
               {"arguments", Json::array()},
               {"args", {Json{{"command", bad}}}}}}}})
    EXPECT_THAT(runs(given), HasSubstr("may not be")) << given;
  EXPECT_EQ(runs({{"command", "npm start"}, {"title", "x"}}), "passed");
  EXPECT_EQ(runs({{"command", {{"id", "cursorMove"}, {"arguments", {1}}}}}), "passed");
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  EXPECT_EQ(runs({{"command", {{"id", "mine.hello"}, {"arguments", {bad}}}}}), "passed");
  EXPECT_EQ(call("MainThreadCommands", "$executeCommand",
                 {"setContext", Json::array({"mine.x", Json{{"command", bad}}}), false}),
            "passed");
  deliver("$provideCodeLenses", "[1]");
  const Json lens = {{"id", "cursorMove"}, {"title", "x"}, {"arguments", {Json{{"command", bad}}}}};
  EXPECT_EQ(answer(Json::array({Json{{"command", lens}}})).find("cursorMove"), std::string::npos);
}

// An answer of before may have parts that edit, or that are buttons.
TEST_F(BrokerTest, WhatAChatAnsweredBeforeIsText) {
  start({"me.mine"}, nullptr, R"("commands","language-models")");
  const auto opens = [&](const Json& response) {
    return call("MainThreadCommands", "$executeCommand",
                {"workbench.action.chat.open",
                 Json::array({{{"query", "x"},
                               {"isPartialQuery", true},
                               {"previousRequests",
                                Json::array({{{"request", "a"}, {"response", response}}})}}}),
                 false});
  };
  EXPECT_EQ(opens("b"), "passed");
  for (const Json& parts : {Json::array({{{"kind", "textEdit"}}}), Json::array(), Json::object()})
    EXPECT_THAT(opens(parts), HasSubstr("as text")) << parts;
  deliver("$provideCodeLenses", "[1]");
  const Json button = {{"id", "workbench.action.chat.open"},
                       {"title", "x"},
                       {"arguments", {{{"response", Json::array()}}}}};
  EXPECT_EQ(answer(Json::array({Json{{"command", button}}})).find("chat.open"), std::string::npos);
  deliver("$validateInput", "[1]");
  EXPECT_EQ(answer("[x](command:workbench.action.chat.open?%5B%5D)").find("(command:"),
            std::string::npos);
}

// The window opens documents of the web: whoever is given one fetches it.
TEST_F(BrokerTest, AnAddressAmongTheArgumentsOfACommandIsFetched) {
  const Json web = {
      {"$mid", 1}, {"scheme", "https"}, {"authority", "evil.test"}, {"path", "/SECRET"}};
  const auto runs = [&](const Json& argument) {
    return call("MainThreadCommands", "$executeCommand",
                {"classified.here", Json::array({argument, 1}), false});
  };
  EXPECT_THAT(runs(web), HasSubstr("open-external"));
  EXPECT_THAT(runs({{"of", {web}}}), HasSubstr("open-external"));
  EXPECT_EQ(runs(uri(work("a.txt"))), "passed");
  EXPECT_EQ(runs("https://evil.test/"), "passed") << "a text";
  deliver("$provideCodeLenses", "[1]");
  const Json lens = {{"id", "classified.here"}, {"title", "x"}, {"arguments", {web}}};
  EXPECT_EQ(answer(Json::array({Json{{"command", lens}}})).find("classified"), std::string::npos);
  for (const char* method : {"$provideDefinition", "$provideReferences"}) {
    deliver(method, "[1]");
    const std::string places = answer(Json::array({{{"uri", web}}, {{"uri", uri("/b.txt")}}}));
    EXPECT_EQ(places.find("evil.test"), std::string::npos) << method;
    EXPECT_THAT(places, HasSubstr("b.txt"));
  }
  deliver("$provideHistoryItemChanges", "[1]");
  const std::string changes = answer(Json::array(
      {{{"uri", uri("/b.txt")}, {"originalUri", web}, {"modifiedUri", web}}, {{"uri", web}}}));
  EXPECT_EQ(changes.find("evil.test"), std::string::npos);
  EXPECT_THAT(changes, HasSubstr("b.txt"));
  deliver("$provideInlayHints", Json::array({1, uri(work("a.txt"))}).dump());
  EXPECT_EQ(answer({{"hints", {{{"label", {{{"location", {{"uri", web}}}}}}}}}}).find("evil.test"),
            std::string::npos);
}

TEST_F(BrokerTest, NobodyPutsACommandBeforeTheNextEnter) {
  const auto opens = [&](const Json& arguments) {
    return call("MainThreadCommands", "$executeCommand",
                {"workbench.action.quickOpen", arguments, false});
  };
  for (const char* harmless : {"", "@", "#symbol", ":12", "file.txt"})
    EXPECT_EQ(opens(Json::array({harmless})), "passed") << harmless;
  EXPECT_EQ(opens(Json::array()), "passed");
  for (const char* text :
       {">Terminal: Run Selected Text", ">reload", "task greet", "term ", "debug x"})
    EXPECT_THAT(opens(Json::array({text})), HasSubstr("next Enter")) << text;
  EXPECT_THAT(call("MainThreadCommands", "$executeCommand",
                   {"workbench.action.showCommands", Json::array(), false}),
              HasSubstr("next Enter"));
}

TEST_F(BrokerTest, ResourcesInACommandsArgumentsAreJudgedInEveryForm) {
  const std::string key = (folder_ / "home/.ssh/id_rsa").string();
  const auto run = [&](const std::string& command, const Json& argument) {
    return call("MainThreadCommands", "$executeCommand",
                {command, Json::array({argument, Json::array({nullptr, nullptr})}), false});
  };
  const auto raw = [](const std::string& path) { return Json{{"scheme", "file"}, {"path", path}}; };
  // Without the mark, as text, as a path, below something else.
  for (const auto& form : std::vector<std::function<Json(const std::string&)>>{
           raw, [](const std::string& path) { return Json("file://" + path); },
           [](const std::string& path) { return Json("FILE:" + path); },
           [](const std::string& path) { return Json("vscode-remote://host:1" + path); },
           [](const std::string& path) { return Json("vscode-remote://host%3A1" + path + "?q#f"); },
           [](const std::string& path) { return Json(path); },
           [&](const std::string& path) {
             return Json{{"a", Json::array({raw(path)})}};
           },
           [&](const std::string& path) {
             Json decoy = uri("Untitled-1", "untitled");
             decoy["base"] = raw(path);
             return decoy;
           }}) {
    EXPECT_EQ(run("vscode.open", form(work("a.txt"))), "passed") << form(work("a.txt"));
    EXPECT_THAT(run("vscode.open", form(key)), HasSubstr("NoPermissions")) << form(key);
    EXPECT_THAT(run("_open.mergeEditor", form(key)), HasSubstr("NoPermissions")) << form(key);
  }
  std::string escaped = "file://";
  for (const char c : key) escaped += c == 's' ? std::string("%73") : std::string(1, c);
  EXPECT_THAT(run("vscode.open", escaped), HasSubstr("NoPermissions"));
  EXPECT_THAT(run("vscode.open", "git:/work/a.txt?ref"), HasSubstr("NoPermissions"));
  EXPECT_THAT(run("vscode.open", "memfs:/x"), HasSubstr("NoPermissions"));
  // Addresses are opened outside.
  for (const Json& address :
       {Json("https://evil.example/?secret"), Json("HTTPS://evil.example"),
        Json("https:evil.example"),
        Json{{"$mid", 1}, {"scheme", "https"}, {"authority", "evil.example"}, {"path", "/x"}}})
    EXPECT_THAT(run("vscode.open", address), HasSubstr("open-external")) << address;
  // Titles, names and words of their own are no resources, nor is every text to every command.
  for (const Json& words :
       {Json("a.txt"), Json("default"), Json(""), Json{{"scheme", "file"}, {"language", "css"}}})
    EXPECT_EQ(run("vscode.open", words), "passed") << words;
  EXPECT_EQ(run("classified.here", "/etc/shadow"), "passed");
  for (const char* text : {"file:///etc/shadow", "vscode-remote://host:1/etc/shadow"})
    EXPECT_THAT(run("classified.here", text), HasSubstr("NoPermissions")) << text;
  EXPECT_THAT(run("vscode.open", Json::array({uri(work("a.txt")), uri(key)})),
              HasSubstr("NoPermissions"))
      << "beside one that may be read";
}

// In a compartment Git registers what the table of the editor's commands has as Git's.
TEST_F(BrokerTest, ABuiltInExtensionRegistersItsOwnCommands) {
  const std::vector<std::string> own = {"git.tabled", "_git.tabled", "editor.git.action.tabled"};
  for (const std::string& command : own)
    EXPECT_NE(call("MainThreadCommands", "$registerCommand", {command}), "passed") << command;
  start({"vscode.git"});
  for (const std::string& command : own)
    EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {command}), "passed") << command;
  for (const char* command : {"bad.exactly", "vscode.open", "paste", "cloud.token"})
    EXPECT_NE(call("MainThreadCommands", "$registerCommand", {command}), "passed") << command;
}

TEST_F(BrokerTest, WhoDeclaresACommandOfOthersDoesNotOwnIt) {
  const auto lens = [&](const std::string& id) {
    deliver("$provideCodeLenses", "[1]");
    const std::string shown =
        answer(Json::array({Json{{"command", {{"id", id}, {"title", "x"}}}}}));
    return shown.find(id) != std::string::npos;
  };
  EXPECT_TRUE(lens("mine.declared")) << "it is registered when it is run";
  for (const char* theirs : {"editor.own", "workbench.later", "cloud.token", "git.undeclared",
                             "_mine.hidden", "cloud.login", "git.commit", "mine.taken"})
    EXPECT_FALSE(lens(theirs)) << theirs;
  // What another extension declares and has not registered yet is still its own.
  for (const char* theirs : {"cloud.login", "git.commit", "mine.theirs"})
    EXPECT_NE(call("MainThreadCommands", "$registerCommand", {theirs}), "passed") << theirs;
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"cloud.token"}), "passed")
      << "both declare it: the first has it";
  // What nobody declares may still be somebody's, who comes later.
  for (const char* theirs : {"cloud.late", "Cloud.late", "git.late", "_git.late", "__git.late",
                             "extension.js-debug.late", "Extension.js-debug.late"})
    EXPECT_THAT(call("MainThreadCommands", "$registerCommand", {theirs}), HasSubstr("family"))
        << theirs;
  for (const char* free : {"mine.late", "me.late", "fresh.late", "late", "_cloud.late",
                           "_mine.late", "_", "extension.mine-debug.late", "extension.vim_escape"})
    EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {free}), "passed") << free;
}

// What every extension is granted for a workspace holds in the folder that is opened.
TEST_F(BrokerTest, FoldersAreOpenedByPermissionAndAsTheyAre) {
  const auto opens = [this](const Json& folder, const Json& options = nullptr) {
    return call("MainThreadCommands", "$executeCommand",
                {"vscode.openFolder", Json::array({folder, options}), false});
  };
  const auto adds = [this](const Json& folders) {
    return call("MainThreadWorkspace", "$updateWorkspaceFolders", {"Cloud", 1, 0, folders});
  };
  const auto listed = [this](const std::string& path) {
    return Json::array({Json{{"uri", uri(path)}, {"name", "x"}}});
  };
  const std::string inner = work(".");
  EXPECT_THAT(opens(uri(inner)), HasSubstr("workspace-folders"));
  EXPECT_THAT(adds(listed(inner)), HasSubstr("workspace-folders"));

  start({"me.mine"}, nullptr, R"("commands","workspace-folders")");
  EXPECT_EQ(opens(uri(inner)), "passed");
  EXPECT_EQ(opens(nullptr), "passed") << "a person picks one";
  EXPECT_EQ(opens(uri(inner), true), "passed");
  EXPECT_EQ(opens(uri(inner), {{"forceNewWindow", true}, {"forceProfile", nullptr}}), "passed");
  EXPECT_EQ(adds(listed(inner)), "passed");
  const auto added = parse_rpc(sent_.workbench.at(0));
  EXPECT_THAT(Json::parse(std::get<RpcRequest>(*added).json)[0].get<std::string>(),
              HasSubstr("me.mine"))
      << "who is said to have added it";
  EXPECT_EQ(adds(Json::array()), "passed");

  const std::string home = (folder_ / "home").string();
  EXPECT_THAT(opens(uri(home)), HasSubstr("NoPermissions"));
  EXPECT_THAT(opens(uri(inner), {{"filesToOpen", Json::array({uri(home + "/.bashrc")})}}),
              HasSubstr("NoPermissions"));
  EXPECT_THAT(adds(listed(home)), HasSubstr("NoPermissions"));
  for (const Json& odd : {Json("x"), Json::array({1}), Json::array({Json::object()}), Json()})
    EXPECT_NE(adds(odd), "passed") << odd;
  for (const char* file : {"all.code-workspace", "ALL.Code-Workspace", "all.code-workspace//"})
    EXPECT_THAT(opens(uri(work(file))), HasSubstr("workspace file")) << file;
  EXPECT_NE(opens(uri("/x", "untitled")), "passed");
  EXPECT_NE(opens(work("all.code-workspace")), "passed") << "a text, which is no resource to it";
  for (const char* option : {"forceProfile", "forceTempProfile", "forceLocalWindow", "other"})
    EXPECT_NE(opens(uri(inner), {{option, "x"}}), "passed") << option;
  const auto window = [this](const Json& options) {
    return call("MainThreadCommands", "$executeCommand",
                {"vscode.newWindow", Json::array({options}), false});
  };
  EXPECT_EQ(window({{"reuseWindow", true}}), "passed");
  EXPECT_EQ(window(nullptr), "passed");
  EXPECT_NE(window({{"remoteAuthority", "evil:1"}}), "passed");
}

// Previews and notebooks fetch what a document names, from the page.
TEST_F(BrokerTest, WhatTheEditorsOwnViewersShowIsNotOpenedByTheWay) {
  const auto opens = [&](const std::string& command, const std::string& name, const Json& rest) {
    Json arguments = Json::array({uri(work(name))});
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return call("MainThreadCommands", "$executeCommand", {command, arguments, false});
  };
  for (const char* own : {"default", "mine.view", "mine"})
    EXPECT_EQ(opens("_workbench.openWith", "a.txt", Json::array({own})), "passed") << own;
  for (const char* others : {"vscode.markdown.preview.editor", "cloud.editor", "jupyter-notebook"})
    for (const char* command : {"_workbench.openWith", "vscode.openWith"})
      EXPECT_THAT(opens(command, "a.txt", Json::array({others})), HasSubstr("commands-foreign"));
  const auto with = [](const Json& view) {
    return Json::array({Json::array({nullptr, Json{{"override", view}}})});
  };
  EXPECT_EQ(opens("_workbench.open", "a.txt", with("default")), "passed");
  EXPECT_EQ(opens("_workbench.open", "a.txt", with(false)), "passed");
  EXPECT_THAT(opens("_workbench.open", "a.txt", with("vscode.markdown.preview.editor")),
              HasSubstr("commands-foreign"));
  EXPECT_THAT(opens("vscode.open", "a.IPYNB", Json::array()), HasSubstr("\"notebooks\""));
  EXPECT_THAT(call("MainThreadCommands", "$executeCommand",
                   {"vscode.open", Json::array({"file://" + work("a.%69pynb") + "#x"}), false}),
              HasSubstr("\"notebooks\""));
  start({"me.mine"}, nullptr, R"("commands","notebooks")");
  EXPECT_EQ(opens("vscode.open", "a.ipynb", Json::array()), "passed");
  EXPECT_THAT(opens("vscode.open", ".git/a.ipynb", Json::array()), HasSubstr("NoPermissions"));
}

TEST_F(BrokerTest, MessagesSayWhoseTheyAre) {
  const auto shown = [&](const std::string& actor, const std::string& method,
                         const std::vector<Json>& arguments) {
    EXPECT_EQ(call(actor, method, arguments), "passed");
    const auto passed = parse_rpc(sent_.workbench.at(0));
    return Json::parse(std::get<RpcRequest>(*passed).json);
  };
  const Json lie = {{"identifier", {{"value", "bulkhead.companion"}, {"_lower", "me.mine"}}},
                    {"label", "Bulkhead"}};
  const std::string label = "me.mine (Bulkhead ? Prompts)";
  for (const Json& options :
       {Json{{"source", lie}}, Json{{"source", nullptr}}, Json::object(), Json()}) {
    const Json source = shown("MainThreadMessageService", "$showMessage",
                              {2, "text", options, Json::array()})[2]["source"];
    EXPECT_EQ(source["label"], label) << options;
    EXPECT_EQ(source["identifier"]["value"], "me.mine");
  }
  EXPECT_EQ(shown("MainThreadMessageService", "$showMessage", {2, "text"})[2]["source"]["label"],
            label);
  const Json dialog = shown("MainThreadMessageService", "$showMessage",
                            {2, "text", Json{{"modal", true}, {"detail", "Why"}}, Json::array()});
  EXPECT_EQ(dialog[1], label + " — text");
  EXPECT_EQ(dialog[2]["detail"], "Why");
  const Json progress =
      shown("MainThreadProgress", "$startProgress",
            {1, Json{{"location", 15}, {"source", lie}}, "vscode.github-authentication"});
  EXPECT_EQ(progress[1]["source"]["label"], label);
  EXPECT_EQ(progress[2], "me.mine");
  // With buffers or undefined beside it, each argument is a text of its own.
  RpcRequest mixed;
  mixed.number = ++number_;
  mixed.proxy = 12;
  mixed.method = "$showMessage";
  mixed.mixed = true;
  const std::string spoof = Json{{"source", lie}}.dump();
  for (const std::string_view json :
       {std::string_view("2"), std::string_view("\"text\""), std::string_view(spoof)}) {
    RpcArgument argument;
    argument.type = RpcArgument::Type::kJson;
    argument.json = json;
    mixed.arguments.push_back(argument);
  }
  sent_ = {};
  ASSERT_TRUE(broker_->from_host(write_request(mixed), sent_).ok());
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr(label));
  EXPECT_THAT(text(sent_.workbench.at(0)), ::testing::Not(HasSubstr("bulkhead.companion")));
}

TEST_F(BrokerTest, WhatIsShownOrInsertedRunsAndFetchesNothing) {
  const auto shown = [&](const std::string& actor, const std::string& method,
                         const std::vector<Json>& arguments) {
    EXPECT_EQ(call(actor, method, arguments), "passed") << method;
    return sent_.workbench.empty() ? "" : text(sent_.workbench[0]);
  };
  start({"me.mine"}, nullptr, R"("commands","documents","window","languages","workspace-edit")");
  const std::string link = "see [x](command:workbench.action.terminal.sendSequence)";
  const Json said = {{"title", link}, {"message", link}};
  for (const std::string& sent :
       {shown("MainThreadMessageService", "$showMessage", {2, link, Json::object(), Json::array()}),
        shown("MainThreadProgress", "$startProgress", {1, said, "me.mine"}),
        shown("MainThreadProgress", "$progressReport", {1, said}),
        shown("MainThreadLanguages", "$setLanguageStatus", {1, said}),
        shown("MainThreadChatStatus", "$setEntry", {"id", said})})
    EXPECT_THAT(sent, AllOf(HasSubstr("see [x]"), Not(HasSubstr("](command:"))));
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  const Json tip = {{"value", "[a](command:mine.hello)"}, {"isTrusted", true}};
  EXPECT_THAT(shown("MainThreadQuickOpen", "$setItems", {1, Json::array({{{"tooltip", tip}}})}),
              AllOf(HasSubstr("mine.hello"), Not(HasSubstr("isTrusted"))));
  deliver(
      "$acceptDocumentsAndEditorsDelta",
      Json::array({Json{{"addedEditors", {{{"id", "1"}, {"documentUri", uri(work("a.txt"))}}}}}})
          .dump());
  EXPECT_THAT(shown("MainThreadTextEditors", "$tryInsertSnippet", {"1", 1, "x${CLIPBOARD}"}),
              AllOf(HasSubstr("x${"), Not(HasSubstr("CLIPBOARD"))));
}

// Which of them asks, the host says; that it is one of them, nobody but us.
TEST_F(BrokerTest, OfSeveralExtensionsAMessageNamesOneOfThisHost) {
  start({"me.mine", "me.second"}, nullptr, R"("window","authentication")");
  const auto source = [&](const Json& said) {
    EXPECT_EQ(call("MainThreadMessageService", "$showMessage",
                   {2, "text", Json{{"source", said}}, Json::array()}),
              "passed");
    const auto passed = parse_rpc(sent_.workbench.at(0));
    return Json::parse(std::get<RpcRequest>(*passed).json)[2]["source"]["label"];
  };
  const std::string first = "me.mine (Bulkhead ? Prompts)";
  EXPECT_EQ(source({{"identifier", {{"value", "Me.Second"}, {"_lower", "me.second"}}}}),
            "me.second");
  EXPECT_EQ(source({{"identifier", {{"value", "cloud.other"}, {"_lower", "me.second"}}}}), first);
  EXPECT_EQ(source({{"id", "cloud.other"}, {"label", "Cloud"}}), first);
  const Json second = {{"value", "me.second"}, {"_lower", "me.second"}};
  EXPECT_EQ(call("MainThreadUrls", "$registerUriHandler", {1, second, "GitHub"}), "passed");
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr(R"(,"me.second"])"));
}

TEST_F(BrokerTest, AWebviewsLinksRunOwnCommandsOnly) {
  const auto options = [&](const Json& enabled) {
    EXPECT_EQ(call("MainThreadCommands", "$unregisterCommand",
                   {"x", Json{{"enableCommandUris", enabled}}}),
              "passed");
    const auto passed = parse_rpc(sent_.workbench.at(0));
    return Json::parse(std::get<RpcRequest>(*passed).json)[1]["enableCommandUris"];
  };
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  EXPECT_EQ(options(true), Json::parse(R"(["mine.declared", "mine.hello"])"));
  EXPECT_EQ(options(Json::parse(R"(["mine.hello", "bad.command", "vscode.openFolder", 1])")),
            Json::parse(R"(["mine.hello"])"));
  EXPECT_EQ(options(false), false);
  EXPECT_EQ(options("yes"), Json::array());
}

class EarlyTest : public BrokerTest {
 protected:
  // Another broker, which does not know yet which commands exist.
  Status begin_without_commands() {
    BrokerOptions options;
    options.extensions = {"me.mine"};
    options.actors = kActors;
    broker_ = std::make_unique<Broker>(*table_, *arbiter_, options);
    return broker_->from_workbench(bytes(Json{{"remote", {{"authority", "host:1"}}}}.dump()),
                                   sent_);
  }
};

TEST_F(EarlyTest, NothingIsPassedOnBeforeTheCommandsAreKnown) {
  ASSERT_TRUE(begin_without_commands().ok());
  sent_ = {};
  RpcRequest early;
  early.number = 1;
  early.proxy = static_cast<uint8_t>(
      std::find(kActors.begin(), kActors.end(), "MainThreadCommands") - kActors.begin() + 1);
  early.method = "$registerCommand";
  early.json = R"(["editor.own"])";
  ASSERT_TRUE(broker_->from_host(write_request(early), sent_).ok());
  EXPECT_TRUE(sent_.workbench.empty());
  const uint8_t initialised[] = {static_cast<uint8_t>(HostSignal::kInitialized)};
  ASSERT_TRUE(broker_->from_host(initialised, sent_).ok());
  const auto asked = parse_rpc(sent_.workbench.at(1));
  RpcReply reply;
  reply.type = RpcType::kReplyOkJson;
  reply.number = std::get<RpcRequest>(*asked).number;
  reply.json = R"(["editor.own"])";
  sent_ = {};
  ASSERT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
  EXPECT_TRUE(sent_.workbench.empty()) << "it would have taken over a command";
  EXPECT_EQ(sent_.host.size(), 2U) << "acknowledged, and refused";
}

// A short message takes many times its bytes while it waits.
TEST_F(EarlyTest, WhoSaysManyShortThingsBeforeTheCommandsAreKnownIsEnded) {
  ASSERT_TRUE(begin_without_commands().ok());
  RpcRequest early;
  early.proxy = 1;
  early.method = "$x";
  early.json = "[]";
  Status status;
  while (status.ok() && early.number < 1'000'000) {
    ++early.number;
    status = broker_->from_host(write_request(early), sent_);
  }
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("said too much"));
}

TEST_F(BrokerTest, WhatAPersonWouldOnlyClickOnDoesNotRunOutside) {
  const auto lens = [&](const std::string& id) {
    deliver("$provideCodeLenses", "[1]");
    const std::string shown =
        answer(Json::array({Json{{"command", {{"id", id}, {"title", "x"}, {"arguments", {1}}}}}}));
    return shown.find(id) != std::string::npos;
  };
  EXPECT_FALSE(lens("workbench.action.terminal.sendSequence"));
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  EXPECT_TRUE(lens("mine.hello"));
}

// A command that may be run with some arguments is offered with these alone, and not in a text.
// The window reads a link's escapes, and runs what it names then.
TEST_F(BrokerTest, ALinkNamesNoCommandByEscapes) {
  start({"me.mine"}, nullptr, R"("@editor","commands","commands-foreign")");
  const auto links = [this](const std::string& command) {
    EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {command}), "passed");
    const std::string link = "](command:" + command + "?[1])";
    const Json sent = passed("MainThreadMessageService", "$showMessage",
                             {1, "[x" + link, Json::object(), Json::array()});
    return sent.dump().find(link) != std::string::npos;
  };
  EXPECT_TRUE(links("mine.hello"));
  for (const char* other : {"workbench%2Eaction%2Etasks%2Erun", "bad%2Ecommand", "%62ad.command"})
    EXPECT_FALSE(links(other)) << other;
}

// A line of it that is a link is a button, and nobody looks whether its commands are trusted.
TEST_F(BrokerTest, TheMessageOfAViewRunsOwnCommandsOnly) {
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  const Json sent =
      passed("MainThreadTreeViews", "$setMessage",
             {"mine.view", Json{{"value", "[a](command:mine.hello?1)\n[b](command:bad.x?1)"}}});
  EXPECT_EQ(sent[1]["value"], "[a](command:mine.hello?1)\n[b](#command:bad.x?1)");
}

TEST_F(BrokerTest, WhatIsOfferedIsGivenWhatItMayBeGiven) {
  start({"me.mine"}, nullptr, R"("@editor","commands","workspace-edit","clipboard","scm")");
  const auto lens = [&](const std::string& id, const Json& arguments) {
    deliver("$provideCodeLenses", "[1]");
    const Json command = {{"id", id}, {"title", "x"}, {"arguments", arguments}};
    return answer(Json::array({Json{{"command", command}}})).find(id) != std::string::npos;
  };
  const auto completion = [&](const std::string& id, const Json& arguments) {
    deliver("$provideCompletionItems", "[1]");
    return answer(Json{{"b", {{{"a", "x"}, {"o", id}, {"p", arguments}}}}}).find(id) !=
           std::string::npos;
  };
  // The workbench gives it "n", where that is something.
  const auto instead = [&](const std::string& id, const Json& arguments) {
    deliver("$provideCompletionItems", "[1]");
    const Json item = {{"a", "x"}, {"o", id}, {"p", Json::array()}, {"n", arguments.at(0)}};
    return answer(Json{{"b", {item}}}).find(id) != std::string::npos;
  };
  const auto link = [&](const std::string& id, const Json& arguments) {
    deliver("$provideHover", "[1]");
    const Json shown = {{"value", "[x](command:" + id + "?" + arguments.dump() + ")"},
                        {"isTrusted", true}};
    return answer(Json::array({shown})).find("[\"" + id + "\"]") != std::string::npos;
  };
  const auto resource = [&](const std::string& id, const Json& arguments) {
    const Json raw = {7,
                      uri(work("a.txt")),
                      {nullptr, nullptr},
                      "",
                      false,
                      false,
                      "",
                      {{"id", id}, {"arguments", arguments}}};
    EXPECT_EQ(call("MainThreadSCM", "$spliceResourceStates",
                   {1, Json::array({Json::array(
                           {1, Json::array({Json::array({0, 0, Json::array({raw})})})})})}),
              "passed");
    return text(sent_.workbench.at(0)).find(id) != std::string::npos;
  };
  const Json file = uri(work("a.txt"));
  const std::string quick = "workbench.action.quickOpen",
                    preview = "vscode.markdown.preview.editor";
  const auto offers = {std::function(lens), std::function(completion), std::function(resource)};
  EXPECT_TRUE(instead(quick, {"a.txt"}));
  EXPECT_FALSE(instead(quick, {">Terminal: Run Selected Text"}));
  EXPECT_FALSE(instead("vscode.open", Json::array({uri((folder_ / "home/.ssh/id_rsa").string())})));
  EXPECT_TRUE(instead("vscode.open", {""}));
  for (const auto& offered : offers) {
    EXPECT_TRUE(offered(quick, {"a.txt"}));
    EXPECT_FALSE(offered(quick, {">Terminal: Run Selected Text"}));
    EXPECT_TRUE(offered("setContext", {"mine.on", true}));
    EXPECT_FALSE(offered("setContext", {"bulkhead.on", true}));
    EXPECT_TRUE(offered("vscode.open", Json::array({file})));
    EXPECT_FALSE(
        offered("vscode.open", Json::array({uri((folder_ / "home/.ssh/id_rsa").string())})));
    EXPECT_FALSE(offered("vscode.openWith", Json::array({file, preview})));
    EXPECT_FALSE(offered("vscode.open", Json::array({file, Json{{"override", preview}}})));
    EXPECT_FALSE(offered("type", Json::array({Json{{"text", "x"}}})));
    EXPECT_FALSE(offered("type", "text"));
    for (const char* id : {"editor.action.insertSnippet", "editor.action.showSnippets"})
      EXPECT_FALSE(offered(id, Json::array({Json{{"snippet", "x"}}}))) << id;
    EXPECT_TRUE(offered("editor.action.commentLine", Json::array({1}))) << "has no words";
  }
  for (const char* id :
       {"workbench.action.quickOpen", "setContext", "vscode.openWith", "type", "paste"})
    EXPECT_FALSE(link(id, {"x"})) << id;
  EXPECT_TRUE(link("classified.here", {"x"}));
  // Nor is a picture fetched that stands beside it.
  const auto icon = [](const std::string& scheme) {
    return Json{{"scheme", scheme}, {"path", "/PIC"}};
  };
  for (const char* scheme : {"http", "https", "HTTPS", "file"}) {
    const Json raw = Json::array({7, file, Json::array({icon(scheme), nullptr}), ""});
    EXPECT_EQ(
        call("MainThreadSCM", "$spliceResourceStates", {1, Json::array({Json::array({raw})})}),
        "passed");
    EXPECT_EQ(text(sent_.workbench.at(0)).find("PIC") != std::string::npos,
              scheme == std::string("file"));
  }
  // Nor what a click compares.
  const Json web = {{"scheme", "https"}, {"authority", "evil.test"}, {"path", "/"}};
  const Json raw = Json::array(
      {7, web, Json::array({nullptr, nullptr}), "", false, false, "", nullptr, web, web});
  EXPECT_EQ(call("MainThreadSCM", "$spliceResourceStates", {1, Json::array({Json::array({raw})})}),
            "passed");
  EXPECT_EQ(text(sent_.workbench.at(0)).find("evil.test"), std::string::npos);
}

}  // namespace
}  // namespace bulkhead::testing
