#include "policy/path_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

namespace bulkhead {
namespace {

constexpr uint8_t kReadBelow = 1, kWriteBelow = 2, kGuard = 4, kGrantBelow = 8;
constexpr std::string_view kAnyName(&kStar, 1);
constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;

// Folded 128-bit product: each bit of the result depends on all bits of both factors.
uint64_t fold(uint64_t a, uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64U);
}

constexpr uint64_t kOnes = 0x0101010101010101ULL;

// Eight bytes, the first one lowest. Callers see to it that there are eight.
uint64_t load(const char* at) noexcept {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// How many of the word's bytes stand before the first "/": 8 where there is none.
unsigned bytes_before_slash(uint64_t word) noexcept {
  const uint64_t zeros = word ^ (kOnes * '/');
  // The lowest bit set is right; those above it may be carries, and are not looked at.
  const uint64_t found = (zeros - kOnes) & ~zeros & (kOnes << 7U);
  return found == 0 ? 8 : static_cast<unsigned>(std::countr_zero(found)) / 8;
}

// memcmp for names, which are short: overlapping loads, no call.
bool same_name(const char* a, const char* b, size_t length) noexcept {
  if (length >= 8) {
    for (size_t i = 0; i + 8 < length; i += 8)
      if (load(a + i) != load(b + i)) return false;
    return load(a + length - 8) == load(b + length - 8);
  }
  uint64_t x = 0, y = 0;
  if (length >= 4) {
    uint32_t head[2], tail[2];
    std::memcpy(&head[0], a, 4);
    std::memcpy(&head[1], b, 4);
    std::memcpy(&tail[0], a + length - 4, 4);
    std::memcpy(&tail[1], b + length - 4, 4);
    return head[0] == head[1] && tail[0] == tail[1];
  }
  for (size_t i = 0; i < length; ++i) {
    x = x << 8U | static_cast<unsigned char>(a[i]);
    y = y << 8U | static_cast<unsigned char>(b[i]);
  }
  return x == y;
}

uint8_t flags_of(Channel channel, bool concrete) noexcept {
  uint8_t flags = 0;
  if (channel == Channel::kBlockRead || channel == Channel::kHide) flags |= kReadBelow;
  if (channel == Channel::kBlockWrite || channel == Channel::kBlockWriteItself ||
      channel == Channel::kHide)
    flags |= kWriteBelow;
  if (flags != 0 && concrete) flags |= kGuard;
  if (channel == Channel::kAllowRead || channel == Channel::kAllowReadItself) flags |= kGrantBelow;
  return flags;
}

}  // namespace

PathIndex::PathIndex() : nodes_(1), terminals_(1), edges_(64), wild_(1) {
  std::random_device device;
  seed_ = (static_cast<uint64_t>(device()) << 32U) | device();
  new_node(fold(seed_, kMultiplier));          // kAnchored
  new_node(fold(seed_ ^ kOnes, kMultiplier));  // kAnywhere
}

void PathIndex::reserve(size_t rules) {
  nodes_.reserve(rules + 3);
  terminals_.reserve(rules + 1);
  size_t size = edges_.size();
  // Rules of people share folders, so a small policy has little more than one node a rule; what a
  // large one needs is not worth a second table meanwhile. Half full.
  while (size < rules * (rules < 10000 ? 3 : 6)) size *= 2;
  if (used_ == 0) edges_.resize(size);
}

// One round per eight bytes; the last one, of none to seven bytes, also takes their number, so that
// no component is another one's beginning.
int PathIndex::split(std::string_view path, Component* components) const noexcept {
  if (path.empty() || path[0] != '/' || path.size() > kMaxPath) return -1;
  if (path.size() == 1) return 0;
  char text[kMaxPath + 16];
  std::memcpy(text, path.data(), path.size());
  std::memset(text + path.size(), '/', 16);
  int count = 0;
  const char* const end = text + path.size();
  for (const char* begin = text + 1; begin <= end;) {
    uint64_t state = seed_;
    const char* at = begin;
    uint64_t word = load(at);
    unsigned bytes = bytes_before_slash(word);
    for (; bytes == 8; bytes = bytes_before_slash(word = load(at))) {
      state = fold(state ^ word, kMultiplier);
      at += 8;
    }
    const uint64_t tail = word & ((uint64_t{1} << (8 * bytes)) - 1);
    at += bytes;
    const auto length = static_cast<uint32_t>(at - begin);
    if (length == 0 || (begin[0] == '.' && (length == 1 || (length == 2 && begin[1] == '.'))))
      return -1;  // "//", a trailing slash, "." or ".."
    components[count++] = {static_cast<uint32_t>(begin - text), length,
                           fold(state ^ tail ^ (uint64_t{bytes + 1} << 56U), seed_ | 1U)};
    begin = at + 1;
  }
  return count;
}

uint64_t PathIndex::hash(std::string_view component) const noexcept {
  uint64_t state = seed_;
  for (; component.size() >= 8; component.remove_prefix(8))
    state = fold(state ^ load(component.data()), kMultiplier);
  uint64_t tail = 0;
  std::memcpy(&tail, component.data(), component.size());
  return fold(state ^ tail ^ ((component.size() + 1) << 56U), seed_ | 1U);
}

uint64_t PathIndex::step(uint64_t key, uint64_t hash) const noexcept {
  return fold(key ^ hash, kMultiplier);
}

const PathIndex::Edge* PathIndex::edge(uint32_t from, uint64_t key,
                                       std::string_view name) const noexcept {
  const size_t mask = edges_.size() - 1;
  for (size_t slot = key & mask;; slot = (slot + 1) & mask) {
    const Edge& edge = edges_[slot];
    if (edge.to == 0) return nullptr;
    if (edge.from != from || edge.length != name.size()) continue;
    const char* known = edge.name;
    if (edge.length > Edge::kInline) {
      uint32_t offset = 0;
      std::memcpy(&offset, edge.name, sizeof offset);
      known = text_.data() + offset;
    }
    if (same_name(known, name.data(), name.size())) return &edge;
  }
}

PathIndex::Edge* PathIndex::slot_for(uint64_t key) noexcept {
  const size_t mask = edges_.size() - 1;
  size_t slot = key & mask;
  while (edges_[slot].to != 0) slot = (slot + 1) & mask;
  return &edges_[slot];
}

void PathIndex::grow() {
  std::vector<Edge> old(edges_.size() * 2);
  old.swap(edges_);
  for (const Edge& edge : old)
    if (edge.to != 0) *slot_for(nodes_[edge.to].key) = edge;
}

uint32_t PathIndex::new_node(uint64_t key) {
  nodes_.emplace_back().key = key;
  return static_cast<uint32_t>(nodes_.size() - 1);
}

uint32_t PathIndex::child(uint32_t from, std::string_view component, uint64_t full) {
  const uint64_t key = step(nodes_[from].key, full);
  const auto length = static_cast<uint32_t>(component.size());
  if (component.find(kStar) != std::string::npos) {
    for (uint32_t i = nodes_[from].wild; i != 0; i = wild_[i].next)
      if (text_.compare(wild_[i].offset, wild_[i].length, component) == 0) return wild_[i].to;
    const uint32_t to = new_node(key);
    wild_.push_back({nodes_[from].wild, to, static_cast<uint32_t>(text_.size()), length});
    nodes_[from].wild = static_cast<uint32_t>(wild_.size() - 1);
    text_ += component;
    return to;
  }
  if (const Edge* known = edge(from, key, component)) return known->to;
  if (++used_ * 2 > edges_.size()) grow();
  if (from == kAnywhere) first_[(full >> 6U) % first_.size()] |= uint64_t{1} << (full % 64);
  const uint32_t to = new_node(key);
  Edge* slot = slot_for(key);
  slot->from = from;
  slot->to = to & 0x7FFFFFFFU;
  slot->length = static_cast<uint16_t>(length);
  if (length <= Edge::kInline) {
    std::memcpy(slot->name, component.data(), length);
  } else {
    const auto offset = static_cast<uint32_t>(text_.size());
    std::memcpy(slot->name, &offset, sizeof offset);
    text_ += component;
  }
  return to;
}

void PathIndex::seal() {
  for (Edge& edge : edges_) {
    if (edge.to == 0) continue;
    edge.terminal = nodes_[edge.to].terminal;
    edge.wild = nodes_[edge.to].wild != 0;
  }
}

uint32_t PathIndex::insert(const PathPattern& pattern, uint8_t flags) {
  uint32_t node = pattern.anywhere ? kAnywhere : kAnchored;
  uint64_t key = nodes_[node].key;
  for (const std::string& component : pattern.components) {
    key = step(key, hash(component));
    __builtin_prefetch(&edges_[key & (edges_.size() - 1)]);
  }
  nodes_[node].flags |= flags;
  for (const std::string& component : pattern.components) {
    node = child(node, component, hash(component));
    nodes_[node].flags |= flags;
  }
  return node;
}

uint32_t PathIndex::insert(std::string_view path, uint8_t flags) {
  Component components[kMaxPath / 2 + 1];
  const int count = split(path, components);
  if (count < 0) return 0;
  uint32_t node = kAnchored;
  uint64_t key = nodes_[node].key;
  for (int i = 0; i < count; ++i) {
    key = step(key, components[i].hash);
    __builtin_prefetch(&edges_[key & (edges_.size() - 1)]);
  }
  nodes_[node].flags |= flags;
  for (int i = 0; i < count; ++i) {
    const Component& each = components[i];
    node = child(node, path.substr(each.offset, each.length), each.hash);
    nodes_[node].flags |= flags;
  }
  return node;
}

namespace {

uint8_t flags_of_all(std::span<const Channel> channels, bool concrete) noexcept {
  uint8_t flags = 0;
  for (const Channel channel : channels) flags |= flags_of(channel, concrete);
  return flags;
}

}  // namespace

void PathIndex::set_terminal(uint32_t node, std::span<const Channel> channels, RuleId rule) {
  if (nodes_[node].terminal == 0) {
    nodes_[node].terminal = static_cast<uint32_t>(terminals_.size());
    terminals_.emplace_back().fill(kNoRule);
  }
  Terminal& terminal = terminals_[nodes_[node].terminal];
  for (const Channel channel : channels) {
    RuleId& known = terminal[static_cast<size_t>(channel)];
    known = std::min(known, rule);
  }
}

void PathIndex::add(const PathPattern& pattern, std::span<const Channel> channels, RuleId rule) {
  set_terminal(insert(pattern, flags_of_all(channels, pattern.is_concrete())), channels, rule);
}

bool PathIndex::add(std::string_view path, std::span<const Channel> channels, RuleId rule) {
  const uint32_t node = insert(path, flags_of_all(channels, /*concrete=*/true));
  if (node == 0) return false;
  set_terminal(node, channels, rule);
  return true;
}

void PathIndex::guard(std::string_view path) { insert(path, kGuard); }

// One reading of the tries. Each node is reached by one sequence of edges only, so no node is
// visited twice from one start, and wildcards cost at most the number of nodes.
struct PathIndex::Walk {
  const PathIndex& index;
  std::string_view path;
  const Component* components;
  int count;
  PathMatches* matches = nullptr;
  bool wants_below = false;
  int scratch_depth = -1;
  int bound_depth = -1;        // deepest concrete grant
  uint8_t below = 0;           // flags of the nodes at the path's end, by whatever edges
  uint8_t concrete_below = 0;  // the same by concrete edges only
  uint8_t anchored_below = 0;  // the same of anchored patterns only
  uint8_t named_below = 0;     // the same where the last edge was no bare "*"

