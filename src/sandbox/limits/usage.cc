#include "sandbox/limits/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "sandbox/kernel/foreign_thread.h"

namespace bulkhead {
namespace {

// The number at the start of `text`, and what follows it.
bool take_number(std::string_view& text, uint64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

bool parse_field(std::string_view text, std::string_view name, uint64_t* value) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    const size_t digit = line.find_first_not_of(" \t");
    if (digit == std::string_view::npos) return false;
    line.remove_prefix(digit);
    if (!take_number(line, value)) return false;
    if (line == " kB") *value *= 1024;
    return true;
  }
  return false;
}

uint64_t parse_system_v(std::string_view text, SystemV list, uint64_t threads) {
  constexpr size_t kObject = 512;    // of the kernel's own, about, as the next two
  constexpr size_t kSemaphore = 64;  // a cache line
  constexpr size_t kMessage = 64;    // a header
  constexpr size_t kUndo = 96;       // of a thread's for a set, and a number for each semaphore
  constexpr size_t kLongest = 16;    // columns
  uint64_t bytes = 0;
  text.remove_prefix(std::min(text.find('\n'), text.size()));  // names of the columns
  while (!text.empty()) {
    text.remove_prefix(1);
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    std::array<uint64_t, kLongest> columns{};
    size_t count = 0;
    for (; count < kLongest; ++count) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      // Keys may be negative; nothing that is counted is.
      if (line.starts_with('-')) line.remove_prefix(1);
      if (!take_number(line, &columns[count])) break;
    }
    if (count < 5) continue;
    bytes += kObject;
    switch (list) {
      case SystemV::kSegments:  // resident and swapped out
        bytes += columns[14] + columns[15];
        break;
      case SystemV::kSemaphores:
        bytes += columns[3] * kSemaphore;
        bytes += threads * (kUndo + columns[3] * sizeof(short));  // NOLINT: the kernel's type
        break;
      case SystemV::kMessages:  // their bytes and their number
        bytes += columns[3] + columns[4] * kMessage;
        break;
    }
  }
  return bytes;
}

uint64_t Inheritance::update(const std::map<uint64_t, Sample>& living) {
  uint64_t sum = 0, inherited = 0, gone = 0;
  for (const auto& [key, now] : living) {
    sum += now.own;
    // A process that is new here inherited from younger ones only: from none of last_.
    const auto then = last_.find(key);
    if (then != last_.end())
      inherited += now.inherited - std::min(now.inherited, then->second.inherited);
  }
  for (const auto& [key, then] : last_)
    if (!living.contains(key)) gone += then.own;
  // What the dead had and nobody inherited would be forgotten. What the living inherited may come
  // from processes that were never sampled: then less is added here than could be, never more.
  if (gone > inherited) lost_ += gone - inherited;
  last_ = living;
  total_ = std::max(total_, sum + lost_);
  return total_;
}

Result<std::vector<pid_t>> ProcReader::processes() const {
  auto pids = numbers_in(proc_.get(), ".");
  if (!pids) return errno_error("list the compartment's processes");
  std::sort(pids->begin(), pids->end());
  return std::move(*pids);
}

std::optional<pid_t> ProcReader::further_thread(pid_t pid) const {
  const auto threads = numbers_in(proc_.get(), fmt::format("{}/task", pid).c_str());
  if (!threads) return std::nullopt;
  const auto other =
      std::find_if(threads->begin(), threads->end(), [pid](pid_t thread) { return thread != pid; });
  return other == threads->end() ? std::nullopt : std::optional(*other);
}

bool ProcReader::read_of_thread(pid_t pid, const char* name, std::string_view* text) const {
  const auto thread = further_thread(pid);
  return thread && read(pid, fmt::format("task/{}/{}", *thread, name).c_str(), text);
}

Fd ProcReader::open(pid_t pid, const char* name) const {
  std::array<char, 64> path{};
  fmt::format_to_n(path.data(), path.size() - 1, "{}/{}", pid, name);
  return Fd(::openat(proc_.get(), path.data(), O_RDONLY | O_CLOEXEC));
}

