#include "vscode/foreign_settings.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

Json declares(const Json& properties) {
  return {{"contributes", {{"configuration", {{"properties", properties}}}}}};
}

TEST(ForeignSettings, TakesTheValuesOfOtherExtensionsOutOfEveryModel) {
  ForeignSettings foreign;
  foreign.add("cloud.other", declares({{"cloud.token", Json::object()}}));
  foreign.keep(declares({{"mine.url", Json::object()}}));
  Json data = Json::parse(R"({
    "defaults": {"contents": {"cloud": {"token": ""}}, "keys": ["cloud.token"], "overrides": []},
    "userLocal": {"contents": {"cloud": {"token": "SECRET", "region": "eu"},
                               "mine": {"url": "https://a"}, "editor": {"tabSize": 2}},
                  "keys": ["cloud.token", "cloud.region", "mine.url", "editor.tabSize"],
                  "overrides": [{"identifiers": ["json"], "keys": ["cloud.token"],
                                 "contents": {"cloud": {"token": "SECRET"}}}]},
    "workspace": {"contents": {"cloud.token": "SECRET"}, "keys": ["cloud.token"]},
    "folders": [[{"$mid": 1, "path": "/w"}, {"contents": {"cloud": {"token": "SECRET"}},
                                             "keys": ["cloud.token"], "overrides": []}]],
    "configurationScopes": [["cloud.token", 1]]
  })");
  EXPECT_EQ(foreign.withhold(data).values, 4U);
  EXPECT_EQ(data.dump().find("SECRET"), std::string::npos);
  EXPECT_EQ(data["userLocal"]["contents"],
            Json::parse(R"({"cloud": {"region": "eu"}, "mine": {"url": "https://a"},
                            "editor": {"tabSize": 2}})"));
  EXPECT_EQ(data["userLocal"]["keys"],
            Json::parse(R"(["cloud.region", "mine.url", "editor.tabSize"])"));
  EXPECT_EQ(data["defaults"]["keys"].size(), 1U) << "a default is no secret";
}

TEST(ForeignSettings, TakesTheEditorsOwnSecretsOut) {
  ForeignSettings foreign;
  Json data = Json::parse(R"({"userLocal": {"contents": {
      "terminal": {"integrated": {"env": {"linux": {"TOKEN": "SECRET"}}, "fontSize": 12}},
      "http": {"proxyAuthorization": "SECRET"}}}})");
  EXPECT_EQ(foreign.withhold(data).values, 2U);
  EXPECT_EQ(data.dump().find("SECRET"), std::string::npos);
  EXPECT_EQ(data["userLocal"]["contents"]["terminal"]["integrated"]["fontSize"], 12);
}

TEST(ForeignSettings, AnExtensionOwnsWhatItDeclaresAndTheEditorDoesNot) {
  ForeignSettings settings;
  settings.keep(declares({{"mine.url", Json::object()},
                          {"mine.map", Json::object()},
                          {"terminal.integrated.shell", Json::object()}}));
  settings.add("cloud.other", declares({{"mine.theirs", Json::object()}}));
  settings.learn(Json::parse(
      R"({"defaults": {"keys": ["mine.url", "mine.theirs", "terminal.integrated.shell",
                                "terminal.integrated.fontSize", "editor.tabSize"]}})"));
  EXPECT_TRUE(settings.owns("mine.url"));
  EXPECT_TRUE(settings.owns("mine.map.part"));
  for (const char* key : {"terminal.integrated.shell", "editor.tabSize", "mine.theirs", "mine",
                          "mine.urls", "unknown", ""})
    EXPECT_FALSE(settings.owns(key)) << key;
}

TEST(ForeignSettings, SectionsInSectionsAreReadAsVsCodeReadsThem) {
  ForeignSettings settings;
  settings.keep(Json::parse(R"({"contributes": {"configuration": {"allOf": [
      {"properties": {"mine.a": {}}}, {"allOf": {"properties": {"mine.b": {}}}}]}}})"));
  settings.learn(Json::parse(R"({"defaults": {"keys": ["mine.a", "mine.b"]}})"));
  for (const char* key : {"mine.a", "mine.b"}) EXPECT_TRUE(settings.owns(key)) << key;
  EXPECT_FALSE(settings.owns("mine.c"));
}

TEST(ForeignSettings, DeclaringWhatTheEditorKeepsElsewhereOwnsNothing) {
  ForeignSettings settings;
  settings.keep(declares({{"tasks.tasks", Json::object()},
                          {"launch", Json::object()},
                          {"mcp.servers", Json::object()},
                          {"bulkhead.notifyRefusals", Json::object()},
                          {"http.proxyAuthorization", Json::object()}}));
  for (const char* key : {"tasks.tasks", "tasks", "launch", "launch.configurations", "mcp.servers",
                          "bulkhead.notifyRefusals"})
    EXPECT_FALSE(settings.owns(key)) << key;
  Json data = Json::parse(R"({"userLocal": {"contents": {"http": {"proxyAuthorization": "S"}}}})");
  EXPECT_EQ(settings.withhold(data).values, 1U) << "a secret of the editor, whoever declares it";
}

