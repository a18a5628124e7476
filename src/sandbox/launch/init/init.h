// init: pid 1 of a compartment, and the process that becomes the program until it executes.
//
// A program of its own (bulkhead-init), because a copy of the host would take as long as the host
// is large and would hold what the host holds. It knows what its orders say (orders.h), one socket
// and the descriptors that the program gets.
#pragma once

#include "sandbox/launch/orders.h"
#include "sandbox/launch/report.h"
#include "sandbox/launch/step.h"
#include "sandbox/limits/usage.h"

namespace bulkhead {

// init's own descriptors, as spawn.cc places them. What the program gets follows, in the order of
// those of Orders::numbers that are given.
inline constexpr int kControl = 3;
inline constexpr int kOrders = 4;
inline constexpr int kGiven = 5;
inline constexpr int kMostGiven = 2 + static_cast<int>(kMostNumbers);

[[noreturn]] void run_init() noexcept;

// `mounted` tells by being readable that all mounts stand; `spare`: see mount_trees().
[[noreturn]] void run_program(const Orders<Read>& orders, int mounted, int spare) noexcept;

// ---- mounts.cc: single-threaded, with all capabilities in its user namespace, in this order ----

// Nothing that is mounted after it reaches the outside, and nothing mounted outside appears. Works
// before ids are mapped.
bool leave_outer_mounts(Failure& failure) noexcept;
// All that changes what a path outside of /proc leads to. `spare`: the folder of a private home's
// spare ones, which no path may lead to any more; -1: there is none.
bool mount_trees(const MountOrders<Read>& orders, int& spare, Failure& failure) noexcept;
// /proc, and what is read-only from then on.
bool mount_system(const MountOrders<Read>& orders, Failure& failure) noexcept;
// The folder of this IPC namespace's POSIX message queues (mq_overview(7)), attached nowhere; -1
// where the kernel has none.
int open_queues() noexcept;

// ---- talk.cc: to the supervisor, by the control socket ----

constexpr size_t kMostDescriptors = 7 + kSystemVLists;
bool send_message(int control, const SetupMessage& message, const int* descriptors,
                  size_t count) noexcept;
void send_event(int control, ProgramEvent::Kind kind, int value, const char* step = "",
                const char* on = "") noexcept;
[[noreturn]] void give_up(int control, const Failure& failure) noexcept;

}  // namespace bulkhead
