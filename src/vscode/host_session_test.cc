#include "vscode/host_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/arbiter.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

constexpr auto kInitialized = static_cast<uint8_t>(HostSignal::kInitialized);
constexpr auto kReady = static_cast<uint8_t>(HostSignal::kReady);
constexpr auto kTerminate = static_cast<uint8_t>(HostSignal::kTerminate);

struct Sent : Outbox {
  std::vector<std::string> host, workbench;
  void to_host(std::vector<uint8_t> body) override { host.emplace_back(body.begin(), body.end()); }
  void to_workbench(std::vector<uint8_t> body) override {
    workbench.emplace_back(body.begin(), body.end());
  }
};

class HostSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto table = ApiTable::parse(ManifestBytes::of("t", R"({"methods":{},"told":{"$m":"free"}})"));
    ASSERT_TRUE(table.ok());
    table_ = std::make_unique<ApiTable>(std::move(*table));
    PolicyInputs inputs;
    auto policy = Policy::compile(inputs);
    ASSERT_TRUE(policy.ok()) << to_string(policy.error());
    arbiter_ = std::make_unique<Arbiter>(*policy, nullptr, nullptr, Enforcement::kEnforce, nullptr);
    session_ =
        std::make_unique<HostSession>([this](InitialData& data) -> Result<std::unique_ptr<Broker>> {
          ++admitted_;
          if (refuse_) return Error{"not reviewed", 7};
          keeps_pages_ = data.keeps_pages();
          if (empty_) data.remove_extensions();
          return std::make_unique<Broker>(*table_, *arbiter_, BrokerOptions{});
        });
  }
  static Bytes bytes(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }
  Status workbench(std::string_view text) { return session_->from_workbench(bytes(text), sent_); }
  Status host(std::string_view text) { return session_->from_host(bytes(text), sent_); }
  Status host(uint8_t signal) { return session_->from_host(Bytes(&signal, 1), sent_); }

  static std::string initial() {
    const auto uri = [](const std::string& path) {
      return Json{{"$mid", 1}, {"path", path}, {"scheme", "file"}};
    };
    return Json{{"parentPid", 4711},
                {"bulkheadKeepsPages", "yes"},
                {"logsLocation", uri("/logs")},
                {"environment", {{"globalStorageHome", uri("/global")}}},
                {"extensions",
                 {{"allExtensions", Json::array({Json{{"identifier", {{"value", "a.b"}}},
                                                      {"extensionLocation", uri("/ext")}}})},
                  {"myExtensions", Json::array({"a.b"})}}}}
        .dump();
  }
  static std::string request() {
    RpcRequest call;
    call.method = "$m";
    call.json = "[]";
    const auto written = write_request(call);
    return {written.begin(), written.end()};
  }

  std::unique_ptr<ApiTable> table_;
  std::unique_ptr<Arbiter> arbiter_;
  std::unique_ptr<HostSession> session_;
  Sent sent_;
  int admitted_ = 0;
  bool refuse_ = false, empty_ = false, keeps_pages_ = false;
};

TEST_F(HostSessionTest, TheHostIsReadyBeforeThereIsOne) {
  ASSERT_TRUE(session_->begin(sent_).ok());
  EXPECT_EQ(sent_.workbench, std::vector<std::string>{std::string(1, kReady)});
  EXPECT_EQ(admitted_, 0);
  ASSERT_TRUE(workbench(initial()).ok());
  EXPECT_EQ(admitted_, 1);
  EXPECT_TRUE(sent_.host.empty()) << "before the host is there";
  ASSERT_TRUE(host(kReady).ok());
  ASSERT_EQ(sent_.host.size(), 1U);
  EXPECT_EQ(Json::parse(sent_.host[0])["parentPid"], 0) << "what it must not have";
  EXPECT_EQ(sent_.workbench.size(), 1U) << "ready was said before";
  EXPECT_FALSE(session_->is_initialized());
  ASSERT_TRUE(host(kInitialized).ok());
  EXPECT_EQ(sent_.workbench.size(), 2U);
  EXPECT_FALSE(session_->is_initialized()) << "the workbench may never have heard";
  ASSERT_TRUE(workbench(request()).ok());
  EXPECT_TRUE(session_->is_initialized());
  EXPECT_EQ(sent_.host.at(1), request());
}

