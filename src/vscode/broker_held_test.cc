// Calls that wait for a permission: in the host's order, and for as long as the question stands.
#include <condition_variable>
#include <optional>
#include <thread>

#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps questions open, as the editor's does: who asks is held for no time at all.
class OpenQuestions final : public Asker {
 public:
  Answer ask(const Question& question) override {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return Answer::kNobody;
    open_.push_back(question);
    changed_.notify_all();
    return Answer::kLater;
  }
  std::optional<std::chrono::milliseconds> patience(Waits) const noexcept override {
    return std::chrono::milliseconds(0);
  }
  void on_late(std::function<void(const Question&, Answer)> answered) override {
    const std::lock_guard lock(mutex_);
    late_ = std::move(answered);
  }
  void cancel() noexcept override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    late_ = nullptr;
  }
  // The first that is open, once there is one.
  Question answer(Answer answer) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return !open_.empty(); });
    if (open_.empty()) return {};
    const Question question = open_.front();
    open_.erase(open_.begin());
    const auto late = late_;
    lock.unlock();
    late(question, answer);
    return question;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Question> open_;
  std::function<void(const Question&, Answer)> late_;
  bool cancelled_ = false;
};

// What went where, from any thread.
class Heard final : public Outbox {
 public:
  void to_host(std::vector<uint8_t> body) override {
    const auto message = parse_rpc(body);
    const auto* reply = message.ok() ? std::get_if<RpcReply>(&*message) : nullptr;
    const auto* request = message.ok() ? std::get_if<RpcRequest>(&*message) : nullptr;
    const std::lock_guard lock(mutex_);
    if (request != nullptr) {
      asked_.push_back(std::string(request->method));
      changed_.notify_all();
    }
    if (reply == nullptr) return;
    host_.push_back(reply->type == RpcType::kReplyError
                        ? Json::parse(reply->json)["name"].get<std::string>()
                        : "ok");
    changed_.notify_all();
  }
  void to_workbench(std::vector<uint8_t> body) override {
    const auto message = parse_rpc(body);
    const auto* request = message.ok() ? std::get_if<RpcRequest>(&*message) : nullptr;
    if (request == nullptr) return;  // an acknowledgement, which may come at any time
    const std::lock_guard lock(mutex_);
    workbench_.push_back(std::string(request->method) + std::string(request->json));
    changed_.notify_all();
  }
  std::vector<std::string> host(size_t count) { return take(host_, count); }
  std::vector<std::string> asked(size_t count) { return take(asked_, count); }
  std::vector<std::string> workbench(size_t count) { return take(workbench_, count); }

 private:
  std::vector<std::string> take(std::vector<std::string>& from, size_t count) {
    std::unique_lock lock(mutex_);
    // Nothing depends on how long: what never comes fails, and does not hang.
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return from.size() >= count; });
    return std::exchange(from, {});
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> host_, workbench_, asked_;
};

class HeldTest : public BrokerTest {
 protected:
  void SetUp() override {
    BrokerTest::SetUp();
    start({"me.mine"}, &asker_, R"("@editor","commands")");
  }
  void TearDown() override {
    broker_.reset();
    BrokerTest::TearDown();
  }
  void say(const std::string& actor, const std::string& method, const Json& arguments) {
    RpcRequest request;
    request.number = ++number_;
    request.proxy = proxy_of(actor);
    request.method = method;
    const std::string json = arguments.dump();
    request.json = json;
    EXPECT_TRUE(broker_->from_host(write_request(request), heard_).ok());
  }
  void terminal(const std::string& method, const Json& argument) {
    say("MainThreadTerminalService", method, {"guid", argument});
  }
  OpenQuestions asker_;
  Heard heard_;
};

TEST_F(HeldTest, AYesThatComesLateIsForWhatWasAskedForAndInItsOrder) {
  terminal("$createTerminal", {{"name", "Code"}});
  terminal("$show", true);
  terminal("$sendText", "python a.py");
  EXPECT_THAT(heard_.host(3), ElementsAre("Canceled", "Canceled", "Canceled"));
  EXPECT_EQ(asker_.answer(Answer::kThisRun).resource, "terminal");
  EXPECT_THAT(heard_.workbench(3),
              ElementsAre(R"($createTerminal["guid",{"name":"Code"}])", R"($show["guid",true])",
                          R"($sendText["guid","python a.py"])"));
  // The workbench answers what the host was told already: that goes nowhere.
  for (uint32_t number = 1; number <= 3; ++number) {
    RpcReply reply;
    reply.type = RpcType::kReplyOkEmpty;
    reply.number = number;
    sent_ = {};
    EXPECT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
    EXPECT_THAT(sent_.host, IsEmpty()) << number;
  }
  terminal("$sendText", "ls");
  EXPECT_THAT(heard_.workbench(1), ElementsAre(R"($sendText["guid","ls"])"));
}

TEST_F(HeldTest, ANoIsForAllOfThem) {
  terminal("$createTerminal", Json::object());
  terminal("$sendText", "curl evil");
  EXPECT_EQ(heard_.host(2).size(), 2U);
  asker_.answer(Answer::kNo);
  terminal("$sendText", "curl evil");
  EXPECT_THAT(heard_.host(1), ElementsAre("Error"));
  EXPECT_THAT(heard_.workbench(0), IsEmpty());
}

TEST_F(HeldTest, OnceIsForTheOneThatWasShown) {
  terminal("$sendText", "make");
  heard_.host(1);
  terminal("$sendText", "curl evil");
  heard_.host(1);
  EXPECT_THAT(asker_.answer(Answer::kOnce).about, HasSubstr("make"));
  EXPECT_THAT(heard_.workbench(1), ElementsAre(R"($sendText["guid","make"])"));
  EXPECT_THAT(asker_.answer(Answer::kNo).about, HasSubstr("evil"));
  EXPECT_THAT(heard_.workbench(0), IsEmpty());
}

