// Control over its real socket. Nothing here waits for a time: each test waits for what it expects,
// and a message that never comes ends it by the socket's own time limit.
#include "vscode/control.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using Json = Control::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The companion's end.
class Companion {
 public:
  explicit Companion(const std::string& socket) {
    fd_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const timeval limit{20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }
  // The next message that is none of the regular reports; null at the end.
  Json next() {
    for (;;) {
      const size_t end = in_.find('\n');
      if (end == std::string::npos) {
        char buffer[65536];
        const ssize_t n = ::read(fd_.get(), buffer, sizeof buffer);
        if (n <= 0) return nullptr;
        in_.append(buffer, static_cast<size_t>(n));
        continue;
      }
      Json message = Json::parse(in_.substr(0, end));
      in_.erase(0, end + 1);
      if (message["type"] != "counts" && message["type"] != "usage") return message;
    }
  }
  Json next(const std::string& type) {
    for (;;) {
      Json message = next();
      if (message.is_null() || message["type"] == type) return message;
    }
  }
  void say(const std::string& text) {
    ASSERT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  void say(const Json& message) { say(message.dump() + "\n"); }

 private:
  Fd fd_;
  bool connected_ = false;
  std::string in_;
};

class ControlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "control-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    options_.socket = (folder_ / "code/w/1.sock").string();
    handlers_.review = [this](const std::string& digest, bool approve) -> Status {
      if (digest != "d1") return Error{"it changed"};
      calls_.push_back(approve ? "approve" : "reject");
      return {};
    };
    handlers_.remember = [this](Kind kind, const std::string& resource, bool grant) -> Status {
      calls_.push_back((grant ? "grant " : "revoke ") + std::string(label(kind)) + " " + resource);
      return {};
    };
    handlers_.end = [this] { calls_.push_back("end"); };
    handlers_.usage = [] { return Json{{"cpu", 1.5}}; };
    handlers_.refused = [this] { return refused_; };
  }
  void TearDown() override {
    control_.reset();
    fs::remove_all(folder_);
  }
  void open() {
    auto control = Control::open(options_, handlers_);
    ASSERT_TRUE(control.ok()) << control.error().message;
    control_ = std::move(control).value();
  }
  static Question question(const std::string& resource) {
    Question question;
    question.resource = resource;
    question.subject = "a.b";
    question.pid = 7;
    question.hold = std::chrono::seconds(20);
    return question;
  }
  std::future<Answer> ask(const std::string& resource) {
    return std::async(std::launch::async,
                      [this, resource] { return control_->ask(question(resource)); });
  }

  fs::path folder_;
  Control::Options options_;
  Control::Handlers handlers_;
  std::vector<std::string> calls_;  // by the control's thread; read after a message that follows
  std::vector<Event> refused_;
  std::unique_ptr<Control> control_;
};

TEST_F(ControlTest, ACompanionIsGreetedWithWhatIsKeptAndWithNothingTwice) {
  open();
  control_->hello({{"type", "hello"}, {"state", "starting"}});
  control_->keep("review", {{"type", "review"}, {"digest", "d1"}});
  control_->keep("gone", {{"type", "gone"}});
  control_->keep("gone", nullptr);
  Companion first(options_.socket);
  ASSERT_TRUE(first.connected());
  EXPECT_EQ(first.next()["state"], "starting");
  EXPECT_EQ(first.next()["type"], "review");
  control_->hello({{"type", "hello"}, {"state", "running"}});
  EXPECT_EQ(first.next()["state"], "running");
  Companion second(options_.socket);
  EXPECT_EQ(second.next()["state"], "running");
  EXPECT_EQ(second.next()["type"], "review");
  control_->keep("state", {{"type", "state"}});
  EXPECT_EQ(first.next()["type"], "state");
  EXPECT_EQ(second.next()["type"], "state");
}

// As a program can have them: each takes six times its length in JSON.
TEST_F(ControlTest, ACompanionHearsOfAllThatWasRefusedHoweverMuchThatIs) {
  for (int i = 0; i < 400; ++i) {
    Event event;
    event.kind = Kind::kRead;
    event.resource = fmt::format("/{}/{}", std::string(4000, '\x01'), i);
    event.verdict = Verdict::kDeny;
    event.count = 1;
    refused_.push_back(std::move(event));
  }
  open();
  control_->hello({{"type", "hello"}, {"state", "running"}});
  Companion companion(options_.socket);
  for (size_t i = 0; i < refused_.size(); ++i) {
    const Json told = companion.next("decision");
    ASSERT_FALSE(told.is_null()) << "let go after " << i;
    EXPECT_EQ(told["resource"], refused_[i].resource);
  }
}

