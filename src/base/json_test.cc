#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead::json {
namespace {

using ::testing::HasSubstr;

std::vector<Diagnostic> findings(std::string_view text) {
  const auto result = parse("f.json", text);
  EXPECT_FALSE(result.ok()) << text;
  if (result.ok()) return {};
  for (const Diagnostic& each : result.error().diagnostics)
    EXPECT_TRUE(each.severity == Diagnostic::Severity::kNote || !each.fix.empty())
        << "no fix: " << to_string(each);
  return result.error().diagnostics;
}

// The only finding: "line:column field: message (fix)".
std::string finding_of(std::string_view text) {
  const auto all = findings(text);
  EXPECT_EQ(all.size(), 1U) << text;
  return all.empty() ? "" : to_string(all[0]);
}

TEST(Json, ReadsEveryType) {
  const auto document = parse("f.json", R"({"a":[1,-2.5,1e3,true,false,null,"x\u00e9\n"],"b":{}})");
  ASSERT_TRUE(document.ok());
  const Value& root = document->root();
  ASSERT_EQ(root.type, Type::kObject);
  const Value* a = root.find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->items.size(), 7U);
  EXPECT_EQ(a->items[0]->type, Type::kInteger);
  EXPECT_EQ(a->items[0]->integer, 1);
  EXPECT_EQ(a->items[0]->number, 1.0);
  EXPECT_EQ(a->items[1]->type, Type::kNumber);
  EXPECT_EQ(a->items[1]->number, -2.5);
  EXPECT_EQ(a->items[2]->type, Type::kNumber);
  EXPECT_TRUE(a->items[3]->boolean);
  EXPECT_FALSE(a->items[4]->boolean);
  EXPECT_EQ(a->items[4]->type, Type::kBoolean);
  EXPECT_EQ(a->items[5]->type, Type::kNull);
  EXPECT_EQ(a->items[6]->text, "x\xC3\xA9\n");
  EXPECT_EQ(root.find("b")->type, Type::kObject);
  EXPECT_EQ(root.find("c"), nullptr);
  EXPECT_EQ(a->find("a"), nullptr);
}

TEST(Json, KnowsPlacesAndPaths) {
  const auto document = parse("f.json",
                              "{\n"
                              "  \"files\": {\n"
                              "    \"read\": [\"a\\\"b\", -12.5e3 ,\ttrue,\r\n"
                              "       [{}], {\"odd key\" : null}]\n"
                              "  }\n"
                              "}\n");
  ASSERT_TRUE(document.ok());
  const Value& root = document->root();
  EXPECT_EQ(root.line, 1);
  EXPECT_EQ(root.column, 1);
  EXPECT_EQ(root.path(), "");
  const Value* read = root.find("files")->find("read");
  EXPECT_EQ(read->key_line, 3);
  EXPECT_EQ(read->key_column, 5);
  EXPECT_EQ(read->line, 3);
  EXPECT_EQ(read->column, 13);
  const auto place = [](const Value* v) { return std::pair(v->line, v->column); };
  EXPECT_EQ(place(read->items[0]), std::pair(3, 14));
  EXPECT_EQ(place(read->items[1]), std::pair(3, 22));
  EXPECT_EQ(place(read->items[2]), std::pair(3, 32));
  EXPECT_EQ(place(read->items[3]), std::pair(4, 8));
  EXPECT_EQ(read->items[3]->items[0]->path(), "files.read[3][0]");
  EXPECT_EQ(read->items[4]->items[0]->path(), "files.read[4][\"odd key\"]");
}

TEST(Json, PlacesStayWhenTheDocumentMoves) {
  auto parsed = parse("f.json", R"({"a":{"b":[1]}})");
  ASSERT_TRUE(parsed.ok());
  const Value* inner = parsed->root().find("a")->find("b")->items[0];
  const Document moved = std::move(parsed).value();
  EXPECT_EQ(inner->path(), "a.b[0]");
  EXPECT_EQ(moved.root().find("a")->find("b")->items[0], inner);
}

TEST(Json, RefusesDuplicateNames) {
  EXPECT_EQ(finding_of("{\"a\":1,\n \"a\":2}"),
            "f.json:2:2: error: a: this name stands twice in one object (keep one of the two)");
  EXPECT_EQ(finding_of(R"({"a":1,"\u0061":2})"),
            "f.json:1:8: error: a: this name stands twice in one object (keep one of the two)");
  EXPECT_TRUE(parse("f.json", R"([{"a":1},{"a":1}])").ok());
  EXPECT_EQ(findings(R"({"a":1,"a":2,"b":{"c":1,"c":1}})").size(), 2U);
}

