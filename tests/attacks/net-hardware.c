// Asks a connection that was granted, a socket of the machine's network, for the hardware addresses of the
// machine's cards and neighbours: they tell which machine this is, and where it stands.
// class: OS sandboxes: ioctls on sockets made outside
// plain: say
// flags: --connect 127.0.0.1:{GRANTED}
#include "net.h"
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>

static int is_address(const void* bytes) { return memcmp(bytes, "\0\0\0\0\0\0", 6) != 0; }

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int fd = granted_connection();
  struct ifreq cards[32];
  struct ifconf all = {.ifc_len = sizeof cards, .ifc_req = cards};
  if (ioctl(fd, SIOCGIFCONF, &all) != 0) refused("the names of the cards");
  const int count = all.ifc_len / (int)sizeof *cards;
  if (!inside() && count < 2) needs("network-card");
  for (int i = 0; i < count; ++i) {
    struct ifreq card = cards[i];
    if (ioctl(fd, SIOCGIFHWADDR, &card) != 0) refused("SIOCGIFHWADDR");
    else if (is_address(card.ifr_hwaddr.sa_data)) effect("knows the address of %s", card.ifr_name);
    struct {
      struct ethtool_perm_addr head;
      unsigned char bytes[32];
    } permanent = {.head = {.cmd = ETHTOOL_GPERMADDR, .size = 32}};
    card.ifr_data = (void*)&permanent;
    if (ioctl(fd, SIOCETHTOOL, &card) != 0) refused("SIOCETHTOOL");
    else if (is_address(permanent.bytes)) effect("knows the permanent address of %s", card.ifr_name);
    // The gateway has the first address of most networks.
    struct sockaddr_in gateway = *(struct sockaddr_in*)&cards[i].ifr_addr;
    gateway.sin_addr.s_addr = (gateway.sin_addr.s_addr & htonl(0xffffff00)) | htonl(1);
    struct arpreq neighbour = {0};
    memcpy(&neighbour.arp_pa, &gateway, sizeof gateway);
    memcpy(neighbour.arp_dev, cards[i].ifr_name, sizeof neighbour.arp_dev);
    if (ioctl(fd, SIOCGARP, &neighbour) != 0) refused("SIOCGARP");
    else if (is_address(neighbour.arp_ha.sa_data)) effect("knows a neighbour on %s", cards[i].ifr_name);
  }
  return 0;
}
