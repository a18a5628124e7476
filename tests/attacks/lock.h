// What somebody outside waits in, for the attacks (act: wait).
#pragma once
#include "attack.h"

#include <linux/futex.h>

// The first page of a file that may only be read here.
static UNUSED const uint32_t* words_of_others(void) {
  const int fd = open(text("%s/file.txt", fact("RO")), O_RDONLY | O_CLOEXEC);
  const uint32_t* words = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  if (fd < 0 || words == MAP_FAILED) {
    refused("the file");
    exit(1);
  }
  return words;
}
