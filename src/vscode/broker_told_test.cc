// What the workbench tells a host, or asks of it, and what of that comes in.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

using ::testing::AllOf;
using ::testing::Not;

class BrokerToldTest : public BrokerTest {
 protected:
  // What became of it: "passed", "quiet", or the error's message.
  std::string told(const std::string& method, const Json& arguments, uint8_t proxy = 0) {
    sent_ = {};
    RpcRequest request;
    request.number = ++asked_;
    request.proxy = proxy;
    request.method = method;
    const std::string json = arguments.dump();
    request.json = json;
    EXPECT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
    if (sent_.host.size() == 1 && sent_.workbench.empty()) return "passed";
    EXPECT_TRUE(sent_.host.empty()) << "answered and passed on";
    if (sent_.workbench.size() != 2) return "not answered";
    EXPECT_EQ(sent_.workbench[0][0], static_cast<uint8_t>(RpcType::kAcknowledged));
    const auto reply = parse_rpc(sent_.workbench[1]);
    const auto& answer = std::get<RpcReply>(*reply);
    EXPECT_EQ(answer.number, asked_);
    if (answer.type == RpcType::kReplyOkEmpty) return "quiet";
    return Json::parse(answer.json)["message"].get<std::string>();
  }
  std::string given() const { return sent_.host.empty() ? "" : text(sent_.host[0]); }
  std::string key() const { return (folder_ / "home/.ssh/id_rsa").string(); }
};

TEST_F(BrokerToldTest, WhatNobodyHasClassifiedDoesNotComeIn) {
  EXPECT_THAT(told("$brandNew", {"SECRET"}), HasSubstr("nobody has classified"));
  EXPECT_EQ(told("$setVisibleChannel", {"output"}), "passed");
}

// These are definitions of servers with the keys that they are started with, and tokens of a
// person's accounts; the workbench tells them to every host.
TEST_F(BrokerToldTest, APersonsServersAndTokensDoNotComeIn) {
  const Json server = {{"label", "x"}, {"launch", {{"env", {{"API_KEY", "SECRET"}}}}}};
  EXPECT_EQ(told("$onDidChangeMcpServerDefinitions", Json::array({Json::array({server})})),
            "quiet");
  EXPECT_EQ(told("$onDidChangeDynamicAuthProviderTokens", {"id", "client", {"SECRET"}}), "quiet");
  EXPECT_EQ(told("$updateRemoteConnectionData", Json::array({Json{{"connectionToken", "SECRET"}}})),
            "quiet");
  for (const char* method : {"$startMcp", "$registerDynamicAuthProvider", "$startExtensionHost"})
    EXPECT_THAT(told(method, {1, server}), HasSubstr("no extension in a compartment")) << method;
  start({"me.mine"}, nullptr, R"("@editor","language-models","authentication")");
  EXPECT_EQ(told("$onDidChangeMcpServerDefinitions", Json::array({Json::array({server})})),
            "quiet");
  EXPECT_NE(told("$startMcp", {1, server}), "passed");
}

// Debugging asks its own host by that name; MCP, whichever host it chose.
TEST_F(BrokerToldTest, AnActorsOwnRuleGoesFirst) {
  EXPECT_EQ(told("$substituteVariables", {nullptr, Json::object()}, proxy_of("ExtHostOther")),
            "passed");
  EXPECT_THAT(told("$substituteVariables", {nullptr, Json::object()}, proxy_of("ExtHostMcp")),
              HasSubstr("ExtHostMcp.$substituteVariables"));
}

TEST_F(BrokerToldTest, SecretsOfOthersAreNotEvenNamed) {
  EXPECT_EQ(told("$onDidChangePassword",
                 Json::array({Json{{"extensionId", "cloud.other"}, {"key", "token"}}})),
            "quiet");
  EXPECT_EQ(told("$onDidChangePassword",
                 Json::array({Json{{"extensionId", "me.mine"}, {"key", "token"}}})),
            "passed");
}

TEST_F(BrokerToldTest, FileEventsTellOnlyOfWhatMayBeRead) {
  const auto event = [&](const std::vector<std::string>& paths) {
    Json list = Json::array();
    for (const std::string& path : paths) list.push_back(uri(path));
    return Json::array({Json{{"session", 3}, {"created", list}, {"deleted", list}}});
  };
  EXPECT_EQ(told("$onFileEvent", event({work("a.txt"), work("new")})), "passed");
  EXPECT_EQ(told("$onFileEvent", event({key(), work(".git"), "/tmp/x"})), "quiet");
  EXPECT_EQ(told("$onFileEvent", event({key(), work("a.txt"), work(".git/config")})), "passed");
  EXPECT_THAT(given(), AllOf(HasSubstr("a.txt"), HasSubstr(R"("session":3)"),
                             Not(HasSubstr("id_rsa")), Not(HasSubstr(".git"))));
}

