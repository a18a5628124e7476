#include "policy/path_index.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace bulkhead {
namespace {

constexpr uint8_t kReadBelow = 1, kWriteBelow = 2, kGuard = 4;
constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;

// Folded 128-bit product: each bit of the result depends on all bits of both factors.
uint64_t fold(uint64_t a, uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64U);
}

size_t slot_of(uint32_t from, uint64_t hash, size_t mask) noexcept {
  return (hash ^ (from * kMultiplier)) & mask;
}

uint8_t flags_of(Channel channel, bool concrete) noexcept {
  uint8_t flags = 0;
  if (channel == Channel::kBlockRead || channel == Channel::kHide) flags |= kReadBelow;
  if (channel == Channel::kBlockWrite || channel == Channel::kHide) flags |= kWriteBelow;
  if (flags != 0 && concrete) flags |= kGuard;
  return flags;
}

}  // namespace

PathIndex::PathIndex() : nodes_(3), terminals_(1), edges_(64), wild_(1) {
  std::random_device device;
  seed_ = (static_cast<uint64_t>(device()) << 32U) | device();
}

void PathIndex::reserve(size_t rules) {
  nodes_.reserve(rules + 3);
  terminals_.reserve(rules + 1);
  text_.reserve(rules * 12);
  while (edges_.size() < rules * 2) grow();
}

uint64_t PathIndex::hash(std::string_view component) const noexcept {
  uint64_t state = seed_ ^ component.size();
  const char* at = component.data();
  size_t left = component.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    state = fold(state ^ word, kMultiplier ^ seed_);
  }
  uint64_t tail = 0;
  for (size_t i = 0; i < left; ++i)
    tail |= static_cast<uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  return fold(state ^ tail, kMultiplier ^ (seed_ >> 1U));
}

int PathIndex::split(std::string_view path, Component* components) const noexcept {
  if (path.empty() || path[0] != '/' || path.size() > kMaxPath) return -1;
  if (path.size() == 1) return 0;
  int count = 0;
  size_t begin = 1;
  for (;;) {
    const void* slash = std::memchr(path.data() + begin, '/', path.size() - begin);
    const size_t end = slash == nullptr
                           ? path.size()
                           : static_cast<size_t>(static_cast<const char*>(slash) - path.data());
    const std::string_view component = path.substr(begin, end - begin);
    if (component.empty() || component == "." || component == "..") return -1;
    components[count++] = {static_cast<uint32_t>(begin), static_cast<uint32_t>(component.size()),
                           hash(component)};
    if (slash == nullptr) return count;
    begin = end + 1;
    if (begin == path.size()) return -1;  // a trailing slash
  }
}

const PathIndex::Edge* PathIndex::edge(uint32_t from, std::string_view name,
                                       uint64_t hash) const noexcept {
  const size_t mask = edges_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash >> 32U);
  for (size_t slot = slot_of(from, hash, mask);; slot = (slot + 1) & mask) {
    const Edge& edge = edges_[slot];
    if (edge.to == 0) return nullptr;
    if (edge.from == from && edge.hash == tag && edge.length == name.size() &&
        std::memcmp(text_.data() + edge.offset, name.data(), name.size()) == 0)
      return &edge;
  }
}

void PathIndex::grow() {
  std::vector<Edge> old(edges_.size() * 2);
  old.swap(edges_);
  const size_t mask = edges_.size() - 1;
  for (const Edge& edge : old) {
    if (edge.to == 0) continue;
    const uint64_t full = hash({text_.data() + edge.offset, edge.length});
    size_t slot = slot_of(edge.from, full, mask);
    while (edges_[slot].to != 0) slot = (slot + 1) & mask;
    edges_[slot] = edge;
  }
}

uint32_t PathIndex::child(uint32_t from, const std::string& component) {
  if (component.find(kStar) != std::string::npos) {
    for (uint32_t i = nodes_[from].wild; i != 0; i = wild_[i].next)
      if (text_.compare(wild_[i].offset, wild_[i].length, component) == 0) return wild_[i].to;
    const auto to = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
    wild_.push_back({nodes_[from].wild, to, static_cast<uint32_t>(text_.size()),
                     static_cast<uint32_t>(component.size())});
    nodes_[from].wild = static_cast<uint32_t>(wild_.size() - 1);
    text_ += component;
    return to;
  }
  const uint64_t full = hash(component);
  if (const Edge* known = edge(from, component, full)) return known->to;
  if (++used_ * 2 > edges_.size()) grow();
  if (from == kAnywhere) first_[(full >> 6U) % first_.size()] |= uint64_t{1} << (full % 64);
  const size_t mask = edges_.size() - 1;
  size_t slot = slot_of(from, full, mask);
  while (edges_[slot].to != 0) slot = (slot + 1) & mask;
  const auto to = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back();
  edges_[slot] = {from, to, static_cast<uint32_t>(full >> 32U),
                  static_cast<uint32_t>(component.size()), text_.size()};
  text_ += component;
  return to;
}

