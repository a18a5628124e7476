// Offers servers to the machine that nobody granted, where one port is: at once, and after the time
// in which a person would be asked; at the granted port's neighbours; by a socket of IPv6.
// class: a supervisor that publishes what listens, whichever port was granted
// plain: message
// flags: --listen 20100 --connect 127.0.0.1:{DIAL}
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  int servers[3], ports[3];
  for (int i = 0; i < 3; ++i) {
    const int six = i == 2;
    servers[i] = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    // The next that is free plainly, too; never the granted one.
    for (ports[i] = 20101 + 40 * i; ports[i] < 20141 + 40 * i; ++ports[i]) {
      struct sockaddr_in v4 = at_v4("0.0.0.0", ports[i]);
      struct sockaddr_in6 v6 = at_v6("::", ports[i]);
      if ((six ? bind(servers[i], (struct sockaddr*)&v6, sizeof v6)
               : bind(servers[i], (struct sockaddr*)&v4, sizeof v4)) == 0 &&
          listen(servers[i], 5) == 0)
        break;
    }
  }
  ask_to_dial(ports[0], servers[0]);
  sleep(4);
  for (int i = 0; i < 3; ++i) ask_to_dial(ports[i], servers[i]);
  return 0;
}
