// The table of commands, and that of the shipped one holds what it says of itself.
#include "vscode/command_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "vscode/json_tree.h"

namespace bulkhead {
namespace {

using Json = CommandTable::Json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Json small() {
  return parse_json(R"({
    "refused": ["list.*"],
    "arguments": {"open": ["* read"], "merge": ["0 read", "1.output.file write", "0.x refused"]},
    "commands": {"free": ["setContext"], "commands": ["open", "merge", "cursorMove"],
                 "refuse": ["never"]}})");
}

TEST(CommandTableTest, ACommandIsWhatItsWholeNameSays) {
  const auto table = CommandTable::parse(small());
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->needs("setContext"), "free");
  EXPECT_EQ(table->needs("cursorMove"), "commands");
  EXPECT_EQ(table->needs("never"), "refuse");
  EXPECT_EQ(table->needs("list.select"), "refuse");
  for (const char* other : {"cursorMoveBy", "cursor", "", "setcontext", "list"})
    EXPECT_EQ(table->needs(other), "commands-foreign") << other;
  EXPECT_TRUE(table->reads_texts("open"));
  EXPECT_FALSE(table->reads_texts("merge"));
  ASSERT_THAT(table->arguments("merge"), SizeIs(3));
  const CommandArgument& written = table->arguments("merge")[1];
  EXPECT_EQ(written.use, CommandUse::kWrite);
  EXPECT_EQ(written.place, 1U);
  EXPECT_EQ(written.members, (std::vector<std::string>{"output", "file"}));
  EXPECT_THAT(table->arguments("cursorMove"), SizeIs(0));
}

TEST(CommandTableTest, WhatNobodyHasReadIsAskedAbout) {
  auto table = CommandTable::parse(small());
  ASSERT_TRUE(table.ok());
  table->leave_unread({"cursorMove", "never", "unheard"});
  EXPECT_EQ(table->needs("cursorMove"), "commands-foreign");
  EXPECT_EQ(table->needs("never"), "refuse") << "and never less";
  EXPECT_EQ(table->needs("unheard"), "commands-foreign");
  EXPECT_EQ(CommandTable().needs("open"), "commands-foreign");
}

TEST(CommandTableTest, ContextsOfTheEditorHavePatterns) {
  CommandTable table;
  table.set_contexts({"listFocus", "config.*", "treeView.*.enable*", "a*b"});
  for (const char* known :
       {"listFocus", "config.", "config.editor.x", "treeView.x.y.enableRefresh", "ab", "aXXb"})
    EXPECT_TRUE(table.has_context(known)) << known;
  for (const char* other : {"listFocus2", "listfocus", "config", "treeView.enable", "abc", ""})
    EXPECT_FALSE(table.has_context(other)) << other;
}

TEST(CommandTableTest, ATableThatCannotBeReadIsNone) {
  const auto broken = [](const char* pointer, const Json& value) {
    Json json = small();
    json[Json::json_pointer(pointer)] = value;
    const auto table = CommandTable::parse(json);
    return table.ok() ? std::string("read") : table.error().message;
  };
  EXPECT_THAT(broken("/commands/free/0", "list*"), HasSubstr("no command's name"));
  EXPECT_THAT(broken("/commands/free/0", "open"), HasSubstr("twice"));
  EXPECT_THAT(broken("/commands/free/0", 1), HasSubstr("no command's name"));
  EXPECT_THAT(broken("/commands/everything", Json::array()), HasSubstr("no permission"));
  EXPECT_THAT(broken("/commands/free", "open"), HasSubstr("no list"));
  EXPECT_THAT(broken("/refused/0", "list"), HasSubstr("no beginning"));
  EXPECT_THAT(broken("/arguments/nobody", Json::array({"* read"})), HasSubstr("no other"));
  for (const char* rule :
       {"", "read", "x read", "0.. read", "0. read", "-1 read", "0 eaten", "0x read"})
    EXPECT_THAT(broken("/arguments/open/0", rule), HasSubstr("no rule for an argument")) << rule;
  for (const char* gone : {"commands", "refused", "arguments"}) {
    Json json = small();
    json.erase(gone);
    EXPECT_FALSE(CommandTable::parse(json).ok()) << gone;
  }
}

TEST(CommandTableTest, TheShippedTableIsRead) {
  const char* data = std::getenv("BULKHEAD_DATA");
  ASSERT_NE(data, nullptr) << "the tests' environment names the source tree";
  std::ifstream file(std::string(data) + "/vscode/api/commands.json");
  std::stringstream text;
  text << file.rdbuf();
  const auto table = CommandTable::parse(parse_json(text.str()));
  ASSERT_TRUE(table.ok()) << table.error().message;
  for (const char* command : {"bulkhead.answer", "notification.acceptPrimaryAction", "list.select",
                              "quickInput.accept", "workbench.action.toggleZenMode"})
    EXPECT_EQ(table->needs(command), "refuse") << command;
  EXPECT_EQ(table->needs("editor.action.inlineSuggest.dev.extractRepro"), "commands-foreign");
  EXPECT_EQ(table->needs("editor.action.toggleMinimap"), "settings-write-foreign");
  for (const char* command : {"vscode.open", "revealLine", "editor.action.showReferences"})
    EXPECT_EQ(table->needs(command), "commands") << command;
  const auto uses = [&](const std::string& command, const std::vector<std::string>& members) {
    std::vector<CommandUse> found;
    for (const CommandArgument& each : table->arguments(command))
      if (each.place == 0U && each.members == members) found.push_back(each.use);
    return found;
  };
  // VS Code writes it when the person completes the merge.
  EXPECT_EQ(uses("_open.mergeEditor", {"output"}), std::vector{CommandUse::kWrite});
  // What is to be edited is written: false, "" or 0, whatever the setting.
  for (const char* command :
       {"workbench.action.openSettings", "workbench.action.openSettings2",
        "workbench.action.openSettingsJson", "workbench.action.openGlobalSettings",
        "workbench.action.openRemoteSettings", "workbench.action.openRemoteSettingsFile",
        "workbench.action.openApplicationSettingsJson"})
    EXPECT_EQ(uses(command, {"revealSetting", "edit"}), std::vector{CommandUse::kRefused})
        << command;
}

}  // namespace
}  // namespace bulkhead
