// The command line's tables: verbs, help and completions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "cli/verb.h"
#include "sandbox/limits/outcome.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

int run_words(std::vector<const char*> words, std::string* out = nullptr,
              std::string* err = nullptr) {
  words.insert(words.begin(), "bulkhead");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_command_line(static_cast<int>(words.size()), words.data());
  const std::string printed = testing::internal::GetCapturedStdout();
  const std::string complained = testing::internal::GetCapturedStderr();
  if (out != nullptr) *out = printed;
  if (err != nullptr) *err = complained;
  return code;
}

TEST(Verbs, HelpHasNoneOfTheParsersOwnWords) {
  for (const Verb& verb : verbs()) {
    std::string out;
    run_words({verb.name, "--help"}, &out);
    for (const char* words : {"Excludes", ":INT", "TEXT in", "[OPTIONS] [OPTIONS]"})
      EXPECT_THAT(out, Not(HasSubstr(words))) << verb.name;
  }
}

TEST(Verbs, AnUnknownOneSuggests) {
  std::string err;
  EXPECT_EQ(run_words({"explian"}, nullptr, &err), kExitFailed);
  EXPECT_EQ(err,
            "bulkhead: unknown verb \"explian\": did you mean \"explain\"? `bulkhead --help` "
            "lists them\n");
  EXPECT_EQ(run_words({"--frobnicate"}, nullptr, &err), kExitFailed);
}

TEST(Verbs, HelpInAllItsForms) {
  std::string out, same;
  EXPECT_EQ(run_words({"--help"}, &out), 0);
  for (const Verb& verb : verbs()) EXPECT_THAT(out, HasSubstr(verb.name));
  EXPECT_EQ(run_words({"help"}, &same), 0);
  EXPECT_EQ(out, same);
  EXPECT_EQ(run_words({"help", "run"}, &out), 0);
  EXPECT_THAT(out, HasSubstr("bulkhead run [OPTIONS] [--] PROGRAM [ARGS...]"));
  EXPECT_THAT(out, HasSubstr("--workspace FOLDER"));
  EXPECT_EQ(run_words({"run", "--help"}, &same), 0);
  EXPECT_EQ(out, same);
  EXPECT_EQ(run_words({"help", "rum"}, &out), kExitFailed);
}

TEST(Verbs, HelpOfRunBeginsWithFiveExamples) {
  std::string out;
  EXPECT_EQ(run_words({"run", "--help"}, &out), 0);
  const std::string before = out.substr(0, out.find("Usage:"));
  size_t examples = 0;
  std::istringstream lines(before);
  for (std::string line; std::getline(lines, line);)
    examples += line.starts_with("  bulkhead run") ? 1U : 0U;
  EXPECT_EQ(examples, 5U) << before;
}

TEST(Verbs, HelpFitsTheTerminal) {
  for (const auto& [columns, widest] :
       {std::pair{"", 80U}, {"40", 40U}, {"60", 60U}, {"200", 100U}}) {
    ASSERT_EQ(setenv("COLUMNS", columns, 1), 0);
    std::vector<std::vector<const char*>> helps = {{"help"}};
    for (const Verb& verb : verbs()) helps.push_back({"help", verb.name});
    for (const auto& words : helps) {
      std::string out;
      EXPECT_EQ(run_words(words, &out), 0);
      std::istringstream lines(out);
      for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(line.size() <= widest || line.find('|') != std::string::npos ||
                    line.starts_with("  bulkhead run "))
            << columns << ": " << line;
    }
  }
  unsetenv("COLUMNS");
}

TEST(Verbs, Version) {
  std::string out;
  EXPECT_EQ(run_words({"--version"}, &out), 0);
  EXPECT_EQ(out, "bulkhead " BULKHEAD_VERSION "\n");
}

TEST(Verbs, NoVerbIsAnErrorThatHelps) {
  std::string err;
  EXPECT_EQ(run_words({}, nullptr, &err), kExitFailed);
  EXPECT_THAT(err, HasSubstr("Usage: bulkhead VERB"));
}

TEST(Verbs, WrongOptionsSayWhereToLook) {
  std::string err;
  EXPECT_EQ(run_words({"log", "--nonsense"}, nullptr, &err), kExitFailed);
  EXPECT_THAT(err, HasSubstr("bulkhead help log"));
  EXPECT_EQ(run_words({"run", "--otherwise", "maybe", "true"}, nullptr, &err), kExitFailed);
  EXPECT_THAT(err, HasSubstr("ask"));
  EXPECT_EQ(run_words({"run", "--files", "many", "true"}, nullptr, &err), kExitFailed);
  EXPECT_THAT(err, HasSubstr("--files many: not a number"));
  EXPECT_EQ(run_words({"log", "--follow=x"}, nullptr, &err), kExitFailed);
  EXPECT_THAT(err, HasSubstr("--follow takes no value"));
  for (const char* limit : {"--memory", "--written", "--wall-time", "--cpu-time", "--cpu"}) {
    EXPECT_EQ(run_words({"run", limit, "0", "true"}, nullptr, &err), kExitFailed);
    EXPECT_THAT(err, HasSubstr(limit));
  }
  EXPECT_EQ(run_words({"run", "--cpu-time", "0s", "true"}, nullptr, &err), kExitFailed);
  EXPECT_THAT(err, HasSubstr("--cpu-time 0s: must be more than 0"));
  EXPECT_EQ(run_words({"run"}, nullptr, &err), kExitFailed);
  EXPECT_THAT(err, HasSubstr("no program to run"));
}

// Every option of every verb, in every shell's completion, by the name that the parser knows.
class Completion : public testing::TestWithParam<const char*> {};

TEST_P(Completion, HasEveryVerbAndOption) {
  std::string script;
  ASSERT_EQ(run_words({"completion", GetParam()}, &script), 0);
  const bool fish = std::string(GetParam()) == "fish";
  size_t options = 0;
  for (const Verb& verb : verbs()) {
    EXPECT_THAT(script, HasSubstr(verb.name));
    const ParsedVerb parsed = parser_of(verb);
    for (const CLI::Option* option : parsed.app->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        ++options;
        EXPECT_THAT(script, HasSubstr(fish ? "-l " + name + " " : "--" + name));
      }
    }
  }
  EXPECT_GT(options, 30U);
  EXPECT_THAT(script, Not(HasSubstr("{}")));
}
INSTANTIATE_TEST_SUITE_P(Shells, Completion, testing::Values("bash", "zsh", "fish"),
                         [](const auto& each) { return std::string(each.param); });

TEST(Completion, OtherShellsAreRefused) {
  std::string err;
  EXPECT_EQ(run_words({"completion", "csh"}, nullptr, &err), kExitFailed);
  EXPECT_THAT(err, HasSubstr("bash, zsh, fish"));
}

}  // namespace
}  // namespace bulkhead
