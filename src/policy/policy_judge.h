// PolicyJudge: rules by the policy alone, in memory alone. What the policy leaves to a person is
// refused, unless who derives from it answers.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "policy/judge.h"

namespace bulkhead {

class PolicyJudge : public Judge {
 public:
  explicit PolicyJudge(std::shared_ptr<const Policy> policy,
                       Enforcement enforcement = Enforcement::kEnforce);

  using Judge::path;
  Ruling path(Kind kind, std::string_view canonical, const Attempt& attempt, bool may_block,
              Recount* recount) final;
  Ruling connect(const IpAddress& address, uint16_t port, std::span<const std::string_view> names,
                 const Attempt& attempt, bool may_block) final;
  Ruling lookup(std::string_view name, const Attempt& attempt, bool may_block) final;
  Ruling listen(uint16_t port, const Attempt& attempt, bool may_block) override;
  void note_refusal(Kind kind, std::string_view resource, std::string_view rule,
                    const Attempt& attempt) final;
  Ruling would_rule(Kind kind, std::string_view resource) final;
  const Policy& policy() const final { return *policy_; }
  Enforcement enforcement() const final { return enforcement_; }
  void stop_asking() override { stopped_.store(true); }
  bool asking() const noexcept override { return false; }

 protected:
  // Whether answer() is asked at all.
  virtual bool answers() const noexcept { return false; }
  // What the policy leaves open, as often as it is attempted; may take its time.
  virtual bool answer(Kind kind, const std::string& resource, const Attempt& attempt);
  // Each refusal, and in an audit run what would have been one; at once.
  virtual void refused(Kind kind, std::string_view resource, std::string_view reason,
                       const Attempt& attempt);

 private:
  Ruling settle(Kind kind, std::string_view resource, Decision decision, const Attempt& attempt,
                bool may_block, Recount* recount = nullptr);
  bool is_unfit_here(Decision decision, std::string_view canonical) const;

  const std::shared_ptr<const Policy> policy_;
  const Enforcement enforcement_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace bulkhead
