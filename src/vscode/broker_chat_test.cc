// Chats, language models and tools: whose they are, and what is said to others.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

class ChatTest : public BrokerTest {
 protected:
  void SetUp() override {
    BrokerTest::SetUp();
    with(R"("language-models")");
  }
  void with(const std::string& permissions) { start({"me.mine"}, nullptr, permissions); }
  std::string says(const Json& part) {
    std::string one =
        call("MainThreadChatAgents2", "$handleProgressChunk", {"r", Json::array({part})});
    EXPECT_EQ(call("MainThreadChatSessions", "$handleProgressChunk",
                   {1, "mine:/1", "r", Json::array({Json::array({part, 1})})}),
              one);
    return one;
  }
};

// The last one that says a name is asked, with the texts that others have for that model.
TEST_F(ChatTest, EmbeddingsAreOfItsOwnName) {
  const auto provides = [this](const Json& model) {
    return call("MainThreadEmbeddings", "$registerEmbeddingProvider", {1, model});
  };
  EXPECT_EQ(provides("me.mine.small"), "passed");
  EXPECT_EQ(provides("Me.Mine"), "passed");
  for (const Json& model : {Json("text-embedding-3-small"), Json("me.mine2"), Json(""), Json(),
                            Json::array({"me.mine.small"})})
    EXPECT_THAT(provides(model), HasSubstr("does not begin with its own")) << model;
}

TEST_F(ChatTest, WhatOthersChatsDoIsNotHeard) {
  EXPECT_EQ(call("MainThreadChatDebug", "$subscribeToCoreDebugEvents", {}), "quiet");
  EXPECT_EQ(deliver("$onCoreDebugEvent", R"([{"kind":"userMessage","message":"SECRET"}])"), "");
}

TEST_F(ChatTest, AnswersAreToItsOwnQuestions) {
  const auto answers = [this](const std::string& question) {
    return !deliver("$handleQuestionCarouselAnswer",
                    R"(["r",")" + question + R"(",{"q":"SECRET"}])")
                .empty();
  };
  const auto asks = [this](const std::string& name) {
    says({{"kind", "questionCarousel"}, {"questions", Json::array()}, {"resolveId", name}});
  };
  EXPECT_FALSE(answers("theirs"));
  asks("mine");
  EXPECT_TRUE(answers("mine"));
  EXPECT_FALSE(answers("theirs"));
  asks("");
  EXPECT_FALSE(answers(""));
}

// By a model's name the window finds who is sent what others ask it.
TEST_F(ChatTest, ModelsAreOfItsOwnVendor) {
  const auto model = [](const char* identifier, const char* vendor, const char* extension) {
    return Json{{"identifier", identifier},
                {"metadata",
                 {{"vendor", vendor},
                  {"isBYOK", false},
                  {"extension", {{"value", extension}, {"_lower", extension}}},
                  {"auth", {{"providerLabel", "GitHub"}, {"accountLabel", "x"}}}}}};
  };
  const auto offers = [this](const Json& models) {
    deliver("$provideLanguageModelChatInfo", R"(["mine",{}])");
    const std::string said = answer(models);
    const auto reply = parse_rpc(bytes(said));
    return Json::parse(std::get<RpcReply>(*reply).json);
  };
  EXPECT_EQ(offers(Json::array({model("mine/1", "mine", "me.mine")})), Json::array())
      << "before it provides any";
  ASSERT_EQ(call("MainThreadLanguageModels", "$registerLanguageModelProvider", {"mine"}), "passed");
  const Json own = offers(Json::array({model("mine/1", "mine", "me.mine")}));
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0]["metadata"]["auth"]["providerLabel"], "me.mine (Bulkhead ? Prompts)");
  EXPECT_EQ(own[0]["metadata"]["extension"]["value"], "me.mine");
  EXPECT_FALSE(own[0]["metadata"].contains("isBYOK"));
  Json marked = model("mine/1", "mine", "me.mine");
  for (const char* member : {"name", "id", "version", "tooltip"})
    marked["metadata"][member] = "a [x](command:b) <c> 1";
  marked["metadata"]["statusIcon"]["id"] = "a) [x](command:b)";
  const Json plain = offers(Json::array({marked}))[0]["metadata"];
  for (const char* member : {"name", "id", "version", "tooltip"})
    EXPECT_EQ(plain[member], "a  x (command:b)  c> 1") << member;
  EXPECT_EQ(plain["statusIcon"]["id"], "a)  x (command:b)");
  const Json claimed = offers(Json::array({model("mine/1", "mine", "cloud.other")}));
  EXPECT_EQ(claimed[0]["metadata"]["extension"]["value"], "me.mine");
  for (const Json& theirs :
       {model("cloud/1", "mine", "me.mine"), model("mine/1", "cloud", "me.mine"),
        model("mine2", "mine", "me.mine"), Json(), Json::object()})
    EXPECT_EQ(offers(Json::array({theirs})), Json::array()) << theirs;
}

