#include "trace/arbiter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/path.h"
#include "trace/kept_answer.h"
#include "trace/keyed_hash.h"
#include "trace/questions.h"

namespace bulkhead {
namespace {

// What was ruled, as far as it makes a different row of the journal.
enum class Course : uint8_t {
  kByPolicy,  // the rule decided
  kLetPass,   // an audit run: the policy would not have allowed it
  kNobody,    // to be asked, but there is no asker
  kTooMany,   // to be asked, but too many questions are open
  kAnswered,  // asked now, or answered earlier in this run
};

// Counters of events that were recorded lately, so that a repeated access costs one addition and no
// string. Direct-mapped: an entry that is pushed out only costs the journal's own coalescing.
class RecentEvents {
 public:
  std::atomic<uint64_t>* find(uint64_t key) {
    Shard& shard = shard_of(key);
    const std::lock_guard guard(shard.mutex);
    const Line& line = shard.lines[index_of(key)];
    if (line.key != key || line.counter == nullptr) return nullptr;
    // Added to under the lock only for brevity's sake: the counter itself outlives its entry.
    line.counter->fetch_add(1, std::memory_order_relaxed);
    return line.counter;
  }
  void insert(uint64_t key, std::atomic<uint64_t>* counter) {
    Shard& shard = shard_of(key);
    const std::lock_guard guard(shard.mutex);
    shard.lines[index_of(key)] = {key, counter};
  }

 private:
  static constexpr size_t kShards = 16, kLines = 256;
  struct Line {
    uint64_t key = 0;
    std::atomic<uint64_t>* counter = nullptr;
  };
  struct alignas(64) Shard {
    std::mutex mutex;
    std::array<Line, kLines> lines;
  };
  Shard& shard_of(uint64_t key) { return shards_[key % kShards]; }
  static size_t index_of(uint64_t key) { return (key / kShards) % kLines; }
  std::array<Shard, kShards> shards_;
};

// Names of the programs that were heard of lately: asking for one costs a look into /proc, and most
// programs open many files. A name can be that of the program before, for as long as an exec takes;
// what is refused or asked about is therefore not named from here.
class RecentPrograms {
 public:
  std::string of(const Attempt& attempt) {
    if (attempt.program == nullptr || !*attempt.program) return {};
    Line& line = lines_[static_cast<uint32_t>(attempt.pid) % lines_.size()];
    {
      const std::lock_guard guard(mutex_);
      if (line.pid == attempt.pid && line.execs == attempt.execs && !line.program.empty())
        return line.program;
    }
    std::string program = (*attempt.program)();
    const std::lock_guard guard(mutex_);
    line = {attempt.pid, attempt.execs, program};
    return program;
  }

 private:
  struct Line {
    int32_t pid = 0;
    uint32_t execs = 0;
    std::string program;
  };
  std::mutex mutex_;
  std::array<Line, 64> lines_;
};

std::string_view label(Answer answer) {
  constexpr std::array<std::string_view, 8> kLabels = {"no",    "once",   "this run",  "always",
                                                       "never", "nobody", "not asked", "later"};
  return kLabels[static_cast<size_t>(answer)];
}

bool is_yes(Answer answer) {
  return answer == Answer::kOnce || answer == Answer::kThisRun || answer == Answer::kAlways;
}

}  // namespace

struct Arbiter::Subject {
  Kind kind = Kind::kRead;
  std::string_view resource;
  std::span<const std::pair<Kind, std::string>> aliases = {};  // whose answers count as well
};

struct Arbiter::State {
  State(Journal* journal_, Asker* asker_, std::function<Status(const Extra&)> remember_)
      : journal(journal_), asker(asker_), remember(std::move(remember_)), questions(asker_) {
    if (asker == nullptr) return;
    keeps_questions = asker->patience(Waits::kNobody).has_value();
    asker->on_late([this](const Question& question, Answer answer) {
      questions.settle(question, answer);
      keep(question, answer);
      tell_settled();
    });
  }

  void tell_settled() {
    const std::lock_guard guard(settled_mutex);
    if (settled) settled();
  }

