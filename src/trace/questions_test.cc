#include "trace/questions.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <atomic>
#include <future>
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

// Keeps questions: answers for_now until told otherwise; what is answered late is settled by hand.
class PatientAsker final : public Asker {
 public:
  Answer ask(const Question& question) override {
    const std::lock_guard guard(mutex_);
    asked.push_back(question);
    return Answer::kLater;
  }
  std::optional<std::chrono::milliseconds> patience(Waits waits) const noexcept override {
    return std::chrono::milliseconds(waits == Waits::kMain ? 2000 : 10'000);
  }
  std::vector<Question> asked;

 private:
  std::mutex mutex_;
};

Question asks(std::string resource, Waits waits, std::string about = {}) {
  Question result = question(std::move(resource));
  result.waits = waits;
  result.about = std::move(about);
  return result;
}

TEST(Questions, WhatIsRefusedForNowStaysRefusedUntilAnAnswer) {
  PatientAsker asker;
  Questions questions(&asker);
  EXPECT_EQ(questions.ask(asks("/a", Waits::kMain)).answer, Answer::kLater);
  EXPECT_EQ(asker.asked.at(0).hold, std::chrono::seconds(2));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(questions.ask(asks("/a", Waits::kMain)).answer, Answer::kLater);
  EXPECT_EQ(questions.known(Kind::kRead, "/a")->answer, Answer::kLater);
  EXPECT_EQ(asker.asked.size(), 1U) << "it is still before the person";
  questions.settle(question("/a"), Answer::kThisRun);
  EXPECT_EQ(questions.ask(asks("/a", Waits::kMain)).answer, Answer::kThisRun);
  EXPECT_EQ(questions.ask(asks("/b", Waits::kMain)).answer, Answer::kLater);
  questions.settle(question("/b"), Answer::kNo);
  EXPECT_EQ(questions.ask(asks("/b", Waits::kMain)).answer, Answer::kNo);
  EXPECT_EQ(questions.ask(asks("/c", Waits::kMain)).answer, Answer::kLater);
  questions.settle(question("/c"), Answer::kOnce);
  EXPECT_FALSE(questions.known(Kind::kRead, "/c").has_value());
  EXPECT_EQ(questions.ask(asks("/c", Waits::kMain, "another")).answer, Answer::kLater);
  questions.settle(question("/c"), Answer::kOnce);
  const size_t before = asker.asked.size();
  EXPECT_EQ(questions.ask(asks("/c", Waits::kMain, "another")).answer, Answer::kOnce)
      << "the next attempt at the same";
  EXPECT_EQ(asker.asked.size(), before);
  EXPECT_EQ(questions.ask(asks("/c", Waits::kMain, "another")).answer, Answer::kLater) << "once";
  questions.settle(question("/never-asked"), Answer::kAlways);
  EXPECT_FALSE(questions.known(Kind::kRead, "/never-asked").has_value());
}

TEST(Questions, WhereNobodyAnswersNothingIsHeldAtEachFurtherQuestion) {
  PatientAsker asker;
  Questions questions(&asker);
  questions.ask(asks("/1", Waits::kProgram));
  for (const char* next : {"/2", "/3"}) questions.ask(asks(next, Waits::kMain));
  questions.ask(asks("/4", Waits::kProgram));
  questions.ask(asks("/5", Waits::kNobody));
  std::vector<std::chrono::milliseconds> held;
  for (const Question& each : asker.asked) held.push_back(each.hold);
  using std::chrono::milliseconds;
  EXPECT_THAT(held, ::testing::ElementsAre(milliseconds(10'000), milliseconds(0), milliseconds(0),
                                           milliseconds(0), milliseconds(10'000)));
  questions.settle(question("/3"), Answer::kNo);
  questions.ask(asks("/6", Waits::kMain));
  EXPECT_EQ(asker.asked.back().hold, milliseconds(2000)) << "somebody is there";
}

TEST(Questions, OpenOnesAreBoundedAlsoWhenNobodyWaits) {
  PatientAsker asker;
  Questions questions(&asker, {.open = 3, .waiting = 48, .answered = 100});
  for (const char* each : {"/1", "/2", "/3"})
    EXPECT_EQ(questions.ask(asks(each, Waits::kMain)).answer, Answer::kLater);
  EXPECT_TRUE(questions.ask(asks("/4", Waits::kMain)).too_many);
  EXPECT_FALSE(questions.ask(asks("/1", Waits::kMain)).too_many);
  questions.settle(question("/1"), Answer::kNo);
  EXPECT_EQ(questions.ask(asks("/4", Waits::kMain)).answer, Answer::kLater);
}

// A person saw the one; the other, of the same permission, would do something else.
TEST(Questions, OnceIsForWhatThePersonSaw) {
  ScriptedAsker asker;
  Questions questions(&asker, {.open = 16, .waiting = 3, .answered = 100});
  const auto asking = [&](const char* about) {
    return std::async(std::launch::async, [&questions, about] {
      return questions.ask(asks("settings", Waits::kNobody, about)).answer;
    });
  };
  auto seen = asking("fontSize");
  asker.wait_for(1);
  auto same = asking("fontSize"), other = asking("shell");
  wait_until_full(questions);
  asker.answer(Answer::kOnce);
  EXPECT_EQ(seen.get(), Answer::kOnce);
  EXPECT_EQ(same.get(), Answer::kOnce);
  asker.answer(Answer::kNo);
  EXPECT_EQ(other.get(), Answer::kNo) << "asked apart";
}

}  // namespace
}  // namespace bulkhead
