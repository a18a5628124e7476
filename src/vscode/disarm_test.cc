#include "vscode/disarm.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

Disarm strict() {
  return Disarm({.may_run = [](const std::string& id) { return id.starts_with("mine."); }});
}

void expect(const char* text, const char* wanted,
            Disarm::Strings strings = Disarm::Strings::kText) {
  Json value = Json::parse(text);
  strict().disarm(value, strings);
  EXPECT_EQ(value.dump(), Json::parse(wanted).dump());
}

TEST(Disarm, LinksRunOwnCommandsOnly) {
  expect(R"j([{"value": "[a](command:mine.x?1) [b](command:run.it?%5B1%5D)", "isTrusted": true}])j",
         R"j([{"value": "[a](command:mine.x?1) [b](command:run.it?%5B1%5D)",
               "isTrusted": {"enabledCommands": ["mine.x"]}}])j");
  expect(R"j({"value": "x", "isTrusted": {"enabledCommands": ["run.it", "mine.y"]}})j",
         R"j({"value": "x", "isTrusted": {"enabledCommands": ["mine.y"]}})j");
  expect(R"j({"value": "x", "isTrusted": false})j", R"j({"value": "x", "isTrusted": false})j");
  expect(R"j([1, "see [this](command:run.it)"])j", R"j([1, "see [this](#command:run.it)"])j",
         Disarm::Strings::kMessages);
}

TEST(Disarm, ButtonsRunOwnCommandsOnly) {
  expect(R"j([{"range": 1, "command": {"id": "run.it", "title": "Run", "arguments": [1]}}])j",
         R"j([{"range": 1, "command": {"id": "bulkhead.refused", "title": "Run",
                                       "arguments": []}}])j");
  expect(R"j([{"command": {"id": "mine.x", "arguments": [1]}}])j",
         R"j([{"command": {"id": "mine.x", "arguments": [1]}}])j");
}

TEST(Disarm, NothingIsFetchedByLooking) {
  expect(R"j({"value": "![x](https://e.org/?s) <img src='https://e.org'>", "supportHtml": true})j",
         R"j({"value": "[x](https://e.org/?s) <br src='https://e.org'>", "supportHtml": true})j");
  expect(R"j({"gutterIconPath": {"$mid": 1, "scheme": "https", "authority": "e.org"}, "a": 1})j",
         R"j({"a": 1})j");
  expect(R"j({"iconPath": {"$mid": 1, "scheme": "vscode-remote", "path": "/i.png"}})j",
         R"j({"iconPath": {"$mid": 1, "scheme": "vscode-remote", "path": "/i.png"}})j");
}

TEST(Disarm, TextOfDocumentsStaysAsItIs) {
  const char* edit =
      R"j([{"range": {"a": 1}, "text": "![x](https://e.org) [a](command:b) <img src=x>"}])j";
  expect(edit, edit);
}

TEST(Disarm, SnippetsDoNotCarryTheClipboard) {
  expect(R"j(["a $CLIPBOARD ${CLIPBOARD:-x} CLIPBOARD"])j",
         R"j(["a $WITHHELD ${WITHHELD:-x} CLIPBOARD"])j", Disarm::Strings::kSnippets);
  expect(R"j([{"insertAsSnippet": true, "text": "$CLIPBOARD"}, {"text": "echo $CLIPBOARD"}])j",
         R"j([{"insertAsSnippet": true, "text": "$WITHHELD"}, {"text": "echo $CLIPBOARD"}])j");
  expect(R"j({"insertText": {"snippet": "$CLIPBOARD"}})j",
         R"j({"insertText": {"snippet": "$WITHHELD"}})j");
  const Disarm lenient(
      {.may_run = [](const std::string&) { return true; }, .may_fetch = true, .may_paste = true});
  Json value = Json::parse(R"j(["$CLIPBOARD", {"value": "![x](https://e)", "uris": {}}])j");
  const Json before = value;
  EXPECT_EQ(lenient.disarm(value, Disarm::Strings::kSnippets), 0U);
  EXPECT_EQ(value, before);
}

TEST(Disarm, LooksOnlyWhereThereIsSomethingToSee) {
  EXPECT_FALSE(Disarm::concerns(R"j([1, {"lines": ["int main() {}"]}])j"));
  EXPECT_TRUE(Disarm::concerns(R"j([{"\u0069sTrusted": true}])j"));
}

}  // namespace
}  // namespace bulkhead
