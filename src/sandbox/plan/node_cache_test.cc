#include "sandbox/plan/node_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/fd.h"
#include "policy/pattern.h"

namespace bulkhead {
namespace {

std::shared_ptr<const Policy> policy(const std::vector<std::string>& run,
                                     const PolicyInputs& more = {}) {
  PolicyInputs inputs = more;
  for (const std::string& file : run)
    inputs.manifest.run.push_back(Entry{quote_path(file), {"test", 1, 1, "run"}});
  auto compiled = Policy::compile(inputs);
  EXPECT_TRUE(compiled.ok());
  return *compiled;
}

class NodeCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    node_ = folder_ + "/node";
    ASSERT_EQ(::symlink("/bin/sh", (folder_ + "/sh").c_str()), 0);
    ASSERT_TRUE(write_file_atomically(node_, "", 0755).ok());
  }
  void TearDown() override {
    ::unlink(node_.c_str());
    ::unlink((folder_ + "/sh").c_str());
    ::rmdir(folder_.c_str());
  }
  std::string folder_ = "/var/tmp/node-cache-XXXXXX";
  std::string node_;
};

constexpr auto kEnforce = Enforcement::kEnforce;

TEST_F(NodeCacheTest, OnlyWhereNodeMayRun) {
  EXPECT_FALSE(node_cache(*policy({}), kEnforce, "/state", {"s", {}}));
  EXPECT_FALSE(node_cache(*policy({folder_ + "/sh"}), kEnforce, "/state", {"s", {}}));
  const auto cache = node_cache(*policy({node_}), kEnforce, "/state", {"s", {}});
  ASSERT_TRUE(cache);
  EXPECT_EQ(cache->place, "/tmp/node-compile-cache");
  EXPECT_TRUE(cache->source.starts_with("/state/node-cache/"));
}

TEST_F(NodeCacheTest, EachSubjectHasOneForEachWorkspace) {
  const auto node = policy({node_});
  const auto source = [&](std::string_view subject, const std::vector<std::string>& workspace) {
    return node_cache(*node, kEnforce, "/state", {subject, workspace})->source;
  };
  EXPECT_EQ(source("s", {"/a", "/b"}), source("s", {"/a", "/b"}));
  EXPECT_NE(source("s", {"/a"}), source("t", {"/a"}));
  EXPECT_NE(source("s", {"/a"}), source("s", {"/b"}));
  EXPECT_NE(source("s", {"/a", "/b"}), source("s", {"/a/b"}));
  EXPECT_NE(source("s/a", {}), source("s", {"/a"}));
}

TEST_F(NodeCacheTest, WhoMayMoreDoesNotRunWhatOthersLeft) {
  const auto source = [&](const PolicyInputs& inputs) {
    return node_cache(*policy({node_}, inputs), kEnforce, "/state", {"s", {"/w"}})->source;
  };
  const auto entry = [](const char* text) { return Entry{text, {"test", 1, 1, "x"}}; };
  const auto extra = [&](Rule::Source from, Verdict verdict, Kind kind, const char* text) {
    PolicyInputs inputs;
    inputs.extras.push_back({from, verdict, kind, entry(text)});
    return inputs;
  };
  const auto remembered = Rule::Source::kRemembered;
  std::vector<PolicyInputs> all(3);
  all[1].manifest.otherwise = Otherwise::kAsk;
  all[2].manifest.environment.push_back(entry("TOKEN"));
  all.push_back(extra(Rule::Source::kCommandLine, Verdict::kAllow, Kind::kRead, "/home/me/a"));
  all.push_back(extra(remembered, Verdict::kAllow, Kind::kRead, "/home/me/b"));
  all.push_back(extra(remembered, Verdict::kDeny, Kind::kRead, "/home/me/b"));
  all.push_back(extra(remembered, Verdict::kAllow, Kind::kWrite, "/home/me/b"));
  all.push_back(extra(remembered, Verdict::kAllow, Kind::kRun, "/bin/sh"));
  all.push_back(extra(remembered, Verdict::kAllow, Kind::kConnect, "example.com:443"));
  std::set<std::string> sources;
  for (const PolicyInputs& each : all) sources.insert(source(each));
  EXPECT_EQ(sources.size(), all.size());
  EXPECT_EQ(source(all[3]), source(all[3]));
}

TEST_F(NodeCacheTest, AnAuditHasNone) {
  EXPECT_FALSE(node_cache(*policy({node_}), Enforcement::kAuditOnly, "/state", {"s", {}}));
}

