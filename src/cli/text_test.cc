// Widths, wrapping, tables and times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "cli/log_time.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Terminal, WidthOfUtf8) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("ä…"), 2U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("漢字"), 4U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
  EXPECT_EQ(display_width("\xe6\xbc"), 2U);  // cut short: byte by byte, never past the end
}

TEST(Terminal, ShortensInTheMiddleToTheWidth) {
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abcdefghij", 7), "ab…ghij");
  EXPECT_EQ(shorten("abc", 1), "…");
  EXPECT_EQ(shorten("abc", 0), "");
  for (size_t width = 0; width < 12; ++width)
    EXPECT_LE(display_width(shorten("漢字漢字漢字漢字", width)), width);
}

TEST(Terminal, Wraps) {
  EXPECT_THAT(wrap("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrap("漢字", 1), ElementsAre("漢", "字"));
  EXPECT_THAT(wrap("", 10), ElementsAre(""));
}

TEST(Terminal, ColumnsWins) {
  ASSERT_EQ(setenv("COLUMNS", "123", 1), 0);
  EXPECT_EQ(terminal_width(-1), 123U);
  for (const char* wrong : {"", "0", "12x", "-5", "99999999999999999999"}) {
    ASSERT_EQ(setenv("COLUMNS", wrong, 1), 0);
    EXPECT_EQ(terminal_width(-1), 0U) << wrong;
  }
  unsetenv("COLUMNS");
}

TEST(Terminal, WhatAProgramToldItIsUndoneFirst) {
  for (const char* plain : {"", "dumb"}) {
    ASSERT_EQ(setenv("TERM", plain, 1), 0);
    EXPECT_EQ(plain_screen(), "");
  }
  for (const char* term : {"xterm-256color", "xterm-kitty", "linux", "tmux-256color", "screen"}) {
    ASSERT_EQ(setenv("TERM", term, 1), 0);
    const std::string text = plain_screen();
    // Whatever stands open before: ETX would be the first of a control string's, were CAN not next.
    EXPECT_TRUE(text.starts_with("\033\003\030\033\\")) << term;
    EXPECT_THAT(text, HasSubstr("\033[0m"));
    // A console of Linux shows what follows an unknown "]".
    const bool console = term == std::string_view("linux");
    EXPECT_EQ(text.find("]104") == std::string::npos, console);
    EXPECT_EQ(text.find("\033[0$}") == std::string::npos, console);
    EXPECT_EQ(text.find("\033_Ga=d\033\\") != std::string::npos,
              std::string_view(term).starts_with("xterm"));
    for (const char c : text) EXPECT_TRUE(c != '\n' && c != '\r');
  }
  unsetenv("TERM");
}

Table sample() {
  Table table({{"n", true}, {"path", false, 6}, {"why"}});
  table.add({{"12"}, {"/home/me/project/file.txt"}, {"no"}});
  table.add({{"3"}, {"/a"}, {""}});
  return table;
}

TEST(Table, AlignsWithoutTrailingSpaces) {
  EXPECT_EQ(sample().to_string(0, false),
            " n  path                       why\n"
            "12  /home/me/project/file.txt  no\n"
            " 3  /a\n");
}

TEST(Table, FitsTheWidthByShrinkingWhatMay) {
  EXPECT_EQ(sample().to_string(22, false),
            " n  path           why\n"
            "12  /hom…file.txt  no\n"
            " 3  /a\n");
  // Narrower than everything's least: wider than asked, never cut in what may not shrink.
  EXPECT_EQ(sample().to_string(5, false, false), "12  /….txt  no\n 3  /a\n");
}

TEST(Table, WrapsWhatMayWrap) {
  Table table({{"a"}, {"for", false, 6, true}, {"b"}});
  table.add({{"x"}, {"one two three"}, {"y"}});
  EXPECT_EQ(table.to_string(15, false),
            "a  for        b\n"
            "x  one two    y\n"
            "   three\n");
  EXPECT_EQ(table.to_string(0, false, false), "x  one two three  y\n");
}

TEST(Table, EscapesWhatItShows) {
  Table table({{"path"}});
  table.add({{"a\033[31mb\n"}});
  const std::string text = table.to_string(0, false, false);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

TEST(Table, ColoursOnlyWhenTold) {
  Table table({{"a"}});
  table.add({{"x", Colour::kRed}});
  EXPECT_EQ(table.to_string(0, false, false), "x\n");
  EXPECT_EQ(table.to_string(0, true, false), "\033[31mx\033[0m\n");
}

using Clock = std::chrono::system_clock;

TEST(LogTime, Ages) {
  const Clock::time_point now = Clock::from_time_t(1'800'000'000);
  EXPECT_EQ(parse_since("90s", now), now - std::chrono::seconds(90));
  EXPECT_EQ(parse_since("10m", now), now - std::chrono::minutes(10));
  EXPECT_EQ(parse_since("2h", now), now - std::chrono::hours(2));
  EXPECT_EQ(parse_since("3d", now), now - std::chrono::hours(72));
}

Event variable(const char* name, bool enforced = true) {
  Event event;
  event.kind = Kind::kEnvironment;
  event.resource = name;
  event.verdict = Verdict::kDeny;
  event.enforced = enforced;
  return event;
}

TEST(Summary, WithheldVariablesAreToldWhereTheProgramFailed) {
  const auto policy = testing::compiled(testing::inputs());
  const std::vector<Event> denied = {
      variable("B_TOKEN"),        variable("A_\x1b"), Event{},
      variable("AUDITED", false), variable("_"),      variable("BULKHEAD_DATA")};
  EXPECT_EQ(withheld_text(*policy, denied, Exited{1}),
            "bulkhead: 2 variables were withheld: A_\\x1b, B_TOKEN; --env NAME passes one\n");
  EXPECT_EQ(withheld_text(*policy, {variable("X"), Event{}}, Signaled{11, false}),
            "bulkhead: 1 variable was withheld: X; --env NAME passes one\n");
  EXPECT_EQ(withheld_text(*policy, denied, Exited{0}), "");
  EXPECT_EQ(withheld_text(*policy, {variable("X")}, Exited{1}), "") << "nothing else was denied";
  EXPECT_EQ(withheld_text(*policy, {Event{}}, Exited{1}), "");
  std::vector<Event> many(9, variable("V"));
  many.emplace_back();
  EXPECT_EQ(withheld_text(*policy, many, Exited{1}),
            "bulkhead: 9 variables were withheld: V, V, V, V, V, V, V, V, …; --env NAME passes "
            "one\n");
}

TEST(LogTime, Moments) {
  const Clock::time_point now;
  EXPECT_EQ(parse_since("2026-01-31T14:30:05Z", now), Clock::from_time_t(1'769'869'805));
  EXPECT_EQ(parse_since("2026-01-31Z", now), Clock::from_time_t(1'769'817'600));
  EXPECT_TRUE(parse_since("2026-01-31", now).has_value());
  EXPECT_TRUE(parse_since("2026-01-31 14:30", now).has_value());
}

TEST(LogTime, RefusesAnythingElse) {
  for (const char* text : {"", "10", "m", "-5m", "10 m", "1y", "99999999999999999999s", "2026",
                           "2026-13-01", "2026-02-31", "9999-01-01", "0001-01-01",
                           "2026-01-31T25:00", "2026-01-31x", "2026-01-31T14", "yesterday"})
    EXPECT_FALSE(parse_since(text, {}).has_value()) << text;
}

TEST(LogTime, WritesUtc) {
  EXPECT_EQ(utc_text(Clock::from_time_t(1'769'869'805) + std::chrono::microseconds(42)),
            "2026-01-31T14:30:05.000042Z");
}

}  // namespace
}  // namespace bulkhead
