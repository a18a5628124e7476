// What a host answers, and what the workbench would do with it without asking again.
#include <set>

#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

class BrokerReplyTest : public BrokerTest {
 protected:
  std::string reply_to(const std::string& method, const Json& value) {
    deliver(method, "[1]");
    return answer(value);
  }
  std::string key() const { return (folder_ / "home/.ssh/id_rsa").string(); }
};

// A quick fix that runs on saving, a rename, a paste: nobody looks at every file that they change.
TEST_F(BrokerReplyTest, EditsAreDecidedWhateverTheyComeWith) {
  const auto edit = [&](const std::string& path, const char* member) {
    Json one = {{member, uri(path)}, {"textEdit", {{"text", "EVIL"}}}};
    return Json{{"edits", {{{"resource", uri(work("a.txt"))}}, one}}};
  };
  for (const char* member : {"resource", "newResource", "oldResource"}) {
    const auto passes = [&](const std::string& method, const auto& wrap) {
      EXPECT_THAT(reply_to(method, wrap(edit(work("b.txt"), member))), HasSubstr("EVIL")) << method;
      for (const std::string& path : {key(), work(".git/hooks"), work("link"), work(".git")})
        EXPECT_EQ(reply_to(method, wrap(edit(path, member))).find("EVIL"), std::string::npos)
            << method << path;
    };
    passes("$provideRenameEdits", [](const Json& one) { return one; });
    passes("$provideCodeActions", [](const Json& one) {
      return Json{{"actions", {{{"title", "Fix"}, {"edit", one}}}}};
    });
    passes("$resolveCodeAction", [](const Json& one) { return Json{{"edit", one}}; });
    passes("$providePasteEdits", [](const Json& one) {
      return Json::array({Json{{"additionalEdit", one}}});
    });
  }
  EXPECT_THAT(reply_to("$provideRenameEdits", edit(key(), "resource")), HasSubstr("rejectReason"));
  // However its members are written, and what it may be read as instead.
  Json spelt = edit(work("b.txt"), "resource");
  spelt["edits"][1]["resource"]["fsPath"] = key();
  spelt["edits"][1]["resource"]["external"] = "file://" + key();
  EXPECT_EQ(reply_to("$provideRenameEdits", spelt).find("id_rsa"), std::string::npos);
  deliver("$provideRenameEdits", "[1]");
  sent_ = {};
  RpcReply escaped;
  escaped.type = RpcType::kReplyOkJson;
  escaped.number = asked_;
  std::string json = edit(key(), "resource").dump();
  json.replace(json.rfind("resource"), 1, "\\u0072");
  escaped.json = json;
  ASSERT_TRUE(broker_->from_host(write_reply(escaped), sent_).ok());
  EXPECT_EQ(text(sent_.workbench.at(0)).find("EVIL"), std::string::npos);
}

TEST_F(BrokerReplyTest, ASuggestionForAnotherDocumentIsDecided) {
  const auto suggest = [&](const std::string& path) {
    return reply_to("$provideInlineCompletions",
                    {{"items", {{{"insertText", "EVIL"}, {"uri", uri(path)}}}}});
  };
  EXPECT_THAT(suggest(work("a.txt")), HasSubstr("EVIL"));
  EXPECT_EQ(suggest(key()).find("EVIL"), std::string::npos);
}

