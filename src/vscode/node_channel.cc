#include "vscode/node_channel.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/nlohmann.h"
#include "vscode/json_tree.h"

namespace bulkhead {
namespace {

constexpr size_t kMaxHandles = 8;
constexpr int kReadsAtOnce = 16;

// Takes the descriptors out of a control message; every one of them, so that none leaks.
void take_descriptors(msghdr& message, std::deque<Fd>* into) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      into->emplace_back(fd);
    }
  }
}

}  // namespace

bool claims_handle(std::string_view line) {
  const auto json = parse_json<nlohmann::json>(line);
  if (!json.is_object()) return false;
  const auto cmd = json.find("cmd");
  return cmd != json.end() && cmd->is_string() &&
         cmd->get_ref<const std::string&>() == "NODE_HANDLE";
}

NodeChannel::NodeChannel(Fd fd, size_t limit) : fd_(std::move(fd)), limit_(limit) {
  ::fcntl(fd_.get(), F_SETFL, ::fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
}

Result<bool> NodeChannel::receive(const Each& each) {
  // Not until nothing is left: who sends without end must not keep its reader from all else.
  for (int reads = 0; reads < kReadsAtOnce; ++reads) {
    std::array<char, 65536> buffer;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(16 * sizeof(int))> control;
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t n = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n < 0 && errno == ECONNRESET) return false;
    if (n < 0) return errno_error("read from the Node channel");
    take_descriptors(message, &handles_);
    if (n == 0) return false;
    if (handles_.size() > kMaxHandles)
      return Error{"the Node channel sent descriptors that no message names"};
    in_.append(buffer.data(), static_cast<size_t>(n));
    size_t begin = 0;
    const size_t searched = in_.size() - static_cast<size_t>(n);
    for (;;) {
      const size_t end = in_.find('\n', std::max(begin, searched));
      if (end == std::string::npos) break;
      const std::string_view line(in_.data() + begin, end - begin);
      Fd handle;
      if (!handles_.empty() && claims_handle(line)) {
        handle = std::move(handles_.front());
        handles_.pop_front();
      }
      if (!line.empty()) BULKHEAD_CHECK(each(line, std::move(handle)));
      begin = end + 1;
    }
    in_.erase(0, begin);
    if (in_.size() > limit_)
      return Error{fmt::format("the Node channel sent a line beyond {} bytes", limit_)};
  }
  return true;
}

Status NodeChannel::send(std::string line, Fd handle) {
  line += '\n';
  out_.push_back(Outgoing{std::move(line), 0, std::move(handle)});
  return flush();
}

Status NodeChannel::flush() {
  while (!out_.empty()) {
    Outgoing& next = out_.front();
    iovec part{next.text.data() + next.written, next.text.size() - next.written};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (next.handle && next.written == 0) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* c = CMSG_FIRSTHDR(&message);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      const int fd = next.handle.get();
      std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (n < 0) return errno_error("write to the Node channel");
    next.written += static_cast<size_t>(n);
    if (next.written == next.text.size()) out_.pop_front();
  }
  return {};
}

}  // namespace bulkhead
