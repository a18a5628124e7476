// Which code a command line starts an interpreter with. Answers are remembered for that code, so
// nothing is guessed: an option that is not known to take nothing, or one word, ends the search.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

struct Script {
  enum class Is {
    kNoScript,  // no interpreter: the program itself is what runs
    kFile,      // what `word` names, if that is a file
    kWords,     // nothing but the command line says it (-c, -e, -m)
    kUnknown,   // standard input, an option that is not known, a program that starts others (env)
  };
  Is is;
  std::string word = {};
};

// `interpreter` is the last name of the program that `command` starts, links followed.
Script script_of(std::string_view interpreter, const std::vector<std::string>& command);

}  // namespace bulkhead
