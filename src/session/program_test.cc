#include "session/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    std::string text = (fs::temp_directory_path() / "bulkhead-XXXXXX").string();
    if (mkdtemp(text.data()) != nullptr) root_ = fs::canonical(text).string();
  }
  ~ProgramTest() override { fs::remove_all(root_); }
  void SetUp() override { ASSERT_FALSE(root_.empty()); }

  std::string file(const std::string& name, unsigned mode = 0755) {
    std::string path = root_ + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  Result<Program> find(const std::vector<std::string>& command) {
    return find_program(command, root_ + "/project", {root_ + "/bin", root_ + "/bin2"},
                        {root_ + "/home", root_ + "/other"});
  }

  std::string root_;
};

TEST_F(ProgramTest, SearchPathHasAbsoluteFoldersOnce) {
  EXPECT_THAT(split_search_path("/usr/bin::.:bin:/bin/:/usr/bin/"),
              ElementsAre("/usr/bin", "/bin"));
  EXPECT_THAT(split_search_path(""), ElementsAre());
}

TEST_F(ProgramTest, FindsByNamePastWhatIsNotExecutable) {
  file("bin/tool", 0644);
  const std::string wanted = file("bin2/tool");
  const auto found = find({"tool"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->path, wanted);
  EXPECT_EQ(found->canonical, wanted);
}

TEST_F(ProgramTest, ErrorsTellAbsentFromForbidden) {
  file("bin/tool", 0644);
  fs::create_directories(root_ + "/project/folder");
  EXPECT_EQ(find({"none"}).error().errno_value, ENOENT);
  EXPECT_EQ(find({"./none"}).error().errno_value, ENOENT);
  EXPECT_EQ(find({"tool"}).error().errno_value, EACCES);
  EXPECT_EQ(find({"./folder"}).error().errno_value, EISDIR);
  EXPECT_EQ(find({""}).error().errno_value, ENOENT);
}

TEST_F(ProgramTest, KeepsTheNameOfALinkAndKnowsWhereItLeads) {
  const std::string real = file("project/node_modules/pretty/bin/pretty.cjs");
  fs::create_directories(root_ + "/project/node_modules/.bin");
  fs::create_symlink("../pretty/bin/pretty.cjs", root_ + "/project/node_modules/.bin/pretty");
  const auto found = find({"node_modules/.bin/pretty", "x"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->path, root_ + "/project/node_modules/.bin/pretty");
  EXPECT_EQ(found->canonical, real);
  EXPECT_EQ(found->own_folder, root_ + "/project/node_modules");
}

TEST_F(ProgramTest, OwnFolderIsTheOutermostNodeModules) {
  file("lib/node_modules/a/node_modules/b/cli.js");
  EXPECT_EQ(find({root_ + "/lib/node_modules/a/node_modules/b/cli.js"})->own_folder,
            root_ + "/lib/node_modules");
}

TEST_F(ProgramTest, OwnFolderIsThePackage) {
  const std::string tool = file("tools/x/bin/tool");
  EXPECT_EQ(find({tool})->own_folder, tool);  // no package: itself alone
  file("tools/x/package.json");
  EXPECT_EQ(find({tool})->own_folder, root_ + "/tools/x");
}

TEST_F(ProgramTest, OwnFolderIsNeverHomeNorAFolderOfPrograms) {
  file("home/package.json");
  file("package.json");
  file("bin/package.json");
  file("other/package.json");
  const std::string script = file("home/bin/script");
  EXPECT_EQ(find({script})->own_folder, script);
  const std::string another = file("other/bin/script");
  EXPECT_EQ(find({another})->own_folder, another) << "nor somebody else's home";
  const std::string program = file("bin/tool");
  EXPECT_EQ(find({"tool"})->own_folder, program);
}

TEST_F(ProgramTest, TheSubjectOfAnInterpreterIsItsScript) {
  const std::string node = file("bin/node");
  const std::string script = file("project/app/main.js", 0644);
  file("project/app/package.json");
  EXPECT_EQ(find({"node", "--no-warnings", "app/main.js"})->subject, script);
  EXPECT_EQ(find({"node", "app/main.js"})->own_folder, root_ + "/project/app");
  file("project/hook.js");
  EXPECT_EQ(find({"node", "-r", "./hook.js", "app/main.js"})->subject, script);
  EXPECT_EQ(find({"node", "--import", "./hook.js", "-C", "dev", "app/main.js"})->subject, script);
  EXPECT_EQ(find({"node", "--import=./hook.js", "app/main.js"})->subject, script);
  EXPECT_EQ(find({"node", "-r", "./hook.js"})->subject, node);
  EXPECT_EQ(find({"node", "-e", "1"})->subject, node);
  EXPECT_EQ(find({"node"})->subject, node);
  file("bin/python3.11");
  EXPECT_EQ(find({"python3.11", "app/main.js"})->subject, script);
  // What is no interpreter takes files as data.
  const std::string cat = file("bin/cat");
  EXPECT_EQ(find({"cat", "app/main.js"})->subject, cat);
  EXPECT_EQ(find({"cat", "app/main.js"})->own_folder, cat);
}

TEST_F(ProgramTest, AnswersAreForNoMoreThanTheCodeThatRuns) {
  const std::string python = file("bin/python3"), cat = file("bin/cat");
  file("bin/env");
  const std::string script = file("project/x.py"), folder = root_ + "/project";
  file("project/ignore");
  const auto answers_for = [this](const std::vector<std::string>& command) {
    return find(command)->answers_for;
  };
  EXPECT_EQ(answers_for({"cat", "x.py"}), cat);
  EXPECT_EQ(answers_for({"python3", "x.py", "-c", "1"}), script);
  EXPECT_EQ(answers_for({"python3", "-W", "ignore", "x.py"}), script);
  // The words are the code, and what that imports stands in the folder.
  EXPECT_EQ(answers_for({"python3", "-c", "print(1)"}), python + " -c 'print(1)' in " + folder);
  EXPECT_EQ(answers_for({"python3", "-m", "x"}), python + " -m x in " + folder);
  EXPECT_EQ(answers_for({"python3", "no.py"}), python + " no.py in " + folder);
  EXPECT_EQ(answers_for({"python3", "-c", std::string(5000, '1')}), "");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"python3"},
                                                  {"python3", "-"},
                                                  {"python3", "/dev/fd/77"},
                                                  {"python3", "/dev/null"},
                                                  {"python3", "-i", "x.py"},
                                                  {"python3", "--frob", "x.py"},
                                                  {"env", "python3", "x.py"}}) {
    EXPECT_EQ(answers_for(command), "");
    EXPECT_NE(find(command)->subject, script);
  }
}

