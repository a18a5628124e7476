// What is judged, and what the workbench makes of it: names, links and requests in spellings that
// only one of the two would read.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

class SpelledTest : public BrokerTest {
 protected:
  std::string reply_to(const std::string& method, const Json& value) {
    deliver(method, "[1]");
    return answer(value);
  }
  std::string reply_with_buffers(const std::string& method, const std::string& json) {
    deliver(method, "[1]");
    sent_ = {};
    RpcReply reply;
    reply.type = RpcType::kReplyOkJsonWithBuffers;
    reply.number = asked_;
    reply.json = json;
    EXPECT_TRUE(broker_->from_host(write_reply(reply), sent_).ok());
    return sent_.workbench.empty() ? "" : text(sent_.workbench[0]);
  }
  static bool runs(const std::string& sent) { return sent.find("run.it") != std::string::npos; }
};

// The window writes a link's address into Markdown that may run commands.
TEST_F(SpelledTest, AnAddressOfADocumentIsOneToMarkdownToo) {
  const auto passes = [this](const Json& url) {
    const Json link = {{"range", 1}, {"url", url}};
    const bool listed = runs(reply_to("$provideDocumentLinks", {{"links", {link}}}));
    EXPECT_EQ(runs(reply_to("$resolveDocumentLink", link)), listed) << url;
    EXPECT_EQ(runs(reply_to("$provideDocumentLinks", {{"links", {{"0", link}}}})), listed) << url;
    return listed;
  };
  for (const char* space : {"\t", "\n", "\r", " ", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f",
                            "\u205f", "\u3000", "\ufeff", "<", "\\", "%"}) {
    EXPECT_FALSE(passes(std::string(space) + "command:run.it")) << space;
    EXPECT_FALSE(passes(Json{{"path", std::string(space) + "command:run.it"}})) << space;
    EXPECT_FALSE(passes(Json{{"scheme", std::string(space) + "command"}, {"path", "run.it"}}))
        << space;
  }
  EXPECT_FALSE(passes("command\\:run.it"));
  EXPECT_FALSE(passes("<command:run.it>"));
  // Nor does it end the link, for another one to begin.
  for (const char* end : {"\\)", "\t", "\n", "\u00a0", "\u2028", "\u2009", "\u3000", "<", ">"})
    for (const char* part : {"scheme", "authority", "path", "query", "fragment"}) {
      Json url = {{"$mid", 1}, {"scheme", "https"}, {"path", "/a"}};
      url[part] = std::string("/a") + end + "[x](command:run.it";
      EXPECT_FALSE(passes(url)) << end << part;
      EXPECT_FALSE(passes("https:/a" + std::string(end) + "[x](command:run.it"));
    }
  EXPECT_FALSE(passes(Json{{"scheme", "https"}, {"path", {"/a\\)[x](command:run.it"}}}));
  EXPECT_TRUE(passes("https://e.org/run.it_(command: x)"));
  EXPECT_TRUE(passes(uri(work("é [run.it] (1) \"x\".txt"))));
}

// Of what is no text VS Code makes one: a resource is its address.
TEST_F(SpelledTest, ACommandIsAText) {
  const Json odd[] = {Json{{"$mid", 1}, {"path", "run.it"}},
                      Json{{"$mid", 1}, {"path", "x"}, {"external", "run.it"}},
                      Json::array({"run.it"}), Json{{"value", "run.it"}}};
  for (const Json& id : odd) {
    const Json command = {{"id", id}, {"title", "t"}, {"arguments", Json::array({1})}};
    const Json label = Json::array({Json{{"label", "x"}, {"command", command}}});
    EXPECT_FALSE(runs(reply_to("$provideInlayHints", {{"hints", {{{"label", label}}}}}))) << id;
    EXPECT_FALSE(runs(reply_to("$resolveInlayHint", {{"label", label}}))) << id;
    EXPECT_FALSE(runs(reply_to("$provideCodeLenses", {{"lenses", {{{"command", command}}}}})))
        << id;
    EXPECT_FALSE(runs(reply_to("$provideCodeLenses", {{"commands", {{{"command", id}}}}}))) << id;
  }
  EXPECT_THAT(reply_to("$provideCodeLenses", {{"command", {{"id", nullptr}, {"title", "run.it"}}}}),
              HasSubstr("run.it"));
}

TEST_F(SpelledTest, TrustIsOfATextAlone) {
  for (const Json& value : {Json::array({"[x](command:run.it)"}), Json(), Json::object()}) {
    const std::string sent =
        reply_to("$provideHover", {{"contents", {{{"value", value}, {"isTrusted", true}}}}});
    EXPECT_EQ(sent.find("isTrusted"), std::string::npos) << value;
  }
  EXPECT_EQ(
      reply_to("$provideHover", {{"contents", {{{"supportHtml", true}, {"x", "<img src=a>"}}}}})
          .find("supportHtml"),
      std::string::npos);
}

