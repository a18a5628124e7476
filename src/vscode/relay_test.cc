#include "vscode/relay.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "vscode/pulse.h"
#include "vscode/relay_fixture.h"

namespace bulkhead::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(RelayTest, MessagesPassBothWaysOfEverySize) {
  open_both();
  for (const size_t size : {1UL, 100UL, 8191UL, 70000UL, 3UL << 20U}) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    auto sent = std::async(std::launch::async, [&] { host_->say(text); });
    EXPECT_TRUE(browser_->next() == text) << size;
    sent.get();
    sent = std::async(std::launch::async, [&] { browser_->say(text); });
    EXPECT_TRUE(host_->next() == text) << size;
    sent.get();
  }
}

TEST_F(RelayTest, TheHostGetsItsSocketOnceItIsReady) {
  start();
  open_browser();
  browser_->say("early");
  // Whatever else it says on its channel is nothing, and reaches nobody.
  channel_->say(R"({"type":"VSCODE_EXTHOST_IPC_SOCKET"})");
  channel_->say(R"([1])");
  channel_->say("no json");
  open_host();
  EXPECT_EQ(host_->next(), "early");
  channel_->say(R"({"type":"VSCODE_EXTHOST_IPC_READY"})");  // a second one is not for the server
  host_->say("here");
  EXPECT_EQ(browser_->next(), "here");
  relay_->stop();
  EXPECT_TRUE(end().ok());
  relay_.reset();
  EXPECT_TRUE(server_->next().first.is_null()) << "nothing but READY and one ACK";
}

TEST_F(RelayTest, AHostThatIsReadyFirstWaitsForTheBrowser) {
  start();
  channel_->say(R"({"type":"VSCODE_EXTHOST_IPC_READY"})");
  open_browser();
  auto [message, handle] = channel_->next();
  ASSERT_TRUE(handle.valid());
  End host(std::move(handle), false);
  host.say("hello");
  EXPECT_EQ(browser_->next(), "hello");
}

TEST_F(RelayTest, WhatTheServerHadReadAlreadyComesFirst) {
  start();
  Message message;
  message.type = MessageType::kRegular;
  message.id = 1;
  uint8_t header[kMessageHeader];
  write_message_header(message, 5, header);
  const std::string first = std::string(reinterpret_cast<char*>(header), kMessageHeader) + "first";
  auto [ours, theirs] = socket_pair();
  hand_over(std::move(theirs), first);
  open_host();
  EXPECT_EQ(host_->next(), "first");
}

TEST_F(RelayTest, AReconnectionReplaysWhatWasLost) {
  open_both();
  host_->say("one");
  EXPECT_EQ(browser_->next(), "one");
  browser_->cut();
  browser_->say("while cut");
  host_->say("two");
  host_->say("three");
  reconnect();
  EXPECT_EQ(browser_->next(), "two");
  EXPECT_EQ(browser_->next(), "three");
  EXPECT_EQ(host_->next(), "while cut");
  browser_->say("after");
  EXPECT_EQ(host_->next(), "after") << "and nothing twice";
  EXPECT_FALSE(host_->ended());
}

TEST_F(RelayTest, ANewConnectionTakesTheOldOnesPlace) {
  open_both();
  const End& old = *browser_;
  auto [ours, theirs] = socket_pair();
  hand_over(std::move(theirs));
  host_->say("who hears");
  End fresh(std::move(ours), true);
  EXPECT_EQ(fresh.next(), "ready") << "kept until it is acknowledged";
  EXPECT_EQ(fresh.next(), "who hears");
  char byte = 0;
  EXPECT_EQ(::read(old.fd(), &byte, 1), 0) << "the old one is closed";
}

TEST_F(RelayTest, ABrowserThatDoesNotComeBackEndsTheHost) {
  RelayOptions options;
  options.grace = std::chrono::milliseconds(1);
  open_both(options);
  browser_->cut();
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("did not come back"));
  relay_.reset();
  host_->read_to_end();
  EXPECT_TRUE(host_->disconnected());
}

TEST_F(RelayTest, APageThatIsLoadedAnewBeforeTheHostIsAtWorkIsNotWaitedFor) {
  RelayOptions options;
  options.short_grace = std::chrono::milliseconds(1);
  judge_.initialized = false;
  open_both(options);
  browser_->cut();
  EXPECT_TRUE(end().ok());
}

TEST_F(RelayTest, APageThatTheBrowserLeftIsNotWaitedFor) {
  RelayOptions options;
  options.short_grace = std::chrono::milliseconds(1);
  open_both(options);
  browser_->write_frame(0x88, "\x03\xe9");  // 1001, going away
  EXPECT_TRUE(end().ok());
  EXPECT_FALSE(relay_->lost_host());
}

TEST_F(RelayTest, APageThatWasLeftAndCameBackIsMissedAgain) {
  RelayOptions options;
  options.grace = std::chrono::seconds(2);  // as long as the way back may take here
  open_both(options);
  browser_->write_frame(0x88, "\x03\xe9");
  browser_->cut();
  host_->say("kept");
  reconnect();
  EXPECT_EQ(browser_->next(), "kept");
  browser_->cut();
  EXPECT_FALSE(end().ok()) << "this time nobody said that the page was left";
}

