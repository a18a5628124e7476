// KeyedHash: SipHash under a key of this process, for tables whose keys an attacker
// chooses. Without the key two resources cannot be made to collide, which would hide one
// behind the other's count.
#pragma once

#include <sodium.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace bulkhead {

class KeyedHash {
 public:
  KeyedHash() {
    crypto_shorthash_keygen(key_.data());
    randombytes_buf(factors_.data(), sizeof factors_);
    for (uint64_t& factor : factors_) factor |= 1U;
  }

  uint64_t of(std::string_view text) const noexcept {
    std::array<unsigned char, crypto_shorthash_BYTES> out{};
    crypto_shorthash(out.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     key_.data());
    uint64_t value = 0;
    for (const unsigned char byte : out) value = (value << 8U) | byte;
    return value;
  }

  // One hash of up to four values: multilinear, with secret factors.
  uint64_t mix(uint64_t a, uint64_t b, uint64_t c = 0, uint64_t d = 0) const noexcept {
    uint64_t sum = a * factors_[0] + b * factors_[1] + c * factors_[2] + d * factors_[3];
    sum ^= sum >> 32U;  // the low bits, which choose a slot, depend on all bits
    sum *= factors_[4];
    return sum ^ (sum >> 29U);
  }

 private:
  std::array<unsigned char, crypto_shorthash_KEYBYTES> key_{};
  std::array<uint64_t, 5> factors_{};
};

}  // namespace bulkhead