TEST_F(ProgramTest, CanonicalPathOfWhatIsYetToBeMade) {
  fs::create_directories(root_ + "/project/real");
  fs::create_symlink("real", root_ + "/project/link");
  const std::string folder = root_ + "/project";
  EXPECT_EQ(*canonical_path(folder, "link/new/file"), folder + "/real/new/file");
  EXPECT_EQ(*canonical_path(folder, "link/"), folder + "/real");
  EXPECT_EQ(*canonical_path(folder, "."), folder);
  EXPECT_EQ(*canonical_path(folder, "new//./file/"), folder + "/new/file");
  EXPECT_EQ(*canonical_path(folder, "/"), "/");
  // The parent of where the link leads, not of where it stands.
  fs::create_directories(root_ + "/elsewhere/deep");
  fs::create_symlink(root_ + "/elsewhere/deep", folder + "/far");
  EXPECT_EQ(*canonical_path(folder, "far/.."), root_ + "/elsewhere");
}

TEST_F(ProgramTest, NobodyMeansANameThatAShellWouldExpand) {
  fs::create_directories(root_ + "/project/~known");
  const std::string folder = root_ + "/project";
  for (const char* quoted : {"~", "~/.ssh/id_rsa", "$HOME/x", "${home}/x", "@system"})
    EXPECT_THAT(to_string(canonical_path(folder, quoted).error()),
                HasSubstr(std::string("write ./") + quoted));
  EXPECT_EQ(*canonical_path(folder, "./~/x"), folder + "/~/x");
  EXPECT_EQ(*canonical_path(folder, "~known/x"), folder + "/~known/x");
  EXPECT_EQ(*canonical_path(folder, "new/@x"), folder + "/new/@x");
}

TEST_F(ProgramTest, CanonicalPathRefusesWhatItCannotKnow) {
  fs::create_directories(root_ + "/project");
  const std::string folder = root_ + "/project";
  fs::create_symlink("nowhere", folder + "/dangling");
  fs::create_symlink("loop", folder + "/loop");
  file("project/plain");
  EXPECT_FALSE(canonical_path(folder, "dangling").ok());
  EXPECT_FALSE(canonical_path(folder, "dangling/x").ok());
  EXPECT_EQ(canonical_path(folder, "loop").error().errno_value, ELOOP);
  EXPECT_EQ(canonical_path(folder, "plain/x").error().errno_value, ENOTDIR);
  EXPECT_FALSE(canonical_path(folder, "new/../x").ok());
}

}  // namespace
}  // namespace bulkhead
