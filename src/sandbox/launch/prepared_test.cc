#include "sandbox/launch/prepared.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "sandbox/launch/report.h"
#include "sandbox/plan/probe.h"
#include "sandbox/testing/going_on.h"

namespace bulkhead {
namespace {

using ::testing::HasSubstr;

// Everything granted.
Result<Plan> plan(const std::string& script, Stdio stdio) {
  PolicyInputs inputs;
  inputs.manifest.files.read = {{"/", {}}};
  inputs.manifest.files.write = {{"/", {}}};
  inputs.manifest.run = {{"/", {}}};
  inputs.variables.home = "/nonexistent";
  BULKHEAD_TRY(auto policy, Policy::compile(inputs));
  BULKHEAD_TRY(Plan made, make_plan(policy, {"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin"}, "/",
                                    {.enforcement = Enforcement::kEnforce}));
  made.stdio = std::move(stdio);
  return made;
}

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    out = Fd(ends[0]);
    in = Fd(ends[1]);
  }
  // Until all others have closed it.
  std::string rest() {
    in.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = ::read(out.get(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<size_t>(got));
    return text;
  }
  Fd out, in;
};

class PreparedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Feature& feature : probe_features())
      if (feature.required && !feature.present) GTEST_SKIP() << "needs " << feature.name;
  }
  // Lets the program go, to its end.
  static ProgramEvent finish(Prepared& prepared) {
    EXPECT_TRUE(prepared.listener->send(prepared.execve, Reply::go_on()));
    const testing::GoingOn going(*prepared.listener);
    ProgramEvent event{};
    EXPECT_EQ(::recv(prepared.compartment.status.get(), &event, sizeof event, 0),
              static_cast<ssize_t>(sizeof event));
    kill_compartment(prepared.compartment);
    return event;
  }
  static std::string open_numbers(pid_t program) {
    std::string open;
    for (int number = 0; number <= kHighestNumber; ++number) {
      struct stat status {};
      if (::lstat(fmt::format("/proc/{}/fd/{}", program, number).c_str(), &status) == 0)
        open += fmt::format("{} ", number);
    }
    return open;
  }
};

TEST_F(PreparedTest, GetsItsDescriptorsWhileItWaits) {
  Pipe input, output;
  auto made = plan("read line <&5; echo got $line >&9; [ -e /proc/$$/fd/255 ] && echo there >&9",
                   {{1, kGivenLater}, {5, kGivenLater}, {9, kGivenLater}, {255, kGivenLater}});
  ASSERT_TRUE(made.ok()) << to_string(made.error());
  auto prepared = prepare(*made);
  ASSERT_TRUE(prepared.ok()) << to_string(prepared.error());
  pollfd report{prepared->compartment.status.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&report, 1, 50), 0) << "the program ran";
  ASSERT_TRUE(give(*prepared, *made, 5, output.in.get()).ok());
  ASSERT_TRUE(give(*prepared, *made, 5, input.out.get()).ok());  // in place of the first
  ASSERT_TRUE(give(*prepared, *made, 9, output.in.get()).ok());
  ASSERT_TRUE(give(*prepared, *made, 255, output.in.get()).ok());
  ASSERT_EQ(::write(input.in.get(), "it\n", 3), 3);
  EXPECT_EQ(finish(*prepared).kind, ProgramEvent::Kind::kExited);
  EXPECT_EQ(output.rest(), "got it\nthere\n");
}

TEST_F(PreparedTest, WhatIsNotGivenIsClosed) {
  auto made = plan("true", {{2, 2}, {7, kGivenLater}, {9, kGivenLater}});
  ASSERT_TRUE(made.ok());
  auto prepared = prepare(*made);
  ASSERT_TRUE(prepared.ok()) << to_string(prepared.error());
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(give(*prepared, *made, 9, null.get()).ok());
  EXPECT_THAT(open_numbers(prepared->compartment.program), HasSubstr("9 "));
  EXPECT_EQ(finish(*prepared).value, 0);
  auto tells = plan("for n in 0 1 7; do [ -e /proc/$$/fd/$n ] && exit $n; done; exit 42",
                    {{2, 2}, {7, kGivenLater}, {9, kGivenLater}});
  auto again = prepare(*tells);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(finish(*again).value, 42);
}

TEST_F(PreparedTest, OnlyWhatWasAnnouncedIsTaken) {
  auto made = plan("exit 3", {{0, 0}, {5, kGivenLater}});
  auto prepared = prepare(*made);
  ASSERT_TRUE(prepared.ok()) << to_string(prepared.error());
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Fd datagram(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (const int number : {0, 3, 6, 255, 256, -1}) {
    const Status status = give(*prepared, *made, number, null.get());
    ASSERT_FALSE(status.ok()) << number;
    EXPECT_THAT(status.error().message, HasSubstr("is not one that is given later"));
  }
  EXPECT_THAT(give(*prepared, *made, 5, datagram.get()).error().message, HasSubstr("datagram"));
  EXPECT_THAT(give(*prepared, *made, 5, 999).error().message, HasSubstr("not open"));
  EXPECT_EQ(finish(*prepared).value, 3);
}

// A failed execve is still reported by the socket, which no number takes the place of.
TEST_F(PreparedTest, NoNumberReachesTheReport) {
  Pipe output;
  Stdio stdio;
  for (int number = 0; number < 64; ++number) stdio[number] = kGivenLater;
  auto made = plan("true", stdio);
  made->program = "/nonexistent/program";
  auto prepared = prepare(*made);
  ASSERT_TRUE(prepared.ok()) << to_string(prepared.error());
  for (int number = 0; number < 64; ++number)
    ASSERT_TRUE(give(*prepared, *made, number, output.in.get()).ok()) << number;
  const ProgramEvent event = finish(*prepared);
  EXPECT_EQ(event.kind, ProgramEvent::Kind::kExecFailed);
  EXPECT_EQ(event.value, ENOENT);
  EXPECT_EQ(output.rest(), "");
}

TEST_F(PreparedTest, OneThatWasKilledTakesNothing) {
  auto made = plan("true", {{5, kGivenLater}});
  auto prepared = prepare(*made);
  ASSERT_TRUE(prepared.ok()) << to_string(prepared.error());
  kill_compartment(prepared->compartment);
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Status status = give(*prepared, *made, 5, null.get());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().errno_value, ESRCH);
}

}  // namespace
}  // namespace bulkhead
