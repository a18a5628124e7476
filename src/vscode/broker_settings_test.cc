// Settings: the editor's, its own, and those that others declare.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

TEST_F(BrokerTest, SettingsOfOthersNeedAnotherPermission) {
  EXPECT_NE(call("MainThreadConfiguration", "$updateConfigurationOption", {1, "mine.url", "x"}),
            "passed")
      << "before it is known which are the editor's";
  settings();
  EXPECT_EQ(
      call("MainThreadConfiguration", "$updateConfigurationOption", {1, "mine.url", "https://x"}),
      "passed");
  // Declared by nobody, or also by the editor.
  EXPECT_NE(
      call("MainThreadConfiguration", "$updateConfigurationOption", {1, "mine.colour", "red"}),
      "passed");
  EXPECT_NE(
      call("MainThreadConfiguration", "$updateConfigurationOption", {1, "git.path", "/tmp/evil"}),
      "passed");
  for (const char* key : {"minefield", "shared.url", "cloud.token"})
    EXPECT_NE(call("MainThreadConfiguration", "$updateConfigurationOption", {1, key, "x"}),
              "passed")
        << key;
}

TEST_F(BrokerTest, WhatOthersDeclareTooNeedsAPermission) {
  const auto seen = [this] { return settings(R"("shared": {"url": "SECRET"})"); };
  EXPECT_EQ(seen().find("SECRET"), std::string::npos);
  start({"me.mine"}, nullptr, R"("@editor","settings-shared")");
  EXPECT_THAT(seen(), HasSubstr("SECRET"));
  EXPECT_EQ(call("MainThreadConfiguration", "$updateConfigurationOption", {1, "shared.url", "x"}),
            "passed");
}

// Its settings and commands are others' from the moment that it is there.
TEST_F(BrokerTest, AnExtensionThatIsInstalledLaterIsForeignAsWell) {
  const auto seen = [this] { return settings(R"("late": {"token": "SECRET"})"); };
  EXPECT_THAT(seen(), HasSubstr("SECRET")) << "of nobody, as far as is known";
  RpcRequest request;
  request.method = "$deltaExtensions";
  request.json =
      R"([{"toAdd": [{"identifier": {"value": "late.comer"}, "contributes":
           {"commands": [{"command": "late.login"}],
            "configuration": {"properties": {"late.token": {}}}}}], "myToAdd": []}])";
  ASSERT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
  EXPECT_EQ(seen().find("SECRET"), std::string::npos);
  EXPECT_NE(call("MainThreadCommands", "$registerCommand", {"late.login"}), "passed");
}

TEST_F(BrokerTest, SettingsOfOtherExtensionsDoNotComeIn) {
  RpcRequest request;
  request.method = "$acceptConfigurationChanged";
  request.json =
      R"([{"userLocal": {"contents": {"cloud": {"token": "SECRET"}, "git": {"path": "/g"},
      "mine": {"url": "https://mine"}}, "keys": ["cloud.token", "git.path", "mine.url"]}}, {}])";
  ASSERT_TRUE(broker_->from_workbench(write_request(request), sent_).ok());
  ASSERT_EQ(sent_.host.size(), 1U);
  const std::string seen = text(sent_.host[0]);
  EXPECT_EQ(seen.find("SECRET"), std::string::npos) << seen;
  EXPECT_THAT(seen, HasSubstr("https://mine"));
  EXPECT_THAT(seen, HasSubstr("/g"));
}

// As VS Code writes half of a pair, which a setting, a package or a document may hold.
TEST_F(BrokerTest, AHalfOfASurrogatePairIsToldAsASign) {
  EXPECT_THAT(deliver("$initializeConfiguration",
                      R"([{"workspace":{"contents":{"x":"a\ud83d","y":"\\ud83d"}}}])"),
              HasSubstr(R"(a\ufffd)"));
  const std::string given = deliver(
      "$acceptConfigurationChanged",
      R"([{"workspace":{"contents":{"cloud":{"token":"\udc00"},"y":"\\ud83d \ud83d\udeab"}}}])");
  EXPECT_THAT(given, HasSubstr(R"(\\ud83d )")) << "a text that only looks like one";
  EXPECT_EQ(given.find("token"), std::string::npos);
  // An update of this host's, in whose words there is one.
  RpcRequest request;
  request.method = "$deltaExtensions";
  const std::string json = R"([{"toAdd":[{"description":"\ud83d"}],"myToAdd":["me.mine"]}])";
  request.json = json;
  const Status told = broker_->from_workbench(write_request(request), sent_);
  ASSERT_FALSE(told.ok());
  EXPECT_THAT(told.error().message, HasSubstr("an extension was added"));
}

// A host that is not told its settings begins no extension, and waits without a word.
TEST_F(BrokerTest, SettingsThatCannotBeReadEndTheHostWithTheReason) {
  std::string deep = "1";
  for (int i = 0; i < 300; ++i) deep = "[" + deep + "]";
  for (const char* method : {"$initializeConfiguration", "$acceptConfigurationChanged"}) {
    RpcRequest request;
    request.method = method;
    const std::string json = R"([{"workspace":{"contents":{"x":)" + deep + "}}}]";
    request.json = json;
    const Status told = broker_->from_workbench(write_request(request), sent_);
    ASSERT_FALSE(told.ok()) << method;
    EXPECT_THAT(told.error().message, HasSubstr("settings.json"));
  }
}

}  // namespace
}  // namespace bulkhead::testing
