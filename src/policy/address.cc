#include "policy/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace bulkhead {
namespace {

struct Range {
  std::array<uint8_t, 16> bytes;
  unsigned bits;
};

// IANA's IPv4 Special-Purpose Address Registry (RFC 6890 and its successors), multicast and the
// reserved class E, and one address that is special in fact though not by registry.
constexpr std::array<Range, 18> kSpecialV4 = {{
    {{0}, 8},                  // this network: Linux connects 0.0.0.0 to itself
    {{10}, 8},                 // RFC 1918
    {{100, 64}, 10},           // carrier-grade NAT; a cloud's metadata service is in there
    {{127}, 8},                // loopback
    {{168, 63, 129, 16}, 32},  // the host agent of virtual machines at one large cloud
    {{169, 254}, 16},          // link-local; metadata services
    {{172, 16}, 12},           // RFC 1918
    {{192, 0, 0}, 24},         // IETF protocol assignments; a cloud's metadata service
    {{192, 0, 2}, 24},         // documentation
    {{192, 31, 196}, 24},      // AS112
    {{192, 52, 193}, 24},      // AMT
    {{192, 88, 99}, 24},       // 6to4 relays, deprecated
    {{192, 168}, 16},          // RFC 1918
    {{192, 175, 48}, 24},      // AS112
    {{198, 18}, 15},           // benchmarking
    {{198, 51, 100}, 24},      // documentation
    {{203, 0, 113}, 24},       // documentation
    {{224}, 3},                // multicast, reserved, broadcast
}};

// What is not public within 2000::/3, the only block of global unicast addresses; everything
// outside of it is special, save for NAT64 of public IPv4.
constexpr std::array<Range, 4> kSpecialV6 = {{
    {{0x20, 0x01, 0x0d, 0xb8}, 32},        // documentation
    {{0x26, 0x20, 0, 0x4f, 0x80, 0}, 48},  // AS112
    {{0x3f, 0xff, 0}, 20},                 // documentation, RFC 9637
    {{0x20, 0x01, 0, 0}, 23},              // IETF protocol assignments, less Teredo
}};
constexpr Range kGlobalUnicast = {{0x20}, 3};
constexpr Range kNat64 = {{0, 0x64, 0xff, 0x9b}, 96};
constexpr Range kTeredo = {{0x20, 0x01, 0, 0}, 32};
constexpr Range k6to4 = {{0x20, 0x02}, 16};

bool same_prefix(const std::array<uint8_t, 16>& a, const std::array<uint8_t, 16>& b,
                 unsigned bits) noexcept {
  const unsigned whole = bits / 8, rest = bits % 8;
  if (std::memcmp(a.data(), b.data(), whole) != 0) return false;
  if (rest == 0) return true;
  const auto mask = static_cast<uint8_t>(0xFFU << (8 - rest));
  return ((a[whole] ^ b[whole]) & mask) == 0;
}

bool special_v4(std::span<const uint8_t> four, unsigned bits = 32) noexcept {
  std::array<uint8_t, 16> bytes{};
  std::copy_n(four.begin(), 4, bytes.begin());
  return std::any_of(kSpecialV4.begin(), kSpecialV4.end(), [&](const Range& range) {
    return range.bits <= bits && same_prefix(bytes, range.bytes, range.bits);
  });
}

}  // namespace

IpAddress IpAddress::v4(const std::array<uint8_t, 4>& bytes) {
  IpAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  return address;
}

IpAddress IpAddress::v6(const std::array<uint8_t, 16>& bytes) {
  static constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin()))
    return v4({bytes[12], bytes[13], bytes[14], bytes[15]});
  IpAddress address;
  address.bytes_ = bytes;
  address.v4_ = false;
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  char buffer[INET6_ADDRSTRLEN + 1];
  if (text.empty() || text.size() >= sizeof buffer || text.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  // inet_pton(3), unlike inet_aton, takes no octal, hexadecimal or short forms and no zone.
  std::array<uint8_t, 4> four{};
  if (::inet_pton(AF_INET, buffer, four.data()) == 1) return v4(four);
  std::array<uint8_t, 16> sixteen{};
  if (::inet_pton(AF_INET6, buffer, sixteen.data()) == 1) return v6(sixteen);
  return std::nullopt;
}