// Completions and cells of notebooks name commands by their ids, links by their addresses, and a
// suggestion runs one when it is shown.
TEST_F(BrokerReplyTest, NothingThatIsPickedRunsOutside) {
  const std::string evil = "workbench.action.terminal.sendSequence";
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  const auto expect = [&](const std::string& method, const auto& wrap) {
    EXPECT_THAT(reply_to(method, wrap("mine.hello")), HasSubstr("mine.hello")) << method;
    EXPECT_EQ(reply_to(method, wrap(evil)).find(evil), std::string::npos) << method;
  };
  const auto command = [](const std::string& id) { return Json{{"id", id}, {"title", ""}}; };
  const auto item = [](const std::string& id) { return Json{{"a", "x"}, {"o", id}, {"p", {1}}}; };
  expect("$provideCompletionItems", [&](const std::string& id) { return Json{{"b", {item(id)}}}; });
  expect("$resolveCompletionItem", item);
  expect("$provideCompletionItems", [&](const std::string& id) {
    return Json{{"b", {{{"a", "x"}, {"o", id}, {"n", "handle"}}}}};
  });
  expect("$provideKernelSourceActions", [](const std::string& id) {
    return Json::array({{{"label", "x"}, {"command", id}}});
  });
  expect("$provideKernelSourceActions", [&](const std::string& id) {
    return Json::array({{{"label", "x"}, {"command", command(id)}}});
  });
  expect("$provideNotebookCellStatusBarItems", [](const std::string& id) {
    return Json{{"items", {{{"command", id}}}}};
  });
  for (const char* field : {"shownCommand", "gutterMenuLinkAction", "command"})
    expect("$provideInlineCompletions", [&](const std::string& id) {
      return Json{{"items", {{{field, command(id)}}}}};
    });
  // By its handle a completion's command is given that, and not what stands beside it.
  EXPECT_THAT(reply_to("$provideCompletionItems",
                       {{"b", {{{"o", "vscode.open"}, {"n", uri(work("a.txt"))}}}}}),
              HasSubstr("vscode.open"));
  EXPECT_EQ(reply_to("$provideCompletionItems",
                     {{"b", {{{"o", "vscode.open"}, {"n", uri(key())}, {"p", Json::array()}}}}})
                .find("vscode.open"),
            std::string::npos);
  for (const char* field : {"statusBarCommands", "secondaryCommands"})
    expect("$getChildren", [&](const std::string& id) {
      return Json{{field, Json::array({Json::array({command(id)})})}};
    });
  expect("$provideDocumentLinks", [](const std::string& id) {
    return Json{{"links", {{{"url", {{"scheme", "command"}, {"path", id}}}}}}};
  });
  expect("$resolveDocumentLink", [](const std::string& id) {
    return Json{{"url", "Command:" + id + "?%5B1%5D"}};
  });
}

