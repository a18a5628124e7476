#include "trace/journal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/fd.h"
#include "trace/database.h"
#include "trace/groundwork.h"
#include "trace/retention.h"

namespace bulkhead {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "journal-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ + "/state/bulkhead/journal.db";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Journal> open(const std::string& id = "00000000000000aa") {
    auto journal = Journal::open(
        file_, {.id = id, .subject = "acme.lint", .command = "node x", .workspace = "/w"});
    EXPECT_TRUE(journal.ok()) << (journal.ok() ? "" : journal.error().message);
    return journal.ok() ? std::move(journal).value() : nullptr;
  }
  std::vector<JournalRow> read(const JournalFilter& filter = {}) {
    auto rows = read_journal(file_, filter);
    EXPECT_TRUE(rows.ok()) << (rows.ok() ? "" : rows.error().message);
    return rows.ok() ? std::move(rows).value() : std::vector<JournalRow>();
  }
  Database database() {
    auto database = Database::open(file_, Database::Mode::kReadWrite);
    EXPECT_TRUE(database.ok());
    return std::move(database).value();
  }
  int64_t number(const std::string& sql) {
    Database db = database();
    auto query = db.prepare(sql);
    EXPECT_TRUE(query.ok() && query->step().ok());
    return query->integer(0);
  }

  std::string folder_, file_;
};

Event event(std::string resource, Verdict verdict = Verdict::kAllow) {
  Event result;
  result.time = std::chrono::system_clock::now();
  result.kind = Kind::kRead;
  result.resource = std::move(resource);
  result.verdict = verdict;
  result.rule = "manifest: ${workspace}";
  result.pid = 42;
  result.program = "/usr/bin/node";
  result.detail = "openat";
  return result;
}

// What is left out and what is called so is the same, and nothing of an extension's own is among
// it.
TEST_F(JournalTest, AHostsGroundworkCanBeLeftOut) {
  const auto ruled = [](std::string resource, std::string rule, Kind kind = Kind::kRead) {
    Event result = event(std::move(resource));
    result.rule = std::move(rule);
    result.kind = kind;
    return result;
  };
  Event variable = event("AWS_SECRET_ACCESS_KEY", Verdict::kDeny);
  variable.kind = Kind::kEnvironment;
  Event denied = ruled("/usr/lib/x", "baseline: @system [@system] (extension-host.json:5)");
  denied.verdict = Verdict::kDeny;
  Event asked = ruled("/usr/lib/y", "manifest: @system [@system] (bulkhead.json:5)");
  asked.asked = true;
  const std::vector<std::pair<Event, bool>> events = {
      {ruled("/usr/lib/libc.so.6", "baseline: @system [@system] (extension-host.json:5)"), true},
      {ruled("/usr/lib/libm.so.6", "manifest: @system [@system] (bulkhead.json:5)"), true},
      {ruled("/tmp/node-compile-cache/a", "baseline: /tmp [scratch]", Kind::kWrite), true},
      {variable, true},
      {ruled("/usr/bin/node", "baseline: /usr/bin/node (VS Code)", Kind::kRun), false},
      {ruled("/w/a", "manifest: ${workspace} (bulkhead.json:5)"), false},
      {ruled("/w/.prettierrc", "manifest: @systemd [@systemd] (bulkhead.json:5)"), false},
      {denied, false},
      {asked, false},
  };
  for (const std::string command : {"extension host of acme.lint", "node x"}) {
    const bulkhead::Run run = {.id = command == "node x" ? "00000000000000bb" : "00000000000000aa",
                               .subject = "acme.lint",
                               .command = command,
                               .workspace = "/w"};
    auto journal = Journal::open(file_, run);
    ASSERT_TRUE(journal.ok());
    for (const auto& [each, is] : events) {
      (*journal)->record(each);
      EXPECT_EQ(is_groundwork(run, each), is && command != "node x") << each.resource;
    }
    ASSERT_TRUE((*journal)->flush().ok());
    std::set<std::string> left;
    const auto brief = read_journal_brief(file_, {.run = run.id});
    ASSERT_TRUE(brief.ok());
    for (const JournalRow& row : *brief) left.insert(row.event.resource);
    for (const auto& [each, is] : events)
      EXPECT_EQ(left.count(each.resource), is && command != "node x" ? 0U : 1U) << each.resource;
    EXPECT_THAT(read({.run = run.id}), SizeIs(events.size()));
    EXPECT_EQ(holds_groundwork(file_, {.run = run.id}).value(), command != "node x");
    EXPECT_FALSE(holds_groundwork(file_, {.run = run.id, .resource_part = "/w/"}).value());
  }
}

