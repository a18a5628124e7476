// Outlet: bytes that wait for a non-blocking socket. Small ones are gathered, large ones stay where
// they are and are sent from there: a message that is kept for a replay is not kept twice.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "vscode/websocket.h"

namespace bulkhead {

using SharedBytes = std::shared_ptr<const std::vector<uint8_t>>;

class Outlet {
 public:
  // Copied.
  void add(Bytes bytes);
  // Copied where small or where `owner`, which holds them, is null.
  void add(Bytes bytes, const SharedBytes& owner);

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  void clear();
  // Writes what the socket takes. False where it is gone.
  bool write(int fd);

 private:
  struct Piece {
    std::vector<uint8_t> own;
    SharedBytes owner;  // of `held`, where not null
    Bytes held;
    Bytes bytes() const { return owner ? held : Bytes(own); }
  };
  std::deque<Piece> pieces_;
  size_t done_ = 0;  // of the first piece
  size_t size_ = 0;
};

}  // namespace bulkhead
