#include "policy/port_rule.h"

#include <fmt/core.h>

#include <charconv>

#include "base/path.h"

namespace bulkhead {

std::string PortRange::text() const {
  if (first == 1 && last == 65535) return "*";
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::optional<uint16_t> parse_port(std::string_view text) noexcept {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  // "010" is ten to one reader and eight to another.
  return whole && port != 0 && text.front() != '0' ? std::optional(port) : std::nullopt;
}

Result<PortRange> parse_port_range(std::string_view text) {
  if (text == "*") return PortRange();
  const size_t dash = text.find('-');
  const auto first = parse_port(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_port(text.substr(dash + 1));
  if (first && last && *first <= *last) return PortRange{*first, *last};
  Diagnostic finding;
  finding.message = fmt::format("\"{}\" is no port", escape_for_display(text.substr(0, 40)));
  finding.fix = "write a number from 1 to 65535, a range such as 8000-8010, or *";
  return Error{finding.message, 0, {finding}};
}

}  // namespace bulkhead
