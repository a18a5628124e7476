#include "sandbox/launch/stdio.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/fd.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;

std::string refusal(const Stdio& stdio) {
  std::vector<int> descriptors;
  const auto numbers = choose_numbers(stdio, descriptors);
  return numbers.ok() ? "none" : numbers.error().message;
}

TEST(StdioTest, NumbersGoInOrderAndWhatComesLaterHasNoDescriptor) {
  const Fd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<int> descriptors = {77};
  const auto numbers =
      choose_numbers({{200, file.get()}, {5, kGivenLater}, {3, file.get()}}, descriptors);
  ASSERT_TRUE(numbers.ok());
  ASSERT_EQ(numbers->size(), 3u);
  EXPECT_EQ((*numbers)[0].number, 3u);
  EXPECT_EQ((*numbers)[1].given, 0u);
  EXPECT_EQ((*numbers)[2].number, 200u);
  EXPECT_EQ(descriptors, (std::vector<int>{77, file.get(), file.get()}));
}

TEST(StdioTest, WhatIsRefusedIsNamed) {
  EXPECT_THAT(refusal({{256, 0}}), HasSubstr("from 0 to 255, not 256"));
  EXPECT_THAT(refusal({{-3, 0}}), HasSubstr("from 0 to 255, not -3"));
  EXPECT_THAT(refusal({{3, 999}}), HasSubstr("descriptor 999, to be the program's 3, is not open"));
  Stdio many;
  for (int number = 0; number < 65; ++number) many[number] = kGivenLater;
  EXPECT_THAT(refusal(many), HasSubstr("at most 64"));
  const Fd datagram(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_THAT(refusal({{9, datagram.get()}}), HasSubstr("is a datagram socket"));
  EXPECT_FALSE(may_be_given(datagram.get(), 9).ok());
  const Fd stream(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(refusal({{9, stream.get()}}), "none");
}

}  // namespace
}  // namespace bulkhead
