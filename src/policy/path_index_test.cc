#include "policy/path_index.h"

#include <gtest/gtest.h>

#include <random>

#include "base/path.h"
#include "policy/policy.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

PathPattern pattern(std::string_view text) {
  Result<ParsedPattern> parsed = parse_pattern(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : to_string(parsed.error()));
  return parsed.ok() ? parsed->pattern : PathPattern{};
}

RuleId lowest(const PathIndex& index, std::string_view path, Channel channel) {
  PathMatches matches;
  EXPECT_TRUE(index.find(path, &matches)) << path;
  return matches.lowest(channel);
}

TEST(PathIndex, MatchesWholeComponentsOnly) {
  PathIndex index;
  index.add(pattern("/a/b"), Channel::kAllowRead, 7);
  index.seal();
  EXPECT_EQ(lowest(index, "/a/b", Channel::kAllowRead), 7U);
  EXPECT_EQ(lowest(index, "/a/b/c/d", Channel::kAllowRead), 7U);
  EXPECT_EQ(lowest(index, "/a/bc", Channel::kAllowRead), kNoRule);
  EXPECT_EQ(lowest(index, "/a", Channel::kAllowRead), kNoRule);
  EXPECT_EQ(lowest(index, "/", Channel::kAllowRead), kNoRule);
  EXPECT_EQ(lowest(index, "/a/b", Channel::kAllowWrite), kNoRule);
}

TEST(PathIndex, RefusesPathsThatAreNotCanonical) {
  PathIndex index;
  index.add(pattern("/"), Channel::kAllowRead, 1);
  index.seal();
  PathMatches matches;
  for (const char* path : {"", "a", "//", "/a/", "/a//b", "/.", "/a/..", "/../a", "/a/./b"}) {
    EXPECT_FALSE(index.find(path, &matches)) << path;
    EXPECT_EQ(matches.lowest(Channel::kAllowRead), kNoRule) << path;
  }
  EXPECT_FALSE(index.find("/" + std::string(4096, 'a'), &matches));
  EXPECT_TRUE(index.find("/" + std::string(4095, 'a'), &matches));
  std::string deep;
  for (int i = 0; i < 2048; ++i) deep += "/a";
  EXPECT_TRUE(index.find(deep, &matches));
  EXPECT_EQ(matches.lowest(Channel::kAllowRead), 1U);
}

TEST(PathIndex, KeepsTheLowestRule) {
  PathIndex index;
  index.add(pattern("/a"), Channel::kAllowRead, 9);
  index.add(pattern("/a/b"), Channel::kAllowRead, 3);
  index.add(pattern("**/b"), Channel::kAllowRead, 5);
  index.seal();
  EXPECT_EQ(lowest(index, "/a/b", Channel::kAllowRead), 3U);
  EXPECT_EQ(lowest(index, "/a/c/b", Channel::kAllowRead), 5U);
  EXPECT_EQ(lowest(index, "/a/c", Channel::kAllowRead), 9U);
}

TEST(PathIndex, ManyNames) {
  PathIndex index;
  for (RuleId i = 0; i < 20000; ++i)
    index.add(pattern("/d" + std::to_string(i % 100) + "/f" + std::to_string(i)),
              Channel::kAllowRead, i);
  index.seal();
  for (RuleId i = 0; i < 20000; ++i)
    ASSERT_EQ(lowest(index, "/d" + std::to_string(i % 100) + "/f" + std::to_string(i) + "/x",
                     Channel::kAllowRead),
              i);
  EXPECT_EQ(lowest(index, "/d1/f2", Channel::kAllowRead), kNoRule);
}

TEST(PathIndex, NamesOfEveryLength) {
  // Around the sizes at which hashing, comparing and storing take another way.
  PathIndex index;
  for (size_t length = 1; length <= 64; ++length) {
    index.add(pattern("/" + std::string(length, 'n') + "/x"), Channel::kAllowRead,
              static_cast<RuleId>(length));
  }
  index.seal();
  for (size_t length = 1; length <= 64; ++length) {
    std::string name(length, 'n');
    EXPECT_EQ(lowest(index, "/" + name + "/x", Channel::kAllowRead), length);
    EXPECT_EQ(lowest(index, "/" + name + "/xx", Channel::kAllowRead), kNoRule);
    for (size_t i = 0; i < length; ++i) {
      name[i] = 'm';
      EXPECT_EQ(lowest(index, "/" + name + "/x", Channel::kAllowRead), kNoRule) << name;
      name[i] = '\0';  // cannot come from the kernel; must not pass for padding either
      EXPECT_EQ(lowest(index, "/" + name + "/x", Channel::kAllowRead), kNoRule);
      name[i] = 'n';
    }
  }
}

