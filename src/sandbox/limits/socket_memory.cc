#include "sandbox/limits/socket_memory.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bulkhead {
namespace {

constexpr uint64_t kSocket = 2048;      // of the kernel's own, about
constexpr uint64_t kSmallSocket = 256;  // of a connection that begins or has ended (TIME_WAIT)
// The most that one socket can have on its way (net.core.wmem_max, doubled), and the most that a
// byte takes there.
constexpr uint64_t kMostSent = uint64_t{416} << 10U;
constexpr uint64_t kSmallest = 1024;

// What netlink(7) tells is a row of records: a header that begins with the length of both, and what
// it stands for. Takes the first of `rest`; false at the end.
template <typename Header>
bool take_record(std::string_view& rest, Header* header, std::string_view* content) {
  if (rest.size() < sizeof *header) return false;
  std::memcpy(header, rest.data(), sizeof *header);
  size_t length = 0;
  if constexpr (std::is_same_v<Header, nlmsghdr>)
    length = header->nlmsg_len;
  else
    length = header->rta_len;
  if (length < sizeof *header || length > rest.size()) return false;
  *content = rest.substr(sizeof *header, length - sizeof *header);
  rest.remove_prefix(std::min(rest.size(), NLMSG_ALIGN(length)));
  return true;
}

// The numbers of a socket's attribute; none where it is missing.
std::vector<uint32_t> numbers(std::string_view attributes, unsigned type) {
  rtattr header{};
  for (std::string_view content; take_record(attributes, &header, &content);) {
    if (header.rta_type != type) continue;
    std::vector<uint32_t> found(content.size() / sizeof(uint32_t));
    std::memcpy(found.data(), content.data(), found.size() * sizeof(uint32_t));
    return found;
  }
  return {};
}

// Sends one request, and has each socket and its attributes looked at. False where the kernel does
// not tell of that family at all.
template <typename Socket, typename Request, typename Look>
bool dump(int diag, uint16_t type, const Request& asked, const Look& look) {
  struct {
    nlmsghdr header;
    Request request;
  } message{};
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = type;
  message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message.request = asked;
  if (::send(diag, &message, sizeof message, 0) < 0) return true;
  std::array<char, 32768> part;  // NOLINT: as much as the kernel sends at once; written by recv
  for (;;) {
    const ssize_t size = ::recv(diag, part.data(), part.size(), MSG_DONTWAIT);
    if (size <= 0) return true;
    std::string_view rest(part.data(), static_cast<size_t>(size));
    nlmsghdr header{};
    for (std::string_view content; take_record(rest, &header, &content);) {
      if (header.nlmsg_type == NLMSG_DONE) return true;
      if (header.nlmsg_type == NLMSG_ERROR) {
        int error = 0;
        if (content.size() >= sizeof error) std::memcpy(&error, content.data(), sizeof error);
        return error != -ENOENT;
      }
      Socket socket{};
      if (content.size() < sizeof socket) continue;
      std::memcpy(&socket, content.data(), sizeof socket);
      content.remove_prefix(sizeof socket);
      look(socket, content);
    }
  }
}

template <typename Look>
void dump_unix(int diag, uint32_t shown, const Look& look) {
  unix_diag_req request{};
  request.sdiag_family = AF_UNIX;
  request.udiag_states = ~0U;
  request.udiag_show = shown;
  dump<unix_diag_msg>(diag, SOCK_DIAG_BY_FAMILY, request, look);
}

template <typename Look>
void dump_inet(int diag, const Look& look) {
  constexpr uint8_t kMemory = 1U << (INET_DIAG_SKMEMINFO - 1);
  // The old request, which takes both families at once: looking through the machine's table of
  // connections is what it costs.
  inet_diag_req tcp{};
  tcp.idiag_family = AF_INET;
  tcp.idiag_ext = kMemory;
  tcp.idiag_states = ~0U;
  dump<inet_diag_msg>(diag, TCPDIAG_GETSOCK, tcp, look);
  inet_diag_req_v2 udp{};
  udp.sdiag_protocol = IPPROTO_UDP;
  udp.idiag_ext = kMemory;
  udp.idiag_states = ~0U;
  for (const int family : {AF_INET, AF_INET6}) {
    udp.sdiag_family = static_cast<uint8_t>(family);
    dump<inet_diag_msg>(diag, SOCK_DIAG_BY_FAMILY, udp, look);
  }
}

template <typename Look>
void dump_netlink(int diag, const Look& look) {
  netlink_diag_req request{};
  request.sdiag_family = AF_NETLINK;
  request.sdiag_protocol = NDIAG_PROTO_ALL;
  request.ndiag_show = NDIAG_SHOW_MEMINFO;
  // A kernel that does not tell starts modprobe each time that it is asked.
  static std::atomic<bool> is_told{true};
  if (is_told) is_told = dump<netlink_diag_msg>(diag, SOCK_DIAG_BY_FAMILY, request, look);
}

uint64_t controls_among(const std::vector<uint32_t>& memory) {
  return memory.size() > SK_MEMINFO_OPTMEM ? memory[SK_MEMINFO_OPTMEM] : 0;
}

}  // namespace