TEST_F(ControlTest, ThePersonsAnswerIsTheAnswer) {
  open();
  Companion companion(options_.socket);
  const std::pair<const char*, Answer> answers[] = {{"once", Answer::kOnce},
                                                    {"run", Answer::kThisRun},
                                                    {"always", Answer::kAlways},
                                                    {"never", Answer::kNever},
                                                    {"no", Answer::kNo}};
  for (const auto& [word, answer] : answers) {
    auto asked = ask("/x");
    const Json question = companion.next("question");
    EXPECT_EQ(question["resource"], "/x");
    EXPECT_EQ(question["kind"], "read");
    EXPECT_EQ(question["extension"], "a.b");
    EXPECT_EQ(question["process"], 7);
    // Answers to other questions, and answers that are none, change nothing.
    companion.say(Json{{"type", "answer"}, {"id", 9999}, {"answer", "always"}});
    companion.say(Json{{"type", "answer"}, {"id", question["id"]}, {"answer", "yes please"}});
    EXPECT_EQ(companion.next()["type"], "error");
    companion.say(Json{{"type", "answer"}, {"id", question["id"]}, {"answer", word}});
    EXPECT_EQ(asked.get(), answer) << word;
    EXPECT_EQ(companion.next("withdrawn")["id"], question["id"]);
  }
}

TEST_F(ControlTest, ItAsksFromTheQuestionToItsEnd) {
  open();
  EXPECT_FALSE(control_->asking());
  auto answer = ask("/x");  // nobody is there yet
  Companion companion(options_.socket);
  const Json question = companion.next("question");
  EXPECT_TRUE(control_->asking());
  companion.say(Json{{"type", "answer"}, {"id", question["id"]}, {"answer", "no"}});
  EXPECT_EQ(answer.get(), Answer::kNo);
  EXPECT_FALSE(control_->asking());
}

TEST_F(ControlTest, AQuestionWaitsForACompanionThatComes) {
  open();
  auto asked = ask("/x");
  Companion companion(options_.socket);
  const Json question = companion.next("question");
  companion.say(Json{{"type", "answer"}, {"id", question["id"]}, {"answer", "once"}});
  EXPECT_EQ(asked.get(), Answer::kOnce);
}

TEST_F(ControlTest, WhoAskedGoesOnAndTheQuestionStays) {
  open();
  std::promise<std::pair<std::string, Answer>> late;
  control_->on_late([&](const Question& question, Answer answer) {
    late.set_value({question.resource + question.about, answer});
  });
  Question asked = question("debug");
  asked.kind = Kind::kVscode;
  asked.about = R"(["x"])";
  asked.hold = std::chrono::milliseconds(1);
  EXPECT_EQ(control_->ask(asked), Answer::kLater) << "nobody is there";
  EXPECT_FALSE(control_->asking()) << "and nobody is held";
  Companion first(options_.socket);
  const Json told = first.next("question");
  EXPECT_EQ(told["resource"], "debug");
  EXPECT_EQ(told["about"], R"(["x"])");
  EXPECT_EQ(told["later"], true);
  asked.resource = "tasks";
  EXPECT_EQ(control_->ask(asked), Answer::kLater);
  const Json second = first.next("question");
  EXPECT_EQ(second["later"], false);
  const Json later = first.next();
  EXPECT_EQ(later["type"], "later");
  EXPECT_EQ(later["id"], second["id"]);
  // Both are open; the answer goes to the one that it names, once.
  first.say(Json{{"type", "answer"}, {"id", second["id"]}, {"answer", "run"}});
  first.say(Json{{"type", "answer"}, {"id", second["id"]}, {"answer", "always"}});
  EXPECT_EQ(late.get_future().get(), std::pair(std::string(R"(tasks["x"])"), Answer::kThisRun));
  EXPECT_EQ(first.next("withdrawn")["id"], second["id"]);
  Companion other(options_.socket);
  EXPECT_EQ(other.next("question")["id"], told["id"]);
}