uint32_t PathIndex::insert(const PathPattern& pattern, uint8_t flags) {
  uint32_t node = pattern.anywhere ? kAnywhere : kAnchored;
  nodes_[node].flags |= flags;
  for (const std::string& component : pattern.components) {
    node = child(node, component);
    nodes_[node].flags |= flags;
  }
  return node;
}

void PathIndex::add(const PathPattern& pattern, Channel channel, RuleId rule) {
  const uint32_t node = insert(pattern, flags_of(channel, pattern.is_concrete()));
  if (nodes_[node].terminal == 0) {
    nodes_[node].terminal = static_cast<uint32_t>(terminals_.size());
    terminals_.emplace_back().fill(kNoRule);
  }
  RuleId& known = terminals_[nodes_[node].terminal][static_cast<size_t>(channel)];
  known = std::min(known, rule);
}

void PathIndex::guard(const PathPattern& concrete) { insert(concrete, kGuard); }

// One reading of the tries. Each node is reached by one sequence of edges only, so no node is
// visited twice from one start, and wildcards cost at most the number of nodes.
struct PathIndex::Walk {
  const PathIndex& index;
  std::string_view path;
  const Component* components;
  int count;
  PathMatches* matches = nullptr;
  int scratch_depth = -1;
  int bound_depth = -1;        // deepest concrete grant
  uint8_t below = 0;           // flags of the nodes at the path's end, by whatever edges
  uint8_t concrete_below = 0;  // the same by concrete edges only

  void collect(const Terminal& terminal, int depth, bool concrete) noexcept {
    auto& into = concrete ? matches->concrete : matches->wildcard;
    for (size_t i = 0; i < kChannels; ++i) into[i] = std::min(into[i], terminal[i]);
    if (!concrete) return;
    const auto has = [&](Channel channel) {
      return terminal[static_cast<size_t>(channel)] != kNoRule;
    };
    if (has(Channel::kScratch)) scratch_depth = depth;
    if (has(Channel::kAllowRead) || has(Channel::kAllowWrite) || has(Channel::kAllowRun))
      bound_depth = depth;
  }

  void visit(uint32_t id, int depth, bool concrete) noexcept {
    for (;;) {
      const Node& node = index.nodes_[id];
      if (node.terminal != 0) collect(index.terminals_[node.terminal], depth, concrete);
      if (depth == count) {
        below |= node.flags;
        if (concrete) concrete_below |= node.flags;
        return;
      }
      const Component& next = components[depth];
      const std::string_view name = path.substr(next.offset, next.length);
      for (uint32_t i = node.wild; i != 0; i = index.wild_[i].next) {
        const WildEdge& wild = index.wild_[i];
        if (component_matches({index.text_.data() + wild.offset, wild.length}, name))
          visit(wild.to, depth + 1, false);
      }
      const Edge* literal = index.edge(id, name, next.hash);
      if (literal == nullptr) return;
      id = literal->to;
      ++depth;
    }
  }

  void run() noexcept {
    visit(kAnchored, 0, true);
    const Node& root = index.nodes_[kAnywhere];
    for (int start = 0; start < count; ++start) {
      const uint64_t hash = components[start].hash;
      const bool likely = (index.first_[(hash >> 6U) % index.first_.size()] >> (hash % 64)) & 1U;
      if (likely || root.wild != 0) visit(kAnywhere, start, false);
    }
  }

  bool in_scratch() const noexcept { return scratch_depth >= 0 && scratch_depth >= bound_depth; }
};

bool PathIndex::find(std::string_view path, PathMatches* matches) const noexcept {
  matches->concrete.fill(kNoRule);
  matches->wildcard.fill(kNoRule);
  matches->in_scratch = false;
  Component components[kMaxPath / 2 + 1];
  const int count = split(path, components);
  if (count < 0) return false;
  Walk walk{*this, path, components, count, matches};
  walk.run();
  matches->in_scratch = walk.in_scratch();
  return true;
}

PathIndex::Below PathIndex::below(std::string_view path, bool anywhere_counts) const noexcept {
  Below result;
  PathMatches matches;
  matches.concrete.fill(kNoRule);
  matches.wildcard.fill(kNoRule);
  Component components[kMaxPath / 2 + 1];
  const int count = split(path, components);
  if (count < 0) return {true, true, true};
  Walk walk{*this, path, components, count, &matches};
  walk.run();
  uint8_t flags = walk.below;
  if (anywhere_counts) flags |= nodes_[kAnywhere].flags;
  // In scratch, wildcard blocks say nothing.
  if (!walk.in_scratch() || anywhere_counts) {
    result.blocked_read = (flags & kReadBelow) != 0;
    result.blocked_write = (flags & kWriteBelow) != 0;
  }
  result.guarded = (walk.concrete_below & kGuard) != 0;
  return result;
}

}  // namespace bulkhead
