#include "sandbox/limits/usage.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace bulkhead {
namespace {

TEST(ParseField, WholeNamesAndUnits) {
  uint64_t value = 0;
  const std::string_view text =
      "Name:\tVmRSS: 9 kB\nVmRSSX:\t1 kB\nVmRSS:\t  123 kB\nplain: 7\nlast:";
  ASSERT_TRUE(parse_field(text, "VmRSS", &value));
  EXPECT_EQ(value, 123U * 1024);
  ASSERT_TRUE(parse_field(text, "plain", &value));
  EXPECT_EQ(value, 7U);
  EXPECT_FALSE(parse_field(text, "last", &value));
  EXPECT_FALSE(parse_field(text, "absent", &value));
  EXPECT_FALSE(parse_field(text, "VmRS", &value));
}

TEST(ParseSystemV, SumsWhatEachListStandsFor) {
  const std::string_view segments =
      "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  "
      "cgid "
      "     atime      dtime      ctime                   rss                  swap\n"
      "         0          1   600              10485760    12    12      0  1000  1000  1000  "
      "1000 "
      "1763800000 1763800000 1763800000              10485760                  4096\n"
      "-559038737          2   600                  4096    12    12      1  1000  1000  1000  "
      "1000 "
      "1763800000          0 1763800000                  4096                     0\n";
  EXPECT_EQ(parse_system_v(segments, SystemV::kSegments), 10485760U + 2 * 4096 + 2 * 512);
  const std::string_view sets =
      "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n"
      "         0          0   600      32000  1000  1000  1000  1000          0 1763800000\n";
  EXPECT_EQ(parse_system_v(sets, SystemV::kSemaphores), 32000U * 64 + 512);
  EXPECT_EQ(parse_system_v(sets, SystemV::kSemaphores, 10), 32000U * 64 + 512 + 10 * (64000 + 96));
  const std::string_view queues =
      "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid      "
      "stime      rtime      ctime\n"
      "         0          0   600       16384          3     7     0  1000  1000  1000  1000 "
      "1763800000          0 1763800000\n";
  EXPECT_EQ(parse_system_v(queues, SystemV::kMessages), 16384U + 3 * 64 + 512);
  for (const std::string_view text :
       {"", "\n", "no list", "a b\n\n\n", "a\n1 2 3\n", "a\n- - - - -"})
    EXPECT_EQ(parse_system_v(text, SystemV::kSegments), 0U) << text;
}

// The lists are those of this machine; of its own at least the columns are as expected.
TEST(ParseSystemV, TheKernelWritesTheseColumns) {
  for (size_t i = 0; i < kSystemVLists; ++i) {
    const auto text = read_file(kSystemVFiles[i], 1U << 20U);
    if (!text.ok()) GTEST_SKIP() << "needs system-v";
    const char* columns[] = {
        "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap",
        "key semid perms nsems", "key msqid perms cbytes qnum"};
    std::string plain;
    for (const char c : text->substr(0, text->find('\n')))
      if (c != ' ' || (!plain.empty() && plain.back() != ' ')) plain += c;
    EXPECT_THAT(plain, ::testing::StartsWith(columns[i]));
  }
}

using Sample = Inheritance::Sample;

TEST(Inheritance, AWaitedForDeathIsNotCountedTwice) {
  Inheritance total;
  EXPECT_EQ(total.update({{1, {10, 0}}, {2, {50, 0}}}), 60U);
  // 2 used 5 more, died, and 1 waited for it.
  EXPECT_EQ(total.update({{1, {10 + 55, 55}}}), 65U);
  EXPECT_EQ(total.update({{1, {70, 55}}}), 70U);
}

TEST(Inheritance, AnUnwaitedDeathKeepsItsLastSample) {
  Inheritance total;
  total.update({{1, {10, 0}}, {2, {50, 0}}});
  EXPECT_EQ(total.update({{1, {12, 0}}}), 62U);
  EXPECT_EQ(total.update({{1, {12, 0}}, {3, {30, 0}}}), 92U);
  EXPECT_EQ(total.update({{1, {12, 0}}}), 92U);
}

TEST(Inheritance, GoesUpThroughSeveralGenerations) {
  Inheritance total;
  total.update({{1, {1, 0}}, {2, {10, 0}}, {3, {100, 0}}});
  EXPECT_EQ(total.update({{1, {1 + 110, 110}}}), 111U);
}

TEST(Inheritance, AReusedPidIsAnotherProcess) {
  Inheritance total;
  total.update({{1, {0, 0}}, {2, {50, 0}}});
  // The key holds the start time, so the new process is not taken for one that went back in time.
  EXPECT_EQ(total.update({{1, {0, 0}}, {1002, {5, 0}}}), 55U);
}

TEST(Inheritance, WithoutTheInheritedPartGrowthHidesADeath) {
  // As for written bytes: less than what was, never more.
  Inheritance total;
  total.update({{1, {10, 10}}, {2, {50, 50}}});
  EXPECT_EQ(total.update({{1, {60, 60}}}), 60U) << "waited for";
  Inheritance other;
  other.update({{1, {10, 10}}, {2, {50, 50}}});
  EXPECT_EQ(other.update({{1, {30, 30}}}), 60U) << "not waited for, while 1 wrote 20";
}

TEST(Inheritance, NeverFalls) {
  Inheritance total;
  uint64_t last = 0, state = 12345;
  for (int round = 0; round < 1000; ++round) {
    std::map<uint64_t, Sample> living;
    for (uint64_t key = 0; key < 6; ++key) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      if ((state >> 60U) < 8) living[key] = {state >> 50U, state >> 52U};
    }
    const uint64_t now = total.update(living);
    EXPECT_GE(now, last);
    last = now;
  }
}

