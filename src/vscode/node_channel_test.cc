#include "vscode/node_channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bulkhead {
namespace {

struct Pair {
  Fd a, b;
  Pair() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    a.reset(fds[0]);
    b.reset(fds[1]);
  }
};

TEST(NodeChannel, PassesLinesAndTheHandleOfTheLineThatClaimsIt) {
  Pair pair;
  NodeChannel from(std::move(pair.a), 1000), to(std::move(pair.b), 1000);
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  Fd read_end(pipe_ends[0]);
  ASSERT_TRUE(from.send(R"({"type":"first"})").ok());
  ASSERT_TRUE(from.send(R"({"cmd":"NODE_HANDLE","msg":{}})", Fd(pipe_ends[1])).ok());
  ASSERT_TRUE(from.send(R"({"type":"last"})").ok());
  std::vector<std::string> lines;
  Fd handle;
  const auto more = to.receive([&](std::string_view line, Fd fd) -> Status {
    lines.emplace_back(line);
    if (fd) {
      EXPECT_EQ(lines.size(), 2U);
      handle = std::move(fd);
    }
    return {};
  });
  ASSERT_TRUE(more.ok());
  EXPECT_TRUE(*more);
  ASSERT_EQ(lines.size(), 3U);
  ASSERT_TRUE(handle.valid());
  ASSERT_EQ(::write(handle.get(), "x", 1), 1);
  char c = 0;
  EXPECT_EQ(::read(read_end.get(), &c, 1), 1);
}

TEST(NodeChannel, ALineBeyondTheLimitAndAFloodOfHandlesAreErrors) {
  const auto none = [](std::string_view, Fd) -> Status { return {}; };
  Pair pair;
  NodeChannel from(std::move(pair.a), 1 << 20U), to(std::move(pair.b), 100);
  ASSERT_TRUE(from.send(std::string(200, 'x').insert(0, "\""))
                  .ok());  // whole lines are the parser's business
  EXPECT_TRUE(to.receive(none).ok());
  Pair second;
  NodeChannel raw(std::move(second.b), 100);
  ASSERT_EQ(::write(second.a.get(), std::string(200, 'x').data(), 200), 200);
  EXPECT_FALSE(raw.receive(none).ok());
  Pair third;
  NodeChannel sender(std::move(third.a), 100), flooded(std::move(third.b), 100);
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(sender.send("{}", Fd(::dup(0))).ok());
  Result<bool> more = flooded.receive(none);
  EXPECT_FALSE(more.ok());
}

TEST(NodeChannel, WhoSendsWithoutEndIsNotReadWithoutEnd) {
  Pair pair;
  const Fd writer = std::move(pair.a);
  NodeChannel to(std::move(pair.b), 100);
  // For each line that is read, more are there.
  const std::string lines(4096, '\n'), line = "{}\n";
  const auto more = [&] {
    (void)!::send(writer.get(), lines.data(), lines.size(), MSG_DONTWAIT);
    (void)!::send(writer.get(), line.data(), line.size(), MSG_DONTWAIT);
  };
  more();
  size_t read = 0;
  const auto open = to.receive([&](std::string_view, Fd) -> Status {
    more();
    if (++read > 1000000) return Error{"without end"};
    return {};
  });
  ASSERT_TRUE(open.ok()) << open.error().message;
  EXPECT_TRUE(*open);
  EXPECT_GT(read, 0U);
}

TEST(NodeChannel, ALineComesInPieces) {
  Pair pair;
  const Fd writer = std::move(pair.a);
  NodeChannel to(std::move(pair.b), 1000);
  std::vector<std::string> lines;
  for (const std::string piece : {"{\"a\"", ":1}", "\n{}", "\n\n", "[", "]\nrest"}) {
    ASSERT_EQ(::write(writer.get(), piece.data(), piece.size()),
              static_cast<ssize_t>(piece.size()));
    ASSERT_TRUE(to.receive([&](std::string_view line, Fd) -> Status {
                    lines.emplace_back(line);
                    return {};
                  }).ok());
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"{\"a\":1}", "{}", "[]"}));
}

TEST(NodeChannel, TheEndIsTold) {
  Pair pair;
  pair.a.reset();
  NodeChannel to(std::move(pair.b), 100);
  const auto more = to.receive([](std::string_view, Fd) -> Status { return {}; });
  ASSERT_TRUE(more.ok());
  EXPECT_FALSE(*more);
}

}  // namespace
}  // namespace bulkhead
