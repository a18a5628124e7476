#include "vscode/endpoint.h"

#include <gtest/gtest.h>

#include <random>

namespace bulkhead {
namespace {

using Clock = Endpoint::Clock;
using std::chrono::milliseconds;

// A transport that keeps what was written until it is delivered, or loses it.
struct Wire {
  std::vector<uint8_t> bytes;
  Endpoint::Write writer() {
    return [this](Bytes header, Bytes body, const SharedBytes&) {
      bytes.insert(bytes.end(), header.begin(), header.end());
      bytes.insert(bytes.end(), body.begin(), body.end());
    };
  }
};

struct Peer {
  Wire out;
  Endpoint endpoint{out.writer()};
  MessageReader reader{1 << 20U};
  std::vector<std::string> got;
  bool disconnected = false;

  void take(std::vector<uint8_t>& bytes, Clock::time_point now) {
    const std::vector<uint8_t> batch = std::exchange(bytes, {});
    const Status status = reader.feed(batch, [&](const Message& message) -> Status {
      const auto what = endpoint.receive(message, now);
      if (what == Endpoint::Got::kMessage)
        got.emplace_back(message.body.begin(), message.body.end());
      if (what == Endpoint::Got::kDisconnect) disconnected = true;
      return {};
    });
    ASSERT_TRUE(status.ok());
  }
};

std::vector<uint8_t> text(const std::string& s) { return {s.begin(), s.end()}; }

TEST(Endpoint, DeliversInOrderAndForgetsWhatIsAcknowledged) {
  Peer a, b;
  const auto now = Clock::now();
  for (int i = 0; i < 5; ++i) a.endpoint.send(text("m" + std::to_string(i)));
  EXPECT_GT(a.endpoint.kept_bytes(), 0U);
  b.take(a.out.bytes, now);
  EXPECT_EQ(b.got, (std::vector<std::string>{"m0", "m1", "m2", "m3", "m4"}));
  EXPECT_TRUE(b.out.bytes.empty());  // no acknowledgement before it is due
  b.endpoint.tick(now);
  EXPECT_TRUE(b.out.bytes.empty());
  b.endpoint.tick(now + Endpoint::kAckDelay);
  a.take(b.out.bytes, now);
  EXPECT_EQ(a.endpoint.kept_bytes(), 0U);
}

TEST(Endpoint, TheOldestMessageIsTheFirstThatIsNotAcknowledged) {
  Wire wire;
  Endpoint endpoint{wire.writer()};
  EXPECT_EQ(endpoint.oldest_kept(), 0U);
  for (const char* each : {"one", "two", "three"}) endpoint.send(text(each));
  EXPECT_EQ(endpoint.oldest_kept(), 1U);
  Message acknowledgement;
  acknowledgement.type = MessageType::kAck;
  acknowledgement.ack = 2;
  endpoint.receive(acknowledgement, Clock::now());
  EXPECT_EQ(endpoint.oldest_kept(), 3U);
  acknowledgement.ack = 3;
  endpoint.receive(acknowledgement, Clock::now());
  EXPECT_EQ(endpoint.oldest_kept(), 0U);
}

TEST(Endpoint, RandomCutsLoseNothingAndRepeatNothing) {
  std::mt19937 random(7);
  Peer a, b;
  auto now = Clock::now();
  std::vector<std::string> from_a, from_b;
  for (int round = 0; round < 2000; ++round) {
    now += milliseconds(random() % 300);
    switch (random() % 6) {
      case 0:
        from_a.push_back("a" + std::to_string(round));
        a.endpoint.send(text(from_a.back()));
        break;
      case 1:
        from_b.push_back("b" + std::to_string(round));
        b.endpoint.send(text(from_b.back()));
        break;
      case 2:
        b.take(a.out.bytes, now);
        break;
      case 3:
        a.take(b.out.bytes, now);
        break;
      case 4:
        a.endpoint.tick(now);
        b.endpoint.tick(now);
        break;
      case 5:
        if (random() % 10 != 0) break;
        a.out.bytes.clear();  // in flight both ways: lost
        b.out.bytes.clear();
        a.reader = MessageReader(1 << 20U);
        b.reader = MessageReader(1 << 20U);
        a.endpoint.cut_off();
        b.endpoint.cut_off();
        if (random() % 2 == 0)
          a.endpoint.send(text(from_a.emplace_back("cut" + std::to_string(round))));
        a.endpoint.reconnected(a.out.writer(), now);
        b.endpoint.reconnected(b.out.writer(), now);
        break;
      default:
        break;
    }
  }
  for (int i = 0; i < 3; ++i) {
    b.take(a.out.bytes, now);
    a.take(b.out.bytes, now);
    now += milliseconds(6000);
    a.endpoint.tick(now);
    b.endpoint.tick(now);
  }
  EXPECT_GT(from_a.size(), 200U);
  EXPECT_EQ(b.got, from_a);
  EXPECT_EQ(a.got, from_b);
  EXPECT_EQ(a.endpoint.kept_bytes(), 0U);
  EXPECT_EQ(b.endpoint.kept_bytes(), 0U);
}

TEST(Endpoint, PauseHoldsAndResumeSends) {
  Peer a, b;
  const auto now = Clock::now();
  Message pause;
  pause.type = MessageType::kPause;
  a.endpoint.receive(pause, now);
  a.endpoint.send(text("held"));
  EXPECT_TRUE(a.out.bytes.empty());
  Message resume;
  resume.type = MessageType::kResume;
  a.endpoint.receive(resume, now);
  b.take(a.out.bytes, now);
  EXPECT_EQ(b.got, std::vector<std::string>{"held"});
}

TEST(Endpoint, AGapAsksForAReplayOnceInTenSeconds) {
  Peer a, b;
  const auto now = Clock::now();
  a.endpoint.send(text("one"));
  a.out.bytes.clear();  // lost
  a.endpoint.send(text("two"));
  a.endpoint.send(text("three"));
  b.take(a.out.bytes, now);
  EXPECT_TRUE(b.got.empty());
  a.take(b.out.bytes, now);
  b.take(a.out.bytes, now);
  EXPECT_EQ(b.got, (std::vector<std::string>{"one", "two", "three"}));
}

TEST(Endpoint, ReplaysAreNotGivenAsOftenAsALiarAsks) {
  Peer a;
  const auto now = Clock::now();
  a.endpoint.send(text("one"));
  a.out.bytes.clear();
  Message ask;
  ask.type = MessageType::kReplayRequest;
  a.endpoint.receive(ask, now);
  const size_t once = a.out.bytes.size();
  EXPECT_GT(once, kMessageHeader);
  for (int i = 0; i < 100; ++i) a.endpoint.receive(ask, now + milliseconds(i));
  EXPECT_EQ(a.out.bytes.size(), once);
  a.endpoint.receive(ask, now + Endpoint::kReplayPause);
  EXPECT_EQ(a.out.bytes.size(), 2 * once);
}

TEST(Endpoint, ShortMessagesAreKeptForWhatTheyTake) {
  Endpoint endpoint([](Bytes, Bytes, const SharedBytes&) {});
  for (int i = 0; i < 1000; ++i) endpoint.send({1});
  EXPECT_GE(endpoint.kept_bytes(), 100'000U);
}

TEST(Endpoint, ALyingAcknowledgementForgetsNothing) {
  Peer a;
  a.endpoint.send(text("kept"));
  Message lie;
  lie.type = MessageType::kAck;
  lie.ack = 1000;
  a.endpoint.receive(lie, Clock::now());
  EXPECT_GT(a.endpoint.kept_bytes(), 0U);
}

}  // namespace
}  // namespace bulkhead
