// PathIndex: which rules match a path, in time that depends on the path's components and not on
// the number of rules. Two tries over components, one for anchored patterns and one for "**/…",
// with all literal edges in one flat hash table and wildcard edges aside. Filled once, then only
// read; reading neither allocates nor locks nor throws.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/access.h"
#include "policy/pattern.h"

namespace bulkhead {

// What a rule says about the paths that it matches.
enum class Channel : uint8_t {
  kAllowRead,
  kAllowWrite,
  kAllowRun,
  kBlockRead,
  kBlockWrite,
  kBlockRun,
  kHide,
  kScratch,
  // Of the very path, not of what lies below:
  kAllowReadItself,
  kBlockWriteItself
};
inline constexpr size_t kChannels = 10;
inline constexpr RuleId kNoRule = UINT32_MAX;

struct PathMatches {
  // The lowest rule of each channel, or kNoRule. Blocks by concrete patterns and by wildcards are
  // apart, because scratch trees are exempt from the latter.
  std::array<RuleId, kChannels> concrete;
  std::array<RuleId, kChannels> wildcard;
  // Inside a scratch tree and not inside a concrete grant below it, which is bound there from
  // outside and is nobody's scratch.
  bool in_scratch = false;

  RuleId lowest(Channel channel) const noexcept {
    const auto i = static_cast<size_t>(channel);
    return concrete[i] < wildcard[i] ? concrete[i] : wildcard[i];
  }
};

class PathIndex {
 public:
  PathIndex();
  void reserve(size_t rules);
  void add(const PathPattern& pattern, Channel channel, RuleId rule) {
    add(pattern, std::span(&channel, 1), rule);
  }
  void add(const PathPattern& pattern, std::span<const Channel> channels, RuleId rule);
  // The same for a path taken literally, quicker; false where it is not canonical or too long, and
  // then nothing is added.
  bool add(std::string_view path, std::span<const Channel> channels, RuleId rule);
  // Renaming a folder above this concrete tree is to be refused, as above a blocked one.
  void guard(std::string_view path);
  // After the last add() and guard(), before the first find().
  void seal();

  // False where the path is not canonical (base/path.h) or longer than PATH_MAX;
  // then nothing matches.
  bool find(std::string_view path, PathMatches* matches) const noexcept;

  // What lies, or could lie, below a path (the path itself included).
  struct Below {
    bool blocked_read = false;           // by a pattern in BlockRead or Hide
    bool blocked_write = false;          // by a pattern in BlockWrite or Hide
    bool guarded = false;                // a concrete block of either sort, or a guarded tree
    bool blocked_read_in_place = false;  // as blocked_read, by an anchored pattern, in scratch too
    bool granted_read = false;           // by a pattern in AllowRead or AllowReadItself
    bool blocked_by_name = false;        // as the first two, by a pattern that names the very path
  };
  // With `anywhere_counts`, every "**/…" block counts as one that could lie below, as it does;
  // without, only where `path` ends with a part of its run, so that renaming the last component of
  // `path` would take something out of the rule.
  Below below(std::string_view path, bool anywhere_counts) const noexcept;
  // The same, and what find() tells, in one walk.
  Below below(std::string_view path, bool anywhere_counts, PathMatches* matches) const noexcept;

 private:
  struct Component {
    uint32_t offset, length;
    uint64_t hash;
  };
  struct Node {
    uint32_t terminal = 0;  // in terminals_; 0: none
    uint32_t wild = 0;      // first of its wildcard edges; 0: none
    uint64_t key = 0;       // stands for the way from the root to here
    uint8_t flags = 0;      // kReadBelow …: of the node's whole subtree
  };
  using Terminal = std::array<RuleId, kChannels>;
  // Half a cache line, which holds all that most steps need: names of up to 18 bytes stand in it.
  struct alignas(32) Edge {
    static constexpr size_t kInline = 18;
    uint32_t from = 0;
    uint32_t to : 31 = 0;   // 0: empty slot (node 0 is never a target)
    uint32_t wild : 1 = 0;  // the target has wildcard edges
    uint32_t terminal = 0;  // that of the target
    uint16_t length = 0;
    char name[kInline] = {};  // the name, or where it does not fit its offset in text_
  };
  static_assert(sizeof(Edge) == 32);
  struct WildEdge {
    uint32_t next = 0, to = 0, offset = 0, length = 0;
  };
  struct Walk;

  static constexpr uint32_t kAnchored = 1, kAnywhere = 2;  // the roots
  static constexpr size_t kMaxPath = 4096;                 // PATH_MAX

  // Splits a canonical path; -1 where it is none.
  int split(std::string_view path, Component* components) const noexcept;
  uint64_t hash(std::string_view component) const noexcept;
  uint64_t step(uint64_t key, uint64_t hash) const noexcept;
  // `key` is that of the edge's target.
  const Edge* edge(uint32_t from, uint64_t key, std::string_view name) const noexcept;
  Edge* slot_for(uint64_t key) noexcept;
  uint32_t child(uint32_t from, std::string_view component, uint64_t hash);
  uint32_t new_node(uint64_t key);
  void grow();
  uint32_t insert(const PathPattern& pattern, uint8_t flags);
  uint32_t insert(std::string_view path, uint8_t flags);  // 0 where it is not canonical
  void set_terminal(uint32_t node, std::span<const Channel> channels, RuleId rule);

  std::vector<Node> nodes_;
  std::vector<Terminal> terminals_;
  // Open addressing, a power of two, at most half full. A slot is found by the target's key, which
  // follows from the path alone, so that the slots of all of a path's steps can be fetched at once.
  std::vector<Edge> edges_;
  size_t used_ = 0;
  std::vector<WildEdge> wild_;
  std::string text_;  // wildcards, and the names that do not fit into their edge
  // Bit per hash of a first component of "**/…" patterns: most components of most paths stop here.
  std::array<uint64_t, 64> first_{};
  uint64_t seed_;  // random, so that no manifest can be made of colliding names
};

}  // namespace bulkhead