// What waits is counted for who sent it. Where that has closed its socket, the one that it waits in
// tells how much it is, and not how much it takes; one that was not accepted is not even listed.
uint64_t unix_socket_bytes(int diag) {
  uint64_t bytes = 0;
  dump_unix(diag, UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN | UDIAG_SHOW_ICONS | UDIAG_SHOW_MEMINFO,
            [&](const unix_diag_msg& socket, std::string_view its) {
              bytes += kSocket;
              bytes += controls_among(numbers(its, UNIX_DIAG_MEMINFO));
              for (const uint32_t client : numbers(its, UNIX_DIAG_ICONS))
                bytes += kSocket + (client == 0 ? kMostSent : 0);
              const auto queues = numbers(its, UNIX_DIAG_RQLEN);
              if (queues.size() != 2 || socket.udiag_state == TCP_LISTEN) return;
              const uint64_t received = queues[0], sent = queues[1];
              bytes += sent;
              const auto peer = numbers(its, UNIX_DIAG_PEER);
              if (peer.empty() || peer[0] != 0) return;
              // Empty messages are told as nothing.
              bytes += socket.udiag_type == SOCK_SEQPACKET
                           ? kMostSent
                           : std::min(received * kSmallest, kMostSent);
            });
  return bytes;
}

uint64_t inet_buffers(std::span<const uint32_t> memory) {
  uint64_t bytes = 0;
  for (const size_t each : {SK_MEMINFO_RMEM_ALLOC, SK_MEMINFO_FWD_ALLOC, SK_MEMINFO_WMEM_QUEUED})
    if (each < memory.size()) bytes += memory[each];
  return bytes;
}

uint64_t inet_bytes(std::span<const uint32_t> memory) {
  if (memory.empty()) return kSmallSocket;  // not a whole socket, yet or any more
  uint64_t bytes = kSocket + inet_buffers(memory);
  for (const size_t each : {SK_MEMINFO_OPTMEM, SK_MEMINFO_BACKLOG})
    if (each < memory.size()) bytes += memory[each];
  return bytes;
}

InetSockets inet_sockets(int diag) {
  InetSockets found;
  uint64_t queued = 0, waiting = 0;
  dump_inet(diag, [&](const inet_diag_msg& socket, std::string_view its) {
    const auto memory = numbers(its, INET_DIAG_SKMEMINFO);
    const uint64_t bytes = inet_bytes(memory);
    found.bytes += bytes;
    found.buffers += inet_buffers(memory);
    found.uncharged += controls_among(memory);
    if (socket.idiag_inode != 0) found.inodes.insert(socket.idiag_inode);
    if (socket.idiag_state == TCP_LISTEN) queued += socket.idiag_rqueue;
    // Nobody has closed it, and nobody has it. What is not accepted is in no cgroup yet.
    if (socket.idiag_inode != 0 ||
        (socket.idiag_state != TCP_ESTABLISHED && socket.idiag_state != TCP_CLOSE_WAIT))
      return;
    ++waiting;
    found.uncharged += bytes;
  });
  found.unlisted_waiting = queued - std::min(queued, waiting);
  return found;
}

// Those of the kernel's own, which hold nothing, are among them, and so is `diag`.
uint64_t netlink_socket_bytes(int diag) {
  uint64_t bytes = 0;
  dump_netlink(diag, [&](const netlink_diag_msg&, std::string_view its) {
    const auto memory = numbers(its, NETLINK_DIAG_MEMINFO);
    for (const size_t each : {SK_MEMINFO_RMEM_ALLOC, SK_MEMINFO_WMEM_ALLOC, SK_MEMINFO_OPTMEM})
      if (each < memory.size()) bytes += memory[each];
  });
  return bytes;
}

uint64_t uncharged_socket_bytes(int diag) {
  uint64_t bytes = netlink_socket_bytes(diag);
  dump_unix(diag, UDIAG_SHOW_MEMINFO, [&](const unix_diag_msg&, std::string_view its) {
    bytes += controls_among(numbers(its, UNIX_DIAG_MEMINFO));
  });
  return bytes;
}

std::set<uint64_t> other_sockets(int diag) {
  std::set<uint64_t> inodes;
  dump_unix(diag, 0, [&](const unix_diag_msg& socket, std::string_view) {
    inodes.insert(socket.udiag_ino);
  });
  dump_netlink(diag, [&](const netlink_diag_msg& socket, std::string_view) {
    inodes.insert(socket.ndiag_ino);
  });
  return inodes;
}

}  // namespace bulkhead
