#include "sandbox/launch/inherited_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace bulkhead {
namespace {

// A line of /proc/self/maps, proc(5): "begin-end rwxp offset major:minor inode   name".
struct Mapping {
  uintptr_t begin = 0, end = 0;
  bool writable = false, shared = false, from_file = false, special = false, heap = false;
};

const char* hexadecimal(const char* at, uintptr_t& value) noexcept {
  for (value = 0;; ++at) {
    const char c = *at;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return at;
    value = value << 4U | static_cast<uintptr_t>(digit);
  }
}

const char* behind_word(const char* at) noexcept {
  while (*at != ' ' && *at != '\0') ++at;
  while (*at == ' ') ++at;
  return at;
}

// `line` ends with a null byte. False where it is no such line.
bool parse(const char* line, Mapping& mapping) noexcept {
  const char* at = hexadecimal(line, mapping.begin);
  if (*at != '-') return false;
  at = hexadecimal(at + 1, mapping.end);
  if (*at != ' ' || std::strlen(at) < 5) return false;
  mapping.writable = at[2] == 'w';
  mapping.shared = at[4] == 's';
  at = behind_word(behind_word(behind_word(at + 1)));  // permissions, offset, device
  mapping.from_file = *at != '0';
  at = behind_word(at);
  mapping.heap = std::strcmp(at, "[heap]") == 0;
  mapping.special = *at != '\0' && !mapping.heap;
  return true;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr uintptr_t kPage = 4096;  // x86-64

class Dropper {
 public:
  explicit Dropper(const void* frame) noexcept
      : frame_(reinterpret_cast<uintptr_t>(frame)),
        thread_(reinterpret_cast<uintptr_t>(__builtin_thread_pointer())) {}

  void see(const Mapping& mapping) noexcept {
    // An anonymous mapping right behind a file's is that file's .bss.
    const bool bss = mapping.begin == file_end_ && !mapping.heap;
    if (mapping.from_file || bss) file_end_ = mapping.end;
    const auto holds = [&](uintptr_t address) {
      return address >= mapping.begin && address < mapping.end;
    };
    if (mapping.from_file || bss || mapping.shared || !mapping.writable || holds(thread_)) return;
    uintptr_t begin = mapping.begin;
    if (holds(frame_)) {
      begin = (frame_ / kPage + 2) * kPage;
    } else if (mapping.special) {
      return;
    }
    if (begin < mapping.end)
      (void)::madvise(reinterpret_cast<void*>(begin), mapping.end - begin, MADV_DONTNEED);
  }

 private:
  uintptr_t frame_, thread_, file_end_ = 0;
};

}  // namespace

void drop_inherited_memory(const void* frame) noexcept {
  if (kSanitized) return;
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  Dropper dropper(frame);
  // Longer than any line: a name is PATH_MAX at most, 4 bytes each where it is escaped.
  char buffer[20 << 10];
  size_t used = 0;
  for (;;) {
    const ssize_t got = ::read(file, buffer + used, sizeof buffer - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += static_cast<size_t>(got);
    char* line = buffer;
    while (auto* end = static_cast<char*>(
               std::memchr(line, '\n', static_cast<size_t>(buffer + used - line)))) {
      *end = '\0';
      Mapping mapping;
      if (parse(line, mapping)) dropper.see(mapping);
      line = end + 1;
    }
    used = static_cast<size_t>(buffer + used - line);
    std::memmove(buffer, line, used);
    if (used == sizeof buffer) break;
  }
  ::close(file);
}

}  // namespace bulkhead
