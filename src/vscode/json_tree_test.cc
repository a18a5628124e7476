#include "vscode/json_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "vscode/json_text.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

bool refused(std::string_view text) {
  return parse_json(text).is_discarded() && parse_json<nlohmann::json>(text).is_discarded();
}

TEST(JsonTree, IsWhatTheLibrarysOwnReaderMakes) {
  const std::string plain(100, 'x');
  for (const std::string& text :
       {std::string(R"( { "a" : [ 1 , -2, 0.5 , 1e3 , -0 , -0.0, 0 ] ,"b":{}, "c":[],"":null} )"),
        std::string(R"([true,false,null,"",{"x":{"y":[[["z"]]]}}])"),
        std::string(
            R"(["\"\\\/\b\f\n\r\t","\u0041\u00e9\u20ac\ud83d\ude00","\u0000", "a\u0000b"])"),
        std::string("\"é€😀\u007f\""), std::string("\t1\r\n"),
        std::string("[18446744073709551615,18446744073709551616,-9223372036854775808,"
                    "-9223372036854775809,1e-400,0.1e-999,123456789012345678901234567890,"
                    "1.7976931348623157e308,5e-324,0.1,1E+2,1e0]"),
        "{\"" + plain + "\":\"" + plain + "\\n" + plain + "é\\u00e9" + plain + "\"}",
        std::string(R"({"a":1,"b":2,"a":{"c":3},"b":[]})")}) {
    const auto tree = parse_json(text);
    const auto wanted = Json::parse(text);
    EXPECT_EQ(tree, wanted) << text;
    EXPECT_EQ(tree.dump(), wanted.dump());
    EXPECT_EQ(parse_json<nlohmann::json>(text).dump(), nlohmann::json::parse(text).dump());
  }
  for (const char* text : {"0", "-0", "1", "-1", "1.0", "1e0", "18446744073709551616"})
    EXPECT_EQ(parse_json(text).type(), Json::parse(text).type()) << text;
}

TEST(JsonTree, OfMembersOfOneNameTheLastOneCountsInThePlaceOfTheFirst) {
  EXPECT_EQ(parse_json(R"({"a":{"x":1},"b":2,"\u0061":[]})").dump(), R"({"a":[],"b":2})");
}

TEST(JsonTree, WhatIsNoJsonIsRefused) {
  for (const char* text : {"",
                           " ",
                           "[",
                           "]",
                           "{",
                           "}",
                           "{}{}",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{,}",
                           "{a:1}",
                           "{'a':1}",
                           "{1:1}",
                           "[1}",
                           "{\"a\":1]",
                           "1 1",
                           "tru",
                           "truex",
                           "nul",
                           "falsy",
                           "True",
                           "NaN",
                           "Infinity",
                           "-Infinity",
                           "/**/1",
                           "1//",
                           "undefined",
                           "\x0b1",
                           "\xEF\xBB",
                           "\xEF\xBB\xBF",
                           "\xEF\xBB\xBF 1",
                           "1\xEF\xBB\xBF",
                           "\xEF\xBB\xBF\xEF\xBB\xBF"
                           "1",
                           "\xC2\xA0"
                           "1"})
    EXPECT_TRUE(refused(text)) << text;
  for (const char* text : {"01", "-", "--1", "+1", ".5", "1.", "1.e1", "1e", "1e+", "0x1", "-01",
                           "1e400", "-1e400", "[1e999999999999999999999]", "1_000", "1f"})
    EXPECT_TRUE(refused(text)) << text;
  EXPECT_TRUE(refused("1" + std::string(400, '0')));
  // The library's reader takes it for the end.
  for (const std::string& text : {std::string("1\0", 2), std::string("\0", 1),
                                  std::string("{}\0x", 4), std::string("[1\0]", 4)})
    EXPECT_TRUE(refused(text));
}

