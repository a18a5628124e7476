// What a person is asked at a terminal, and the words that answer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "trace/arbiter.h"

namespace bulkhead {

// Before keys count, in a line that kQuestionKeys then covers.
inline constexpr std::string_view kQuestionSoon = "Allow? (in a moment: keys do not count yet)";
inline constexpr std::string_view kQuestionKeys =
    "Allow? [once], for this [run], [always], ne[v]er, [N]o: ";
inline constexpr std::string_view kQuestionAgain =
    "  one of once, run, always, never, no, then Enter: ";

// What is shown, without the line that asks for the key: escaped, wrapped, at most 20 lines of
// resource (the middle of a longer one is left out, and that is said).
std::string question_text(const Question& question, size_t width);

// nullopt: not one of the keys. An empty line is kNo.
std::optional<Answer> parse_answer(std::string_view line);

}  // namespace bulkhead