TEST_F(NodeCacheTest, AFolderOfEachRunsOwnMakesNoDifference) {
  const auto source = [&](const std::string& logs, const std::vector<std::string>& passing) {
    PolicyInputs inputs;
    inputs.manifest.files.write.push_back(Entry{logs, {"test", 1, 1, "x"}});
    return node_cache(*policy({node_}, inputs), kEnforce, "/state", {"s", {}, passing})->source;
  };
  EXPECT_EQ(source("/logs/1", {"/logs/1"}), source("/logs/2", {"/logs/2"}));
  EXPECT_NE(source("/logs/1", {}), source("/logs/2", {}));
  EXPECT_NE(source("/logs/12", {"/logs/1"}), source("/logs/2", {"/logs/2"}));
}

class MakeNodeCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  KeptFolder cache(const std::string& name) const {
    return {folder_ + "/node-cache/" + name, "/tmp/node-compile-cache"};
  }
  bool is_there(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(cache(name).source));
  }
  void used_days_ago(const std::string& name, long days) const {
    const struct timespec then { ::time(nullptr) - days * 24 * 60 * 60, 0 };
    const struct timespec times[] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, cache(name).source.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }
  std::string folder_ = "/var/tmp/node-cache-XXXXXX";
};

TEST_F(MakeNodeCacheTest, IsForItsUserAlone) {
  ASSERT_TRUE(make_node_cache(cache("a")));
  EXPECT_TRUE(make_node_cache(cache("a")));
  struct stat status {};
  ASSERT_EQ(::stat(cache("a").source.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST_F(MakeNodeCacheTest, WhatNobodyUsedForAMonthGoesAsANewOneComes) {
  for (const char* name : {"used", "again", "unused"}) ASSERT_TRUE(make_node_cache(cache(name)));
  ASSERT_TRUE(write_file_atomically(folder_ + "/kept", "", 0600).ok());
  std::filesystem::create_directory_symlink(folder_, cache("unused").source + "/link");
  used_days_ago("used", 29);
  used_days_ago("again", 31);
  used_days_ago("unused", 31);
  ASSERT_TRUE(make_node_cache(cache("again")));
  EXPECT_TRUE(is_there("unused"));  // none was added
  ASSERT_TRUE(make_node_cache(cache("new")));
  EXPECT_TRUE(is_there("used"));
  EXPECT_TRUE(is_there("again"));
  EXPECT_FALSE(is_there("unused"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/kept"));
}

TEST_F(MakeNodeCacheTest, ALinkOrAFileIsNone) {
  ASSERT_TRUE(make_node_cache(cache("a")));
  std::filesystem::create_directory_symlink("a", cache("link").source);
  ASSERT_TRUE(write_file_atomically(cache("file").source, "", 0600).ok());
  EXPECT_FALSE(make_node_cache(cache("link")));
  EXPECT_FALSE(make_node_cache(cache("file")));
}

TEST_F(MakeNodeCacheTest, AnothersIsNone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string caches = folder_ + "/node-cache";
  ASSERT_TRUE(make_node_cache(cache("a")));
  for (const std::string& folder : {cache("a").source, caches, folder_}) {
    ASSERT_EQ(::chown(folder.c_str(), 1000, 1000), 0);
    EXPECT_FALSE(make_node_cache(cache("a"))) << folder;
    ASSERT_EQ(::chown(folder.c_str(), 0, 0), 0);
    EXPECT_TRUE(make_node_cache(cache("a"))) << folder;
  }
}

TEST_F(MakeNodeCacheTest, OneThatGrewTooLargeStartsAnew) {
  ASSERT_TRUE(make_node_cache(cache("a")));
  const std::string inner = cache("a").source + "/v1";
  std::filesystem::create_directory(inner);
  ASSERT_TRUE(write_file_atomically(inner + "/code", "x", 0600).ok());
  ASSERT_TRUE(make_node_cache(cache("a")));
  EXPECT_TRUE(std::filesystem::exists(inner + "/code"));
  for (int i = 0; i < 10'000; ++i) std::ofstream(inner + "/" + std::to_string(i));
  for (const std::string& folder : {inner, cache("a").source})
    ASSERT_EQ(::chmod(folder.c_str(), 0), 0);
  ASSERT_TRUE(make_node_cache(cache("a")));
  EXPECT_TRUE(std::filesystem::is_empty(cache("a").source));
  const Fd large(::open((cache("a").source + "/large").c_str(), O_WRONLY | O_CREAT, 0600));
  ASSERT_EQ(::posix_fallocate(large.get(), 0, off_t{300} << 20U), 0);
  ASSERT_TRUE(make_node_cache(cache("a")));
  EXPECT_TRUE(std::filesystem::is_empty(cache("a").source));
}

}  // namespace
}  // namespace bulkhead
