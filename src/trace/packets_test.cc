#include "trace/packets.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "base/fd.h"

namespace bulkhead {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class PacketsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "packets-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ + "/journal.db";
    std::array<int, 2> fds{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()), 0);
    ours_ = Fd(fds[0]);
    theirs_ = Fd(fds[1]);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void send(const std::string& packet) {
    ASSERT_EQ(::send(ours_.get(), packet.data(), packet.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(packet.size()));
  }
  // All that was sent, once nobody sends any more.
  Status keep() {
    ours_.reset();
    return keep_journal(theirs_.get(), file_);
  }
  std::vector<JournalRow> rows() {
    auto rows = read_journal(file_, {});
    EXPECT_TRUE(rows.ok());
    return rows.ok() ? std::move(rows).value() : std::vector<JournalRow>();
  }

  std::string folder_, file_;
  Fd ours_, theirs_;
};

Event refused(std::string resource, int32_t pid = 7) {
  Event event;
  event.kind = Kind::kRead;
  event.resource = std::move(resource);
  event.verdict = Verdict::kDeny;
  event.rule = "otherwise: deny";
  event.pid = pid;
  event.program = "/opt/node";
  event.detail = "openat";
  return event;
}

TEST_F(PacketsTest, DecisionsOfManyAreOneRun) {
  send("R\0/srv/app.js\0node app.js\0/srv"s);
  send("W\0007\0tax-rules"s);
  send("D\0system\0allow\0sandbox expose log\0what the host gave it\0007\0tax-rules\0create\0001"s);
  send("D\0system\0deny\0sandbox limit time\000100 ms\0007\0tax-rules\0\00041"s);
  PacketJournal(ours_.get()).record(refused("/etc/shadow"));
  PacketJournal(ours_.get()).record(refused("/proc/cpuinfo", 8));
  ASSERT_TRUE(keep().ok());
  const auto found = rows();
  ASSERT_THAT(found, SizeIs(4));
  for (const JournalRow& row : found) {
    EXPECT_EQ(row.run.id, found[0].run.id);
    EXPECT_EQ(row.run.subject, "/srv/app.js");
    EXPECT_EQ(row.run.command, "node app.js");
    EXPECT_EQ(row.run.workspace, "/srv");
  }
  EXPECT_EQ(found[0].event.kind, Kind::kSystem);
  EXPECT_EQ(found[0].event.verdict, Verdict::kAllow);
  EXPECT_EQ(found[0].event.resource, "sandbox expose log");
  EXPECT_EQ(found[1].event.count, 41U);
  EXPECT_EQ(found[1].event.program, "tax-rules");
  // Whose worker that was is known of the one, and not of the other.
  EXPECT_EQ(found[2].event.resource, "/etc/shadow");
  EXPECT_EQ(found[2].event.program, "tax-rules");
  EXPECT_EQ(found[2].event.detail, "openat");
  EXPECT_EQ(found[3].event.program, "/opt/node");
  const auto runs = read_runs(file_, {});
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs->at(0).outcome, "ended");
}

TEST_F(PacketsTest, NothingDecidedIsNoRun) {
  send("R\0/srv/app.js\0node app.js\0/srv"s);
  ASSERT_TRUE(keep().ok());
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(PacketsTest, WhatIsNoPacketEndsIt) {
  for (const std::string& packet :
       {"X"s, "D"s, "D\0nonsense\0deny\0a\0b\0007\0n\0\0001"s,
        "D\0system\0ask\0a\0b\0007\0n\0\0001"s, "D\0system\0deny\0a\0b\0x7\0n\0\0001"s,
        "D\0system\0deny\0a\0b\0007\0n\0\0-1"s, "D\0system\0deny\0a\0b\0007\0n\0\0001\0more"s,
        "W\0x\0name"s, "R\0a"s}) {
    std::array<int, 2> fds{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()), 0);
    const Fd ours(fds[0]), theirs(fds[1]);
    ASSERT_GT(::send(ours.get(), packet.data(), packet.size(), MSG_NOSIGNAL), 0);
    const Status kept = keep_journal(theirs.get(), file_);
    ASSERT_FALSE(kept.ok()) << packet;
    EXPECT_THAT(kept.error().message, HasSubstr("packet"));
  }
}

TEST_F(PacketsTest, RefusalsAreThereAtOnceAndAllowedOnesAreNotTold) {
  PacketJournal journal(ours_.get());
  Event allowed = refused("/lib/libc.so.6");
  allowed.verdict = Verdict::kAllow;
  journal.record(allowed);
  journal.record(refused("/etc/shadow"));
  std::array<char, 4096> packet{};
  const ssize_t size = ::recv(theirs_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
  ASSERT_GT(size, 0);
  EXPECT_THAT(std::string(packet.data(), static_cast<size_t>(size)), HasSubstr("/etc/shadow"));
  EXPECT_LT(::recv(theirs_.get(), packet.data(), packet.size(), MSG_DONTWAIT), 0);
}

// A worker that was taken over tries what it can: whoever keeps the journal is told little of it,
// and nothing of it is lost.
TEST_F(PacketsTest, AFloodIsCounted) {
  constexpr int kTimes = 20'000;
  uint64_t packets = 0;
  {
    PacketJournal journal(ours_.get());
    std::thread reader([&] {
      const Status kept = keep_journal(theirs_.get(), file_);
      EXPECT_TRUE(kept.ok());
    });
    for (int i = 0; i < kTimes; ++i) {
      journal.record(refused("/same"));
      journal.record(refused("/other" + std::to_string(i)));
    }
    // Where the socket was full, it is told now.
    while (!journal.flush().ok()) ::usleep(1000);
    ours_.reset();
    reader.join();
  }
  uint64_t same = 0, all = 0;
  for (const JournalRow& row : rows()) {
    ++packets;
    all += row.event.count;
    if (row.event.resource == "/same") same += row.event.count;
  }
  EXPECT_EQ(same, static_cast<uint64_t>(kTimes));
  EXPECT_EQ(all, 2U * kTimes);
  EXPECT_LE(packets, PacketJournal::kMostDistinct + 1);
}

TEST_F(PacketsTest, WithoutAReaderNothingWaitsAndNothingFails) {
  theirs_.reset();
  PacketJournal journal(ours_.get());
  for (int i = 0; i < 1000; ++i) journal.record(refused("/other" + std::to_string(i)));
  EXPECT_TRUE(journal.flush().ok());
}

TEST_F(PacketsTest, WhatNobodyTakesIsAnErrorAtTheEnd) {
  PacketJournal journal(ours_.get());
  EXPECT_TRUE(journal.flush().ok());
  for (size_t i = 0; i < 2 * PacketJournal::kMostDistinct; ++i)
    journal.record(refused("/other" + std::to_string(i) + std::string(2000, 'x')));
  const Status told = journal.flush();
  ASSERT_FALSE(told.ok());
  EXPECT_THAT(told.error().message, HasSubstr("not recorded"));
}

TEST_F(PacketsTest, AJournalThatCannotBeOpenedIsAnErrorThatNamesIt) {
  file_ = folder_;
  send("D\0system\0deny\0sandbox limit time\000100 ms\0007\0tax-rules\0\0001"s);
  const Status kept = keep();
  ASSERT_FALSE(kept.ok());
  EXPECT_THAT(kept.error().message, HasSubstr(folder_));
}

}  // namespace
}  // namespace bulkhead
