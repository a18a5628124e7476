#include "vscode/outlet.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace bulkhead {
namespace {

constexpr size_t kGathered = 64U << 10U;  // bytes of a piece that holds small ones
constexpr size_t kSmall = 8U << 10U;      // copying less is cheaper than keeping count of it
constexpr size_t kPiecesAtOnce = 64;

}  // namespace

void Outlet::add(Bytes bytes) {
  if (bytes.empty()) return;
  if (pieces_.empty() || pieces_.back().owner ||
      pieces_.back().own.size() + bytes.size() > kGathered)
    pieces_.emplace_back();
  std::vector<uint8_t>& own = pieces_.back().own;
  own.insert(own.end(), bytes.begin(), bytes.end());
  size_ += bytes.size();
}

void Outlet::add(Bytes bytes, const SharedBytes& owner) {
  if (!owner || bytes.size() <= kSmall) {
    add(bytes);
    return;
  }
  pieces_.push_back(Piece{{}, owner, bytes});
  size_ += bytes.size();
}

void Outlet::clear() {
  pieces_.clear();
  done_ = size_ = 0;
}

bool Outlet::write(int fd) {
  while (!empty()) {
    std::array<iovec, kPiecesAtOnce> parts{};
    size_t count = 0;
    for (const Piece& piece : pieces_) {
      if (count == parts.size()) break;
      const Bytes bytes = piece.bytes().subspan(count == 0 ? done_ : 0);
      // The kernel only reads what it sends; its type knows no const.
      parts[count++] = {const_cast<uint8_t*>(bytes.data()), bytes.size()};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t n = ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    size_t written = static_cast<size_t>(n);
    size_ -= written;
    while (written > 0) {
      const size_t left = pieces_.front().bytes().size() - done_;
      if (written < left) {
        done_ += written;
        break;
      }
      written -= left;
      done_ = 0;
      if (pieces_.size() == 1 && !pieces_.front().owner)
        pieces_.front().own.clear();  // its memory serves the next
      else
        pieces_.pop_front();
    }
  }
  return true;
}

}  // namespace bulkhead
