#include "terminal/asker.h"

#include "terminal/display.h"
#include "terminal/question.h"

namespace bulkhead {

Answer TerminalAsker::ask(const Question& question) {
  const std::lock_guard lock(one_at_a_time_);
  if (asked_ >= options_.most) return Answer::kNotAsked;
  asking_ = true;
  const Answer answer =
      monitor_.ask(question_text(question, terminal_width(monitor_.person())), options_.patience);
  asking_ = false;
  if (answer != Answer::kNotAsked) ++asked_;
  return answer;
}

void TerminalAsker::cancel() noexcept { monitor_.cancel(); }

}  // namespace bulkhead