// What the workbench would write into a document of itself, or when a person picks it: in a list of
// tasks, say, it would be run.
TEST_F(BrokerReplyTest, NothingIsWrittenIntoADocumentThatMayOnlyBeRead) {
  struct Case {
    const char* method;
    size_t document;  // the argument
    const char* reply;
  };
  const std::vector<Case> cases = {
      {"$provideInlineCompletions", 1, R"({"items":[{"insertText":"EVIL"}]})"},
      {"$provideColorPresentations", 1, R"([{"label":"x","textEdit":{"text":"EVIL"}}])"},
      {"$provideColorPresentations", 1, R"([{"additionalTextEdits":[{"text":"EVIL"}]}])"},
      {"$provideInlayHints", 1, R"({"hints":[{"label":"x","textEdits":[{"text":"EVIL"}]}]})"},
      {"$provideCompletionItems", 1, R"({"b":[{"a":"x","j":{"startColumn":"EVIL"}}],"x":3})"},
      {"$provideCompletionItems", 1, R"({"a":{"insert":"EVIL"},"b":[{"a":"x"}],"x":3})"},
      {"$provideDocumentOnDropEdits", 2, R"([{"insertText":"EVIL"}])"},
      {"$providePasteEdits", 2, R"([{"insertText":"EVIL"}])"},
      {"$provideDocumentFormattingEdits", 1, R"([{"text":"EVIL"}])"},
      {"$provideDocumentRangeFormattingEdits", 1, R"([{"text":"EVIL"}])"},
      {"$provideDocumentRangesFormattingEdits", 1, R"([{"text":"EVIL"}])"},
      {"$provideOnTypeFormattingEdits", 1, R"([{"text":"EVIL"}])"},
      {"$provideLinkedEditingRanges", 1, R"({"ranges":[],"wordPattern":"EVIL"})"},
      {"$provideCompletionItems", 1, R"({"b":[{"a":"x","h":"EVIL"}]})"},
      {"$provideCompletionItems", 1, R"({"b":[{"a":"x","k":"EVIL"}]})"},
      {"$provideCompletionItems", 1, R"({"b":[{"a":"x","l":[{"text":"EVIL"}]}]})"},
      {"$provideRenameEdits", 1, R"({"edits":[{"resource":0,"textEdit":{"text":"EVIL"}}]})"},
      {"$provideCodeActions", 1,
       R"({"actions":[{"edit":{"edits":[{"resource":0,"textEdit":"EVIL"}]}}]})"},
  };
  fs::create_directories(folder_ / "home/only");
  const std::string only = (folder_ / "home/only/read.txt").string();
  const auto reaches = [&](const Case& one, const Json& document) {
    Json arguments = Json::array({1, 2, 3, Json::object()});
    arguments[one.document] = document;
    if (deliver(one.method, arguments.dump()).empty()) return false;
    const std::function<void(Json&)> fill = [&](Json& value) {
      if (value.is_object() && value.contains("resource")) value["resource"] = document;
      if (value.is_structured())
        for (Json& each : value) fill(each);
    };
    Json reply = Json::parse(one.reply);
    fill(reply);
    return answer(reply).find("EVIL") != std::string::npos;
  };
  std::set<std::string> covered;
  for (const Case& one : cases) {
    covered.insert(one.method);
    EXPECT_TRUE(reaches(one, uri(work("a.txt")))) << one.reply;
    EXPECT_FALSE(reaches(one, uri(only))) << one.method << one.reply;
    EXPECT_FALSE(reaches(one, uri(only, "vscode-notebook-cell"))) << one.method << one.reply;
    EXPECT_FALSE(reaches(one, uri(only, "untitled"))) << one.method << one.reply;
  }
  // Whatever else there is by such names was looked at, and writes nothing.
  const std::set<std::string> others = {"$provideTerminalCompletions", "$providePromptFiles",
                                        "$provideEditSessionIdentityMatch"};
  const Json told = shipped_table()["told"];
  for (const auto& [method, rule] : told.items()) {
    if (!method.starts_with("$provide")) continue;
    for (const char* word : {"Edit", "Complet", "Presentation", "Hint", "Format", "CodeAction"}) {
      if (method.find(word) == std::string::npos) continue;
      EXPECT_TRUE(covered.contains(method) || others.contains(method)) << method;
    }
  }
}

// Between the list and what is picked of it, a list for another document may have come.
TEST_F(BrokerReplyTest, WhatIsResolvedIsOfItsOwnDocument) {
  fs::create_directories(folder_ / "home/only");
  const Json only = uri((folder_ / "home/only/read.txt").string()), own = uri(work("a.txt"));
  const auto name_of = [this](const char* method, const Json& document, const Json& list) {
    deliver(method, Json{1, document, 3}.dump());
    const std::string told = answer(list);
    const Json value = Json::parse(told.substr(told.find('{')));
    const Json& items = value.contains("b") ? value["b"] : value["hints"];
    return items[0].contains("x") ? items[0]["x"] : items[0]["cacheId"];
  };
  for (const bool hints : {false, true}) {
    const char* provide = hints ? "$provideInlayHints" : "$provideCompletionItems";
    const char* resolve = hints ? "$resolveInlayHint" : "$resolveCompletionItem";
    const Json list = hints
                          ? Json::parse(R"({"hints":[{"label":"x","cacheId":[3,4]}],"cacheId":3})")
                          : Json::parse(R"({"b":[{"a":"x","x":[3,4]}],"x":3})");
    const Json of_only = name_of(provide, only, list), of_own = name_of(provide, own, list);
    const auto edits = [&](const Json& name) {
      EXPECT_THAT(deliver(resolve, Json{1, name}.dump()), HasSubstr("[1,[3,4]]"))
          << "as it named it";
      const std::string told = answer(Json::parse(
          R"({"a":"x","label":"x","h":"EVIL","j":"EVIL","l":["EVIL"],"textEdits":["EVIL"],"b":[],)"
          R"("hints":[]})"));
      EXPECT_THAT(told, HasSubstr("\"x\""));
      return told.find("EVIL") != std::string::npos;
    };
    EXPECT_FALSE(edits(of_only)) << resolve;
    EXPECT_TRUE(edits(of_own)) << resolve;
    EXPECT_FALSE(edits(of_only)) << resolve;
  }
}

