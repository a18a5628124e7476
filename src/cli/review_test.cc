// bulkhead review, from the command line to the file of approvals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "base/nlohmann.h"
#include "cli/verb.h"
#include "sandbox/limits/outcome.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

class ReviewVerb : public testing::Test {
 protected:
  ReviewVerb() {
    std::string name = fs::temp_directory_path() / "bulkhead-review-XXXXXX";
    root_ = fs::canonical(::mkdtemp(name.data()));
    fs::create_directories(root_ + "/home");
    fs::create_directories(root_ + "/project");
    set("HOME", root_ + "/home");
    set("XDG_CONFIG_HOME", root_ + "/config");
    set("XDG_STATE_HOME", root_ + "/state");
    set("COLUMNS", "500");
    write("package.json", R"({"publisher": "acme", "name": "tool", "version": "1.0.0",
                              "displayName": "Tool \u001b[2J", "main": "main.js"})");
    write("main.js", "1");
    write("bulkhead.json", R"({"manifest": 1, "files": {"read": ["${workspace}"]}})");
  }
  ~ReviewVerb() override {
    for (const auto& [name, value] : saved_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
    fs::remove_all(root_);
  }

  void set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    saved_.emplace(name, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(folder());
    std::ofstream(folder() + "/" + file) << text;
  }
  std::string folder() const { return root_ + "/extensions/acme.tool-1.0.0"; }

  int review(std::vector<std::string> words) {
    words.insert(words.begin(), {"bulkhead", "review"});
    std::vector<const char*> arguments;
    arguments.reserve(words.size());
    for (const std::string& word : words) arguments.push_back(word.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = run_command_line(static_cast<int>(arguments.size()), arguments.data());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  std::string root_, out_, err_;
  std::map<std::string, std::optional<std::string>> saved_;
};

TEST_F(ReviewVerb, AsksUntilItIsApprovedAndAgainWhenItWidens) {
  const std::string workspace = root_ + "/project";
  EXPECT_EQ(review({folder(), "--workspace", workspace}), 1) << err_;
  EXPECT_THAT(out_, HasSubstr("(acme.tool) 1.0.0"));
  EXPECT_THAT(out_,
              HasSubstr("It reads your workspace and keeps data of its own. It cannot read your "
                        "keys and passwords or use the network.\nNothing unusual.\n"));
  EXPECT_THAT(out_, HasSubstr("Not approved: it does not run"));
  EXPECT_THAT(out_, HasSubstr("bulkhead review --details " + folder()));
  EXPECT_THAT(out_, HasSubstr("bulkhead review --approve " + folder()));
  EXPECT_EQ(out_.find('\x1B'), std::string::npos);

  EXPECT_EQ(review({folder(), "--details", "--workspace", workspace}), 1) << err_;
  EXPECT_THAT(out_, HasSubstr("Read everything in your workspace " + workspace));
  EXPECT_THAT(out_, HasSubstr("It cannot\n  - Read your keys and passwords where programs keep"));
  EXPECT_THAT(out_, Not(HasSubstr("--details")));

  EXPECT_EQ(review({folder(), "--approve"}), 0) << err_;
  EXPECT_EQ(review({folder()}), 0);
  EXPECT_THAT(out_, HasSubstr("You approved it: version 1.0.0"));

  write("main.js", "other code");
  EXPECT_EQ(review({folder()}), 1);
  EXPECT_THAT(out_, HasSubstr("Its code differs from what you approved"));
  EXPECT_THAT(out_, Not(HasSubstr("New since you approved it")));

  write("bulkhead.json", R"({"manifest": 1, "network": ["a.example:443"]})");
  EXPECT_EQ(review({folder()}), 1);
  EXPECT_THAT(out_, HasSubstr("New since you approved it\n  - Connect to a.example on port 443\n"));

  EXPECT_EQ(review({"--list"}), 0);
  EXPECT_THAT(out_, HasSubstr("acme.tool"));
  EXPECT_EQ(review({"--forget", "Acme.Tool"}), 0);
  EXPECT_EQ(review({"--forget", "acme.tool"}), 1);
  EXPECT_EQ(review({folder()}), 1);
  EXPECT_THAT(out_, HasSubstr("Not approved: it does not run"));
}

// What people read first is little: for who asks for nothing, and for who asks for much.
TEST_F(ReviewVerb, IsShort) {
  const auto words = [&] {
    std::istringstream text(out_);
    return std::distance(std::istream_iterator<std::string>(text), {});
  };
  fs::remove(folder() + "/bulkhead.json");
  EXPECT_EQ(review({folder()}), 1) << err_;
  EXPECT_THAT(out_, HasSubstr("Nothing unusual."));
  EXPECT_LE(words(), 60) << out_;
  write("bulkhead.json", R"({"manifest": 1, "network": ["a.example:443"], "run": ["/bin/sh"],
                             "files": {"read": ["${workspace}", "${home}/x"]}})");
  EXPECT_EQ(review({folder()}), 1) << err_;
  EXPECT_THAT(out_, HasSubstr("Unusual\n"));
  EXPECT_THAT(out_, HasSubstr("Connect to a.example on port 443: what it reads can go there"));
  EXPECT_THAT(out_, HasSubstr("Read in your home folder: "));
  EXPECT_LE(words(), 90) << out_;
}

TEST_F(ReviewVerb, TellsTheSameAsJson) {
  EXPECT_EQ(review({folder(), "--json"}), 1) << err_;
  const auto told = nlohmann::json::parse(out_, nullptr, false);
  ASSERT_TRUE(told.is_object()) << out_;
  EXPECT_EQ(told.value("extension", ""), "acme.tool");
  EXPECT_EQ(told.value("review", ""), "new");
  EXPECT_EQ(told["manifest"].value("from", ""), "package");
  EXPECT_EQ(told.value("package", "").size(), 64U);
  EXPECT_FALSE(told["permits"].empty());
  EXPECT_EQ(review({folder(), "--approve", "--json"}), 0);
  EXPECT_THAT(out_, HasSubstr("\"review\":\"none\""));
  EXPECT_EQ(review({"--list", "--json"}), 0);
  EXPECT_THAT(out_, HasSubstr("\"extension\":\"acme.tool\""));
}

TEST_F(ReviewVerb, WhatCannotBeReviewedIsNotApproved) {
  EXPECT_EQ(review({}), kExitFailed);
  EXPECT_THAT(err_, HasSubstr("name the folder of an extension"));
  write("bulkhead.json", R"({"manifest": 1, "files": {"read": ["@nonsuch"]}})");
  EXPECT_EQ(review({folder(), "--approve"}), kExitFailed);
  EXPECT_THAT(err_, HasSubstr("unknown set"));
  write("bulkhead.json", R"({"manifest": 1, "extension": "another.one"})");
  EXPECT_EQ(review({folder(), "--approve"}), kExitFailed);
  EXPECT_EQ(review({root_, "--approve"}), kExitFailed);
  EXPECT_THAT(err_, HasSubstr("is no extension"));
  EXPECT_EQ(review({"--list"}), 0);
  EXPECT_THAT(err_, HasSubstr("you have approved no extension yet"));
  EXPECT_EQ(review({"--list", "--forget", "a.b"}), kExitFailed);
}

}  // namespace
}  // namespace bulkhead
