// Arbiter: the one place where an access gets its final ruling: the policy, then answers given in
// this run, then asking; and every ruling goes to the journal. Thread-safe.
//
//   access ─► Policy ─ allow/deny ────────────────► ruling ─► Journal
//                └─ ask ─► answers of this run ───►
//                              └─ none ─► Asker (a person) ─► remembered, if told to
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/judge.h"
#include "trace/journal.h"

namespace bulkhead {

// kNo, kNobody (it was asked, and not answered), kNotAsked and kThisRun hold for this resource
// until the run ends (a program that retries does not ask again), kOnce for those who were waiting,
// kAlways and kNever are remembered as well. kLater: no for now, and the question stays open.
enum class Answer : uint8_t { kNo, kOnce, kThisRun, kAlways, kNever, kNobody, kNotAsked, kLater };

struct Question {
  Kind kind = Kind::kRead;
  std::string resource;  // canonical; not yet escaped for display
  std::string program;   // executable of the process that asks
  int32_t pid = 0;
  std::string subject;  // extension id or the run's program
  std::string detail;
  std::string about = {};  // Attempt::about
  Waits waits = Waits::kProgram;
  // How long who asks is held, where the asker keeps questions open.
  std::chrono::milliseconds hold{0};
};

// Puts a question to a person. Blocks until there is an answer; kNobody where none comes, kNotAsked
// where the question is not put at all. Called by one thread at a time (the arbiter queues), and
// never for a question that is already open.
//
// One that keeps questions open (it has a patience) is called by several threads at a time. It
// answers kLater after `hold`, the question stays before the person, and what they answer then is
// given to on_late's function, once, from any thread, until cancel().
class Asker {
 public:
  virtual ~Asker() = default;
  virtual Answer ask(const Question& question) = 0;
  // How long each who waits is held at most; nullopt: until the person has answered, or the asker
  // ends it.
  virtual std::optional<std::chrono::milliseconds> patience(Waits waits) const noexcept {
    static_cast<void>(waits);
    return std::nullopt;
  }
  virtual void on_late(std::function<void(const Question&, Answer)> answered) {
    static_cast<void>(answered);
  }
  // Makes an open ask() return kNobody soon, and every later one at once. Any thread; called by
  // Arbiter::stop_asking, so that a compartment's end does not wait for a person. No late answer
  // comes afterwards.
  virtual void cancel() noexcept {}
  // True while somebody is held for a question: what is to end the program ends it first.
  virtual bool asking() const noexcept { return false; }
};

class Arbiter final : public Judge {
 public:
  // asker may be null: what would be asked is denied. journal may be null: nothing is recorded.
  // remember is called for kAlways and kNever; where it fails, the answer holds for this run, and
  // the failure is journalled and given to on_warning.
  Arbiter(std::shared_ptr<const Policy> policy, Journal* journal, Asker* asker,
          Enforcement enforcement, std::function<Status(const Extra&)> remember);
  ~Arbiter() override;
  // Sentences for the user; called from any thread. Set before the first decision.
  void on_warning(std::function<void(const std::string&)> warn);

  using Judge::path;
  Ruling path(Kind kind, std::string_view canonical, const Attempt& attempt, bool may_block,
              Recount* recount) override;
  Ruling connect(const IpAddress& address, uint16_t port, std::span<const std::string_view> names,
                 const Attempt& attempt, bool may_block) override;
  Ruling lookup(std::string_view name, const Attempt& attempt, bool may_block) override;
  Ruling listen(uint16_t port, const Attempt& attempt, bool may_block) override;
  Ruling vscode(std::string_view permission, const Attempt& attempt, bool may_block);
  void note_refusal(Kind kind, std::string_view resource, std::string_view rule,
                    const Attempt& attempt) override;
  Ruling would_rule(Kind kind, std::string_view resource) override;

  // Whether a permission needs no asking: the policy grants it, or nothing is enforced.
  bool grants(std::string_view permission) const;

  // An answer that a person gives without being asked: it holds for this run like one to a question
  // of this kind and resource, and takes the place of an earlier one.
  void answer(Kind kind, std::string_view resource, Answer answer);

  // Whether this was refused for now, and is still before a person; and whether anything is.
  bool still_asked(Kind kind, std::string_view resource) const;
  bool any_still_asked() const;
  // Called whenever a person has answered what was refused for now, or anything unasked: from any
  // thread, which it must not hold up. After on_settled(nullptr) has returned it is called no more.
  void on_settled(std::function<void()> settled);

  const Policy& policy() const override { return *policy_; }
  Enforcement enforcement() const override { return enforcement_; }
  // After this, every open and future question is answered kNobody (the compartment is ending).
  void stop_asking() override;
  // Asker::asking() of its asker.
  bool asking() const noexcept override;
  // Different questions of this run that were put to nobody.
  size_t unasked() const;

 private:
  struct State;
  struct Subject;  // kind and resource of one access, in the forms that its steps need
  bool is_unfit_here(Decision decision, std::string_view canonical) const;
  Ruling settle(const Subject& subject, Decision decision, const Attempt& attempt, bool may_block,
                Recount* recount = nullptr);

  std::shared_ptr<const Policy> policy_;
  Enforcement enforcement_;
  std::unique_ptr<State> state_;
};

}  // namespace bulkhead
