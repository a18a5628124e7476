#include "sandbox/unlisted_sockets.h"

#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/fd.h"
#include "sandbox/kernel.h"

namespace bulkhead {
namespace {

// What one holds that nobody reads from, at the most (net.ipv4.tcp_rmem), and a bit.
constexpr uint64_t kMostHeld = uint64_t{33} << 20U;

// A copy of a process's descriptor, if it is the socket that was meant.
Fd copy_of(pid_t thread, int number, uint64_t inode) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, thread, kPidfdThread)));
  Fd copy(process ? static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)) : -1);
  struct stat about {};
  if (!copy || ::fstat(copy.get(), &about) != 0 || !S_ISSOCK(about.st_mode) ||
      about.st_ino != inode)
    return {};
  return copy;
}

bool is_inet(const Fd& socket) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  (void)::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family == AF_INET || family == AF_INET6;
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

UnlistedSockets::UnlistedSockets() : least_(of_the_machine(0)) {}

uint64_t UnlistedSockets::bytes(int diag, const InetSockets& listed, const ProcReader& proc,
                                const std::map<uint64_t, ProcReader::Holder>& held) {
  std::map<uint64_t, ProcReader::Holder> unlisted = held;
  for (const uint64_t inode : listed.inodes) unlisted.erase(inode);
  if (!unlisted.empty())
    for (const uint64_t inode : other_sockets(diag)) unlisted.erase(inode);
  // Twice: one that was accepted while the kernel told of all looks like it for a moment.
  uint64_t told = 0, silent = std::min(listed.unlisted_waiting, waiting_);
  waiting_ = listed.unlisted_waiting;
  for (const auto& [inode, holder] : unlisted) {
    const Fd copy = copy_of(proc.outside(holder.thread), holder.number, inode);
    std::array<uint32_t, SK_MEMINFO_VARS> memory{};
    socklen_t size = sizeof memory;
    if (!copy || ::getsockopt(copy.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0)
      ++silent;
    else if (is_inet(copy))
      told += inet_bytes(memory);
  }
  const uint64_t machine = of_the_machine(listed.bytes + told);
  least_ = std::min(least_, machine);
  const uint64_t made = machine == UINT64_MAX ? machine : machine - least_;
  return told + std::min(silent * kMostHeld, made);
}

}  // namespace bulkhead