TEST(JsonTree, StringsHoldNoControlCharacterAndNoUnknownEscape) {
  for (char c = 0; c < ' '; ++c)  // at each place of the eight that are looked at at once
    for (size_t before = 0; before < 17; ++before) {
      const std::string text = "\"" + std::string(before, 'x') + c + "yyyyyyyyyyyyyyyyy\"";
      EXPECT_TRUE(refused(text)) << int{c} << " " << before;
    }
  for (const char* text :
       {"\"", "\"\\", "\"\\\"", "\"\\x41\"", "\"\\'\"", "\"\\0\"", "\"\\u\"", "\"\\u12\"",
        "\"\\u123\"", "\"\\u123g\"", "\"\\U0041\"", "\"\\u+123\"", "\"abc", "\"\\u004"})
    EXPECT_TRUE(refused(text)) << text;
}

TEST(JsonTree, HalvesOfSurrogatePairsAreRefused) {
  for (const char* text :
       {R"("\ud800")", R"("\udbff")", R"("\udc00")", R"("\udfff")", R"("\ud800x")", R"("\ud800\n")",
        R"("\ud800\ud800")", R"("\ud800A")", R"("\udc00\ud800")", R"("\ud800\u0041")",
        R"({"\ud800":1})", "\"\xED\xA0\x80\"", "\"\xED\xBF\xBF\"", "\"\\ud800\xED\xB0\x80\""})
    EXPECT_TRUE(refused(text)) << text;
  EXPECT_EQ(parse_json(R"("\uD83D\uDe00")"), "😀");
  EXPECT_EQ(parse_json("\"\xED\x9F\xBF\xEE\x80\x80\"").get<std::string>(),
            "\xED\x9F\xBF\xEE\x80\x80");
}

TEST(JsonTree, WhatIsNoUtf8IsRefused) {
  // Every sequence of two bytes, of three and four with any of the first two, cut and whole.
  for (int first = 0x80; first < 0x100; ++first)
    for (int second = 0; second < 0x100; ++second)
      for (const char* rest : {"", "\x80", "\xBF\xBF", "\x80\x7F", "\x80\xC0"}) {
        std::string text = "\"";
        text += static_cast<char>(first);
        text += static_cast<char>(second);
        text.append(rest).append("\"");
        EXPECT_EQ(refused(text), !Json::accept(text)) << first << " " << second << " " << rest;
      }
  for (const char* text :
       {"\"\xC3", "\"\xE2\x82", "\"\xF0\x9F\x98", "\"\xF0\x9F\x98\"", "\xC3\xA9"})
    EXPECT_TRUE(refused(text)) << text;
}

// As is_moderate() has it.
TEST(JsonTree, WhatIsTooCostlyIsRefused) {
  const auto nested = [](size_t depth, const std::string& open, const std::string& close) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += open;
    text += "0";
    for (size_t i = 0; i < depth; ++i) text += close;
    return text;
  };
  EXPECT_FALSE(refused(nested(kMaxJsonDepth, "[", "]")));
  EXPECT_TRUE(refused(nested(kMaxJsonDepth + 1, "[", "]")));
  EXPECT_FALSE(refused(nested(kMaxJsonDepth, "{\"a\":", "}")));
  EXPECT_TRUE(refused(nested(kMaxJsonDepth + 1, "{\"a\":", "}")));
  EXPECT_TRUE(refused(std::string(1U << 20U, '[')));
  std::string beside = "[0";
  for (size_t i = 0; i < 2 * kMaxJsonDepth; ++i) beside += i % 2 == 0 ? ",[]" : ",{}";
  EXPECT_FALSE(refused(beside + "]")) << "beside, and not within, one another";
  const auto wide = [](size_t members) {
    std::string text = "{";
    for (size_t i = 0; i < members; ++i) text += (i == 0 ? "\"a\":0" : ",\"a\":0");
    return text + "}";
  };
  EXPECT_FALSE(refused(wide(kMaxJsonMembers)));
  EXPECT_TRUE(refused(wide(kMaxJsonMembers + 1)));
  // What each counts for.
  for (const auto& [each, count] : {std::pair("0,", 1U), std::pair("{},", 2U), {"[0,0],", 3U}}) {
    std::string many = "[";
    for (size_t i = 0; i <= kMaxJsonValues; i += count) many += each;
    many += "0]";
    EXPECT_TRUE(parse_json(many).is_discarded()) << each;
  }
}

}  // namespace
}  // namespace bulkhead
