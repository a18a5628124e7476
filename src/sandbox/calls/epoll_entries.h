// Epoll entries: where a caller's epoll descriptors hold one of its sockets.
//
// The kernel knows an entry by the open file and by the number that this had when it was added. So
// a socket that takes another's place is in no epoll, although its owner put that number into one;
// and who waits there, waits for ever.
//
// Not covered: entries of the same socket under other numbers (dup), entries in epoll descriptors
// that the caller itself does not hold, and poll(2) or select(2) of another thread that wait
// already.
#pragma once

#include <sys/epoll.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace bulkhead {

struct TargetSocket;
class Processes;

struct EpollEntry {
  Fd epoll;  // ours, of the caller's
  epoll_event event{};
};

std::vector<EpollEntry> epoll_entries(const Processes& processes, pid_t tid,
                                      const TargetSocket& socket);

// Has them name `fresh`, which must have `old`'s number in the caller's table already: what is
// ready in it by now, is told. Without an entry, or where the kernel refuses, nothing happens.
void move_epoll_entries(const std::vector<EpollEntry>& entries, const TargetSocket& old, int fresh);

// The entry of a file under a number, from the text of an epoll's /proc/TID/fdinfo/N.
std::optional<epoll_event> find_epoll_entry(std::string_view fdinfo, int number, uint64_t inode);

}  // namespace bulkhead
