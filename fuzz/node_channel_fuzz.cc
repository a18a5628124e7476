// Lines of a Node channel, from a host that may send anything, with a descriptor where the input
// says so: lines come whole, descriptors are claimed or closed, and what is kept is bounded.
//
// Each piece is a length byte and so many bytes; a length beyond 127 sends a descriptor along.

#include <fcntl.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "require.h"
#include "vscode/node_channel.h"
#include "vscode/websocket.h"

namespace {

using namespace bulkhead;

void send_piece(int fd, Bytes piece, bool with_descriptor) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{const_cast<uint8_t*>(piece.data()), piece.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (with_descriptor) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  (void)!::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int before = ::dup(0);
  ::close(before);
  {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return 0;
    const Fd writer(fds[0]);
    NodeChannel channel(Fd(fds[1]), 512);
    std::string sent, got;
    Bytes rest(data, size);
    while (!rest.empty()) {
      const size_t length = std::min<size_t>(rest[0] & 0x7FU, rest.size() - 1);
      const bool with_descriptor = rest[0] > 127;
      const Bytes piece = rest.subspan(1, length);
      rest = rest.subspan(1 + length);
      if (piece.empty()) continue;
      send_piece(writer.get(), piece, with_descriptor);
      for (const uint8_t c : piece)
        if (c != '\n' || (!sent.empty() && sent.back() != '\n')) sent += static_cast<char>(c);
      const auto open = channel.receive([&](std::string_view line, Fd handle) -> Status {
        require(!line.empty() && line.find('\n') == std::string_view::npos, "a line is one line");
        require(!handle || claims_handle(line), "only who claims a descriptor gets one");
        got.append(line) += '\n';
        return {};
      });
      if (!open.ok()) break;
      require(sent.starts_with(got) && sent.find('\n', got.size()) == std::string::npos,
              "every line comes whole, once and in order");
    }
  }
  const int after = ::dup(0);
  ::close(after);
  require(before == after, "no descriptor leaks");
  return 0;
}
