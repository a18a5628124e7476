// Orders: all that init has to know, decided by the host before init exists.
//
// They cross as one sealed file: the host writes its form (strings and vectors), init maps the file
// and reads its own (pointers into it). Both visit the same fields in the same order, so there is
// no second description of the format: a number is 8 bytes, a text its length, its bytes and a
// null byte, a list its length and its items.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sandbox/kernel/landlock.h"
#include "sandbox/limits/process_limits.h"

namespace bulkhead {

// The host's form and init's.
struct Written {
  using Text = std::string;
  using Rule = LandlockRule;
  template <class T>
  using List = std::vector<T>;
};
struct Read {
  using Text = const char*;
  using Rule = LandlockPlace;
  template <class T>
  using List = std::span<T>;  // of texts: a null pointer follows the last, as execve wants it
};

template <class Form>
struct BindOrder {
  typename Form::Text source = {}, place = {};
};

template <class Form>
struct PrivateTreeOrder {
  typename Form::Text path = {};
  typename Form::Text options = {};                          // of the tmpfs
  typename Form::template List<BindOrder<Form>> binds = {};  // below it
  // To make for them, parents first.
  typename Form::template List<typename Form::Text> folders = {};
};

// See mounts.h.
template <class Form>
struct MountOrders {
  typename Form::template List<PrivateTreeOrder<Form>> private_trees = {};
  typename Form::Text home = {}, home_store = {};  // empty: the machine's home
  typename Form::Text home_spare = {};             // spare_folders.h
  typename Form::template List<typename Form::Text> home_real = {};
  typename Form::template List<typename Form::Text> hidden = {};
  // Hierarchies that are mounted outside of /sys.
  typename Form::template List<typename Form::Text> cgroups = {};
  typename Form::Text resolv_conf = {};        // canonical; empty where it needs no cover
  typename Form::Text devpts_options = {};     // empty: there is no /dev/pts
  typename Form::Text inotify_instances = {};  // at the most; empty with the next: no inotify
  typename Form::Text inotify_watches = {};
  uint64_t cover_ptmx = 0;    // /dev/ptmx is a device and no link into /dev/pts
  uint64_t cover_queues = 0;  // there is a /dev/mqueue, which may show the machine's
  uint64_t as_root = 0;       // all ids are mapped
};

// A number of the program's, and whether init has the descriptor for it (the next of those that it
// was started with) or the program gets it later (see Plan::stdio).
inline constexpr size_t kMostNumbers = 64;
struct NumberOrder {
  uint64_t number = 0, given = 0;
};

template <class Form>
struct Orders {
  MountOrders<Form> mounts = {};
  typename Form::Text program = {}, folder = {};
  typename Form::template List<typename Form::Text> arguments = {}, environment = {};
  typename Form::template List<NumberOrder> numbers = {};
  typename Form::template List<typename Form::Rule> landlock = {};
  uint64_t landlock_rights = 0, landlock_scopes = 0;
  typename Form::template List<sock_filter> filter = {};
  typename Form::template List<ProcessLimit> limits = {};
  // RLIMIT_MSGQUEUE and RLIMIT_SIGPENDING as the host has them.
  uint64_t queue_bytes = 0, pending_signals = 0;
  uint64_t counts_memory = 0;
  uint64_t new_session = 0;
  uint64_t blocked_signals = 0, ignored_signals = 0;
  uint64_t keep_capabilities = 0;
};

template <class Visitor, class Form>
void fields(Visitor& each, BindOrder<Form>& bind) {
  each(bind.source), each(bind.place);
}
template <class Visitor, class Form>
void fields(Visitor& each, PrivateTreeOrder<Form>& tree) {
  each(tree.path), each(tree.options), each(tree.binds), each(tree.folders);
}
template <class Visitor, class Form>
void fields(Visitor& each, MountOrders<Form>& mounts) {
  each(mounts.private_trees), each(mounts.home), each(mounts.home_store), each(mounts.home_real);
  each(mounts.home_spare);
  each(mounts.hidden), each(mounts.cgroups), each(mounts.resolv_conf), each(mounts.devpts_options);
  each(mounts.inotify_instances), each(mounts.inotify_watches);
  each(mounts.cover_ptmx), each(mounts.cover_queues), each(mounts.as_root);
}
template <class Visitor>
void fields(Visitor& each, LandlockRule& rule) {
  each(rule.path), each(rule.access);
}
template <class Visitor>
void fields(Visitor& each, LandlockPlace& rule) {
  each(rule.path), each(rule.access);
}
template <class Visitor>
void fields(Visitor& each, NumberOrder& number) {
  each(number.number), each(number.given);
}
template <class Visitor>
void fields(Visitor& each, ProcessLimit& limit) {
  each(limit.resource), each(limit.most);
}
template <class Visitor>
void fields(Visitor& each, sock_filter& filter) {
  uint64_t word = uint64_t{filter.code} << 48U | uint64_t{filter.jt} << 40U |
                  uint64_t{filter.jf} << 32U | filter.k;
  each(word);
  filter = {static_cast<uint16_t>(word >> 48U), static_cast<uint8_t>(word >> 40U),
            static_cast<uint8_t>(word >> 32U), static_cast<uint32_t>(word)};
}
template <class Visitor, class Form>
void fields(Visitor& each, Orders<Form>& orders) {
  fields(each, orders.mounts);
  each(orders.program), each(orders.folder), each(orders.arguments), each(orders.environment);
  each(orders.numbers), each(orders.landlock);
  each(orders.landlock_rights), each(orders.landlock_scopes);
  each(orders.filter), each(orders.limits), each(orders.queue_bytes), each(orders.pending_signals),
      each(orders.counts_memory);
  each(orders.new_session);
  each(orders.blocked_signals), each(orders.ignored_signals), each(orders.keep_capabilities);
}

std::string write_orders(Orders<Written>& orders);

// Fills `orders` from `text`, which must outlive it. Items of lists go to `room`, of which
// room_for_orders() is enough for any that are well made. False where anything is out of bounds or
// left over; nothing of `orders` may be used then. Allocates nothing.
constexpr size_t room_for_orders(size_t text) { return 8 * text + 4096; }
bool read_orders(std::span<const char> text, std::span<char> room, Orders<Read>& orders) noexcept;

}  // namespace bulkhead
