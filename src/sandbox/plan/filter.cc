#include "sandbox/plan/filter.h"

#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <cstddef>

namespace bulkhead {
namespace {

// Code is position-independent: every piece ends in RET, and all jumps stay inside their piece.
using Code = std::vector<sock_filter>;

sock_filter statement(unsigned code, uint32_t k) { return {static_cast<uint16_t>(code), 0, 0, k}; }
sock_filter jump(unsigned code, uint32_t k, size_t if_true, size_t if_false) {
  return {static_cast<uint16_t>(code), static_cast<uint8_t>(if_true),
          static_cast<uint8_t>(if_false), k};
}
void append(Code& code, const Code& more) { code.insert(code.end(), more.begin(), more.end()); }

sock_filter load_argument(uint8_t arg, bool high) {
  // seccomp_data.args is little endian here: the low half comes first.
  const size_t offset = offsetof(seccomp_data, args) + arg * sizeof(uint64_t) + (high ? 4 : 0);
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

CallAction resolve(CallAction action, const FilterOptions& options) {
  using Type = CallAction::Type;
  if (action.type == Type::kNotifyIfForksCount) {
    return {options.count_processes ? Type::kNotify : Type::kAllow, 0};
  }
  const auto refuse_if = [action](bool condition) -> CallAction {
    if (condition) return {Type::kErrno, action.errno_value};
    return {Type::kAllow, 0};
  };
  if (action.type == Type::kErrnoIfCpusFixed) return refuse_if(options.fixed_cpus);
  if (action.type == Type::kErrnoIfWritesCount) return refuse_if(options.count_written);
  if (action.type == Type::kErrnoIfMemoryCounts) return refuse_if(options.count_memory);
  return action;
}

uint32_t return_value(CallAction action) {
  switch (action.type) {
    case CallAction::Type::kAllow:
      return SECCOMP_RET_ALLOW;
    case CallAction::Type::kNotify:
      return SECCOMP_RET_USER_NOTIF;
    default:
      return SECCOMP_RET_ERRNO | (static_cast<uint32_t>(action.errno_value) & 0xffff);
  }
}

Code return_code(uint32_t value) { return {statement(BPF_RET | BPF_K, value)}; }

// One test: falls through behind itself where it holds, else jumps `beyond` instructions further
// than its own end.
Code test_code(const CallTest& test, size_t beyond) {
  Code code;
  code.push_back(load_argument(test.arg, false));
  if (test.values.empty()) {
    code.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2));
    code.push_back(load_argument(test.arg, true));
    code.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, 0, beyond, 0));
    return code;
  }
  if (test.mask != 0xffffffff) code.push_back(statement(BPF_ALU | BPF_AND | BPF_K, test.mask));
  for (size_t i = 0; i < test.values.size(); ++i) {
    const size_t left = test.values.size() - 1 - i;
    code.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, test.values[i], left, left == 0 ? beyond : 0));
  }
  return code;
}

Code case_code(const CallCase& one, const FilterOptions& options) {
  Code code = return_code(return_value(resolve(one.then, options)));
  for (size_t i = one.tests.size(); i-- > 0;) {
    Code test = test_code(one.tests[i], code.size());
    append(test, code);
    code = std::move(test);
  }
  return code;
}

Code rule_code(const CallRule& rule, const FilterOptions& options) {
  Code code;
  for (const CallCase& one : rule.cases) append(code, case_code(one, options));
  append(code, return_code(return_value(resolve(rule.otherwise, options))));
  return code;
}

// Numbers from `first` up to the next leaf's get this code.
struct Leaf {
  uint32_t first;
  Code code;
};

bool is_plain(const Code& code) { return code.size() == 1; }

std::vector<Leaf> make_leaves(const FilterOptions& options) {
  const Code unknown = return_code(SECCOMP_RET_ERRNO | ENOSYS);
  std::vector<Leaf> leaves;
  uint32_t next = 0;
  auto add = [&leaves](uint32_t first, Code code) {
    const bool same = !leaves.empty() && is_plain(code) && is_plain(leaves.back().code) &&
                      leaves.back().code[0].k == code[0].k;
    if (!same) leaves.push_back({first, std::move(code)});
  };
  for (const CallRule& rule : call_rules()) {
    const auto number = static_cast<uint32_t>(rule.number);
    if (number != next) add(next, unknown);
    add(number, rule_code(rule, options));
    next = number + 1;
  }
  add(next, unknown);
  return leaves;
}

// A balanced tree of comparisons; the accumulator holds the number.
Code search_code(std::span<const Leaf> leaves) {
  if (leaves.size() == 1) return leaves[0].code;
  const size_t middle = leaves.size() / 2;
  const Code low = search_code(leaves.first(middle));
  const Code high = search_code(leaves.subspan(middle));
  Code code;
  if (low.size() <= 255) {
    code.push_back(jump(BPF_JMP | BPF_JGE | BPF_K, leaves[middle].first, low.size(), 0));
  } else {  // conditional jumps reach 255 instructions, BPF_JA any number
    code.push_back(jump(BPF_JMP | BPF_JGE | BPF_K, leaves[middle].first, 0, 1));
    code.push_back(statement(BPF_JMP | BPF_JA, static_cast<uint32_t>(low.size())));
  }
  append(code, low);
  append(code, high);
  return code;
}

// x32 calls carry this bit and the same AUDIT_ARCH as x86-64. -1, which tracers use to skip a
// call, has it too: nobody traces in here.
constexpr uint32_t kX32Bit = 0x40000000;

}  // namespace

std::vector<sock_filter> make_filter(const FilterOptions& options) {
  Code code = {
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      jump(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      jump(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1),
      statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  append(code, search_code(make_leaves(options)));
  return code;
}

bool is_notified(const CallRule& rule, const FilterOptions& options) {
  const auto notified = [&options](CallAction action) {
    return resolve(action, options).type == CallAction::Type::kNotify;
  };
  if (notified(rule.otherwise)) return true;
  for (const CallCase& one : rule.cases) {
    if (notified(one.then)) return true;
  }
  return false;
}

}  // namespace bulkhead
