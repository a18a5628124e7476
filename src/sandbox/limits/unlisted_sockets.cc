#include "sandbox/limits/unlisted_sockets.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "sandbox/kernel/kernel.h"

namespace bulkhead {
namespace {

// More are not asked at once, and so are silent.
constexpr size_t kMostAsked = 4096;
constexpr int kLooks = 8;
constexpr useconds_t kBetweenLooks = 5000;

// What one holds that nobody reads from, at the most, and a bit. Never less than Linux's own value,
// since that of the compartment's network may not be ours.
uint64_t most_held() {
  constexpr uint64_t kUsual = uint64_t{32} << 20U, kBit = uint64_t{1} << 20U;
  const Result<std::string> text = read_file("/proc/sys/net/ipv4/tcp_rmem", 256);
  uint64_t most = 0;
  if (text.ok()) {
    const size_t last = text->find_last_of(" \t");
    const size_t begin = last == std::string::npos ? 0 : last + 1;
    (void)std::from_chars(text->data() + begin, text->data() + text->size(), most);
  }
  return std::max(most, kUsual) + kBit;
}

// Each processor takes as much from the machine's number in advance as the kernel lets it.
uint64_t reserve() {
  constexpr uint64_t kEach = uint64_t{1} << 20U;
  return kEach * static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

uint64_t parse_inet_pages(std::string_view sockstat) {
  uint64_t pages = 0;
  for (const std::string_view protocol : {"\nTCP: ", "\nUDP: "}) {
    size_t at = sockstat.find(protocol);
    const size_t end = at == std::string_view::npos ? at : sockstat.find('\n', at + 1);
    at = at == std::string_view::npos ? at : sockstat.find(" mem ", at);
    if (at == std::string_view::npos || end < at) return UINT64_MAX;
    const std::string_view rest = sockstat.substr(at + 5);
    int64_t its = 0;  // the kernel's count may be a bit below nothing
    if (std::from_chars(rest.data(), rest.data() + rest.size(), its).ec != std::errc())
      return UINT64_MAX;
    pages += static_cast<uint64_t>(std::max<int64_t>(its, 0));
  }
  return pages;
}

uint64_t UnlistedSockets::of_the_machine(uint64_t told) {
  static const auto kPage = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const Result<std::string> text = read_file("/proc/net/sockstat", 4096);
  const uint64_t pages = text.ok() ? parse_inet_pages(*text) : UINT64_MAX;
  return pages == UINT64_MAX ? pages : pages * kPage - std::min(pages * kPage, told);
}

UnlistedSockets::UnlistedSockets() : most_held_(most_held()), least_(of_the_machine(0)) {}

uint64_t UnlistedSockets::sum() const {
  return told_ + std::min((silent_twice_ + waiting_twice_) * most_held_, made_);
}

uint64_t UnlistedSockets::bytes(int diag, const InetSockets& listed, const ProcReader& proc,
                                const std::map<uint64_t, ProcReader::Holder>& held) {
  std::map<uint64_t, ProcReader::Holder> unlisted = held;
  for (const uint64_t inode : listed.inodes) unlisted.erase(inode);
  if (!unlisted.empty())
    for (const uint64_t inode : other_sockets(diag)) unlisted.erase(inode);
  std::vector<pid_t> holders;
  for (const auto& [inode, holder] : unlisted) holders.push_back(holder.thread);
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  const std::map<pid_t, pid_t> outside = proc.outside(holders);
  std::vector<SocketAsker::Question> questions;
  for (const auto& [inode, holder] : unlisted) {
    if (questions.size() == kMostAsked) break;
    const auto its = outside.find(holder.thread);
    if (its != outside.end()) questions.push_back({its->second, holder.number, inode});
  }
  std::sort(questions.begin(), questions.end(),
            [](const auto& one, const auto& other) { return one.thread < other.thread; });
  const auto answers = asker_.ask(std::move(questions));
  told_ = 0;
  uint64_t buffers = listed.buffers;
  for (const auto& [inode, answer] : answers) {
    unlisted.erase(inode);
    if (!answer.is_inet) continue;
    told_ += inet_bytes(answer.memory);
    buffers += inet_buffers(answer.memory);
  }
  // Twice: what was closed since it was listed, or accepted while the kernel told of all, looks
  // like it for a moment.
  silent_twice_ = 0;
  std::set<uint64_t> silent;
  for (const auto& [inode, holder] : unlisted) {
    silent.insert(inode);
    if (silent_.contains(inode)) ++silent_twice_;
  }
  silent_ = std::move(silent);
  waiting_twice_ = std::min(listed.unlisted_waiting, waiting_);
  waiting_ = listed.unlisted_waiting;
  const uint64_t machine = of_the_machine(buffers);
  least_ = std::min(least_, machine);
  made_ = machine;
  if (machine != UINT64_MAX) made_ -= std::min(made_, least_ + reserve());
  return sum();
}

uint64_t UnlistedSockets::bytes_at_the_least(int diag) {
  for (int look = 0; look < kLooks && waiting_twice_ > 0 && made_ > 0; ++look) {
    ::usleep(kBetweenLooks);
    waiting_twice_ = std::min(waiting_twice_, inet_sockets(diag).unlisted_waiting);
  }
  return sum();
}

}  // namespace bulkhead
