#include "vscode/listening.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "base/fd.h"

namespace bulkhead {
namespace {

// The kernel writes those that listen first, 150 bytes each.
constexpr size_t kMostRead = size_t{64} << 10U;
// A new network hands these out, ip(7): ip_local_port_range.
constexpr uint16_t kFirstHandedOut = 32768, kLastHandedOut = 60999;
constexpr uint16_t kResolver = 53;  // the compartment's own, which names are looked up by

std::string_view take_word(std::string_view* line) {
  const size_t start = line->find_first_not_of(' ');
  if (start == std::string_view::npos) return {};
  line->remove_prefix(start);
  const std::string_view word = line->substr(0, line->find(' '));
  line->remove_prefix(word.size());
  return word;
}

std::string read_start(int folder, const std::string& name) {
  const Fd file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::string text(kMostRead, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

std::set<uint16_t> parse_listening(std::string_view text) {
  std::set<uint16_t> ports;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    take_word(&line);  // "  0:"
    const std::string_view own = take_word(&line);
    take_word(&line);  // the other end's
    if (take_word(&line) != "0A" || own.find(':') == std::string_view::npos) continue;
    const std::string_view port = own.substr(own.rfind(':') + 1);
    uint16_t number = 0;
    const char* const end = port.data() + port.size();
    const auto [stop, error] = std::from_chars(port.data(), end, number, 16);
    if (error == std::errc() && stop == end) ports.insert(number);
  }
  return ports;
}

std::set<uint16_t> chosen_ports(int proc, pid_t pid) {
  std::set<uint16_t> ports;
  for (const char* name : {"tcp", "tcp6"})
    ports.merge(parse_listening(read_start(proc, fmt::format("{}/net/{}", pid, name))));
  ports.erase(kResolver);
  ports.erase(ports.lower_bound(kFirstHandedOut), ports.upper_bound(kLastHandedOut));
  return ports;
}

}  // namespace bulkhead
