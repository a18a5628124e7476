// A host that writes its own messages: who it says it is, in any shape, and what nobody but it
// says.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

class ForgedTest : public BrokerTest {
 protected:
  void with(const std::string& permissions) { start({"me.mine"}, nullptr, permissions); }
  // What the workbench gets of a request that passes; empty where none does.
  const Json own_id_ = {{"value", "Me.Mine"}, {"_lower", "me.mine"}};
  const Json others_id_ = {{"value", "cloud.other"}, {"_lower", "cloud.other"}};
};

// The workbench makes "publisher.name" of an extension's description, here and for secrets too.
TEST_F(ForgedTest, AnExtensionIsWhoItsIdSaysAndNobodyElse) {
  with(R"("storage")");
  const auto keeps = [this](const Json& id) {
    return call("MainThreadStorage", "$setValue", {true, id, Json::object()});
  };
  EXPECT_EQ(keeps("me.mine"), "passed");
  for (const char* key : {"publisher", "name", "manifest", "toString", "$mid"}) {
    Json forged = own_id_;
    forged[key] = "cloud";
    EXPECT_NE(keeps(forged), "passed") << key;
    EXPECT_NE(keeps(Json{{"id", forged}}), "passed") << key;
  }
  for (const Json& none : {Json(), Json::array({"me.mine"}), Json::object(), Json(1)})
    EXPECT_NE(keeps(none), "passed") << none;
}

TEST_F(ForgedTest, WhatTheEditorHasOnlyLaterIsNotItsOwnByThen) {
  const auto runs = [this](const std::string& command) {
    return call("MainThreadCommands", "$executeCommand", {command, Json::array({1}), false});
  };
  for (const char* late : {"workbench.action.tasks.later", "editor.later", "bulkhead.later"}) {
    const std::string before = runs(late);
    EXPECT_NE(before, "passed") << late;
    EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {late}), "passed") << late;
    EXPECT_EQ(runs(late), before) << late;
  }
}

TEST_F(ForgedTest, ACommandThatIsDeclaredMeanwhileIsAnothersNow) {
  const auto runs = [this] {
    return call("MainThreadCommands", "$executeCommand", {"late.pay", Json::array(), false});
  };
  ASSERT_EQ(call("MainThreadCommands", "$registerCommand", {"late.pay"}), "passed");
  EXPECT_EQ(runs(), "passed");
  deliver("$deltaExtensions", R"([{"toAdd": [{"identifier": {"value": "late.comer"},
      "contributes": {"commands": [{"command": "late.pay"}]}}], "myToAdd": []}])");
  EXPECT_NE(runs(), "passed");
}

TEST_F(ForgedTest, APatternMeansTheEditorsCommandsAndNoOnesElse) {
  const auto runs = [this](const char* command) {
    return call("MainThreadCommands", "$executeCommand", {command, Json::array(), false});
  };
  EXPECT_EQ(runs("cursorMove"), "passed");
  EXPECT_THAT(runs("cursorTools.run"), HasSubstr("commands-foreign"));
}

TEST_F(ForgedTest, ContextsHaveTextsForKeys) {
  const auto sets = [this](const Json& key) {
    return call("MainThreadCommands", "$executeCommand",
                {"setContext", Json::array({key, 1}), false});
  };
  EXPECT_EQ(sets("mine.state"), "passed");
  for (const Json& key : {Json("bulkhead.state"), Json::array({"bulkhead.state"}), Json(1), Json()})
    EXPECT_NE(sets(key), "passed") << key;
}

// Documents of one's own are no files of a file system that comes later, nor are those of one that
// went.
TEST_F(ForgedTest, FileSystemsOfOthersAreTheirsWheneverTheyCome) {
  with(R"("documents","workspace-files")");
  const auto reads = [this](const char* scheme) {
    return call("MainThreadFileSystem", "$readFile", {uri("/x", scheme)});
  };
  const auto provides = [this](int handle, const char* scheme) {
    return call("MainThreadFileSystem", "$registerFileSystemProvider", {handle, scheme, 2});
  };
  const auto told = [this](const std::string& scheme, const std::string& capabilities) {
    deliver("$acceptProviderInfos", R"([{"scheme":")" + scheme + "\"}," + capabilities + "]");
  };
  EXPECT_EQ(call("MainThreadDocumentContentProviders", "$registerTextContentProvider", {1, "ssh"}),
            "passed");
  EXPECT_EQ(reads("ssh"), "passed");
  told("ssh", "2");
  EXPECT_NE(reads("ssh"), "passed");

  EXPECT_EQ(provides(1, "mem"), "passed");
  told("mem", "2");
  EXPECT_EQ(reads("mem"), "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$unregisterProvider", {1}), "passed");
  told("mem", "null");
  told("mem", "2");
  EXPECT_NE(reads("mem"), "passed") << "somebody else's by now";

  // In VS Code 3, 3.0 and 3e0 are one handle, and what is no number is found by nobody's rules.
  for (const char* spelt : {"3.0", "3e0", "30e-1"}) {
    const std::string scheme = std::string("s") + spelt[1] + spelt[2];
    EXPECT_EQ(provides(3, scheme.c_str()), "passed");
    EXPECT_EQ(call(proxy_of("MainThreadFileSystem"), "$unregisterProvider",
                   std::string("[") + spelt + "]"),
              "passed");
    told(scheme, "2");
    EXPECT_NE(reads(scheme.c_str()), "passed") << spelt;
  }
  EXPECT_EQ(call(proxy_of("MainThreadFileSystem"), "$registerFileSystemProvider",
                 R"([{"$$ref$$":-1},"odd",2])"),
            "passed");
  EXPECT_NE(reads("odd"), "passed");

  // Who loses the race hears of it last.
  EXPECT_EQ(provides(2, "ftp"), "passed");
  told("ftp", "2");
  RpcReply lost;
  lost.type = RpcType::kReplyErrorEmpty;
  lost.number = number_;
  ASSERT_TRUE(broker_->from_workbench(write_reply(lost), sent_).ok());
  EXPECT_NE(reads("ftp"), "passed");
}

