// NodeChannel: the pipe between a Node process and a child that it forked (NODE_CHANNEL_FD, JSON
// serialisation): one JSON text a line, descriptors by SCM_RIGHTS with the line that names them.
// `bulkhead host` has one towards the server and one towards the extension host.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace bulkhead {

class NodeChannel {
 public:
  // `fd` is a unix stream socket; made non-blocking. A line beyond `limit` bytes, and more than 8
  // descriptors that no line has claimed, are errors.
  NodeChannel(Fd fd, size_t limit);

  // Reads what is there, up to 1 MiB: poll again for the rest. `each` gets every whole line and,
  // where it is a NODE_HANDLE message, its descriptor (invalid where none came). False at the end
  // of the stream.
  using Each = std::function<Status(std::string_view line, Fd handle)>;
  Result<bool> receive(const Each& each);

  // Queues a line (without its newline) and the descriptor that goes with it; writes what can be.
  Status send(std::string line, Fd handle = Fd());
  Status flush();
  bool wants_to_write() const { return !out_.empty(); }
  int fd() const { return fd_.get(); }

 private:
  struct Outgoing {
    std::string text;
    size_t written = 0;
    Fd handle;
  };
  Fd fd_;
  size_t limit_;
  std::string in_;
  std::deque<Fd> handles_;
  std::deque<Outgoing> out_;
};

// True for {"cmd":"NODE_HANDLE",…}: a line that a descriptor belongs to.
bool claims_handle(std::string_view line);

}  // namespace bulkhead
