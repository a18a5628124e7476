// What init takes of a C library: a function for each system call that it makes, and the few that a
// compiler calls by itself. A library of the machine's would be 800 KB in each host's memory, and
// takes longer to begin than init needs for all of its work.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/launch/init/init.h"

namespace {

int last_error = 0;

long kernel(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  if (result < 0 && result > -4096) {
    last_error = static_cast<int>(-result);
    return -1;
  }
  return result;
}

template <class T>
long word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

}  // namespace

// The kernel starts a program with its arguments on the stack, and the stack aligned.
asm(".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  call begin\n"
    "  hlt\n");

extern "C" {

[[noreturn]] void begin() { bulkhead::run_init(); }

// NOLINTBEGIN(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name)
int* __errno_location() noexcept { return &last_error; }

void* memcpy(void* __restrict to, const void* __restrict from, size_t size) noexcept {
  void* const result = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
  return result;
}
void* memset(void* to, int value, size_t size) noexcept {
  void* const result = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
  return result;
}
void* memchr(const void* from, int value, size_t size) noexcept {
  const auto* at = static_cast<const char*>(from);
  for (; size > 0; --size, ++at)
    if (*at == static_cast<char>(value)) return const_cast<char*>(at);
  return nullptr;
}
size_t strlen(const char* text) noexcept {
  size_t size = 0;
  while (text[size] != '\0') ++size;
  return size;
}

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  return kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = va_arg(list, int);
  va_end(list);
  return static_cast<int>(kernel(SYS_openat, AT_FDCWD, word(path), flags, mode));
}
int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long value = va_arg(list, long);
  va_end(list);
  return static_cast<int>(kernel(SYS_fcntl, fd, command, value));
}
int ioctl(int fd, unsigned long command, ...) noexcept {
  va_list list;
  va_start(list, command);
  const long value = va_arg(list, long);
  va_end(list);
  return static_cast<int>(kernel(SYS_ioctl, fd, static_cast<long>(command), value));
}
int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  long a[4];
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  return static_cast<int>(kernel(SYS_prctl, option, a[0], a[1], a[2], a[3]));
}

int close(int fd) { return static_cast<int>(kernel(SYS_close, fd)); }
ssize_t read(int fd, void* into, size_t size) {
  return kernel(SYS_read, fd, word(into), static_cast<long>(size));
}
ssize_t write(int fd, const void* from, size_t size) {
  return kernel(SYS_write, fd, word(from), static_cast<long>(size));
}
int dup2(int fd, int at) noexcept { return static_cast<int>(kernel(SYS_dup2, fd, at)); }
int eventfd(unsigned count, int flags) noexcept {
  return static_cast<int>(kernel(SYS_eventfd2, count, flags));
}
int fchmod(int fd, mode_t mode) noexcept { return static_cast<int>(kernel(SYS_fchmod, fd, mode)); }
int mkdir(const char* path, mode_t mode) noexcept {
  return static_cast<int>(kernel(SYS_mkdir, word(path), mode));
}
int chdir(const char* path) noexcept { return static_cast<int>(kernel(SYS_chdir, word(path))); }
pid_t setsid() noexcept { return static_cast<pid_t>(kernel(SYS_setsid)); }
int setpgid(pid_t pid, pid_t group) noexcept {
  return static_cast<int>(kernel(SYS_setpgid, pid, group));
}
mode_t umask(mode_t mask) noexcept { return static_cast<mode_t>(kernel(SYS_umask, mask)); }
int stat(const char* __restrict path, struct stat* __restrict status) noexcept {
  return static_cast<int>(kernel(SYS_stat, word(path), word(status)));
}
int lstat(const char* __restrict path, struct stat* __restrict status) noexcept {
  return static_cast<int>(kernel(SYS_lstat, word(path), word(status)));
}
int fstat(int fd, struct stat* status) noexcept {
  return static_cast<int>(kernel(SYS_fstat, fd, word(status)));
}
int mount(const char* source, const char* target, const char* type, unsigned long flags,
          const void* options) noexcept {
  return static_cast<int>(kernel(SYS_mount, word(source), word(target), word(type),
                                 static_cast<long>(flags), word(options)));
}
int umount2(const char* target, int flags) noexcept {
  return static_cast<int>(kernel(SYS_umount2, word(target), flags));
}
void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  return reinterpret_cast<void*>(
      kernel(SYS_mmap, word(at), static_cast<long>(size), protection, flags, fd, offset));
}
int munmap(void* at, size_t size) noexcept {
  return static_cast<int>(kernel(SYS_munmap, word(at), static_cast<long>(size)));
}
int getrlimit(__rlimit_resource_t resource, rlimit* limit) noexcept {
  return static_cast<int>(kernel(SYS_prlimit64, 0, resource, 0, word(limit)));
}
int setrlimit(__rlimit_resource_t resource, const rlimit* limit) noexcept {
  return static_cast<int>(kernel(SYS_prlimit64, 0, resource, word(limit)));
}
int socket(int family, int type, int protocol) noexcept {
  return static_cast<int>(kernel(SYS_socket, family, type, protocol));
}
int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  return static_cast<int>(kernel(SYS_bind, fd, word(address), size));
}
int listen(int fd, int backlog) noexcept {
  return static_cast<int>(kernel(SYS_listen, fd, backlog));
}
int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  return static_cast<int>(kernel(SYS_setsockopt, fd, level, name, word(value), size));
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  return kernel(SYS_sendmsg, fd, word(message), flags);
}
ssize_t send(int fd, const void* from, size_t size, int flags) {
  return kernel(SYS_sendto, fd, word(from), static_cast<long>(size), flags);
}
ssize_t recv(int fd, void* into, size_t size, int flags) {
  return kernel(SYS_recvfrom, fd, word(into), static_cast<long>(size), flags);
}
pid_t waitpid(pid_t pid, int* status, int flags) {
  return static_cast<pid_t>(kernel(SYS_wait4, pid, word(status), flags));
}
int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  return static_cast<int>(kernel(SYS_execve, word(path), word(arguments), word(environment)));
}
void _exit(int code) {
  for (;;) kernel(SYS_exit_group, code);
}
// NOLINTEND(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name)

}  // extern "C"
