// Texts of any length: the workbench acts on all of one, so that all of it is judged. VS Code folds
// "/./" and runs what begins with ">", however much follows.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

constexpr size_t kLong = size_t{40} << 10U;

std::string times(size_t count, const std::string& text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

class LongTest : public BrokerTest {
 protected:
  // The same file to who folds names: the kernel takes none as long as the longer ones.
  static std::string spelled(const std::string& path, size_t length) {
    return times(length / 2, "/.") + path;
  }
  static constexpr size_t kLengths[] = {kLong, size_t{24} << 10U, 5000};
};

TEST_F(LongTest, AFileIsJudgedByAllOfItsPath) {
  const std::string key = (folder_ / "home/.ssh/authorized_keys").string(), own = work("new.txt");
  for (const size_t length : kLengths)
    for (const std::string& file : {key, own}) {
      const Json named = uri(spelled(file, length)), plain = uri(work("a.txt"));
      const auto refused = [&](const std::string& answer) {
        EXPECT_THAT(answer,
                    ::testing::AnyOf(HasSubstr("NoPermissions"), HasSubstr("no such folder")))
            << length << file;
      };
      for (const char* method : {"$readFile", "$mkdir", "$delete"})
        refused(call("MainThreadFileSystem", method, {named}));
      // A document that is saved as what its name says, wherever that is folded to.
      const Json untitled = uri(spelled(file, length), "untitled");
      for (const char* method : {"$tryOpenDocument", "$trySaveDocument"})
        refused(call("MainThreadDocuments", method, {untitled}));
      refused(call("MainThreadFileSystem", "$writeFile", {untitled, nullptr}));
      refused(call("MainThreadFileSystem", "$writeFile", {named, nullptr}));
      refused(call("MainThreadFileSystem", "$rename", {plain, named, Json::object()}));
      refused(call("MainThreadFileSystem", "$rename", {named, plain, Json::object()}));
      const auto edits = [&](const Json& edit) {
        return call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
                    {Json{{"edits", Json::array({edit})}}, nullptr, false});
      };
      refused(edits({{"newResource", named}}));
      refused(edits({{"resource", untitled}, {"textEdit", {{"text", "x"}}}}));
      refused(edits({{"oldResource", plain}, {"newResource", named}}));
      refused(edits({{"resource", named}, {"textEdit", {{"text", "x"}}}}));
    }
}

TEST_F(LongTest, ACommandIsJudgedByAllOfItsWords) {
  const auto runs = [this](const std::string& id, const Json& argument) {
    return call("MainThreadCommands", "$executeCommand", {id, Json::array({argument}), false});
  };
  const std::string key = (folder_ / "home/.ssh/id_rsa").string();
  for (const size_t length : kLengths) {
    const std::string blanks(length, ' ');
    EXPECT_THAT(runs("workbench.action.quickOpen", ">Terminal: New" + blanks),
                HasSubstr("next Enter"))
        << length;
    EXPECT_THAT(runs("vscode.open", spelled(key, length)), HasSubstr("bulkhead")) << length;
    EXPECT_THAT(runs("vscode.open", uri(spelled(key, length))), HasSubstr("bulkhead")) << length;
    EXPECT_THAT(runs("vscode.open", "vscode-remote://host:1" + spelled(key, length)),
                HasSubstr("bulkhead"))
        << length;
    // Nobody's family, and so nobody's to run without a question.
    EXPECT_NE(runs("workbench." + std::string(length, 'x'), 1), "passed") << length;
    EXPECT_NE(runs("setContext", "bulkhead." + std::string(length, 'x')), "passed") << length;
  }
}

TEST_F(LongTest, ANameIsTheWholeName) {
  for (const size_t length : kLengths) {
    const std::string name(length, 'x');
    EXPECT_THAT(
        call("MainThreadTreeViews", "$registerTreeViewDataProvider", {name, Json::object()}),
        HasSubstr("not its own"))
        << length;
    EXPECT_NE(call("MainThreadConfiguration", "$updateConfigurationOption", {1, "git." + name, 1}),
              "passed")
        << length;
    EXPECT_NE(call("MainThreadWindow", "$openUri", {uri("/" + name, "ssh"), nullptr, {}}), "passed")
        << length;
    // Names of its own may be long too.
    EXPECT_EQ(call("MainThreadTimeline", "$registerTimelineProvider", {Json{{"id", name}}}),
              call("MainThreadTimeline", "$registerTimelineProvider", {Json{{"id", "x"}}}))
        << length;
  }
}

// A command in a command's arguments is looked at, and so are its arguments, for each name beside
// them: this one names a million.
using ExhaustiveLongTest = LongTest;
TEST_F(ExhaustiveLongTest, CommandsInOneAnotherAreLookedThroughWithinBounds) {
  const auto nested = [](int depth) {
    Json inner = 1;
    for (int i = 0; i < depth; ++i) {
      Json outer = Json::object();
      for (int key = 0; key < 16; ++key) outer[std::to_string(key) + "Command"] = "classified.here";
      outer["arguments"] = Json::array({std::move(inner)});
      inner = std::move(outer);
    }
    return inner;
  };
  const auto runs = [&](int depth) {
    return call("MainThreadCommands", "$executeCommand",
                {"classified.here", Json::array({nested(depth)}), false});
  };
  EXPECT_EQ(runs(2), "passed");
  EXPECT_THAT(runs(5), HasSubstr("is run by what it is given to"));
  // The same where it is only shown, for all that one message shows.
  const Json shown = passed(
      "MainThreadMessageService", "$showMessage",
      {1, "text", Json::object(),
       Json::array({Json{{"command", {{"id", "classified.here"}, {"arguments", {nested(2)}}}}},
                    Json{{"command", {{"id", "classified.here"}, {"arguments", {nested(5)}}}}}})});
  ASSERT_TRUE(shown.is_array());
  EXPECT_EQ(shown[3][0]["command"]["id"], "classified.here");
  EXPECT_EQ(shown[3][1]["command"]["id"], "bulkhead.refused");
}

// A word stands for the names of all its commands, which may be megabytes.
TEST_F(LongTest, AWordThatStandsForManyIsReplacedOnceInAMessage) {
  RpcRequest request;
  request.number = ++number_;
  request.proxy = proxy_of("MainThreadMessageService");
  request.method = "$showMessage";
  request.mixed = true;
  const std::string all = R"([{"enableCommandUris":true},{"enableCommandUris":true}])";
  for (int i = 0; i < 4; ++i) request.arguments.push_back({RpcArgument::Type::kJson, all, {}});
  ASSERT_EQ(call(request), "passed");
  const std::string given = text(sent_.workbench.at(0));
  const size_t first = given.find("mine.declared");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(given.find("mine.declared", first + 1), std::string::npos);
  EXPECT_EQ(given.find("true"), std::string::npos) << "nor does it stand for all";
}

// What is content passes whole.
TEST_F(LongTest, LongContentArrives) {
  const std::string content(kLong * 4, 'c');
  const std::vector<Json> edit = {
      Json{{"edits", Json::array({Json{{"resource", uri(work("a.txt"))},
                                       {"textEdit", {{"text", content}}}}})}},
      nullptr, false};
  ASSERT_EQ(call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit", edit), "passed");
  EXPECT_THAT(text(sent_.workbench.at(0)), HasSubstr(content));
}

}  // namespace
}  // namespace bulkhead::testing
