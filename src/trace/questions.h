// Questions: puts questions to a person, each only once, and keeps the answers that hold for the
// run. Bounded, so that a flood of questions neither fills memory nor wears out a person: what does
// not fit is answered no. Where the asker keeps questions open, who asks is held for a moment and
// goes on with a no for now; elsewhere they stand in line, one before the person at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "trace/arbiter.h"

namespace bulkhead {

struct QuestionBounds {
  size_t open = 16;        // different questions before a person, or waiting to be
  size_t waiting = 48;     // threads waiting, for whichever; the supervisor has 64 that may block
  size_t answered = 4096;  // different questions of one run
  // Where nobody answered in time, nothing of the program is held for the next question: it would
  // stand still at each of them.
  std::chrono::milliseconds absence{60'000};
};

class Questions {
 public:
  // What became of one attempt to ask.
  struct Result {
    Answer answer = Answer::kNobody;
    bool too_many = false;  // never asked
    bool first = false;     // this caller's thread put it: exactly one of those that waited
  };

  explicit Questions(Asker* asker, const QuestionBounds& bounds = {})
      : asker_(asker), bounds_(bounds) {}

  // An answer given earlier in this run, "too many", or kLater for what was refused for now and is
  // still asked; nullopt where a person would have to be asked. Never blocks.
  std::optional<Result> known(Kind kind, const std::string& resource);
  // Blocks until there is an answer, or who asks has been held for long enough.
  Result ask(Question question);
  // The answer to a question that who put it has gone on without. "Once" is for those who still
  // wait and, if there is none, for the next attempt at the same.
  void settle(const Question& question, Answer answer);
  // Whether any question is before a person whose asker has gone on.
  bool any_late() const;
  // What holds for the run from now on, whatever was answered before.
  void set(Kind kind, const std::string& resource, Answer answer);
  // Somebody was told "too many" for this question, and made do with it.
  void turn_away(Kind kind, const std::string& resource);
  // How many different questions were put to nobody: turned away, or not asked by the asker.
  size_t unasked() const;
  void stop();
  // Asker::asking().
  bool asking() const noexcept { return asker_ != nullptr && asker_->asking(); }

 private:
  using Key = std::pair<Kind, std::string>;
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  struct Open {
    std::string call;  // for which "once" is meant
    std::optional<Answer> answer;
    bool late = false;   // who put it has gone on
    size_t waiting = 0;  // others, for the same
  };
  std::optional<Result> known_locked(const Key& key) const;
  std::optional<std::chrono::milliseconds> hold_locked(Waits waits) const;
  Result put(Lock& lock, const Key& key, const Question& question, bool in_turn);
  void close(const Key& key, const std::shared_ptr<Open>& open, Answer answer);

  Asker* asker_;
  QuestionBounds bounds_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Answer> answers_;    // those that hold for the run
  std::map<Key, std::string> lent_;  // "once" that came too late: for the next attempt, of what
  std::map<Key, std::shared_ptr<Open>> open_;
  std::set<Key> unasked_;
  size_t beyond_ = 0;        // attempts for which that had no room
  std::deque<Open*> turns_;  // the front one is before the person
  size_t waiting_ = 0;
  std::optional<Clock::time_point> unanswered_;  // since when somebody goes on without an answer
  bool stopped_ = false;
};

}  // namespace bulkhead
