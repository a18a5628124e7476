#include "session/script.h"

#include <gtest/gtest.h>

#include <sstream>

namespace bulkhead {

std::ostream& operator<<(std::ostream& out, Script::Is is) { return out << static_cast<int>(is); }

namespace {

// The command's words are parted at spaces.
Script parse(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  return script_of(command.front(), command);
}

TEST(Script, IsTheFirstWordThatIsNoOptionAndNoValue) {
  for (const char* line : {"python3 X",
                           "python3.11 -uB X -c 1",
                           "python3 -W ignore X",
                           "python3 -Wignore X",
                           "python3 -uX dev X",
                           "python3 -- X",
                           "node X",
                           "node --no-warnings -r ./y --import=./z X",
                           "node --max-old-space-size=100 -- X",
                           "nodejs -C dev X",
                           "perl -w -I lib -Mstrict X",
                           "ruby -W0 -rjson -I lib X",
                           "php -d a=b -f X",
                           "php X",
                           "lua5.4 -l m X",
                           "sh X",
                           "bash --norc -eu X",
                           "bash -eo pipefail +x X",
                           "bash --rcfile y X",
                           "zsh -f X",
                           "deno X",
                           "deno run X",
                           "bun run X"}) {
    EXPECT_EQ(parse(line).is, Script::Is::kFile) << line;
    EXPECT_EQ(parse(line).word, "X") << line;
  }
}

TEST(Script, IsTheCommandLineWhereThatHoldsTheCode) {
  for (const char* line :
       {"python3 -c 1", "python3 -Ic 1", "python3 -m pip", "python3 -mpip x", "node -e 1",
        "node --eval=1", "node -p 1", "perl -ne print", "perl -pi.bak -e s/a/b/", "ruby -ne 1",
        "php -r 1", "lua -e x", "sh -c x", "bash -lc x", "bash -o pipefail -ec x"})
    EXPECT_EQ(parse(line).is, Script::Is::kWords) << line;
}

TEST(Script, IsUnknownWhereSomethingWouldHaveToBeGuessed) {
  for (const char* line :
       {// standard input
        "python3", "python3 -", "python3 -u", "python3 -W", "python3 --", "php -- x", "node",
        "node -p", "node -p --no-warnings", "sh -s x", "sh -e", "bash -i", "perl -w", "bash - x",
        // an option that is not known, or goes on with standard input
        "python3 -i x", "python3 --frob x", "python3 -Z x", "python3 -uZ x", "node --frob x",
        "node --frob=1 x", "node --test x", "node --run=x", "node -i x", "perl -S x", "perl -x x",
        "ruby -C / x", "php -S x", "php -fx", "bash -oe x", "bash -O", "deno --frob x",
        "bun --bun x", "deno -A run x",
        // what starts others
        "env X", "timeout 5 X", "busybox X"})
    EXPECT_EQ(parse(line).is, Script::Is::kUnknown) << line;
  EXPECT_EQ(parse("cat X").is, Script::Is::kNoScript);
  EXPECT_EQ(parse("3 X").is, Script::Is::kNoScript);
}

}  // namespace
}  // namespace bulkhead