TEST_F(RelayTest, AWindowThatClosesEndsTheHostWithoutError) {
  open_both();
  browser_->disconnect();
  EXPECT_TRUE(end().ok());
  EXPECT_FALSE(relay_->lost_host());
  relay_.reset();
  host_->read_to_end();
  EXPECT_TRUE(host_->disconnected()) << "told, so that it does not wait for a reconnection";
}

TEST_F(RelayTest, ABrowserThatClosesItsSocketMayComeBack) {
  open_both();
  browser_->write_frame(0x88, "\x03\xe8");
  browser_->cut();
  host_->say("kept");
  reconnect();
  EXPECT_EQ(browser_->next(), "kept");
}

TEST_F(RelayTest, AHostThatDiesEndsTheConversationAndTheBrowserIsTold) {
  open_both();
  host_->say("last words");
  host_->cut();
  EXPECT_TRUE(end().ok());
  EXPECT_TRUE(relay_->lost_host());
  relay_.reset();
  EXPECT_EQ(browser_->next(), "last words");
  browser_->read_to_end();
  EXPECT_TRUE(browser_->disconnected());
  EXPECT_TRUE(browser_->closed());
}

TEST_F(RelayTest, StoppingSaysGoodbyeToBoth) {
  open_both();
  relay_->stop();
  EXPECT_TRUE(end().ok());
  relay_.reset();
  host_->read_to_end();
  browser_->read_to_end();
  EXPECT_TRUE(host_->disconnected());
  EXPECT_TRUE(browser_->disconnected());
  EXPECT_TRUE(browser_->closed());
}

TEST_F(RelayTest, AHostThatSaysGoodbyeIsDone) {
  open_both();
  host_->disconnect();
  EXPECT_TRUE(end().ok());
  EXPECT_TRUE(relay_->lost_host());
}

TEST_F(RelayTest, TheServersEndIsTheEnd) {
  open_both();
  server_->close();
  EXPECT_TRUE(end().ok());
  EXPECT_FALSE(relay_->lost_host());
}

TEST_F(RelayTest, AnOversizedMessageEndsTheHostWithItsSize) {
  RelayOptions options;
  options.message_limit = 1000;
  open_both(options);
  host_->say(std::string(1000, 'x'));
  EXPECT_EQ(browser_->next().size(), 1000U);
  host_->say(std::string(1001, 'x'));
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("extension host"));
  EXPECT_THAT(status.error().message, HasSubstr("1001 bytes, 1000 allowed"));
}

TEST_F(RelayTest, AJudgesErrorEndsTheHostAndKeepsItsNumber) {
  open_both();
  host_->say("bad");
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("that was bad"));
  EXPECT_EQ(status.error().errno_value, 77);
}

TEST_F(RelayTest, GarbageOfAHostEndsIt) {
  open_both();
  host_->write_raw("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(end().ok());
}

TEST_F(RelayTest, GarbageOfABrowserEndsIt) {
  open_both();
  browser_->write_raw("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(end().ok());
}

TEST_F(RelayTest, CompressionIsRefusedBeforeAByteIsRead) {
  start();
  auto [ours, theirs] = socket_pair();
  hand_over(std::move(theirs), "", {{"permessageDeflate", true}});
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("--disable-websocket-compression"));
}

TEST_F(RelayTest, AFrameThatIsCompressedAfterAllIsRefused) {
  open_both();
  browser_->write_frame(0xC2, "x");
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("compression"));
}

TEST_F(RelayTest, MessagesOfTheServerThatAreNone) {
  start();
  server_->say(R"({"type":"something else"})");
  server_->say(R"({"cmd":"NODE_HANDLE","msg":{"type":"VSCODE_EXTHOST_IPC_SOCKET"}})");
  EXPECT_EQ(server_->next().first["cmd"], "NODE_HANDLE_ACK");
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("something else than a browser's socket"));
}

TEST_F(RelayTest, OddTypesInTheServersMessageDoNotThrow) {
  start();
  auto [ours, theirs] = socket_pair();
  hand_over(std::move(theirs), "",
            {{"permessageDeflate", "no"}, {"skipWebSocketFrames", 1}, {"initialDataChunk", 7}});
  browser_.emplace(std::move(ours), true);
  EXPECT_EQ(browser_->next(), "ready");
}

// Nobody reads what it is answered: it is not read either, and holds no more than the limit.
TEST_F(RelayTest, AHostThatDoesNotReadItsAnswersStandsStill) {
  RelayOptions options;
  options.kept_limit = 100000;
  open_both(options);
  const int flags = ::fcntl(host_->fd(), F_GETFL);
  ::fcntl(host_->fd(), F_SETFL, flags | O_NONBLOCK);
  Message message;
  message.type = MessageType::kRegular;
  std::string flood;
  for (uint32_t id = 1; id <= 200000; ++id) {
    message.id = id;
    uint8_t header[kMessageHeader];
    write_message_header(message, 6, header);
    flood.append(reinterpret_cast<char*>(header), kMessageHeader).append("refuse");
  }
  // 200 MB of answers would be kept. The relay stops it by not reading, or ends it.
  size_t sent = 0;
  for (int idle = 0; sent < flood.size() && idle < 200;) {
    const ssize_t n = ::send(host_->fd(), flood.data() + sent, flood.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<size_t>(n);
      idle = 0;
    } else if (errno == EAGAIN) {
      ::usleep(1000);
      ++idle;
    } else {
      break;
    }
  }
  EXPECT_LT(sent, flood.size());
}

