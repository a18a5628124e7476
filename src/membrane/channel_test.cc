#include "membrane/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

namespace bulkhead {
namespace {

struct Pair {
  explicit Pair(size_t slot = kLeastSlot) : memory(SharedChannel::make_memory(slot)) {
    EXPECT_TRUE(host.attach(memory, ChannelSide::kHost));
    EXPECT_TRUE(worker.attach(memory, ChannelSide::kWorker));
  }
  ~Pair() { ::close(memory); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  int memory;
  SharedChannel host, worker;
};

void say(SharedChannel& channel, const std::string& text) {
  std::memcpy(channel.outgoing().data(), text.data(), text.size());
  channel.send(text.size());
}

std::string hear(SharedChannel& channel) {
  while (!channel.spin()) channel.sleep(1'000'000);
  const size_t length = channel.receive();
  return length == SIZE_MAX
             ? "too long"
             : std::string(reinterpret_cast<const char*>(channel.incoming()), length);
}

TEST(Channel, TurnsBetweenThreads) {
  Pair pair;
  std::thread other([&] {
    for (int i = 0; i < 2000; ++i) say(pair.worker, hear(pair.worker) + "!");
  });
  for (int i = 0; i < 2000; ++i) {
    const std::string text = std::to_string(i) + std::string(static_cast<size_t>(i), 'x');
    say(pair.host, text);
    ASSERT_EQ(hear(pair.host), text + "!");
  }
  other.join();
}

TEST(Channel, AMessageAsLargeAsItsSlot) {
  Pair pair(1 << 20);
  EXPECT_GE(pair.host.capacity(), size_t{1} << 20);
  const std::string text(pair.host.capacity(), 'a');
  say(pair.host, text);
  EXPECT_EQ(hear(pair.worker), text);
}

// The other side writes whatever it wants into the length.
TEST(Channel, ALengthThatCannotBe) {
  Pair pair;
  pair.worker.send(pair.worker.capacity() + 1);
  EXPECT_EQ(hear(pair.host), "too long");
  pair.worker.send(UINT32_MAX);
  EXPECT_EQ(hear(pair.host), "too long");
  say(pair.worker, "still usable");
  EXPECT_EQ(hear(pair.host), "still usable");
}

TEST(Channel, TakesSealedMemoryOnly) {
  SharedChannel channel;
  const int open = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(open, static_cast<off_t>(kChannelPage + 2 * kLeastSlot)), 0);
  // Whoever could shrink it could make the host fault.
  EXPECT_FALSE(channel.attach(open, ChannelSide::kWorker));
  ASSERT_EQ(::fcntl(open, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_TRUE(channel.attach(open, ChannelSide::kWorker));
  ::close(open);
  EXPECT_FALSE(SharedChannel().attach(STDERR_FILENO, ChannelSide::kWorker));

  const int made = SharedChannel::make_memory(kLeastSlot);
  EXPECT_NE(::ftruncate(made, 0), 0);
  ::close(made);
}

TEST(Channel, MemoryThatBothHave) {
  const int memory = SharedChannel::make_memory(kLeastSlot, 5000);
  SharedChannel host, worker;
  ASSERT_TRUE(host.attach(memory, ChannelSide::kHost) &&
              worker.attach(memory, ChannelSide::kWorker));
  ASSERT_EQ(host.shared().size(), 2 * kChannelPage);
  ASSERT_EQ(worker.shared().size(), 2 * kChannelPage);
  // Behind the slots: the longest messages do not touch it.
  std::ranges::fill(host.shared(), 7);
  for (SharedChannel* side : {&host, &worker}) {
    std::ranges::fill(side->outgoing(), 1);
    side->send(side->capacity());
  }
  EXPECT_EQ(std::ranges::count(worker.shared(), 7), 2 * kChannelPage);
  EXPECT_TRUE(Pair().host.shared().empty());

  // What the other end says of it later counts for nothing; what cannot be is no channel's memory.
  worker.control().shared_pages.store(1 << 20);
  EXPECT_EQ(host.shared().size(), 2 * kChannelPage);
  EXPECT_FALSE(SharedChannel().attach(memory, ChannelSide::kWorker));
  ::close(memory);
}

TEST(Channel, BothHaveNoMoreThanSoMuch) {
  const int most = SharedChannel::make_memory(kLeastSlot, kMostShared + 1);
  SharedChannel channel;
  ASSERT_TRUE(channel.attach(most, ChannelSide::kWorker));
  EXPECT_EQ(channel.shared().size(), kMostShared);
  ::close(most);

  // One page more, by whoever makes it otherwise.
  const int more = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  constexpr size_t kShared = kMostShared + kChannelPage;
  ChannelControl control{};
  control.shared_pages.store(kShared / kChannelPage);
  ASSERT_EQ(::pwrite(more, &control, sizeof control, 0), ssize_t{sizeof control});
  ASSERT_EQ(::ftruncate(more, static_cast<off_t>(kChannelPage + 2 * kLeastSlot + kShared)), 0);
  ASSERT_EQ(::fcntl(more, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_FALSE(SharedChannel().attach(more, ChannelSide::kWorker));
  ::close(more);
}

TEST(Channel, ANudgeWakesWhoSleeps) {
  Pair pair;
  const uint64_t begin = monotonic_ns();
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      pair.host.nudge();
      ::usleep(1000);
    }
  });
  pair.host.sleep(20'000'000'000);
  EXPECT_LT(monotonic_ns() - begin, 10'000'000'000U);
  EXPECT_FALSE(pair.host.has_message());
  other.join();
}

}  // namespace
}  // namespace bulkhead
