// TerminalAsker: puts the arbiter's questions to the person at the terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "terminal/monitor.h"
#include "trace/arbiter.h"

namespace bulkhead {

class TerminalAsker final : public Asker {
 public:
  struct Options {
    std::chrono::milliseconds patience{60'000};  // for an answer, and for other runs' questions
    unsigned most = 20;                          // questions in a run; further ones are not asked
  };

  // `monitor` outlives it.
  TerminalAsker(TerminalMonitor& monitor, Options options) : monitor_(monitor), options_(options) {}

  // kNotAsked where there have been too many questions, nobody is there, the job has not got the
  // terminal, or another run's question stays open for too long.
  Answer ask(const Question& question) override;
  void cancel() noexcept override;
  bool asking() const noexcept override { return asking_.load(); }

 private:
  TerminalMonitor& monitor_;
  const Options options_;
  std::mutex one_at_a_time_;
  unsigned asked_ = 0;
  std::atomic<bool> asking_ = false;
};

}  // namespace bulkhead