// With buffers an answer is the `value` of an object, which few take out again.
TEST_F(SpelledTest, AnAnswerWithBuffersIsJudgedAsWhatItBecomes) {
  start({"me.mine"}, nullptr, R"("@editor","commands","secrets","language-models","notebooks")");
  const std::string picture = R"j("![](https://evil.test/?run.it)")j";
  EXPECT_FALSE(runs(reply_with_buffers("$provideTooltip", picture)));
  EXPECT_EQ(reply_with_buffers("$provideHover", picture).find("!["), std::string::npos);
  EXPECT_THAT(reply_with_buffers("$dataToNotebook", R"({"cells":["run.it"]})"),
              HasSubstr("run.it"));
  EXPECT_THAT(reply_with_buffers("$invokeTool", R"({"content":["run.it"]})"), HasSubstr("run.it"));
  EXPECT_EQ(reply_with_buffers("$provideCompletionItems", R"({"b":["run.it"]})").find("run.it"),
            std::string::npos);
}

// What the workbench cannot read it does not do, and the broker must not keep it as done.
TEST_F(SpelledTest, WhatCannotBeReadIsNotKept) {
  start({"me.mine"}, nullptr, R"("workspace-files","window","commands")");
  const auto reads = [this] {
    return call("MainThreadFileSystem", "$readFile", {uri("/x", "ssh")});
  };
  const auto told = [this] { deliver("$acceptProviderInfos", R"([{"scheme":"ssh"},2])"); };
  const auto raw = [this](const char* json) {
    return call(proxy_of("MainThreadFileSystem"), "$registerFileSystemProvider", json);
  };
  for (const char* broken : {"[1,\"ssh\",!]", "[1,\"ssh\",2,tru]", "[1,\"ssh\",\"\\x\"]"}) {
    EXPECT_THAT(raw(broken), HasSubstr("read")) << broken;
    told();
    EXPECT_NE(reads(), "passed") << broken;
    deliver("$acceptProviderInfos", R"([{"scheme":"ssh"},null])");
  }
  // A box that counts as shown needs no signature any more.
  RpcRequest request;
  request.number = ++number_;
  request.proxy = proxy_of("MainThreadQuickOpen");
  request.method = "$createOrUpdate";
  request.mixed = true;
  request.arguments = {{RpcArgument::Type::kJson, R"({"id":7,"title":"x"})", {}},
                       {RpcArgument::Type::kJson, "!", {}}};
  EXPECT_NE(call(request), "passed");
  const Json shown = passed("MainThreadQuickOpen", "$createOrUpdate",
                            {Json{{"id", 7}, {"prompt", "password"}, {"visible", true}}});
  ASSERT_TRUE(shown.is_array());
  EXPECT_THAT(shown[0].value("title", Json()).dump(), HasSubstr("me.mine"));
}

// What became of a file system is told after it has ended, where that is at once.
TEST_F(SpelledTest, AFileSystemThatEndsAtOnceIsItsHostsAgain) {
  start({"me.mine"}, nullptr, R"("workspace-files")");
  const auto provides = [this](int handle) {
    return call("MainThreadFileSystem", "$registerFileSystemProvider", {handle, "ssh", 2});
  };
  const auto answered = [this](uint32_t number, RpcType type) {
    RpcReply reply;
    reply.type = type;
    reply.number = number;
    EXPECT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
  };
  const auto is_told = [this](const char* capabilities) {
    deliver("$acceptProviderInfos", R"([{"scheme":"ssh"},)" + std::string(capabilities) + "]");
  };
  const auto reads = [this] {
    return call("MainThreadFileSystem", "$readFile", {uri("/x", "ssh")});
  };
  ASSERT_EQ(provides(1), "passed");
  const uint32_t first = number_;
  ASSERT_EQ(call("MainThreadFileSystem", "$unregisterProvider", {1}), "passed");
  is_told("2");
  EXPECT_NE(reads(), "passed") << "it has ended";
  EXPECT_EQ(provides(2), "passed");
  const uint32_t second = number_;
  is_told("null");
  is_told("2");
  answered(first, RpcType::kReplyOkEmpty);
  answered(second, RpcType::kReplyOkEmpty);
  EXPECT_EQ(reads(), "passed");
  // Another one was first: that is told before the answer says so, and is no file system of its
  // own.
  ASSERT_EQ(call("MainThreadFileSystem", "$unregisterProvider", {2}), "passed");
  is_told("null");
  ASSERT_EQ(provides(3), "passed");
  const uint32_t third = number_;
  ASSERT_EQ(call("MainThreadFileSystem", "$unregisterProvider", {3}), "passed");
  is_told("2");
  answered(third, RpcType::kReplyErrorEmpty);
  EXPECT_NE(provides(4), "passed");
  EXPECT_NE(reads(), "passed");
}

// Who asks may go on without.
TEST_F(SpelledTest, OfFilesThatNobodyHasItIsSaidThatNobodyHasThem) {
  const auto reads = [this](const char* scheme) {
    return call("MainThreadFileSystem", "$readFile", {uri("/x", scheme)});
  };
  EXPECT_THAT(reads("nobodys"), HasSubstr("ENOPRO: "));
  EXPECT_THAT(call("MainThreadDocuments", "$tryOpenDocument", {uri("/x", "nobodys"), {}}),
              HasSubstr("NoPermissions: "));
  deliver("$acceptProviderInfos", R"([{"scheme":"nobodys"},2])");
  EXPECT_THAT(reads("nobodys"), HasSubstr("NoPermissions: "));
}

// In the workbench a number stands for the last one that was given.
TEST_F(SpelledTest, WhoTakesANumberLosesWhatItStoodFor) {
  start({"me.mine"}, nullptr, R"("workspace-files")");
  const auto provides = [this](const std::string& scheme) {
    return call("MainThreadFileSystem", "$registerFileSystemProvider", {1, scheme, 2});
  };
  EXPECT_EQ(provides("ssh"), "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {uri("/x", "ssh")}), "passed");
  EXPECT_EQ(provides(std::string(5000, 'a')), "passed");
  deliver("$acceptProviderInfos", R"([{"scheme":"ssh"},2])");
  EXPECT_NE(call("MainThreadFileSystem", "$readFile", {uri("/x", "ssh")}), "passed");
}

}  // namespace
}  // namespace bulkhead::testing