TEST_F(ControlTest, AfterTheEndNoLateAnswerComes) {
  open();
  std::atomic<int> late = 0;
  control_->on_late([&](const Question&, Answer) { ++late; });
  Question asked = question("/x");
  asked.hold = std::chrono::milliseconds(0);
  EXPECT_EQ(control_->ask(asked), Answer::kLater);
  Companion companion(options_.socket);
  const Json told = companion.next("question");
  control_->cancel();
  EXPECT_EQ(companion.next("withdrawn")["id"], told["id"]);
  companion.say(Json{{"type", "answer"}, {"id", told["id"]}, {"answer", "always"}});
  companion.say(Json{{"type", "nonsense"}});
  EXPECT_EQ(companion.next()["type"], "error");
  EXPECT_EQ(late, 0);
}

TEST_F(ControlTest, TheMainThreadIsHeldForLessThanOthers) {
  open();
  EXPECT_EQ(control_->patience(Waits::kMain), std::chrono::seconds(2));
  EXPECT_EQ(control_->patience(Waits::kProgram), std::chrono::seconds(5));
  EXPECT_EQ(control_->patience(Waits::kNobody), std::chrono::seconds(5));
}

TEST_F(ControlTest, CancellingAnswersNoNowAndLater) {
  open();
  Companion companion(options_.socket);
  auto asked = ask("/x");
  const Json question_of = companion.next("question");
  control_->cancel();
  EXPECT_EQ(asked.get(), Answer::kNobody);
  EXPECT_EQ(companion.next()["type"], "withdrawn");
  EXPECT_EQ(control_->ask(question("/y")), Answer::kNobody);
  control_->keep("mark", {{"type", "mark"}});
  EXPECT_EQ(companion.next()["type"], "mark") << "the second question was put";
}

TEST_F(ControlTest, AFloodOfQuestionsIsAnsweredNoWithoutAPerson) {
  options_.burst = 3;
  options_.refill = std::chrono::seconds(3600);
  open();
  Companion companion(options_.socket);
  control_->wait_for_somebody(std::chrono::seconds(20));
  for (int i = 0; i < 50; ++i) {
    Question asked = question(std::to_string(i));
    asked.hold = std::chrono::milliseconds(0);
    EXPECT_EQ(control_->ask(asked), i < 3 ? Answer::kLater : Answer::kNotAsked);
  }
  control_->keep("mark", {{"type", "mark"}});
  int questions = 0;
  for (Json message = companion.next(); message["type"] != "mark"; message = companion.next()) {
    ASSERT_FALSE(message.is_null());
    if (message["type"] == "question") ++questions;
  }
  EXPECT_EQ(questions, 3);
}

TEST_F(ControlTest, WhatACompanionAsksForIsDoneOrExplained) {
  open();
  Companion companion(options_.socket);
  companion.say(Json{{"type", "approve"}, {"digest", "d1"}});
  companion.say(Json{{"type", "reject"}, {"digest", "d1"}});
  companion.say(Json{{"type", "grant"}, {"kind", "read"}, {"resource", "/r"}});
  companion.say(Json{{"type", "revoke"}, {"kind", "connect"}, {"resource", "h:1"}});
  companion.say(Json{{"type", "end"}});
  companion.say(Json{{"type", "approve"}, {"digest", "old"}});
  EXPECT_EQ(companion.next("error")["message"], "it changed");
  EXPECT_THAT(calls_,
              ElementsAre("approve", "reject", "grant read /r", "revoke connect h:1", "end"));
  const char* bad[] = {"no json\n",
                       "[1]\n",
                       "{\"type\":7}\n",
                       "\n",
                       "{\"type\":\"grant\",\"kind\":\"system\",\"resource\":\"ptrace\"}\n",
                       "{\"type\":\"grant\",\"kind\":\"read\"}\n",
                       "{\"type\":\"grant\",\"kind\":7,\"resource\":[]}\n",
                       "{\"type\":\"answer\",\"id\":-1,\"answer\":\"once\"}\n",
                       "{\"type\":\"answer\",\"id\":\"1\",\"answer\":\"once\"}\n",
                       "{\"type\":\"answer\",\"answer\":\"once\"}\n"};
  for (const char* line : bad) {
    companion.say(std::string(line));
    EXPECT_EQ(companion.next()["type"], "error") << line;
  }
  EXPECT_EQ(calls_.size(), 5U);
}