  // Records the access, at the cost of a lookup where the same one was recorded lately. The result
  // counts it once more; nullptr: it cannot be counted so.
  std::atomic<uint64_t>* note(const Subject& subject, const Attempt& attempt, Course course,
                              bool allowed, const Rule* rule, RuleId rule_id,
                              Answer answer = Answer::kNo) {
    if (journal == nullptr) return nullptr;
    const uint64_t what =
        static_cast<uint64_t>(subject.kind) | static_cast<uint64_t>(course) << 8U |
        static_cast<uint64_t>(allowed) << 16U | static_cast<uint64_t>(answer) << 24U |
        static_cast<uint64_t>(rule_id) << 32U;
    const uint64_t key = key_of(what, subject, attempt);
    if (std::atomic<uint64_t>* const counter = recent.find(key)) return counter;
    std::string why = rule == nullptr ? std::string() : reason_of(*rule);
    switch (course) {
      case Course::kByPolicy:
      case Course::kLetPass:
        break;
      case Course::kNobody:
        why += " (nobody can be asked)";
        break;
      case Course::kTooMany:
        why += " (too many questions)";
        break;
      case Course::kAnswered:
        why += answer == Answer::kLater      ? std::string(" (refused for now, still asked)")
               : answer == Answer::kNobody   ? std::string(" (nobody answered)")
               : answer == Answer::kNotAsked ? std::string(" (not asked)")
                                             : fmt::format(" (answered: {})", label(answer));
        break;
    }
    // A question that was put to nobody is no person's answer.
    const bool asked = course == Course::kAnswered && answer != Answer::kNotAsked;
    return record(key, subject, attempt, allowed, asked, course != Course::kLetPass,
                  std::move(why));
  }

  void note_text(const Subject& subject, const Attempt& attempt, std::string_view why) {
    if (journal == nullptr) return;
    const uint64_t key = key_of(hash.of(why), subject, attempt);
    if (recent.find(key) != nullptr) return;
    record(key, subject, attempt, false, false, true, std::string(why));
  }

  // The answer holds for this run all the same; the user and the journal are told why not longer.
  void report_not_kept(const Question& question, Answer answer, const std::string& cause) {
    if (warn)
      warn(fmt::format("the answer '{}' for {} holds for this run only: {}", label(answer),
                       escape_for_display(question.resource), cause));
    if (journal == nullptr) return;
    Event event;
    event.time = std::chrono::system_clock::now();
    event.kind = question.kind;
    event.resource = question.resource;
    event.verdict = is_yes(answer) ? Verdict::kAllow : Verdict::kDeny;
    event.asked = true;
    event.rule = "not remembered: " + cause;
    event.pid = question.pid;
    event.detail = question.detail;
    journal->record(std::move(event));
  }

  // Remembers an answer that is meant to last, once for each question.
  void keep(const Question& question, Answer answer) {
    if (answer != Answer::kAlways && answer != Answer::kNever) return;
    Status kept;
    if (auto entries = kept_answer(question.kind, question.resource, question.detail,
                                   is_yes(answer), keeps_questions);
        !entries.ok())
      kept = std::move(entries).error();
    else if (remember)
      for (const Extra& extra : *entries)
        if (kept.ok()) kept = remember(extra);
    if (!kept.ok()) report_not_kept(question, answer, kept.error().message);
  }

  // A host may be connected to once its name was looked up with a "once", for as long as that
  // takes.
  void lend(const std::string& name) {
    const std::lock_guard guard(lent_mutex);
    if (lent.size() >= kMostLent) lent.clear();
    lent[name] = std::chrono::steady_clock::now() + kLent;
  }
  bool is_lent(std::string_view name) {
    const std::lock_guard guard(lent_mutex);
    const auto found = lent.find(name);
    return found != lent.end() && std::chrono::steady_clock::now() < found->second;
  }

  uint64_t key_of(uint64_t what, const Subject& subject, const Attempt& attempt) const {
    const uint64_t who = static_cast<uint64_t>(static_cast<uint32_t>(attempt.pid)) |
                         static_cast<uint64_t>(attempt.execs) << 32U;
    // Of one permission's calls each is told (see Tally::row_key_of).
    const uint64_t call = subject.kind == Kind::kVscode ? hash.of(attempt.detail) : 0;
    return hash.mix(what, hash.of(subject.resource), who, call);
  }

  // A long text is told from others by its hash.
  std::string bounded(std::string_view about) const {
    constexpr size_t kShown = 4096;
    if (about.size() <= kShown) return std::string(about);
    return fmt::format("{}… {:016x}", about.substr(0, kShown), hash.of(about));
  }

  std::atomic<uint64_t>* record(uint64_t key, const Subject& subject, const Attempt& attempt,
                                bool allowed, bool asked, bool enforced, std::string why) {
    Event event;
    event.time = std::chrono::system_clock::now();
    event.kind = subject.kind;
    event.resource = subject.resource;
    event.verdict = allowed ? Verdict::kAllow : Verdict::kDeny;
    event.asked = asked;
    event.enforced = enforced;
    event.rule = std::move(why);
    event.pid = attempt.pid;
    if (allowed) {
      event.program = programs.of(attempt);
    } else if (attempt.program != nullptr && *attempt.program) {
      event.program = (*attempt.program)();
    }
    event.detail = attempt.detail;
    std::atomic<uint64_t>* const counter = journal->record_counted(std::move(event));
    recent.insert(key, counter);
    return counter;
  }

