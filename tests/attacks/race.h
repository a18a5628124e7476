// Races: one thread changes what another's call names, thousands of times.
#pragma once
#include "attack.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define TRIES 20000

static _Atomic int race_over;
static char race_path[PATH_MAX];  // what the racing call names
static const char *race_good, *race_bad;

// Whether there is another turn: for as many as the race has, and for no longer than a busy machine has time.
// Each waits for the supervisor, on two processors beside a thread that never rests.
static UNUSED int race_goes_on(int turn, int turns) {
  static time_t end;
  if (turn == 0) end = time(NULL) + 20;
  return turn < turns && time(NULL) < end;
}

// Lets the other thread see what was written, for a moment.
static UNUSED void linger(int turns) {
  for (int i = 0; i < turns; ++i) __asm__ volatile("" ::: "memory");
}

// Writes the two paths alternately into memory that the other thread's call points at.
static UNUSED void* flip_text(void* unused) {
  (void)unused;
  while (!race_over) {
    strcpy(race_path, race_bad);
    linger(50);
    strcpy(race_path, race_good);
    linger(50);
  }
  return NULL;
}

static UNUSED pthread_t race_begin(void* (*flip)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, flip, NULL);
  return thread;
}
static UNUSED void race_end(pthread_t thread) {
  race_over = 1;
  pthread_join(thread, NULL);
}
