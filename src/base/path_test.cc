#include "base/path.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

TEST(Path, Normalize) {
  EXPECT_EQ(normalize("/"), "/");
  EXPECT_EQ(normalize("//a///b/"), "/a/b");
  EXPECT_EQ(normalize("/a/./b/../c"), "/a/c");
  EXPECT_EQ(normalize("/.."), "/");
  EXPECT_EQ(normalize("/../../a"), "/a");
  EXPECT_EQ(normalize("/a/.."), "/");
  EXPECT_EQ(normalize("/a/...b/..c"), "/a/...b/..c");
}

TEST(Path, IsCanonical) {
  for (const char* path : {"/", "/a", "/a/b", "/...", "/a/..b", "/a b", "/\xFF"})
    EXPECT_TRUE(is_canonical(path)) << path;
  for (const char* path : {"", "a", "//", "/a/", "/a//b", "/.", "/..", "/a/.", "/a/../b", "./a"})
    EXPECT_FALSE(is_canonical(path)) << path;
}

TEST(Path, NormalizeIsCanonical) {
  for (const char* path : {"/", "//", "/a/", "/a//b/..", "/../a/./", "/a/../.."})
    EXPECT_TRUE(is_canonical(normalize(path))) << path;
}

TEST(Path, Join) {
  EXPECT_EQ(join("/a", "b"), "/a/b");
  EXPECT_EQ(join("/", "b"), "/b");
  EXPECT_EQ(join("/a", "/b"), "/b");
  EXPECT_EQ(join("/a", "../b"), "/b");
  EXPECT_EQ(join("/a", ""), "/a");
}

TEST(Path, IsWithinComparesComponents) {
  EXPECT_TRUE(is_within("/a/b", "/a/b"));
  EXPECT_TRUE(is_within("/a/b/c", "/a/b"));
  EXPECT_TRUE(is_within("/a", "/"));
  EXPECT_TRUE(is_within("/", "/"));
  EXPECT_FALSE(is_within("/a/bc", "/a/b"));
  EXPECT_FALSE(is_within("/a", "/a/b"));
  EXPECT_FALSE(is_within("/", "/a"));
}

TEST(Path, TakesComponents) {
  const auto components = [](std::string_view path) {
    std::string text;
    while (!path.empty()) text.append("[").append(take_component(&path)).append("]");
    return text;
  };
  EXPECT_EQ(components("/a/b"), "[a][b]");
  EXPECT_EQ(components("a/b"), "[a][b]");
  EXPECT_EQ(components("//a///..//."), "[a][..][.]");
  EXPECT_EQ(components("/a/"), "[a][]");
  EXPECT_EQ(components("///"), "[]");
  EXPECT_EQ(components(""), "");
  std::string_view path = "/a//b";
  EXPECT_EQ(take_component(&path), "a");
  EXPECT_EQ(path, "//b");
}

TEST(Path, ParentAndLast) {
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/"), "/");
  EXPECT_EQ(last_of("/a/b"), "b");
  EXPECT_EQ(last_of("/"), "");
}

TEST(Path, EscapeForDisplay) {
  EXPECT_EQ(escape_for_display("/a b/\xC3\xA9"), "/a b/\xC3\xA9");
  EXPECT_EQ(escape_for_display("\x1b[2J\n\r\x7f"), "\\x1b[2J\\x0a\\x0d\\x7f");
  EXPECT_EQ(escape_for_display("\xFF\xC0\x80"), "\\xff\\xc0\\x80");
  EXPECT_EQ(escape_for_display("a\xE2\x80\xAE"), "a\\u{202e}");  // right-to-left override
  EXPECT_EQ(escape_for_display("a\xE2\x80\x8B"), "a\\u{200b}");  // zero-width space
  EXPECT_EQ(escape_for_display("\xC2\x9B"
                               "31m"),
            "\\u{9b}31m");                                           // CSI as one code point
  EXPECT_EQ(escape_for_display("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // a lone surrogate
  EXPECT_EQ(escape_for_display("\\x1b"), "\\\\x1b");                 // nothing can pretend
  EXPECT_EQ(escape_for_display("\xE2\x80"), "\\xe2\\x80");           // cut short
}

}  // namespace
}  // namespace bulkhead