TEST_F(JournalTest, EverythingComesBack) {
  auto journal = open();
  Event written = event("/home/me/.ssh/id_rsa", Verdict::kDeny);
  written.kind = Kind::kWriteStatus;
  written.asked = true;
  written.enforced = false;
  journal->record(written);
  ASSERT_TRUE(journal->flush().ok());
  const auto rows = read();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].run.id, "00000000000000aa");
  EXPECT_EQ(rows[0].run.subject, "acme.lint");
  EXPECT_EQ(rows[0].run.command, "node x");
  EXPECT_EQ(rows[0].run.workspace, "/w");
  const Event& back = rows[0].event;
  EXPECT_EQ(back.kind, written.kind);
  EXPECT_EQ(back.resource, written.resource);
  EXPECT_EQ(back.verdict, written.verdict);
  EXPECT_TRUE(back.asked);
  EXPECT_FALSE(back.enforced);
  EXPECT_EQ(back.rule, written.rule);
  EXPECT_EQ(back.pid, 42);
  EXPECT_EQ(back.program, written.program);
  EXPECT_EQ(back.detail, written.detail);
  EXPECT_EQ(back.count, 1U);
  EXPECT_EQ(back.time, std::chrono::time_point_cast<std::chrono::microseconds>(written.time));
}

TEST_F(JournalTest, BytesSurviveWhateverTheyAre) {
  auto journal = open();
  const std::string strange = "/a\n\x1b[2J\xff\xc3'; DROP TABLE runs; --\0b"s;
  journal->record(event(strange));
  ASSERT_TRUE(journal->flush().ok());
  ASSERT_THAT(read(), SizeIs(1));
  EXPECT_EQ(read()[0].event.resource, strange);
}

