#include "policy/policy_judge.h"

#include <fmt/format.h>

#include <utility>

namespace bulkhead {

PolicyJudge::PolicyJudge(std::shared_ptr<const Policy> policy, Enforcement enforcement)
    : policy_(std::move(policy)), enforcement_(enforcement) {}

bool PolicyJudge::answer(Kind kind, const std::string& resource, const Attempt& attempt) {
  static_cast<void>(kind);
  static_cast<void>(resource);
  static_cast<void>(attempt);
  return false;
}

void PolicyJudge::refused(Kind kind, std::string_view resource, std::string_view reason,
                          const Attempt& attempt) {
  static_cast<void>(kind);
  static_cast<void>(resource);
  static_cast<void>(reason);
  static_cast<void>(attempt);
}

Judge::Ruling PolicyJudge::settle(Kind kind, std::string_view resource, Decision decision,
                                  const Attempt& attempt, bool may_block, Recount* recount) {
  if (decision.verdict == Verdict::kAllow) {
    if (recount != nullptr) *recount = {.known = true, .counter = nullptr};
    return Ruling::kAllow;
  }
  if (decision.verdict == Verdict::kAsk && enforcement_ == Enforcement::kEnforce && answers() &&
      !stopped_.load()) {
    if (!may_block) return Ruling::kWouldAsk;
    // Not one that came with the end: nobody is there for whom it would be carried out.
    if (answer(kind, std::string(resource), attempt) && !stopped_.load()) return Ruling::kAllow;
  }
  refused(kind, resource, reason_of(policy_->rule(decision.rule)), attempt);
  return enforcement_ == Enforcement::kAuditOnly ? Ruling::kAllow : Ruling::kDeny;
}

bool PolicyJudge::is_unfit_here(Decision decision, std::string_view canonical) const {
  return enforcement_ == Enforcement::kEnforce &&
         is_unfit(*policy_, decision, std::string(canonical));
}

Judge::Ruling PolicyJudge::path(Kind kind, std::string_view canonical, const Attempt& attempt,
                                bool may_block, Recount* recount) {
  const Decision decision = policy_->decide_path(kind, canonical);
  if (is_unfit_here(decision, canonical)) {
    refused(kind, canonical, kNotOwnFile, attempt);
    return Ruling::kDeny;
  }
  return settle(kind, canonical, decision, attempt, may_block, recount);
}

Judge::Ruling PolicyJudge::connect(const IpAddress& address, uint16_t port,
                                   std::span<const std::string_view> names, const Attempt& attempt,
                                   bool may_block) {
  // Names grant public addresses only, so only there they are what is asked about.
  const std::string resource = names.empty() || address.is_special()
                                   ? endpoint(address, port)
                                   : fmt::format("{}:{}", names.front(), port);
  return settle(Kind::kConnect, resource, policy_->decide_connect(address, port, names), attempt,
                may_block);
}

Judge::Ruling PolicyJudge::lookup(std::string_view name, const Attempt& attempt, bool may_block) {
  return settle(Kind::kLookup, name, policy_->decide_lookup(name), attempt, may_block);
}

Judge::Ruling PolicyJudge::listen(uint16_t port, const Attempt& attempt, bool may_block) {
  return settle(Kind::kListen, fmt::to_string(port), policy_->decide_listen(port), attempt,
                may_block);
}

void PolicyJudge::note_refusal(Kind kind, std::string_view resource, std::string_view rule,
                               const Attempt& attempt) {
  refused(kind, resource, rule, attempt);
}

Judge::Ruling PolicyJudge::would_rule(Kind kind, std::string_view resource) {
  const Decision decision = kind == Kind::kLookup ? policy_->decide_lookup(resource)
                                                  : policy_->decide_path(kind, resource);
  if (is_unfit_here(decision, resource)) return Ruling::kDeny;
  if (decision.verdict == Verdict::kAllow || enforcement_ == Enforcement::kAuditOnly)
    return Ruling::kAllow;
  return decision.verdict == Verdict::kAsk && answers() && !stopped_.load() ? Ruling::kWouldAsk
                                                                            : Ruling::kDeny;
}

}  // namespace bulkhead
