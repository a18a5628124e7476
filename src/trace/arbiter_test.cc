#include "trace/arbiter.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using Ruling = Arbiter::Ruling;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Keeps what is recorded; counted events by their counters.
class FakeJournal final : public Journal {
 public:
  explicit FakeJournal(bool counts) : counts_(counts) {}
  void record(Event event) override {
    const std::lock_guard guard(mutex_);
    events_.push_back(std::move(event));
  }
  std::atomic<uint64_t>* record_counted(Event event) override {
    const std::lock_guard guard(mutex_);
    events_.push_back(std::move(event));
    if (!counts_) return nullptr;
    return &counters_.emplace_back(1);
  }
  Status flush() override { return {}; }
  Status finish(const std::string&) override { return {}; }
  std::vector<Event> denied() const override { return {}; }

  const std::vector<Event>& events() const { return events_; }
  uint64_t counted() const {
    uint64_t sum = 0;
    for (const auto& counter : counters_) sum += counter;
    return sum;
  }

 private:
  bool counts_;
  std::mutex mutex_;
  std::vector<Event> events_;
  std::deque<std::atomic<uint64_t>> counters_;
};

class FakeAsker final : public Asker {
 public:
  Answer ask(const Question& question) override {
    questions.push_back(question);
    return answer;
  }
  Answer answer = Answer::kNo;
  std::vector<Question> questions;
};

class ArbiterTest : public ::testing::Test {
 protected:
  ArbiterTest() {
    inputs_ = testing::inputs();
    inputs_.manifest.files.read = testing::entries({"/no-such/ws"});
    inputs_.manifest.files.block = testing::entries({"/no-such/ws/.env"});
    inputs_.manifest.network = testing::entries({"api.example.com:443"});
    inputs_.manifest.otherwise = Otherwise::kAsk;
  }
  Arbiter& arbiter(Asker* asker, Enforcement enforcement = Enforcement::kEnforce) {
    auto policy = Policy::compile(inputs_);
    if (!policy.ok()) throw std::runtime_error(to_string(policy.error()));
    arbiter_ = std::make_unique<Arbiter>(*policy, &journal_, asker, enforcement,
                                         [this](const Extra& extra) {
                                           remembered_.push_back(extra);
                                           return remember_;
                                         });
    arbiter_->on_warning([this](const std::string& text) { warnings_.push_back(text); });
    return *arbiter_;
  }
  Ruling read(Arbiter& arbiter, std::string_view path, bool may_block = true) {
    return arbiter.path(Kind::kRead, path, attempt_, may_block);
  }
  const Event& last() { return journal_.events().back(); }

  PolicyInputs inputs_;
  FakeJournal journal_{true};
  FakeAsker asker_;
  std::unique_ptr<Arbiter> arbiter_;
  std::vector<Extra> remembered_;
  std::vector<std::string> warnings_;
  Status remember_;
  int lookups_ = 0;
  const std::function<std::string()> program_ = [this] {
    ++lookups_;
    return std::string("/bin/cat");
  };
  Attempt attempt_{.pid = 7, .detail = "openat", .program = &program_};
};

// A question is a line to who puts it: what a program says of itself is bounded, and one long text
// is told from another.
TEST_F(ArbiterTest, AQuestionIsNoLongerThanAPersonCouldRead) {
  asker_.answer = Answer::kOnce;
  Arbiter& it = arbiter(&asker_);
  for (const char last : {'a', 'b'}) {
    const std::string call = "$executeCommand " + std::string(2U << 20U, 'x') + last;
    Attempt attempt = attempt_;
    attempt.detail = call;
    attempt.about = call;
    EXPECT_EQ(it.vscode("commands-foreign", attempt, true), Ruling::kAllow);
  }
  ASSERT_EQ(asker_.questions.size(), 2U);
  for (const Question& question : asker_.questions) {
    EXPECT_LT(question.detail.size(), 8192U);
    EXPECT_LT(question.about.size(), 8192U);
    EXPECT_TRUE(question.detail.starts_with("$executeCommand xxx"));
  }
  EXPECT_NE(asker_.questions[0].detail, asker_.questions[1].detail);
}

