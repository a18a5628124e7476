// Judge: who gives an access its final ruling. What enforces knows nobody else: the policy alone
// may rule (PolicyJudge), or somebody who asks a person and keeps a journal besides
// (trace/arbiter.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "policy/policy.h"

namespace bulkhead {

enum class Enforcement : uint8_t { kEnforce, kAuditOnly };

// Who stands still while a person is asked.
enum class Waits : uint8_t {
  kProgram,  // a child, or a thread beside the main one
  kMain,     // the main thread of the compartment's program, and with it all that it does
  kNobody,   // one request: everything else goes on
};

// Who tried, for the journal and the question. `program` is only asked for when needed.
struct Attempt {
  int32_t pid = 0;
  uint32_t execs =
      0;  // changes whenever pid executes another program, so that `program` is asked anew
  std::string_view detail;
  const std::function<std::string()>* program = nullptr;
  // What would happen, where kind and resource say that of many things: a person who says "once"
  // says it of this.
  std::string_view about = {};
  Waits waits = Waits::kProgram;
};

// Where to count an allowed access once more, so that whoever knows that it is the same one need
// not rule again. `known` false: it has to be ruled on each time.
struct Recount {
  bool known = false;
  std::atomic<uint64_t>* counter = nullptr;  // null: nobody counts. Outlives the judge's users
};

// Called from several threads at a time.
class Judge {
 public:
  enum class Ruling : uint8_t {
    kDeny,
    kAllow,
    kWouldAsk,  // only without `may_block`: call again from a thread that may wait for an answer
  };

  virtual ~Judge() = default;

  // `recount`, where given, is filled in for an access that the policy itself allows.
  virtual Ruling path(Kind kind, std::string_view canonical, const Attempt& attempt, bool may_block,
                      Recount* recount) = 0;
  Ruling path(Kind kind, std::string_view canonical, const Attempt& attempt, bool may_block) {
    return path(kind, canonical, attempt, may_block, nullptr);
  }
  virtual Ruling connect(const IpAddress& address, uint16_t port,
                         std::span<const std::string_view> names, const Attempt& attempt,
                         bool may_block) = 0;
  virtual Ruling lookup(std::string_view name, const Attempt& attempt, bool may_block) = 0;
  // Whether other programs of the machine may reach the server at that port inside.
  virtual Ruling listen(uint16_t port, const Attempt& attempt, bool may_block) = 0;

  // A refusal that no policy rule made (ptrace, a raw socket, a foreign /proc): noted under `kind`
  // and `resource` with `rule` as the reason. In an audit run it is refused all the same.
  virtual void note_refusal(Kind kind, std::string_view resource, std::string_view rule,
                            const Attempt& attempt) = 0;

  // What path(), or for kLookup lookup(), would rule, by the policy and the answers so far;
  // kWouldAsk where a question would be put. Notes nothing: for what has not been attempted.
  virtual Ruling would_rule(Kind kind, std::string_view resource) = 0;
  bool would_allow(Kind kind, std::string_view resource) {
    return would_rule(kind, resource) == Ruling::kAllow;
  }

  virtual const Policy& policy() const = 0;
  virtual Enforcement enforcement() const = 0;
  // After this, who waits for an answer gets none, and nobody is asked again (the compartment is
  // ending).
  virtual void stop_asking() = 0;
  // True while somebody is held for a question: what is to end the program ends it first.
  virtual bool asking() const noexcept = 0;
};

// What a rule grants by a name alone (Rule::own_file) must not be something else of that name: true
// where `decision` allows by such a rule and `canonical` is no regular file of this user's with
// that name alone. A link is judged by what it leads to, and what is not there is nothing to be
// refused.
bool is_unfit(const Policy& policy, Decision decision, const std::string& canonical);
inline constexpr std::string_view kNotOwnFile =
    "found by its name, and no regular file of this user's with that name alone";

// What is noted of a program that has a home folder of its own, where yours has something that it
// may not reach: nothing was refused, it found its own. True of these reasons and no others.
inline constexpr std::string_view kUnseen = "yours was not shown: it has a home folder of its own";
inline constexpr std::string_view kUnseenBlocked =
    "yours is blocked, and was not shown: it has a home folder of its own";
inline constexpr std::string_view kPlanted = "yours is as it was: it has a home folder of its own";
constexpr bool is_own_home(std::string_view reason) {
  return reason == kUnseen || reason == kUnseenBlocked || reason == kPlanted;
}

// "manifest: ${workspace}/src (bulkhead.json:4)", "built-in blocklist: ${home}/.ssh [ssh-keys]":
// its group tells where it stands, and nobody edits that file.
std::string reason_of(const Rule& rule);

// "192.0.2.7:443", "[2001:db8::7]:443".
std::string endpoint(const IpAddress& address, uint16_t port);

}  // namespace bulkhead
