#include "sandbox/launch/stdio.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>

namespace bulkhead {

// What the host hands in is the program's to use, but a datagram socket of the machine's network
// sends to whatever address a message names, which no filter sees (sendmsg(2)).
Status may_be_given(int fd, int number) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    if (errno == ENOTSOCK) return {};
    return Error{fmt::format("descriptor {}, to be the program's {}, is not open", fd, number),
                 EBADF};
  }
  if (type == SOCK_STREAM || type == SOCK_SEQPACKET) return {};
  return Error{fmt::format("descriptor {} is a datagram socket, by which a program could send to "
                           "any address: give it a pipe, a file or a stream socket",
                           fd),
               EINVAL};
}

Result<std::vector<NumberOrder>> choose_numbers(const Stdio& stdio, std::vector<int>& descriptors) {
  std::vector<NumberOrder> numbers;
  if (stdio.size() > kMostNumbers)
    return Error{fmt::format("a program is given at most {} descriptors", kMostNumbers), E2BIG};
  for (const auto& [number, fd] : stdio) {
    if (number < 0 || number > kHighestNumber)
      return Error{fmt::format("a program's descriptor is a number from 0 to {}, not {}",
                               kHighestNumber, number),
                   EBADF};
    if (fd != kGivenLater) {
      // Of our own 0 to 2, what is closed stays closed.
      if (fd == number && fd <= 2 && ::fcntl(fd, F_GETFD) < 0) continue;
      BULKHEAD_CHECK(may_be_given(fd, number));
      descriptors.push_back(fd);
    }
    numbers.push_back({static_cast<uint64_t>(number), fd != kGivenLater ? 1U : 0U});
  }
  return numbers;
}

}  // namespace bulkhead