  void collect(const Terminal& terminal, int depth, bool concrete) noexcept {
    auto& into = concrete ? matches->concrete : matches->wildcard;
    constexpr auto kItself = static_cast<size_t>(Channel::kAllowReadItself);
    static_assert(kItself == kChannels - 2 &&
                  kItself + 1 == static_cast<size_t>(Channel::kBlockWriteItself));
    const size_t told = depth == count ? kChannels : kItself;
    for (size_t i = 0; i < told; ++i) into[i] = std::min(into[i], terminal[i]);
    if (!concrete) return;
    const auto has = [&](Channel channel) {
      return terminal[static_cast<size_t>(channel)] != kNoRule;
    };
    if (has(Channel::kScratch)) scratch_depth = depth;
    if (has(Channel::kAllowRead) || has(Channel::kAllowWrite) || has(Channel::kAllowRun))
      bound_depth = depth;
  }

  // From a node that an edge did not lead to.
  void visit(uint32_t id, int depth, bool concrete, bool named = true) noexcept {
    const Node& node = index.nodes_[id];
    visit(id, node.key, node.terminal, node.wild != 0, depth, concrete, named);
  }

  // What an edge tells of a node saves reading the node.
  void visit(uint32_t id, uint64_t key, uint32_t terminal, bool wild, int depth, bool concrete,
             bool named) noexcept {
    for (;;) {
      if (terminal != 0) collect(index.terminals_[terminal], depth, concrete);
      if (depth == count) {
        if (!wants_below) return;
        const uint8_t flags = index.nodes_[id].flags;
        below |= flags;
        if (concrete) concrete_below |= flags;
        if (named) named_below |= flags;
        return;
      }
      const Component& next = components[depth];
      const std::string_view name = path.substr(next.offset, next.length);
      for (uint32_t i = wild ? index.nodes_[id].wild : 0; i != 0; i = index.wild_[i].next) {
        const WildEdge& edge = index.wild_[i];
        const std::string_view pattern(index.text_.data() + edge.offset, edge.length);
        if (component_matches(pattern, name)) visit(edge.to, depth + 1, false, pattern != kAnyName);
      }
      key = index.step(key, next.hash);
      const Edge* literal = index.edge(id, key, name);
      if (literal == nullptr) return;
      id = literal->to;
      terminal = literal->terminal;
      wild = literal->wild != 0;
      named = true;
      ++depth;
    }
  }

