#include "terminal/question.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/path.h"
#include "terminal/display.h"

namespace bulkhead {
namespace {

constexpr size_t kMostLines = 20;

std::string_view verb_of(Kind kind) {
  switch (kind) {
    case Kind::kRead:
      return "read";
    case Kind::kWrite:
      return "write";
    case Kind::kReadStatus:
      return "look at";
    case Kind::kWriteStatus:
      return "change the mode, owner or times of";
    case Kind::kConnect:
      return "connect to";
    case Kind::kLookup:
      return "look up the address of";
    case Kind::kListen:
      return "be reached from this machine, by your browser say, at port";
    case Kind::kRun:
      return "run the program";
    case Kind::kEnvironment:
      return "see the variable";
    case Kind::kVscode:
      return "use, of VS Code,";
    case Kind::kSystem:
      return "use the kernel interface";
  }
  return "use";
}

}  // namespace

std::string question_text(const Question& question, size_t width) {
  width = std::clamp<size_t>(width == 0 ? 80 : width, 20, 200);
  std::string who = escape_for_display(question.program.empty() ? "a program" : question.program);
  if (!question.subject.empty() && question.subject != question.program)
    who += " (" + escape_for_display(question.subject) + ")";
  std::string head = "bulkhead: " + who + " wants to " + std::string(verb_of(question.kind));

  std::string out = "\n";
  const auto add = [&out](const std::vector<std::string>& lines, std::string_view indent) {
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines.size() > kMostLines && i >= kMostLines / 2 && i < lines.size() - kMostLines / 2) {
        if (i == kMostLines / 2)
          out.append(indent)
              .append("… (")
              .append(std::to_string(lines.size() - kMostLines))
              .append(" lines left out) …\n");
        continue;
      }
      out.append(indent).append(lines[i]).append("\n");
    }
  };
  add(wrap(head, width), "");
  add(wrap(escape_for_display(question.resource), width - 2), "  ");
  if (question.kind == Kind::kListen)
    add(wrap("always and never: for this folder, whichever program listens there", width - 2),
        "  ");
  return out;
}

std::optional<Answer> parse_answer(std::string_view line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!line.empty() && blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && blank(line.back())) line.remove_suffix(1);
  struct Word {
    std::string_view text;
    Answer answer;
  };
  // What allows is a whole word, and the end of nothing that denies: who has left the session can
  // read the terminal still (setsid(2)), the first letter of "no" alone, and a terminal's replies
  // end in letters.
  static constexpr std::array kWords = {
      Word{"", Answer::kNo},       Word{"n", Answer::kNo},        Word{"no", Answer::kNo},
      Word{"once", Answer::kOnce}, Word{"run", Answer::kThisRun}, Word{"always", Answer::kAlways},
      Word{"v", Answer::kNever},   Word{"never", Answer::kNever},
  };
  const auto same = [line](std::string_view word) {
    return std::equal(line.begin(), line.end(), word.begin(), word.end(), [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
    });
  };
  for (const Word& word : kWords)
    if (same(word.text)) return word.answer;
  return std::nullopt;
}

}  // namespace bulkhead