// What else a person is asked about does not stand behind it.
TEST_F(HeldTest, OtherPermissionsHaveLinesOfTheirOwn) {
  say("MainThreadTask", "$executeTask", Json::array({Json::object()}));
  heard_.host(1);
  say("MainThreadCommands", "$executeCommand", {"classified.here", Json::array(), false});
  EXPECT_EQ(heard_.workbench(1).size(), 1U) << "it needs no answer";
  say("MainThreadConfiguration", "$updateConfigurationOption", {1, "peacock.color", "red"});
  EXPECT_THAT(heard_.host(1), ElementsAre("Canceled"));
  asker_.answer(Answer::kNo);
  asker_.answer(Answer::kAlways);
  EXPECT_THAT(heard_.workbench(1),
              ElementsAre(R"($updateConfigurationOption[1,"peacock.color","red"])"));
}

// Who pressed F5 waits, and nothing else does.
TEST_F(HeldTest, WhatAPersonBeganIsHeldUntilTheyAnswer) {
  RpcRequest request;
  request.number = 7;
  request.method = "$resolveDebugConfiguration";
  request.json = R"([1,null,{"type":"mine"},{}])";
  EXPECT_TRUE(broker_->from_workbench(write_request(request), heard_).ok());
  EXPECT_EQ(asker_.answer(Answer::kThisRun).resource, "debug");
  EXPECT_THAT(heard_.asked(1), ElementsAre("$resolveDebugConfiguration"));
}

TEST_F(HeldTest, ACommandThatFailsForAnOpenQuestionWasLeftOff) {
  const auto failed = [&](const std::string& message) {
    deliver("$executeContributedCommand", R"(["mine.declared"])");
    RpcReply reply;
    reply.type = RpcType::kReplyError;
    reply.number = asked_;
    const std::string json =
        Json{{"$isError", true}, {"name", "Error"}, {"message", message}}.dump();
    reply.json = json;
    sent_ = {};
    EXPECT_TRUE(broker_->from_host(write_reply(reply), sent_).ok());
    const auto told = parse_rpc(sent_.workbench.at(0));
    return Json::parse(std::get<RpcReply>(*told).json)["message"].get<std::string>();
  };
  EXPECT_EQ(failed("EACCES: permission denied"), "EACCES: permission denied");
  say("MainThreadConfiguration", "$updateConfigurationOption", {1, "peacock.color", "red"});
  heard_.host(1);
  EXPECT_EQ(failed("bulkhead: not decided yet: a question about it is open in this window"),
            "Canceled");
  EXPECT_EQ(failed("EACCES: permission denied"), "Canceled");
  EXPECT_EQ(failed("no such colour"), "no such colour");
  asker_.answer(Answer::kNo);
  EXPECT_EQ(failed("EACCES: permission denied"), "EACCES: permission denied");
}

TEST_F(HeldTest, WhatNobodyHasIsNotAskedAbout) {
  const auto runs = [&](const std::string& command) {
    say("MainThreadCommands", "$executeCommand", {command, Json::array(), false});
    return heard_.host(1);
  };
  EXPECT_THAT(runs("nobody.has"), ElementsAre("Error"));
  for (const char* somebodys : {"other.command", "cloud.later", "_hidden", "workbench.later2"}) {
    EXPECT_THAT(runs(somebodys), ElementsAre("Canceled")) << somebodys;
    EXPECT_EQ(asker_.answer(Answer::kOnce).resource, "commands-foreign");
    heard_.workbench(1);
  }
}

TEST_F(HeldTest, NoMoreAreHeldThanThereIsRoomFor) {
  constexpr int kMore = 100;
  for (int i = 0; i < kMore; ++i) terminal("$sendText", i);
  EXPECT_EQ(heard_.host(kMore).size(), static_cast<size_t>(kMore)) << "each is answered";
  asker_.answer(Answer::kThisRun);
  EXPECT_EQ(heard_.workbench(64).size(), 64U);
}

TEST_F(HeldTest, KeysAreGivenToWhoMayHaveThem) {
  const std::vector<std::string> all = {"type",           "replacePreviousChar", "compositionStart",
                                        "compositionEnd", "compositionType",     "cut",
                                        "paste"};
  const auto registers = [&](const std::string& command) {
    say("MainThreadCommands", "$registerCommand", Json::array({command}));
  };
  for (const std::string& command : all) registers(command);
  EXPECT_EQ(heard_.host(all.size()).size(), all.size());
  // Taken back before somebody answered: given now, every key would be lost.
  say("MainThreadCommands", "$unregisterCommand", Json::array({"cut"}));
  heard_.workbench(1);
  EXPECT_EQ(asker_.answer(Answer::kOnce).resource, "typing");
  const auto given = heard_.workbench(all.size() - 1);
  ASSERT_EQ(given.size(), all.size() - 1) << "one answer is for all of them";
  EXPECT_EQ(given[0], R"($registerCommand["type"])");
  for (const std::string& each : given) EXPECT_EQ(each.find("cut"), std::string::npos);
  // It is not its own to run: that writes, into whatever has the focus.
  say("MainThreadCommands", "$executeCommand", {"type", Json::array(), false});
  EXPECT_THAT(heard_.host(1), ElementsAre("Error"));
  start({"me.mine"});
  for (const std::string& command : all)
    EXPECT_THAT(call("MainThreadCommands", "$registerCommand", {command}), HasSubstr("typing"));
  start({"me.mine"}, nullptr, R"("commands","typing")");
  for (const std::string& command : all)
    EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {command}), "passed") << command;
}

}  // namespace
}  // namespace bulkhead::testing