class OwnProc : public ::testing::Test {
 protected:
  ProcReader reader_{Fd(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC))};
};

TEST_F(OwnProc, SeesThisProcess) {
  const auto pids = reader_.processes();
  ASSERT_TRUE(pids.ok());
  EXPECT_THAT(*pids, ::testing::Contains(::getpid()));
  const auto stat = reader_.stat(::getpid());
  ASSERT_TRUE(stat);
  EXPECT_GT(stat->start_ticks, 0U);
  uint64_t written = 0;
  ProcReader::Resident resident;
  ASSERT_TRUE(reader_.resident(::getpid(), &resident));
  EXPECT_GT(resident.pages, 1U << 20U);
  EXPECT_GT(resident.kernel, 24U << 10U) << "a thread, and tables of pages";
  EXPECT_TRUE(ProcReader::written_bytes(reader_.written_count(::getpid()), &written));
  EXPECT_FALSE(reader_.outlives_its_first_thread(::getpid()));
  ProcReader::Proportional memory;
  ASSERT_TRUE(reader_.proportional(::getpid(), &memory));
  EXPECT_GT(memory.other, 1U << 18U);
  EXPECT_FALSE(reader_.stat(-1));
}

TEST_F(OwnProc, ManyDescriptorsTakeMemory) {
  constexpr size_t kMany = 3000;
  ProcReader::Resident before, after;
  ASSERT_TRUE(reader_.resident(::getpid(), &before));
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  rlimit more = usual;
  more.rlim_cur = more.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &more), 0);
  std::vector<Fd> open;
  for (size_t i = 0; i < kMany; ++i) open.emplace_back(::eventfd(0, EFD_CLOEXEC));
  ASSERT_TRUE(open.back());
  ASSERT_TRUE(reader_.resident(::getpid(), &after));
  EXPECT_GT(after.kernel, before.kernel + 2'500'000);
  open.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
}

TEST_F(OwnProc, OneDescriptorOfAHighNumberTakesMemory) {
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  rlimit more = usual;
  more.rlim_cur = std::min<rlim_t>(more.rlim_max, 65536);
  const pid_t child = ::fork();
  if (child == 0) {
    ProcReader::Resident before, after;
    bool counted = reader_.resident(::getpid(), &before);
    counted &= ::setrlimit(RLIMIT_NOFILE, &more) == 0 &&
               ::dup2(0, static_cast<int>(more.rlim_cur) - 1) > 0 &&
               reader_.resident(::getpid(), &after) &&
               after.kernel >= before.kernel + more.rlim_cur * 7;
    ::_exit(counted ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(OwnProc, MapsTakeMemoryWithoutAPage) {
  constexpr size_t kMany = 2000, kPage = 4096;
  const uint64_t before = reader_.maps(::getpid());
  EXPECT_GT(before, 0U);
  void* const map = ::mmap(nullptr, kMany * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  for (size_t i = 0; i < kMany; i += 2)
    ASSERT_EQ(::mprotect(static_cast<char*>(map) + i * kPage, kPage, PROT_READ), 0);
  EXPECT_GT(reader_.maps(::getpid()), before + kMany - 2);
  ::munmap(map, kMany * kPage);
  EXPECT_EQ(reader_.maps(-1), 0U);
}

// Its name in /proc tells nothing any more, and its other threads go on.
TEST_F(OwnProc, AProcessWhoseFirstThreadHasEndedIsSeen) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  ProcReader::Open before;  // it has what this process has (launch/image.h)
  reader_.add_open(::getpid(), &before);
  const pid_t child = ::fork();
  if (child == 0) {
    static const int told = ready[1];
    std::thread([] {
      constexpr size_t kSize = 32U << 20U;
      void* memory =
          ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::memset(memory, 1, kSize);
      const int held = ::memfd_create("held", 0);
      if (::ftruncate(held, 4096) != 0 || ::write(held, "x", 1) != 1) ::_exit(1);
      (void)!::write(told, "x", 1);
      ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);  // the first thread alone
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  for (int i = 0; i < 1000 && reader_.stat(child)->state != 'Z'; ++i) ::usleep(1000);
  ProcReader::Resident resident;
  ASSERT_TRUE(reader_.resident(child, &resident));
  EXPECT_GE(resident.pages, 32U << 20U);
  ProcReader::Proportional memory;
  ASSERT_TRUE(reader_.proportional(child, &memory));
  EXPECT_GE(memory.other, 32U << 20U);
  ProcReader::Open open;
  reader_.add_open(child, &open);
  EXPECT_EQ(open.memfds.size(), before.memfds.size() + 1);
  EXPECT_TRUE(reader_.outlives_its_first_thread(child));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(OwnProc, CountsUnmappedMemfdsOnce) {
  const Fd memfd(::memfd_create("test", MFD_CLOEXEC));
  const Fd same(::fcntl(memfd.get(), F_DUPFD_CLOEXEC, 3));
  const std::string megabyte(1U << 20U, 'x');
  ASSERT_EQ(::write(memfd.get(), megabyte.data(), megabyte.size()),
            static_cast<ssize_t>(megabyte.size()));
  const Fd teller(::open("/proc/self/fdinfo/0", O_RDONLY | O_CLOEXEC));
  ProcReader::Open open;
  reader_.add_open(::getpid(), &open);
  EXPECT_EQ(open.tellers, 1U);
  uint64_t sum = 0;
  for (const auto& [inode, bytes] : open.memfds) sum += bytes;
  EXPECT_GE(sum, megabyte.size());
  EXPECT_LT(sum, 2 * megabyte.size());
}

}  // namespace
}  // namespace bulkhead