// A list shows the beginning of what an item is called.
TEST_F(BrokerReplyTest, WhatIsWrittenIsWhatAPersonReads) {
  fs::create_directories(folder_ / "home/only");
  const Json only = uri((folder_ / "home/only/read.txt").string());
  for (const Json& label : {Json("x\nEVIL"), Json(std::string(200, ' ') + "EVIL"),
                            Json{{"label", "x\r\nEVIL"}, {"detail", ""}}}) {
    deliver("$provideCompletionItems", Json{1, only, 3}.dump());
    EXPECT_THAT(answer({{"b", {{{"a", label}}}}}), HasSubstr(R"("h":"")"));
  }
}

// What is copied here is pasted anywhere.
TEST_F(BrokerReplyTest, CopyingPutsNoTextIntoWhatIsPasted) {
  for (const char* type :
       {"text/plain", "text", "text/uri-list", "text/html", "Text/Plain", "files"}) {
    deliver("$prepareDocumentPaste",
            Json{1, uri(work("a.txt")), Json::array(), Json::object()}.dump());
    const auto item = [](const char* of, const char* content) {
      return Json::array({of, {{"asString", content}}});
    };
    const std::string told =
        answer({{"items", Json::array({item(type, "EVIL"), item("application/vnd.mine", "own")})}});
    EXPECT_EQ(told.find("EVIL"), std::string::npos) << type;
    EXPECT_THAT(told, HasSubstr("own"));
  }
}

// The workbench makes it the workspace, in which every extension may do more.
TEST_F(BrokerReplyTest, ACommandsAnswerOpensNoFolder) {
  const auto opens = [&](const std::string& folder) {
    deliver("$executeContributedCommand", R"(["mine.hello"])");
    const std::string told = answer({{"openFolder", uri(folder)}, {"other", 1}});
    EXPECT_THAT(told, HasSubstr("other"));
    return told.find("openFolder") != std::string::npos;
  };
  EXPECT_FALSE(opens(work("sub")));
  start({"me.mine"}, nullptr, R"("@editor","commands","workspace-folders")");
  EXPECT_TRUE(opens(work("sub")));
  EXPECT_FALSE(opens((folder_ / "home").string()));
}

TEST_F(BrokerReplyTest, WhoEditsBesideAPersonsRenameIsNamed) {
  deliver("$onWillRunFileOperation", Json{0, Json::array(), 1000}.dump());
  const std::string told =
      answer({{"edit", {{"edits", Json::array()}}}, {"extensionNames", {"Git"}}});
  EXPECT_THAT(told, HasSubstr("me.mine"));
  EXPECT_EQ(told.find("\"Git\""), std::string::npos);
}

TEST_F(BrokerReplyTest, WhatIsInsertedDoesNotPaste) {
  for (const char* method : {"$provideInlineCompletions", "$providePasteEdits",
                             "$provideDocumentOnDropEdits", "$provideCompletionItems"})
    EXPECT_THAT(reply_to(method, Json::array({{{"insertText", "x${CLIPBOARD}"}}})),
                AllOf(HasSubstr("x${"), Not(HasSubstr("CLIPBOARD"))))
        << method;
}

