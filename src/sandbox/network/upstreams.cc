#include "sandbox/network/upstreams.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/path.h"
#include "policy/address.h"

namespace bulkhead {

namespace {

constexpr uint16_t kDnsPort = 53;

std::optional<uint16_t> parse_port(std::string_view text) {
  uint16_t port = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || port == 0)
    return std::nullopt;
  return port;
}

std::optional<Upstream> make_upstream(std::string_view host, uint16_t port) {
  // A link-local server stands with its interface: fe80::1%eth0.
  const size_t percent = host.find('%');
  const auto address = IpAddress::parse(host.substr(0, percent));
  if (!address) return std::nullopt;
  Upstream upstream;
  if (address->is_v4()) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, address->bytes().data(), sizeof in.sin_addr);
    upstream.size = sizeof in;
    std::memcpy(&upstream.address, &in, sizeof in);
    return upstream;
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  std::memcpy(&in.sin6_addr, address->bytes().data(), sizeof in.sin6_addr);
  if (percent != std::string_view::npos) {
    in.sin6_scope_id = ::if_nametoindex(std::string(host.substr(percent + 1)).c_str());
    if (in.sin6_scope_id == 0) return std::nullopt;
  }
  upstream.size = sizeof in;
  std::memcpy(&upstream.address, &in, sizeof in);
  return upstream;
}

}  // namespace

Result<Upstream> parse_upstream(std::string_view text) {
  std::string_view host = text;
  std::optional<uint16_t> port = kDnsPort;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    host = close == std::string_view::npos ? std::string_view() : text.substr(1, close - 1);
    const std::string_view rest =
        close == std::string_view::npos ? std::string_view() : text.substr(close + 1);
    if (!rest.empty()) port = rest[0] == ':' ? parse_port(rest.substr(1)) : std::nullopt;
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    host = text.substr(0, text.find(':'));
    port = parse_port(text.substr(host.size() + 1));
  }
  if (port) {
    if (const auto upstream = make_upstream(host, *port)) return *upstream;
  }
  return Error{fmt::format("cannot use \"{}\" as a name server: write ADDRESS or ADDRESS:PORT, "
                           "with an IPv6 address in brackets before a port",
                           escape_for_display(text)),
               EINVAL};
}

std::vector<Upstream> parse_resolv_conf(std::string_view text) {
  constexpr std::string_view kWord = "nameserver";
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<Upstream> result;
  while (!text.empty() && result.size() < kMaxUpstreams) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(kWord)) continue;
    line.remove_prefix(kWord.size());
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == 0 || begin == std::string_view::npos) continue;
    line = line.substr(begin);
    line = line.substr(0, line.find_first_of(kBlanks));
    if (const auto upstream = make_upstream(line, kDnsPort)) result.push_back(*upstream);
  }
  if (result.empty()) result.push_back(*make_upstream("127.0.0.1", kDnsPort));
  return result;
}

}  // namespace bulkhead
