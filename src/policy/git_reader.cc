#include "policy/git_reader.h"

#include <fmt/core.h>

#include <cerrno>
#include <utility>

namespace bulkhead {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_name(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '-';
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

}  // namespace

GitReader::GitReader(std::string_view text) : rest_(text) {
  if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
}

Result<std::optional<GitSetting>> GitReader::next() {
  for (;;) {
    skip_blank();
    if (rest_.empty()) return std::optional<GitSetting>();
    if (rest_[0] == '[') {
      BULKHEAD_CHECK(read_header());
      continue;
    }
    if (section_.empty()) return wrong("a setting stands before every section");
    BULKHEAD_TRY(GitSetting setting, read_setting());
    return std::optional(std::move(setting));
  }
}

Error GitReader::wrong(std::string_view what) const {
  return Error{fmt::format("line {}: {}", line_, what), EINVAL};
}

char GitReader::take() {
  const char c = rest_[0];
  rest_.remove_prefix(1);
  line_ += c == '\n' ? 1 : 0;
  return c;
}
void GitReader::skip_line() {
  while (!rest_.empty() && rest_[0] != '\n') take();
}
void GitReader::skip_blank() {
  while (!rest_.empty()) {
    if (rest_[0] == '#' || rest_[0] == ';') {
      skip_line();
    } else if (rest_[0] == '\n' || is_space(rest_[0])) {
      take();
    } else {
      return;
    }
  }
}

Status GitReader::read_header() {
  take();
  section_.clear();
  subsection_.clear();
  has_subsection_ = false;
  while (!rest_.empty() && (is_name(rest_[0]) || rest_[0] == '.')) section_ += lower(take());
  if (section_.empty()) return wrong("a section has no name");
  if (!rest_.empty() && is_space(rest_[0])) {
    while (!rest_.empty() && is_space(rest_[0])) take();
    if (rest_.empty() || take() != '"') return wrong("a section's second name has no quotes");
    has_subsection_ = true;
    for (;;) {
      if (rest_.empty() || rest_[0] == '\n') return wrong("a section's name has no end");
      char c = take();
      if (c == '"') break;
      if (c == '\\') {
        if (rest_.empty() || rest_[0] == '\n') return wrong("a section's name has no end");
        c = take();
      }
      subsection_ += c;
    }
  }
  if (rest_.empty() || take() != ']') return wrong("a section's name has no end");
  return {};
}

Result<GitSetting> GitReader::read_setting() {
  GitSetting setting{section_, subsection_, {}, {}, has_subsection_, line_};
  if (const size_t dot = section_.find('.'); dot != std::string::npos) {  // [a.b], an old form
    setting.section = section_.substr(0, dot);
    setting.subsection = section_.substr(dot + 1);
    setting.has_subsection = true;
  }
  while (!rest_.empty() && is_name(rest_[0])) setting.name += lower(take());
  if (setting.name.empty() || !(setting.name[0] >= 'a' && setting.name[0] <= 'z'))
    return wrong("a setting has no name");
  while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) take();
  if (rest_.empty() || rest_[0] == '\n' || rest_.starts_with("\r\n")) {
    setting.value = "true";
    return setting;
  }
  if (take() != '=') return wrong("a setting's name is followed by something else than \"=\"");
  BULKHEAD_TRY(setting.value, read_value());
  return setting;
}

Result<std::string> GitReader::read_value() {
  std::string value;
  size_t kept = 0;  // without the blanks behind it
  bool quoted = false;
  while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) take();
  for (;;) {
    if (rest_.empty() || rest_[0] == '\n') {
      if (quoted) return wrong("a quote has no end");
      break;
    }
    const char c = take();
    if (!quoted && (c == '#' || c == ';')) {
      skip_line();
      break;
    }
    if (c == '"') {
      quoted = !quoted;
      kept = value.size();
      continue;
    }
    if (c == '\\') {
      if (rest_.starts_with("\r\n")) take();
      if (rest_.empty()) return wrong("a backslash stands at the end");
      const char escaped = take();
      if (escaped == '\n') continue;
      const size_t known = std::string_view("ntb\\\"").find(escaped);
      if (known == std::string_view::npos) return wrong("unknown escape");
      value += "\n\t\b\\\""[known];
      kept = value.size();
      continue;
    }
    value += c;
    if (quoted || !is_space(c)) kept = value.size();
  }
  value.resize(kept);
  return value;
}

}  // namespace bulkhead
