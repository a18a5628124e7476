// QuestionLock: one question at a time on this account's terminals, and on which of them it is, so
// that another run at the same terminal leaves the keys to it.
#pragma once

#include <string>

#include "base/fd.h"

namespace bulkhead {

class QuestionLock {
 public:
  QuestionLock() = default;
  // `terminal` is where this run would ask. An empty path: no lock.
  QuestionLock(const std::string& path, int terminal);

  // False while another run has it.
  bool take();
  void give_back();
  // True while another run asks at this terminal.
  bool others_ask_here() const;

 private:
  Fd file_;
  unsigned device_ = 0;  // of the terminal
};

}  // namespace bulkhead