TEST_F(RelayTest, AHostThatNeverAcknowledgesIsEnded) {
  RelayOptions options;
  options.kept_limit = 100000;
  options.message_limit = 100000;
  open_both(options);
  // It reads, as far as it must to be read, and acknowledges nothing.
  Message message;
  message.type = MessageType::kRegular;
  std::vector<char> drain(1 << 20U);
  uint32_t id = 0;
  while (ended_.wait_for(std::chrono::seconds(0)) != std::future_status::ready && id < 100000) {
    message.id = id + 1;
    uint8_t header[kMessageHeader];
    write_message_header(message, 6, header);
    std::string bytes(reinterpret_cast<char*>(header), kMessageHeader);
    bytes += "refuse";
    if (::send(host_->fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) ++id;
    while (::recv(host_->fd(), drain.data(), drain.size(), MSG_DONTWAIT) > 0) {
    }
  }
  ASSERT_LT(id, 100000U);
  const Status status = end();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("does not acknowledge"));
}

TEST_F(RelayTest, AHostThatDoesNotAcknowledgeIsToldOfUntilItDoes) {
  std::promise<bool> first, second;
  int told = 0;
  RelayOptions options;
  options.beat = std::chrono::milliseconds(5);
  options.is_excused = [] { return false; };
  options.on_pulse = [&](bool responds) {
    if (++told <= 2) (told == 1 ? first : second).set_value(responds);
  };
  open_both(options);
  browser_->say("hello");
  EXPECT_FALSE(first.get_future().get());
  EXPECT_EQ(host_->next(), "hello");
  host_->tick(Endpoint::kAckDelay);
  EXPECT_TRUE(second.get_future().get());
  relay_->stop();
  EXPECT_TRUE(end().ok());
  EXPECT_EQ(told, 2);
}

TEST_F(RelayTest, AHostThatIsNotReadIsNotBlamed) {
  std::atomic<int> beats = 0, told = 0;
  RelayOptions options;
  options.kept_limit = 100000;
  options.beat = std::chrono::milliseconds(2);
  options.is_excused = [&] { return ++beats == 0; };
  options.on_pulse = [&](bool) { ++told; };
  open_both(options);
  // The browser reads, and acknowledges nothing: the host is not read meanwhile.
  for (int i = 0; i < 2; ++i) host_->say(std::string(60000, 'x'));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(browser_->next().size(), 60000U);
  Message message;
  message.type = MessageType::kRegular;
  message.id = 1;
  uint8_t header[kMessageHeader];
  write_message_header(message, 5, header);
  browser_->write_frame(0x82, std::string(header, header + kMessageHeader) + "hello");
  EXPECT_EQ(host_->next(), "hello");
  host_->tick(Endpoint::kAckDelay);
  const int before = beats;
  std::this_thread::sleep_for(options.beat * 10 * Pulse::kPatience);
  EXPECT_EQ(beats, before);
  EXPECT_EQ(told, 0);
}

// Both directions beyond the limit, and every acknowledgement behind other bytes: a relay that
// reads neither before the other is acknowledged waits for ever.
TEST_F(RelayTest, TwoFullSidesDoNotWaitForEachOther) {
  RelayOptions options;
  options.kept_limit = 100000;
  options.message_limit = 4U << 20U;
  open_both(options);
  const std::string text(50000, 'x');
  constexpr size_t kCount = 200;
  const auto serve = [&](End& end) {
    end.queue_writes();
    size_t said = 0, got = 0;
    while (got < kCount || said < kCount || end.queued() > 0) {
      while (said < kCount && end.queued() < 400000) {
        end.say(text);
        ++said;
      }
      if (!end.pump()) break;
      for (; end.has_message(); ++got) end.next();
    }
    return got;
  };
  auto at_host = std::async(std::launch::async, [&] { return serve(*host_); });
  EXPECT_EQ(serve(*browser_), kCount);
  EXPECT_EQ(at_host.get(), kCount);
}

TEST_F(RelayTest, APingIsAnswered) {
  open_both();
  browser_->write_frame(0x89, "are you there");
  host_->say("then this");
  char buffer[256];
  std::string bytes;
  while (bytes.find("then this") == std::string::npos ||
         bytes.find("are you there") == std::string::npos) {
    const ssize_t n = ::read(browser_->fd(), buffer, sizeof buffer);
    ASSERT_GT(n, 0);
    bytes.append(buffer, static_cast<size_t>(n));
  }
  EXPECT_NE(bytes.find("\x8a\x0d"
                       "are you there"),
            std::string::npos);
}

}  // namespace
}  // namespace bulkhead::testing