  Journal* journal;
  Asker* asker;
  std::function<Status(const Extra&)> remember;
  std::function<void(const std::string&)> warn;
  Questions questions;
  bool keeps_questions = false;  // and so a host is asked about once, when it is looked up
  static constexpr size_t kMostLent = 64;
  static constexpr std::chrono::seconds kLent{20};
  std::mutex lent_mutex;
  std::map<std::string, std::chrono::steady_clock::time_point, std::less<>> lent;
  std::mutex settled_mutex;
  std::function<void()> settled;
  KeyedHash hash;
  RecentEvents recent;
  RecentPrograms programs;
};

Arbiter::Arbiter(std::shared_ptr<const Policy> policy, Journal* journal, Asker* asker,
                 Enforcement enforcement, std::function<Status(const Extra&)> remember)
    : policy_(std::move(policy)),
      enforcement_(enforcement),
      state_(std::make_unique<State>(journal, asker, std::move(remember))) {}

Arbiter::~Arbiter() = default;

void Arbiter::on_warning(std::function<void(const std::string&)> warn) {
  state_->warn = std::move(warn);
}

Arbiter::Ruling Arbiter::settle(const Subject& subject, Decision decision, const Attempt& attempt,
                                bool may_block, Recount* recount) {
  State& state = *state_;
  const Rule& rule = policy_->rule(decision.rule);
  const auto rule_out = [&](Course course, bool allowed, Answer answer = Answer::kNo) {
    std::atomic<uint64_t>* const counter =
        state.note(subject, attempt, course, allowed, &rule, decision.rule, answer);
    if (recount != nullptr && allowed && course == Course::kByPolicy)
      *recount = {counter != nullptr || state.journal == nullptr, counter};
    return allowed || course == Course::kLetPass ? Ruling::kAllow : Ruling::kDeny;
  };
  if (decision.verdict == Verdict::kAllow) return rule_out(Course::kByPolicy, true);
  if (enforcement_ == Enforcement::kAuditOnly) return rule_out(Course::kLetPass, false);
  if (decision.verdict == Verdict::kDeny) return rule_out(Course::kByPolicy, false);
  if (state.asker == nullptr) return rule_out(Course::kNobody, false);

  const std::string resource(subject.resource);
  std::optional<Questions::Result> known = state.questions.known(subject.kind, resource);
  // Several names of one address: a no to any of them is a no, else a yes to any of them a yes.
  for (const auto& [kind, alias] : subject.aliases) {
    std::optional<Questions::Result> other = state.questions.known(kind, alias);
    if (kind == Kind::kLookup && state.is_lent(alias)) other = Questions::Result{Answer::kOnce};
    if (!other || other->too_many) continue;
    if (known && !known->too_many && other->answer == Answer::kLater) continue;
    if (!known || known->too_many || !is_yes(other->answer)) known = other;
  }
  Questions::Result result;
  if (known) {
    result = *known;
  } else if (!may_block) {
    return Ruling::kWouldAsk;
  } else {
    Question question;
    question.kind = subject.kind;
    question.resource = resource;
    if (attempt.program != nullptr && *attempt.program) question.program = (*attempt.program)();
    question.pid = attempt.pid;
    question.subject = policy_->subject().empty() ? question.program : policy_->subject();
    question.detail = state.bounded(attempt.detail);
    question.about = state.bounded(attempt.about);
    question.waits = attempt.waits;
    result = state.questions.ask(question);
    if (result.first) state.keep(question, result.answer);
    if (result.answer == Answer::kOnce && subject.kind == Kind::kLookup) state.lend(resource);
  }
  if (result.too_many) {
    state.questions.turn_away(subject.kind, resource);
    return rule_out(Course::kTooMany, false);
  }
  return rule_out(Course::kAnswered, is_yes(result.answer), result.answer);
}

bool Arbiter::is_unfit_here(Decision decision, std::string_view canonical) const {
  return enforcement_ == Enforcement::kEnforce &&
         is_unfit(*policy_, decision, std::string(canonical));
}

Arbiter::Ruling Arbiter::path(Kind kind, std::string_view canonical, const Attempt& attempt,
                              bool may_block, Recount* recount) {
  const Decision decision = policy_->decide_path(kind, canonical);
  if (is_unfit_here(decision, canonical)) {
    note_refusal(kind, canonical, kNotOwnFile, attempt);
    return Ruling::kDeny;
  }
  return settle({.kind = kind, .resource = canonical}, decision, attempt, may_block, recount);
}

Arbiter::Ruling Arbiter::connect(const IpAddress& address, uint16_t port,
                                 std::span<const std::string_view> names, const Attempt& attempt,
                                 bool may_block) {
  const Decision decision = policy_->decide_connect(address, port, names);
  Attempt with_other = attempt;
  // Names grant public addresses only, so only there they are what a person is asked about.
  if (names.empty() || address.is_special()) {
    const std::string detail = fmt::format("{} {}", attempt.detail, fmt::join(names, ", "));
    if (!names.empty()) with_other.detail = detail;
    return settle({.kind = Kind::kConnect, .resource = endpoint(address, port)}, decision,
                  with_other, may_block);
  }
  std::vector<std::pair<Kind, std::string>> named;
  for (const std::string_view name : names)
    named.emplace_back(Kind::kConnect, fmt::format("{}:{}", name, port));
  const std::string resource = named.front().second;
  // Looking up a host and connecting to it is one question.
  if (state_->keeps_questions && std::count(kWebPorts.begin(), kWebPorts.end(), port) > 0)
    for (const std::string_view name : names) named.emplace_back(Kind::kLookup, name);
  const std::string detail = fmt::format("{} {}", attempt.detail, address.to_string());
  with_other.detail = detail;
  return settle(
      {.kind = Kind::kConnect, .resource = resource, .aliases = std::span(named).subspan(1)},
      decision, with_other, may_block);
}

Arbiter::Ruling Arbiter::lookup(std::string_view name, const Attempt& attempt, bool may_block) {
  return settle({.kind = Kind::kLookup, .resource = name}, policy_->decide_lookup(name), attempt,
                may_block);
}

Arbiter::Ruling Arbiter::listen(uint16_t port, const Attempt& attempt, bool may_block) {
  const std::string resource = fmt::to_string(port);
  return settle({.kind = Kind::kListen, .resource = resource}, policy_->decide_listen(port),
                attempt, may_block);
}

Arbiter::Ruling Arbiter::vscode(std::string_view permission, const Attempt& attempt,
                                bool may_block) {
  return settle({.kind = Kind::kVscode, .resource = permission}, policy_->decide_vscode(permission),
                attempt, may_block);
}

void Arbiter::note_refusal(Kind kind, std::string_view resource, std::string_view rule,
                           const Attempt& attempt) {
  state_->note_text({.kind = kind, .resource = resource}, attempt, rule);
}

Arbiter::Ruling Arbiter::would_rule(Kind kind, std::string_view resource) {
  const Decision decision = kind == Kind::kLookup ? policy_->decide_lookup(resource)
                                                  : policy_->decide_path(kind, resource);
  if (is_unfit_here(decision, resource)) return Ruling::kDeny;
  if (decision.verdict == Verdict::kAllow || enforcement_ == Enforcement::kAuditOnly)
    return Ruling::kAllow;
  if (decision.verdict == Verdict::kDeny) return Ruling::kDeny;
  if (const auto known = state_->questions.known(kind, std::string(resource)))
    return is_yes(known->answer) ? Ruling::kAllow : Ruling::kDeny;
  return state_->asker == nullptr ? Ruling::kDeny : Ruling::kWouldAsk;
}

bool Arbiter::grants(std::string_view permission) const {
  return enforcement_ == Enforcement::kAuditOnly ||
         policy_->decide_vscode(permission).verdict == Verdict::kAllow;
}

void Arbiter::answer(Kind kind, std::string_view resource, Answer answer) {
  state_->questions.set(kind, std::string(resource), answer);
  state_->tell_settled();
}

bool Arbiter::still_asked(Kind kind, std::string_view resource) const {
  const auto known = state_->questions.known(kind, std::string(resource));
  return state_->asker != nullptr && known && !known->too_many && known->answer == Answer::kLater;
}

bool Arbiter::any_still_asked() const { return state_->questions.any_late(); }

void Arbiter::on_settled(std::function<void()> settled) {
  const std::lock_guard guard(state_->settled_mutex);
  state_->settled = std::move(settled);
}

void Arbiter::stop_asking() { state_->questions.stop(); }

bool Arbiter::asking() const noexcept { return state_->questions.asking(); }

size_t Arbiter::unasked() const { return state_->questions.unasked(); }

}  // namespace bulkhead
