// Gets the key's open descriptor handed over by a service outside.
// class: OS sandboxes: descriptors passed by SCM_RIGHTS
// plain: leak
// journal: write {PASS}
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un a = at_path(fact("PASS"));
  if (connect(fd, (struct sockaddr*)&a, sizeof a) != 0) {
    refused("connect");
    return 0;
  }
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(fd, &message, 0) > 0 && CMSG_FIRSTHDR(&message)) {
    int key;
    memcpy(&key, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof key);
    drain(key);
  }
  return 0;
}