// A tool is given what a model says for it while it says it.
TEST_F(ChatTest, CallsOfToolsAreBegunLikeCommands) {
  const auto begins = [this](const char* call, const char* tool) {
    return says({{"kind", "beginToolInvocation"}, {"toolCallId", call}, {"toolName", tool}});
  };
  const auto goes_on = [this](const char* call) {
    return says({{"kind", "updateToolInvocation"},
                 {"toolCallId", call},
                 {"streamData", {{"partialInput", "x"}}}});
  };
  EXPECT_EQ(begins("1", "mine_tool"), "passed");
  EXPECT_EQ(goes_on("1"), "passed");
  EXPECT_THAT(begins("2", "cloud_tool"), HasSubstr("commands-foreign"));
  EXPECT_THAT(begins("2", ""), HasSubstr("commands-foreign"));
  EXPECT_THAT(goes_on("2"), HasSubstr("did not begin"));
  with(R"("language-models","commands-foreign")");
  EXPECT_EQ(begins("2", "cloud_tool"), "passed");
  EXPECT_EQ(goes_on("2"), "passed");
}

// With a click the window loads these itself, and asks nobody.
TEST_F(ChatTest, DifferencesOfTheWebAreAddresses) {
  const auto shows = [this](const Json& resource) {
    std::string differences = says(
        {{"kind", "multiDiffData"},
         {"multiDiffData",
          {{"title", "x"},
           {"resources", {{{"originalUri", uri(work("a.txt"))}, {"modifiedUri", resource}}}}}}});
    const std::string tree =
        says({{"kind", "treeData"},
              {"treeData", {{"uri", uri("/")}, {"children", {{{"uri", resource}}}}}}});
    EXPECT_EQ(differences, tree);
    return differences;
  };
  EXPECT_EQ(shows(uri(work("a.txt"))), "passed");
  EXPECT_EQ(shows(uri("/x", "mine")), "passed");
  const auto web = [](const Json& scheme) {
    return Json{{"$mid", 1}, {"scheme", scheme}, {"authority", "evil.test"}, {"path", "/SECRET"}};
  };
  EXPECT_THAT(shows(web("https")), HasSubstr("open-external"));
  EXPECT_THAT(shows(web("HTTP")), HasSubstr("open-external"));
  EXPECT_THAT(shows(web(Json::array({"https"}))), HasSubstr("not an address"));
  with(R"("language-models","open-external")");
  EXPECT_EQ(shows(web("https")), "passed");
}

TEST_F(ChatTest, SessionsInAnswersAreItsOwn) {
  const Json own = uri("/1", "mine.chat");
  const auto answers = [this](const char* method, const Json& item) {
    deliver(method, R"([1,{"prompt":"x"}])");
    const auto reply = parse_rpc(bytes(answer(item)));
    return std::get<RpcReply>(*reply).type == RpcType::kReplyOkJson;
  };
  for (const char* method :
       {"$newChatSessionItem", "$forkChatSession", "$resolveChatSessionItem"}) {
    EXPECT_TRUE(answers(method, nullptr)) << method;
    EXPECT_TRUE(answers(method, {{"resource", own}, {"label", "x"}})) << method;
    EXPECT_TRUE(answers(method, {{"resource", own}, {"legacyResource", own}})) << method;
    for (const Json& theirs :
         {uri("/1", "cloud.chat"), uri(work("a.txt")), uri("/1", "local"), Json("x")}) {
      EXPECT_FALSE(answers(method, {{"resource", theirs}})) << method << theirs;
      EXPECT_FALSE(answers(method, {{"resource", own}, {"legacyResource", theirs}})) << theirs;
    }
    EXPECT_FALSE(answers(method, {{"label", "x"}})) << method;
    const Json web = {
        {"$mid", 1}, {"scheme", "https"}, {"authority", "evil.test"}, {"path", "/SECRET"}};
    EXPECT_FALSE(answers(method, {{"resource", own}, {"changes", {{{"modifiedUri", web}}}}}));
  }
  EXPECT_NE(call("MainThreadChatSessions", "$addOrUpdateChatSessionItem",
                 {1, Json{{"resource", own}, {"legacyResource", uri("/1", "cloud.chat")}}}),
            "passed");
}

