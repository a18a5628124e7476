#include "vscode/seal.h"

#include <fmt/core.h>
#include <sodium.h>

#include <algorithm>
#include <array>

namespace bulkhead {

std::string sealed(const std::string& key, const std::string& text) {
  if (key.empty()) return text;
  const std::string both = key + text;
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(both.data()), both.size());
  std::string line;
  for (const unsigned char byte : hash) line += fmt::format("{:02x}", byte);
  return line + text;
}

void say_sealed(const std::string& key, const std::string& text) {
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "{}\n", sealed(key, line));
}

}  // namespace bulkhead