// Whoever declares every setting of a family would otherwise own the whole of it.
TEST(ForeignSettings, DeclaringAllOfAFamilyDoesNotTakeItFromTheEditor) {
  const Json php = declares(
      {{"php.validate.enable", Json::object()}, {"php.validate.executablePath", Json::object()}});
  const Json security = declares({{"security.workspace.trust.enabled", Json::object()}});
  const Json defaults = Json::parse(
      R"({"defaults": {"keys": ["php.validate.enable", "php.validate.executablePath",
                                "security.workspace.trust.enabled", "mine.url"]}})");
  ForeignSettings settings({"security"});
  settings.add_builtin(php);
  settings.keep(php);
  settings.keep(security);
  settings.keep(declares({{"mine.url", Json::object()}, {"[markdown]", Json::object()}}));
  EXPECT_FALSE(settings.owns("mine.url")) << "before it is known what the editor has";
  settings.learn(defaults);
  EXPECT_TRUE(settings.owns("mine.url"));
  for (const char* key : {"php.validate.executablePath", "security.workspace.trust.enabled",
                          "security", "[markdown]"})
    EXPECT_FALSE(settings.owns(key)) << key;
}

TEST(ForeignSettings, WhatTwoDeclareIsNobodys) {
  const Json data = Json::parse(R"({
    "defaults": {"contents": {"cloud": {"url": "https://evil", "token": "", "retry": 3}},
                 "keys": ["cloud.url", "cloud.token", "cloud.retry"], "overrides": []},
    "userLocal": {"contents": {"cloud": {"token": "SECRET", "retry": 9}},
                  "keys": ["cloud.token", "cloud.retry"], "overrides": []}})");
  const Json cloud = declares({{"cloud.token", {{"type", "string"}}},
                               {"cloud.url", {{"default", "https://cloud"}}},
                               {"cloud.retry", {{"type", {"number", "null"}}, {"default", 3}}}});
  const Json evil = declares(
      {{"cloud.token", {{"type", "string"}}}, {"cloud.url", {{"default", "https://evil"}}}});
  for (const bool is_evil : {false, true}) {
    ForeignSettings settings;
    settings.keep(is_evil ? evil : cloud);
    settings.add("an.other", is_evil ? cloud : evil);
    settings.learn(data);
    Json seen = data;
    const auto withheld = settings.withhold(seen);
    EXPECT_EQ(withheld.contested, std::set<std::string>({"cloud.token"}));
    EXPECT_EQ(settings.contested().at("cloud.token"), std::set<std::string>({"an.other"}));
    EXPECT_EQ(seen.dump().find("SECRET"), std::string::npos);
    EXPECT_FALSE(settings.owns("cloud.token"));
    // One declaration counts in VS Code; each extension has its own default all the same.
    EXPECT_EQ(seen["defaults"]["contents"]["cloud"]["url"],
              is_evil ? "https://evil" : "https://cloud");
    EXPECT_EQ(seen["defaults"]["contents"]["cloud"]["token"], "");
    EXPECT_EQ(settings.owns("cloud.retry"), !is_evil);
    EXPECT_EQ(seen["userLocal"]["contents"]["cloud"].contains("retry"), !is_evil);

    settings.share();
    seen = data;
    EXPECT_TRUE(settings.withhold(seen).contested.empty());
    EXPECT_EQ(seen["userLocal"]["contents"]["cloud"]["token"], "SECRET");
    EXPECT_EQ(seen["userLocal"]["contents"]["cloud"].contains("retry"), !is_evil) << "not shared";
    EXPECT_TRUE(settings.owns("cloud.token"));
  }
}

TEST(ForeignSettings, PartsAndWholesOfOthersSettingsAreTheirsToo) {
  const Json data = Json::parse(R"({
    "defaults": {"contents": {"cloud": {"auth": {"token": ""}}}, "keys": []},
    "userLocal": {"contents": {"cloud": {"auth": {"token": "SECRET"}}}, "keys": []}})");
  for (const char* own : {"cloud", "cloud.auth.token", "cloud.auth.token.x"}) {
    ForeignSettings settings;
    settings.keep(declares({{own, Json::object()}}));
    settings.add("cloud.other", declares({{"cloud.auth", Json::object()}}));
    settings.learn(data);
    Json seen = data;
    settings.withhold(seen);
    EXPECT_EQ(seen.dump().find("SECRET"), std::string::npos) << own;
    for (const char* key : {own, "cloud", "cloud.auth", "cloud.auth.token"})
      EXPECT_FALSE(settings.owns(key)) << own << " " << key;
    EXPECT_EQ(settings.contested().size(), 1U) << own;
  }
}

TEST(ForeignSettings, SurvivesWhateverShapeThereIs) {
  ForeignSettings foreign;
  foreign.add("a.b",
              Json::parse(R"({"contributes": {"configuration": [1, {"properties": []}, null]}})"));
  foreign.add("a.b", Json::parse(R"([1])"));
  for (const char* text : {"null", "[]", "1", R"({"folders": 1, "userLocal": []})",
                           R"({"folders": [[1], 2], "workspace": {"contents": 3, "keys": 4}})"}) {
    Json data = Json::parse(text);
    const Json before = data;
    EXPECT_FALSE(foreign.withhold(data).changed);
    EXPECT_EQ(data, before);
  }
}

}  // namespace
}  // namespace bulkhead
