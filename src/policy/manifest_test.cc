#include "policy/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/test_inputs.h"
#include "policy/units.h"

namespace bulkhead {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

ManifestBytes bytes(std::string text) { return ManifestBytes::of("m.json", std::move(text)); }

Manifest parsed(std::string text) {
  auto result = parse_manifest(bytes(std::move(text)));
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : to_string(result.error()));
  return result.ok() ? std::move(result).value() : Manifest{};
}

template <typename T>
std::string errors(const Result<T>& result) {
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : testing::told(result.error());
}
std::string refused(std::string text) { return errors(parse_manifest(bytes(std::move(text)))); }

TEST(Manifest, ReadsEverything) {
  const Manifest m = parsed(R"({
  "$schema": "x", "manifest": 1, "extension": "pub-1.name.x",
  "files": {"read": ["/a", "@system"], "write": ["/b"], "block": ["/c"], "hide": ["/d"]},
  "network": ["a.b:1"], "run": ["git"], "environment": ["PATH"], "vscode": ["@editor"],
  "limits": {"memory": "512MiB", "cpu": 1.5, "cpu-time": "10m", "wall-time": "30s",
             "processes": 64, "files": 1024, "written": 1000},
  "otherwise": "ask"
})");
  EXPECT_EQ(m.extension, "pub-1.name.x");
  ASSERT_EQ(m.files.read.size(), 2U);
  EXPECT_EQ(m.files.read[1].text, "@system");
  EXPECT_EQ(m.files.read[1].where.file, "m.json");
  EXPECT_EQ(m.files.read[1].where.line, 3);
  EXPECT_EQ(m.files.read[1].where.column, 28);
  EXPECT_EQ(m.files.read[1].where.field, "files.read[1]");
  EXPECT_EQ(m.files.write[0].text, "/b");
  EXPECT_EQ(m.files.block[0].text, "/c");
  EXPECT_EQ(m.files.hide[0].text, "/d");
  EXPECT_EQ(m.network[0].where.field, "network[0]");
  EXPECT_EQ(m.run[0].text, "git");
  EXPECT_EQ(m.environment[0].text, "PATH");
  EXPECT_EQ(m.vscode[0].text, "@editor");
  EXPECT_EQ(m.limits.memory, 512ULL << 20U);
  EXPECT_EQ(m.limits.cpu, 1.5);
  EXPECT_EQ(m.limits.cpu_time, 10min);
  EXPECT_EQ(m.limits.wall_time, 30s);
  EXPECT_EQ(m.limits.processes, 64U);
  EXPECT_EQ(m.limits.files, 1024U);
  EXPECT_EQ(m.limits.written, 1000U);
  EXPECT_EQ(m.otherwise, Otherwise::kAsk);
}

