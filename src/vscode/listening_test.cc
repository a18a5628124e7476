#include "vscode/listening.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

namespace bulkhead {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Listening, IsToldByTheKernelsState) {
  EXPECT_THAT(
      parse_listening(
          "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
          "   0: 0100007F:157C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
          "   1: 0100007F:0BB8 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0\n"
          "   2: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A"),
      ElementsAre(5500, 8080));
  for (const char* text : {"", "\n\n", "0: x 0 0A", "0: 1:G 0 0A", "0: 1:12345 0 0A", "0: 1: 0 0A"})
    EXPECT_THAT(parse_listening(text), IsEmpty()) << text;
}

// Listens at a port of the machine's, any or from where nothing is handed out.
Fd listener(uint16_t from, uint16_t* port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  for (uint16_t wanted = from; wanted < from + 200; ++wanted) {
    address.sin_port = ::htons(from == 0 ? 0 : wanted);
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) break;
  }
  socklen_t size = sizeof address;
  EXPECT_EQ(::listen(fd.get(), 1), 0);
  EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  *port = ::ntohs(address.sin_port);
  return fd;
}

TEST(Listening, AtAPortThatSomebodyChoseIsTold) {
  const Fd proc(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  uint16_t chosen = 0, handed_out = 0;
  const Fd one = listener(20500, &chosen);
  const Fd other = listener(0, &handed_out);
  EXPECT_THAT(chosen_ports(proc.get(), ::getpid()), Contains(chosen));
  EXPECT_THAT(chosen_ports(proc.get(), ::getpid()), Not(Contains(handed_out)));
  EXPECT_THAT(chosen_ports(-1, ::getpid()), IsEmpty());
}

}  // namespace
}  // namespace bulkhead