TEST_F(HostSessionTest, WhatTheBrowserKeepsIsTheSupervisorsToKnow) {
  ASSERT_TRUE(workbench(initial()).ok());
  ASSERT_TRUE(host(kReady).ok());
  EXPECT_TRUE(keeps_pages_);
  EXPECT_FALSE(Json::parse(sent_.host.at(0)).contains("bulkheadKeepsPages"));
}

TEST_F(HostSessionTest, WhatAdmitTakesOutStaysOut) {
  empty_ = true;
  ASSERT_TRUE(workbench(initial()).ok());
  ASSERT_TRUE(host(kReady).ok());
  EXPECT_TRUE(Json::parse(sent_.host.at(0))["extensions"]["myExtensions"].empty());
}

TEST_F(HostSessionTest, ARefusalEndsTheConversation) {
  refuse_ = true;
  const Status status = workbench(initial());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "not reviewed");
  EXPECT_EQ(status.error().errno_value, 7);
  EXPECT_TRUE(sent_.host.empty());
}

TEST_F(HostSessionTest, MessagesBeforeTheHostIsReadyAreHeldInOrderAndAreFew) {
  ASSERT_TRUE(workbench(initial()).ok());
  ASSERT_TRUE(workbench(request()).ok());
  EXPECT_FALSE(session_->is_terminated());
  ASSERT_TRUE(workbench(std::string(1, kTerminate)).ok());
  EXPECT_TRUE(session_->is_terminated());
  EXPECT_TRUE(sent_.host.empty());
  ASSERT_TRUE(host(kReady).ok());
  ASSERT_EQ(sent_.host.size(), 3U);
  EXPECT_EQ(sent_.host[1], request());
  EXPECT_EQ(sent_.host[2], std::string(1, kTerminate));
}

TEST_F(HostSessionTest, AWorkbenchThatDoesNotWaitIsAnError) {
  ASSERT_TRUE(workbench(initial()).ok());
  int taken = 0;
  while (taken < 1000 && workbench(request()).ok()) ++taken;
  EXPECT_GT(taken, 10);
  EXPECT_LT(taken, 1000);
}

TEST_F(HostSessionTest, AHostThatWaitedIsToldAtOnce) {
  ASSERT_TRUE(host(kReady).ok());
  EXPECT_TRUE(sent_.host.empty());
  ASSERT_TRUE(workbench(initial()).ok());
  EXPECT_EQ(admitted_, 1);
  ASSERT_EQ(sent_.host.size(), 1U);
  EXPECT_EQ(Json::parse(sent_.host[0])["parentPid"], 0) << "what it must not have";
  EXPECT_TRUE(sent_.workbench.empty()) << "begin() says that it is ready, and once";
}

TEST_F(HostSessionTest, AHostThatWaitedGetsNothingOfWhatIsRefused) {
  refuse_ = true;
  ASSERT_TRUE(host(kReady).ok());
  EXPECT_FALSE(workbench(initial()).ok());
  EXPECT_TRUE(sent_.host.empty());
}

TEST_F(HostSessionTest, AHostThatSpeaksTooEarlyIsEnded) {
  for (const bool told : {false, true}) {
    if (told) {
      ASSERT_TRUE(workbench(initial()).ok());
    }
    EXPECT_THAT(host(request()).error().message, HasSubstr("before it was ready"));
    EXPECT_FALSE(host(kInitialized).ok());
    EXPECT_FALSE(host("").ok());
  }
  EXPECT_TRUE(sent_.workbench.empty());
}

TEST_F(HostSessionTest, AHostThatSaysMoreBeforeItIsToldWhatForIsEnded) {
  ASSERT_TRUE(host(kReady).ok());
  for (const std::string& more : {std::string(1, kReady), request()})
    EXPECT_THAT(host(more).error().message, HasSubstr("before it was told"));
  EXPECT_TRUE(sent_.workbench.empty());
}

TEST_F(HostSessionTest, AWindowThatClosesAtOnceIsNoError) {
  EXPECT_TRUE(workbench(std::string(1, kTerminate)).ok());
  EXPECT_EQ(admitted_, 0);
  EXPECT_FALSE(workbench("garbage").ok());
}

}  // namespace
}  // namespace bulkhead