// The workbench would take a reply that overtakes its request.
TEST_F(BrokerReplyTest, NobodyAnswersWhatWasNotAsked) {
  ++asked_;
  EXPECT_EQ(answer({{"b", {{{"o", "workbench.action.terminal.sendSequence"}}}}}), "");
  --asked_;
}

using ExhaustiveReplyTest = BrokerReplyTest;
TEST_F(ExhaustiveReplyTest, WhatTheHostWasNotAskedIsNotAwaited) {
  const std::string key_only = Json::array({1, Json::array({{{"uri", uri(key())}}})}).dump();
  for (int i = 0; i < 300000; ++i) deliver("$provideDecorations", key_only);
  EXPECT_TRUE(sent_.host.empty());
  EXPECT_EQ(sent_.workbench.size(), 2U) << "acknowledged, and answered with nothing";
  EXPECT_EQ(answer({{"1", {{"tooltip", "x"}}}}), "") << "nor does it answer in the end";
  EXPECT_NE(deliver("$provideCompletionItems", "[1]"), "");
}

TEST_F(BrokerReplyTest, LinksInErrorsRunOwnCommandsOnly) {
  for (const char* method : {"$executeContributedCommand", "$provideHover", "$resolveCodeLens"}) {
    deliver(method, "[1]");
    RpcReply failed;
    failed.type = RpcType::kReplyError;
    failed.number = asked_;
    const std::string json =
        Json{{"$isError", true},
             {"message", "[Retry](command:runCommands?%5B%5D) [mine](command:mine.run)"},
             {"stack", "[Retry](command:runCommands)"}}
            .dump();
    failed.json = json;
    sent_ = {};
    ASSERT_TRUE(broker_->from_host(write_reply(failed), sent_).ok());
    const std::string shown = text(sent_.workbench.at(0));
    EXPECT_EQ(shown.find("](command:runCommands"), std::string::npos) << method << shown;
    EXPECT_THAT(shown, HasSubstr("Retry")) << method;
  }
}

// The workbench throws before it has noted the first of these, and would take the second.
TEST_F(BrokerReplyTest, OneRequestHasOneReply) {
  const Json item = {{"b", {{{"a", "x"}, {"o", "workbench.action.terminal.sendSequence"}}}}};
  for (const RpcType type : {RpcType::kReplyOkJson, RpcType::kReplyError, RpcType::kReplyOkEmpty}) {
    deliver("$provideCompletionItems", "[1]");
    RpcReply broken;
    broken.type = type;
    broken.number = asked_;
    broken.json = "{";
    ASSERT_TRUE(broker_->from_host(write_reply(broken), sent_).ok());
    EXPECT_EQ(answer(item), "");
  }
  EXPECT_EQ(answer(item), "") << "nor one that nobody asked for";
  deliver("$provideCompletionItems", "[1]");
  EXPECT_THAT(answer(item), AllOf(HasSubstr("\"x\""), Not(HasSubstr("sendSequence"))));
}

TEST_F(BrokerReplyTest, WhoNeverAnswersIsEndedAtLast) {
  Status status;
  for (uint32_t i = 0; i < 300000 && status.ok(); ++i) {
    RpcRequest request;
    request.number = ++asked_;
    request.method = "$provideCodeLenses";
    request.json = "[1]";
    sent_ = {};
    status = broker_->from_workbench(write_request(request), sent_);
  }
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("answers nothing"));
}

TEST_F(BrokerReplyTest, OriginalsOfDocumentsAreReadable) {
  for (const char* method : {"$provideOriginalResource", "$provideSecondaryOriginalResource"}) {
    EXPECT_THAT(reply_to(method, uri(work("a.txt"))), HasSubstr("a.txt")) << method;
    EXPECT_EQ(reply_to(method, uri(key())).find("id_rsa"), std::string::npos) << method;
    Json spelt = uri(work("a.txt"));
    spelt["fsPath"] = key();
    EXPECT_EQ(reply_to(method, spelt).find("id_rsa"), std::string::npos) << method;
  }
}

