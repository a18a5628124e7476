#include "terminal/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(QuestionText, NamesProgramSubjectAndResource) {
  const std::string text = question_text({.kind = Kind::kRead,
                                          .resource = "/home/me/.npmrc",
                                          .program = "/usr/bin/node",
                                          .pid = 7,
                                          .subject = "/srv/tool.js",
                                          .detail = "openat"},
                                         80);
  EXPECT_EQ(text, "\nbulkhead: /usr/bin/node (/srv/tool.js) wants to read\n  /home/me/.npmrc\n");
}

TEST(QuestionText, EveryKindHasItsWords) {
  for (size_t i = 0; i < kKindLabels.size(); ++i) {
    const std::string text = question_text({.kind = static_cast<Kind>(i),
                                            .resource = "X",
                                            .program = "/p",
                                            .pid = 1,
                                            .subject = "/p",
                                            .detail = ""},
                                           80);
    EXPECT_THAT(text, HasSubstr("bulkhead: /p wants to ")) << kKindLabels[i];
  }
}

TEST(QuestionText, EscapesAndWraps) {
  const std::string evil = "/tmp/a\033[2K\rbulkhead: allowed\n\u202Egpj";
  const std::string text = question_text({.kind = Kind::kWrite,
                                          .resource = evil,
                                          .program = "/p\n",
                                          .pid = 1,
                                          .subject = "",
                                          .detail = ""},
                                         30);
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_THAT(text, Not(HasSubstr("\u202E")));
  size_t start = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    EXPECT_LE(end - start, 30U);
    start = end + 1;
  }
}

TEST(QuestionText, AVeryLongResourceKeepsItsEnds) {
  const std::string path = "/START" + std::string(20'000, 'x') + "END";
  const std::string text = question_text({.kind = Kind::kRead,
                                          .resource = path,
                                          .program = "/p",
                                          .pid = 1,
                                          .subject = "",
                                          .detail = ""},
                                         80);
  EXPECT_THAT(text, HasSubstr("/START"));
  EXPECT_THAT(text, HasSubstr("END\n"));
  EXPECT_THAT(text, HasSubstr("lines left out"));
  EXPECT_LT(text.size(), 2'500U);
}

TEST(ParseAnswer, KeysAndWords) {
  EXPECT_EQ(parse_answer(""), Answer::kNo);
  EXPECT_EQ(parse_answer("\n"), Answer::kNo);
  EXPECT_EQ(parse_answer("n\n"), Answer::kNo);
  EXPECT_EQ(parse_answer("Once\n"), Answer::kOnce);
  EXPECT_EQ(parse_answer(" run \r\n"), Answer::kThisRun);
  EXPECT_EQ(parse_answer("Always"), Answer::kAlways);
  EXPECT_EQ(parse_answer("v"), Answer::kNever);
  EXPECT_EQ(parse_answer("never\n"), Answer::kNever);
}

TEST(ParseAnswer, AnythingElseIsNoAnswer) {
  for (const char* text : {"y", "yes", "aa", "o r", "oo", "1", "\x1b[A", "alway"})
    EXPECT_EQ(parse_answer(text), std::nullopt) << text;
}

TEST(ParseAnswer, TheEndOfAnAnswerAllowsNoMore) {
  const auto allows = [](std::string_view text) {
    const auto answer = parse_answer(text).value_or(Answer::kNo);
    return answer == Answer::kNever ? Answer::kNo : answer;
  };
  for (const std::string_view word : {"n", "no", "v", "never", "once", "run", "always"})
    for (size_t gone = 1; gone <= word.size(); ++gone)
      EXPECT_EQ(allows(word.substr(gone)), Answer::kNo) << word << " without " << gone;
  // What terminals reply, where somebody takes all but the last letter.
  for (char letter = ' '; letter <= '~'; ++letter)
    EXPECT_EQ(allows(std::string(1, letter)), Answer::kNo) << letter;
}

}  // namespace
}  // namespace bulkhead
