#include "vscode/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bulkhead {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(JsonText, AnArrayIsSplitIntoItsElements) {
  EXPECT_THAT(split_array("[]"), Optional(IsEmpty()));
  EXPECT_THAT(split_array(" [ ] "), Optional(IsEmpty()));
  EXPECT_THAT(split_array("[1]"), Optional(ElementsAre("1")));
  EXPECT_THAT(split_array("[ {\"a\":[1,2]} ,\n\"x,]\" , null]"),
              Optional(ElementsAre("{\"a\":[1,2]}", "\"x,]\"", "null")));
  EXPECT_THAT(split_array(R"(["\"","\\",",\\\"]"])"),
              Optional(ElementsAre(R"("\"")", R"("\\")", R"(",\\\"]")")));
}

TEST(JsonText, HalvesOfPairsAreReplaced) {
  const auto replaced = [](std::string text) {
    const size_t size = text.size();
    const bool found = replace_halves(text);
    EXPECT_EQ(text.size(), size);
    return found ? text : "none";
  };
  EXPECT_EQ(replaced(R"(["\ud83d"])"), R"(["\ufffd"])");
  EXPECT_EQ(replaced(R"("\\\udc00\ud800")"), R"("\\\ufffd\ufffd")");
  EXPECT_EQ(replaced(R"("\ud83d\ud83d\udeab")"), R"("\ufffd\ud83d\udeab")");
  for (const char* text : {R"("\ud83d\udeab")", R"("\\ud83d")", R"("\ud7ff \u00d8 \ufffd")",
                           R"("\ud83)", R"("\ud)", "", "ud83d"})
    EXPECT_EQ(replaced(text), "none") << text;
}

TEST(JsonText, WhatIsNoArrayOrEndsWithinIsRefused) {
  for (const char* text : {"", "[", "]", "{}", "1", "[1", "[\"]", "[\"\\\"]", "[1]2", "[1][2]",
                           "[}", "[{]}", "[1],", "x[1]"})
    EXPECT_EQ(split_array(text), std::nullopt) << text;
}

TEST(JsonText, DepthAndWidthAreBounded) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(is_moderate(nested(kMaxJsonDepth)));
  EXPECT_FALSE(is_moderate(nested(kMaxJsonDepth + 1)));
  const auto wide = [](size_t members) {
    std::string text = "{";
    for (size_t i = 0; i < members; ++i)
      text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
    return text + "}";
  };
  EXPECT_TRUE(is_moderate(wide(kMaxJsonMembers)));
  EXPECT_FALSE(is_moderate(wide(kMaxJsonMembers + 1)));
  EXPECT_FALSE(split_array("[" + wide(kMaxJsonMembers + 1) + "]"));
  // An array may be long, and a string holds no structure.
  EXPECT_TRUE(is_moderate("[0" + std::string(100000, ',') + "]"));
  for (const char* each : {"0", "{}", "[]"}) {
    std::string many = "[";
    for (size_t i = 0; i <= kMaxJsonValues; ++i) (many += each) += ',';
    many += "0]";
    EXPECT_FALSE(is_moderate(many)) << each;
    EXPECT_FALSE(split_array(many)) << each;
  }
  EXPECT_TRUE(is_moderate("\"" + std::string(1000, '[') + "\""));
}

TEST(JsonText, ANameIsFoundHoweverItIsWritten) {
  EXPECT_TRUE(may_name(R"({"fsPath":1})", {"fsPath"}));
  EXPECT_TRUE(may_name(R"({"fs\u0050ath":1})", {"fsPath"}));
  EXPECT_TRUE(may_name(R"({"\u001bx":"\u0066sPath"})", {"fsPath"}));
  EXPECT_TRUE(may_name(R"("\u00)", {"fsPath"}));
  EXPECT_FALSE(may_name(R"({"path":"\u001b fsPath \ud83d","xfsPath":0})", {"fsPath"}));
}

TEST(JsonText, AWordIsFoundWhereverItStands) {
  // Every text of up to nine of these letters.
  constexpr std::string_view kLetters = "aT\"";
  for (size_t length = 0; length <= 9; ++length) {
    std::string text(length, kLetters[0]);
    for (bool more = true; more;) {
      for (const char* word : {"T", "aT", "Ta", "aTa", "TT", "\"a", "aa\"T"})
        ASSERT_EQ(holds(text, word), text.find(word) != std::string::npos) << text << " " << word;
      more = false;
      for (char& c : text) {
        const size_t next = kLetters.find(c) + 1;
        c = kLetters[next % kLetters.size()];
        if (next < kLetters.size()) {
          more = true;
          break;
        }
      }
    }
  }
}

// Backslashes are common, so these are looked for many letters at a time.
TEST(JsonText, AnEscapeIsFoundAtEachPlaceOfALongText) {
  constexpr std::string_view kEscape = "\\u00";
  const std::string text = [] {
    std::string some;
    for (size_t i = 0; some.size() < 200; ++i) some += i % 3 == 0 ? "\\n" : "\\u01\\u";
    return some;
  }();
  EXPECT_FALSE(holds(text, kEscape));
  for (size_t size = 0; size <= text.size(); ++size)
    for (size_t at = 0; at <= size; ++at) {
      std::string with = text.substr(0, size);
      with.insert(at, kEscape);
      ASSERT_TRUE(holds(with, kEscape)) << size << " " << at;
      with.erase(at + kEscape.size() - 1);
      ASSERT_EQ(holds(with, kEscape), with.find(kEscape) != std::string::npos) << size << " " << at;
    }
  EXPECT_FALSE(may_name(std::string(100, ' ') + R"("\u001f")", {"fsPath"}));
  EXPECT_TRUE(may_name(std::string(100, ' ') + R"("\u001f\u0066")", {"fsPath"}));
}

}  // namespace
}  // namespace bulkhead