TEST(PathIndex, BelowTellsWhatARenameWouldMove) {
  PathIndex index;
  index.add(pattern("/home/me/.ssh"), Channel::kBlockRead, 1);
  index.add(pattern("**/.git/hooks"), Channel::kBlockWrite, 2);
  index.add(pattern("/var/*/keys"), Channel::kBlockRead, 3);
  index.seal();
  const auto above = [&](const char* path) {
    const auto below = index.below(path, false);
    return below.guarded || below.blocked_read || below.blocked_write;
  };
  EXPECT_TRUE(above("/"));
  EXPECT_TRUE(above("/home"));
  EXPECT_TRUE(above("/home/me/.ssh"));
  EXPECT_FALSE(above("/home/me/.ssh/id_rsa"));  // blocked itself, with nothing more below
  EXPECT_FALSE(above("/home/you"));
  EXPECT_FALSE(above("/src/project"));
  EXPECT_TRUE(above("/src/project/.git"));
  EXPECT_TRUE(above("/src/project/.git/hooks"));
  EXPECT_FALSE(above("/src/project/.git/objects"));
  EXPECT_TRUE(above("/var"));
  EXPECT_TRUE(above("/var/anything"));
  EXPECT_FALSE(above("/var/anything/else"));
  EXPECT_TRUE(above("not/canonical"));
}

TEST(PathIndex, WhatHasNothingBelowItIsStoppedWhereARuleNamesIt) {
  PathIndex index;
  index.add(pattern("**/*.git/modules/*/config"), Channel::kBlockWrite, 1);
  index.add(pattern("**/*.git/modules/*/*/config"), Channel::kBlockWrite, 2);
  index.seal();
  const auto named = [&](const char* path) { return index.below(path, false).blocked_by_name; };
  for (const char* path : {"/x/.git", "/x/y.git", "/x/.git/modules", "/x/.git/modules/a/config",
                           "/x/.git/modules/a/b/config", "not/canonical"})
    EXPECT_TRUE(named(path)) << path;
  for (const char* path : {"/x", "/x/.git/modules/a", "/x/.git/modules/a/HEAD"})
    EXPECT_FALSE(named(path)) << path;
}

// --- the property: any set of rules decides like a reader who tries one after the other ----------

struct Reference {
  struct Row {
    PathPattern pattern;
    Channel channel;
  };
  std::vector<Row> rows;  // by rule number

  static std::vector<std::string> split(std::string_view path) {
    std::vector<std::string> result;
    while (path.size() > 1) {
      path.remove_prefix(1);
      result.emplace_back(path.substr(0, path.find('/')));
      path.remove_prefix(result.back().size());
    }
    return result;
  }

  // By recursion on the definition of "*": deliberately another way than the index takes.
  static bool glob(std::string_view g, std::string_view t) {
    if (g.empty()) return t.empty();
    if (g[0] == kStar) return glob(g.substr(1), t) || (!t.empty() && glob(g, t.substr(1)));
    return !t.empty() && g[0] == t[0] && glob(g.substr(1), t.substr(1));
  }

  static bool prefix_at(const PathPattern& p, const std::vector<std::string>& path, size_t start,
                        size_t length) {
    for (size_t i = 0; i < length; ++i)
      if (!glob(p.components[i], path[start + i])) return false;
    return true;
  }

  static bool matches(const PathPattern& p, const std::vector<std::string>& path) {
    const size_t n = p.components.size();
    for (size_t start = 0; start + n <= path.size(); ++start) {
      if (prefix_at(p, path, start, n)) return true;
      if (!p.anywhere) return false;
    }
    return false;
  }

  // Does the last component of the path stand at the end of the pattern?
  static bool matches_itself(const PathPattern& p, const std::vector<std::string>& path) {
    const size_t n = p.components.size();
    if (n > path.size() || (!p.anywhere && n != path.size())) return false;
    return prefix_at(p, path, path.size() - n, n);
  }

  bool in_scratch(const std::vector<std::string>& path) const {
    int scratch = -1, bound = -1;
    for (const Row& row : rows) {
      if (!row.pattern.is_concrete() || !matches(row.pattern, path)) continue;
      const int depth = static_cast<int>(row.pattern.components.size());
      if (row.channel == Channel::kScratch) scratch = std::max(scratch, depth);
      if (row.channel == Channel::kAllowRead || row.channel == Channel::kAllowWrite ||
          row.channel == Channel::kAllowRun)
        bound = std::max(bound, depth);
    }
    return scratch >= 0 && scratch >= bound;
  }

