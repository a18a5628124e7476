#include "sandbox/plan/executable.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/fd.h"

namespace bulkhead {
namespace {

// Program headers stand right behind the ELF header in every linker's output; so does .interp.
constexpr size_t kHead = 16 << 10;
// As the kernel (fs/exec.c): an interpreter may be a script itself, five times at most.
constexpr int kMostScripts = 5;

std::string read_head(const std::string& path) {
  // A FIFO in place of a program must not hold us up.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string head(kHead, '\0');
  const ssize_t got = ::pread(fd.get(), head.data(), head.size(), 0);
  head.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return head;
}

}  // namespace

std::string elf_interpreter(std::string_view head) {
  Elf64_Ehdr header;
  if (head.size() < sizeof header) return {};
  std::memcpy(&header, head.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  // i386 programs cannot run here: the filter kills their first call.
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (header.e_phoff > head.size() || head.size() - header.e_phoff < (i + 1) * sizeof segment) {
      return {};
    }
    std::memcpy(&segment, head.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_offset > head.size() || segment.p_filesz > head.size() - segment.p_offset) {
      return {};
    }
    const std::string_view name = head.substr(segment.p_offset, segment.p_filesz);
    return std::string(name.substr(0, name.find('\0')));
  }
  return {};
}

std::string script_interpreter(std::string_view head) {
  if (!head.starts_with("#!")) return {};
  head.remove_prefix(2);
  head = head.substr(0, head.find('\n'));
  const size_t start = head.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  head.remove_prefix(start);
  return std::string(head.substr(0, head.find_first_of(" \t")));
}

std::vector<std::string> files_to_execute(const std::string& program) {
  std::vector<std::string> files;
  const auto add = [&files](const std::string& path) -> std::string {
    char canonical[PATH_MAX];
    if (::realpath(path.c_str(), canonical) == nullptr) return {};
    if (std::find(files.begin(), files.end(), canonical) == files.end()) {
      files.emplace_back(canonical);
    }
    return canonical;
  };
  std::string next = program;
  for (int i = 0; i <= kMostScripts && !next.empty(); ++i) {
    const std::string file = add(next);
    if (file.empty()) break;
    const std::string head = read_head(file);
    if (const std::string loader = elf_interpreter(head); !loader.empty()) add(loader);
    next = script_interpreter(head);
  }
  return files;
}

}  // namespace bulkhead