// Whose files the workbench would read for it, past the policy.
TEST_F(ForgedTest, SchemesOfTheEditorAndOfOthersAreTheirs) {
  with(R"("documents","workspace-files")");
  const auto takes = [this](const Json& scheme) {
    std::string text =
        call("MainThreadDocumentContentProviders", "$registerTextContentProvider", {1, scheme});
    EXPECT_EQ(call("MainThreadFileSystem", "$registerFileSystemProvider", {1, scheme, 0}), text);
    return text;
  };
  for (const char* scheme :
       {"vscode-local-history", "VSCode-Local-History", "trustedDomains", "mcp-resource",
        "chat-editing-text-model", "inmemory", "tmp", "file", "vscode-remote", "output", ""})
    EXPECT_NE(takes(scheme), "passed") << scheme;
  EXPECT_NE(takes(Json::array({"mine"})), "passed");
  const Json history = {{"$mid", 1},
                        {"scheme", "vscode-local-history"},
                        {"path", "/x"},
                        {"query", R"({"location":"vscode-remote://host:1/home/u/.ssh/id_rsa"})"}};
  EXPECT_NE(call("MainThreadFileSystem", "$readFile", {history}), "passed");
  // A file system that was there before is another extension's; one that comes after it asked, its
  // own.
  deliver("$acceptProviderInfos", R"([{"scheme":"ssh"},2])");
  EXPECT_NE(takes("ssh"), "passed");
  EXPECT_NE(call("MainThreadFileSystem", "$readFile", {uri("/x", "ssh")}), "passed");
  deliver("$acceptProviderInfos", R"([{"scheme":"ssh"},null])");
  EXPECT_EQ(takes("ssh"), "passed");
  deliver("$acceptProviderInfos", R"([{"scheme":"ssh"},2])");
  EXPECT_EQ(takes("ssh"), "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {uri("/x", "ssh")}), "passed");
  const auto changed = [this](const Json& resource) {
    return call("MainThreadFileSystem", "$onFileSystemChange",
                {1, Json::array({{{"resource", resource}, {"type", 2}}})});
  };
  EXPECT_EQ(changed(uri("/x", "ssh")), "passed");
  EXPECT_NE(changed(nullptr), "passed");
  EXPECT_NE(changed(uri(work("a.txt"))), "passed");
}

// "x" of ["x"], as VS Code makes texts, and names that are none.
TEST_F(ForgedTest, NamesAreTexts) {
  with(R"("commands","webview","scm","settings-write","window")");
  for (const Json& name : {Json(), Json(""), Json::array({"cloud.panel"}), Json{{"id", ""}},
                           Json{{"id", Json::array({"cloud.panel"})}}}) {
    EXPECT_NE(call("MainThreadWebviewPanels", "$registerSerializer", {name}), "passed") << name;
    EXPECT_NE(call("MainThreadTimeline", "$registerTimelineProvider", {name}), "passed") << name;
    EXPECT_NE(call("MainThreadCommands", "$registerCommand", {name}), "passed") << name;
    EXPECT_NE(call("MainThreadCommands", "$executeCommand", {name, Json::array()}), "passed")
        << name;
    EXPECT_NE(call("MainThreadConfiguration", "$updateConfigurationOption", {1, name, true}),
              "passed")
        << name;
    EXPECT_NE(call("MainThreadSCM", "$registerSourceControl",
                   {1, nullptr, name, "Git", nullptr, nullptr, false,
                    uri("/git/scm0/input", "vscode-scm")}),
              "passed")
        << name;
  }
  EXPECT_EQ(call("MainThreadWebviewPanels", "$registerSerializer", {"mine.panel"}), "passed");
}

TEST_F(ForgedTest, ToolsAreNotRunInAnothersName) {
  with(R"("language-models")");
  const auto runs = [this](const char* tool) {
    return passed("MainThreadLanguageModelTools", "$invokeTool",
                  {Json{{"toolId", tool},
                        {"parameters", Json::object()},
                        {"preToolUseResult", {{"permissionDecision", "allow"}}},
                        {"preApproved", {{"type", 1}, {"reason", "[x](command:evil)"}}},
                        {"selectedCustomButton", "Allow"}}});
  };
  const Json sent = runs("mine_tool");
  ASSERT_TRUE(sent.is_array());
  EXPECT_EQ(sent[0]["toolId"], "mine_tool");
  for (const char* decided : {"preToolUseResult", "preApproved", "selectedCustomButton"})
    EXPECT_FALSE(sent[0].contains(decided)) << decided;
  for (const char* tool : {"cloud_tool", "run_in_terminal", ""})
    EXPECT_TRUE(runs(tool).is_null()) << tool;
  EXPECT_EQ(call("MainThreadLanguageModelTools", "$registerTool", {"mine_tool", false}), "passed");
  EXPECT_NE(call("MainThreadLanguageModelTools", "$registerTool", {"cloud_tool", false}), "passed");
  const auto registers = [this](const Json& id) {
    return passed("MainThreadLanguageModelTools", "$registerToolWithDefinition",
                  {id,
                   Json{{"id", "late"},
                        {"toolSet", "edit"},
                        {"legacyToolReferenceFullNames", {"runCommands/runInTerminal"}},
                        {"source", {{"type", "internal"}}}},
                   false});
  };
  EXPECT_TRUE(registers(others_id_).is_null());
  const Json tool = registers(own_id_);
  ASSERT_TRUE(tool.is_array());
  EXPECT_FALSE(tool[1].contains("toolSet"));
  EXPECT_FALSE(tool[1].contains("legacyToolReferenceFullNames"));
  EXPECT_EQ(tool[1]["source"]["type"], "extension");
  EXPECT_EQ(tool[1]["source"]["extensionId"]["value"], "me.mine");
  with(R"("language-models","commands-foreign")");
  EXPECT_FALSE(runs("cloud_tool").is_null());
}

TEST_F(ForgedTest, ChatsEditNothingThatItMayNotWrite) {
  with(R"("language-models")");
  const auto key = uri((folder_ / "home/.ssh/id_rsa").string()), own = uri(work("a.txt"));
  const auto says = [this](const Json& part) {
    std::string one =
        call("MainThreadChatAgents2", "$handleProgressChunk", {"r", Json::array({part})});
    EXPECT_EQ(call("MainThreadChatAgents2", "$handleProgressChunk",
                   {"r", Json::array({Json::array({part, 1})})}),
              one);
    EXPECT_EQ(call("MainThreadChatSessions", "$handleProgressChunk",
                   {1, own_id_, "r", Json::array({part})}),
              one);
    return one;
  };
  EXPECT_EQ(says({{"kind", "markdownContent"}, {"content", {{"value", "x"}}}}), "passed");
  EXPECT_EQ(says({{"kind", "reference"}, {"reference", key}}), "passed");
  for (const char* kind : {"textEdit", "codeblockUri", "notebookEdit"}) {
    EXPECT_EQ(says({{"kind", kind}, {"uri", own}, {"edits", Json::array()}}), "passed") << kind;
    EXPECT_NE(says({{"kind", kind}, {"uri", key}, {"edits", Json::array()}}), "passed") << kind;
  }
  const Json edit = {{"kind", "workspaceEdit"},
                     {"edits", Json::array({{{"oldResource", own}, {"newResource", key}}})}};
  EXPECT_NE(says(edit), "passed");
  EXPECT_NE(says({{"kind", "externalEdits"}, {"resources", Json::array({own, key})}}), "passed");
  EXPECT_NE(says("textEdit"), "passed");
  const auto maps = [this](const Json& uri) {
    return call("MainThreadCodeMapper", "$handleProgress", {"r", Json{{"uri", uri}}});
  };
  EXPECT_EQ(maps(own), "passed");
  EXPECT_NE(maps(key), "passed");
  EXPECT_NE(maps(nullptr), "passed");
  // Nor does it stand for others there.
  const auto stands = [this](const Json& id, const char* agent) {
    return call("MainThreadChatAgents2", "$registerAgent", {1, id, agent, Json::object()});
  };
  EXPECT_EQ(stands(own_id_, "mine.chat"), "passed");
  EXPECT_NE(stands(others_id_, "mine.chat"), "passed");
  EXPECT_NE(stands(own_id_, "cloud.chat"), "passed");
  EXPECT_NE(call("MainThreadLanguageModels", "$registerLanguageModelProvider", {"cloud"}),
            "passed");
  EXPECT_NE(call("MainThreadLanguageModels", "$tryStartChatRequest", {others_id_, "gpt", 1}),
            "passed");
  EXPECT_EQ(call("MainThreadLanguageModels", "$tryStartChatRequest", {own_id_, "gpt", 1}),
            "passed");
}

TEST_F(ForgedTest, ChatsOfOthersAreNotItsOwn) {
  with(R"("language-models")");
  const auto session = [](const Json& scheme) {
    return Json{{"$mid", 1}, {"scheme", scheme}, {"path", "/1"}};
  };
  const auto says = [this](const char* method, const Json& said) {
    return call("MainThreadChatSessions", method, {1, said, Json::array()});
  };
  const auto item = [](const Json& resource) {
    return Json{{"resource", resource}, {"label", "x"}};
  };
  const auto changes = [](const Json& added, const Json& removed) {
    return Json{{"addedOrUpdated", Json::array({added})}, {"removed", Json::array({removed})}};
  };
  const Json own = session("mine.chat");
  EXPECT_EQ(says("$updateChatSessionInputState", nullptr), "passed");
  EXPECT_EQ(says("$updateChatSessionInputState", own), "passed");
  EXPECT_EQ(says("$addOrUpdateChatSessionItem", item(own)), "passed");
  EXPECT_EQ(says("$updateChatSessionItems", changes(item(own), own)), "passed");
  EXPECT_EQ(says("$registerChatSessionItemController", "mine.chat"), "passed");
  for (const char* type :
       {"cloud.chat", "local", "vscode-chat-session", "agent-host-claude", "x"}) {
    const Json other = session(type);
    EXPECT_NE(says("$updateChatSessionInputState", other), "passed") << type;
    EXPECT_NE(says("$addOrUpdateChatSessionItem", item(other)), "passed") << type;
    EXPECT_NE(says("$updateChatSessionItems", changes(item(other), own)), "passed") << type;
    EXPECT_NE(says("$updateChatSessionItems", changes(item(own), other)), "passed") << type;
    for (const char* method :
         {"$registerChatSessionItemController", "$registerChatSessionContentProvider"})
      EXPECT_NE(says(method, type), "passed") << type;
    EXPECT_NE(call("MainThreadChatAgents2", "$registerChatSessionCustomizationProvider",
                   {1, type, Json::object(), own_id_}),
              "passed")
        << type;
  }
  // In a shape that VS Code reads otherwise.
  Json both = session("cloud.chat");
  both["resource"] = own;
  for (const Json& odd : {both, session({"mine.chat"}), Json{{"path", "/1"}}, Json(1)})
    EXPECT_NE(says("$updateChatSessionInputState", odd), "passed") << odd;
}

// Whoever comes last is asked what a chat is about, below the title that a package declares.
TEST_F(ForgedTest, WhatChatsAreAboutIsNamedAfterTheExtension) {
  with(R"("language-models")");
  for (const char* method :
       {"$registerChatExplicitContextProvider", "$registerChatResourceContextProvider",
        "$registerChatWorkspaceContextProvider"}) {
    const auto provides = [&](const Json& id) {
      return call("MainThreadChatContext", method, {1, id, Json::array()});
    };
    EXPECT_EQ(provides("Me.Mine-issues"), "passed") << method;
    for (const Json& id : {Json("cloud.other-issues"), Json("me.mine-too-issues"), Json("issues"),
                           Json("me.mine"), Json()})
      EXPECT_NE(provides(id), "passed") << method << id;
  }
}

TEST_F(ForgedTest, CommentsStandWhereItMayRead) {
  with(R"("comments")");
  const auto says = [this](const Json& where, const Json& id) {
    return call("MainThreadComments", "$createCommentThread",
                {1, 2, "t", where, nullptr, Json::array(), id, false, nullptr});
  };
  EXPECT_EQ(says(uri(work("a.txt")), own_id_), "passed");
  EXPECT_NE(says(uri(work("a.txt")), others_id_), "passed");
  EXPECT_NE(says(uri((folder_ / "home/.ssh/id_rsa").string()), own_id_), "passed");
}

TEST_F(ForgedTest, PartsOfTheWindowThatHaveNames) {
  with(R"("notebooks","testing","debug","webview","window")");
  EXPECT_EQ(call("MainThreadNotebookRenderers", "$postMessage", {nullptr, "mine.renderer", 1}),
            "passed");
  EXPECT_NE(call("MainThreadNotebookRenderers", "$postMessage", {nullptr, "cloud.renderer", 1}),
            "passed");
  const auto kernel = [this](const char* name, const Json& id) {
    return call("MainThreadNotebookKernels", "$addKernel",
                {1, Json{{"id", name}, {"extensionId", id}, {"notebookType", "x"}}});
  };
  EXPECT_EQ(kernel("Me.Mine/python", own_id_), "passed");
  for (const char* name : {"cloud.other/python", "me.mine", "me.mined/x", "", "/"})
    EXPECT_NE(kernel(name, own_id_), "passed") << name;
  EXPECT_NE(kernel("me.mine/python", others_id_), "passed");
  EXPECT_EQ(call("MainThreadTesting", "$registerTestController", {"mine", "Mine", 0}), "passed");
  EXPECT_EQ(call("MainThreadTesting", "$publishDiff", {"mine", Json::array()}), "passed");
  for (const char* method : {"$publishDiff", "$removeTestProfile", "$unregisterTestController"})
    EXPECT_NE(call("MainThreadTesting", method, {"cloud", Json::array()}), "passed") << method;
  // What it has given up may be another's by now.
  EXPECT_EQ(call("MainThreadTesting", "$unregisterTestController", {"mine"}), "passed");
  EXPECT_NE(call("MainThreadTesting", "$publishDiff", {"mine", Json::array()}), "passed");
  for (const char* method :
       {"$registerDebugAdapterDescriptorFactory", "$registerDebugConfigurationProvider"}) {
    EXPECT_EQ(call("MainThreadDebugService", method, {"mine", 1}), "passed") << method;
    for (const char* type : {"node", "*", "unknown"})
      EXPECT_NE(call("MainThreadDebugService", method, {type, 1}), "passed") << method << type;
  }
  EXPECT_NE(
      call("MainThreadCustomEditors", "$onDidEdit", {uri(work("a.txt")), "cloud.editor", 1, "x"}),
      "passed");
  EXPECT_NE(call("MainThreadTimeline", "$unregisterTimelineProvider", {"timeline.localHistory"}),
            "passed");
}

// The workbench gives every page of a notebook what lies below the place of each serializer.
TEST_F(ForgedTest, SerializersBringNoFoldersIntoPages) {
  const std::string sent =
      passed("MainThreadNotebook", "$registerNotebookSerializer",
             {1, {{"id", {{"value", "me.mine"}}}, {"location", uri("/")}}, "mine", Json::object()})
          .dump();
  EXPECT_THAT(sent, HasSubstr("me.mine"));
  EXPECT_EQ(sent.find("location"), std::string::npos);
}

TEST_F(ForgedTest, KernelsBringNoFoldersIntoPages) {
  const Json kernel = {{"id", "me.mine/x"},
                       {"extensionId", {{"value", "me.mine"}}},
                       {"extensionLocation", uri("/folder")},
                       {"preloads", {{{"uri", uri("/folder/x.js")}}}}};
  const Json sent = passed("MainThreadNotebookKernels", "$addKernel", {1, kernel});
  EXPECT_EQ(sent[1]["extensionLocation"]["scheme"], "bulkhead");
  EXPECT_EQ(sent[1]["preloads"], Json::array());
}

// The window keeps these with a page that it shows anew, and reads there what that may load and
// run.
TEST_F(ForgedTest, OptionsOfAPageSayNothingElse) {
  with(R"("webview","window")");
  const Json options = {{"retainContextWhenHidden", true},
                        {"enableFindWidget", "yes"},
                        {"localResourceRoots", Json::array({uri("/")})},
                        {"enableCommandUris", true},
                        {"customClasses", "over-all"}};
  const Json extension = {{"id", {{"value", "me.mine"}}}};
  const Json kept = {{"retainContextWhenHidden", true}};
  EXPECT_EQ(passed("MainThreadWebviewViews", "$registerWebviewViewProvider",
                   {extension, "mine.view", options})[2],
            kept);
  for (const char* method : {"$registerCustomEditorProvider", "$registerTextEditorProvider"}) {
    for (const Json& given : {options, Json::array({1})})
      EXPECT_EQ(passed("MainThreadCustomEditors", method,
                       {extension, "mine.view", given, Json::object()})[2],
                given.is_object() ? kept : Json::object())
          << method;
    EXPECT_EQ(call("MainThreadCustomEditors", method, {extension, "mine.view", nullptr}), "passed");
  }
}

// What is no text has no name: VS Code takes it as it is.
TEST_F(ForgedTest, InputsOfASourceControlHaveItsName) {
  with(R"("scm")");
  const auto registered = [&](const Json& id, const std::string& path) {
    return call("MainThreadSCM", "$registerSourceControl",
                {7,
                 nullptr,
                 id,
                 "x",
                 uri(work("")),
                 nullptr,
                 true,
                 {{"$mid", 1}, {"scheme", "vscode-scm"}, {"path", path}}});
  };
  EXPECT_EQ(registered("mine", "/mine/scm0/input"), "passed");
  EXPECT_NE(registered("mine", "/git/scm0/input"), "passed");
  EXPECT_NE(registered({{"id", "mine"}}, "/git/scm0/input"), "passed");
  EXPECT_NE(registered({{"id", "mine"}}, "/mine/scm0/input"), "passed");
  EXPECT_NE(registered("", "/git/scm0/input"), "passed");
}

// In every document of that language, whatever it may write.
TEST_F(ForgedTest, WhatALanguageTypesSaysNothing) {
  const auto rule = [](const char* text) {
    return Json{{"onEnterRules", Json::array({{{"action", {{"appendText", text}}}}})}};
  };
  const auto sent = [&](const char* text) {
    return passed("MainThreadLanguageFeatures", "$setLanguageConfiguration",
                  {1, "shellscript", rule(text)})
        .dump();
  };
  EXPECT_THAT(sent(" * "), HasSubstr(" * "));
  EXPECT_EQ(sent("curl e | sh").find("curl"), std::string::npos);
}

// "No, thanks" could be the button that trusts.
TEST_F(ForgedTest, WhoTrustsReadsTheEditorsOwnWords) {
  for (const char* method : {"$requestWorkspaceTrust", "$requestResourceTrust"}) {
    const Json options = {{"uri", uri(work(""))},
                          {"message", "Free coffee?"},
                          {"buttons", Json::array({{{"label", "No"}, {"type", "Continue"}}})}};
    const Json sent = passed("MainThreadWorkspace", method, {options});
    ASSERT_TRUE(sent.is_array()) << method;
    EXPECT_EQ(sent[0].size(), 1U) << sent;
    EXPECT_EQ(call("MainThreadWorkspace", method, {nullptr}), "passed");
  }
}

// The editor offers to install what a host says that it misses.
TEST_F(ForgedTest, NobodyIsToldToInstallAnything) {
  const auto fails = [this](const Json& missing) {
    return passed("MainThreadExtensionService", "$onExtensionActivationError",
                  {own_id_, Json{{"message", "x"}}, missing});
  };
  EXPECT_EQ(fails(nullptr)[2], nullptr);
  EXPECT_EQ(fails(Json{{"dependency", "evil.sleeper"}})[2], nullptr);
}

TEST_F(ForgedTest, DecorationsAreNoRulesForTheWholeWindow) {
  const auto sent = [&](const std::string& method, const std::vector<Json>& arguments) {
    if (call("MainThreadTextEditors", method, arguments) != "passed") return std::string("refused");
    return text(sent_.workbench.at(0));
  };
  const std::string rule = "none; .notifications-toasts:not(&){display:none}";
  const auto type = [](const std::string& css) {
    return Json{{"before", {{"contentText", "{x}"}, {"textDecoration", css}}}, {"border", "1px"}};
  };
  const auto made = [&](const std::string& css) {
    return sent("$registerTextEditorDecorationType",
                {Json{{"value", "me.mine"}}, "Type1", type(css)});
  };
  EXPECT_THAT(made("none; position: absolute"), HasSubstr("position: absolute"));
  EXPECT_THAT(made(rule), AllOf(Not(HasSubstr("toasts")), HasSubstr("{x}"), HasSubstr("1px")));
  EXPECT_THAT(sent("$trySetDecorations",
                   {"editor,1", "Type1", Json::array({Json{{"renderOptions", type(rule)}}})}),
              AllOf(Not(HasSubstr("toasts")), HasSubstr("{x}")));
  EXPECT_THAT(
      sent("$registerTextEditorDecorationType",
           {Json{{"value", "me.mine"}}, "Type1", {{"gutterIconSize", Json::array({rule})}}}),
      Not(HasSubstr("toasts")));
  for (const char* method : {"$registerTextEditorDecorationType", "$trySetDecorations"})
    for (const Json& name : {Json("a, .notifications-toasts, b"), Json::array({"a, .x"}), Json(""),
                             Json(std::string(30'000, 'a') + ", .x")})
      EXPECT_EQ(sent(method, {"editor,1", name, Json::object()}), "refused") << name;
}

// A block by its place holds by whichever way one comes: not in a copy, nor in a page.
TEST_F(ForgedTest, WhatIsBlockedInAFolderIsNotTakenAlongWithIt) {
  start({"me.mine"}, nullptr, R"("webview","workspace-files")", R"("${home}")");
  const auto copies = [this](const std::string& from) {
    return call("MainThreadFileSystem", "$copy",
                {uri((folder_ / from).string()), uri(work("copy")), Json::object()});
  };
  fs::create_directories(folder_ / "home/plain");
  EXPECT_EQ(copies("home/plain"), "passed");
  EXPECT_THAT(copies("home"), HasSubstr("NoPermissions"));
  fs::create_directory_symlink(folder_ / "home", folder_ / "work/by-link");
  EXPECT_THAT(copies("work/by-link/"), HasSubstr("NoPermissions"));
  const Json roots = Json::array({uri((folder_ / "home/plain").string()),
                                  uri((folder_ / "home").string()), uri(work("by-link"))});
  EXPECT_EQ(call("MainThreadWebviews", "$setOptions", {"1", Json{{"localResourceRoots", roots}}}),
            "passed");
  const auto passed = parse_rpc(sent_.workbench.at(0));
  const Json left = Json::parse(std::get<RpcRequest>(*passed).json)[1]["localResourceRoots"];
  ASSERT_EQ(left.size(), 1U);
  EXPECT_THAT(left[0]["path"].get<std::string>(), HasSubstr("plain"));
}

// VS Code saves such a document where its path says, and asks nobody where no file is there yet.
TEST_F(ForgedTest, ADocumentThatIsToBeAFileIsOne) {
  with(R"("documents","commands","workspace-edit")");
  const auto document = [](const std::string& path) {
    return Json{{"scheme", "untitled"}, {"authority", ""}, {"path", path}};
  };
  const std::string profile = (folder_ / "home/.bash_profile").string();
  const auto is_done = [&](const std::string& path) {
    const std::string open =
        call("MainThreadDocuments", "$tryOpenDocument", {document(path), {{"content", "x"}}});
    EXPECT_EQ(call("MainThreadDocuments", "$trySaveDocument", {document(path)}), open) << path;
    EXPECT_EQ(call("MainThreadCommands", "$executeCommand",
                   {"vscode.open", Json::array({"untitled:" + path}), false}),
              open)
        << path;
    return open == "passed";
  };
  EXPECT_TRUE(is_done(work("new.ts")));
  EXPECT_TRUE(is_done("Untitled-1") && is_done("Untitled-2.ts"));
  for (const std::string& path : std::vector<std::string>{
           profile, profile.substr(1), work(".git"), work(".git/hooks/post-commit"), "/Untitled-1",
           "Untitled-1/../../etc/x", "Untitled-1.x/../../etc/x", "Untitled-.ts"})
    EXPECT_FALSE(is_done(path)) << path;
}

TEST_F(ForgedTest, AnAddressIsOneHoweverItIsWritten) {
  with(R"("documents","commands","window","scm")");
  const auto opens = [this](const Json& address) {
    return call("MainThreadCommands", "$executeCommand",
                {"vscode.open", Json::array({address}), false});
  };
  EXPECT_EQ(opens(work("a.txt")), "passed");
  EXPECT_EQ(opens("a.txt"), "passed");
  for (const char* text : {"code-oss:mcp/install?{}", "code-oss://you.ext/callback",
                           "https:evil.example/x", "mailto:a@b", "extension:x"})
    EXPECT_NE(opens(text), "passed") << text;
  EXPECT_NE(
      call("MainThreadDocumentContentProviders", "$registerTextContentProvider", {1, "code-oss"}),
      "passed");
}

TEST_F(ForgedTest, TheEditorsOwnAddressIsNotOpened) {
  with(R"("open-external")");
  const auto opens = [this](const std::string& authority) {
    return call("MainThreadWindow", "$openUri",
                {Json{{"scheme", "http"}, {"authority", authority}, {"path", "/"}}, Json(),
                 Json::object()});
  };
  EXPECT_EQ(opens("example.com"), "passed");
  EXPECT_NE(opens("host:1"), "passed");
  EXPECT_NE(opens("HOST:1"), "passed");
  // A browser would ask the same server.
  for (const char* same :
       {"x@host:1", "ho\tst:1", "ho%73t:1", "host:1\\@example.com", "\xef\xbd\x88ost:1"})
    EXPECT_NE(opens(same), "passed") << same;
}

TEST_F(ForgedTest, ProgressRunsNothingWhenItIsClicked) {
  with(R"("window")");
  const auto shown = [this](const Json& place) {
    return passed("MainThreadProgress", "$startProgress",
                  {1,
                   Json{{"location", place},
                        {"title", "Indexing"},
                        {"cancellable", true},
                        {"command", "workbench.action.terminal.runSelectedText"},
                        {"buttons", {"Yes"}},
                        {"detail", "x"}},
                   "me.mine"})[1];
  };
  for (const Json& place : {Json(10), Json(15), Json(1), Json("mine.view")})
    EXPECT_EQ(shown(place)["location"], place);
  for (const Json& place : {Json(20), Json(20.0), Json(), Json::array({20})})
    EXPECT_EQ(shown(place)["location"], 15);
  for (const char* place : {"workbench.scm", "workbench.view.extension.mine"})
    EXPECT_EQ(shown(place)["location"], place);
  for (const char* place : {"cloud.view", "workbench.view.extension.cloud", "nobody.view", ""})
    EXPECT_EQ(shown(place)["location"], 10) << place;
  EXPECT_EQ(shown(10)["command"], "notifications.showList") << "the editor's";
  const Json left = shown(15);
  EXPECT_EQ(left["title"], "Indexing");
  EXPECT_EQ(left["cancellable"], true);
  for (const char* key : {"command", "buttons", "detail"}) EXPECT_FALSE(left.contains(key)) << key;
}

// What a text with buffers is to the workbench: an object whose `value` is that, which some methods
// take out whatever they were given.
TEST_F(ForgedTest, WhatIsJudgedIsWhatTheWorkbenchTakesOut) {
  using Type = RpcArgument::Type;
  with(R"("workspace-edit","window","documents","commands")");
  const auto send = [this](const char* actor, const char* method,
                           const std::vector<std::pair<Type, Json>>& arguments) {
    RpcRequest request;
    request.number = ++number_;
    request.proxy = proxy_of(actor);
    request.method = method;
    request.mixed = true;
    std::vector<std::string> texts;
    texts.reserve(arguments.size());
    for (const auto& [type, value] : arguments) texts.push_back(value.dump());
    for (size_t i = 0; i < arguments.size(); ++i)
      request.arguments.push_back({arguments[i].first, texts[i], {}});
    return call(request);
  };
  const auto edits = [this](const std::string& path) {
    return Json{{"edits", {{{"resource", uri(path)}, {"textEdit", Json::object()}}}}};
  };
  Json hidden = edits(work("a.txt"));
  hidden["value"] = edits((folder_ / "home/.bashrc").string());
  const auto edit = [&](Type type, const Json& value) {
    return send("MainThreadBulkEdits", "$tryApplyWorkspaceEdit", {{type, value}});
  };
  EXPECT_EQ(edit(Type::kJsonWithBuffers, edits(work("a.txt"))), "passed");
  EXPECT_EQ(edit(Type::kJsonWithBuffers, hidden), "passed") << "its value is nobody's";
  EXPECT_NE(edit(Type::kJson, hidden), "passed");
  EXPECT_NE(edit(Type::kJson, edits(work("a.txt"))), "passed");
  RpcRequest plain;
  plain.number = ++number_;
  plain.proxy = proxy_of("MainThreadBulkEdits");
  plain.method = "$tryApplyWorkspaceEdit";
  const std::string list = Json::array({hidden}).dump();
  plain.json = list;
  EXPECT_NE(call(plain), "passed");

  // Else whose it is would stand where the workbench does not look.
  const auto shows = [&](Type type) {
    return send("MainThreadMessageService", "$showMessage",
                {{Type::kJson, 1},
                 {Type::kJson, "Bulkhead: allow all?"},
                 {type, Json::object()},
                 {Type::kJson, Json::array()}});
  };
  EXPECT_EQ(shows(Type::kJson), "passed");
  EXPECT_NE(shows(Type::kJsonWithBuffers), "passed");
  const auto runs = [&](Type type) {
    return send("MainThreadCommands", "$executeCommand",
                {{Type::kJson, "classified.here"}, {type, Json::array({1})}, {Type::kJson, false}});
  };
  EXPECT_EQ(runs(Type::kJson), "passed");
  EXPECT_EQ(runs(Type::kJsonWithBuffers), "passed");
}

// VS Code's mixin() goes into what is there already: into the object that all others are like.
TEST_F(ForgedTest, NothingIsMergedIntoTheObjectThatAllOthersAreLike) {
  with(R"("window","documents","workspace-files")");
  const uint8_t proxy = proxy_of("MainThreadMessageService");
  const auto shows = [&](const std::string& options) {
    return call(proxy, "$showMessage", R"([1,"x",)" + options + ",[]]");
  };
  EXPECT_EQ(shows(R"({"detail":"__proto__","x":["__proto__"],"y\"__proto__\"":1})"), "passed");
  for (const char* options : {R"({"__proto__":{}})", R"({"a":[{"b":{"\u005f_proto__":1}}]})",
                              R"({"a":1,"__proto__" : 1})"})
    EXPECT_THAT(shows(options), HasSubstr("the workbench's own objects")) << options;

  ASSERT_NE(deliver("$getChildren", R"(["mine.view"])"), "");
  EXPECT_THAT(answer(Json::array({Json{{"handle", "__proto__"}}})), HasSubstr("handle"));
  ASSERT_NE(deliver("$getChildren", R"(["mine.view"])"), "");
  const std::string told =
      answer(Json{{"a", {{"__proto__", {{"__proto__", {{"initialText", "x"}}}}}}}});
  EXPECT_EQ(told.size(), 5U);
  EXPECT_EQ(told[0], static_cast<char>(RpcType::kReplyErrorEmpty));
}

TEST_F(ForgedTest, ArgumentsAreAList) {
  with(R"("window")");
  const uint8_t proxy = proxy_of("MainThreadMessageService");
  EXPECT_EQ(call(proxy, "$showMessage", "\n [1, \"x\", {}, []]"), "passed");
  for (const char* other : {R"({"0":1,"1":"Bulkhead: allow?","2":{},"3":[],"length":4})",
                            R"( {"length":0})", "", " ", "null", "1", R"("x")"})
    EXPECT_NE(call(proxy, "$showMessage", other), "passed") << other;
}

}  // namespace
}  // namespace bulkhead::testing
