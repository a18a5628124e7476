#include "terminal/message.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bulkhead {
namespace {

// A question is at most forty lines of two hundred columns.
constexpr size_t kLongest = 64 << 10;
constexpr size_t kHeader = 1 + sizeof(int32_t);

}  // namespace

bool send_message(int socket, const TerminalMessage& message) {
  std::string record(kHeader, static_cast<char>(message.what));
  std::memcpy(record.data() + 1, &message.number, sizeof message.number);
  record.append(message.text, 0, kLongest - kHeader);
  ssize_t sent = -1;
  do {
    sent = send(socket, record.data(), record.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(record.size());
}

bool receive_message(int socket, TerminalMessage& message) {
  std::string record(kLongest, '\0');
  ssize_t size = -1;
  do {
    size = recv(socket, record.data(), record.size(), 0);
  } while (size < 0 && errno == EINTR);
  if (size < static_cast<ssize_t>(kHeader)) return false;
  message.what = static_cast<TerminalMessage::What>(record[0]);
  std::memcpy(&message.number, record.data() + 1, sizeof message.number);
  message.text.assign(record, kHeader, static_cast<size_t>(size) - kHeader);
  return true;
}

}  // namespace bulkhead