TEST_F(ArbiterTest, PolicyDecidesAndIsJournalled) {
  Arbiter& it = arbiter(&asker_);
  EXPECT_EQ(read(it, "/no-such/ws/a"), Ruling::kAllow);
  EXPECT_EQ(last().verdict, Verdict::kAllow);
  EXPECT_EQ(last().resource, "/no-such/ws/a");
  EXPECT_EQ(last().program, "/bin/cat");
  EXPECT_EQ(last().pid, 7);
  EXPECT_EQ(last().detail, "openat");
  EXPECT_FALSE(last().asked);
  EXPECT_TRUE(last().enforced);
  EXPECT_THAT(last().rule, HasSubstr("/no-such/ws (m.json:1)"));

  EXPECT_EQ(read(it, "/no-such/ws/.env"), Ruling::kDeny);
  EXPECT_EQ(last().verdict, Verdict::kDeny);
  EXPECT_THAT(last().rule, HasSubstr("/no-such/ws/.env"));
  EXPECT_THAT(asker_.questions, IsEmpty());
}

TEST_F(ArbiterTest, RepeatedAccessesOnlyCount) {
  Arbiter& it = arbiter(nullptr);
  for (int i = 0; i < 1000; ++i) read(it, "/no-such/ws/a");
  for (int i = 0; i < 10; ++i) read(it, "/no-such/ws/.env");
  EXPECT_THAT(journal_.events(), SizeIs(2));
  EXPECT_EQ(journal_.counted(), 1010U);
  EXPECT_EQ(lookups_, 2) << "the program's name is looked up for new rows only";
}

// Of a file how it was opened is not told apart, of a permission which call used it is.
TEST_F(ArbiterTest, EachCallOfOnePermissionIsRecorded) {
  Arbiter& it = arbiter(nullptr);
  for (const char* call : {"$executeCommand git.push", "$executeCommand git.pull"}) {
    attempt_.detail = call;
    for (int i = 0; i < 10; ++i) it.vscode("commands-foreign", attempt_, true);
    for (int i = 0; i < 10; ++i) read(it, "/no-such/ws/a");
  }
  std::vector<std::string> told;
  for (const Event& each : journal_.events()) told.push_back(each.resource + " " + each.detail);
  EXPECT_THAT(told, ElementsAre("commands-foreign $executeCommand git.push",
                                "/no-such/ws/a $executeCommand git.push",
                                "commands-foreign $executeCommand git.pull"));
}

TEST_F(ArbiterTest, AProgramIsAskedForOnceAndOfWhatIsRefusedEachTime) {
  Arbiter& it = arbiter(nullptr);
  for (const char* file : {"/no-such/ws/a", "/no-such/ws/b", "/no-such/ws/c"}) read(it, file);
  EXPECT_EQ(last().program, "/bin/cat");
  EXPECT_EQ(lookups_, 1);
  read(it, "/no-such/ws/.env");
  read(it, "/no-such/other");
  EXPECT_EQ(lookups_, 3);
  attempt_.execs = 1;
  read(it, "/no-such/ws/d");
  EXPECT_EQ(lookups_, 4) << "another program of the same process";
}

TEST_F(ArbiterTest, AnotherProgramOfTheSameProcessIsAnotherRow) {
  Arbiter& it = arbiter(nullptr);
  read(it, "/no-such/ws/a");
  attempt_.execs = 1;
  read(it, "/no-such/ws/a");
  attempt_.pid = 8;
  read(it, "/no-such/ws/a");
  EXPECT_EQ(lookups_, 3);
}

TEST_F(ArbiterTest, WithoutCountersEachAccessIsRecorded) {
  FakeJournal plain(false);
  auto policy = Policy::compile(inputs_);
  ASSERT_TRUE(policy.ok());
  Arbiter it(*policy, &plain, nullptr, Enforcement::kEnforce, nullptr);
  for (int i = 0; i < 3; ++i) read(it, "/no-such/ws/a");
  EXPECT_THAT(plain.events(), SizeIs(3));
}

