#include "policy/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/policy.h"

namespace bulkhead {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto parsed = parse_pattern(text);
  EXPECT_FALSE(parsed.ok()) << text;
  if (parsed.ok()) return "";
  EXPECT_NE(parsed.error().diagnostics.at(0).fix, "") << text;
  return parsed.error().message + " | " + parsed.error().diagnostics.at(0).fix;
}

std::string round_trip(std::string_view text) {
  const auto parsed = parse_pattern(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : to_string(parsed.error()));
  return parsed.ok() ? parsed->pattern.text() : "";
}

TEST(Pattern, ItsTextReadsAsThePatternAgain) {
  for (const char* text :
       {"/", "/a/b", "/a*/\\*b", "**/x", "/\\${home}/a", "/a\\\\b", "/a$b", "/x$"}) {
    const auto parsed = parse_pattern(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed->pattern.text(), text);
  }
}

TEST(Pattern, Parses) {
  EXPECT_EQ(round_trip("/"), "/");
  EXPECT_EQ(round_trip("/a/b c/[id].ts"), "/a/b c/[id].ts");
  EXPECT_EQ(round_trip("**/.git/hooks"), "**/.git/hooks");
  EXPECT_EQ(round_trip("/a/*.log"), "/a/*.log");
  EXPECT_EQ(round_trip("**/*.log"), "**/*.log");
  EXPECT_EQ(round_trip(R"(/a/\*\\)"), R"(/a/\*\\)");
  const auto parsed = parse_pattern("${workspace}/a/*");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->variable, "workspace");
  EXPECT_EQ(parsed->pattern.components, (std::vector<std::string>{"a", std::string(1, kStar)}));
  EXPECT_EQ(parse_pattern("${home}")->variable, "home");
  EXPECT_TRUE(parse_pattern("${home}")->pattern.components.empty());
}

TEST(Pattern, RefusesWithAFix) {
  EXPECT_THAT(refusal("~/x"), HasSubstr("write \"${home}/x\""));
  EXPECT_THAT(refusal("~"), HasSubstr("write \"${home}\""));
  EXPECT_THAT(refusal("src/x"), HasSubstr("write \"${workspace}/src/x\""));
  EXPECT_THAT(refusal("./src/x"), HasSubstr("write \"${workspace}/src/x\""));
  EXPECT_THAT(refusal(".././x"), HasSubstr("write the whole path, or \"**/x\""));
  EXPECT_THAT(refusal(""), HasSubstr("must be absolute"));
  EXPECT_THAT(refusal("${HOME}/x"), HasSubstr("unknown variable \"${HOME}\""));
  EXPECT_THAT(refusal("${workspace"), HasSubstr("unknown variable"));
  EXPECT_THAT(refusal("${workspace}x"), HasSubstr("write \"${workspace}/x\""));
  EXPECT_THAT(refusal("${workspace}/"), HasSubstr("write \"${workspace}\""));
  EXPECT_THAT(refusal("/a/${home}"), HasSubstr("only at the start"));
  EXPECT_THAT(refusal("/a/"), HasSubstr("write \"/a\""));
  EXPECT_THAT(refusal("/a//b"), HasSubstr("\"//\""));
  EXPECT_THAT(refusal("//"), HasSubstr("//"));
  EXPECT_THAT(refusal("/a/../b"), HasSubstr("\"..\""));
  EXPECT_THAT(refusal("/."), HasSubstr("\".\""));
  EXPECT_THAT(refusal("${workspace}/.."), HasSubstr("\"..\""));
  EXPECT_THAT(refusal("**/.."), HasSubstr("\"..\""));
  EXPECT_THAT(refusal("/a/**"), HasSubstr("only in front"));
  EXPECT_THAT(refusal("/a/**/b"), HasSubstr("only in front"));
  EXPECT_THAT(refusal("**/a/**"), HasSubstr("only in front"));
  EXPECT_THAT(refusal("/a/x**y"), HasSubstr("only in front"));
  EXPECT_THAT(refusal("**x"), HasSubstr("must be absolute"));
  EXPECT_THAT(refusal("**"), HasSubstr("every file"));
  EXPECT_THAT(refusal("**/"), HasSubstr("every file"));
  EXPECT_THAT(refusal("**/*"), HasSubstr("every file"));
  EXPECT_THAT(refusal("**/*/*"), HasSubstr("nearly every file"));
  EXPECT_THAT(refusal("/a\\b"), HasSubstr("backslash"));
  EXPECT_THAT(refusal("/a\\"), HasSubstr("backslash"));
  EXPECT_THAT(refusal(std::string_view("/a\0b", 4)), HasSubstr("NUL"));
  std::string deep;
  for (int i = 0; i < 129; ++i) deep += "/a";
  EXPECT_THAT(refusal(deep), HasSubstr("128 components"));
  EXPECT_THAT(refusal("x\x1b[2J"), ::testing::Not(HasSubstr("\x1b")));
}

TEST(Pattern, QuotedPathsMeanThemselves) {
  for (const std::string path : {"/", "/a/b", "/a*b/**", "/${home}/x", R"(/back\slash\)", "/a$b",
                                 R"(/\*)", "/a\xFF", "/**/b"}) {
    const auto parsed = parse_pattern(quote_path(path));
    ASSERT_TRUE(parsed.ok()) << path;
    EXPECT_TRUE(parsed->pattern.is_concrete()) << path;
    EXPECT_EQ(parsed->variable, "") << path;
    EXPECT_EQ(parsed->pattern.path(), path);
  }
}

TEST(Pattern, VariablesAreTakenLiterally) {
  const PathPattern pattern = below("/we*ird", parse_pattern("/a*")->pattern);
  EXPECT_EQ(pattern.components, (std::vector<std::string>{"we*ird", std::string("a") + kStar}));
  EXPECT_EQ(pattern.text(), R"(/we\*ird/a*)");
  EXPECT_EQ(below("/", parse_pattern("/a")->pattern).path(), "/a");
  EXPECT_EQ(below("/a/b", {}).path(), "/a/b");
}

TEST(Pattern, ComponentMatches) {
  const auto matches = [](std::string glob, std::string_view text) {
    for (char& c : glob)
      if (c == '*') c = kStar;
    return component_matches(glob, text);
  };
  EXPECT_TRUE(matches("*", "anything"));
  EXPECT_TRUE(matches("*.log", "a.log"));
  EXPECT_TRUE(matches("*.log", ".log"));
  EXPECT_FALSE(matches("*.log", "a.log2"));
  EXPECT_FALSE(matches("*.log", "a.Log"));
  EXPECT_TRUE(matches("a*b*c", "abxbc"));
  EXPECT_FALSE(matches("a*b*c", "acb"));
  EXPECT_TRUE(matches("a*a", "aa"));
  EXPECT_FALSE(matches("a*a", "a"));
  EXPECT_TRUE(matches("*ab*ab", "ababab"));
}

}  // namespace
}  // namespace bulkhead
