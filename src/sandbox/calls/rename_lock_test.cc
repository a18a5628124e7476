#include "sandbox/calls/rename_lock.h"

#include <gtest/gtest.h>

#include <thread>

namespace bulkhead {
namespace {

using Use = RenameLock::Use;
using Change = RenameLock::Change;

TEST(RenameLock, NamesAreInUseUntilTheLastUseEnds) {
  RenameLock renames;
  EXPECT_TRUE(renames.begin(1, "/w/a/file", Use::kOpen));
  EXPECT_TRUE(renames.begin(1, "/w/b", Use::kMove));
  EXPECT_TRUE(renames.begin(2, "/w/a/file", Use::kOpen));
  EXPECT_TRUE(renames.in_use("/w/a/file", Change::kLinkOrFolder));
  EXPECT_TRUE(renames.in_use("/w/a", Change::kLinkOrFolder)) << "it would lead elsewhere";
  EXPECT_FALSE(renames.in_use("/w/a/file", Change::kFile)) << "an editor saves so";
  EXPECT_FALSE(renames.in_use("/w/a/other", Change::kLinkOrFolder));
  EXPECT_FALSE(renames.in_use("/w/a/fil", Change::kLinkOrFolder));
  EXPECT_TRUE(renames.in_use("/w/b/deep/er", Change::kFile));
  EXPECT_TRUE(renames.in_use("/w/b", Change::kFile));
  renames.end(1);
  EXPECT_FALSE(renames.in_use("/w/b", Change::kLinkOrFolder));
  EXPECT_TRUE(renames.in_use("/w/a", Change::kLinkOrFolder)) << "by the other number";
  renames.end(2);
  EXPECT_FALSE(renames.in_use("/", Change::kLinkOrFolder));
}

TEST(RenameLock, UsesAreBounded) {
  RenameLock renames;
  for (uint32_t i = 0; i < 65536; ++i) ASSERT_TRUE(renames.begin(i, "/w", Use::kOpen));
  EXPECT_FALSE(renames.begin(70000, "/x", Use::kOpen));
  renames.end(7);
  EXPECT_TRUE(renames.begin(70000, "/x", Use::kOpen));
}

TEST(RenameLock, IsTakenByOneAtATime) {
  RenameLock renames;
  const auto first = renames.take(false);
  EXPECT_TRUE(first.owns_lock());
  EXPECT_FALSE(renames.take(false).owns_lock());
}

TEST(RenameLock, WhoWaitsIsWokenByTheEndOfAUse) {
  RenameLock renames;
  ASSERT_TRUE(renames.begin(1, "/w", Use::kOpen));
  auto lock = renames.take(true);
  std::thread other([&] { renames.end(1); });
  bool woken = false;
  while (renames.in_use("/w", Change::kLinkOrFolder)) woken = renames.wait(lock);
  EXPECT_TRUE(woken);
  lock.unlock();
  other.join();
}

}  // namespace
}  // namespace bulkhead
