// What a host answers, and what the workbench would do with it without asking again.
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
  expect("$provideNotebookCellStatusBarItems", [](const std::string& id) {
    return Json{{"items", {{{"command", id}}}}};
  });
  for (const char* field : {"shownCommand", "gutterMenuLinkAction", "command"})
    expect("$provideInlineCompletions", [&](const std::string& id) {
      return Json{{"items", {{{field, command(id)}}}}};
    });
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

// Far from where a person looks, and perhaps in a list of tasks.
TEST_F(BrokerReplyTest, CompletionsEditNothingBesidesWhereItMayNotWrite) {
  const auto edits = [this](const std::string& file) {
    const Json item = {{"a", "x"}, {"h", "TEXT"}, {"l", {{{"range", 1}, {"text", "EVIL"}}}}};
    deliver("$provideCompletionItems", Json{1, uri(file), Json::object(), 1}.dump());
    const std::string all = answer(Json{{"b", {item}}});
    EXPECT_THAT(all, HasSubstr("TEXT"));
    deliver("$resolveCompletionItem", "[1,[1,0]]");
    const std::string one = answer(item);
    EXPECT_THAT(one, HasSubstr("TEXT"));
    return (all + one).find("EVIL") != std::string::npos;
  };
  fs::create_directories(folder_ / "home/only");
  EXPECT_TRUE(edits(work("a.txt")));
  EXPECT_FALSE(edits((folder_ / "home/only/read.txt").string()));
  EXPECT_TRUE(edits(work("a.txt")));
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

TEST_F(BrokerReplyTest, WhatTheHostWasNotAskedIsNotAwaited) {
  const std::string key_only = Json::array({1, Json::array({{{"uri", uri(key())}}})}).dump();
  for (int i = 0; i < 300000; ++i) deliver("$provideDecorations", key_only);
  EXPECT_TRUE(sent_.host.empty());
  EXPECT_EQ(sent_.workbench.size(), 2U) << "acknowledged, and answered with nothing";
  EXPECT_EQ(answer({{"1", {{"tooltip", "x"}}}}), "") << "nor does it answer in the end";
  EXPECT_NE(deliver("$provideCompletionItems", "[1]"), "");
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

TEST_F(BrokerReplyTest, WhatIsWrongWithAnInputHasNoLinksThatRun) {
  const auto says = [&](const std::string& method) {
    return reply_to(method, "see [here](command:workbench.action.terminal.sendSequence)");
  };
  EXPECT_THAT(says("$provideDocumentSymbols"), HasSubstr("](command:")) << "shown as it is";
  EXPECT_EQ(says("$validateInput").find("](command:"), std::string::npos);
}

// What decorates files is written into a style sheet of the whole window.
TEST_F(BrokerReplyTest, BadgesAndColoursOfFilesAreNamesOnly) {
  const auto shown = [&](const Json& letter, const Json& colour) {
    deliver("$provideDecorations",
            Json::array({1, Json::array({Json{{"id", 1}, {"uri", uri(work("a.txt"))}}})}).dump());
    return answer({{"1", {1, "tip {", letter, colour}}});
  };
  EXPECT_THAT(shown("M", {{"id", "list.errorForeground"}}),
              AllOf(HasSubstr("\"M\""), HasSubstr("list.errorForeground"), HasSubstr("tip {")));
  EXPECT_THAT(shown("{", nullptr), HasSubstr("\"{\"")) << "it stands in quotes";
  for (const char* evil : {"x); } a{b:c", "x) ; [class]:not(&) { display: none }"})
    EXPECT_EQ(shown("M", {{"id", evil}}).find(evil), std::string::npos) << evil;
  EXPECT_EQ(shown("x\";y", nullptr).find(";y"), std::string::npos);
  EXPECT_EQ(shown({{"id", "a\"b"}}, nullptr).find("a\\"), std::string::npos);
}

}  // namespace
}  // namespace bulkhead::testing
