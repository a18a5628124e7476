#include "trace/tally.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "policy/judge.h"

namespace bulkhead {
namespace {

Event event(std::string resource, Verdict verdict = Verdict::kAllow, std::string rule = "rule") {
  Event result;
  result.kind = Kind::kRead;
  result.resource = std::move(resource);
  result.verdict = verdict;
  result.rule = std::move(rule);
  return result;
}

uint64_t total(const std::vector<Tally::Change>& changes) {
  uint64_t sum = 0;
  for (const Tally::Change& change : changes) sum += change.count;
  return sum;
}

// Writes nothing, but numbers the rows as a database would.
void commit(Tally& tally, std::vector<Tally::Change> changes) {
  static int64_t next = 0;
  for (Tally::Change& change : changes)
    if (change.is_new) change.row = ++next;
  tally.commit(changes);
}

TEST(Tally, IdenticalEventsAreOneRow) {
  Tally tally;
  for (int i = 0; i < 1000; ++i) tally.add(event("/a"));
  auto changes = tally.take();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_TRUE(changes[0].is_new);
  EXPECT_EQ(changes[0].count, 1000U);
  commit(tally, changes);
  EXPECT_TRUE(tally.take().empty());

  tally.add(event("/a"));
  changes = tally.take();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_FALSE(changes[0].is_new);
  EXPECT_EQ(changes[0].count, 1U);
  EXPECT_NE(changes[0].row, 0);
}

TEST(Tally, CallsOfOnePermissionAreToldApart) {
  Tally tally;
  Event call = event("commands-foreign");
  call.kind = Kind::kVscode;
  for (const char* command : {"$executeCommand git.push", "$executeCommand git.pull"}) {
    call.detail = command;
    tally.add(call);
    tally.add(call);
  }
  const auto changes = tally.take();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].event.detail, "$executeCommand git.push");
  EXPECT_EQ(changes[1].event.detail, "$executeCommand git.pull");
  EXPECT_EQ(changes[0].count, 2U);
}

// Who invents names for what it calls hides nothing that it calls afterwards.
TEST(Tally, InventedCallsLeaveRoomForOtherPermissions) {
  Tally tally;
  Event call = event("commands-foreign");
  call.kind = Kind::kVscode;
  for (int i = 0; i < 30'000; ++i) {
    call.detail = fmt::format("$executeCommand a{}", i);
    tally.add(call);
  }
  call.resource = "terminal";
  call.detail = "$createTerminal";
  tally.add(call);
  const auto changes = tally.take();
  ASSERT_EQ(changes.size(), 66U);
  EXPECT_EQ(changes[64].event.detail, "(further calls)");
  EXPECT_EQ(changes[65].event.resource, "terminal");
  EXPECT_EQ(changes[65].event.detail, "$createTerminal");
  EXPECT_EQ(total(changes), 30'001U);
}

TEST(Tally, EveryPartOfTheKeyMakesARow) {
  Tally tally;
  const Event base = event("/a");
  std::vector<Event> variants(8, base);
  variants[1].kind = Kind::kWrite;
  variants[2].resource = "/b";
  variants[3].verdict = Verdict::kDeny;
  variants[4].asked = true;
  variants[5].enforced = false;
  variants[6].rule = "other";
  variants[7].program = "/bin/sh";
  for (const Event& variant : variants) tally.add(variant);
  EXPECT_EQ(tally.take().size(), variants.size());
  // pid and system call do not: a build forks thousands of processes that read the same headers.
  Event other = base;
  other.pid = 7;
  other.detail = "openat2";
  tally.add(other);
  EXPECT_EQ(tally.fresh(), 0U);
}

TEST(Tally, FieldsDoNotRunIntoEachOther) {
  Tally tally;
  Event first = event("/a", Verdict::kAllow, "b");
  Event second = event("/ab", Verdict::kAllow, "");
  Event third = event("b", Verdict::kAllow, "/a");
  tally.add(first);
  tally.add(second);
  tally.add(third);
  EXPECT_EQ(tally.take().size(), 3U);
}

TEST(Tally, CountersAddWithoutTheLock) {
  Tally tally;
  Tally::Slot& slot = tally.add(event("/a", Verdict::kDeny));
  slot.pending.fetch_add(41);
  EXPECT_EQ(tally.denied().at(0).count, 42U);
  auto changes = tally.take();
  EXPECT_EQ(total(changes), 42U);
  EXPECT_EQ(tally.denied().at(0).count, 42U) << "while it is being written";
  commit(tally, std::move(changes));
  slot.pending.fetch_add(1);
  EXPECT_EQ(tally.denied().at(0).count, 43U);
}

TEST(Tally, AFailedWriteIsTakenAgainWhole) {
  Tally tally;
  tally.add(event("/a"));
  auto changes = tally.take();
  tally.add(event("/a"));  // meanwhile
  tally.add(event("/b"));
  tally.undo(std::move(changes));
  changes = tally.take();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].event.resource, "/a");
  EXPECT_EQ(changes[0].count, 2U);
  EXPECT_TRUE(changes[0].is_new);
  EXPECT_EQ(total(changes), 3U);
}