bool ProcReader::read(pid_t pid, const char* name, std::string_view* text) const {
  const Fd fd = open(pid, name);
  if (!fd) return false;
  const ssize_t size = ::read(fd.get(), buffer_.get(), kBuffer);
  if (size <= 0) return false;
  *text = std::string_view(buffer_.get(), static_cast<size_t>(size));
  return true;
}

std::optional<ProcessStat> ProcReader::stat(pid_t pid) const {
  std::string_view text;
  return read(pid, "stat", &text) ? parse_stat(text) : std::nullopt;
}

bool ProcReader::resident(pid_t pid, Resident* memory) const {
  constexpr uint64_t kThread = uint64_t{24}
                               << 10U;  // its stack in the kernel, and what is told of it
  constexpr uint64_t kNumber = 8;       // for a descriptor, or where one could be
  *memory = {};
  std::string_view text;
  if (!read(pid, "status", &text)) return false;
  // A zombie has no such line, and no memory, unless further threads of it live.
  if (!parse_field(text, "VmRSS", &memory->pages) && read_of_thread(pid, "status", &text))
    (void)parse_field(text, "VmRSS", &memory->pages);
  (void)parse_field(text, "VmSwap", &memory->swapped);
  (void)parse_field(text, "VmPTE", &memory->kernel);
  (void)parse_field(text, "Threads", &memory->threads);
  (void)parse_field(text, "FDSize", &memory->numbers);
  memory->kernel += memory->threads * kThread + memory->numbers * kNumber + descriptor_bytes(pid);
  return true;
}

uint64_t ProcReader::descriptor_bytes(pid_t pid) const {
  constexpr uint64_t kFree = 1024, kEach = 1536;
  const uint64_t open = descriptors(pid);
  return (open - std::min(open, kFree)) * kEach;
}

uint64_t ProcReader::descriptors(pid_t pid) const {
  const auto count = [this](const std::string& name) -> uint64_t {
    struct stat about {};
    if (::fstatat(proc_.get(), name.c_str(), &about, 0) != 0) return 0;
    if (about.st_size > 0) return static_cast<uint64_t>(about.st_size);
    const auto listed = numbers_in(proc_.get(), name.c_str());
    return listed ? listed->size() : 0;
  };
  const uint64_t open = count(fmt::format("{}/fd", pid));
  if (open > 0) return open;
  const auto thread = further_thread(pid);  // of one whose first thread has ended
  return thread ? count(fmt::format("{}/task/{}/fd", pid, *thread)) : 0;
}

uint64_t ProcReader::maps(pid_t pid) const {
  constexpr uint64_t kMost = 65530;              // vm.max_map_count
  constexpr size_t kLongest = size_t{4} << 20U;  // of as many without names
  const auto lines_of = [this, pid](const std::string& name) {
    const Fd file = open(pid, name.c_str());
    uint64_t lines = 0;
    size_t size = 0;
    for (ssize_t n = 0; file && (n = ::read(file.get(), buffer_.get(), kBuffer)) > 0;) {
      lines += static_cast<uint64_t>(std::count(buffer_.get(), buffer_.get() + n, '\n'));
      size += static_cast<size_t>(n);
      // Long names of files would hold us up: what gives them is taken to have all that it can.
      if (size > kLongest) return std::max(lines, uint64_t{kMost});
    }
    return lines;
  };
  const uint64_t maps = lines_of("maps");
  if (maps > 0) return maps;
  const auto thread = further_thread(pid);  // of one whose first thread has ended
  return thread ? lines_of(fmt::format("task/{}/maps", *thread)) : 0;
}

