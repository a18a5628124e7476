// That what the workbench opens is what was decided on: names that are exchanged meanwhile.
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

// What became of a request that a thread may answer, which waited for a person.
struct Became : Outbox {
  void to_host(std::vector<uint8_t> body) override {
    if (body[0] != static_cast<uint8_t>(RpcType::kAcknowledged))
      became.set_value({body.begin(), body.end()});
  }
  void to_workbench(std::vector<uint8_t>) override { became.set_value("passed"); }
  std::promise<std::string> became;
};

TEST_F(BrokerTest, WhatTheWorkbenchOpensIsNotExchangedUntilItHasAnswered) {
  using Change = RenameLock::Change;
  fs::create_directories(folder_ / "work/real/deep");
  std::ofstream(folder_ / "work/real/deep/b.txt") << "b";
  fs::create_symlink("real/deep", folder_ / "work/way");
  const auto answer = [&] {
    RpcReply reply;
    reply.number = number_;
    ASSERT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
  };
  const auto free = [&](const std::string& name) {
    return !renames_.in_use(work(name), Change::kLinkOrFolder);
  };
  ASSERT_EQ(call("MainThreadFileSystem", "$readFile", {uri(work("way/b.txt"))}), "passed");
  for (const char* name : {"way", "real", "real/deep", "real/deep/b.txt"})
    EXPECT_FALSE(free(name)) << name;
  EXPECT_FALSE(renames_.in_use(work("real/deep/b.txt"), Change::kFile)) << "saving goes on";
  EXPECT_TRUE(free("a.txt"));
  answer();
  for (const char* name : {"way", "real", "real/deep/b.txt"}) EXPECT_TRUE(free(name)) << name;

  ASSERT_NE(call("MainThreadFileSystem", "$readFile", {uri(work("link"))}), "passed");
  EXPECT_TRUE(free("link")) << "refused";
  const auto edit = [&](const char* from, const char* to) {
    return call(
        "MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
        {Json{{"edits", {{{"oldResource", uri(work(from))}, {"newResource", uri(work(to))}}}}}});
  };
  ASSERT_EQ(edit("real", "moved"), "passed");
  EXPECT_TRUE(renames_.in_use(work("real/new"), Change::kLinkOrFolder)) << "a link made in it";
  answer();
  EXPECT_FALSE(renames_.in_use(work("real/new"), Change::kLinkOrFolder));
}

