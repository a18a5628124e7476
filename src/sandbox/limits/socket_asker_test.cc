#include "sandbox/limits/socket_asker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "base/fd.h"
#include "sandbox/limits/socket_memory.h"
#include "sandbox/plan/probe.h"
#include "sandbox/testing/empty_network.h"
#include "sandbox/testing/full_connections.h"

namespace bulkhead {
namespace {

using testing::alone;
using testing::eventually;
using testing::Server;

class SocketAskerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (try_take_descriptor(::getpid()) != 0) GTEST_SKIP() << "needs pidfd-getfd";
  }
};

SocketAsker::Question about(const Fd& socket) {
  struct stat about {};
  EXPECT_EQ(::fstat(socket.get(), &about), 0);
  return {::getpid(), socket.get(), about.st_ino};
}

TEST_F(SocketAskerTest, TellsWhatASocketHolds) {
  alone([](int) {
    const Server server;
    const Fd client = server.fill();
    const Fd other(::socket(AF_UNIX, SOCK_STREAM, 0));
    SocketAsker asker;
    std::map<uint64_t, SocketAsker::Answer> answers;
    EXPECT_TRUE(eventually([&] {
      answers = asker.ask({about(client), about(other)});
      return answers.size() == 2;
    }));
    const auto& its = answers[about(client).inode];
    EXPECT_TRUE(its.is_inet);
    EXPECT_GT(inet_buffers(its.memory), 10'000U);
    EXPECT_FALSE(answers[about(other).inode].is_inet);
  });
}

TEST_F(SocketAskerTest, WhatIsNotMeantIsNotAnswered) {
  alone([](int) {
    const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
    const Fd folder(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    SocketAsker asker;
    auto other = about(socket), none = about(socket), nobody = about(socket);
    ++other.inode;
    none.number = 1 << 20;
    nobody.thread = -1;
    EXPECT_TRUE(asker.ask({other, none, nobody, about(folder)}).empty());
    EXPECT_TRUE(asker.ask({}).empty());
  });
}

// The copy is the last of a connection that is full, and its owner has said that closing waits: an
// hour. A keeper of limits that waited would be one that nobody has.
TEST_F(SocketAskerTest, ACloseThatLingersIsNotWaitedFor) {
  alone([](int) {
    const Server server;
    Fd client = server.fill();
    const linger hour{1, 3600};
    ASSERT_EQ(::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &hour, sizeof hour), 0);
    const auto asked = about(client);
    const Fd further(::socket(AF_INET, SOCK_STREAM, 0));
    std::atomic<bool> closed = false;
    SocketAsker asker([&] {
      client.reset();
      closed = true;
    });
    (void)asker.ask({asked});
    EXPECT_TRUE(eventually([&] { return closed.load(); }));
    EXPECT_TRUE(asker.ask({about(further)}).empty()) << "no more copies while one is closed";
    // It goes on where that ends: the peer reads no more, and says so.
    Fd accepted(::accept(server.socket.get(), nullptr, nullptr));
    const linger at_once{1, 0};
    ASSERT_EQ(::setsockopt(accepted.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    accepted.reset();
    EXPECT_TRUE(eventually([&] { return asker.ask({about(further)}).size() == 1; }));
  });
}

TEST_F(SocketAskerTest, AForkedProcessHasAThreadOfItsOwn) {
  alone([](int) {
    const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
    SocketAsker asker;
    const auto is_answered = [&] { return asker.ask({about(socket)}).size() == 1; };
    EXPECT_TRUE(eventually(is_answered));
    const pid_t child = ::fork();
    if (child == 0) ::_exit(eventually(is_answered) ? 0 : 1);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(eventually(is_answered));
  });
}

}  // namespace
}  // namespace bulkhead
