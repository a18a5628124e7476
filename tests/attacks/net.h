// Sockets for the attacks.
#pragma once
#include "attack.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

static UNUSED struct sockaddr_in at_v4(const char* host, long port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, host, &a.sin_addr);
  return a;
}
static UNUSED struct sockaddr_in6 at_v6(const char* host, long port) {
  struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  inet_pton(AF_INET6, host, &a.sin6_addr);
  return a;
}
static UNUSED struct sockaddr_un at_path(const char* path) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof a.sun_path) {
    fprintf(stderr, "socket path too long\n");
    exit(99);
  }
  memcpy(a.sun_path, path, strlen(path));
  return a;
}

// A server on a loopback port of its own, whose connections hold as much as may be asked for.
static UNUSED int listening(struct sockaddr_in* at, int backlog) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), much = INT_MAX;
  socklen_t size = sizeof *at;
  *at = at_v4("127.0.0.1", 0);
  setsockopt(server, SOL_SOCKET, SO_RCVBUF, &much, sizeof much);
  if (bind(server, (struct sockaddr*)at, sizeof *at) != 0 || listen(server, backlog) != 0 ||
      getsockname(server, (struct sockaddr*)at, &size) != 0)
    refused("listen");
  return server;
}

static UNUSED int connected(const struct sockaddr_in* at) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(client, (const struct sockaddr*)at, sizeof *at) != 0) refused("connect");
  return client;
}

// Fills the connection and resets it; returns how much the other end has got, and keeps.
static UNUSED size_t fill_and_reset(int client) {
  static char block[1 << 20];
  const struct linger at_once = {.l_onoff = 1};
  size_t sent = 0;
  int waits = 0;
  fcntl(client, F_SETFL, O_NONBLOCK);
  struct pollfd room = {.fd = client, .events = POLLOUT};
  do
    for (ssize_t n; (n = write(client, block, sizeof block)) > 0;) sent += (size_t)n;
  while (poll(&room, 1, 2) > 0 && room.revents == POLLOUT);
  if (ioctl(client, TIOCOUTQ, &waits) != 0) refused("SIOCOUTQ");  // the same number
  setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(client);
  return sent - (size_t)waits;
}

// Sends the word that the collector looks for, waits for its answer.
static UNUSED void tell(int fd, const char* how) {
  char answer[256];
  const char* word = text("message %s by %s\n", fact("MARK"), how);
  if (send(fd, word, strlen(word), MSG_NOSIGNAL) < 0) {
    refused(how);
    return;
  }
  shutdown(fd, SHUT_WR);
  const ssize_t n = read(fd, answer, sizeof answer);
  if (n > 0) leak(answer, (size_t)n);
}

static UNUSED void connect_and_tell(int fd, const void* address, size_t size, const char* how) {
  if (fd < 0 || connect(fd, address, (socklen_t)size) != 0)
    refused(how);
  else
    tell(fd, how);
  if (fd >= 0) close(fd);
}

// A connection to the server that a flag grants (fact GRANTED).
static UNUSED int granted_connection(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = at_v4("127.0.0.1", number("GRANTED"));
  if (connect(fd, (struct sockaddr*)&a, sizeof a) != 0) refused("the granted server");
  return fd;
}

// The helper server of the world that is always granted (fact DIAL): it connects to the loopback
// port that it is told, from outside, and the runner notes when it reaches this server, which says
// whose it is: somebody else may have a port of that number there.
static UNUSED void ask_to_dial(int port, int server) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in a = at_v4("127.0.0.1", number("DIAL"));
  if (connect(fd, (struct sockaddr*)&a, sizeof a) != 0) {
    refused("connect to the granted server");
  } else {
    char answer[64];
    dprintf(fd, "dial %d\n", port);
    struct pollfd ready[] = {{.fd = fd, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    if (poll(ready, 2, 10000) > 0 && ready[1].revents != 0) {
      const int peer = accept(server, NULL, NULL);
      dprintf(peer, "%s\n", fact("MARK"));
      close(peer);
    }
    const ssize_t n = read(fd, answer, sizeof answer);
    if (n > 0) printf("dialler: %.*s\n", (int)n, answer);
  }
  close(fd);
}