TEST_F(ArbiterTest, WithoutAnAskerWhatWouldBeAskedIsDenied) {
  Arbiter& it = arbiter(nullptr);
  EXPECT_EQ(read(it, "/no-such/other", false), Ruling::kDeny);
  EXPECT_FALSE(last().asked);
  EXPECT_THAT(last().rule, HasSubstr("nobody can be asked"));
}

TEST_F(ArbiterTest, AskingNeedsAThreadThatMayBlock) {
  Arbiter& it = arbiter(&asker_);
  EXPECT_EQ(read(it, "/no-such/other", false), Ruling::kWouldAsk);
  EXPECT_THAT(journal_.events(), IsEmpty()) << "nothing is decided yet";
  asker_.answer = Answer::kThisRun;
  EXPECT_EQ(read(it, "/no-such/other", true), Ruling::kAllow);
  EXPECT_EQ(read(it, "/no-such/other", false), Ruling::kAllow) << "known by now";
  ASSERT_THAT(asker_.questions, SizeIs(1));
  EXPECT_EQ(asker_.questions[0].resource, "/no-such/other");
  EXPECT_EQ(asker_.questions[0].program, "/bin/cat");
  EXPECT_TRUE(last().asked);
  EXPECT_THAT(last().rule, HasSubstr("answered: this run"));
  EXPECT_THAT(remembered_, IsEmpty());
}

TEST_F(ArbiterTest, OnceIsAskedAgainAndNoIsNot) {
  Arbiter& it = arbiter(&asker_);
  asker_.answer = Answer::kOnce;
  EXPECT_EQ(read(it, "/no-such/other"), Ruling::kAllow);
  asker_.answer = Answer::kNo;
  EXPECT_EQ(read(it, "/no-such/other"), Ruling::kDeny);
  asker_.answer = Answer::kAlways;
  EXPECT_EQ(read(it, "/no-such/other"), Ruling::kDeny);
  EXPECT_THAT(asker_.questions, SizeIs(2));
  EXPECT_THAT(last().rule, HasSubstr("answered: no"));
  asker_.answer = Answer::kNobody;
  EXPECT_EQ(read(it, "/no-such/third"), Ruling::kDeny);
  EXPECT_THAT(last().rule, HasSubstr("nobody answered"));
  EXPECT_TRUE(last().asked);
  asker_.answer = Answer::kAlways;
  EXPECT_EQ(read(it, "/no-such/third"), Ruling::kDeny);
  asker_.answer = Answer::kNotAsked;
  EXPECT_EQ(read(it, "/no-such/fourth"), Ruling::kDeny);
  EXPECT_FALSE(last().asked) << "and a person may be told of it";
}

TEST_F(ArbiterTest, WhatIsTurnedAwayCountsAsNotAsked) {
  class Person final : public Asker {
   public:
    Answer ask(const Question&) override {
      until_told.wait();
      return Answer::kNo;
    }
    std::promise<void> tell;
    std::shared_future<void> until_told = tell.get_future();
  } person;
  Arbiter& it = arbiter(&person);
  std::vector<std::thread> askers;
  askers.reserve(16);
  for (int i = 0; i < 16; ++i)
    askers.emplace_back(
        [&, i] { it.path(Kind::kRead, fmt::format("/no-such/{}", i), Attempt(), true); });
  while (read(it, "/no-such/more", false) == Ruling::kWouldAsk) std::this_thread::yield();
  EXPECT_THAT(last().rule, HasSubstr("too many questions"));
  read(it, "/no-such/more");
  read(it, "/no-such/and-more");
  EXPECT_EQ(it.unasked(), 2U);
  person.tell.set_value();
  for (std::thread& asker : askers) asker.join();
}