TEST_F(JournalTest, IsPrivate) {
  const mode_t umask = ::umask(0);
  auto journal = open();
  journal->record(event("/a"));
  ASSERT_TRUE(journal->flush().ok());
  ::umask(umask);
  struct stat status {};
  for (const char* suffix : {"", "-wal", "-shm"}) {
    ASSERT_EQ(::stat((file_ + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 07777U, 0600U) << suffix;
  }
  ASSERT_EQ(::stat((folder_ + "/state/bulkhead").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

// Who may read a folder may lock it, a compartment too.
TEST_F(JournalTest, ALockedFolderKeepsNoJournalFromBeginning) {
  const std::string folder = folder_ + "/state/bulkhead";
  std::filesystem::create_directories(folder);
  const Fd locked(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(locked.get(), LOCK_EX), 0);
  ASSERT_NE(open(), nullptr);
}

TEST_F(JournalTest, AnOpenFileIsMadePrivateAgain) {
  open().reset();
  ASSERT_EQ(::chmod(file_.c_str(), 0644), 0);
  open().reset();
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(JournalTest, CountsAddUpInOneRow) {
  auto journal = open();
  std::atomic<uint64_t>* counter = journal->record_counted(event("/a"));
  ASSERT_NE(counter, nullptr);
  ASSERT_TRUE(journal->flush().ok());
  counter->fetch_add(9);
  journal->record(event("/a"));
  ASSERT_TRUE(journal->flush().ok());
  const auto rows = read();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].event.count, 11U);
}

TEST_F(JournalTest, TheWriterFlushesByItself) {
  auto journal = open();
  journal->record(event("/a"));
  // Ends when the row is there; the test's own limit is for a writer that never writes.
  while (read().empty()) std::this_thread::yield();
  EXPECT_THAT(read(), SizeIs(1));
}

TEST_F(JournalTest, DeathOfTheProcessLosesNothingThatWasFlushed) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto journal =
        Journal::open(file_, {.id = "dead", .subject = "s", .command = "c", .workspace = ""});
    if (!journal.ok()) ::_exit(1);
    for (int i = 0; i < 500; ++i)
      (*journal)->record(event(fmt::format("/flushed/{}", i), Verdict::kDeny));
    if (!(*journal)->flush().ok()) ::_exit(2);
    if (::write(pipe_ends[1], "x", 1) != 1) ::_exit(3);
    for (int i = 0;; ++i) (*journal)->record(event(fmt::format("/later/{}", i % 3000)));
  }
  char byte = 0;
  ::close(pipe_ends[1]);
  ASSERT_EQ(::read(pipe_ends[0], &byte, 1), 1);
  ::close(pipe_ends[0]);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(read({.run = "dead", .resource_part = "/flushed/"}), SizeIs(500));
  EXPECT_EQ(number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
  // The next one starts as if nothing had been.
  auto journal = open("next");
  journal->record(event("/a"));
  ASSERT_TRUE(journal->finish("ended").ok());
  EXPECT_THAT(read({.run = "next"}), SizeIs(1));
}

TEST_F(JournalTest, SeveralProcessesWriteAtOnce) {
  constexpr int kProcesses = 6, kRows = 400;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto journal = Journal::open(
          file_, {.id = fmt::format("run{}", p), .subject = "s", .command = "c", .workspace = ""});
      if (!journal.ok()) {
        fmt::print(stderr, "{}\n", journal.error().message);
        ::_exit(1);
      }
      for (int i = 0; i < kRows; ++i) {
        (*journal)->record(event(fmt::format("/{}", i)));
        if (i % 50 == 0 && !(*journal)->flush().ok()) ::_exit(2);
      }
      ::_exit((*journal)->finish("ended").ok() ? 0 : 3);
    }
    children.push_back(child);
  }
  // Reads all the while: it must never see an error, nor a row go away.
  size_t seen = 0;
  bool running = true;
  while (running) {
    if (auto rows = read_journal(file_, {}); rows.ok()) {
      EXPECT_GE(rows->size(), seen);
      seen = rows->size();
    } else {
      EXPECT_EQ(rows.error().errno_value, ENOENT) << rows.error().message;
    }
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(children.front()), &info, WEXITED | WNOHANG | WNOWAIT) ==
        0)
      running = info.si_pid == 0;
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  const auto rows = read();
  EXPECT_THAT(rows, SizeIs(kProcesses * kRows));
  std::set<uint64_t> revisions;
  for (const JournalRow& row : rows) revisions.insert(row.revision);
  EXPECT_EQ(revisions.size(), rows.size()) << "each change has a revision of its own";
}

TEST_F(JournalTest, FollowingSeesEachChangeOnce) {
  auto journal = open();
  journal->record(event("/a"));
  journal->record(event("/b"));
  ASSERT_TRUE(journal->flush().ok());
  auto rows = read();
  ASSERT_THAT(rows, SizeIs(2));
  const uint64_t last = rows.back().revision;
  EXPECT_THAT(read({.after_row = last}), SizeIs(0));
  journal->record(event("/a"));
  journal->record(event("/c"));
  ASSERT_TRUE(journal->flush().ok());
  rows = read({.after_row = last});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_LT(rows[0].revision, rows[1].revision) << "newest last";
  EXPECT_THAT((std::set<std::string>{rows[0].event.resource, rows[1].event.resource}),
              ::testing::ElementsAre("/a", "/c"));
}

