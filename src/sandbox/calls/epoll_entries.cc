#include "sandbox/calls/epoll_entries.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/close_range.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <functional>
#include <string>
#include <system_error>
#include <thread>

#include "sandbox/calls/target_socket.h"
#include "sandbox/kernel/process_stat.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {

namespace {

// A connection waits for this look; programs have one or two epoll descriptors, and made them
// early.
constexpr size_t kMostLookedAt = 4096;
constexpr size_t kMostEpolls = 16;
constexpr size_t kLongest = 1 << 20;  // some ten thousand entries

bool is_epoll(const std::string& link) {
  constexpr std::string_view kEpoll = "anon_inode:[eventpoll]";
  char text[kEpoll.size() + 1];
  const ssize_t n = ::readlink(link.c_str(), text, sizeof text);
  return n >= 0 && std::string_view(text, static_cast<size_t>(n)) == kEpoll;
}

// The number behind `name` in a line of blanks, names and numbers.
std::optional<uint64_t> field(std::string_view line, std::string_view name, int base) {
  size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  at = line.find_first_not_of(' ', at + name.size());
  if (at == std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(line.data() + at, line.data() + line.size(), value, base);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// In a thread whose table of descriptors is its own: there the numbers are free to have the
// caller's meaning.
void move_here(const std::vector<EpollEntry>& entries, int old, int fresh, int number) {
  // Of ours it takes none along, not for a moment.
  if (::syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) != 0) return;
  const auto supervisor = [] { return static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)); };
  // Whatever is made after this has another number.
  Fd place(supervisor());
  if (place.get() != number) place.reset(::dup3(place.get(), number, O_CLOEXEC));
  if (!place) return;  // ours may be fewer than the caller's
  const Fd table(supervisor());
  const auto take = [&table](int ours) {
    return Fd(static_cast<int>(::syscall(SYS_pidfd_getfd, table.get(), ours, 0)));
  };
  const auto change = [&](int socket, int operation) {
    const Fd file = take(socket);
    if (!file || ::dup3(file.get(), number, O_CLOEXEC) < 0) return;
    for (const EpollEntry& entry : entries) {
      epoll_event event = entry.event;
      const Fd epoll = take(entry.epoll.get());
      if (epoll) (void)::epoll_ctl(epoll.get(), operation, number, &event);
    }
  };
  // Somebody else may have the old one still, who would keep its entry alive: beyond the caller's
  // reach, and always ready.
  change(old, EPOLL_CTL_DEL);
  change(fresh, EPOLL_CTL_ADD);
}

}  // namespace

std::optional<epoll_event> find_epoll_entry(std::string_view fdinfo, int number, uint64_t inode) {
  while (!fdinfo.empty()) {
    const std::string_view line = fdinfo.substr(0, fdinfo.find('\n'));
    fdinfo.remove_prefix(std::min(line.size() + 1, fdinfo.size()));
    if (field(line, "tfd:", 10) != static_cast<uint64_t>(number) ||
        field(line, "ino:", 16) != inode)
      continue;
    const auto events = field(line, "events:", 16);
    const auto data = field(line, "data:", 16);
    if (!events || !data) return std::nullopt;
    epoll_event found{};
    found.events = static_cast<uint32_t>(*events);
    found.data.u64 = *data;
    return found;
  }
  return std::nullopt;
}

std::vector<EpollEntry> epoll_entries(const Processes& processes, pid_t tid,
                                      const TargetSocket& socket) {
  std::vector<EpollEntry> found;
  struct stat about {};
  if (::fstat(socket.fd.get(), &about) != 0) return found;
  std::vector<pid_t> numbers = numbers_in(fmt::format("/proc/{}/fd", tid));
  numbers.resize(std::min(numbers.size(), kMostLookedAt));
  for (const int number : numbers) {
    if (!is_epoll(fmt::format("/proc/{}/fd/{}", tid, number))) continue;
    const auto text = read_file(fmt::format("/proc/{}/fdinfo/{}", tid, number), kLongest);
    const auto event =
        text.ok() ? find_epoll_entry(*text, socket.number, about.st_ino) : std::nullopt;
    if (!event) continue;
    auto epoll = processes.borrow(tid, number);
    if (epoll.ok()) found.push_back({std::move(*epoll), *event});
    if (found.size() == kMostEpolls) break;
  }
  return found;
}

void move_epoll_entries(const std::vector<EpollEntry>& entries, const TargetSocket& old,
                        int fresh) {
  if (entries.empty()) return;
  try {
    std::thread(move_here, std::cref(entries), old.fd.get(), fresh, old.number).join();
  } catch (const std::system_error&) {  // no thread is to be had: they stay where they are
  }
}

}  // namespace bulkhead
