// Arguments and replies of every shape but the expected one, for each method that there is: what is
// no use to anybody must not end the supervisor either.
#include "policy/vscode_permissions.h"
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

class OddTest : public BrokerTest {
 protected:
  void SetUp() override {
    BrokerTest::SetUp();
    table_json_ = shipped_table();
    for (
        const char* text :
        {"null",
         "true",
         "1",
         "-1.5",
         "1e300",
         R"("")",
         R"("x")",
         R"("file:///x")",
         "[]",
         "{}",
         "[null]",
         R"([[["x"]]])",
         R"({"scheme":1})",
         R"({"scheme":"file","path":1})",
         R"({"$mid":1,"scheme":"file","path":"/x"})",
         R"({"$$ref$$":-1})",
         R"({"$$ref$$":"x"})",
         R"({"id":{},"value":[],"uri":5,"resource":7,"command":[],"arguments":1})",
         R"({"edits":[1,{"resource":1},{"resource":{"scheme":"file"},"textEdit":1}],"options":1})",
         R"({"addedDocuments":1,"removedDocuments":[1],"addedEditors":[1],"removedEditors":{},"newActiveEditor":1})",
         R"([{"uri":1},{"uri":{"path":{}}},[1,2],{"tabs":[1],"folders":[1],"toAdd":[1],"myToAdd":1}])",
         R"({"isTrusted":{"enabledCommands":1},"value":1,"baseUri":1,"webviewOptions":{"portMapping":1,"localResourceRoots":[1]}})",
         R"(["setContext",[["x"]]])",
         R"({"created":[1],"changed":{},"deleted":[{"scheme":1}]})"})
      odd_.push_back(Json::parse(text));
  }

  // Each alone among others, in every place, and all the same; also where a text has buffers.
  template <typename Send>
  void each_odd(const Send& send) {
    constexpr size_t kPlaces = 5;
    for (const Json& odd : odd_) {
      send(Json::array({odd, odd, odd, odd, odd, odd, odd, odd, odd, odd}));
      for (size_t place = 0; place < kPlaces; ++place) {
        Json arguments = Json::array({"x", "x", "x", "x", "x"});
        arguments[place] = odd;
        send(arguments);
      }
    }
    for (const Json& few : {Json::array(), Json::array({1}), Json::object(), Json(), Json("x")})
      send(few);
  }

  Json table_json_;
  std::vector<Json> odd_;
};

using ExhaustiveOddTest = OddTest;
TEST_F(ExhaustiveOddTest, WhatAHostAsks) {
  std::string all;
  for (const VscodePermission& each : kVscodePermissions)
    all += (all.empty() ? "\"" : ",\"") + std::string(each.name) + "\"";
  start({"me.mine"}, nullptr, all);
  size_t asked = 0;
  for (const auto& [actor, methods] : table_json_["methods"].items()) {
    const auto known = std::find(kActors.begin(), kActors.end(), actor);
    if (known == kActors.end()) continue;
    for (const auto& [method, rule] : methods.items())
      each_odd([&, name = method](const Json& arguments) {
        for (const bool mixed : {false, true}) {
          RpcRequest request;
          request.number = ++number_;
          request.proxy = static_cast<uint8_t>(known - kActors.begin() + 1);
          request.method = name;
          request.mixed = mixed;
          std::vector<std::string> texts;
          for (const Json& each : arguments) texts.push_back(each.dump());
          for (const std::string& text : texts)
            request.arguments.push_back({RpcArgument::Type::kJson, text, {}});
          const std::string json = arguments.dump();
          if (!mixed) {
            request.arguments.clear();
            request.json = json;
          }
          sent_ = {};
          EXPECT_TRUE(broker_->from_host(write_request(request), sent_).ok()) << name << json;
          EXPECT_TRUE(!sent_.host.empty() || !sent_.workbench.empty()) << name << json;
          ++asked;
        }
      });
  }
  EXPECT_GT(asked, 10'000U);
}

TEST_F(OddTest, WhatAHostIsToldAndAnswers) {
  size_t told = 0;
  const auto tells = [&](const std::string& method) {
    each_odd([&](const Json& arguments) {
      sent_ = {};
      RpcRequest request;
      request.number = ++asked_;
      request.method = method;
      const std::string json = arguments.dump();
      request.json = json;
      // A host for which it means to start again is ended with words.
      (void)broker_->from_workbench(write_request(request), sent_);
      if (sent_.host.empty()) return;
      ++told;
      for (const RpcType type : {RpcType::kReplyOkJson, RpcType::kReplyError}) {
        RpcReply reply;
        reply.type = type;
        reply.number = asked_;
        reply.json = json;
        sent_ = {};
        EXPECT_TRUE(broker_->from_host(write_reply(reply), sent_).ok()) << method << json;
      }
    });
  };
  for (const auto& [method, rule] : table_json_["told"].items())
    tells(method.substr(method.find('$')));
  EXPECT_GT(told, 5'000U);
}

}  // namespace
}  // namespace bulkhead::testing
