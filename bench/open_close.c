// Opens and closes one file again and again, and prints the nanoseconds of one round: the median of
// 11 batches, so that a batch that the machine disturbed does not count.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? atoi(argv[2]) : 4000;
  double batches[11];
  for (int b = -1; b < 11; ++b) {  // the first one warms up
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < rounds; ++i) {
      const int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
      if (fd < 0) {
        perror(argv[1]);
        return 1;
      }
      close(fd);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (b >= 0) batches[b] = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / rounds;
  }
  qsort(batches, 11, sizeof *batches, by_value);
  printf("%.0f\n", batches[5]);
  return 0;
}
