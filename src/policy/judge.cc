#include "policy/judge.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace bulkhead {

bool is_unfit(const Policy& policy, Decision decision, const std::string& canonical) {
  if (decision.verdict != Verdict::kAllow || !policy.rule(decision.rule).own_file) return false;
  struct stat status {};
  if (::lstat(canonical.c_str(), &status) != 0) return errno != ENOENT;
  return !S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || status.st_nlink != 1;
}

std::string reason_of(const Rule& rule) {
  std::string text(label(rule.source));
  if (rule.source == Rule::Source::kOtherwise)
    return fmt::format("{}: {}", text, label(rule.verdict));
  text += fmt::format(": {}", rule.text);
  if (!rule.group.empty()) text += fmt::format(" [{}]", rule.group);
  if (!rule.where.file.empty() && rule.source != Rule::Source::kBuiltin) {
    text += fmt::format(" ({}", rule.where.file);
    if (rule.where.line > 0) text += fmt::format(":{}", rule.where.line);
    text += ')';
  }
  return text;
}

std::string endpoint(const IpAddress& address, uint16_t port) {
  return address.is_v4() ? fmt::format("{}:{}", address.to_string(), port)
                         : fmt::format("[{}]:{}", address.to_string(), port);
}

}  // namespace bulkhead
