#include "sandbox/network/name_cache.h"

#include <algorithm>

#include "base/fd.h"

namespace bulkhead {

namespace {

constexpr size_t kMaxHostsFile = size_t{8} << 20U;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view next_word(std::string_view* line) {
  size_t begin = 0;
  while (begin < line->size() && is_blank((*line)[begin])) ++begin;
  size_t end = begin;
  while (end < line->size() && !is_blank((*line)[end])) ++end;
  const std::string_view word = line->substr(begin, end - begin);
  line->remove_prefix(end);
  return word;
}

bool is_localhost(std::string_view name) {
  constexpr std::string_view kName = "localhost";
  return name == kName || name.ends_with(".localhost") || name.starts_with("localhost.") ||
         name.starts_with("localhost4") || name.starts_with("localhost6") ||
         name == "ip6-localhost";
}

template <typename T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

void NameCache::load_hosts(std::string_view text) {
  const std::lock_guard lock(mutex_);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const auto address = IpAddress::parse(next_word(&line));
    if (!address) continue;
    for (auto word = next_word(&line); !word.empty(); word = next_word(&line)) {
      const auto name = normalize_host(word);
      if (!name || is_localhost(*name)) continue;
      const auto known = host_addresses_.find(*name);
      if (known == host_addresses_.end() && host_addresses_.size() >= kMaxHosts) continue;
      auto& addresses = known == host_addresses_.end() ? host_addresses_[*name] : known->second;
      auto& names = host_names_[*address];
      // A list that blocks advertisements gives one address thousands of names.
      if (addresses.size() < kMaxNamesPerAddress && !contains(addresses, *address))
        addresses.push_back(*address);
      if (names.size() < kMaxNamesPerAddress && !contains(names, *name)) names.push_back(*name);
    }
  }
}

Status NameCache::load_hosts_file(const std::string& path) {
  BULKHEAD_TRY(const std::string text, read_file(path, kMaxHostsFile));
  load_hosts(text);
  return {};
}

void NameCache::add(const IpAddress& address, std::string_view name, std::chrono::seconds ttl) {
  const auto end = now_() + std::clamp(ttl, kShortest, kLongest) + kGrace;
  const std::lock_guard lock(mutex_);
  auto known = learned_.find(address);
  if (known == learned_.end()) {
    make_room();
    known = learned_.try_emplace(address).first;
  }
  Names& names = known->second;
  if (const auto same = names.find(name); same != names.end()) {
    same->second = std::max(same->second, end);
    return;
  }
  if (names.size() >= kMaxNamesPerAddress) {
    const auto by_end = [](const auto& a, const auto& b) { return a.second < b.second; };
    names.erase(std::min_element(names.begin(), names.end(), by_end));
  }
  names.emplace(std::string(name), end);
}

// Dead ones go first; where all are alive, the one that dies soonest.
void NameCache::make_room() {
  if (learned_.size() < kMaxAddresses) return;
  const auto now = now_();
  const auto last = [](const Names& names) {
    Clock::time_point latest{};
    for (const auto& [name, end] : names) latest = std::max(latest, end);
    return latest;
  };
  std::erase_if(learned_, [&](const auto& entry) { return last(entry.second) <= now; });
  if (learned_.size() < kMaxAddresses) return;
  learned_.erase(std::min_element(
      learned_.begin(), learned_.end(),
      [&](const auto& a, const auto& b) { return last(a.second) < last(b.second); }));
}

std::vector<std::string> NameCache::names(const IpAddress& address) const {
  const auto now = now_();
  std::vector<std::string> result;
  const std::lock_guard lock(mutex_);
  if (const auto known = learned_.find(address); known != learned_.end()) {
    for (const auto& [name, end] : known->second)
      if (end > now) result.push_back(name);
  }
  if (const auto known = host_names_.find(address); known != host_names_.end())
    result.insert(result.end(), known->second.begin(), known->second.end());
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<IpAddress> NameCache::hosts(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto known = host_addresses_.find(name);
  return known == host_addresses_.end() ? std::vector<IpAddress>() : known->second;
}

size_t NameCache::addresses() const {
  const std::lock_guard lock(mutex_);
  return learned_.size();
}

}  // namespace bulkhead
