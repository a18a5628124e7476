#include "trace/questions.h"

#include <algorithm>

namespace bulkhead {

namespace {

// What "Once" is for: who is called counts, as well as with what.
std::string call_of(const Question& question) {
  return question.kind == Kind::kVscode ? question.detail + '\0' + question.about : question.about;
}

}  // namespace

std::optional<Questions::Result> Questions::known_locked(const Key& key) const {
  if (const auto found = answers_.find(key); found != answers_.end()) return Result{found->second};
  if (stopped_) return Result{};
  const auto open = open_.find(key);
  if (open != open_.end() && open->second->late) return Result{Answer::kLater};
  if (waiting_ >= bounds_.waiting || (open == open_.end() && (open_.size() >= bounds_.open ||
                                                              answers_.size() >= bounds_.answered)))
    return Result{.too_many = true};
  return std::nullopt;
}

std::optional<Questions::Result> Questions::known(Kind kind, const std::string& resource) {
  const std::lock_guard guard(mutex_);
  return known_locked({kind, resource});
}

std::optional<std::chrono::milliseconds> Questions::hold_locked(Waits waits) const {
  const auto patience = asker_->patience(waits);
  if (!patience || waits == Waits::kNobody || !unanswered_) return patience;
  const bool any_late =
      std::any_of(open_.begin(), open_.end(), [](const auto& each) { return each.second->late; });
  const bool nobody_there = any_late && Clock::now() - *unanswered_ < bounds_.absence;
  return nobody_there ? std::chrono::milliseconds(0) : *patience;
}

Questions::Result Questions::ask(Question question) {
  const Key key{question.kind, question.resource};
  const std::string call = call_of(question);
  Lock lock(mutex_);
  if (const auto lent = lent_.find(key); lent != lent_.end() && lent->second == call) {
    lent_.erase(lent);
    return Result{Answer::kOnce};
  }
  const auto hold = hold_locked(question.waits);
  const auto until = Clock::now() + hold.value_or(std::chrono::milliseconds(0));
  for (;;) {
    if (const auto result = known_locked(key)) return *result;
    const auto found = open_.find(key);
    if (found == open_.end()) break;
    const std::shared_ptr<Open> open = found->second;
    const auto ended = [&] { return open->answer || stopped_; };
    ++waiting_;
    if (open->call == call) ++open->waiting;
    if (hold)
      changed_.wait_until(lock, until, ended);
    else
      changed_.wait(lock, ended);
    --waiting_;
    if (open->call == call) --open->waiting;
    if (!ended()) return Result{Answer::kLater};
    const Answer answer = open->answer.value_or(Answer::kNobody);
    // Of what would do something else a person has not been asked.
    if (answer != Answer::kOnce || open->call == call) return Result{answer};
  }
  if (hold) question.hold = *hold;
  return put(lock, key, question, !hold);
}

// The first of those who ask: its thread puts the question.
Questions::Result Questions::put(Lock& lock, const Key& key, const Question& question,
                                 bool in_turn) {
  const auto open = std::make_shared<Open>(Open{call_of(question), std::nullopt, false, 0});
  open_.emplace(key, open);
  ++waiting_;
  Result result;
  if (in_turn) {
    turns_.push_back(open.get());
    changed_.wait(lock, [&] { return turns_.front() == open.get() || stopped_; });
  }
  if (!stopped_) {
    lock.unlock();
    const Answer answer = asker_->ask(question);
    lock.lock();
    // A compartment that ends takes its questions back: what was typed meanwhile is no answer.
    if (!stopped_) result = {.answer = answer, .too_many = false, .first = true};
  }
  --waiting_;
  if (in_turn) std::erase(turns_, open.get());
  if (result.answer == Answer::kLater) {
    // Perhaps it was answered since: then settle() has done the rest.
    if (open->answer) {
      if (*open->answer == Answer::kOnce) lent_.erase(key);  // it is for this very call
      return Result{*open->answer};
    }
    open->late = true;
    unanswered_ = Clock::now();
    return Result{Answer::kLater};
  }
  if (result.answer == Answer::kNotAsked) {
    unasked_.insert(key);
  } else if (result.first) {
    unasked_.erase(key);
  }
  close(key, open, result.answer);
  return result;
}

void Questions::close(const Key& key, const std::shared_ptr<Open>& open, Answer answer) {
  open->answer = answer;
  open_.erase(key);
  // A no stays too: a program that tries again must not be able to ask until it gets a yes.
  if (answer != Answer::kOnce && !stopped_) answers_.emplace(key, answer);
  changed_.notify_all();
}

void Questions::settle(const Question& question, Answer answer) {
  const Key key{question.kind, question.resource};
  const std::lock_guard guard(mutex_);
  const auto found = open_.find(key);
  if (found == open_.end() || stopped_) return;
  unanswered_.reset();  // somebody is there
  const std::shared_ptr<Open> open = found->second;
  if (answer == Answer::kOnce && open->waiting == 0 && lent_.size() < bounds_.answered)
    lent_[key] = open->call;
  close(key, open, answer);
}

bool Questions::any_late() const {
  const std::lock_guard guard(mutex_);
  return std::any_of(open_.begin(), open_.end(),
                     [](const auto& each) { return each.second->late; });
}

void Questions::set(Kind kind, const std::string& resource, Answer answer) {
  const std::lock_guard guard(mutex_);
  if (answers_.size() < bounds_.answered || answers_.contains({kind, resource}))
    answers_[{kind, resource}] = answer;
}

void Questions::turn_away(Kind kind, const std::string& resource) {
  const std::lock_guard guard(mutex_);
  Key key{kind, resource};
  // One that is before a person only has no room for a further thread that waits for it.
  if (open_.contains(key)) return;
  if (unasked_.size() < bounds_.answered) {
    unasked_.insert(std::move(key));
  } else if (!unasked_.contains(key)) {
    ++beyond_;
  }
}

size_t Questions::unasked() const {
  const std::lock_guard guard(mutex_);
  return unasked_.size() + beyond_;
}

void Questions::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  // Not with the lock held: it waits for a late answer that is being taken.
  if (asker_ != nullptr) asker_->cancel();
}

}  // namespace bulkhead
