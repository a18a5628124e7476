#include "cli/terminal.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/path.h"
#include "cli/closed_output.h"

namespace bulkhead {
namespace {

bool closed_output = false;

}  // namespace

std::string escape_quoted(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = std::min(text.find('\\'), text.size());
    out += escape_for_display(text.substr(0, end));
    if (end == text.size()) return out;
    out += '\\';
    text.remove_prefix(end + 1);
  }
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      // The descriptor's other users can make it so: a program would keep its denials from the
      // person by that.
      struct pollfd room = {.fd = fd, .events = POLLOUT, .revents = 0};
      if (errno == EAGAIN && (poll(&room, 1, -1) == 1 || errno == EINTR)) continue;
      return false;
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void note_closed_output() { closed_output = true; }

bool print(std::string_view text) {
  if (closed_output && !text.empty()) {
    errno = EBADF;
  } else if (write_all(STDOUT_FILENO, text)) {
    return true;
  }
  complain(errno_error("write the output"));
  return false;
}

void complain(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const size_t end = std::min(message.find('\n'), message.size());
    text += text.empty() ? "bulkhead: " : "  ";
    text += escape_quoted(message.substr(0, end));
    text += '\n';
    message.remove_prefix(std::min(message.size(), end + 1));
  }
  // Nowhere to report that standard error is gone.
  static_cast<void>(write_all(STDERR_FILENO, text));
}

void complain(const Error& error) { complain(to_string(error)); }

}  // namespace bulkhead
