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

// What becomes of Markdown that may hold tags.
std::string shown(const std::string& markdown) {
  Json value = {{"value", markdown}, {"supportHtml", true}};
  strict().disarm(value, Disarm::Strings::kText);
  return value["value"];
}

TEST(Disarm, LinksRunOwnCommandsOnly) {
  expect(R"j([{"value": "[a](command:mine.x?1) [b](command:run.it?%5B1%5D)", "isTrusted": true}])j",
         R"j([{"value": "[a](command:mine.x?1) [b](command:run.it?%5B1%5D)",
               "isTrusted": {"enabledCommands": ["mine.x"]}}])j");
  expect(R"j({"value": "x", "isTrusted": {"enabledCommands": ["run.it", "mine.y"]}})j",
         R"j({"value": "x", "isTrusted": {"enabledCommands": ["mine.y"]}})j");
  expect(R"j({"value": "x", "isTrusted": false})j", R"j({"value": "x", "isTrusted": false})j");
  const auto message = Disarm::Strings::kMessages;
  expect(R"j([1, "see [this](command:run.it)"])j", R"j([1, "see [this](#command:run.it)"])j",
         message);
  expect(R"j(["[a](Command:run.it?1) [b](COMMAND:run.it) [c](command:%6dine.x)"])j",
         R"j(["[a](#Command:run.it?1) [b](#COMMAND:run.it) [c](#command:%6dine.x)"])j", message);
  expect(
      R"j(["[a]( command:b) [a](<command:b>) <command:b> [a]: command:b <a href='command:b'>"])j",
      R"j(["[a]( #command:b) [a](<#command:b>) <#command:b> [a]: #command:b <a href='#command:b'>"])j",
      message);
  expect(R"j(["run (command: b), command:b or \"command:b\""])j",
         R"j(["run (command: b), command:b or \"command:b\""])j", message);
  // Markdown takes more than spaces off before it looks.
  for (const char* before : {"](\n> ", "](\u00a0", "]: ", "](\\", "](<", "<a href=", "](\u2003"}) {
    Json text = std::string("[a") + before + "command:run.it)";
    EXPECT_EQ(strict().disarm(text, message), 1U) << before;
    text = std::string("[a") + before + "command\\:run.it)";
    EXPECT_EQ(strict().disarm(text, message), 1U) << before;
  }
  expect(R"j(["see [a](https://e.org): command: npm, subcommand:x"])j",
         R"j(["see [a](https://e.org): command: npm, subcommand:x"])j", message);
  const char* own = R"j(["[a](command:mine.x) [b](command:mine.x?1 'title')"])j";
  expect(own, own, message);
  expect(R"j({"learnMore": "command:run.it", "a": {"scheme": "COMMAND", "path": "run.it"}})j",
         "{}");
  expect(R"j({"learnMore": "COMMAND:run.it"})j", "{}");
  // What VS Code writes of these is a link that it reads anew.
  for (const char* target : {R"j({"path": "command:run.it", "query": "[1]"})j",
                             R"j({"scheme": "", "path": "Command:run.it"})j",
                             R"j({"scheme": "command:run.it?[1]#", "path": ""})j"})
    expect((std::string(R"j({"target": )j") + target + "}").c_str(), "{}");
  for (const char* target : {R"j({"target": {"path": "command:mine.x"}})j",
                             R"j({"target": {"scheme": "file", "path": "command:run.it"}})j"})
    expect(target, target);
  // Whoever opens the links of these does not look at what is named in isTrusted.
  expect(R"j([{"tooltip": {"value": "[a](command:mine.x)", "isTrusted": true}}])j",
         R"j([{"tooltip": {"value": "[a](command:mine.x)"}}])j", Disarm::Strings::kPicks);
}

// What is not run with just any arguments may be run with these. The opener compares them as it
// read them, so there is one way to write them that counts.
TEST(Disarm, LinksRunWhatMayBeRunWithTheirArguments) {
  const Disarm disarm({.may_run = [](const std::string& id) { return id == "mine.y"; },
                       .may_run_with =
                           [](const std::string& id, const Json& arguments) {
                             return id == "open.it" && arguments == Json::array({"a b"});
                           }});
  const auto enabled = [&](const std::string& links, Json trusted = true) {
    Json value = {{"value", links}, {"isTrusted", std::move(trusted)}};
    disarm.disarm(value, Disarm::Strings::kText);
    return value["isTrusted"]["enabledCommands"];
  };
  const Json open = Json::array({{{"command", "open.it"}, {"arguments", R"(["a b"])"}}});
  EXPECT_EQ(enabled("[x](command:open.it?%5B%22a%20b%22%5D)"), open);
  EXPECT_EQ(
      enabled("[x](command:open.it?%5b%22a%20b%22%5d) [y](command:open.it?%5B%22a%20b%22%5D)"),
      open);
  EXPECT_EQ(enabled("[x](command:open.it?%5B%22a%20b%22%5D)", {{"enabledCommands", {"open.it"}}}),
            open);
  const Json mine = {{"command", "mine.y"}, {"arguments", "[1]"}};
  EXPECT_EQ(enabled("[x](command:mine.y?%5B2%5D)",
                    {{"enabledCommands",
                      Json::array({mine, {{"command", "run.it"}}, {{"command", 1}}})}}),
            Json::array({mine}));
  EXPECT_EQ(enabled("[x](command:open.it?%5B%22a%20b%22%5D)", {{"enabledCommands", {"other"}}}),
            Json::array());
  for (const char* arguments : {"", "?", "?%5B%22other%22%5D", "?%5B%22a%20b%22%5D%20",
                                "?%5B%22a%2520b%22%5D", "?%22a%20b%22", "?%5B%22a%20b",
                                "?%5B%22a%20b%22%5", "?%5B%22a%20b%22%5G", "?%5B%22a%20b%22,%5D"})
    EXPECT_EQ(enabled("[x](command:open.it" + std::string(arguments) + ")"), Json::array())
        << arguments;
  EXPECT_EQ(enabled("x", {{"enabledCommands", {open[0], "open.it?[\"a b\"]"}}}), Json::array())
      << "an extension's own words for it";
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
  for (const char* other : {"![x](HTTPS:e.org)", "![x](&#104;ttps:&#47;&#47;e.org)", "![x](x.png)",
                            "!![x](https://e.org)", "!!![x](https://e.org)",
                            "![x][y]\n\n[y]: //e.org", "![x\\\\](data:image/) y](//e.org)",
                            "![x [y](data:image/)](//e.org)", "![x]( data:image/)"})
    EXPECT_EQ(shown(other).find("!["), std::string::npos) << other;
  for (const char* tag : {"<iMG src=//e.org>", "<Video src=//e.org>", "<image src=//e.org>",
                          "<input type=image src=//e.org>", "<<img src=//e.org>"})
    EXPECT_NE(shown(tag).find("<br"), std::string::npos) << tag;
  const std::string inline_one =
      "a! ![x](data:image/png;base64,AA) [y](https://e.org) a<b <i>c</i>";
  EXPECT_EQ(shown(inline_one), inline_one);
  // No picture, a text that shows tags, a picture of this machine.
  for (const char* text :
       {R"j({"value": "#![allow(x)]"})j", R"j({"value": "<img src=x>", "supportHtml": false})j",
        R"j({"value": "![x](file:///a)", "uris": {"file:///a": {"scheme": "vscode-remote"}}})j"})
    expect(text, text);
  expect(R"j({"value": "![x](file:///a)", "uris": {"file:///a": {"scheme": "https"}}})j",
         R"j({"value": "[x](file:///a)", "uris": {"file:///a": {"scheme": "https"}}})j");
  expect(R"j({"value": "![x](file:///a)", "uris": {"file:///a": "https://e.org"}})j",
         R"j({"value": "[x](file:///a)", "uris": {"file:///a": "https://e.org"}})j");
  expect(R"j({"iconPath": {"scheme": "HTTPS", "authority": "e.org"}, "a": 1})j", R"j({"a": 1})j");
  expect(R"j({"gutterIconPath": {"$mid": 1, "scheme": "https", "authority": "e.org"}, "a": 1})j",
         R"j({"a": 1})j");
  // What a browser makes of these, or VS Code before it.
  for (const char* odd :
       {R"j({"scheme": ["https"], "authority": "e.org", "path": "/?s"})j",
        R"j({"scheme": "\thttps", "authority": "e.org"})j", R"j({"scheme" : "ht\ttps"})j",
        R"j({"scheme": "", "authority": "e.org"})j", R"j({"authority": "e.org", "path": "/http"})j",
        R"j(" https://e.org")j", R"j("ht\ntps://e.org")j", R"j("\\\\e.org/http")j"}) {
    const std::string icon = std::string(R"j({"gutterIconPath": )j") + odd + R"j(, "a": 1})j";
    expect(icon.c_str(), R"j({"a": 1})j");
  }
  for (const char* odd : {R"j({"scheme": ["x"]})j", R"j({"scheme" : "ht\\ttps"})j",
                          R"j({"scheme": ""})j", R"j({"a": "scheme", "scheme": 1})j"})
    EXPECT_TRUE(Disarm::concerns(odd)) << odd;
  EXPECT_FALSE(Disarm::concerns(R"j({"a": ["scheme", "x"], "scheme": "vscode-remote"})j"));
  expect(R"j({"target": {"scheme": ["command"], "path": "run.it"}})j", "{}");
  for (const char* plain :
       {R"j({"iconPath": {"id": "bug"}})j", R"j({"light": {"scheme": "file", "path": "/i"}})j",
        R"j({"a": {"scheme": "*", "language": "x"}})j"}) {
    expect(plain, plain);
  }
  expect(R"j({"iconPath": {"$mid": 1, "scheme": "vscode-remote", "path": "/i.png"}})j",
         R"j({"iconPath": {"$mid": 1, "scheme": "vscode-remote", "path": "/i.png"}})j");
}

// Without a scheme a path is the whole address.
TEST(Disarm, AnAddressInAPathIsFetchedToo) {
  for (const char* path : {"https://a/b.png", "//a/b.png", " HTTPS://a", "\\\\a/b"})
    EXPECT_TRUE(is_fetched({{"path", path}})) << path;
  for (const char* path : {"/a/b.png", "a.png"}) EXPECT_FALSE(is_fetched({{"path", path}})) << path;
  EXPECT_FALSE(is_fetched({{"scheme", "file"}, {"path", "//a/b.png"}}));
  expect(R"j([{"icon": {"path": "https://a/b.png"}, "x": 1}])j", R"j([{"x": 1}])j");
}

TEST(Disarm, TextOfDocumentsStaysAsItIs) {
  const char* edit =
      R"j([{"range": {"a": 1}, "text": "![x](https://e.org) [a](command:b) <img src=x>"}])j";
  expect(edit, edit);
}

TEST(Disarm, SnippetsDoNotCarryTheClipboard) {
  expect(R"j(["a $CLIPBOARD ${CLIPBOARD:-x} CLIPBOARD"])j",
         R"j(["a $FORBIDDEN ${FORBIDDEN:-x} CLIPBOARD"])j", Disarm::Strings::kSnippets);
  expect(R"j([{"insertAsSnippet": true, "text": "$CLIPBOARD"}, {"text": "echo $CLIPBOARD"}])j",
         R"j([{"insertAsSnippet": true, "text": "$FORBIDDEN"}, {"text": "echo $CLIPBOARD"}])j");
  expect(R"j({"insertText": {"snippet": "$CLIPBOARD"}})j",
         R"j({"insertText": {"snippet": "$FORBIDDEN"}})j");
  const Disarm lenient(
      {.may_run = [](const std::string&) { return true; }, .may_fetch = true, .may_paste = true});
  Json value = Json::parse(R"j(["$CLIPBOARD", {"value": "![x](https://e)", "uris": {}}])j");
  const Json before = value;
  EXPECT_EQ(lenient.disarm(value, Disarm::Strings::kSnippets), 0U);
  EXPECT_EQ(value, before);
}

TEST(Disarm, LooksOnlyWhereThereIsSomethingToSee) {
  EXPECT_FALSE(Disarm::concerns(R"j([1, {"lines": ["int main() {}"]}])j"));
  for (const char* one :
       {R"j([{"\u0069sTrusted": true}])j", R"j(["[a](COMMAND:b)"])j", R"j([{"scheme": "HttpS"}])j",
        R"j([{"value": "![x](y)"}])j", R"j([{"value": "<iMg src=x>"}])j"})
    EXPECT_TRUE(Disarm::concerns(one)) << one;
}

TEST(Disarm, ASchemeIsSeenWhereverItStands) {
  const auto seen = [](const std::string& word, size_t at, size_t length) {
    return Disarm::concerns(std::string(at, 'x') + word + std::string(length - at, 'x'));
  };
  for (size_t length = 0; length < 200; ++length)
    for (size_t at = 0; at <= length; ++at)
      for (const std::string word : {"cOMmAND", "hTtP"}) {
        ASSERT_TRUE(seen(word, at, length)) << at << " of " << length;
        ASSERT_FALSE(seen(word.substr(1), at, length));
        ASSERT_FALSE(seen(word.substr(0, 3), at, length));
      }
}

TEST(Disarm, PicturesAreFetchedByWhateverNameTheyHave) {
  for (const char* key :
       {"icon", "iconDark", "userIconPath", "authorIcon", "iconPathDark", "resourceUri"}) {
    expect((std::string("[{\"a\":1,\"") + key + R"(":{"scheme":"https","path":"/x"}}])").c_str(),
           R"([{"a":1}])");
    const std::string here = std::string("[{\"") + key + R"(":{"scheme":"file","path":"/x"}}])";
    expect(here.c_str(), here.c_str());
  }
}

// Without an end each of them would be looked for through all of the text.
TEST(Disarm, ATextOfManyLinksIsReadOnce) {
  size_t asked = 0;
  const Disarm disarm({.may_run = [&asked](const std::string& command) {
    asked += command.size();
    return false;
  }});
  const auto many = [](const char* link) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += link;
    return text;
  };
  for (const char* link : {"[x](command:", "command:a?", "command:"}) {
    Json shown = {{"value", many(link)}, {"isTrusted", true}};
    disarm.disarm(shown, Disarm::Strings::kText);
    EXPECT_EQ(shown["isTrusted"]["enabledCommands"], Json::array());
    Json message = many(link);
    disarm.disarm(message, Disarm::Strings::kMessages);
    EXPECT_EQ(message.get<std::string>().find("](command:"), std::string::npos);
  }
  EXPECT_LT(asked, 20'000'000U);
}

}  // namespace
}  // namespace bulkhead
