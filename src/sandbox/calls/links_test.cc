// What links lead to, when they are made and when they are moved, through a real Server.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "sandbox/testing/served_child.h"

namespace bulkhead::testing {
namespace {

using ::testing::Contains;

// The tree, granted for both; the kernel decides in it.
Grants whole(const std::string& tree) {
  return {.read = {tree}, .write = {tree}, .kernel_decides = {{tree, true, true}}};
}

TEST(ServeLinks, ALinkLeadsToWhatMayBeRead) {
  const Folder folder;
  folder.file("home/key", "secret");
  folder.file("w/file", "x");
  folder.file("w/sub/file", "x");
  folder.file("r/file", "x");
  folder.file("partly/key", "secret");
  folder.file("partly/open/file", "x");
  folder.file("each/one/key", "secret");
  ASSERT_EQ(::symlink((folder / "home").c_str(), (folder / "w/to-home").c_str()), 0);
  ASSERT_EQ(::symlink((folder / "home/none/x").c_str(), (folder / "w/dangling").c_str()), 0);
  std::vector<std::string> denied;
  const std::vector<std::string> granted = {folder / "w", folder / "r", folder / "partly",
                                            folder / "each"};
  const Grants grants = {.read = granted,
                         .write = granted,
                         .block = {folder / "partly/key", folder / "each/*/key"},
                         .kernel_decides = {{folder / "w", true, true}}};
  const std::string result = serve(
      grants,
      [&] {
        std::string text;
        const auto add = [&](const std::string& target, const char* link) {
          text += outcome_of(::symlink(target.c_str(), (folder / link).c_str())) + " ";
          ::unlink((folder / "w/l").c_str());
        };
        // Allowed.
        add(folder / "w/file", "w/l");
        add(folder / "r/file", "w/l");
        add("file", "w/l");
        add("../r/file", "w/l");
        add("../../r", "w/sub/l");
        ::unlink((folder / "w/sub/l").c_str());
        add("nowhere/at/all", "w/l");
        add("process@host:12", "w/l");
        add(folder / "partly/open", "w/l");
        add("/proc/self/fd/1", "w/l");
        text += "| ";
        // Refused.
        add(folder / "home/key", "w/l");
        add(folder / "home", "w/l");
        add(folder / "home/new", "w/l");
        add(folder / "home/not/there/yet", "w/l");
        add("../home/key", "w/l");
        add("../../home/key", "w/sub/l");
        add("sub/../../home//./key", "w/l");
        add("missing/../../home/key", "w/l");
        add("to-home/key", "w/l");
        add("to-home/not/there", "w/l");
        add("dangling", "w/l");
        add("dangling/further", "w/l");
        add(folder / "partly/key", "w/l");
        add(folder / "partly", "w/l");
        add(folder / "each/one", "w/l");
        add("/proc/self/environ", "w/l");
        add("/proc/self/root" + (folder / "home/key"), "w/l");
        add("/proc/self/cwd", "w/l");
        add("/proc/4194304/root" + (folder / "home/key"), "w/l");
        add("/dev/fd/20", "w/l");
        std::string deep = "..";
        for (int i = 0; i < 1300; ++i) deep += "/a";
        add(deep, "w/l");
        return text;
      },
      &denied);
  EXPECT_EQ(result,
            "ok ok ok ok ok ok ok ok ok | EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES "
            "EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES "
            "EACCES ");
  EXPECT_THAT(denied, Contains("read " + (folder / "home/key")));
  EXPECT_THAT(denied, Contains("read " + (folder / "home/not/there/yet")));
  EXPECT_THAT(denied, Contains("read " + (folder / "home/none/x/further")));
  EXPECT_THAT(denied, Contains("read " + (folder / "partly")));
}

// Who may list a folder, by a grant or a person's answer, may not read what is in it.
TEST(ServeLinks, ALinkToAFolderLeadsToWhatIsInIt) {
  const Folder folder;
  folder.file("list/key", "secret");
  folder.folder("w/sub");
  std::vector<std::string> denied;
  const auto code = [&] {
    std::string text;
    const auto add = [&](long value) { text += outcome_of(value) + " "; };
    const Fd names(::open((folder / "list").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    add(names.get());
    add(::symlink((folder / "list").c_str(), (folder / "w/l").c_str()));
    add(::symlink("../../list", (folder / "w/sub/l").c_str()));
    add(::symlink("../list", (folder / "w/sub/l").c_str()));
    add(::rename((folder / "w/sub/l").c_str(), (folder / "w/l").c_str()));
    ::unlink((folder / "w/sub/l").c_str());
    ::unlink((folder / "w/l").c_str());
    return text;
  };
  // Writing is granted, for the link would be refused for that alone.
  const std::vector<std::string> writable = {folder / "w", folder / "list"};
  EXPECT_EQ(serve({.read = {folder / "w", folder / "list/."}, .write = writable}, code, &denied),
            "ok EACCES EACCES ok EACCES ");
  EXPECT_THAT(denied, Contains("read " + (folder / "list")));
  EXPECT_EQ(serve({.read = {folder / "w"},
                   .write = writable,
                   .ask = [](const std::string&) { return true; }},
                  code, nullptr),
            "ok EACCES EACCES ok EACCES ");
}

TEST(ServeLinks, AMovedLinkIsJudgedWhereItComesToStand) {
  const Folder folder;
  folder.file("key", "secret");
  folder.file("w/key", "x");
  folder.file("w/sub/file", "x");
  folder.folder("w/sub/deeper");
  std::vector<std::string> denied;
  const std::string result = serve(
      whole(folder / "w"),
      [&] {
        std::string text;
        const auto add = [&](long value) { text += outcome_of(value) + " "; };
        const std::string inner = folder / "w/sub/link";
        const std::string outer = folder / "w/link";
        add(::symlink("../key", inner.c_str()));
        add(::rename(inner.c_str(), outer.c_str()));
        add(::link(inner.c_str(), outer.c_str()));
        add(::renameat2(AT_FDCWD, inner.c_str(), AT_FDCWD, (folder / "w/key").c_str(),
                        RENAME_EXCHANGE));
        add(::renameat2(AT_FDCWD, (folder / "w/key").c_str(), AT_FDCWD, inner.c_str(),
                        RENAME_EXCHANGE));
        add(::rename(inner.c_str(), (folder / "w/sub/other").c_str()));
        add(::rename((folder / "w/sub/other").c_str(), (folder / "w/sub/deeper/l").c_str()));
        add(::symlink((folder / "w/key").c_str(), (folder / "w/absolute").c_str()));
        add(::rename((folder / "w/absolute").c_str(), (folder / "w/sub/absolute").c_str()));
        return text;
      },
      &denied);
  EXPECT_EQ(result, "ok EACCES EACCES EACCES EACCES ok ok ok ok ");
  EXPECT_THAT(denied, Contains("read " + (folder / "key")));
}

// Somebody outside saves a file by its name, after the name was exchanged for a link.
TEST(ServeLinks, ALinkIsJudgedAsWritingWhatItLeadsTo) {
  const Folder folder;
  folder.file("w/file", "x");
  folder.file("w/tasks.json", "x");
  folder.file("w/sub/.git/hooks/pre-commit", "x");
  folder.file("r/file", "x");
  ASSERT_EQ(::symlink((folder / "w/tasks.json").c_str(), (folder / "w/before").c_str()), 0);
  std::vector<std::string> denied;
  const Grants grants = {
      .read = {folder.path()},
      .write = {folder / "w"},
      .block_write = {folder / "w/tasks.json", folder / "w/settings.json", "**/.git/hooks"},
      .kernel_decides = {{folder / "w", true, true}}};
  const std::string result = serve(
      grants,
      [&] {
        std::string text;
        const auto add = [&](const std::string& target) {
          text += outcome_of(::symlink(target.c_str(), (folder / "w/l").c_str())) + " ";
          ::unlink((folder / "w/l").c_str());
        };
        add(folder / "w/file");
        add("sub");
        add("not-there-yet");
        text += "| ";
        add(folder / "w/tasks.json");
        add("settings.json");
        add("sub/.git/hooks/pre-commit");
        add("sub/.git");
        add(folder / "r/file");
        add(folder / "r");
        add(folder / "r/not-there-yet");
        text +=
            "| " + outcome_of(::rename((folder / "w/before").c_str(), (folder / "w/l").c_str()));
        return text;
      },
      &denied);
  EXPECT_EQ(result, "ok ok ok | EACCES EACCES EACCES EACCES EACCES EACCES EACCES | EACCES");
  EXPECT_THAT(denied, Contains("write " + (folder / "w/tasks.json")));
  EXPECT_THAT(denied, Contains("write " + (folder / "w/sub/.git")));
  EXPECT_THAT(denied, Contains("write " + (folder / "r/not-there-yet")));
}

TEST(ServeLinks, ALinkClimbsFromNoNameThatMayBeExchanged) {
  const Folder folder;
  folder.file("w/sub/file", "x");
  folder.folder("w/sub/folder");
  const std::string result = serve({.read = {folder / "w"}, .write = {folder / "w"}}, [&] {
    std::string text;
    const auto add = [&](const std::string& target) {
      text += outcome_of(::symlink(target.c_str(), (folder / "w/sub/l").c_str())) + " ";
      ::unlink((folder / "w/sub/l").c_str());
    };
    add(".././sub/file");
    add("folder/../file");
    add("../sub/folder/.././file");
    add(folder / "w/sub/folder/../file");
    add("missing/../file");
    return text;
  });
  EXPECT_EQ(result, "ok EACCES EACCES EACCES EACCES ");
}

// Each climb is looked up along with all that stands before it.
TEST(ServeLinks, ALinkClimbsFortyTimesAtMost) {
  const Folder folder;
  folder.file("w/file", "x");
  folder.folder("r/sub");
  const std::string result = serve({.read = {folder.path()}, .write = {folder / "w"}}, [&] {
    std::string text;
    for (const int climbs : {39, 40}) {
      std::string target = folder / "r";
      for (int i = 0; i < climbs; ++i) target += "/sub/..";
      text +=
          outcome_of(::symlink((target + "/../w/file").c_str(), (folder / "w/l").c_str())) + " ";
      ::unlink((folder / "w/l").c_str());
    }
    return text;
  });
  EXPECT_EQ(result, "ok EACCES ");
}

TEST(ServeLinks, AFolderIsMovedWithItsLinks) {
  const Folder folder;
  folder.file("key", "secret");
  folder.file("w/key", "x");
  folder.folder("w/a/b/c");
  folder.folder("w/other");
  folder.file("w/inner/deep/file", "x");
  ASSERT_EQ(::symlink("deep/file", (folder / "w/inner/link").c_str()), 0);
  folder.folder("w/stale");
  ASSERT_EQ(::symlink((folder / "key").c_str(), (folder / "w/stale/link").c_str()), 0);
  std::vector<std::string> denied;
  const std::string result = serve(
      whole(folder / "w"),
      [&] {
        std::string text;
        const auto move = [&](const char* from, const char* to, unsigned flags = 0) {
          text += outcome_of(::renameat2(AT_FDCWD, (folder / from).c_str(), AT_FDCWD,
                                         (folder / to).c_str(), flags)) +
                  " ";
        };
        text += outcome_of(::symlink("../../../key", (folder / "w/a/b/c/link").c_str())) + " ";
        move("w/a/b/c", "w/a/b/d");
        move("w/a", "w/z");
        move("w/inner", "w/z/inner");
        text += "| ";
        move("w/z/b/d", "w/d");
        move("w/z/b", "w/b");
        move("w/z/b/d", "w/other", RENAME_EXCHANGE);
        move("w/other", "w/z/b/d", RENAME_EXCHANGE);
        move("w/stale", "w/fresh");
        return text;
      },
      &denied);
  EXPECT_EQ(result, "ok ok ok ok | EACCES EACCES EACCES EACCES EACCES ");
  EXPECT_THAT(denied, Contains("read " + (folder / "key")));
}

// Somebody changes names while the call waits for a person, who says yes to what was asked.
TEST(ServeLinks, WhatIsMovedIsWhatWasJudged) {
  const Folder folder;
  folder.file("asked", "x");
  folder.file("key", "secret");
  folder.file("w/file", "x");
  const std::string file = folder / "w/file";
  const std::string link = folder / "w/link";
  const std::string to = folder / "w/to";
  const auto exchanged_for_key = [&](const std::string& name) {
    ::unlink(name.c_str());
    EXPECT_EQ(::symlink((folder / "key").c_str(), name.c_str()), 0);
  };
  const auto move = [&](const std::string& from, unsigned flags, const std::string& swapped) {
    std::string asked;
    Grants grants = {.read = {folder / "w"}, .write = {folder / "w", folder / "asked"}};
    grants.ask = [&](const std::string& resource) {
      asked = resource;
      if (!swapped.empty()) exchanged_for_key(swapped);
      return true;
    };
    ::unlink(link.c_str());
    EXPECT_EQ(::symlink((folder / "asked").c_str(), link.c_str()), 0);
    folder.file("w/file", "x");
    std::string result = serve(grants, [&] {
      return outcome_of(::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD,
                                    flags == 0 ? to.c_str() : link.c_str(), flags));
    });
    EXPECT_EQ(asked, folder / "asked");
    return result;
  };
  EXPECT_EQ(move(link, 0, ""), "ok");
  EXPECT_EQ(move(file, RENAME_EXCHANGE, ""), "ok");
  ::unlink(to.c_str());
  EXPECT_EQ(move(link, 0, link), "EBUSY") << "another link";
  EXPECT_NE(::access(to.c_str(), F_OK), 0);
  EXPECT_EQ(move(file, RENAME_EXCHANGE, file), "EBUSY") << "a link that was a file";
  EXPECT_EQ(move(file, RENAME_EXCHANGE, link), "EBUSY") << "another link that comes back";
}

TEST(ServeLinks, ALinkStandsWhereItWasJudged) {
  const Folder folder;
  folder.folder("w/b");
  folder.file("w/asked", "x");
  folder.file("w/link", "x");
  const std::string inner = folder / "w/a/l";
  const std::string outer = folder / "w/link";
  const auto made = [&](bool moves, const std::function<long()>& make) {
    folder.folder("w/a");
    ::unlink(inner.c_str());
    ::unlink(outer.c_str());
    EXPECT_EQ(::symlink("../asked", outer.c_str()), 0);
    Grants grants = {.read = {folder / "w/a", folder / "w/b", outer}, .write = {folder / "w"}};
    bool asked = false;
    grants.ask = [&](const std::string& resource) {
      asked = resource == folder / "w/asked";
      // From where "../asked" is another file.
      if (moves) {
        EXPECT_EQ(::rename((folder / "w/a").c_str(), (folder / "w/b/a").c_str()), 0);
      }
      return true;
    };
    std::string result = serve(grants, [&] { return outcome_of(make()); });
    EXPECT_TRUE(asked);
    if (moves) {
      EXPECT_NE(::faccessat(AT_FDCWD, (folder / "w/b/a/l").c_str(), F_OK, AT_SYMLINK_NOFOLLOW), 0);
      EXPECT_EQ(::rename((folder / "w/b/a").c_str(), (folder / "w/a").c_str()), 0);
    }
    return result;
  };
  const std::vector<std::function<long()>> ways = {
      [&] { return ::symlink("../asked", inner.c_str()); },
      [&] { return ::rename(outer.c_str(), inner.c_str()); },
      [&] { return ::link(outer.c_str(), inner.c_str()); },
  };
  for (const auto& way : ways) {
    EXPECT_EQ(made(false, way), "ok");
    EXPECT_EQ(made(true, way), "EBUSY");
  }
}

TEST(ServeLinks, LinksAreFreeInAuditsAndWhereEverythingIsGranted) {
  const Folder folder;
  folder.folder("w");
  const auto code = [&] {
    const std::string link = folder / "w/l";
    std::string text = outcome_of(::symlink("/proc/self/environ", link.c_str()));
    ::unlink(link.c_str());
    text += " " + outcome_of(::symlink("/etc/shadow", link.c_str()));
    ::unlink(link.c_str());
    return text;
  };
  EXPECT_EQ(serve({.audit = true}, code), "ok ok");
  EXPECT_EQ(serve({.read = {"/"}, .write = {"/"}}, code), "ok ok");
  EXPECT_EQ(serve({.read = {"/"}, .write = {folder / "w"}, .block = {"/etc/shadow"}}, code),
            "EACCES EACCES");
  EXPECT_EQ(serve({.read = {folder.path()}, .write = {folder / "w"}}, code), "EACCES EACCES");
}

}  // namespace
}  // namespace bulkhead::testing