bool ProcReader::proportional(pid_t pid, Proportional* memory) const {
  std::string_view text;
  if (!read(pid, "smaps_rollup", &text) && !read_of_thread(pid, "smaps_rollup", &text))
    return false;
  uint64_t all = 0, swapped = 0, shared = 0;
  if (!parse_field(text, "Pss", &all)) return false;
  (void)parse_field(text, "SwapPss", &swapped);
  (void)parse_field(text, "Pss_Shmem", &shared);
  memory->shared_files = shared;
  memory->other = all - std::min(all, shared) + swapped;
  return true;
}

Fd ProcReader::written_count(pid_t pid) const { return open(pid, "io"); }

bool ProcReader::written_bytes(const Fd& count, uint64_t* bytes) {
  std::array<char, 512> text{};
  const ssize_t size = count ? ::pread(count.get(), text.data(), text.size(), 0) : -1;
  return size > 0 && parse_field({text.data(), static_cast<size_t>(size)}, "write_bytes", bytes);
}

std::map<pid_t, pid_t> ProcReader::outside(const std::vector<pid_t>& pids) const {
  for (const pid_t pid : pids)  // all are of one namespace, and some may have gone
    if (const Fd space = open(pid, "ns/pid"); space) return numbers_outside(space.get(), pids);
  return {};
}

bool ProcReader::outlives_its_first_thread(pid_t pid) const {
  const auto first = stat(pid);
  if (!first || first->state != 'Z') return false;
  const auto threads = numbers_in(proc_.get(), fmt::format("{}/task", pid).c_str());
  return threads && std::any_of(threads->begin(), threads->end(), [&](pid_t thread) {
           std::string_view text;
           if (thread == pid || !read(pid, fmt::format("task/{}/status", thread).c_str(), &text))
             return false;
           // A process that ends sends it to each of its threads.
           const size_t pending = text.find("\nSigPnd:\t");
           uint64_t signals = 0;
           if (pending != std::string_view::npos)
             (void)std::from_chars(text.data() + pending + 9, text.data() + text.size(), signals,
                                   16);
           const size_t state = text.find("\nState:\t");
           const char is = state == std::string_view::npos ? 'X' : text[state + 8];
           return is != 'Z' && is != 'X' && (signals >> (SIGKILL - 1) & 1) == 0;
         });
}

void ProcReader::add_open(pid_t pid, Open* open) const {
  std::array<char, 64> path{};
  // One that has ended has none, and its folder is root's.
  const auto own = stat(pid);
  const auto thread = own && own->state == 'Z' ? further_thread(pid) : std::nullopt;
  fmt::format_to_n(path.data(), path.size() - 1, "{}/task/{}/fd", pid, thread.value_or(pid));
  Fd fd(::openat(proc_.get(), path.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return;
  const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(fd.get()));
  if (folder == nullptr) return;
  (void)fd.release();
  while (const dirent* entry = ::readdir(folder.get())) {
    std::array<char, 64> target{};
    const ssize_t size =
        ::readlinkat(::dirfd(folder.get()), entry->d_name, target.data(), target.size());
    if (size <= 0) continue;
    // The kernel names them so; a file that is called "/memfd:" on disk has a path before it, and
    // would only be counted more than it is.
    const std::string_view name(target.data(), static_cast<size_t>(size));
    constexpr std::string_view kSocket = "socket:[";
    if (name.starts_with(kSocket)) {
      uint64_t inode = 0, number = 0;
      std::string_view rest = name.substr(kSocket.size()), digits = entry->d_name;
      if (take_number(rest, &inode) && take_number(digits, &number))
        open->sockets.try_emplace(inode, Holder{thread.value_or(pid), static_cast<int>(number)});
      continue;
    }
    const bool memfd = name.starts_with("/memfd:");
    if (!memfd && name.find("/fdinfo/") == std::string_view::npos) continue;
    struct stat status {};
    if (::fstatat(::dirfd(folder.get()), entry->d_name, &status, 0) != 0) continue;
    if (memfd)
      open->memfds[status.st_ino] = static_cast<uint64_t>(status.st_blocks) * 512;
    else if (S_ISREG(status.st_mode) && status.st_size == 0)
      ++open->tellers;
  }
}

}  // namespace bulkhead