TEST_F(ControlTest, RefusalsAreTold) {
  Event event;
  event.resource = "/secret";
  event.count = 2;
  event.rule = "blocklist: ssh";
  refused_ = {event};
  open();
  Companion companion(options_.socket);
  const Json told = companion.next("decision");
  EXPECT_EQ(told["resource"], "/secret");
  EXPECT_EQ(told["verdict"], "deny");
  EXPECT_EQ(told["count"], 2);
  EXPECT_EQ(told["rule"], "blocklist: ssh");
}

TEST_F(ControlTest, ALineWithoutEndLosesItsSenderOnly) {
  open();
  Companion good(options_.socket), endless(options_.socket);
  const std::string part(4096, 'x');
  // Until the other end closes: it takes no more than its limit and what the socket holds.
  size_t sent = 0;
  while (sent < (64U << 20U)) {
    const ssize_t n = ::send(endless.fd(), part.data(), part.size(), MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += static_cast<size_t>(n);
  }
  EXPECT_LT(sent, 8U << 20U);
  good.say(Json{{"type", "nonsense"}});
  EXPECT_EQ(good.next()["type"], "error");
}

TEST_F(ControlTest, ACompanionThatDoesNotReadIsLetGo) {
  open();
  Companion deaf(options_.socket), good(options_.socket);
  const std::string text(1U << 20U, 'x');
  // The hearing one reads each before the next is sent.
  for (int i = 0; i < 8; ++i) {
    control_->keep("big", {{"type", "big"}, {"text", text}, {"number", i}});
    EXPECT_EQ(good.next("big")["number"], i);
  }
  // Its connection ends after what was written before.
  int seen = 0;
  while (!deaf.next("big").is_null()) ++seen;
  EXPECT_LT(seen, 8);
}

TEST_F(ControlTest, NoMoreCompanionsThanAFew) {
  open();
  control_->hello({{"type", "hello"}});
  std::vector<std::unique_ptr<Companion>> all;
  int greeted = 0;
  for (int i = 0; i < 12; ++i) {
    all.push_back(std::make_unique<Companion>(options_.socket));
    if (!all.back()->next().is_null()) ++greeted;
  }
  EXPECT_EQ(greeted, 8);
}

TEST_F(ControlTest, TheEndIsStillTold) {
  open();
  Companion companion(options_.socket);
  control_->wait_for_somebody(std::chrono::seconds(20));
  control_->keep("state", {{"type", "state"}, {"state", "ended"}});
  control_.reset();
  EXPECT_EQ(companion.next("state")["state"], "ended");
  EXPECT_TRUE(companion.next().is_null());
  EXPECT_FALSE(fs::exists(options_.socket));
}

TEST_F(ControlTest, TheLastHostOfAWindowTakesTheirFolderAway) {
  open();
  Control::Options other = options_;
  other.socket = folder_ / "code/w/2.sock";
  auto second = Control::open(other, handlers_);
  ASSERT_TRUE(second.ok());
  control_.reset();
  EXPECT_TRUE(fs::exists(other.socket));
  std::move(second).value().reset();
  EXPECT_FALSE(fs::exists(folder_ / "code/w"));
  EXPECT_TRUE(fs::exists(folder_ / "code"));
}

TEST_F(ControlTest, WhatAKilledHostLeftIsClearedAndNothingElse) {
  open();
  const auto leave = [this](const std::string& name, Fd* alive = nullptr) {
    fs::create_directories((folder_ / name).parent_path());
    Fd killed(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (folder_ / name).string();
    std::memcpy(address.sun_path, path.data(), path.size());
    ASSERT_EQ(::bind(killed.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(killed.get(), 1), 0);
    if (alive != nullptr) *alive = std::move(killed);
  };
  leave("code/w/77.sock");
  // One that has no time: whoever calls is told to try again.
  Fd busy;
  leave("code/busy/76.sock", &busy);
  std::vector<Fd> callers;
  const std::string busy_path = (folder_ / "code/busy/76.sock").string();
  sockaddr_un busy_address{};
  busy_address.sun_family = AF_UNIX;
  std::memcpy(busy_address.sun_path, busy_path.data(), busy_path.size());
  int result = 0;
  for (int i = 0; i < 16 && result == 0; ++i) {
    callers.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    result = ::connect(callers.back().get(), reinterpret_cast<sockaddr*>(&busy_address),
                       sizeof busy_address);
  }
  ASSERT_EQ(errno, EAGAIN);
  leave("code/gone/78.sock");
  leave("code/gone/79.sock");
  std::ofstream(folder_ / "code/w/notes") << "x";
  Control::clear_stale((folder_ / "code").string());
  EXPECT_FALSE(fs::exists(folder_ / "code/w/77.sock"));
  EXPECT_FALSE(fs::exists(folder_ / "code/gone"));
  EXPECT_TRUE(fs::exists(busy_path));
  EXPECT_TRUE(fs::exists(folder_ / "code/w/notes"));
  ASSERT_TRUE(fs::exists(options_.socket));
  control_->hello({{"type", "hello"}});
  Companion companion(options_.socket);
  EXPECT_EQ(companion.next()["type"], "hello") << "the living are left alone";
  Control::clear_stale((folder_ / "not there").string());
  fs::remove(folder_ / "code/w/notes");
}

TEST_F(ControlTest, AFolderThatGoesAwayIsMadeAgain) {
  // Hosts of one window come and go at once.
  const auto host = [this](int number) {
    Control::Options options = options_;
    options.socket = folder_ / fmt::format("code/w/{}.sock", number);
    for (int i = 0; i < 200; ++i) {
      const auto control = Control::open(options, handlers_);
      ASSERT_TRUE(control.ok()) << to_string(control.error());
    }
  };
  std::thread one(host, 1), two(host, 2);
  one.join();
  two.join();
  EXPECT_FALSE(fs::exists(folder_ / "code/w"));
}

TEST_F(ControlTest, TheFolderMustBeTheUsersAlone) {
  fs::create_directories(folder_ / "code/w");
  for (const auto& mode : {0755, 0770, 0701}) {
    ASSERT_EQ(::chmod((folder_ / "code/w").c_str(), static_cast<mode_t>(mode)), 0);
    const auto control = Control::open(options_, handlers_);
    ASSERT_FALSE(control.ok()) << mode;
    EXPECT_EQ(control.error().errno_value, EPERM);
    EXPECT_THAT(control.error().message, HasSubstr("chmod 700"));
  }
  ASSERT_EQ(::chmod((folder_ / "code/w").c_str(), 0700), 0);
  EXPECT_TRUE(Control::open(options_, handlers_).ok());
  fs::remove_all(folder_ / "code/w");
  fs::create_directories(folder_ / "elsewhere");
  ASSERT_EQ(::chmod((folder_ / "elsewhere").c_str(), 0700), 0);
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "code/w");
  EXPECT_FALSE(Control::open(options_, handlers_).ok()) << "a link to a folder";
  options_.socket = "/tmp/" + std::string(200, 'x');
  const auto longer = Control::open(options_, handlers_);
  ASSERT_FALSE(longer.ok());
  EXPECT_THAT(longer.error().message, HasSubstr("XDG_RUNTIME_DIR"));
}

TEST_F(ControlTest, AnotherUserIsNotHeard) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  // Before there are threads: a child of a process with threads may wait for their locks for ever.
  struct Visitor {
    pid_t pid;
    Fd go;
  };
  const auto visitor = [&](uid_t uid) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) ::abort();
    Fd go(ends[1]);
    const Fd wait(ends[0]);
    const pid_t child = ::fork();
    if (child == 0) {
      go.reset();
      char end = 0;
      (void)!::read(wait.get(), &end, 1);
      if (::setresuid(uid, uid, uid) != 0) ::_exit(3);
      Companion companion(options_.socket);
      ::_exit(!companion.connected() ? 4 : companion.next().is_null() ? 0 : 1);
    }
    return Visitor{child, std::move(go)};
  };
  Visitor stranger = visitor(1000), owner = visitor(0);
  open();
  control_->hello({{"type", "hello"}});
  // As open as can be: what is left is who connects.
  ::chmod(options_.socket.c_str(), 0777);
  for (fs::path at = fs::path(options_.socket).parent_path(); at != folder_.parent_path();
       at = at.parent_path())
    ::chmod(at.c_str(), 0755);
  const auto greeted = [](Visitor& one) {
    one.go.reset();
    int status = 0;
    ::waitpid(one.pid, &status, 0);
    return WEXITSTATUS(status);
  };
  // The later one holds the other's pipe as well.
  EXPECT_EQ(greeted(owner), 1);
  EXPECT_EQ(greeted(stranger), 0);
}

}  // namespace
}  // namespace bulkhead
