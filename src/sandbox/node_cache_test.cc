#include "sandbox/node_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fd.h"
#include "policy/pattern.h"

namespace bulkhead {
namespace {

std::shared_ptr<const Policy> policy(const std::vector<std::string>& run) {
  PolicyInputs inputs;
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

TEST_F(NodeCacheTest, OnlyWhereNodeMayRun) {
  EXPECT_FALSE(node_cache(*policy({}), "/state", "s", {}));
  EXPECT_FALSE(node_cache(*policy({folder_ + "/sh"}), "/state", "s", {}));
  const auto cache = node_cache(*policy({node_}), "/state", "s", {});
  ASSERT_TRUE(cache);
  EXPECT_EQ(cache->place, "/tmp/node-compile-cache");
  EXPECT_TRUE(cache->source.starts_with("/state/node-cache/"));
}

TEST_F(NodeCacheTest, EachSubjectHasOneForEachWorkspace) {
  const auto node = policy({node_});
  const auto source = [&](std::string_view subject, const std::vector<std::string>& workspace) {
    return node_cache(*node, "/state", subject, workspace)->source;
  };
  EXPECT_EQ(source("s", {"/a", "/b"}), source("s", {"/a", "/b"}));
  EXPECT_NE(source("s", {"/a"}), source("t", {"/a"}));
  EXPECT_NE(source("s", {"/a"}), source("s", {"/b"}));
  EXPECT_NE(source("s", {"/a", "/b"}), source("s", {"/a/b"}));
  EXPECT_NE(source("s/a", {}), source("s", {"/a"}));
}

}  // namespace
}  // namespace bulkhead
