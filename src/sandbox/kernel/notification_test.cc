#include "sandbox/kernel/notification.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bulkhead {
namespace {

TEST(Listener, DoesNotLingerOverASocketThatNobodyGot) {
  Listener nobody(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  linger wanted{1, 1000};
  ASSERT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &wanted, sizeof wanted), 0);
  EXPECT_NE(nobody.replace({}, socket.get(), 7, true), 0);
  socklen_t size = sizeof wanted;
  ASSERT_EQ(::getsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &wanted, &size), 0);
  EXPECT_EQ(wanted.l_onoff, 0);
}

}  // namespace
}  // namespace bulkhead
