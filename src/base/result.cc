#include "base/result.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

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
