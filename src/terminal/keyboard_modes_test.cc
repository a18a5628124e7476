#include "terminal/keyboard_modes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

class KeyboardModesTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("TERM", "xterm-256color", 1); }
  // What restores these, as told one byte at a time and all at once.
  static std::string again_after(const std::string& output) {
    KeyboardModes whole, parts;
    whole.follow(output);
    for (const char byte : output) parts.follow({&byte, 1});
    EXPECT_EQ(whole.again(), parts.again());
    return whole.again();
  }
};

TEST_F(KeyboardModesTest, NothingToldIsNothingToTellAgain) {
  EXPECT_EQ(again_after("plain text\r\n\033[31mred\033[0m\033[2J"), "");
}

TEST_F(KeyboardModesTest, EverythingIsPlainWhateverWasSeen) {
  const std::string plain = KeyboardModes().plain();
  EXPECT_THAT(plain, HasSubstr("\033[?1;9;66;1000;"));
  EXPECT_THAT(plain, HasSubstr(";2004;2031;2048;9001l"));
  EXPECT_THAT(plain, HasSubstr("\033[2l\033[20l\033>"));
  EXPECT_THAT(plain, Not(HasSubstr("u")));  // to restore the cursor, for who does not know kitty's
}

TEST_F(KeyboardModesTest, WhatIsOnComesBackAndWhatIsOffDoesNot) {
  EXPECT_EQ(again_after("\033[?1000;1006h\033[?2004h"), "\033[?1000;1006;2004h");
  EXPECT_EQ(again_after("\033[?1000;1006h\033[?1006l"), "\033[?1000h");
  EXPECT_EQ(again_after("\033[?1;25;1049h"), "\033[?1h");  // others are no keyboard's
  EXPECT_EQ(again_after("\033="), "\033[?66h\033=");
  EXPECT_EQ(again_after("\033=\033>"), "");
  EXPECT_EQ(again_after("\033[20h\033[2h"), "\033[20h\033[2h");
  EXPECT_EQ(again_after("\033[?1003h\033[?1003s\033[?1003l\033[?1003r"), "\033[?1003h");
}

TEST_F(KeyboardModesTest, KittysStackGetsOneMore) {
  KeyboardModes modes;
  modes.follow("\033[>31u");
  EXPECT_THAT(modes.plain(), testing::EndsWith("\033[>0u"));
  EXPECT_EQ(modes.again(), "\033[<1u");
  EXPECT_EQ(again_after("\033[u"), "");  // the cursor
}

TEST_F(KeyboardModesTest, OtherKeysComeBackAsTheyWere) {
  KeyboardModes modes;
  modes.follow("\033[>4;2m");
  EXPECT_THAT(modes.plain(), HasSubstr("\033[>4;0m"));
  EXPECT_EQ(modes.again(), "\033[>4;2m");
  modes.follow("\033[>4m");
  EXPECT_EQ(modes.again(), "");
}

TEST_F(KeyboardModesTest, ResetsAndWhatIsOnlyTextChangeNothingElse) {
  EXPECT_EQ(again_after("\033[?1000h\033[>4;1m\033c"), "");
  EXPECT_EQ(again_after("\033[?1;1000h\033[!p"), "\033[?1000h");
  EXPECT_EQ(again_after("\033]0;\x9b[?1000h\a"), "");                // within a title
  EXPECT_EQ(again_after("\033]0;title\033[?1000h"), "\033[?1000h");  // which that ends
  EXPECT_EQ(again_after("\033[?10\0300"
                        "0h"),
            "");
  EXPECT_EQ(again_after("\033[?10\r00h"), "\033[?1000h");
  EXPECT_EQ(again_after("\xC2\x9b?1000h"), "\033[?1000h");
  EXPECT_EQ(again_after("\033[?" + std::string(5000, ';') + "1000h"), "");
  EXPECT_EQ(again_after("\033[?99999999999999999999h\033[h"), "");
}

TEST_F(KeyboardModesTest, NothingIsToldToATerminalThatWouldShowIt) {
  KeyboardModes modes;
  modes.follow("\033[?1000h\033[>1u");
  ::setenv("TERM", "linux", 1);
  EXPECT_THAT(modes.plain() + modes.again(), Not(HasSubstr("u")));
  ::setenv("TERM", "dumb", 1);
  EXPECT_EQ(modes.plain() + modes.again(), "");
}

}  // namespace
}  // namespace bulkhead