TEST_F(ChatTest, WhatIsKeptOfAChatIsOfItsOwn) {
  const Json own = uri("/1", "mine.chat"), theirs = uri("/1", "local");
  const auto tells = [this](const Json& event) {
    return call("MainThreadChatDebug", "$acceptChatDebugEvent", {1, event});
  };
  EXPECT_EQ(tells({{"kind", "generic"}, {"sessionResource", own}}), "passed");
  EXPECT_NE(tells({{"kind", "generic"}, {"sessionResource", theirs}}), "passed");
  // The workbench takes whichever a person looks at.
  EXPECT_NE(tells({{"kind", "generic"}, {"sessionResource", nullptr}}), "passed");
  EXPECT_NE(tells({{"kind", "generic"}}), "passed");
  for (const char* method : {"$provideChatDebugLog", "$exportChatDebugLog"}) {
    const auto asked = [&](const Json& session) {
      return deliver(method, Json::array({1, session, "SECRET"}).dump());
    };
    EXPECT_THAT(asked(own), HasSubstr("SECRET")) << method;
    EXPECT_EQ(asked(theirs), "") << method;
    EXPECT_EQ(asked(nullptr), "") << method;
  }
  EXPECT_EQ(deliver("$importChatDebugLog", R"([1,"SECRET"])"), "");
  deliver("$getAvailableDebugSessionResources", "[1]");
  const std::string told = answer(Json::array({{{"uri", own}, {"title", "Mine"}},
                                               {{"uri", theirs}, {"title", "Forged"}},
                                               {{"uri", "mine.chat"}, {"title", "Forged"}}}));
  EXPECT_THAT(told, HasSubstr("Mine"));
  EXPECT_EQ(told.find("Forged"), std::string::npos);
}

TEST_F(ChatTest, NewsOfModelsIsOfItsOwn) {
  const auto changes = [this](const Json& vendor) {
    return call("MainThreadLanguageModels", "$onLMProviderChange", {vendor});
  };
  EXPECT_THAT(changes("mine"), HasSubstr("not its own")) << "before it provides any";
  ASSERT_EQ(call("MainThreadLanguageModels", "$registerLanguageModelProvider", {"mine"}), "passed");
  EXPECT_EQ(changes("mine"), "passed");
  for (const Json& other : {Json("cloud"), Json(), Json::array({"mine"})})
    EXPECT_THAT(changes(other), HasSubstr("not its own")) << other;
}

// A participant that no package declares is its host's from when it is made.
TEST_F(ChatTest, WhatFollowsIsSaidToAParticipantThatItMade) {
  const auto follows = [this](const std::string& agent) {
    deliver("$provideFollowups", "[]");
    return answer(Json::array({{{"agentId", agent}, {"message", "goes on"}}})).find("goes on") !=
           std::string::npos;
  };
  const auto makes = [this](int handle, const char* agent) {
    return call("MainThreadChatAgents2", "$registerAgent",
                {handle, Json{{"value", "me.mine"}}, agent, Json::object(), Json::object()});
  };
  EXPECT_FALSE(follows("made"));
  ASSERT_EQ(makes(1, "made"), "passed");
  EXPECT_TRUE(follows("made"));
  EXPECT_NE(makes(2, "cloud.chat"), "passed");
  EXPECT_FALSE(follows("cloud.chat"));
  ASSERT_EQ(call("MainThreadChatAgents2", "$unregisterAgent", {1}), "passed");
  EXPECT_FALSE(follows("made"));
  // Somebody else has it.
  ASSERT_EQ(makes(3, "taken"), "passed");
  RpcReply taken;
  taken.type = RpcType::kReplyErrorEmpty;
  taken.number = number_;
  ASSERT_TRUE(broker_->from_workbench(write_reply(taken), sent_).ok());
  EXPECT_FALSE(follows("taken"));
}