TEST_F(BrokerReplyTest, WhatAnswersALaterLookAtAChatEditsNothingElse) {
  const auto session = [&](const std::string& path, const char* kind) {
    return Json{{"history",
                 {{{"type", "request"}, {"prompt", "x"}},
                  {{"type", "response"},
                   {"parts",
                    {{{"kind", "markdownContent"}, {"content", {{"value", "shown"}}}},
                     {{"kind", kind}, {"uri", uri(path)}, {"edits", {{{"text", "EVIL"}}}}}}}}}}};
  };
  for (const char* kind : {"textEdit", "notebookEdit", "workspaceEdit"}) {
    EXPECT_THAT(reply_to("$provideChatSessionContent", session(work("b.txt"), kind)),
                HasSubstr("EVIL"));
    const std::string told = reply_to("$provideChatSessionContent", session(key(), kind));
    EXPECT_EQ(told.find("EVIL"), std::string::npos) << kind;
    EXPECT_THAT(told, HasSubstr("shown"));
  }
  // What a terminal of the window shows of a tool that ran, and a page of an MCP server.
  const auto ran = [&](const Json& specific) {
    Json one = session(work("b.txt"), "toolInvocationSerialized");
    one["history"][1]["parts"][1]["toolSpecificData"] = specific;
    return reply_to("$provideChatSessionContent", one);
  };
  EXPECT_THAT(ran({{"kind", "terminal"},
                   {"terminalCommandOutput", {{"text", "ran\x1b]52;c;RVZJTA==\x07"}}}}),
              AllOf(HasSubstr("\"ran\""), Not(HasSubstr("52;c"))));
  EXPECT_THAT(ran({{"kind", "input"}, {"mcpAppData", {{"kind", "local"}}}}),
              AllOf(HasSubstr("shown"), Not(HasSubstr("mcpAppData"))));
}

// Buttons of the window's own tools allow commands in terminals, and what a person allowed once.
TEST_F(BrokerReplyTest, WhatAToolAsksForIsItsOwnRunAlone) {
  start({"me.mine"}, nullptr, R"("@editor","commands","secrets","language-models")");
  const auto asks = [&](const Json& messages) {
    return reply_to("$prepareToolInvocation", {{"invocationMessage", "runs"},
                                               {"confirmationMessages", messages},
                                               {"toolSpecificData", {{"kind", "terminal"}}}});
  };
  const auto same = [](const std::string& tool) {
    return Json{{"title", "t"},
                {"message", "m"},
                {"approveCombination", {{"label", "x"}, {"key", tool + ":combination:00"}}}};
  };
  EXPECT_THAT(asks(same("mine_tool")),
              AllOf(HasSubstr("runs"), HasSubstr("\"t\""), HasSubstr("mine_tool:combination")));
  EXPECT_THAT(asks(same("cloud_tool")), AllOf(HasSubstr("\"t\""), Not(HasSubstr("cloud_tool"))));
  const Json allow = {{"label", "Cancel"}, {"data", {{"type", "sessionApproval"}}}};
  EXPECT_THAT(asks({{"title", "t"}, {"terminalCustomActions", {allow}}}),
              AllOf(HasSubstr("\"t\""), Not(HasSubstr("terminal"))));
  EXPECT_THAT(asks(nullptr), HasSubstr("runs"));
  EXPECT_THAT(asks("t"), HasSubstr("\"t\""));
  // Nor is it another's once it has run, with what a terminal of the window would show.
  EXPECT_THAT(reply_to("$invokeTool",
                       {{"content", {{{"kind", "text"}, {"value", "said"}}}},
                        {"toolResultMessage", "done"},
                        {"toolSpecificData",
                         {{"kind", "terminal"},
                          {"terminalCommandOutput", {{"text", "\x1b]52;c;RVZJTA==\x07"}}}}}}),
              AllOf(HasSubstr("said"), HasSubstr("done"), Not(HasSubstr("terminal"))));
}

