#include "policy/frozen.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "policy/config.h"

namespace bulkhead {
namespace {

std::string file_of(const FrozenFile& file) {
  return find_places().value().data + "/manifests/" + std::string(file.name);
}

const FrozenFile* find(std::string_view name) {
  for (const FrozenFile& file : frozen_files())
    if (file.name == name) return &file;
  return nullptr;
}

// All that a value holds, and what it leaves out: the file of each entry.
template <typename T>
void expect_same(const FrozenFile& frozen, const Result<T>& parsed) {
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  T thawed;
  thaw(frozen.frozen, "somewhere.json", thawed);
  EXPECT_EQ(freeze(thawed), freeze(*parsed)) << frozen.name;
  EXPECT_EQ(freeze(*parsed), frozen.frozen) << frozen.name;
}

TEST(FrozenTest, IsWhatTheSourcesSay) {
  for (const FrozenFile& file : frozen_files()) {
    std::ifstream stream(file_of(file), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)),
                           std::istreambuf_iterator<char>());
    EXPECT_EQ(file.bytes, text) << file.name << " has changed since the build";
    const ManifestBytes bytes = ManifestBytes::of("somewhere.json", text);
    if (file.name.starts_with("sets/")) {
      expect_same(file, parse_set(bytes));
    } else if (file.name == "blocklist.json") {
      expect_same(file, parse_blocklist(bytes, Blocklist::Source::kBuiltin));
    } else if (file.name == "telemetry.json") {
      expect_same(file, parse_blocklist(bytes, Blocklist::Source::kTelemetry));
    } else {
      expect_same(file, parse_manifest(bytes));
    }
  }
}

TEST(FrozenTest, HoldsWhatAStartReads) {
  for (const char* name :
       {"baseline.json", "essentials.json", "blocklist.json", "sets/system.json", "sets/node.json"})
    EXPECT_NE(find(name), nullptr) << name;
}

TEST(FrozenTest, LosesNothing) {
  const ManifestBytes bytes = ManifestBytes::of("/m.json", R"({"manifest": 1, "extension": "a.b",
    "files": {"read": ["${workspace}", "@c"], "write": ["/w"], "block": ["/x"], "hide": ["/y"]},
    "network": ["a.example:443"], "run": ["git"], "environment": ["PATH"], "vscode": ["terminal"],
    "limits": {"memory": "3GiB", "cpu": 1.5, "cpu-time": "2s", "wall-time": "1h", "processes": 7,
               "files": 8, "written": "9KiB", "home": "8KiB"},
    "otherwise": "ask"})");
  const Manifest parsed = parse_manifest(bytes).value();
  Manifest thawed;
  thaw(freeze(parsed), "/m.json", thawed);
  EXPECT_EQ(thawed.version, 1);
  EXPECT_EQ(thawed.extension, "a.b");
  EXPECT_EQ(thawed.digest, parsed.digest);
  EXPECT_EQ(thawed.otherwise, Otherwise::kAsk);
  const auto expect_entry = [](const std::vector<Entry>& entries, size_t size, const char* text,
                               const char* field, int line) {
    ASSERT_EQ(entries.size(), size) << text;
    EXPECT_EQ(entries.back().text, text);
    EXPECT_EQ(entries.back().where.file, "/m.json");
    EXPECT_EQ(entries.back().where.field, field);
    EXPECT_EQ(entries.back().where.line, line);
    EXPECT_GT(entries.back().where.column, 1);
  };
  expect_entry(thawed.files.read, 2, "@c", "files.read[1]", 2);
  expect_entry(thawed.files.write, 1, "/w", "files.write[0]", 2);
  expect_entry(thawed.files.block, 1, "/x", "files.block[0]", 2);
  expect_entry(thawed.files.hide, 1, "/y", "files.hide[0]", 2);
  expect_entry(thawed.network, 1, "a.example:443", "network[0]", 3);
  expect_entry(thawed.run, 1, "git", "run[0]", 3);
  expect_entry(thawed.environment, 1, "PATH", "environment[0]", 3);
  expect_entry(thawed.vscode, 1, "terminal", "vscode[0]", 3);
  EXPECT_EQ(thawed.limits.memory, uint64_t{3} << 30U);
  EXPECT_EQ(thawed.limits.cpu, 1.5);
  EXPECT_EQ(thawed.limits.cpu_time, std::chrono::seconds(2));
  EXPECT_EQ(thawed.limits.wall_time, std::chrono::hours(1));
  EXPECT_EQ(thawed.limits.processes, 7U);
  EXPECT_EQ(thawed.limits.files, 8U);
  EXPECT_EQ(thawed.limits.written, 9U << 10U);
}

TEST(FrozenTest, ChangedFilesAreParsed) {
  const Places real = find_places().value();
  Places places = real;
  places.config = places.organisation = "/nonexistent";
  places.data = ::testing::TempDir() + "frozen";
  std::filesystem::remove_all(places.data);
  std::filesystem::create_directories(places.data);
  std::filesystem::copy(real.data + "/manifests", places.data + "/manifests",
                        std::filesystem::copy_options::recursive);
  const auto shipped = load_shipped(places);
  ASSERT_TRUE(shipped.ok()) << to_string(shipped.error());
  EXPECT_EQ(shipped->blocklists[0].groups[0].block[0].where.file,
            places.data + "/manifests/blocklist.json");
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(places.data + "/manifests/" + name) << text;
  };
  write("baseline.json", R"({"manifest": 1, "files": {"read": ["/only"]}})");
  write("sets/system.json", R"({"set": "system", "read": ["/changed"]})");
  write("blocklist.json", R"({"blocklist": 1, "groups": [{"name": "one", "block": ["/b"]}]})");
  const auto changed = load_shipped(places);
  ASSERT_TRUE(changed.ok()) << to_string(changed.error());
  EXPECT_EQ(changed->baseline.files.read.at(0).text, "/only");
  EXPECT_EQ(changed->sets.at("system").read.at(0).text, "/changed");
  EXPECT_EQ(changed->blocklists.at(0).groups.at(0).name, "one");
  // What another file says is no excuse.
  write("baseline.json", std::string(find("blocklist.json")->bytes).c_str());
  EXPECT_FALSE(load_shipped(places).ok());
  std::filesystem::remove_all(places.data);
}

}  // namespace
}  // namespace bulkhead
