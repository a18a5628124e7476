#include "sandbox/testing/empty_network.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/fd.h"

namespace bulkhead::testing {

void alone(const std::function<void(int diag)>& test) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) ::_exit(77);
    {
      const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      ifreq loopback{};
      std::strcpy(loopback.ifr_name, "lo");
      loopback.ifr_flags = IFF_UP;
      EXPECT_EQ(::ioctl(any.get(), SIOCSIFFLAGS, &loopback), 0);
    }
    const Fd diag(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    test(diag.get());
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs a network namespace";
  EXPECT_EQ(status, 0);
}

bool eventually(const std::function<bool()>& is_so) {
  for (int i = 0; i < 10'000; ++i) {
    if (is_so()) return true;
    ::usleep(1000);
  }
  return false;
}

}  // namespace bulkhead::testing
