// Moves who waits outside, in a file that may only be read here, to another word of it, where nobody wakes.
// class: OS sandboxes: calls on others that nobody checked
// plain: change
// flags: --read {RO}
// act: wait
#include "lock.h"

// As futex_requeue(2) takes them, newer than the headers.
struct waiter {
  uint64_t value, address;
  uint32_t flags, reserved;
};

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const uint32_t* words = words_of_others();
  const struct waiter waiters[] = {{words[0], (uintptr_t)&words[0], 2 /* FUTEX2_SIZE_U32 */, 0},
                                   {words[1], (uintptr_t)&words[1], 2, 0}};
  long moved = 0;
  for (int i = 0; i < 100 && moved <= 0; ++i) {  // it may not wait yet
    if (moved <= 0) moved = syscall(456 /* futex_requeue */, waiters, 0, 0, 1);
    if (moved < 0 && i == 0) refused("futex_requeue");
    if (moved <= 0) moved = syscall(SYS_futex, words, FUTEX_CMP_REQUEUE, 0, 1L, words + 1, words[0]);
    if (moved < 0 && i == 0) refused("FUTEX_CMP_REQUEUE");
    if (moved <= 0) moved = syscall(SYS_futex, words, FUTEX_REQUEUE, 0, 1L, words + 1, 0);
    if (moved < 0 && i == 0) refused("FUTEX_REQUEUE");
    if (moved < 0) break;
    nap(20);
  }
  printf("%ld moved\n", moved);
  return 0;
}
