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
  foreign.add(declares({{"cloud.token", Json::object()}, {"shared.url", Json::object()}}));
  foreign.keep(declares({{"shared.url", Json::object()}}));
  Json data = Json::parse(R"({
    "defaults": {"contents": {"cloud": {"token": ""}}, "keys": ["cloud.token"], "overrides": []},
    "userLocal": {"contents": {"cloud": {"token": "SECRET", "region": "eu"},
                               "shared": {"url": "https://a"}, "editor": {"tabSize": 2}},
                  "keys": ["cloud.token", "cloud.region", "shared.url", "editor.tabSize"],
                  "overrides": [{"identifiers": ["json"], "keys": ["cloud.token"],
                                 "contents": {"cloud": {"token": "SECRET"}}}]},
    "workspace": {"contents": {"cloud.token": "SECRET"}, "keys": ["cloud.token"]},
    "folders": [[{"$mid": 1, "path": "/w"}, {"contents": {"cloud": {"token": "SECRET"}},
                                             "keys": ["cloud.token"], "overrides": []}]],
    "configurationScopes": [["cloud.token", 1]]
  })");
  EXPECT_EQ(foreign.withhold(data), 4U);
  EXPECT_EQ(data.dump().find("SECRET"), std::string::npos);
  EXPECT_EQ(data["userLocal"]["contents"],
            Json::parse(R"({"cloud": {"region": "eu"}, "shared": {"url": "https://a"},
                            "editor": {"tabSize": 2}})"));
  EXPECT_EQ(data["userLocal"]["keys"],
            Json::parse(R"(["cloud.region", "shared.url", "editor.tabSize"])"));
  EXPECT_EQ(data["defaults"]["keys"].size(), 1U) << "a default is no secret";
}

TEST(ForeignSettings, TakesTheEditorsOwnSecretsOut) {
  const ForeignSettings foreign;
  Json data = Json::parse(R"({"userLocal": {"contents": {
      "terminal": {"integrated": {"env": {"linux": {"TOKEN": "SECRET"}}, "fontSize": 12}},
      "http": {"proxyAuthorization": "SECRET"}}}})");
  EXPECT_EQ(foreign.withhold(data), 2U);
  EXPECT_EQ(data.dump().find("SECRET"), std::string::npos);
  EXPECT_EQ(data["userLocal"]["contents"]["terminal"]["integrated"]["fontSize"], 12);
}

TEST(ForeignSettings, AnExtensionOwnsWhatItDeclaresAndTheEditorDoesNot) {
  ForeignSettings settings;
  settings.keep(declares({{"mine.url", Json::object()},
                          {"mine.map", Json::object()},
                          {"terminal.integrated.shell", Json::object()}}));
  settings.add(declares({{"mine.theirs", Json::object()}}));
  settings.learn(Json::parse(
      R"({"defaults": {"keys": ["mine.url", "mine.theirs", "terminal.integrated.shell",
                                "terminal.integrated.fontSize", "editor.tabSize"]}})"));
  EXPECT_TRUE(settings.owns("mine.url"));
  EXPECT_TRUE(settings.owns("mine.map.part"));
  for (const char* key : {"terminal.integrated.shell", "editor.tabSize", "mine.theirs", "mine",
                          "mine.urls", "unknown", ""})
    EXPECT_FALSE(settings.owns(key)) << key;
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
  EXPECT_EQ(settings.withhold(data), 1U) << "a secret of the editor, whoever declares it";
}

TEST(ForeignSettings, SurvivesWhateverShapeThereIs) {
  ForeignSettings foreign;
  foreign.add(Json::parse(R"({"contributes": {"configuration": [1, {"properties": []}, null]}})"));
  foreign.add(Json::parse(R"([1])"));
  for (const char* text : {"null", "[]", "1", R"({"folders": 1, "userLocal": []})",
                           R"({"folders": [[1], 2], "workspace": {"contents": 3, "keys": 4}})"}) {
    Json data = Json::parse(text);
    const Json before = data;
    EXPECT_EQ(foreign.withhold(data), 0U);
    EXPECT_EQ(data, before);
  }
}

}  // namespace
}  // namespace bulkhead
