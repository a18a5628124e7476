#include "sandbox/network/listeners.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string>

#include "base/fd.h"

namespace bulkhead {

namespace {

constexpr size_t kMaxTable = size_t{4} << 20U;  // 25,000 listeners

constexpr size_t kRowSize = 150;  // TMPSZ in net/ipv4/tcp_ipv4.c; those of IPv6 are longer

struct Row {
  std::string_view address;  // hexadecimal, in words of the machine's byte order
  unsigned port = 0;
  unsigned state = 0;
};
constexpr unsigned kListen = 0x0A;

bool parse_hex(std::string_view text, unsigned* value) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *value, 16);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

// "  0: 0100007F:1F90 00000000:0000 0A …"
std::optional<Row> parse_row(std::string_view line) {
  std::string_view words[4];
  for (std::string_view& word : words) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    line.remove_prefix(begin);
    word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
  }
  const size_t colon = words[1].find(':');
  Row row;
  if (colon == std::string_view::npos || !parse_hex(words[1].substr(colon + 1), &row.port) ||
      !parse_hex(words[3], &row.state))
    return std::nullopt;
  row.address = words[1].substr(0, colon);
  return row;
}

bool reaches_loopback(std::string_view address) {
  constexpr std::string_view kMapped = "0000000000000000FFFF0000";
  constexpr std::string_view kOne = "00000000000000000000000001000000";
  if (address.find_first_not_of('0') == std::string_view::npos) return true;
  if (address.size() == 32 && address.starts_with(kMapped)) address.remove_prefix(kMapped.size());
  // Little endian: the last two digits are the first byte of 127.0.0.0/8.
  if (address.size() == 8) return address.ends_with("7F");
  return address == kOne;
}

}  // namespace

bool has_listener(std::string_view text, uint16_t port, bool* others) noexcept {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const auto row = parse_row(text.substr(0, end));
    if (row && row->state == kListen && row->port == port && reaches_loopback(row->address))
      return true;
    if (others != nullptr && row && row->state != kListen) *others = true;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return false;
}

bool listens_inside(pid_t process, uint16_t port) {
  for (const char* table : {"tcp", "tcp6"}) {
    const Fd file(
        ::open(fmt::format("/proc/{}/net/{}", process, table).c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    // The kernel tells of listeners first, and looks for no more rows than fill what is asked for.
    // By single rows it does not walk the table of the machine's connections, which takes a
    // millisecond, nor a client's thousands that just ended.
    bool others = false;
    char buffer[kRowSize];
    for (size_t size = 0; file && !others && size < kMaxTable;) {
      const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      size += static_cast<size_t>(n);
      text.append(buffer, static_cast<size_t>(n));
      const size_t rows = text.rfind('\n') + 1;  // 0 for none
      if (has_listener(std::string_view(text).substr(0, rows), port, &others)) return true;
      text.erase(0, rows);
    }
  }
  return false;
}

}  // namespace bulkhead
