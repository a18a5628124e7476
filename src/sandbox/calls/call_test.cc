// What every handler must keep, whatever it does.
#include "sandbox/calls/call.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "base/fd.h"
#include "sandbox/testing/served_child.h"

namespace bulkhead::testing {
namespace {

uint64_t arg(const std::string& text) { return reinterpret_cast<uintptr_t>(text.c_str()); }
uint64_t arg(const void* at) { return reinterpret_cast<uintptr_t>(at); }

// Everything below: its name, its mode and its content.
std::map<std::string, std::string> content_of(const std::string& folder) {
  std::map<std::string, std::string> found;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) {
    const auto mode = static_cast<unsigned>(each.symlink_status().permissions());
    found[each.path()] =
        std::to_string(mode) + (each.is_regular_file() ? " " + read_all(each.path()) : "");
  }
  return found;
}

// The number of a caller that died may be somebody else's by the time that its memory was read:
// then what was decided on, and allowed, is not what was asked for.
TEST(Call, NothingIsChangedForACallerThatIsGone) {
  const Folder folder;
  const std::string a = folder.file("a", "a"), b = folder.file("b", "b"), none = folder / "none";
  const std::string empty = folder.folder("empty"), link = folder / "link";
  const std::string socket_path = folder / "socket";
  ASSERT_EQ(::symlink(a.c_str(), link.c_str()), 0);
  const std::string around = folder / "empty/../none";  // not its own canonical path
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  const timespec times[2] = {};
  const auto fd = static_cast<uint64_t>(socket.get());

  struct Attempted {
    const char* what;
    int number;
    std::array<uint64_t, 6> args;
  };
  const Attempted calls[] = {
      {"mkdir", __NR_mkdir, {arg(none), 0755}},
      {"mknod", __NR_mknod, {arg(none), S_IFIFO | 0600}},
      {"unlink", __NR_unlink, {arg(a)}},
      {"rmdir", __NR_rmdir, {arg(empty)}},
      {"rename", __NR_rename, {arg(a), arg(b)}},
      {"link", __NR_link, {arg(a), arg(none)}},
      {"symlink", __NR_symlink, {arg(a), arg(none)}},
      {"open", __NR_open, {arg(a), O_WRONLY | O_TRUNC}},
      {"open to create", __NR_open, {arg(none), O_WRONLY | O_CREAT, 0644}},
      {"open by a link", __NR_open, {arg(link), O_WRONLY | O_TRUNC}},
      {"open to create elsewhere", __NR_open, {arg(around), O_WRONLY | O_CREAT, 0644}},
      {"truncate", __NR_truncate, {arg(a), 0}},
      {"chmod", __NR_chmod, {arg(a), 0}},
      {"utimensat", __NR_utimensat, {static_cast<uint64_t>(AT_FDCWD), arg(a), arg(times), 0}},
      {"setxattr", __NR_setxattr, {arg(a), arg("user.x"), arg("x"), 1}},
      {"bind", __NR_bind, {fd, arg(&address), sizeof address}},
      {"connect", __NR_connect, {fd, arg(&address), sizeof address}},
      {"listen", __NR_listen, {fd, 1}},
  };
  const auto before = content_of(folder.path());
  for (const Attempted& call : calls) {
    EXPECT_EQ(
        serve_gone({.read = {folder.path()}, .write = {folder.path()}}, call.number, call.args),
        "EINTR")
        << call.what;
    EXPECT_EQ(content_of(folder.path()), before) << call.what;
  }
}

// Nor is its memory: whoever has the number now would find an answer in there.
TEST(Call, NothingIsWrittenIntoACallerThatIsGone) {
  const Folder folder;
  const std::string a = folder.file("a", "a"), link = folder / "link", path = folder / "socket";
  ASSERT_EQ(::symlink(a.c_str(), link.c_str()), 0);
  const bool has_attributes = ::setxattr(a.c_str(), "user.x", "value", 5, 0) == 0;
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  struct stat status {};
  ASSERT_EQ(::fstat(socket.get(), &status), 0);
  const Grants grants{.read = {folder.path()}, .bound = {{status.st_ino, path}}};

  struct {
    char bytes[256] = "as it was";
    int32_t room = sizeof bytes;
  } memory;
  const auto before = memory;
  const auto is_unchanged = [&] { return std::memcmp(&memory, &before, sizeof memory) == 0; };
  const auto fd = static_cast<uint64_t>(socket.get());
  EXPECT_EQ(serve_gone(grants, __NR_getsockname, {fd, arg(memory.bytes), arg(&memory.room)}),
            "EINTR");
  EXPECT_TRUE(is_unchanged()) << "getsockname";
  EXPECT_EQ(serve_gone(grants, __NR_readlink, {arg(link), arg(memory.bytes), 256}), "EINTR");
  EXPECT_TRUE(is_unchanged()) << "readlink";
  const std::string name = "user.x";
  if (has_attributes) {
    EXPECT_EQ(serve_gone(grants, __NR_getxattr, {arg(a), arg(name), arg(memory.bytes), 256}),
              "EINTR");
  }
  EXPECT_TRUE(is_unchanged()) << "getxattr";
}

}  // namespace
}  // namespace bulkhead::testing
