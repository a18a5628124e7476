#include "policy/frozen.h"

#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace bulkhead {
namespace {

class Freezer {
 public:
  static constexpr bool kWrites = true;

  void number(uint64_t& value) {
    uint64_t rest = value;
    for (; rest >= 0x80; rest >>= 7U) out_ += static_cast<char>(rest | 0x80);
    out_ += static_cast<char>(rest);
  }
  void text(std::string& value) {
    uint64_t size = value.size();
    number(size);
    out_ += value;
  }
  std::string out() && { return std::move(out_); }
  const std::string& file() const { return file_; }

 private:
  std::string out_, file_;
};

class Thawer {
 public:
  static constexpr bool kWrites = false;

  Thawer(std::string_view frozen, const std::string& file) : rest_(frozen), file_(file) {}

  void number(uint64_t& value) {
    value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= (byte & uint64_t{0x7F}) << shift;
      if (byte < 0x80) return;
    }
  }
  void text(std::string& value) {
    uint64_t size = 0;
    number(size);
    value.assign(rest_.data(), size);
    rest_.remove_prefix(size);
  }
  const std::string& file() const { return file_; }

 private:
  std::string_view rest_;
  const std::string& file_;
};

// Each type's members in one list, by which it is frozen and thawed.

template <typename Way, typename T>
requires std::is_integral_v<T> || std::is_enum_v<T>
void pass(Way& way, T& value) {
  auto number = static_cast<uint64_t>(value);
  way.number(number);
  value = static_cast<T>(number);
}

template <typename Way>
void pass(Way& way, double& value) {
  auto number = std::bit_cast<uint64_t>(value);
  way.number(number);
  value = std::bit_cast<double>(number);
}

template <typename Way>
void pass(Way& way, std::chrono::milliseconds& value) {
  auto number = static_cast<uint64_t>(value.count());
  way.number(number);
  value = std::chrono::milliseconds(number);
}

template <typename Way>
void pass(Way& way, std::string& value) {
  way.text(value);
}

template <typename Way, typename... Members>
void pass_all(Way& way, Members&... members) {
  (pass(way, members), ...);
}

template <typename Way, typename T>
void pass(Way& way, std::optional<T>& value) {
  bool there = value.has_value();
  pass(way, there);
  if (!there) return;
  if (!value) value.emplace();
  pass(way, *value);
}

template <typename Way, typename T>
void pass(Way& way, std::vector<T>& values) {
  uint64_t size = values.size();
  way.number(size);
  values.resize(size);
  for (T& value : values) pass(way, value);
}

template <typename Way>
void pass(Way& way, Entry& entry) {
  entry.where.file = way.file();
  pass_all(way, entry.text, entry.where.line, entry.where.column, entry.where.field);
}

template <typename Way>
void pass(Way& way, Limits& limits) {
  pass_all(way, limits.memory, limits.cpu, limits.cpu_time, limits.wall_time, limits.processes,
           limits.files, limits.written, limits.home);
}

template <typename Way>
void pass(Way& way, Manifest& manifest) {
  pass_all(way, manifest.version, manifest.extension, manifest.files.read, manifest.files.write,
           manifest.files.block, manifest.files.hide, manifest.files.private_home, manifest.network,
           manifest.listen, manifest.run, manifest.environment, manifest.vscode, manifest.limits,
           manifest.otherwise, manifest.digest);
}

template <typename Way>
void pass(Way& way, BlockGroup& group) {
  pass_all(way, group.name, group.reason, group.block, group.block_write, group.network,
           group.listen, group.run, group.environment, group.vscode);
}

template <typename Way>
void pass(Way& way, Blocklist& blocklist) {
  pass_all(way, blocklist.source, blocklist.groups, blocklist.limits, blocklist.otherwise,
           blocklist.telemetry);
}

template <typename Way>
void pass(Way& way, PathSet& set) {
  pass_all(way, set.about, set.read, set.run, set.names);
}

template <typename Way>
void pass(Way& way, Sets& sets) {
  std::vector<std::pair<std::string, PathSet>> all;
  if constexpr (Way::kWrites) all.assign(sets.begin(), sets.end());
  uint64_t size = all.size();
  way.number(size);
  all.resize(size);
  for (auto& [name, set] : all) pass_all(way, name, set);
  if constexpr (!Way::kWrites)
    for (auto& each : all) sets.insert(std::move(each));
}

template <typename T>
std::string frozen(T value) {
  Freezer freezer;
  pass(freezer, value);
  return std::move(freezer).out();
}

template <typename T>
void thawed(std::string_view text, const std::string& file, T& value) {
  value = T{};
  Thawer thawer(text, file);
  pass(thawer, value);
}

}  // namespace

std::string freeze(const Manifest& manifest) { return frozen(manifest); }
std::string freeze(const Blocklist& blocklist) { return frozen(blocklist); }
std::string freeze(const Sets& sets) { return frozen(sets); }

void thaw(std::string_view frozen, const std::string& file, Manifest& manifest) {
  thawed(frozen, file, manifest);
}
void thaw(std::string_view frozen, const std::string& file, Blocklist& blocklist) {
  thawed(frozen, file, blocklist);
}
void thaw(std::string_view frozen, const std::string& file, Sets& sets) {
  thawed(frozen, file, sets);
}

}  // namespace bulkhead