TEST_F(JournalTest, FiltersSelect) {
  auto journal = open();
  journal->record(event("/etc/passwd"));
  journal->record(event("/etc/shadow", Verdict::kDeny));
  Event run = event("/bin/sh");
  run.kind = Kind::kRun;
  run.program = "/bin/dash";
  journal->record(run);
  ASSERT_TRUE(journal->flush().ok());
  EXPECT_THAT(read({.run = "00000000000000aa"}), SizeIs(3));
  EXPECT_THAT(read({.run = "other"}), SizeIs(0));
  EXPECT_THAT(read({.subject = "acme.lint"}), SizeIs(3));
  EXPECT_THAT(read({.subject = "acme"}), SizeIs(0));
  EXPECT_THAT(read({.resource_part = "etc"}), SizeIs(2));
  EXPECT_THAT(read({.resource_part = "%"}), SizeIs(0)) << "no pattern: a part as it stands";
  EXPECT_THAT(read({.program_part = "dash"}), SizeIs(1));
  EXPECT_THAT(read({.kind = Kind::kRun}), SizeIs(1));
  EXPECT_THAT(read({.verdict = Verdict::kDeny}), SizeIs(1));
  EXPECT_THAT(read({.since = std::chrono::system_clock::now() + std::chrono::hours(1)}), SizeIs(0));
  const auto newest = read({.limit = 1});
  ASSERT_THAT(newest, SizeIs(1));
  EXPECT_EQ(newest[0].revision, read().back().revision);
}

TEST_F(JournalTest, TheEndOfARunIsNoted) {
  auto journal = open("first");
  open("second").reset();  // dies without an end
  ASSERT_TRUE(journal->finish("ended with exit code 3").ok());
  auto runs = read_runs(file_, {});
  ASSERT_TRUE(runs.ok());
  ASSERT_THAT(*runs, SizeIs(2));
  EXPECT_EQ((*runs)[0].run.id, "first");
  EXPECT_EQ((*runs)[0].outcome, "ended with exit code 3");
  EXPECT_TRUE((*runs)[0].ended.has_value());
  EXPECT_FALSE((*runs)[1].ended.has_value());
}

TEST_F(JournalTest, ADamagedFileIsAnErrorWithAFix) {
  open().reset();
  std::filesystem::remove(file_ + "-wal");
  std::filesystem::remove(file_ + "-shm");
  std::ofstream(file_, std::ios::trunc)
      << "this is no database, whatever its name says, and it is long enough";
  auto journal = Journal::open(file_, {.id = "x", .subject = "", .command = "", .workspace = ""});
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.error().message, HasSubstr(file_));
  EXPECT_THAT(journal.error().message, HasSubstr("damaged"));
  EXPECT_THAT(journal.error().message, HasSubstr("move it away"));
  auto rows = read_journal(file_, {});
  ASSERT_FALSE(rows.ok());
  EXPECT_THAT(rows.error().message, HasSubstr("damaged"));
}

TEST_F(JournalTest, ForeignAndNewerFilesAreRefused) {
  open().reset();
  database().execute("PRAGMA user_version=99").ok();
  auto journal = Journal::open(file_, {.id = "x", .subject = "", .command = "", .workspace = ""});
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.error().message, HasSubstr("version 99"));
  database().execute("PRAGMA application_id=7").ok();
  journal = Journal::open(file_, {.id = "x", .subject = "", .command = "", .workspace = ""});
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.error().message, HasSubstr("another program"));
}

TEST_F(JournalTest, MissingFilesAreToldByErrno) {
  auto rows = read_journal(file_, {});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().errno_value, ENOENT);
}

