#include "vscode/terminal_text.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead {
namespace {

TEST(TerminalText, ColoursStayAndControlStringsDoNot) {
  for (const std::string same : {"", "plain\r\n\ttext", "\x1b[31mred\x1b[0m", "\x1b[38;2;1;2;3mx",
                                 "\x1b[2K\x1b[1A", "\xc2\xa9 \xc3\x9d", "\xe2\x80\x9d"})
    EXPECT_EQ(plain_output(same), same);
  const std::string copies = "]52;c;cm0gLXJm\x07";
  EXPECT_EQ(plain_output("a\x1b" + copies + "b"), "ab");
  EXPECT_EQ(plain_output("a\xc2\x9d" + copies), "a" + copies);
  EXPECT_EQ(plain_output("a\xc2\x1b" + copies + "\x9d" + copies), "a\x9d" + copies);
  EXPECT_EQ(plain_output("a\x1b\xc2\x1b\x9d" + copies), "a\x9d" + copies);
  EXPECT_EQ(plain_output("\x1b\x1b" + copies), "");
  EXPECT_EQ(plain_output("\x1b[31\x1b" + copies), "[31");
  EXPECT_EQ(plain_output("\x1bPq\x1b\\x"), "x");
  EXPECT_EQ(plain_output("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\"), "link");
  EXPECT_EQ(plain_output("\x1b]52;c;"), "]52;c;");
}

// The next one would go on with it.
TEST(TerminalText, NothingIsBegunAtTheEnd) {
  EXPECT_EQ(plain_output("a\x1b"), "a");
  EXPECT_EQ(plain_output("a\xc2"), "a");
  EXPECT_EQ(plain_output("a\x1b[3"), "a[3");
}

TEST(TerminalText, AllTextsOfAValue) {
  auto value = nlohmann::ordered_json::parse(
      R"([{"message":"\u001b]52;c;x\u0007","type":1},{"a":["\u009d52","\u001b[31mred"]}])");
  EXPECT_EQ(plain_outputs(value), 2U);
  EXPECT_EQ(value, nlohmann::ordered_json::parse(
                       R"([{"message":"","type":1},{"a":["52","\u001b[31mred"]}])"));
  EXPECT_TRUE(may_control(R"("\u001b]")"));
  EXPECT_TRUE(may_control("\"\xc2\x9d\""));
  EXPECT_FALSE(may_control(R"("\n\t")"));
}

}  // namespace
}  // namespace bulkhead
