#include "sandbox/calls/epoll_entries.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/calls/target_socket.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {
namespace {

TEST(EpollEntries, AreFoundByNumberAndInode) {
  constexpr const char* kText =
      "pos:\t0\nflags:\t02000002\nmnt_id:\t15\nino:\t1057\n"
      "tfd:        7 events:       19 data:                7  pos:0 ino:9d51 sdev:8\n"
      "tfd:        8 events: 80000019 data: fedcba9876543210  pos:0 ino:9d52 sdev:8\n";
  const auto found = find_epoll_entry(kText, 8, 0x9d52);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(uint32_t{found->events}, 0x80000019U);
  EXPECT_EQ(uint64_t{found->data.u64}, 0xfedcba9876543210U);
  EXPECT_FALSE(find_epoll_entry(kText, 8, 0x9d51).has_value()) << "another file of that number";
  EXPECT_FALSE(find_epoll_entry(kText, 9, 0x9d52).has_value());
  EXPECT_FALSE(find_epoll_entry("", 8, 0x9d52).has_value());
  EXPECT_FALSE(find_epoll_entry("tfd: 8 events: ino:9d52", 8, 0x9d52).has_value());
  EXPECT_TRUE(find_epoll_entry("tfd: 8 events: 1 data: 2 pos:0 ino:9d52", 8, 0x9d52).has_value());
}

TEST(EpollEntries, AreFoundInThisKernelsWords) {
  const Processes processes(-1);
  TargetSocket socket;
  socket.fd.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  socket.number = socket.fd.get();
  const Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  const Fd without(::epoll_create1(EPOLL_CLOEXEC));
  EXPECT_TRUE(epoll_entries(processes, ::getpid(), socket).empty());
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = 0xfedcba9876543210;
  ASSERT_EQ(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, socket.number, &event), 0);
  const auto found = epoll_entries(processes, ::getpid(), socket);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(uint64_t{found[0].event.data.u64}, 0xfedcba9876543210U);
  EXPECT_NE(uint32_t{found[0].event.events} & uint32_t{EPOLLET}, 0U);
}

}  // namespace
}  // namespace bulkhead