  void run() noexcept {
    // The slots of an anchored walk are known beforehand: fetching them together costs about one
    // miss of the caches, where following them one by one costs one each.
    const uint64_t root_key = index.nodes_[kAnchored].key;
    uint64_t key = root_key;
    const size_t mask = index.edges_.size() - 1;
    for (int i = 0; i < std::min(count, 16); ++i) {
      key = index.step(key, components[i].hash);
      __builtin_prefetch(&index.edges_[key & mask]);
    }
    visit(kAnchored, 0, true);
    anchored_below = below;
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
  PathMatches matches;
  return below(path, anywhere_counts, &matches);
}

PathIndex::Below PathIndex::below(std::string_view path, bool anywhere_counts,
                                  PathMatches* matches) const noexcept {
  matches->concrete.fill(kNoRule);
  matches->wildcard.fill(kNoRule);
  matches->in_scratch = false;
  Component components[kMaxPath / 2 + 1];
  const int count = split(path, components);
  if (count < 0) return {true, true, true, true, true, true};
  Walk walk{*this, path, components, count, matches, true};
  walk.run();
  matches->in_scratch = walk.in_scratch();
  Below result;
  uint8_t flags = walk.below;
  if (anywhere_counts) flags |= nodes_[kAnywhere].flags;
  // In scratch, wildcard blocks say nothing.
  if (!matches->in_scratch || anywhere_counts) {
    result.blocked_read = (flags & kReadBelow) != 0;
    result.blocked_write = (flags & kWriteBelow) != 0;
    result.blocked_by_name = (walk.named_below & (kReadBelow | kWriteBelow)) != 0;
  }
  result.granted_read = (walk.below & kGrantBelow) != 0;
  result.guarded = (walk.concrete_below & kGuard) != 0;
  result.blocked_read_in_place = (walk.anchored_below & kReadBelow) != 0;
  return result;
}

}  // namespace bulkhead
