// NameCache: which names an address was resolved from, so that a connection, which only carries the
// address, can be decided by name. Filled by the stub resolver with answers to granted lookups, and
// from /etc/hosts as the supervisor sees it. Thread-safe, bounded.
//
// What this does not stop: two names that share an address (a CDN) are the same to a connection.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/address.h"

namespace bulkhead {

class NameCache {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMaxAddresses = 4096;
  static constexpr size_t kMaxNamesPerAddress = 16;
  static constexpr size_t kMaxHosts = 8192;  // names of /etc/hosts; later ones are asked upstream
  static constexpr std::chrono::seconds kShortest{30};
  static constexpr std::chrono::seconds kLongest{3600};
  // A client may connect some time after the answer's end of life: it tried other addresses first,
  // or keeps answers a little longer than they live.
  static constexpr std::chrono::seconds kGrace{600};

  explicit NameCache(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  // Adds the entries of a hosts(5) text. "localhost" and what ends with it are left out: they are
  // loopback for the resolver, whatever the file says.
  void load_hosts(std::string_view text);
  Status load_hosts_file(const std::string& path);

  // `name` in normalize_host()'s form. Lives for the ttl, clamped to [kShortest, kLongest], and
  // kGrace; a second answer prolongs the first.
  void add(const IpAddress& address, std::string_view name, std::chrono::seconds ttl);

  // Sorted; those of the hosts file included.
  std::vector<std::string> names(const IpAddress& address) const;
  // What the hosts file gives for a name, in its order.
  std::vector<IpAddress> hosts(std::string_view name) const;
  size_t addresses() const;  // kept from answers, dead ones included

 private:
  using Names = std::map<std::string, Clock::time_point, std::less<>>;  // name → end of life
  void make_room();

  std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  std::map<IpAddress, Names> learned_;
  std::map<IpAddress, std::vector<std::string>> host_names_;
  std::map<std::string, std::vector<IpAddress>, std::less<>> host_addresses_;
};

}  // namespace bulkhead
