// TerminalMessage: what the relay at a person's terminal and the monitor of the program's tell each
// other, one record each on a SOCK_SEQPACKET pair. Both are bulkhead; the program has neither end.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bulkhead {

struct TerminalMessage {
  enum class What : char {
    // The monitor's.
    kStarted = 'G',   // the program runs; text: the file that is locked while a question is open
    kStopped = 'S',   // the program has stopped, by signal `number`
    kQuestion = 'Q',  // text: the question; `number` milliseconds for an answer
    kCancel = 'X',    // the question is not wanted any more
    kSay = 'T',       // text: for the person
    kPlaced = 'P',    // one kForeground or kBackground has been done
    kEnded = 'E',     // the program has ended: show the rest of its output
    // The relay's.
    kForeground = 'F',   // go on, with the terminal
    kBackground = 'B',   // go on, without it
    kStop = 'Z',         // the program's group, by SIGTSTP
    kAnswer = 'A',       // `number`: an Answer
    kInterrupted = 'I',  // the answer is Ctrl-C; `number` 1: the program's terminal has had it
    kShown = 'D',        // all that the program wrote is on the terminal, which is as it was
  } what = What::kSay;
  int32_t number = 0;
  std::string text = {};
};

// False where the other end is gone.
bool send_message(int socket, const TerminalMessage& message);
// Waits for one; false at the end.
bool receive_message(int socket, TerminalMessage& message);

}  // namespace bulkhead