TEST_F(JournalTest, AFolderInItsPlaceIsRefused) {
  std::filesystem::create_directories(file_);
  auto journal = Journal::open(file_, {.id = "x", .subject = "", .command = "", .workspace = ""});
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.error().message, HasSubstr(file_));
  EXPECT_THAT(read_journal(file_, {}).error().message, HasSubstr(file_ + ": it is no regular"));
}

TEST_F(JournalTest, AReaderDoesNotWaitForAFifo) {
  std::filesystem::create_directories(std::filesystem::path(file_).parent_path());
  ASSERT_EQ(::mkfifo(file_.c_str(), 0400), 0);
  EXPECT_THAT(read_journal(file_, {}).error().message, HasSubstr(file_ + ": it is no regular"));
}

TEST_F(JournalTest, ErrorsNameTheFileAndTheFirstCause) {
  // What SQLite cannot open: the name is not known to it yet.
  std::filesystem::create_directories(file_);
  EXPECT_THAT(Database::open(file_, Database::Mode::kReadOnly).error().message, HasSubstr(file_));
  // An empty file's log that cannot be removed ends the transaction in which the file is looked at.
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_ + "-wal");
  auto journal = Journal::open(file_, {.id = "x", .subject = "", .command = "", .workspace = ""});
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.error().message, AllOf(HasSubstr(file_), Not(HasSubstr("savepoint"))));
}

TEST_F(JournalTest, RecordsFromManyThreadsAddUp) {
  auto journal = open();
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) journal->record(event(fmt::format("/{}", i % 50)));
    });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(journal->flush().ok());
  for (auto& thread : threads) thread.join();
  ASSERT_TRUE(journal->flush().ok());
  uint64_t total = 0;
  for (const JournalRow& row : read()) total += row.event.count;
  EXPECT_EQ(total, kThreads * 5000U);
  EXPECT_THAT(read(), SizeIs(50));
}

class RetentionTest : public JournalTest {
 protected:
  void fill(int runs, int rows) {
    for (int r = 0; r < runs; ++r) {
      auto journal = open(fmt::format("run{}", r));
      for (int i = 0; i < rows; ++i) journal->record(event(fmt::format("/{}", i)));
      ASSERT_TRUE(journal->finish("ended").ok());
    }
  }
  int run_it(Database& db, int64_t own, const RetentionBounds& bounds) {
    Retention retention(db, own, bounds);
    int steps = 0;
    for (; !retention.done() && steps < 1000; ++steps) retention.step();
    return steps;
  }
};

TEST_F(RetentionTest, OldRunsGoInSmallSteps) {
  fill(3, 25);
  Database db = database();
  ASSERT_TRUE(db.execute("UPDATE runs SET seen = seen - 31 * 86400000000 WHERE id = 'run1'").ok());
  const int steps = run_it(db, 3, {.step = 10});
  EXPECT_EQ(steps, 3 + 1);
  EXPECT_EQ(number("SELECT count(*) FROM accesses"), 50);
  EXPECT_EQ(number("SELECT count(*) FROM runs WHERE id = 'run1'"), 0);
}

TEST_F(RetentionTest, BeyondTheBoundTheOldestEndedGo) {
  fill(4, 25);
  Database db = database();
  // The oldest is alive: it was seen a moment ago and has not ended.
  ASSERT_TRUE(db.execute("UPDATE runs SET ended = NULL WHERE id = 'run0'").ok());
  run_it(db, 4, {.rows = 60, .step = 10});
  EXPECT_EQ(number("SELECT count(*) FROM accesses"), 50);
  EXPECT_EQ(number("SELECT count(*) FROM runs WHERE id IN ('run0', 'run3')"), 2);
}

TEST_F(RetentionTest, TheOwnRunStays) {
  fill(1, 25);
  Database db = database();
  ASSERT_TRUE(db.execute("UPDATE runs SET seen = 0").ok());
  run_it(db, 1, {.rows = 1, .step = 10});
  EXPECT_EQ(number("SELECT count(*) FROM accesses"), 25);
}

}  // namespace
}  // namespace bulkhead
