#include "policy/package.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/fd.h"

namespace bulkhead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr const char* kPackageJson =
    R"({"publisher": "Acme", "name": "Tool", "version": "1.2.3", "main": "./out/main.js"})";

class PackageTest : public ::testing::Test {
 protected:
  PackageTest() {
    std::string name = fs::temp_directory_path() / "bulkhead-package-XXXXXX";
    root_ = ::mkdtemp(name.data());
    folder_ = root_ + "/ext";
    cache_ = root_ + "/state/packages/one";
    limits_.settle = std::chrono::nanoseconds(0);  // files of a test are young
    write("package.json", kPackageJson);
    write("out/main.js", "exports.activate = () => {};\n");
    write("README.md", "hello\n");
  }
  ~PackageTest() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = fs::path(folder_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  // Until the file system's clock has moved on, so that a change shows in the times of a file.
  void tick() const {
    const std::string file = root_ + "/clock";
    const auto changed = [&] {
      EXPECT_TRUE(write_file_atomically(file, "", 0600).ok());
      struct stat status {};
      EXPECT_EQ(::stat(file.c_str(), &status), 0);
      return std::pair(status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
    };
    const auto before = changed();
    while (changed() == before) continue;
  }
  Package package() {
    auto result = read_package(folder_, cache_, limits_);
    EXPECT_TRUE(result.ok()) << to_string(result.error());
    return result.ok() ? *result : Package();
  }
  std::string why_not() {
    const auto result = read_package(folder_, cache_, limits_);
    return result.ok() ? "it was read" : to_string(result.error());
  }

  std::string root_, folder_, cache_;
  PackageLimits limits_;
};

TEST_F(PackageTest, TellsWhatThePackageSaysAndHolds) {
  const Package read = package();
  EXPECT_EQ(read.id, "acme.tool");
  EXPECT_EQ(read.spelling, "Acme.Tool");
  EXPECT_EQ(read.display_name, "Acme.Tool");
  EXPECT_EQ(read.version, "1.2.3");
  EXPECT_EQ(read.main, "./out/main.js");
  EXPECT_EQ(read.files, 3U);
  EXPECT_EQ(read.digest.size(), 64U);
  EXPECT_FALSE(read.manifest.has_value());
}

// The digest is part of what people approved: a change of its making asks everybody again.
TEST_F(PackageTest, TheDigestIsMadeAsItAlwaysWas) {
  fs::permissions(folder_ + "/out/main.js", fs::perms::owner_all);
  fs::create_symlink("main.js", folder_ + "/out/link.js");
  EXPECT_EQ(package().digest, "a7508c24cccb391ff5979d91a88c3cdd04c67bdc2cb9938e3a7b4717a30903b0");
}

TEST_F(PackageTest, EveryChangeOfWhatRunsChangesTheDigest) {
  std::vector<std::string> digests = {package().digest};
  const auto changed = [&](const char* what) {
    const std::string digest = package().digest;
    EXPECT_THAT(digests, ::testing::Not(::testing::Contains(digest))) << what;
    digests.push_back(digest);
  };
  write("out/main.js", "exports.activate = () => {;};\n");
  changed("content");
  write("out/more.js", "");
  changed("a new file");
  fs::rename(folder_ + "/out/more.js", folder_ + "/more.js");
  changed("a new place");
  fs::permissions(folder_ + "/more.js", fs::perms::owner_all);
  changed("executable");
  fs::create_symlink("/etc/passwd", folder_ + "/link");
  changed("a link");
  fs::remove(folder_ + "/link");
  fs::create_symlink("/etc/shadow", folder_ + "/link");
  changed("a link's text");
  fs::remove(folder_ + "/link");
  write("link", "/etc/shadow");
  changed("a file in place of the link");
  write("bulkhead.json", R"({"manifest": 1})");
  changed("a manifest");
}

// VS Code writes it; a package that is installed again is the same one.
TEST_F(PackageTest, WhenItWasInstalledIsNoChangeAndAnythingElseThereIs) {
  const auto digest = [&](const char* metadata) {
    write("package.json",
          std::string(R"({"name": "Tool", "publisher": "Acme", "version": "1", "__metadata": {)") +
              metadata + "}}");
    return package().digest;
  };
  const std::string one = digest(R"("installedTimestamp": 1763760000000, "size": 5)");
  EXPECT_EQ(digest(R"("installedTimestamp": 1, "size": 5)"), one);
  for (const char* other :
       {R"("installedTimestamp": 1763760000000, "size": 6)",
        R"("installedTimestamp": "1763760000000", "size": 5)",
        R"("installedTimestamp": 17637600000000001, "size": 5)",
        R"("installedTimestamp": 1, "installedTimestamp": 1, "size": 5)", R"("size": 5)"})
    EXPECT_NE(digest(other), one) << other;
  const std::string two = digest(R"("installedTimestamp": 1, "installedTimestamp": 1)");
  EXPECT_NE(digest(R"("installedTimestamp": 2, "installedTimestamp": 1)"), two) << "one only";
}

TEST_F(PackageTest, TheOrderOfCreationDoesNotMatter) {
  write("a", "1");
  write("b/c", "2");
  const std::string digest = package().digest;
  fs::remove_all(folder_);
  write("b/c", "2");
  write("a", "1");
  write("README.md", "hello\n");
  write("out/main.js", "exports.activate = () => {};\n");
  write("package.json", kPackageJson);
  EXPECT_EQ(package().digest, digest);
}

TEST_F(PackageTest, LinksAreNotFollowed) {
  fs::create_directories(root_ + "/elsewhere");
  std::ofstream(root_ + "/elsewhere/file") << "1";
  fs::create_directory_symlink(root_ + "/elsewhere", folder_ + "/link");
  const std::string digest = package().digest;
  std::ofstream(root_ + "/elsewhere/file") << "2";
  EXPECT_EQ(package().digest, digest);

  fs::rename(folder_, root_ + "/moved");
  fs::create_directory_symlink(root_ + "/moved", folder_);
  EXPECT_THAT(why_not(), HasSubstr("cannot open the extension's folder"));
}

TEST_F(PackageTest, AnEntryThatIsALinkIsNoPackageJson) {
  fs::rename(folder_ + "/package.json", root_ + "/package.json");
  fs::create_symlink(root_ + "/package.json", folder_ + "/package.json");
  EXPECT_THAT(why_not(), HasSubstr("no package.json of its own"));
}

TEST_F(PackageTest, WhatIsNoFileIsRefused) {
  ASSERT_EQ(::mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  EXPECT_THAT(why_not(), HasSubstr("fifo is neither a file nor a folder"));
}

TEST_F(PackageTest, IsBounded) {
  const PackageLimits before = limits_;
  limits_.files = 3;
  EXPECT_THAT(why_not(), HasSubstr("has more than 3 files"));
  limits_ = before;
  limits_.bytes = 100;
  EXPECT_THAT(why_not(), HasSubstr("holds more than 100 bytes"));
  limits_ = before;
  limits_.depth = 1;
  EXPECT_EQ(package().id, "acme.tool");
  write("a/b/c", "");
  EXPECT_THAT(why_not(), HasSubstr("lies deeper than 1 folders"));
  limits_ = before;
  write("bulkhead.json", std::string((1 << 20) + 1, ' '));
  EXPECT_THAT(why_not(), HasSubstr("bulkhead.json is larger than"));
}

// package.json is read each time, so the other two files are what the cache can know.
TEST_F(PackageTest, WhatDidNotChangeIsNotReadAgain) {
  const Package first = package();
  EXPECT_EQ(first.hashed, 2U);
  const Package second = package();
  EXPECT_EQ(second.hashed, 0U);
  EXPECT_EQ(second.digest, first.digest);

  tick();
  write("README.md", "hallo\n");  // of the same length
  const Package third = package();
  EXPECT_EQ(third.hashed, 1U);
  EXPECT_NE(third.digest, first.digest);
  EXPECT_EQ(third.digest, read_package(folder_, "")->digest);
}

TEST_F(PackageTest, ATimeThatWasSetBackDoesNotDeceiveTheCache) {
  const Package first = package();
  struct stat status {};
  const std::string file = folder_ + "/README.md";
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  tick();
  write("README.md", "hallo\n");
  const std::array<struct timespec, 2> times = {status.st_atim, status.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
  EXPECT_NE(package().digest, first.digest);
}

TEST_F(PackageTest, AFileThatJustChangedIsNotRemembered) {
  limits_.settle = std::chrono::hours(1);
  EXPECT_EQ(package().hashed, 2U);
  EXPECT_EQ(package().hashed, 2U);
}

TEST_F(PackageTest, ABrokenCacheIsMadeAnew) {
  const std::string digest = package().digest;
  struct stat status {};
  ASSERT_EQ(::stat(cache_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  const auto bytes = read_file(cache_, 1 << 20);
  ASSERT_TRUE(bytes.ok());

  // Any byte of it.
  for (size_t i = 0; i < bytes->size(); i += 7) {
    std::string broken = *bytes;
    broken[i] = static_cast<char>(broken[i] ^ 1);
    ASSERT_TRUE(write_file_atomically(cache_, broken, 0600).ok());
    const Package again = package();
    EXPECT_EQ(again.digest, digest) << i;
    EXPECT_EQ(again.hashed, 2U) << i;
  }
  for (const std::string& broken : {std::string(), bytes->substr(0, bytes->size() - 1)}) {
    ASSERT_TRUE(write_file_atomically(cache_, broken, 0600).ok());
    EXPECT_EQ(package().hashed, 2U);
  }
  EXPECT_EQ(package().hashed, 0U);
  // One that others could have written is not believed.
  ASSERT_EQ(::chmod(cache_.c_str(), 0620), 0);
  EXPECT_EQ(package().hashed, 2U);
  fs::remove(cache_);
  fs::create_symlink(root_ + "/other", cache_);
  EXPECT_EQ(package().digest, digest);
}

TEST_F(PackageTest, WithoutACacheNothingIsWritten) {
  ASSERT_TRUE(read_package(folder_, "").ok());
  EXPECT_FALSE(fs::exists(root_ + "/state"));
}

TEST(PackageJsonTest, ReadsWhatBulkheadNeeds) {
  const auto read = parse_package_json("package.json", R"({
    "publisher": "A", "name": "b", "displayName": "%name%", "browser": "web.js",
    "extensionDependencies": ["X.y", "x.y", 1, "../evil", "c.d"],
    "contributes": {"typescriptServerPlugins": [{"name": "ts-x"}, {}, "no"]}})",
                                       R"({"name": {"message": "Nice Name"}})");
  ASSERT_TRUE(read.ok()) << to_string(read.error());
  EXPECT_EQ(read->display_name, "Nice Name");
  EXPECT_EQ(read->main, "");
  EXPECT_EQ(read->browser, "web.js");
  EXPECT_THAT(read->dependencies, ElementsAre("c.d", "x.y"));
  EXPECT_THAT(read->typescript_plugins, ElementsAre("ts-x"));
}

TEST(PackageJsonTest, RefusesWhatItCannotTellApart) {
  for (const char* text :
       {"", "[]", "{", "{}", R"({"publisher": "a", "name": "../../etc"})",
        R"({"publisher": "a/b", "name": "c"})", R"({"publisher": "a", "name": "b", "main": 1})",
        R"({"publisher": "a", "name": "b", "main": ["x.js"]})"})
    EXPECT_FALSE(parse_package_json("package.json", text, "").ok()) << text;
}

TEST(PackageJsonTest, ADeepFileCostsNoMemory) {
  std::string deep = R"({"publisher": "a", "name": "b", "x": )";
  deep += std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  const auto read = parse_package_json("package.json", deep, "");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->id, "a.b");
}

class ManifestOfTest : public ::testing::Test {
 protected:
  ManifestOfTest() {
    std::string name = fs::temp_directory_path() / "bulkhead-manifests-XXXXXX";
    places_.data = ::mkdtemp(name.data());
    fs::create_directories(places_.data + "/manifests");
    package_.id = "a.b";
    shipped("baseline-extension", R"({"manifest": 1, "vscode": ["window"]})");
  }
  ~ManifestOfTest() override { fs::remove_all(places_.data); }
  void shipped(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(
        write_file_atomically(places_.data + "/manifests/" + name + ".json", text, 0644).ok());
  }
  Places places_;
  Package package_;
};

TEST_F(ManifestOfTest, ItsOwnComesBeforeOursBeforeTheBaseline) {
  using Origin = PackageManifest::Origin;
  auto found = manifest_of(package_, places_);
  ASSERT_TRUE(found.ok()) << to_string(found.error());
  EXPECT_EQ(found->origin, Origin::kBaseline);
  EXPECT_EQ(found->manifest.extension, "a.b");
  shipped("a.b", R"({"manifest": 1, "extension": "A.b"})");
  found = manifest_of(package_, places_);
  ASSERT_TRUE(found.ok()) << to_string(found.error());
  EXPECT_EQ(found->origin, Origin::kShipped);
  package_.manifest = ManifestBytes::of("bulkhead.json", R"({"manifest": 1})");
  found = manifest_of(package_, places_);
  ASSERT_TRUE(found.ok()) << to_string(found.error());
  EXPECT_EQ(found->origin, Origin::kPackage);
  EXPECT_EQ(found->bytes.digest(), package_.manifest->digest());
}

TEST_F(ManifestOfTest, OneThatIsBrokenOrAnothersIsNotReplacedByTheBaseline) {
  package_.manifest = ManifestBytes::of("bulkhead.json", R"({"manifest": 1, "extension": "x.y"})");
  auto found = manifest_of(package_, places_);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(to_string(found.error()), HasSubstr("is the manifest of x.y, not of a.b"));
  package_.manifest = ManifestBytes::of("bulkhead.json", "{");
  EXPECT_FALSE(manifest_of(package_, places_).ok());
}

}  // namespace
}  // namespace bulkhead
