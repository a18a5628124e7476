#include "policy/network_rule.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "base/path.h"

namespace bulkhead {
namespace {

Error complain(std::string message, std::string fix) {
  Diagnostic diagnostic;
  diagnostic.message = message;
  diagnostic.fix = std::move(fix);
  return Error{std::move(message), 0, {std::move(diagnostic)}};
}

std::optional<unsigned> parse_number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) return {};
  if (text.size() > 1 && text[0] == '0') return {};  // no octal look-alikes
  return value;
}

// The network's own address: everything behind the prefix zero.
IpAddress masked(const IpAddress& address, unsigned bits) {
  auto bytes = address.bytes();
  for (unsigned i = 0; i < 128; ++i)
    if (i >= bits) bytes[i / 8] &= static_cast<uint8_t>(~(0x80U >> (i % 8)));
  if (address.is_v4()) return IpAddress::v4({bytes[0], bytes[1], bytes[2], bytes[3]});
  return IpAddress::v6(bytes);
}

Status parse_ports(std::string_view text, NetworkPattern* pattern) {
  if (text == "*") return {};
  const size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash), 65535);
  const auto last =
      dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1), 65535);
  if (!first || !last || *first == 0 || *first > *last)
    return complain(fmt::format("\"{}\" is no port", escape_for_display(text.substr(0, 40))),
                    "write a number from 1 to 65535, a range such as 8000-8100, or *");
  pattern->first_port = static_cast<uint16_t>(*first);
  pattern->last_port = static_cast<uint16_t>(*last);
  return {};
}

// An address with an optional "/bits". False where `text` is no such thing at all.
Result<bool> parse_block(std::string_view text, NetworkPattern* pattern) {
  const size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return false;
  const unsigned most = address->is_v4() ? 32 : 128;
  pattern->host = NetworkPattern::Host::kNetwork;
  pattern->network = *address;
  pattern->prefix_bits = most;
  if (slash == std::string_view::npos) return true;
  // "::ffff:10.0.0.0/104" would change its meaning with its family.
  if (address->is_v4() && text.find(':') != std::string_view::npos)
    return complain("an IPv4-mapped network", "write it as an IPv4 network");
  const auto bits = parse_number(text.substr(slash + 1), most);
  if (!bits)
    return complain(
        fmt::format("\"{}\" is no prefix length", escape_for_display(text.substr(slash + 1, 40))),
        fmt::format("write a number from 0 to {}", most));
  const IpAddress network = masked(*address, *bits);
  if (network != *address)
    return complain("the address has bits set behind its prefix",
                    fmt::format("write {}/{}", network.to_string(), *bits));
  pattern->prefix_bits = *bits;
  return true;
}

}  // namespace

std::string NetworkPattern::text() const {
  std::string result;
  switch (host) {
    case Host::kName:
      result = name;
      break;
    case Host::kBelowName:
      result = "*." + name;
      break;
    case Host::kLoopback:
      result = "localhost";
      break;
    case Host::kAny:
      result = "*";
      break;
    case Host::kNetwork: {
      const unsigned most = network.is_v4() ? 32 : 128;
      result = network.to_string();
      if (prefix_bits != most) result += fmt::format("/{}", prefix_bits);
      if (!network.is_v4()) result = "[" + result + "]";
      break;
    }
  }
  if (all_ports()) return result + ":*";
  if (first_port == last_port) return result + fmt::format(":{}", first_port);
  return result + fmt::format(":{}-{}", first_port, last_port);
}

Result<NetworkPattern> parse_network(std::string_view text) {
  const std::string shown = escape_for_display(text.substr(0, 200));
  if (text.find("://") != std::string_view::npos)
    return complain("a URL is no network entry",
                    "write host:port, such as \"api.example.com:443\"; paths cannot be told apart");
  NetworkPattern pattern;
  std::string_view host;
  std::string_view ports;
  if (text.substr(0, 1) == "[") {
    const size_t close = text.find(']');
    if (close == std::string_view::npos)
      return complain("\"[\" without \"]\"", "write [address]:port");
    host = text.substr(1, close - 1);
    ports = text.substr(close + 1);
    if (ports.empty() || ports[0] != ':')
      return complain("the port is missing", fmt::format("write [{}]:443", host.substr(0, 60)));
    ports.remove_prefix(1);
    BULKHEAD_CHECK(parse_ports(ports, &pattern));
    BULKHEAD_TRY(const bool is_address, parse_block(host, &pattern));
    if (!is_address || host.find(':') == std::string_view::npos)
      return complain(
          fmt::format("\"{}\" is no IPv6 address", escape_for_display(host.substr(0, 60))),
          "brackets hold an IPv6 address or network");
    return pattern;
  }
  const size_t colon = text.rfind(':');
  if (text.find(':') != colon)
    return complain("an IPv6 address needs brackets", "write [address]:port");
  host = text.substr(0, colon);
  if (colon == std::string_view::npos || colon + 1 == text.size())
    return complain("the port is missing",
                    fmt::format("write \"{}:443\", or \"{}:*\" for every port",
                                escape_for_display(host.substr(0, 200)),
                                escape_for_display(host.substr(0, 200))));
  BULKHEAD_CHECK(parse_ports(text.substr(colon + 1), &pattern));
  if (host == "*") {
    pattern.host = NetworkPattern::Host::kAny;
    return pattern;
  }
  BULKHEAD_TRY(const bool is_address, parse_block(host, &pattern));
  if (is_address) return pattern;
  const bool is_below = host.substr(0, 2) == "*.";
  const auto name = normalize_host(is_below ? host.substr(2) : host);
  if (!name) {
    std::string fix = "write a host name, an IP address, *.name or *";
    if (host.find_first_of("0123456789") == 0) fix = "write the address as four decimal numbers";
    for (const char c : host)
      if (static_cast<unsigned char>(c) >= 0x80) fix = "write the name in its xn-- form";
    if (!is_below && host.find('*') != std::string_view::npos)
      fix = "\"*\" stands alone or for whole labels in front, as in *.example.com";
    return complain(fmt::format("\"{}\" is no host", escape_for_display(host.substr(0, 200))),
                    std::move(fix));
  }
  if (*name == "localhost" && !is_below) {
    pattern.host = NetworkPattern::Host::kLoopback;
    return pattern;
  }
  pattern.host = is_below ? NetworkPattern::Host::kBelowName : NetworkPattern::Host::kName;
  pattern.name = *name;
  return pattern;
}

}  // namespace bulkhead