bool IpAddress::is_loopback() const noexcept {
  if (v4_ && bytes_[0] == 127) return true;
  // 0.0.0.0, but nothing else of its network: Linux sends 0.1.2.3 to the gateway.
  return std::all_of(bytes_.begin(), bytes_.end() - 1, [](uint8_t byte) { return byte == 0; }) &&
         bytes_[15] <= 1;
}

bool IpAddress::is_special() const noexcept { return network_is_special(*this, v4_ ? 32 : 128); }

bool network_is_special(const IpAddress& network, unsigned prefix_bits) noexcept {
  const auto& bytes = network.bytes();
  const std::span<const uint8_t, 16> all(bytes);
  if (network.is_v4()) return special_v4(all.first(4), prefix_bits);

  const auto overlaps = [&](const Range& range) {
    return same_prefix(bytes, range.bytes, std::min(prefix_bits, range.bits));
  };
  const auto inside = [&](const Range& range) {
    return prefix_bits >= range.bits && same_prefix(bytes, range.bytes, range.bits);
  };
  // The well-known NAT64 prefix reaches the IPv4 address in its last 32 bits (RFC 6052).
  if (inside(kNat64)) return special_v4(all.subspan(12, 4), prefix_bits - 96);
  if (!overlaps(kGlobalUnicast)) return !overlaps(kNat64);
  if (!inside(kGlobalUnicast)) return false;
  if (inside(k6to4)) return special_v4(all.subspan(2, 4), std::min(prefix_bits - 16, 32U));
  if (inside(kTeredo)) {
    // Server in bytes 4–7, the client's address inverted in the last four (RFC 4380).
    if (special_v4(all.subspan(4, 4), std::min(prefix_bits - 32, 32U))) return true;
    if (prefix_bits != 128) return false;
    std::array<uint8_t, 4> client{};
    for (size_t i = 0; i < 4; ++i) client[i] = static_cast<uint8_t>(~bytes[12 + i]);
    return special_v4(client);
  }
  for (const Range& range : kSpecialV6)
    if (inside(range)) return true;
  // ISATAP: the IPv4 address stands in the interface identifier (RFC 5214).
  return prefix_bits == 128 && (bytes[8] == 0 || bytes[8] == 2) && bytes[9] == 0 &&
         bytes[10] == 0x5e && bytes[11] == 0xfe && special_v4(all.subspan(12, 4));
}

bool IpAddress::in_network(const IpAddress& network, unsigned prefix_bits) const noexcept {
  if (v4_ != network.v4_ || prefix_bits > (v4_ ? 32U : 128U)) return false;
  return same_prefix(bytes_, network.bytes_, prefix_bits);
}

std::string IpAddress::to_string() const {
  char buffer[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(v4_ ? AF_INET : AF_INET6, bytes_.data(), buffer, sizeof buffer);
  return buffer;
}

std::optional<std::string> normalize_host(std::string_view name) {
  if (!name.empty() && name.back() == '.') name.remove_suffix(1);
  if (name.empty() || name.size() > 253) return std::nullopt;
  std::string result;
  result.reserve(name.size());
  size_t label = 0;     // bytes in the current label
  bool numeric = true;  // the current label holds digits only
  char previous = '.';
  for (char c : name) {
    if (c == '.') {
      if (label == 0 || previous == '-') return std::nullopt;
      label = 0;
      numeric = true;
    } else {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      const bool digit = c >= '0' && c <= '9';
      if (!digit && !(c >= 'a' && c <= 'z') && c != '-' && c != '_') return std::nullopt;
      if (c == '-' && label == 0) return std::nullopt;
      if (++label > 63) return std::nullopt;
      numeric = numeric && digit;
    }
    result += c;
    previous = c;
  }
  if (label == 0 || previous == '-' || numeric) return std::nullopt;
  // "1.2.3.0x10": the other shape that inet_aton(3) takes for a number.
  const std::string_view last = std::string_view(result).substr(result.rfind('.') + 1);
  if (last.substr(0, 2) == "0x" &&
      last.substr(2).find_first_not_of("0123456789abcdef") == std::string_view::npos)
    return std::nullopt;
  return result;
}

}  // namespace bulkhead
