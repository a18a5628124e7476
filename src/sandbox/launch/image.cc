#include "sandbox/launch/image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <mutex>


// The bytes that the build made of init/ (src/CMakeLists.txt).
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "bulkhead_init_begin: .incbin \"" BULKHEAD_INIT_FILE
    "\"\n"
    "bulkhead_init_end: .byte 0\n"
    ".popsection\n");
extern "C" const char bulkhead_init_begin, bulkhead_init_end;

namespace bulkhead {
namespace {

// Of Linux 6.3, memfd_create(2); before it, every such file could be executed.
constexpr unsigned kNoExec = 0x8, kExec = 0x10;

Error cannot_make(const char* step, int error, bool executable) {
  Error made = errno_error(step, error);
  if (executable && error == EACCES)
    made.message +=
        " (the sysctl vm.memfd_noexec is 2, which keeps programs from being started from memory: "
        "compartments need it to be 0 or 1)";
  return made;
}

struct Image {
  std::mutex mutex;
  int file = -1;
  dev_t device = 0;
  ino_t inode = 0;
};

// Whether the number still stands for what was opened: a host may close all that it does not know.
bool is_there(const Image& image) {
  struct stat status {};
  return image.file >= 0 && ::fstat(image.file, &status) == 0 && status.st_dev == image.device &&
         status.st_ino == image.inode;
}

}  // namespace

Result<Fd> sealed_file(const char* name, std::string_view content, bool executable) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Fd file(::memfd_create(name, kFlags | (executable ? kExec : kNoExec)));
  if (!file && errno == EINVAL) file.reset(::memfd_create(name, kFlags));
  if (!file) return cannot_make("make a file in memory", errno, executable);
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return errno_error("write to memory");
    content.remove_prefix(static_cast<size_t>(written));
  }
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return errno_error("seal a file in memory");
  return file;
}

Result<int> init_image() {
  static Image image;
  const std::lock_guard lock(image.mutex);
  if (is_there(image)) return image.file;
  BULKHEAD_TRY(Fd file,
               sealed_file("bulkhead-init",
                           {&bulkhead_init_begin,
                            static_cast<size_t>(&bulkhead_init_end - &bulkhead_init_begin)},
                           true));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errno_error("look at a file in memory");
  image.file = file.release();
  image.device = status.st_dev;
  image.inode = status.st_ino;
  return image.file;
}

}  // namespace bulkhead
