// IP addresses and host names as network rules see them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bulkhead {

// An IPv4 or IPv6 address in network byte order. An IPv4-mapped IPv6 address (::ffff:1.2.3.4)
// is stored as the IPv4 address that it reaches; so are NAT64 (64:ff9b::/96) and 6to4 judged.
class IpAddress {
 public:
  static IpAddress v4(const std::array<uint8_t, 4>& bytes);
  static IpAddress v6(const std::array<uint8_t, 16>& bytes);  // unmaps ::ffff:0:0/96
  // Strict: dotted quads of four decimal numbers without leading zeros, RFC 4291 text; no brackets,
  // no zone, none of inet_aton's shapes.
  static std::optional<IpAddress> parse(std::string_view text);

  bool is_v4() const noexcept { return v4_; }
  // 16 bytes; an IPv4 address occupies the first four.
  const std::array<uint8_t, 16>& bytes() const noexcept { return bytes_; }
  // 127.0.0.0/8, ::1, 0.0.0.0/8 and :: (Linux connects these to the machine itself).
  bool is_loopback() const noexcept;
  // Everything that is not a public unicast address: loopback, RFC 1918, link-local (cloud metadata
  // is there), carrier-grade NAT, unique local, multicast, broadcast, documentation, benchmarking,
  // and addresses that embed such an IPv4 address (mapped, NAT64, 6to4, Teredo).
  bool is_special() const noexcept;
  bool in_network(const IpAddress& network, unsigned prefix_bits) const noexcept;
  std::string to_string() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
  // clang-tidy 14 takes the 0 that a defaulted <=> is compared with for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  std::array<uint8_t, 16> bytes_{};
  bool v4_ = true;
};

// True where every address of the network is special. A network rule that also covers public
// addresses ("0.0.0.0/0") speaks of those only.
bool network_is_special(const IpAddress& network, unsigned prefix_bits) noexcept;

// Lower-case ASCII without trailing dot; nullopt where it is no host name of RFC 1123
// (labels of 1–63 letters, digits, "-" and "_", 253 in all; the last one not numeric, which would
// make it one of inet_aton's addresses). IDNs are given in their xn-- form.
std::optional<std::string> normalize_host(std::string_view name);

}  // namespace bulkhead