TEST_F(ArbiterTest, AlwaysAndNeverAreRemembered) {
  Arbiter& it = arbiter(&asker_);
  asker_.answer = Answer::kAlways;
  EXPECT_EQ(read(it, "/no-such/yes"), Ruling::kAllow);
  asker_.answer = Answer::kNever;
  EXPECT_EQ(it.path(Kind::kWrite, "/no-such/no", attempt_, true), Ruling::kDeny);
  ASSERT_THAT(remembered_, SizeIs(2));
  EXPECT_EQ(remembered_[0].source, Rule::Source::kRemembered);
  EXPECT_EQ(remembered_[0].verdict, Verdict::kAllow);
  EXPECT_EQ(remembered_[0].kind, Kind::kRead);
  EXPECT_EQ(remembered_[0].entry.text, "/no-such/yes");
  EXPECT_EQ(remembered_[1].verdict, Verdict::kDeny);
  EXPECT_EQ(remembered_[1].kind, Kind::kWrite);
  EXPECT_EQ(read(it, "/no-such/yes"), Ruling::kAllow);
  EXPECT_THAT(asker_.questions, SizeIs(2));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ArbiterTest, WhatCannotBeRememberedHoldsForTheRun) {
  Arbiter& it = arbiter(&asker_);
  remember_ = Error{"the disk is full"};
  asker_.answer = Answer::kAlways;
  EXPECT_EQ(read(it, "/no-such/yes"), Ruling::kAllow);
  EXPECT_EQ(read(it, "/no-such/yes", false), Ruling::kAllow);
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("the disk is full"));
  EXPECT_THAT(journal_.events().front().rule, HasSubstr("not remembered: the disk is full"));
}

TEST_F(ArbiterTest, NamesThatMeanMoreInAManifestAreRememberedAsThemselves) {
  Arbiter& it = arbiter(&asker_);
  asker_.answer = Answer::kAlways;
  for (const char* path :
       {"/no-such/*", "/no-such/${home}", "/no-such/a\x1b[2J", "/no-such/\xff", "/no-such/@set"})
    EXPECT_EQ(read(it, path), Ruling::kAllow) << path;
  std::vector<std::string> kept;
  for (const Extra& each : remembered_) kept.push_back(each.entry.text);
  EXPECT_THAT(kept, ::testing::ElementsAre("/no-such/\\*", "/no-such/\\${home}", "/no-such/@set"));
  EXPECT_THAT(warnings_, SizeIs(2)) << "what no person could read there";
  for (const std::string& warning : warnings_) EXPECT_EQ(warning.find('\x1b'), std::string::npos);
}

TEST_F(ArbiterTest, AlwaysIsNotMoreThanWhatWasAsked) {
  Arbiter& it = arbiter(&asker_);
  asker_.answer = Answer::kAlways;
  const std::string folder = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(read(it, folder), Ruling::kAllow);
  ASSERT_THAT(remembered_, SizeIs(1));
  EXPECT_EQ(remembered_[0].entry.text, folder + "/.") << "the list of one folder, not the tree";
  remembered_.clear();
  EXPECT_EQ(it.path(Kind::kWrite, folder, attempt_, true), Ruling::kAllow);
  Attempt makes = attempt_;
  makes.detail = "mkdirat";
  EXPECT_EQ(it.path(Kind::kWrite, "/no-such/made", makes, true), Ruling::kAllow);
  EXPECT_EQ(it.path(Kind::kWriteStatus, "/no-such/file", attempt_, true), Ruling::kAllow);
  EXPECT_EQ(it.lookup("example.org", attempt_, true), Ruling::kAllow);
  EXPECT_THAT(remembered_, IsEmpty());
  EXPECT_THAT(warnings_, SizeIs(4));
  asker_.answer = Answer::kNever;
  EXPECT_EQ(it.lookup("example.net", attempt_, true), Ruling::kDeny);
  ASSERT_THAT(remembered_, SizeIs(1));
  EXPECT_EQ(remembered_[0].entry.text, "example.net:*");
}

TEST_F(ArbiterTest, AuditLetsPassAndAsksNobody) {
  Arbiter& it = arbiter(&asker_, Enforcement::kAuditOnly);
  EXPECT_EQ(read(it, "/no-such/ws/.env", false), Ruling::kAllow);
  EXPECT_EQ(last().verdict, Verdict::kDeny);
  EXPECT_FALSE(last().enforced);
  EXPECT_EQ(read(it, "/no-such/other", false), Ruling::kAllow);
  EXPECT_FALSE(last().enforced);
  EXPECT_EQ(read(it, "/no-such/ws/a", false), Ruling::kAllow);
  EXPECT_EQ(last().verdict, Verdict::kAllow);
  EXPECT_TRUE(last().enforced);
  EXPECT_THAT(asker_.questions, IsEmpty());
  it.note_refusal(Kind::kSystem, "ptrace", "not in a compartment", attempt_);
  EXPECT_EQ(last().verdict, Verdict::kDeny);
  EXPECT_TRUE(last().enforced) << "an escape is refused in an audit, too";
}