// A click says the message to that participant, whatever its title is.
TEST_F(BrokerReplyTest, WhatFollowsInAChatIsSaidToTheParticipantThatOffersIt) {
  const auto follows = [&](const Json& agent) {
    return reply_to(
        "$provideFollowups",
        Json::array({{{"title", "Thanks"}, {"agentId", agent}, {"message", "do evil"}}}));
  };
  EXPECT_THAT(follows("mine.chat"), HasSubstr("do evil"));
  for (const Json& agent : {Json("cloud.chat"), Json("github.copilot.default"), Json()})
    EXPECT_EQ(follows(agent).find("do evil"), std::string::npos) << agent;
  EXPECT_EQ(reply_to("$provideFollowups", Json::array({{{"message", "do evil"}}})).find("do evil"),
            std::string::npos);
}

// Below the input of a chat, with the id where others have a title.
TEST_F(BrokerReplyTest, WhatStandsBelowAChatRunsOwnCommandsOnly) {
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  const auto groups = [](const char* command) {
    return Json::array({{{"id", "g"},
                         {"items", Json::array()},
                         {"commands",
                          {{{"command", command},
                            {"title", "Fine"},
                            {"arguments", {{{"text", "curl e.example\n"}}}}}}}}});
  };
  const auto says = [&](const char* command) {
    return reply_to("$provideChatSessionProviderOptions", {{"optionGroups", groups(command)}}) +
           reply_to("$provideChatSessionInputState", groups(command));
  };
  EXPECT_THAT(says("mine.hello"), HasSubstr("mine.hello"));
  EXPECT_THAT(says("workbench.action.terminal.sendSequence"),
              AllOf(HasSubstr("Fine"), Not(HasSubstr("sendSequence"))));
  start({"me.mine"}, nullptr, R"("language-models")");
  EXPECT_EQ(call("MainThreadChatSessions", "$updateChatSessionInputState",
                 {1, nullptr, groups("workbench.action.terminal.sendSequence")}),
            "passed");
  EXPECT_THAT(text(sent_.workbench.at(0)),
              AllOf(HasSubstr("Fine"), Not(HasSubstr("sendSequence"))));
}

TEST_F(BrokerReplyTest, WhatDocumentsAKernelsActionRunsNothing) {
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  const auto told = [&](const Json& documentation) {
    return reply_to("$provideKernelSourceActions",
                    Json::array({{{"label", "x"}, {"documentation", documentation}}}));
  };
  EXPECT_THAT(told("mine.hello"), HasSubstr("mine.hello"));
  EXPECT_THAT(told({{"$mid", 1}, {"scheme", "https"}, {"authority", "e.example"}}),
              HasSubstr("e.example"));
  EXPECT_EQ(told("workbench.action.tasks.build").find("tasks"), std::string::npos);
  EXPECT_EQ(told({{"$mid", 1}, {"scheme", "command"}, {"path", "x.tasks"}}).find("tasks"),
            std::string::npos);
}

TEST_F(BrokerReplyTest, WhatIsWrongWithAnInputHasNoLinksThatRun) {
  const auto says = [&](const std::string& method) {
    return reply_to(method, "see [here](command:workbench.action.terminal.sendSequence)");
  };
  EXPECT_THAT(says("$provideDocumentSymbols"), HasSubstr("](command:")) << "shown as it is";
  EXPECT_EQ(says("$validateInput").find("](command:"), std::string::npos);
}