TEST_F(BrokerToldTest, TabsOfWhatMayNotBeReadHaveNoName) {
  const auto tab = [&](const std::string& path) {
    return Json{{"id", "0~editor-" + path},
                {"label", path.substr(path.rfind('/'))},
                {"input", {{"kind", 1}, {"uri", uri(path)}}},
                {"isActive", true}};
  };
  const Json group = {{"groupId", 0}, {"tabs", {tab(work("a.txt")), tab(key())}}};
  EXPECT_EQ(told("$acceptEditorTabModel", Json::array({Json::array({group})})), "passed");
  EXPECT_THAT(given(), AllOf(HasSubstr("a.txt"), Not(HasSubstr("id_rsa"))));
  const Json shown = Json::parse(given().substr(given().find('[')));
  const Json masked = shown[0][0]["tabs"].at(1);
  EXPECT_EQ(masked["isActive"], true) << "it stays in its place";
  EXPECT_EQ(
      told("$acceptTabOperation",
           Json::array({Json{{"kind", 2}, {"index", 1}, {"groupId", 0}, {"tabDto", tab(key())}}})),
      "passed");
  EXPECT_EQ(given().find("id_rsa"), std::string::npos);
  EXPECT_THAT(given(), HasSubstr(masked["id"].get<std::string>())) << "the same tab";
  Json difference = tab(work("a.txt"));
  difference["input"] = {{"kind", 2}, {"original", uri(key())}, {"modified", uri(work("a.txt"))}};
  EXPECT_EQ(
      told("$acceptTabGroupUpdate", Json::array({Json{{"groupId", 0}, {"tabs", {difference}}}})),
      "passed");
  EXPECT_EQ(given().find("id_rsa"), std::string::npos);
}

TEST_F(BrokerToldTest, NothingIsToldOfEditorsThatAreNotThere) {
  const auto moves = [&](const std::string& id) {
    return told("$acceptEditorPropertiesChanged", {id, Json{{"selections", Json::array()}}});
  };
  const auto opens = [&](const std::string& id, const std::string& path) {
    told("$acceptDocumentsAndEditorsDelta",
         Json::array({Json{{"addedEditors", {{{"id", id}, {"documentUri", uri(path)}}}}}}));
  };
  opens("1", work("a.txt"));
  opens("2", key());
  EXPECT_EQ(moves("1"), "passed");
  EXPECT_EQ(moves("2"), "quiet");
}

// A person answers a remark: what they write is for the extension that shows it.
TEST_F(BrokerToldTest, AnswersToRemarksComeToWhomTheyAreFor) {
  const auto writes = [&](const std::string& extension) {
    const Json document = uri("/" + extension + "/commentinput-1.md", "comment");
    told("$acceptDocumentsAndEditorsDelta",
         Json::array({Json{
             {"addedDocuments", {{{"uri", document}, {"lines", Json::array({"well seen"})}}}}}}));
    return given().find("well seen") != std::string::npos;
  };
  EXPECT_TRUE(writes("me.mine"));
  EXPECT_TRUE(writes("Me.Mine"));
  for (const char* other : {"cloud.other", "me.mine2", ""}) EXPECT_FALSE(writes(other)) << other;
}

TEST_F(BrokerToldTest, PagesInNotebooksSpeakToTheirOwnExtension) {
  EXPECT_EQ(told("$postRendererMessage", {"editor", "mine.renderer", "x"}), "passed");
  EXPECT_EQ(told("$postRendererMessage", {"editor", "cloud.renderer", "x"}), "quiet");
}

TEST_F(BrokerToldTest, OnlyGitIsAskedWhatGitIs) {
  EXPECT_EQ(told("$isGitExtensionAvailable", Json::array()), "quiet");
  start({"vscode.git"});
  EXPECT_EQ(told("$isGitExtensionAvailable", Json::array()), "passed");
}

TEST_F(BrokerToldTest, TheDefaultTerminalsVariablesStayOutside) {
  const Json profile = {{"path", "/bin/bash"}, {"args", {"-l"}}, {"env", {{"TOKEN", "SECRET"}}}};
  EXPECT_EQ(told("$acceptDefaultProfile", {profile, profile}), "passed");
  EXPECT_THAT(given(), AllOf(HasSubstr("/bin/bash"), HasSubstr("-l"), Not(HasSubstr("SECRET"))));
  // Without one for automation, which is undefined then.
  RpcRequest mixed;
  mixed.number = ++asked_;
  mixed.method = "$acceptDefaultProfile";
  mixed.mixed = true;
  const std::string json = profile.dump();
  mixed.arguments = {RpcArgument{RpcArgument::Type::kJson, json, {}}, RpcArgument{}};
  sent_ = {};
  ASSERT_TRUE(broker_->from_workbench(write_request(mixed), sent_).ok());
  EXPECT_THAT(given(), AllOf(HasSubstr("/bin/bash"), Not(HasSubstr("SECRET"))));
}

}  // namespace
}  // namespace bulkhead::testing
