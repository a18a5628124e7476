#include "trace/journal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/fd.h"
#include "base/path.h"
#include "policy/user_file.h"
#include "trace/retention.h"
#include "trace/schema.h"
#include "trace/tally.h"

namespace bulkhead {

Result<std::string> new_run_id() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof value, 0) != sizeof value) return errno_error("get randomness");
  return fmt::format("{:016x}", value);
}
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::system_clock;

constexpr auto kFlushEvery = 100ms;
constexpr auto kLongestPause = 1600ms;  // between looks at the counters while nothing happens
// New rows that wake the writer before its time. Few, since what is left at a short run's end is
// written while its caller waits.
constexpr size_t kFlushEarly = 64;
constexpr size_t kMaxRunText = 4096;

int64_t microseconds(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

std::string_view start_of(std::string_view text) { return text.substr(0, kMaxRunText); }

// Makes the file, private, before SQLite sees it: SQLite gives its -wal and -shm files
// the same mode. Where it is new, returns a lock that holds until the schema stands; SQLite's own
// cannot guard the switch to WAL. Of a file beside it that no compartment can open
// (manifests/blocklist.json), as it could the folder: who may read may lock.
Result<Fd> make_private_file(const std::string& file) {
  BULKHEAD_CHECK(make_directories(std::string(parent_of(file)), 0700));
  Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
  if (!fd) return errno_error("open the journal " + file);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return errno_error("stat the journal " + file);
  if (!S_ISREG(status.st_mode)) return no_regular_journal(file);
  // Root may write a user's journal (sudo keeps HOME); nobody else writes somebody else's.
  if (status.st_uid != ::geteuid() && ::geteuid() != 0)
    return Error{
        fmt::format("cannot use the journal {}: it belongs to user {}; set XDG_STATE_HOME to a "
                    "folder of your own",
                    file, status.st_uid),
        EPERM};
  if ((status.st_mode & 07777U) != 0600 && ::fchmod(fd.get(), 0600) != 0)
    return errno_error("make the journal private: " + file);
  Fd lock;
  if (status.st_size == 0) {
    BULKHEAD_TRY(lock, lock_beside(file));
  }
  // fd closes here, before SQLite opens the file: closing it later would drop SQLite's locks.
  return lock;
}

// Signals are for the thread that waits for them: delivered to one that `make` makes, which
// inherits the mask, a SIGTERM would end the supervisor by its default action.
template <typename Make>
std::thread without_signals(Make make) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread = make();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

class SqliteJournal final : public Journal {
 public:
  static Result<std::unique_ptr<SqliteJournal>> open(const std::string& file) {
    BULKHEAD_TRY(Fd lock, make_private_file(file));
    BULKHEAD_TRY(Database database, Database::open(file, Database::Mode::kReadWrite));
    BULKHEAD_CHECK(prepare_schema(database, file));
    lock.reset();
    std::unique_ptr<SqliteJournal> journal(new SqliteJournal(std::move(database)));
    BULKHEAD_CHECK(journal->prepare());
    return journal;
  }

  static Result<std::unique_ptr<Journal>> start(std::unique_ptr<SqliteJournal> journal,
                                                const Run& run) {
    BULKHEAD_CHECK(journal->insert_run(run));
    journal->writer_ = without_signals(
        [raw = journal.get()] { return std::thread([raw] { raw->write_until_closed(); }); });
    return std::unique_ptr<Journal>(std::move(journal));
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): a Result is read only as ok() says.
  ~SqliteJournal() override {
    {
      const std::lock_guard guard(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    if (writer_.joinable()) writer_.join();
    // Without finish() the run stays "not ended"; what it did is kept. There is nobody to tell.
    (void)write_pending(false);
  }

  void record(Event event) override { (void)record_counted(std::move(event)); }

  std::atomic<uint64_t>* record_counted(Event event) override {
    const std::lock_guard guard(mutex_);
    Tally::Slot& slot = tally_.add(std::move(event));
    if (idle_ || tally_.fresh() == kFlushEarly) {
      idle_ = false;
      wake_.notify_one();
    }
    return &slot.pending;
  }

  Status flush() override { return write_pending(true); }

  Status finish(const std::string& outcome) override {
    bool denied = false;
    {
      const std::lock_guard guard(mutex_);
      denied = tally_.access_denied();
    }
    const std::lock_guard guard(database_mutex_);
    // A run without denials reports nothing that a power cut could take back: no need to wait.
    BULKHEAD_CHECK(database_.wait_for_disk(denied));
    end_run_.bind(1, microseconds(Clock::now())).bind(2, start_of(outcome)).bind(3, run_);
    BULKHEAD_TRY(const size_t count, write_counted(&end_run_));
    static_cast<void>(count);
    return {};
  }

  std::vector<Event> denied() const override {
    const std::lock_guard guard(mutex_);
    return tally_.denied();
  }

 private:
  explicit SqliteJournal(Database database) : database_(std::move(database)) {}

  Status prepare() {
    BULKHEAD_TRY(begin_, database_.prepare("BEGIN IMMEDIATE"));
    BULKHEAD_TRY(commit_, database_.prepare("COMMIT"));
    BULKHEAD_TRY(rollback_, database_.prepare("ROLLBACK"));
    BULKHEAD_TRY(get_clock_, database_.prepare("SELECT revision FROM clock WHERE only = 1"));
    BULKHEAD_TRY(set_clock_, database_.prepare("UPDATE clock SET revision = ?1 WHERE only = 1"));
    BULKHEAD_TRY(
        insert_,
        database_.prepare("INSERT INTO accesses (run, kind, resource, verdict, asked, enforced, "
                          "rule, pid, program, detail, count, first, last, revision) VALUES "
                          "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"));
    BULKHEAD_TRY(update_, database_.prepare(
                              "UPDATE accesses SET count = count + ?1, last = ?2, revision = ?3 "
                              "WHERE access = ?4"));
    BULKHEAD_TRY(see_run_, database_.prepare("UPDATE runs SET seen = ?1 WHERE run = ?2"));
    BULKHEAD_TRY(
        end_run_,
        database_.prepare("UPDATE runs SET ended = ?1, seen = ?1, outcome = ?2 WHERE run = ?3"));
    return {};
  }

  Status insert_run(const Run& run) {
    BULKHEAD_TRY(
        Query insert,
        database_.prepare("INSERT INTO runs (id, subject, command, workspace, audit, started, "
                          "seen) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)"));
    const int64_t now = microseconds(Clock::now());
    insert.bind(1, start_of(run.id)).bind(2, start_of(run.subject)).bind(3, start_of(run.command));
    insert.bind(4, start_of(run.workspace)).bind(5, run.audit ? 1 : 0).bind(6, now);
    BULKHEAD_TRY(const bool row, insert.step());
    static_cast<void>(row);
    run_ = database_.last_row();
    seen_ = now;
    return {};
  }

  void write_until_closed() {
    Retention retention(database_, run_);
    auto pause = std::chrono::milliseconds(kFlushEvery);
    std::unique_lock lock(mutex_);
    while (!closing_) {
      wake_.wait_for(lock, pause);
      if (closing_) return;
      // A short pause after the first event of a quiet time collects those that follow it.
      lock.unlock();
      const Result<size_t> written = write_periodically();
      {
        const std::lock_guard guard(database_mutex_);
        retention.step();
      }
      lock.lock();
      const bool quiet = written.ok() && *written == 0 && retention.done();
      pause = quiet ? std::min(pause * 2, std::chrono::milliseconds(kLongestPause)) : kFlushEvery;
      idle_ = pause > kFlushEvery && tally_.fresh() == 0;
    }
  }

  Result<size_t> write_periodically() {
    const std::lock_guard guard(database_mutex_);
    BULKHEAD_CHECK(database_.wait_for_disk(false));
    return write_counted();
  }

  Status write_pending(bool wait_for_disk) {
    const std::lock_guard guard(database_mutex_);
    BULKHEAD_CHECK(database_.wait_for_disk(wait_for_disk));
    return write_locked();
  }

  Status write_locked() {
    BULKHEAD_TRY(const size_t count, write_counted());
    static_cast<void>(count);
    return {};
  }

  // One transaction with everything pending; all of it stays pending where that fails.
  // database_mutex_ is held.
  // `last`, where there is one, runs in the same transaction.
  Result<size_t> write_counted(Query* last = nullptr) {
    std::vector<Tally::Change> changes;
    {
      const std::lock_guard guard(mutex_);
      changes = tally_.take();
    }
    const int64_t now = microseconds(Clock::now());
    // Retention judges a run by when it was last seen; a quiet one reports four times a day.
    const bool is_due = now - seen_ > std::chrono::microseconds(6h).count();
    if (changes.empty() && !is_due && last == nullptr) return size_t{0};
    Status status = write_changes(changes, now, last);
    const std::lock_guard guard(mutex_);
    if (!status.ok()) {
      tally_.undo(std::move(changes));
      return std::move(status).error();
    }
    tally_.commit(changes);
    seen_ = now;
    return changes.size();
  }

  Status write_changes(std::vector<Tally::Change>& changes, int64_t now, Query* last) {
    BULKHEAD_CHECK(run_once(begin_));
    Status status = write_rows(changes, now);
    if (status.ok() && last != nullptr) status = run_once(*last);
    if (status.ok()) status = run_once(commit_);
    if (!status.ok()) (void)run_once(rollback_);
    return status;
  }

  Status write_rows(std::vector<Tally::Change>& changes, int64_t now) {
    BULKHEAD_TRY(const bool row, get_clock_.step());
    int64_t revision = row ? get_clock_.integer(0) : 0;
    get_clock_.reset();
    for (Tally::Change& change : changes) {
      ++revision;
      if (change.is_new) {
        const Event& event = change.event;
        insert_.bind(1, run_).bind(2, label(event.kind)).bind(3, event.resource);
        insert_.bind(4, event.verdict == Verdict::kAllow ? "allow" : "deny");
        insert_.bind(5, event.asked ? 1 : 0).bind(6, event.enforced ? 1 : 0).bind(7, event.rule);
        insert_.bind(8, event.pid).bind(9, event.program).bind(10, event.detail);
        insert_.bind(11, static_cast<int64_t>(change.count));
        const int64_t first = microseconds(event.time);
        insert_.bind(12, first)
            .bind(13, change.count > event.count ? now : first)
            .bind(14, revision);
        BULKHEAD_CHECK(run_once(insert_));
        change.row = database_.last_row();
      } else {
        update_.bind(1, static_cast<int64_t>(change.count)).bind(2, now).bind(3, revision);
        update_.bind(4, change.row);
        BULKHEAD_CHECK(run_once(update_));
      }
    }
    set_clock_.bind(1, revision);
    BULKHEAD_CHECK(run_once(set_clock_));
    see_run_.bind(1, now).bind(2, run_);
    return run_once(see_run_);
  }

  static Status run_once(Query& query) {
    const Result<bool> row = query.step();
    if (!row.ok()) return row.error();
    query.reset();
    return {};
  }

  // Locked in this order: database_mutex_, mutex_. record() takes only the second, which is never
  // held over a disk access.
  std::mutex database_mutex_;
  Database database_;
  Query begin_, commit_, rollback_, get_clock_, set_clock_, insert_, update_, see_run_, end_run_;
  int64_t run_ = 0;
  int64_t seen_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Tally tally_;
  bool idle_ = false;
  bool closing_ = false;
  std::thread writer_;
};

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& file, const Run& run) {
  BULKHEAD_TRY(auto journal, SqliteJournal::open(file));
  return SqliteJournal::start(std::move(journal), run);
}

struct JournalOpening::Work {
  std::optional<Result<std::unique_ptr<SqliteJournal>>> opened;
  std::thread thread;
};

JournalOpening::JournalOpening(std::string file) : work_(std::make_unique<Work>()) {
  work_->thread = without_signals([work = work_.get(), &file] {
    return std::thread(
        [work, file = std::move(file)] { work->opened = SqliteJournal::open(file); });
  });
}

JournalOpening::~JournalOpening() {
  if (work_->thread.joinable()) work_->thread.join();
}

Result<std::unique_ptr<Journal>> JournalOpening::start(const Run& run) {
  work_->thread.join();
  BULKHEAD_TRY(auto journal, std::move(*work_->opened));
  return SqliteJournal::start(std::move(journal), run);
}

}  // namespace bulkhead