// Who opens a pipe waits for somebody at its other end: a thread of the editor's server would.
TEST_F(BrokerTest, APipeIsNotOpened) {
  fs::create_directories(folder_ / "work/tree/deep");
  for (const char* pipe : {"pipe", "tree/deep/pipe"})
    ASSERT_EQ(::mkfifo(work(pipe).c_str(), 0600), 0);
  fs::create_symlink("pipe", folder_ / "work/way");
  const auto edits = [&](const Json& edit) {
    return call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit", {Json{{"edits", {edit}}}});
  };
  for (const char* name : {"pipe", "way"}) {
    const Json pipe = uri(work(name));
    for (const char* method : {"$readFile", "$writeFile"})
      EXPECT_THAT(call("MainThreadFileSystem", method, {pipe, "x"}), HasSubstr("neither a file"));
    EXPECT_NE(call("MainThreadDocuments", "$trySaveDocument", {pipe}), "passed");
    EXPECT_NE(call("MainThreadFileSystem", "$copy", {pipe, uri(work("b.txt"))}), "passed");
    EXPECT_NE(edits({{"resource", pipe}}), "passed");
    EXPECT_NE(edits({{"newResource", pipe}, {"options", {{"overwrite", true}}}}), "passed");
    EXPECT_FALSE(renames_.in_use(work("pipe"), RenameLock::Change::kLinkOrFolder)) << "refused";
  }
  EXPECT_NE(call("MainThreadFileSystem", "$copy", {uri(work("tree")), uri(work("b"))}), "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {uri(work("a.txt"))}), "passed");
  EXPECT_EQ(call("MainThreadFileSystem", "$delete", {uri(work("pipe"))}), "passed");
  EXPECT_EQ(edits({{"oldResource", uri(work("pipe"))}}), "passed");
}

// As in the compartment (sandbox/calls/tree.cc).
TEST_F(BrokerTest, ANewNameGivesNoRightToRead) {
  start({"me.mine"}, nullptr, R"("@editor","commands")", R"("${home}/only/.")",
        R"("${workspace}","${home}/inbox","${home}/only")");
  for (const char* folder : {"home/inbox/sub", "home/only/sub"})
    fs::create_directories(folder_ / folder);
  for (const char* file : {"home/inbox/a.txt", "home/only/sub/a.txt"})
    std::ofstream(folder_ / file) << "a";
  const auto moves = [&](const std::string& from, const std::string& to) {
    const Json old_name = uri((folder_ / from).string()), new_name = uri((folder_ / to).string());
    std::string renamed =
        call("MainThreadFileSystem", "$rename", {old_name, new_name, Json::object()});
    const std::string edited = call("MainThreadBulkEdits", "$tryApplyWorkspaceEdit",
                                    {Json{{"edits",
                                           {{{"oldResource", old_name},
                                             {"newResource", new_name},
                                             {"options", {{"copy", true}}}}}}}});
    EXPECT_EQ(renamed == "passed", edited == "passed") << from << to;
    return renamed;
  };
  EXPECT_EQ(moves("home/inbox/a.txt", "home/inbox/b.txt"), "passed");
  EXPECT_EQ(moves("work/a.txt", "work/b.txt"), "passed");
  EXPECT_EQ(moves("work/a.txt", "home/inbox/b.txt"), "passed");
  for (const char* from : {"home/inbox/a.txt", "home/inbox/sub", "home/only/sub"})
    EXPECT_THAT(moves(from, "work/c"), HasSubstr("by the new name alone")) << from;
  ASSERT_EQ(call("MainThreadFileSystem", "$registerFileSystemProvider", {1, "mine", 2, Json()}),
            "passed");
  EXPECT_NE(
      call("MainThreadFileSystem", "$rename",
           {uri((folder_ / "home/inbox/a.txt").string()), uri("/a.txt", "mine"), Json::object()}),
      "passed");
}

// Somebody exchanges names while a person is asked.
TEST_F(BrokerTest, WhatWasExchangedMeanwhileIsNotOpened) {
  struct : Asker {
    Answer ask(const Question&) override {
      if (exchange) exchange();
      return Answer::kOnce;
    }
    void cancel() noexcept override {}
    std::function<void()> exchange;
  } asker;
  start({"me.mine"}, &asker);
  const fs::path asked = "/etc/passwd";  // neither granted nor blocked, nor in the test's /tmp
  const fs::path other = "/etc/group";
  const fs::path way = folder_ / "work/way";
  // Answered by a thread that waited for the person.
  Became outbox;
  const auto read = [&] {
    fs::remove(way);
    fs::create_symlink(asked, way);
    outbox.became = {};
    const std::string json = Json{uri(way)}.dump();
    RpcRequest request;
    request.number = ++number_;
    request.proxy = 1;
    request.method = "$readFile";
    request.json = json;
    auto became = outbox.became.get_future();
    EXPECT_TRUE(broker_->from_host(write_request(request), outbox).ok());
    return became.get();
  };
  EXPECT_EQ(read(), "passed");
  asker.exchange = [&] {
    fs::remove(way);
    fs::create_symlink(other, way);
  };
  EXPECT_THAT(read(), HasSubstr("was exchanged meanwhile"));
  asker.exchange = nullptr;
  EXPECT_EQ(read(), "passed");
  broker_.reset();  // before who answers
}

TEST_F(BrokerTest, WhatCannotBeKeptFromBeingExchangedIsNotOpened) {
  constexpr uint32_t kOther = 1'000'000;
  while (renames_.begin(kOther, "/x", RenameLock::Use::kOpen)) continue;
  EXPECT_THAT(call("MainThreadFileSystem", "$readFile", {uri(work("a.txt"))}),
              HasSubstr("too many files are in use"));
  renames_.end(kOther);
  EXPECT_EQ(call("MainThreadFileSystem", "$readFile", {uri(work("a.txt"))}), "passed");
}

TEST_F(BrokerTest, WhatIsRefusedHalfwayIsNotInUse) {
  EXPECT_NE(call("MainThreadFileSystem", "$rename",
                 {uri(work("a.txt")), uri(work(".git")), Json::object()}),
            "passed");
  EXPECT_FALSE(renames_.in_use(work("a.txt"), RenameLock::Change::kLinkOrFolder));
}

// A yes to writing a file is none to reading it.
TEST_F(BrokerTest, WhatAPersonLetItReadComesIn) {
  struct : Asker {
    Answer ask(const Question&) override { return Answer::kOnce; }
    void cancel() noexcept override {}
  } asker;
  start({"me.mine"}, &asker);
  Became outbox;
  const auto asks = [&](const char* method, const char* path) {
    outbox.became = {};
    const std::string json = Json::array({uri(path)}).dump();
    RpcRequest request;
    request.number = ++number_;
    request.proxy = proxy_of("MainThreadFileSystem");
    request.method = method;
    request.json = json;
    auto became = outbox.became.get_future();
    EXPECT_TRUE(broker_->from_host(write_request(request), outbox).ok());
    return became.get();
  };
  const auto comes_in = [&](const char* path) {
    return !deliver("$provideHover", Json::array({1, uri(path)}).dump()).empty();
  };
  EXPECT_FALSE(comes_in("/etc/passwd"));
  EXPECT_EQ(asks("$readFile", "/etc/passwd"), "passed");
  EXPECT_TRUE(comes_in("/etc/passwd"));
  EXPECT_EQ(asks("$writeFile", "/etc/group"), "passed");
  EXPECT_FALSE(comes_in("/etc/group"));
  broker_.reset();  // before who answers
}

// By how many requests, and by how much they hold.
class AskedAtOnceTest : public BrokerTest, public ::testing::WithParamInterface<size_t> {};
INSTANTIATE_TEST_SUITE_P(Bytes, AskedAtOnceTest, ::testing::Values(1, 40U << 20U));

TEST_P(AskedAtOnceTest, APersonIsAskedSoMuchAndNoMore) {
  struct : Asker {
    Answer ask(const Question&) override {
      cancelled.wait(false);
      return Answer::kNobody;
    }
    void cancel() noexcept override {
      cancelled = true;
      cancelled.notify_all();
    }
    std::atomic<bool> cancelled = false;
  } asker;
  start({"me.mine"}, &asker);
  struct : Outbox {
    void to_host(std::vector<uint8_t> body) override {
      const std::lock_guard lock(mutex);
      host.push_back(text(body));
    }
    void to_workbench(std::vector<uint8_t>) override {}
    std::mutex mutex;  // those that were asked about are answered in the end
    std::vector<std::string> host;
  } outbox;
  const std::string json = Json::array({uri("/etc/passwd"), std::string(GetParam(), 'x')}).dump();
  const int most = GetParam() == 1 ? 16 : 1;
  std::vector<std::string> said;
  for (int i = 0; i <= most; ++i) {
    EXPECT_TRUE(said.empty());
    RpcRequest request;
    request.number = ++number_;
    request.proxy = 1;
    request.method = "$readFile";
    request.json = json;
    EXPECT_TRUE(broker_->from_host(write_request(request), outbox).ok());
    const std::lock_guard lock(outbox.mutex);
    said = outbox.host;
  }
  broker_.reset();  // before who answers
  ASSERT_EQ(said.size(), 2U);
  EXPECT_THAT(said[1], HasSubstr("too many open questions"));
}

// Somebody exchanges a link for another one to the same file, under the rename lock as each of the
// compartment's calls does: once the request has passed, no name on its way may change any more.
TEST_F(BrokerTest, EachNameOnTheWayIsInUseOnceItHasPassed) {
  fs::create_directories(folder_ / "work/real");
  std::ofstream(folder_ / "work/real/b.txt") << "b";
  for (const char* name : {"one", "two"}) fs::create_symlink("real", folder_ / "work" / name);
  fs::create_symlink("one", folder_ / "work/way");
  std::atomic<bool> ends = false;
  std::jthread other([&] {
    const std::string way = work("way");
    for (int i = 0; !ends.load(); ++i) {
      fs::create_symlink(i % 2 == 0 ? "two" : "one", work("next"));
      while (!ends.load()) {
        const auto lock = renames_.take(true);
        if (renames_.in_use(way, RenameLock::Change::kLinkOrFolder)) continue;
        fs::rename(work("next"), way);
        break;
      }
    }
  });
  int passed = 0;
  int refused = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while ((passed < 200 || refused < 20) && !HasFailure() &&
         std::chrono::steady_clock::now() < until) {
    if (call("MainThreadFileSystem", "$readFile", {uri(work("way/b.txt"))}) != "passed") {
      ++refused;
      continue;
    }
    ++passed;
    const std::string now = fs::read_symlink(work("way")).string();
    EXPECT_TRUE(renames_.in_use(work(now), RenameLock::Change::kLinkOrFolder)) << now;
    RpcReply reply;
    reply.number = number_;
    ASSERT_TRUE(broker_->from_workbench(write_reply(reply), sent_).ok());
  }
  ends = true;
  EXPECT_GE(passed, 200);
  EXPECT_GE(refused, 20);
}

// VS Code has a command of that name for each view: whose view it is may have a better one.
TEST_F(BrokerTest, ADeclaredCommandMayOpenItsOwnView) {
  EXPECT_EQ(call("MainThreadCommands", "$registerCommand", {"mine.view.open"}), "passed");
  EXPECT_NE(call("MainThreadCommands", "$registerCommand", {"cloud.view.open"}), "passed");
}

}  // namespace
}  // namespace bulkhead::testing