TEST(Tally, AllowedFloodEndsInOneRowPerRule) {
  TallyBounds bounds;
  bounds.allowed_rows = 10;
  bounds.overflow_rows = 2;
  Tally tally(bounds);
  for (int i = 0; i < 100; ++i)
    for (const char* rule : {"first", "second", "third", "fourth"})
      tally.add(event(fmt::format("/{}", i), Verdict::kAllow, rule));
  const auto changes = tally.take();
  EXPECT_EQ(changes.size(), 10U + 2U + 1U);
  EXPECT_EQ(total(changes), 400U) << "nothing goes uncounted";
  std::map<std::string, uint64_t> further;
  for (const auto& change : changes)
    if (change.event.resource == "(further resources)") further[change.event.rule] = change.count;
  EXPECT_EQ(further.size(), 3U);
  EXPECT_TRUE(further.contains("first") || further.contains("third"));
}

TEST(Tally, DeniedHaveTheirOwnBudget) {
  TallyBounds bounds;
  bounds.allowed_rows = 5;
  bounds.denied_rows = 7;
  Tally tally(bounds);
  for (int i = 0; i < 1000; ++i) tally.add(event(fmt::format("/allowed/{}", i)));
  for (int i = 0; i < 1000; ++i) tally.add(event(fmt::format("/denied/{}", i), Verdict::kDeny));
  const auto changes = tally.take();
  size_t denied_rows = 0;
  uint64_t denied = 0;
  for (const auto& change : changes) {
    if (change.event.verdict != Verdict::kDeny) continue;
    ++denied_rows;
    denied += change.count;
  }
  EXPECT_EQ(denied_rows, 7U + 1U);
  EXPECT_EQ(denied, 1000U);
}

// Who is refused ten thousand other things first is told of for a key all the same.
TEST(Tally, WhatTheBlocklistRefusesHasItsOwnBudget) {
  TallyBounds bounds;
  bounds.denied_rows = 16;
  bounds.kept_denials = 8;
  Tally tally(bounds);
  for (int i = 0; i < 1000; ++i) tally.add(event(fmt::format("/denied/{}", i), Verdict::kDeny));
  Event key = event("/home/me/.ssh/id_rsa", Verdict::kDeny);
  key.rule = "built-in blocklist: ${home}/.ssh [ssh-keys]";
  tally.add(key);
  key.resource = "/home/me/.netrc";
  key.rule = std::string(kUnseenBlocked);
  key.verdict = Verdict::kDeny;
  bounds.blocked_share = 4;
  Tally roomy(bounds);
  for (int i = 0; i < 1000; ++i) roomy.add(event(fmt::format("/denied/{}", i), Verdict::kDeny));
  roomy.add(key);
  const auto tells = [](const std::vector<Event>& denied, const char* resource) {
    return std::any_of(denied.begin(), denied.end(),
                       [&](const Event& each) { return each.resource == resource; });
  };
  EXPECT_TRUE(tells(tally.denied(), "/home/me/.ssh/id_rsa"));
  EXPECT_TRUE(tells(roomy.denied(), "/home/me/.netrc"));
  size_t rows = 0;
  for (const auto& change : tally.take()) rows += change.event.resource.ends_with("id_rsa") ? 1 : 0;
  EXPECT_EQ(rows, 1U);
  // Which has an end too.
  for (int i = 0; i < 1000; ++i) {
    key.resource = fmt::format("/home/me/.ssh/{}", i);
    roomy.add(key);
  }
  EXPECT_LE(roomy.denied().size(), 8U + 2U + 1U);
}

TEST(Tally, EachKindHasItsOwnBudget) {
  TallyBounds bounds;
  bounds.allowed_rows = 16;
  Tally tally(bounds);
  for (int i = 0; i < 1000; ++i) tally.add(event(fmt::format("/read/{}", i)));
  for (const Kind kind : {Kind::kRun, Kind::kWrite, Kind::kConnect, Kind::kVscode}) {
    Event act = event("what was done");
    act.kind = kind;
    tally.add(std::move(act));
  }
  std::set<Kind> done;
  for (const auto& change : tally.take())
    if (change.event.resource == "what was done") done.insert(change.event.kind);
  EXPECT_EQ(done.size(), 4U) << "a flood of one kind hides nothing of another";
}

TEST(Tally, LongPathsCountByTheirBytes) {
  TallyBounds bounds;
  bounds.allowed_bytes = 100'000;
  Tally tally(bounds);
  for (int i = 0; i < 1000; ++i) tally.add(event(fmt::format("/{}/{}", i, std::string(5000, 'x'))));
  const auto changes = tally.take();
  EXPECT_LE(changes.size(), 30U);
  EXPECT_EQ(total(changes), 1000U);
  for (const auto& change : changes) EXPECT_LE(change.event.resource.size(), 4200U);
}

TEST(Tally, ResourcesThatDifferAfterTheCutStayApart) {
  Tally tally;
  const std::string prefix = "/" + std::string(5000, 'x');
  tally.add(event(prefix + "1"));
  tally.add(event(prefix + "2"));
  EXPECT_EQ(tally.take().size(), 2U);
}

TEST(Tally, DeniedAreSortedAndBoundedInMemory) {
  TallyBounds bounds;
  bounds.kept_denials = 3;
  Tally tally(bounds);
  for (int i = 0; i < 5; ++i)
    for (int n = 0; n <= i; ++n) tally.add(event(fmt::format("/{}", i), Verdict::kDeny));
  const auto denied = tally.denied();
  ASSERT_EQ(denied.size(), 4U);
  EXPECT_EQ(denied[0].resource, "/2");
  EXPECT_EQ(denied[0].count, 3U);
  EXPECT_EQ(denied[2].count, 1U);
  EXPECT_EQ(denied[3].resource, "(further resources)");
  EXPECT_EQ(denied[3].count, 4U + 5U);
}

}  // namespace
}  // namespace bulkhead
