#include "trace/questions.h"

namespace bulkhead {

std::optional<Questions::Result> Questions::known_locked(const Key& key) {
  if (const auto found = answers_.find(key); found != answers_.end()) return Result{found->second};
  if (stopped_) return Result{};
  const bool is_open = open_.contains(key);
  if (waiting_ >= bounds_.waiting ||
      (!is_open && (open_.size() >= bounds_.open || answers_.size() >= bounds_.answered)))
    return Result{.too_many = true};
  return std::nullopt;
}

std::optional<Questions::Result> Questions::known(Kind kind, const std::string& resource) {
  const std::lock_guard guard(mutex_);
  return known_locked({kind, resource});
}

Questions::Result Questions::ask(const Question& question) {
  Key key{question.kind, question.resource};
  std::unique_lock lock(mutex_);
  if (const auto result = known_locked(key)) return *result;
  ++waiting_;
  Result result;
  if (const auto found = open_.find(key); found != open_.end()) {
    const std::shared_ptr<Open> open = found->second;
    changed_.wait(lock, [&] { return open->answer || stopped_; });
    result.answer = open->answer.value_or(Answer::kNobody);
  } else {
    const auto open = std::make_shared<Open>();
    open_.emplace(key, open);
    turns_.push_back(open.get());
    changed_.wait(lock, [&] { return turns_.front() == open.get() || stopped_; });
    if (!stopped_) {
      lock.unlock();
      const Answer answer = asker_->ask(question);
      lock.lock();
      // A compartment that ends takes its questions back: what was typed meanwhile is no answer.
      if (!stopped_) result = {.answer = answer, .too_many = false, .first = true};
    }
    open->answer = result.answer;
    if (result.answer == Answer::kNotAsked) {
      unasked_.insert(key);
    } else if (result.first) {
      unasked_.erase(key);
    }
    std::erase(turns_, open.get());
    open_.erase(key);
    // A no stays too: a program that tries again must not be able to ask until it gets a yes.
    if (result.answer != Answer::kOnce && !stopped_)
      answers_.emplace(std::move(key), result.answer);
    changed_.notify_all();
  }
  --waiting_;
  return result;
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
  const std::lock_guard guard(mutex_);
  stopped_ = true;
  if (asker_ != nullptr) asker_->cancel();
  changed_.notify_all();
}

}  // namespace bulkhead
