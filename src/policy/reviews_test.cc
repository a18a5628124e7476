#include "policy/reviews.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "base/fd.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

Package package_of(const std::string& id, char code) {
  Package package;
  package.id = id;
  package.version = "1.0.0";
  package.digest = std::string(64, code);
  return package;
}
ManifestBytes manifest_with(const std::string& text) { return ManifestBytes::of("m.json", text); }

class ReviewStoreTest : public ::testing::Test {
 protected:
  ReviewStoreTest() {
    std::string name = fs::temp_directory_path() / "bulkhead-reviews-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    file_ = folder_ + "/config/reviews.json";
  }
  ~ReviewStoreTest() override { fs::remove_all(folder_); }
  std::string folder_, file_;
};

TEST_F(ReviewStoreTest, RemembersTheExactBytes) {
  ReviewStore store(file_);
  EXPECT_FALSE(store.approved("a.b")->has_value());
  const std::string text = "{\"manifest\":1 , \"run\": [\"\xC3\xA9\\u0000\\\"\"]}\n";
  ASSERT_TRUE(store.approve(package_of("a.b", '1'), manifest_with(text)).ok());
  ASSERT_TRUE(store.approve(package_of("a.a", '2'), manifest_with("{}")).ok());

  const auto found = ReviewStore(file_).approved("A.B");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->manifest.bytes(), text);
  EXPECT_EQ((*found)->manifest.digest(), manifest_with(text).digest());
  EXPECT_EQ((*found)->package, std::string(64, '1'));
  EXPECT_EQ((*found)->version, "1.0.0");
  EXPECT_EQ((*found)->approved.size(), 20U);
  const auto all = store.list();
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[0].id, "a.a");

  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(ReviewStoreTest, ALaterApprovalReplacesAndForgettingForgets) {
  ReviewStore store(file_);
  ASSERT_TRUE(store.approve(package_of("a.b", '1'), manifest_with("{}")).ok());
  ASSERT_TRUE(store.approve(package_of("a.b", '2'), manifest_with("{ }")).ok());
  EXPECT_EQ(store.list()->size(), 1U);
  EXPECT_EQ((*store.approved("a.b"))->package, std::string(64, '2'));
  EXPECT_TRUE(*store.forget("A.b"));
  EXPECT_FALSE(*store.forget("a.b"));
  EXPECT_FALSE(store.approved("a.b")->has_value());
}

TEST_F(ReviewStoreTest, WhatIsBrokenOrForeignIsAnErrorAndNoApproval) {
  ReviewStore store(file_);
  ASSERT_TRUE(store.approve(package_of("a.b", '1'), manifest_with("{\"manifest\":1}")).ok());
  const std::string good = *read_file(file_, 1 << 20);
  const auto refused = [&](const std::string& text, const char* why) {
    EXPECT_TRUE(write_file_atomically(file_, text, 0600).ok());
    const auto found = store.approved("a.b");
    ASSERT_FALSE(found.ok()) << text;
    EXPECT_THAT(testing::told(found.error()), HasSubstr(why));
    EXPECT_FALSE(store.approve(package_of("c.d", '1'), manifest_with("{}")).ok());
    EXPECT_FALSE(store.forget("a.b").ok());
    EXPECT_EQ(*read_file(file_, 1 << 20), text) << "a broken file was overwritten";
  };
  refused("", "reviews.json");
  refused("{}", "no list of reviews of version 1");
  refused(R"({"reviews": 1})", "\"approved\" is missing");
  refused(R"({"reviews": 1, "approved": [{}]})", "\"extension\" must be a string");
  std::string forged = good;
  forged.replace(forged.find("\\\"manifest\\\":1"), 14, "\\\"manifest\\\":2");
  refused(forged, "is not the SHA-256 of");
  const std::string line = good.substr(good.find("    {"), good.rfind('}') - good.find("    {"));
  refused(R"({"reviews": 1, "approved": [)" + line.substr(0, line.rfind('}') + 1) + "," +
              line.substr(0, line.rfind('}') + 1) + "]}",
          "stands here twice");
  ASSERT_TRUE(write_file_atomically(file_, good, 0622).ok());
  EXPECT_FALSE(store.approved("a.b").ok());
}

TEST_F(ReviewStoreTest, SeveralMayApproveAtOnce) {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      ReviewStore store(file_);
      EXPECT_TRUE(
          store.approve(package_of("a.b" + std::to_string(i), '1'), manifest_with("{}")).ok());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ReviewStore(file_).list()->size(), size_t{kThreads});
}

TEST_F(ReviewStoreTest, APackageWithoutADigestIsNotApproved) {
  Package package = package_of("a.b", '1');
  package.digest = "";
  EXPECT_FALSE(ReviewStore(file_).approve(package, manifest_with("{}")).ok());
  EXPECT_FALSE(ReviewStore(file_).approve(package_of("", '1'), manifest_with("{}")).ok());
}

TEST(ReviewReasonTest, AsksForWhatIsNewAndOnlyForThat) {
  const Package one = package_of("a.b", '1'), two = package_of("a.b", '2');
  const ManifestBytes old = manifest_with("{}"), changed = manifest_with("{ }");
  Approval approval;
  approval.id = "a.b";
  approval.package = one.digest;
  approval.manifest = old;

  EXPECT_EQ(review_reason(std::nullopt, one, old, false), ReviewReason::kNew);
  EXPECT_EQ(review_reason(approval, package_of("c.d", '1'), old, false), ReviewReason::kNew);
  EXPECT_EQ(review_reason(approval, one, old, false), ReviewReason::kNone);
  EXPECT_EQ(review_reason(approval, one, old, true), ReviewReason::kNone);  // it was approved
  EXPECT_EQ(review_reason(approval, one, changed, false), ReviewReason::kNone);
  EXPECT_EQ(review_reason(approval, one, changed, true), ReviewReason::kWidened);
  EXPECT_EQ(review_reason(approval, two, old, false), ReviewReason::kChanged);
  EXPECT_EQ(review_reason(approval, two, changed, false), ReviewReason::kChanged);
  EXPECT_EQ(review_reason(approval, two, changed, true), ReviewReason::kWidened);
}

}  // namespace
}  // namespace bulkhead
