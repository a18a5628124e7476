#include "base/result.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <tuple>

namespace bulkhead {

std::string to_string(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) {
    text += diagnostic.file;
    if (diagnostic.line > 0) text += fmt::format(":{}", diagnostic.line);
    if (diagnostic.line > 0 && diagnostic.column > 0) text += fmt::format(":{}", diagnostic.column);
    text += ": ";
  }
  switch (diagnostic.severity) {
    case Diagnostic::Severity::kError:
      text += "error: ";
      break;
    case Diagnostic::Severity::kWarning:
      text += "warning: ";
      break;
    case Diagnostic::Severity::kNote:
      text += "note: ";
      break;
  }
  if (!diagnostic.field.empty()) text += diagnostic.field + ": ";
  text += diagnostic.message;
  if (!diagnostic.fix.empty()) text += " (" + diagnostic.fix + ")";
  return text;
}

void sort_by_place(std::vector<Diagnostic>& diagnostics) {
  const auto place = [](const Diagnostic& one) {
    return std::make_tuple(one.file.empty(), std::string_view(one.file), one.line == 0, one.line,
                           one.column, one.severity);
  };
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
}

std::string to_string(const Error& error) {
  std::string text = error.message;
  for (const Diagnostic& diagnostic : error.diagnostics) {
    if (!text.empty()) text += '\n';
    text += to_string(diagnostic);
  }
  return text;
}

Error errno_error(std::string what) { return errno_error(std::move(what), errno); }

Error errno_error(std::string what, int errno_value) {
  return Error{fmt::format("cannot {}: {}", what, std::strerror(errno_value)), errno_value};
}

}  // namespace bulkhead