TEST_F(ArbiterTest, RefusalsAreCounted) {
  Arbiter& it = arbiter(nullptr);
  for (int i = 0; i < 100; ++i)
    it.note_refusal(Kind::kSystem, "io_uring_setup", "reason", attempt_);
  it.note_refusal(Kind::kSystem, "io_uring_setup", "another reason", attempt_);
  ASSERT_THAT(journal_.events(), SizeIs(2));
  EXPECT_EQ(journal_.counted(), 101U);
  EXPECT_EQ(last().kind, Kind::kSystem);
  EXPECT_EQ(last().rule, "another reason");
}

const IpAddress kPublic = IpAddress::v4({93, 184, 216, 34});

TEST_F(ArbiterTest, ConnectionsAreNamedByTheirNames) {
  Arbiter& it = arbiter(&asker_);
  const std::vector<std::string_view> granted = {"api.example.com"};
  EXPECT_EQ(it.connect(kPublic, 443, granted, attempt_, false), Ruling::kAllow);
  EXPECT_EQ(last().resource, "api.example.com:443");
  EXPECT_EQ(last().detail, "openat 93.184.216.34");

  asker_.answer = Answer::kAlways;
  const std::vector<std::string_view> other = {"other.example.com"};
  EXPECT_EQ(it.connect(kPublic, 443, other, attempt_, true), Ruling::kAllow);
  ASSERT_THAT(remembered_, SizeIs(1));
  EXPECT_EQ(remembered_[0].entry.text, "other.example.com:443");
  EXPECT_EQ(it.connect(kPublic, 80, other, attempt_, false), Ruling::kWouldAsk) << "another port";
}

TEST_F(ArbiterTest, SpecialAddressesAreAskedAboutByAddress) {
  Arbiter& it = arbiter(&asker_);
  asker_.answer = Answer::kThisRun;
  const std::vector<std::string_view> names = {"api.example.com"};  // granted, and it points inside
  const IpAddress inside = IpAddress::v4({169, 254, 169, 254});
  EXPECT_EQ(it.connect(inside, 443, names, attempt_, true), Ruling::kAllow);
  ASSERT_THAT(asker_.questions, SizeIs(1));
  EXPECT_EQ(asker_.questions[0].resource, "169.254.169.254:443");
  EXPECT_EQ(last().detail, "openat api.example.com");
  std::array<uint8_t, 16> loopback{};
  loopback[15] = 1;
  EXPECT_EQ(it.connect(IpAddress::v6(loopback), 80, {}, attempt_, true), Ruling::kAllow);
  EXPECT_EQ(asker_.questions[1].resource, "[::1]:80");
}

// Keeps questions open: answers what it is told to, or later.
class LateAsker final : public Asker {
 public:
  Answer ask(const Question& question) override {
    questions.push_back(question);
    return answer;
  }
  std::optional<std::chrono::milliseconds> patience(Waits) const noexcept override {
    return std::chrono::milliseconds(0);
  }
  void on_late(std::function<void(const Question&, Answer)> answered) override {
    late = std::move(answered);
  }
  Answer answer = Answer::kLater;
  std::vector<Question> questions;
  std::function<void(const Question&, Answer)> late;
};