TEST(Manifest, TheDigestIsOfTheExactBytes) {
  EXPECT_EQ(ManifestBytes::of("f", "").digest(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(ManifestBytes::of("f", "abc").digest(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(parsed(R"({"manifest":1})").digest, parsed(R"({"manifest": 1})").digest);
}

TEST(Manifest, AbsentMeansNothingIsAsked) {
  const Manifest m = parsed(R"({"manifest":1})");
  EXPECT_TRUE(m.files.read.empty());
  EXPECT_FALSE(m.otherwise);
  EXPECT_FALSE(m.limits.memory);
  EXPECT_EQ(m.extension, "");
}

TEST(Manifest, Refuses) {
  for (const char* wrong :
       {R"("files":1)", R"("files":{"read":1})", R"("limits":[])", R"("limits":{"processes":"1"})",
        R"("extension":1)", R"("extension":"")", R"("$schema":1)", R"("otherwise":1)"})
    EXPECT_THAT(refused(std::string(R"({"manifest":1,)") + wrong + "}"), HasSubstr("must "))
        << wrong;
  EXPECT_THAT(refused("[]"), HasSubstr("must be an object, not a list"));
  EXPECT_THAT(refused("{}"), HasSubstr("\"manifest\" is missing (add \"manifest\": 1)"));
  EXPECT_THAT(refused(R"({"manifest":2})"), HasSubstr("version 2 is not known"));
  EXPECT_THAT(refused(R"({"manifest":"1"})"), HasSubstr("must be an integer, not a string"));
  EXPECT_THAT(refused(R"({"manifest":1,"netwrok":[]})"),
              HasSubstr("m.json:1:15: error: netwrok: unknown name (did you mean \"network\"?)"));
  EXPECT_THAT(refused(R"({"manifest":1,"files":{"raed":[]}})"),
              HasSubstr("did you mean \"read\"?"));
  EXPECT_THAT(refused(R"({"manifest":1,"files":[]})"), HasSubstr("must be an object"));
  EXPECT_THAT(refused(R"({"manifest":1,"run":"git"})"), HasSubstr("must be a list, not a string"));
  EXPECT_THAT(refused(R"({"manifest":1,"run":[1]})"), HasSubstr("run[0]: must be a string"));
  EXPECT_THAT(refused(R"({"manifest":1,"run":[""]})"), HasSubstr("must not be empty"));
  EXPECT_THAT(refused(R"({"manifest":1,"run":[")" + std::string(4097, 'a') + "\"]}"),
              HasSubstr("longer than 4096 bytes"));
  EXPECT_THAT(refused(R"({"manifest":1,"otherwise":"allow"})"),
              HasSubstr("nothing is allowed by default"));
  EXPECT_THAT(refused(R"({"manifest":1,"otherwise":null})"),
              HasSubstr("must be a string, not null"));
  for (const char* id : {"noname", ".a", "a.", "a b.c", "a..b", "-a.b", "../x.y"})
    EXPECT_THAT(refused(std::string(R"({"manifest":1,"extension":")") + id + "\"}"),
                HasSubstr("is no extension identifier"))
        << id;
  EXPECT_THAT(refused("{\"manifest\":1,\"manifest\":1}"), HasSubstr("twice"));
}

TEST(Manifest, ReportsAllFindingsTogether) {
  const auto result =
      parse_manifest(bytes("{\"manifest\":1,\n\"run\":[1,\"\"],\n\"vscode\":{},\n\"x\":1}"));
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(result.error().diagnostics.size(), 4U);
  EXPECT_EQ(result.error().diagnostics.front().line, 2);
  EXPECT_EQ(result.error().diagnostics.back().line, 4);
  EXPECT_EQ(result.error().message, "m.json is no valid manifest");
}

TEST(Manifest, Limits) {
  const auto limit = [](const char* text) {
    return refused(std::string(R"({"manifest":1,"limits":{)") + text + "}}");
  };
  for (const char* zero :
       {R"("memory":0)", R"("memory":"0MiB")", R"("cpu":0)", R"("cpu":0.0)", R"("cpu-time":"0s")",
        R"("wall-time":"0ms")", R"("processes":0)", R"("files":0)", R"("written":"0")"})
    EXPECT_THAT(limit(zero), HasSubstr("greater than zero")) << zero;
  for (const char* bad :
       {R"("memory":-1)", R"("memory":"1.5GiB")", R"("memory":"1 GB")", R"("memory":"1gb")",
        R"("memory":true)", R"("memory":1.5)", R"("memory":"99999999999TiB")"})
    EXPECT_THAT(limit(bad), HasSubstr("must be a size")) << bad;
  for (const char* bad : {R"("wall-time":30)", R"("wall-time":"30")", R"("wall-time":"-1s")",
                          R"("cpu-time":"1d")", R"("cpu-time":"99999999h")"})
    EXPECT_THAT(limit(bad), HasSubstr("must be a duration")) << bad;
  for (const char* bad : {R"("cpu":-1)", R"("cpu":"1")", R"("cpu":5000)", R"("cpu":0.001)"})
    EXPECT_THAT(limit(bad), HasSubstr("number of cores")) << bad;
  for (const char* bad : {R"("processes":-1)", R"("files":99999999)"})
    EXPECT_THAT(limit(bad), HasSubstr("must be from 1 to")) << bad;
  EXPECT_THAT(limit(R"("processes":1.0)"), HasSubstr("must be an integer"));
  EXPECT_THAT(limit(R"("ram":1)"), HasSubstr("unknown name"));
}

TEST(Units, Sizes) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("1kB"), 1000U);
  EXPECT_EQ(parse_size("1KiB"), 1024U);
  EXPECT_EQ(parse_size("2GB"), 2000000000U);
  EXPECT_EQ(parse_size("8388607TiB"), 8388607ULL << 40U);
  EXPECT_FALSE(parse_size("8388608TiB"));
  for (const char* bad : {"", "MiB", "-1", "+1", "1.5GB", "1 GB", "0x10", "1PB"})
    EXPECT_FALSE(parse_size(bad)) << bad;
  for (const char* given : {"1 MB", "1500 kB", "12345 B", "1 KiB", "512 MiB"}) {
    std::string text = given;
    std::erase(text, ' ');
    EXPECT_EQ(size_text(*parse_size(text), *parse_size(text)), given);
  }
  EXPECT_EQ(size_text(6'200'000, 1'000'000), "7 MB");
  EXPECT_EQ(size_text((512U << 20U) + 1, 512U << 20U), "513 MiB");
  EXPECT_EQ(size_text(UINT64_MAX, 1U << 30U), "17592186044416 MiB");
}

TEST(Units, Durations) {
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("2h"), 2h);
  for (const char* bad : {"", "s", "1", "1 s", "-1s", "1.5s", "1d", "90000000h"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Blocklist, ReadsGroups) {
  const auto result = parse_blocklist(bytes(R"({"blocklist":1,
    "limits":{"memory":"1GiB"},"otherwise":"deny","groups":[
    {"name":"ssh-keys","reason":"keys","block":["${home}/.ssh"],"block-write":["/w"],
     "network":["a.b:1"],"run":["ssh"],"environment":["X"],"vscode":["secrets"]}]})"),
                                      Blocklist::Source::kOrganisation);
  ASSERT_TRUE(result.ok()) << to_string(result.error());
  EXPECT_EQ(result->source, Blocklist::Source::kOrganisation);
  ASSERT_EQ(result->groups.size(), 1U);
  const BlockGroup& group = result->groups[0];
  EXPECT_EQ(group.name, "ssh-keys");
  EXPECT_EQ(group.block[0].where.field, "groups[0].block[0]");
  EXPECT_EQ(group.block_write[0].text, "/w");
  EXPECT_EQ(
      group.network.size() + group.run.size() + group.environment.size() + group.vscode.size(), 4U);
  EXPECT_EQ(result->limits->memory, 1ULL << 30U);
  EXPECT_EQ(result->otherwise, Otherwise::kDeny);
}

TEST(Blocklist, Refuses) {
  const auto refuse = [](const char* text) {
    return errors(parse_blocklist(bytes(text), Blocklist::Source::kUser));
  };
  EXPECT_THAT(refuse("{}"), HasSubstr("\"blocklist\" is missing"));
  EXPECT_THAT(refuse(R"({"blocklist":1,"groups":[{}]})"), HasSubstr("\"name\" is missing"));
  EXPECT_THAT(refuse(R"({"blocklist":1,"groups":[{"name":"all"}]})"), HasSubstr("no group name"));
  EXPECT_THAT(refuse(R"({"blocklist":1,"groups":[{"name":"A"}]})"), HasSubstr("no group name"));
  EXPECT_THAT(refuse(R"({"blocklist":1,"groups":[{"name":"a"},{"name":"a"}]})"),
              HasSubstr("another group has this name"));
  EXPECT_THAT(refuse(R"({"blocklist":1,"groups":[{"name":"a","read":[]}]})"),
              HasSubstr("unknown name"));
}

TEST(Set, ReadsOne) {
  const auto result =
      parse_set(bytes(R"({"set":"node","about":"x","read":["/usr"],"run":["node"]})"));
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->size(), 1U);
  EXPECT_EQ(result->at("node").read[0].text, "/usr");
  EXPECT_EQ(result->at("node").run[0].text, "node");
}

TEST(Set, Refuses) {
  EXPECT_THAT(errors(parse_set(bytes(R"({"set":"a","write":["/x"]})"))),
              HasSubstr("no set grants writing"));
  EXPECT_THAT(errors(parse_set(bytes(R"({"set":"@a"})"))), HasSubstr("is no set name"));
  EXPECT_THAT(errors(parse_set(bytes(R"({"read":[]})"))), HasSubstr("\"set\" is missing"));
}

}  // namespace
}  // namespace bulkhead
