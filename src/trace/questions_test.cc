#include "trace/questions.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

namespace bulkhead {
namespace {

// A person who answers only when told to. wait_for(n) returns once n questions were put.
class ScriptedAsker final : public Asker {
 public:
  Answer ask(const Question& question) override {
    std::unique_lock lock(mutex_);
    EXPECT_FALSE(inside_) << "two questions at a time";
    inside_ = true;
    asked_.push_back(question.resource);
    changed_.notify_all();
    changed_.wait(lock, [&] { return !answers_.empty(); });
    const Answer answer = answers_.front();
    answers_.pop_front();
    inside_ = false;
    return answer;
  }
  void answer(Answer answer) {
    const std::lock_guard guard(mutex_);
    answers_.push_back(answer);
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_.size() >= count; });
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Answer> answers_;
  std::vector<std::string> asked_;
  bool inside_ = false;
};

Question question(std::string resource) {
  Question result;
  result.resource = std::move(resource);
  return result;
}

struct Asking {
  Asking(Questions& questions, std::string resource)
      : thread([this, &questions, resource = std::move(resource)] {
          result = questions.ask(question(resource));
        }) {}
  Questions::Result join() {
    thread.join();
    return result;
  }
  Questions::Result result;
  std::thread thread;
};

// Returns once `count` callers of `resource` are inside ask(): with the bound on waiting ones set
// to that number, known() starts to say "too many".
void wait_until_full(Questions& questions) {
  while (!questions.known(Kind::kRead, "/never-asked")) std::this_thread::yield();
}

TEST(Questions, IdenticalOnesAreAskedOnce) {
  ScriptedAsker asker;
  Questions questions(&asker, {.open = 16, .waiting = 8, .answered = 100});
  std::vector<std::unique_ptr<Asking>> callers;
  callers.reserve(8);
  for (int i = 0; i < 8; ++i) callers.push_back(std::make_unique<Asking>(questions, "/a"));
  wait_until_full(questions);
  asker.answer(Answer::kThisRun);
  int first = 0;
  for (auto& caller : callers) {
    const auto result = caller->join();
    EXPECT_EQ(result.answer, Answer::kThisRun);
    first += result.first ? 1 : 0;
  }
  EXPECT_EQ(first, 1) << "exactly one remembers";
  EXPECT_EQ(asker.wait_for(1).size(), 1U);
  EXPECT_EQ(questions.ask(question("/a")).answer, Answer::kThisRun) << "without asking again";
}

TEST(Questions, OnceIsForThoseWhoWaited) {
  ScriptedAsker asker;
  Questions questions(&asker);
  asker.answer(Answer::kOnce);
  EXPECT_EQ(questions.ask(question("/a")).answer, Answer::kOnce);
  EXPECT_FALSE(questions.known(Kind::kRead, "/a").has_value());
  asker.answer(Answer::kNo);
  EXPECT_EQ(questions.ask(question("/a")).answer, Answer::kNo);
  ASSERT_TRUE(questions.known(Kind::kRead, "/a").has_value()) << "a no cannot be worn out";
  EXPECT_EQ(questions.known(Kind::kRead, "/a")->answer, Answer::kNo);
  EXPECT_FALSE(questions.known(Kind::kWrite, "/a").has_value())
      << "another kind is another question";
}

TEST(Questions, BeyondTheBoundIsNoWithoutAsking) {
  ScriptedAsker asker;
  Questions questions(&asker, {.open = 2, .waiting = 48, .answered = 100});
  Asking one(questions, "/1");
  asker.wait_for(1);
  Asking two(questions, "/2");
  wait_until_full(questions);
  const auto result = questions.ask(question("/3"));
  EXPECT_EQ(result.answer, Answer::kNobody);
  EXPECT_TRUE(result.too_many);
  asker.answer(Answer::kOnce);
  asker.answer(Answer::kOnce);
  EXPECT_EQ(one.join().answer, Answer::kOnce);
  EXPECT_EQ(two.join().answer, Answer::kOnce);
  EXPECT_FALSE(questions.known(Kind::kRead, "/3").has_value()) << "it may be asked later";
}

TEST(Questions, ARunAsksABoundedNumber) {
  ScriptedAsker asker;
  Questions questions(&asker, {.open = 16, .waiting = 48, .answered = 3});
  for (int i = 0; i < 3; ++i) {
    asker.answer(Answer::kNo);
    questions.ask(question(fmt::format("/{}", i)));
  }
  EXPECT_TRUE(questions.ask(question("/3")).too_many);
  EXPECT_FALSE(questions.ask(question("/2")).too_many);
}

TEST(Questions, WhatWasPutToNobodyIsCountedOnceEach) {
  ScriptedAsker asker;
  Questions questions(&asker, {.open = 16, .waiting = 2, .answered = 2});
  const auto turned_away = [&](const char* name) {
    ASSERT_TRUE(questions.ask(question(name)).too_many) << name;
    questions.turn_away(Kind::kRead, name);
  };
  Asking one(questions, "/1");
  asker.wait_for(1);
  Asking two(questions, "/2");
  wait_until_full(questions);
  turned_away("/1");  // is before a person all the same
  EXPECT_EQ(questions.unasked(), 0U);
  for (const char* name : {"/3", "/4", "/3"}) turned_away(name);
  EXPECT_EQ(questions.unasked(), 2U);
  turned_away("/5");  // no more names are kept
  EXPECT_EQ(questions.unasked(), 3U);
  asker.answer(Answer::kOnce);
  asker.answer(Answer::kNotAsked);
  one.join();
  two.join();
  EXPECT_EQ(questions.unasked(), 4U) << "the asker's own no counts as well";
  asker.answer(Answer::kNo);
  questions.ask(question("/3"));
  EXPECT_EQ(questions.unasked(), 3U) << "it was asked in the end";
}

TEST(Questions, StopAnswersNoToAll) {
  ScriptedAsker asker;
  Questions questions(&asker, {.open = 16, .waiting = 3, .answered = 100});
  Asking one(questions, "/1");
  asker.wait_for(1);
  Asking also_one(questions, "/1");
  Asking two(questions, "/2");
  wait_until_full(questions);
  questions.stop();
  EXPECT_EQ(also_one.join().answer, Answer::kNobody);
  EXPECT_EQ(two.join().answer, Answer::kNobody);
  asker.answer(Answer::kAlways);  // typed too late
  const auto result = one.join();
  EXPECT_EQ(result.answer, Answer::kNobody);
  EXPECT_FALSE(result.first) << "and so not remembered";
  EXPECT_EQ(questions.ask(question("/3")).answer, Answer::kNobody);
  EXPECT_EQ(asker.wait_for(1).size(), 1U);
}

}  // namespace
}  // namespace bulkhead
