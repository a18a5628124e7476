// docs/manifest.md: every example in it is compiled, and every name that it has to tell is in it.

#include <gmock/gmock.h>

#include <cstdlib>

#include "base/fd.h"
#include "base/nlohmann.h"
#include "policy/config.h"
#include "policy/pattern.h"
#include "policy/policy.h"
#include "policy/vscode_permissions.h"

namespace bulkhead {
namespace {

using ::testing::HasSubstr;

const std::string& manual() {
  static const std::string kText = [] {
    const char* data = std::getenv("BULKHEAD_DATA");
    return read_file(std::string(data == nullptr ? "." : data) + "/docs/manifest.md", 1 << 20)
        .value();
  }();
  return kText;
}

const Shipped& shipped() {
  static const Shipped kShipped = [] {
    Places places = find_places().value();
    places.config = "/nonexistent";
    places.organisation = "/nonexistent/policy.json";
    return load_shipped(places).value();
  }();
  return kShipped;
}

struct Example {
  int line = 0;
  std::string text;
};

// Blocks between "```json" and "```".
std::vector<Example> examples() {
  std::vector<Example> result;
  std::string_view rest = manual();
  int line = 1;
  bool inside = false;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('\n'));
    if (!inside && one == "```json") {
      inside = true;
      result.push_back({line + 1, ""});
    } else if (inside && one == "```") {
      inside = false;
    } else if (inside) {
      result.back().text += std::string(one) + "\n";
    }
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    ++line;
  }
  EXPECT_FALSE(inside) << "an example has no end";
  return result;
}

TEST(Manual, EveryExampleCompiles) {
  const auto all = examples();
  ASSERT_GT(all.size(), 5U);
  for (const Example& example : all) {
    const std::string file = "docs/manifest.md:" + std::to_string(example.line);
    const ManifestBytes bytes = ManifestBytes::of(file, example.text);
    PolicyInputs inputs;
    inputs.sets = shipped().sets;
    inputs.blocklists = shipped().blocklists;
    inputs.variables = {.workspace = {"/w"},
                        .extension = "/e",
                        .storage = "/s",
                        .home = "/h",
                        .config = "/h/c",
                        .state = "/h/st",
                        .runtime = "/r",
                        .bulkhead = {"/b"}};
    inputs.search_path = {"/usr/bin"};
    const auto json = nlohmann::json::parse(example.text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << file;
    if (json.contains("blocklist")) {
      auto parsed = parse_blocklist(bytes, Blocklist::Source::kUser);
      ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
      inputs.blocklists.push_back(std::move(parsed).value());
    } else if (json.contains("set")) {
      auto parsed = parse_set(bytes);
      ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
      inputs.manifest.files.read = {Entry{"@" + parsed->begin()->first, {}}};
      inputs.sets.merge(*parsed);
    } else {
      auto parsed = parse_manifest(bytes);
      ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
      inputs.manifest = std::move(parsed).value();
    }
    const auto policy = Policy::compile(inputs);
    EXPECT_TRUE(policy.ok()) << file << "\n" << to_string(policy.error());
  }
}

TEST(Manual, TellsEveryName) {
  for (const std::string_view name : kVariableNames)
    EXPECT_THAT(manual(), HasSubstr("`${" + std::string(name) + "}`"));
  for (const VscodePermission& each : kVscodePermissions) {
    EXPECT_THAT(manual(), HasSubstr("| `" + std::string(each.name) + "` | " +
                                    std::string(each.about) + " |"));
  }
  for (const VscodeGroup& group : kVscodeGroups) {
    std::string row = "| `" + std::string(group.name) + "` | ";
    const char* separator = "";
    for (const std::string_view each : group.permissions) {
      row += separator + ("`" + std::string(each) + "`");
      separator = ", ";
    }
    EXPECT_THAT(manual(), HasSubstr(row + " |"));
  }
  for (const auto& [name, set] : shipped().sets)
    EXPECT_THAT(manual(), HasSubstr("| `@" + name + "` | " + set.about + " |"));
  for (const BlockGroup& group : shipped().blocklists[0].groups)
    EXPECT_THAT(manual(), HasSubstr("| `" + group.name + "` | " + group.reason + " |"));
}

}  // namespace
}  // namespace bulkhead