TEST_F(ArbiterTest, WhatIsRefusedForNowAndAllowedLaterIsTwoRulings) {
  LateAsker asker;
  Arbiter& it = arbiter(&asker);
  EXPECT_EQ(read(it, "/no-such/x"), Ruling::kDeny);
  EXPECT_EQ(last().verdict, Verdict::kDeny);
  EXPECT_TRUE(last().asked);
  EXPECT_THAT(last().rule, HasSubstr("(refused for now, still asked)"));
  EXPECT_EQ(read(it, "/no-such/x", false), Ruling::kDeny) << "not held again";
  EXPECT_THAT(journal_.events(), SizeIs(1));
  EXPECT_EQ(journal_.counted(), 2U);
  asker.late(asker.questions.at(0), Answer::kAlways);
  EXPECT_THAT(journal_.events(), SizeIs(1)) << "an answer is no access";
  ASSERT_THAT(remembered_, SizeIs(1));
  EXPECT_EQ(remembered_[0].entry.text, "/no-such/x");
  EXPECT_EQ(read(it, "/no-such/x", false), Ruling::kAllow);
  EXPECT_THAT(journal_.events(), SizeIs(2));
  EXPECT_THAT(last().rule, HasSubstr("(answered: always)"));
  EXPECT_THAT(asker.questions, SizeIs(1));
}

TEST_F(ArbiterTest, ALateNoHolds) {
  LateAsker asker;
  Arbiter& it = arbiter(&asker);
  EXPECT_EQ(read(it, "/no-such/x"), Ruling::kDeny);
  asker.late(asker.questions.at(0), Answer::kNever);
  EXPECT_EQ(read(it, "/no-such/x", false), Ruling::kDeny);
  EXPECT_THAT(last().rule, HasSubstr("(answered: never)"));
  ASSERT_THAT(remembered_, SizeIs(1));
  EXPECT_EQ(remembered_[0].verdict, Verdict::kDeny);
}

TEST_F(ArbiterTest, LookingUpAHostAndConnectingToItIsOneQuestion) {
  LateAsker asker;
  const IpAddress address = kPublic;
  const std::string_view name = "example.org";
  const auto connects = [&](Arbiter& it, uint16_t port) {
    return it.connect(address, port, std::span(&name, 1), attempt_, true);
  };
  {
    Arbiter& it = arbiter(&asker);
    asker.answer = Answer::kThisRun;
    EXPECT_EQ(it.lookup(name, attempt_, true), Ruling::kAllow);
    asker.answer = Answer::kNo;
    for (const uint16_t port : std::initializer_list<uint16_t>{443, 80})
      EXPECT_EQ(connects(it, port), Ruling::kAllow) << port;
    EXPECT_THAT(asker.questions, SizeIs(1));
    EXPECT_EQ(connects(it, 22), Ruling::kDeny) << "what no browser speaks is asked about";
    EXPECT_THAT(asker.questions, SizeIs(2));
  }
  {
    Arbiter& it = arbiter(&asker);
    asker.answer = Answer::kOnce;
    EXPECT_EQ(it.lookup(name, attempt_, true), Ruling::kAllow);
    asker.answer = Answer::kNo;
    EXPECT_EQ(connects(it, 443), Ruling::kAllow) << "the connection that it was looked up for";
  }
  {
    Arbiter& it = arbiter(&asker);
    asker.answer = Answer::kAlways;
    EXPECT_EQ(it.lookup(name, attempt_, true), Ruling::kAllow);
    ASSERT_THAT(remembered_, SizeIs(2));
    EXPECT_EQ(remembered_[0].kind, Kind::kConnect);
    EXPECT_EQ(remembered_[0].entry.text, "example.org:443");
    EXPECT_EQ(remembered_[1].entry.text, "example.org:80");
  }
  {
    Arbiter& it = arbiter(&asker);
    asker.answer = Answer::kLater;
    EXPECT_EQ(it.lookup(name, attempt_, true), Ruling::kDeny);
    const size_t before = asker.questions.size();
    EXPECT_EQ(connects(it, 443), Ruling::kDeny) << "the same question";
    EXPECT_EQ(asker.questions.size(), before);
    asker.late(asker.questions.back(), Answer::kOnce);
    asker.answer = Answer::kNo;
    EXPECT_EQ(connects(it, 443), Ruling::kDeny) << "it is looked up again first";
  }
  arbiter(&asker_);
  asker_.answer = Answer::kThisRun;
  EXPECT_EQ(arbiter_->lookup(name, attempt_, true), Ruling::kAllow);
  asker_.answer = Answer::kNo;
  EXPECT_EQ(connects(*arbiter_, 443), Ruling::kDeny) << "a terminal asks about each";
}