// Nobody declares it, so its words are its own, and whose it is is said here.
TEST_F(ChatTest, AParticipantThatItMadeIsNotCalledAsAnothersIs) {
  const auto made = [this](const Json& about) {
    return passed("MainThreadChatAgents2", "$registerAgent",
                  {1, "me.mine", "made", Json::object(), about})[4];
  };
  const Json agent = made({{"name", "github"},
                           {"fullName", "GitHub Copilot"},
                           {"publisherName", "GitHub"},
                           {"description", "x"}});
  EXPECT_EQ(agent["fullName"], "me.mine (GitHub Copilot)");
  EXPECT_EQ(agent["publisherName"], "me.mine");
  EXPECT_EQ(agent["description"], "x");
  EXPECT_EQ(made({{"name", "github"}, {"fullName", {"GitHub"}}})["fullName"], "me.mine (github)");
  EXPECT_EQ(made(nullptr), Json());
}

TEST_F(ChatTest, WhetherAFileIsIgnoredIsAskedOfWhatMayBeRead) {
  const auto asks = [this](const Json& file) {
    return call("MainThreadLanguageModels", "$fileIsIgnored", {file});
  };
  EXPECT_EQ(asks(uri(work("a.txt"))), "passed");
  EXPECT_NE(asks(uri((folder_ / "home/.ssh/id_rsa").string())), "passed");
}

TEST_F(ChatTest, AnswersHaveThePartsThatHostsGive) {
  EXPECT_EQ(says({{"kind", "hook"}}), "passed");
  for (const Json& kind : {Json("toolInvocation"), Json("mcpAuthenticationRequired"),
                           Json("elicitation2"), Json("planReview"), Json(), Json("")})
    EXPECT_THAT(says({{"kind", kind}}), HasSubstr("no part of an answer")) << kind;
}

TEST_F(ChatTest, WhyAToolRanIsNoLinkOfTheWindows) {
  const auto says_why = [this](const Json& confirmed) {
    return says({{"kind", "toolInvocationSerialized"}, {"isConfirmed", confirmed}});
  };
  for (const Json& plain : {Json(), Json(true), Json(false), Json({{"type", 1}})})
    EXPECT_EQ(says_why(plain), "passed") << plain;
  for (const Json& more : {Json({{"type", 1}, {"reason", "[x](command:evil)"}}),
                           Json({{"type", 2}, {"id", "`x"}}), Json({{"type", "1"}}),
                           Json({{"reason", "x"}}), Json::object(), Json::array({1}), Json("x")})
    EXPECT_THAT(says_why(more), HasSubstr("how it was confirmed")) << more;
}

// The workbench asks with the accounts of a person.
TEST_F(ChatTest, WhatALinkLeadsToIsAnothersToTell) {
  const Json issue = {{"scheme", "https"}, {"authority", "github.com"}, {"path", "/a/b/issues/1"}};
  const auto watches = [&] {
    return call("MainThreadDataChannels", "$createLinkPresentationWatcher",
                {1, "github", "issue", issue});
  };
  EXPECT_THAT(watches(), HasSubstr("commands-foreign"));
  with(R"("commands-foreign")");
  EXPECT_THAT(watches(), HasSubstr("open-external"));
  with(R"("commands-foreign","open-external")");
  EXPECT_EQ(watches(), "passed");
  with(R"("language-models")");
  const auto provides = [this](const char* extension) {
    return call("MainThreadDataChannels", "$registerLinkPresentationProvider",
                {1, extension, "issue"});
  };
  EXPECT_EQ(provides("me.mine"), "passed");
  EXPECT_NE(provides("cloud.other"), "passed");
}

// A text that is sent is done by the agent, the tools and the trust that a person has chosen there.
TEST_F(BrokerTest, AChatsFieldIsFilledAndAPersonSendsIt) {
  start({"me.mine"}, nullptr, R"("commands","language-models")");
  const auto opens = [&](const Json& given) {
    return call("MainThreadCommands", "$executeCommand",
                {"workbench.action.chat.open", Json::array({given}), false});
  };
  EXPECT_EQ(opens({{"query", "x"}, {"isPartialQuery", true}}), "passed");
  EXPECT_EQ(opens(Json::object()), "passed");
  for (const Json& given :
       {Json("x"), Json{{"query", "x"}}, Json{{"query", "x"}, {"isPartialQuery", "true"}},
        Json{{"mode", "agent"}}, Json{{"toolsInclude", {"run"}}}, Json{{"toolsExclude", {"ask"}}}})
    EXPECT_THAT(opens(given), HasSubstr("commands-foreign")) << given;
}

}  // namespace
}  // namespace bulkhead::testing
