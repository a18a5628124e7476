#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "sandbox/launch/init/init.h"

namespace bulkhead {

void send_event(int control, ProgramEvent::Kind kind, int value, const char* step,
                const char* on) noexcept {
  ProgramEvent event{};
  event.kind = kind;
  event.value = value;
  size_t used = 0;
  for (const char* part : {step, on}) {
    if (*part == '\0') continue;
    if (used > 0 && used + 1 < sizeof event.step) event.step[used++] = ' ';
    while (*part != '\0' && used + 1 < sizeof event.step) event.step[used++] = *part++;
  }
  // Blocks while the supervisor is behind; fails once it is gone: we are about to be killed then.
  while (::send(control, &event, sizeof event, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void give_up(int control, const Failure& failure) noexcept {
  send_event(control, ProgramEvent::Kind::kSetupFailed, failure.error, failure.step, failure.on);
  ::_exit(1);
}

bool send_message(int control, const SetupMessage& message, const int* descriptors,
                  size_t count) noexcept {
  iovec data{const_cast<SetupMessage*>(&message), sizeof message};
  alignas(cmsghdr) char space[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (count > 0) {
    header.msg_control = space;
    header.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(control, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

}  // namespace bulkhead