  // Does some path at or below `path` match? Only for a path that ends within the pattern's run.
  static bool reaches(const PathPattern& p, const std::vector<std::string>& path) {
    const size_t n = p.components.size();
    for (size_t start = 0; start < std::max<size_t>(path.size(), 1); ++start) {
      if (start > 0 && !p.anywhere) break;
      if (path.empty() && p.anywhere) break;
      if (path.size() - start <= n && prefix_at(p, path, start, path.size() - start)) return true;
    }
    return false;
  }
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}
  size_t pick(size_t n) { return random_() % n; }

  std::string path() {
    static constexpr const char* kNames[] = {"a", "b", "ab", "aa", "ba", "c"};
    std::string result;
    for (size_t i = pick(6); i > 0; --i) result += std::string("/") + kNames[pick(6)];
    return result.empty() ? "/" : result;
  }

  PathPattern pattern() {
    static constexpr const char* kNames[] = {"a", "b", "ab", "aa", "ba", "a", "b", "a*", "*b", "*"};
    PathPattern result;
    result.anywhere = pick(4) == 0;
    const bool wild = pick(3) == 0;
    for (size_t i = pick(4) + (result.anywhere ? 1 : 0); i > 0; --i) {
      std::string name = kNames[pick(wild ? 10 : 7)];
      for (char& c : name)
        if (c == '*') c = kStar;
      result.components.push_back(name);
    }
    return result;
  }

 private:
  std::mt19937 random_;
};

TEST(PathIndex, DecidesLikeANaiveReader) {
  constexpr uint32_t kSeed = 20261121;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Generator generator(kSeed);
  size_t hits = 0;
  for (int round = 0; round < 3000; ++round) {
    Reference reference;
    PathIndex index;
    const size_t count = 1 + generator.pick(12);
    for (RuleId id = 0; id < count; ++id) {
      Reference::Row row{generator.pattern(), static_cast<Channel>(generator.pick(kChannels))};
      // Scratch and hidden trees are concrete by contract.
      if ((row.channel == Channel::kScratch || row.channel == Channel::kHide) &&
          !row.pattern.is_concrete())
        row.channel = Channel::kBlockRead;
      index.add(row.pattern, row.channel, id);
      reference.rows.push_back(std::move(row));
    }
    index.seal();
    for (int i = 0; i < 20; ++i) {
      const std::string path = generator.path();
      const auto components = Reference::split(path);
      PathMatches matches;
      ASSERT_TRUE(index.find(path, &matches));
      std::string trace = path + " under";
      for (const auto& row : reference.rows) trace += " " + row.pattern.text();
      SCOPED_TRACE(trace);

      PathMatches expected;
      expected.concrete.fill(kNoRule);
      expected.wildcard.fill(kNoRule);
      bool blocked_read = false, blocked_write = false, guarded = false;
      for (RuleId id = 0; id < count; ++id) {
        const auto& row = reference.rows[id];
        const bool concrete = row.pattern.is_concrete();
        if (row.channel == Channel::kAllowReadItself || row.channel == Channel::kBlockWriteItself
                ? Reference::matches_itself(row.pattern, components)
                : Reference::matches(row.pattern, components)) {
          auto& into = concrete ? expected.concrete : expected.wildcard;
          RuleId& slot = into[static_cast<size_t>(row.channel)];
          slot = std::min(slot, id);
          ++hits;
        }
        const bool reads = row.channel == Channel::kBlockRead || row.channel == Channel::kHide;
        const bool writes = row.channel == Channel::kBlockWrite ||
                            row.channel == Channel::kBlockWriteItself ||
                            row.channel == Channel::kHide;
        if ((reads || writes) && Reference::reaches(row.pattern, components)) {
          blocked_read = blocked_read || reads;
          blocked_write = blocked_write || writes;
          guarded = guarded || concrete;
        }
      }
      const bool scratch = reference.in_scratch(components);
      EXPECT_EQ(matches.concrete, expected.concrete);
      EXPECT_EQ(matches.wildcard, expected.wildcard);
      EXPECT_EQ(matches.in_scratch, scratch);
      const auto below = index.below(path, false);
      EXPECT_EQ(below.guarded, guarded);
      EXPECT_EQ(below.blocked_read, !scratch && blocked_read);
      EXPECT_EQ(below.blocked_write, !scratch && blocked_write);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(hits, 10000U);  // the alphabet is small enough that rules do match
}

}  // namespace
}  // namespace bulkhead
