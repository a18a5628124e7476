// A Node addon with what a thief would bring as native code: system calls that no guard inside
// JavaScript sees. Built by demo.mjs with the machine's C compiler.
//
//   read(path)                  → string, by openat and read as raw system calls
//   uring(path)                 → string, by io_uring: the kernel opens and reads on our behalf
//   fastopen(host, port, text)  → bytes sent, by sendto(MSG_FASTOPEN): no connect() is ever called
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <node_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static napi_value fail(napi_env env, const char* what) {
  char text[256];
  const int cause = errno;
  snprintf(text, sizeof text, "%s: %s", what, strerror(cause));
  char code[16];
  snprintf(code, sizeof code, "%d", cause);
  napi_throw_error(env, code, text);
  return NULL;
}

static size_t text_argument(napi_env env, napi_value value, char* into, size_t size) {
  size_t length = 0;
  napi_get_value_string_utf8(env, value, into, size, &length);
  return length;
}

static napi_value as_string(napi_env env, const char* text, size_t length) {
  napi_value value;
  napi_create_string_utf8(env, text, length, &value);
  return value;
}

static napi_value raw_read(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value arguments[1];
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  char path[4096], buffer[8192];
  text_argument(env, arguments[0], path, sizeof path);
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  if (fd < 0) return fail(env, "openat");
  const long n = syscall(SYS_read, fd, buffer, sizeof buffer);
  syscall(SYS_close, fd);
  if (n < 0) return fail(env, "read");
  return as_string(env, buffer, (size_t)n);
}

// One submission, one completion; see io_uring(7).
struct ring {
  int fd;
  unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
  struct io_uring_sqe* entries;
  struct io_uring_cqe* completions;
};

static int ring_open(struct ring* ring) {
  struct io_uring_params p;
  memset(&p, 0, sizeof p);
  ring->fd = (int)syscall(SYS_io_uring_setup, 4, &p);
  if (ring->fd < 0) return -1;
  char* sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE,
                  MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
  char* cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
                  PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
  ring->entries = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
                       MAP_SHARED, ring->fd, IORING_OFF_SQES);
  if (sq == MAP_FAILED || cq == MAP_FAILED || ring->entries == MAP_FAILED) return -1;
  ring->sq_tail = (unsigned*)(sq + p.sq_off.tail);
  ring->sq_mask = (unsigned*)(sq + p.sq_off.ring_mask);
  ring->sq_array = (unsigned*)(sq + p.sq_off.array);
  ring->cq_head = (unsigned*)(cq + p.cq_off.head);
  ring->cq_tail = (unsigned*)(cq + p.cq_off.tail);
  ring->cq_mask = (unsigned*)(cq + p.cq_off.ring_mask);
  ring->completions = (struct io_uring_cqe*)(cq + p.cq_off.cqes);
  return 0;
}

static int ring_do(struct ring* ring, const struct io_uring_sqe* wanted) {
  const unsigned tail = *ring->sq_tail, index = tail & *ring->sq_mask;
  ring->entries[index] = *wanted;
  ring->sq_array[index] = index;
  atomic_store((_Atomic unsigned*)ring->sq_tail, tail + 1);
  if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0) return -errno;
  const unsigned head = *ring->cq_head;
  const int result = ring->completions[head & *ring->cq_mask].res;
  atomic_store((_Atomic unsigned*)ring->cq_head, head + 1);
  return result;
}

static napi_value uring_read(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value arguments[1];
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  static char path[4096], buffer[8192];
  text_argument(env, arguments[0], path, sizeof path);
  struct ring ring;
  if (ring_open(&ring) != 0) return fail(env, "io_uring_setup");
  struct io_uring_sqe open_it = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD};
  open_it.addr = (unsigned long)path;
  open_it.open_flags = O_RDONLY;
  const int fd = ring_do(&ring, &open_it);
  if (fd < 0) {
    errno = -fd;
    return fail(env, "io_uring openat");
  }
  struct io_uring_sqe read_it = {.opcode = IORING_OP_READ, .fd = fd, .len = sizeof buffer};
  read_it.addr = (unsigned long)buffer;
  const int n = ring_do(&ring, &read_it);
  if (n < 0) {
    errno = -n;
    return fail(env, "io_uring read");
  }
  return as_string(env, buffer, (size_t)n);
}

static napi_value fastopen(napi_env env, napi_callback_info info) {
  size_t count = 3;
  napi_value arguments[3];
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  char host[64], text[8192];
  uint32_t port = 0;
  text_argument(env, arguments[0], host, sizeof host);
  napi_get_value_uint32(env, arguments[1], &port);
  const size_t length = text_argument(env, arguments[2], text, sizeof text);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, host, &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return fail(env, "socket");
  const ssize_t n = sendto(fd, text, length, MSG_FASTOPEN, (struct sockaddr*)&to, sizeof to);
  if (n < 0) {
    const int cause = errno;
    close(fd);
    errno = cause;
    return fail(env, "sendto with MSG_FASTOPEN");
  }
  shutdown(fd, SHUT_WR);
  char answer[256];
  (void)!read(fd, answer, sizeof answer);
  close(fd);
  napi_value value;
  napi_create_int64(env, n, &value);
  return value;
}

NAPI_MODULE_INIT() {
  const napi_property_descriptor functions[] = {
      {"read", NULL, raw_read, NULL, NULL, NULL, napi_default, NULL},
      {"uring", NULL, uring_read, NULL, NULL, NULL, napi_default, NULL},
      {"fastopen", NULL, fastopen, NULL, NULL, NULL, napi_default, NULL},
  };
  napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
  return exports;
}