TEST(Json, RefusesWhatStandsBehindTheText) {
  EXPECT_THAT(finding_of("{} x"), HasSubstr("f.json:1:4"));
  EXPECT_THAT(finding_of("{}{}"), HasSubstr("f.json:1:3"));
  EXPECT_THAT(finding_of(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(finding_of("  \n"), HasSubstr("not valid JSON"));
}

TEST(Json, RefusesNul) {
  EXPECT_THAT(finding_of(std::string_view("{}\0{}", 5)),
              HasSubstr("f.json:1:3: error: the file holds a NUL byte"));
  EXPECT_THAT(finding_of(std::string_view("[\"a\0b\"]", 7)), HasSubstr("NUL"));
  EXPECT_THAT(finding_of(R"(["a\u0000b"])"),
              HasSubstr("f.json:1:2: error: [0]: a string holds a NUL"));
  EXPECT_THAT(finding_of(R"({"a\u0000b":1})"), HasSubstr("a name holds a NUL byte"));
}

TEST(Json, RefusesInvalidUtf8) {
  for (const char* bad :
       {"[\"\xFF\"]", "[\"\xC0\x80\"]", "[\"\xED\xA0\x80\"]", "[\"\xF5\x80\x80\x80\"]",
        "[\"\xE2\x82\"]", "[\"\\uD800\"]", "[\"\\uDC00\\uD800\"]"})
    EXPECT_THAT(finding_of(bad), HasSubstr("not valid JSON")) << bad;
  EXPECT_THAT(finding_of("\xEF\xBB\xBF{}"), HasSubstr("byte order mark"));
  for (const std::string_view utf16 :
       {std::string_view("\xFF\xFE{\0}\0", 6), std::string_view("\xFE\xFF\0{\0}", 6)})
    EXPECT_THAT(finding_of(utf16), HasSubstr("byte order mark (save it as UTF-8"));
  EXPECT_TRUE(parse("f.json", "[\"\\uD83D\\uDE00 \xF0\x9F\x98\x80\"]").ok());
}

TEST(Json, RefusesCommentsAndTrailingCommasWithAFix) {
  EXPECT_THAT(finding_of("{\n // no\n}"), HasSubstr("(remove the comment: JSON has none)"));
  EXPECT_THAT(finding_of("/* no */ {}"), HasSubstr("remove the comment"));
  EXPECT_THAT(finding_of("[1,2, ]"), HasSubstr("(remove the comma before \"]\")"));
  EXPECT_THAT(finding_of("{\"a\":1,\n}"), HasSubstr("f.json:2:1"));
}

TEST(Json, SaysWhatToWriteInstead) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "it is empty"},
      {" \n", "it is empty"},
      {"{\"a\":1", "close every"},
      {"{} {}", "remove what stands behind the end"},
      {"{a:1}", "write the name in double quotes"},
      {"{'a':1}", "write double quotes"},
      {"{\"a\" 1}", "write \":\" between"},
      {"{\"a\":1 \"b\":2}", "write a comma before it, or close with \"}\""},
      {"{\"a\":1]", "close with \"}\""},
      {"[1 2]", "write a comma before it, or close with \"]\""},
      {"[1}", "close with \"]\""},
      {"[\"a\n\"]", "for a new line"},
      {"[\"a", "close the string"},
      {"[\"\\x\"]", "a backslash twice"},
      {"[\"\xFF\"]", "save the file as UTF-8"},
      {"[-]", "write a number such as"},
      {"[1e999]", "write a number between"},
      {"[yes]", "write a value"},
  };
  for (const auto& [text, fix] : cases) EXPECT_THAT(finding_of(text), HasSubstr(fix)) << text;
}

TEST(Json, RefusesNumbersThatDoNotFit) {
  EXPECT_TRUE(parse("f.json", "[9223372036854775807,-9223372036854775808]").ok());
  for (const char* bad : {"[9223372036854775808]", "[18446744073709551616]",
                          "[-9223372036854775809]", "[100000000000000000000000]"})
    EXPECT_THAT(finding_of(bad), HasSubstr("f.json:1:2: error: [0]: an integer is out of range"))
        << bad;
  EXPECT_THAT(finding_of("[1e999]"), HasSubstr("out of range"));
  for (const char* bad : {"[01]", "[+1]", "[.5]", "[1.]", "[0x10]", "[NaN]", "[Infinity]"})
    EXPECT_THAT(finding_of(bad), HasSubstr("not valid JSON")) << bad;
}

TEST(Json, LimitsDepthAndSize) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_TRUE(parse("f.json", nested(kMaxDepth)).ok());
  EXPECT_THAT(finding_of(nested(kMaxDepth + 1)), HasSubstr("nested deeper than 64 levels"));
  EXPECT_THAT(finding_of(nested(500000)), HasSubstr("nested deeper"));
  const std::string largest = "[\"" + std::string(kMaxBytes - 4, 'a') + "\"]";
  EXPECT_TRUE(parse("f.json", largest).ok());
  EXPECT_THAT(finding_of(largest + " "), HasSubstr("at most 1048576 are read"));
}

TEST(Json, KeepsAFewFindingsOfMany) {
  std::string text = "{\"a\":0";
  for (int i = 0; i < 5000; ++i) text += ",\"a\":0";
  const auto all = findings(text + "}");
  ASSERT_EQ(all.size(), kMaxDiagnostics + 1);
  EXPECT_EQ(all.back().message, "4900 more findings are not shown");
}

TEST(Json, LongNamesDoNotFillPaths) {
  const auto document = parse("f.json", "{\"" + std::string(5000, 'k') + "\":{\"\\u001b[2J\":1}}");
  ASSERT_TRUE(document.ok());
  const std::string path = document->root().items[0]->items[0]->path();
  EXPECT_LT(path.size(), 120U);
  EXPECT_EQ(path.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace bulkhead::json
