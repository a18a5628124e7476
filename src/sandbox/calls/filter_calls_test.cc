// The filter's table and the table of handlers name the same calls: what is notified has a handler,
// and nothing else does.
#include <gtest/gtest.h>

#include <string>

#include "sandbox/calls/call.h"
#include "sandbox/plan/filter.h"

namespace bulkhead {
namespace {

TEST(FilterAndCalls, NotifiedCallsHaveAHandlerAndOthersHaveNone) {
  const FilterOptions all{
      .count_processes = true, .fixed_cpus = true, .count_written = true, .count_memory = true};
  for (const CallRule& rule : call_rules()) {
    const CallRow* row = find_call(rule.number);
    EXPECT_EQ(row != nullptr, is_notified(rule, all)) << rule.name;
    if (row != nullptr) {
      EXPECT_EQ(std::string(row->name), rule.name);
      EXPECT_NE(row->handler, nullptr) << rule.name;
    }
  }
}

TEST(FilterAndCalls, RefusalsAnswerTheErrnoOfTheTable) {
  for (const CallRule& rule : call_rules()) {
    const bool refused =
        rule.otherwise.type == CallAction::Type::kNotify && rule.otherwise.errno_value != 0;
    const CallRow* row = find_call(rule.number);
    if (!refused || row == nullptr) continue;
    EXPECT_EQ(row->refusal, rule.otherwise.errno_value) << rule.name;
    EXPECT_NE(row->reason, nullptr) << rule.name;
  }
}

TEST(FilterAndCalls, UnknownNumbersHaveNoHandler) {
  for (int number : {-1, 335, 423, 470, 100000}) EXPECT_EQ(find_call(number), nullptr) << number;
}

}  // namespace
}  // namespace bulkhead