TEST_F(ArbiterTest, OfSeveralNamesANoWins) {
  Arbiter& it = arbiter(&asker_);
  const std::vector<std::string_view> bad = {"bad.example.com"}, good = {"good.example.com"};
  asker_.answer = Answer::kNo;
  EXPECT_EQ(it.connect(kPublic, 443, bad, attempt_, true), Ruling::kDeny);
  asker_.answer = Answer::kThisRun;
  EXPECT_EQ(it.connect(kPublic, 443, good, attempt_, true), Ruling::kAllow);
  for (const auto& names : std::vector<std::vector<std::string_view>>{
           {"good.example.com", "bad.example.com"}, {"bad.example.com", "good.example.com"}})
    EXPECT_EQ(it.connect(kPublic, 443, names, attempt_, false), Ruling::kDeny);
  const std::vector<std::string_view> with_new = {"new.example.com", "good.example.com"};
  EXPECT_EQ(it.connect(kPublic, 443, with_new, attempt_, false), Ruling::kAllow);
}

TEST_F(ArbiterTest, AfterTheEndNobodyIsAsked) {
  Arbiter& it = arbiter(&asker_);
  it.stop_asking();
  asker_.answer = Answer::kAlways;
  EXPECT_EQ(read(it, "/no-such/other"), Ruling::kDeny);
  EXPECT_THAT(asker_.questions, IsEmpty());
}

TEST_F(ArbiterTest, ManyThreadsLoseNothing) {
  Arbiter& it = arbiter(nullptr);
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const Attempt mine{.pid = t, .detail = "openat"};
      for (int i = 0; i < 5000; ++i)
        it.path(Kind::kRead, fmt::format("/no-such/ws/{}", i % 300), mine, false);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(journal_.counted(), kThreads * 5000U);
}

// A rule by a file's name alone: nobody is asked, and nothing but the user's own file is read.
TEST_F(ArbiterTest, WhatIsGrantedByItsNameIsLookedAt) {
  char name[] = "/tmp/bulkhead-names-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string top = name, rc = top + "/.rc";
  inputs_.variables.home = top;
  inputs_.variables.workspace = {top + "/ws"};
  inputs_.sets["names"].names = testing::entries({".rc", ".absent"});
  inputs_.manifest.files.read = testing::entries({"@names"});
  Arbiter& it = arbiter(&asker_);
  const auto both = [&](const std::string& path) {
    const bool would = it.would_allow(Kind::kRead, path);
    EXPECT_EQ(read(it, path) == Ruling::kAllow, would) << path;
    return would;
  };
  ASSERT_TRUE(write_file_atomically(rc, "x", 0600).ok());
  EXPECT_TRUE(both(rc));
  EXPECT_TRUE(both(top + "/.absent")) << "open says that it is not there";
  ASSERT_EQ(::link(rc.c_str(), (top + "/other").c_str()), 0);
  EXPECT_FALSE(both(rc)) << "it has another name";
  EXPECT_EQ(last().verdict, Verdict::kDeny);
  ASSERT_EQ(::unlink(rc.c_str()), 0);
  ASSERT_EQ(::symlink("other", rc.c_str()), 0);
  EXPECT_FALSE(both(rc));
  ASSERT_EQ(::unlink(rc.c_str()), 0);
  ASSERT_EQ(::mkfifo(rc.c_str(), 0600), 0);
  EXPECT_FALSE(both(rc));
  ASSERT_EQ(::unlink(rc.c_str()), 0);
  ASSERT_EQ(::mkdir(rc.c_str(), 0700), 0);
  EXPECT_FALSE(both(rc));
  EXPECT_FALSE(both(top)) << "its other names";
  EXPECT_THAT(asker_.questions, IsEmpty());
  if (::geteuid() == 0) {
    ASSERT_EQ(::rmdir(rc.c_str()), 0);
    ASSERT_EQ(::rename((top + "/other").c_str(), rc.c_str()), 0);
    EXPECT_TRUE(both(rc));
    ASSERT_EQ(::chown(rc.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(both(rc)) << "somebody else's";
  }
  std::filesystem::remove_all(top);
}

}  // namespace
}  // namespace bulkhead