// What decorates files is written into a style sheet of the whole window.
// The window writes them into Markdown that it trusts.
TEST_F(BrokerReplyTest, TitlesOfHintsAndTooltipsOfLinksHoldNoMarkdown) {
  const std::string evil = "t\") [x](command:a?b) <b> \\\\]\n![y](https://e.org) \"z";
  const auto is_plain = [](const std::string& answer, const char* member) {
    const auto reply = parse_rpc(bytes(answer));
    const std::string json(std::get<RpcReply>(*reply).json);
    const size_t from = json.find('"' + std::string(member) + "\":\"") + std::strlen(member) + 4;
    const std::string text = json.substr(from, json.find('"', from) - from);
    return text.starts_with("t ) ") && text.find_first_of("[]<\\") == std::string::npos;
  };
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.hello"}), "passed");
  const Json label =
      Json::array({{{"label", "x"}, {"command", {{"id", "mine.hello"}, {"title", evil}}}}});
  const Json hint = {{"label", label}};
  EXPECT_TRUE(is_plain(reply_to("$provideInlayHints", {{"hints", {hint}}}), "title"));
  EXPECT_TRUE(is_plain(reply_to("$resolveInlayHint", hint), "title"));
  const Json link = {{"url", "https://e.org"}, {"tooltip", evil}};
  EXPECT_TRUE(is_plain(reply_to("$provideDocumentLinks", {{"links", {link}}}), "tooltip"));
  EXPECT_TRUE(is_plain(reply_to("$resolveDocumentLink", link), "tooltip"));
  EXPECT_THAT(reply_to("$provideDocumentLinks",
                       {{"links", {{{"url", "https://e.org"}, {"tooltip", Json::array({evil})}}}}}),
              HasSubstr("\"tooltip\":\"\""));
}

TEST_F(BrokerReplyTest, BadgesAndColoursOfFilesAreNamesOnly) {
  const auto shown = [&](const Json& decorations) {
    deliver("$provideDecorations",
            Json::array({1, Json::array({Json{{"id", 1}, {"uri", uri(work("a.txt"))}}})}).dump());
    return answer(decorations);
  };
  const auto with = [&](const Json& letter, const Json& colour) {
    return shown({{"1", {true, "tip {", letter, colour}}});
  };
  EXPECT_THAT(with("M", {{"id", "list.errorForeground"}}),
              AllOf(HasSubstr("\"M\""), HasSubstr("list.errorForeground"), HasSubstr("tip {"),
                    HasSubstr("[true")));
  EXPECT_THAT(with("{", nullptr), HasSubstr("\"{\"")) << "it stands in quotes";
  EXPECT_THAT(with({{"id", "lock"}}, nullptr), HasSubstr("lock"));
  for (const char* evil : {"x); } a{b:c", "x) ; [class]:not(&) { display: none }"})
    EXPECT_EQ(with("M", {{"id", evil}}).find(evil), std::string::npos) << evil;
  EXPECT_EQ(with("x\";y", nullptr).find(";y"), std::string::npos);
  EXPECT_EQ(with({{"id", "a\"b"}}, nullptr).find("a\\"), std::string::npos);
  const std::string rule = "x;} .y:not(&){z:0}";
  const Json evil = {{"id", rule}}, one = Json::array({true, rule, "M", evil});
  for (const Json& odd :
       {Json::array({0, one}), Json{{"1", {{"3", evil}, {"2", rule}}}},
        Json{{"1", Json::array({rule, "", "M", nullptr})}},
        Json{{"1", Json::array({true, Json::array({rule}), "M", nullptr})}},
        Json{{"1", Json::array({true, "", Json::array({rule + "\""}), nullptr})}},
        Json{{"1", Json::array({true, "", Json{{"id", "lock"}, {"color", evil}}, nullptr})}},
        Json{{"1", Json::array({true, "", "M", Json{{"id", Json::array({rule})}}})}},
        Json{{"1", Json::array({true, "", "M", nullptr, rule})}}})
    EXPECT_EQ(shown(odd).find(".y"), std::string::npos) << odd;
}

}  // namespace
}  // namespace bulkhead::testing
