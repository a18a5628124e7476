// Takes memory of the kernel's alone: what a message brings besides its bytes is copied before the message waits for
// room, 128 KB for each thread that waits.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <pthread.h>
#include <sys/socket.h>

enum { kThreads = 700, kEach = 120000, kOther = 99 };

static _Alignas(struct cmsghdr) char controls[kEach];
static int returned;

static void* wait_for_room(void* nothing) {
  static char bytes[65536];
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return NULL;
  const int small = 2048;
  setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  while (send(ends[0], bytes, 512, MSG_DONTWAIT) > 0) {
  }
  struct iovec what = {bytes, sizeof bytes};
  struct msghdr message = {
      .msg_iov = &what, .msg_iovlen = 1, .msg_control = controls, .msg_controllen = sizeof controls};
  if (sendmsg(ends[0], &message, 0) < 0) refused("sendmsg");
  __atomic_fetch_add(&returned, 1, __ATOMIC_RELAXED);
  return nothing;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (size_t at = 0; at + sizeof(struct cmsghdr) <= sizeof controls; at += sizeof(struct cmsghdr))
    *(struct cmsghdr*)(controls + at) =
        (struct cmsghdr){.cmsg_len = sizeof(struct cmsghdr), .cmsg_level = kOther, .cmsg_type = 1};
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 32768);
  int threads = 0;
  for (; threads < kThreads; ++threads) {
    pthread_t thread;
    if (pthread_create(&thread, &small, wait_for_room, NULL) != 0) break;
    nap(1);
  }
  nap(inside() ? 20000 : 500);  // as long as somebody who looks from time to time may need on a busy machine
  const int waiting = threads - __atomic_load_n(&returned, __ATOMIC_RELAXED);
  if (waiting > 600) effect("%d threads wait with %d KB each", waiting, kEach / 1000);
  _exit(0);
}
