#include "packets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "number.h"

namespace bulkhead {
namespace {

// What send() gives.
constexpr int32_t kSent = 0, kFull = 1, kGone = 2;

struct Pair {
  std::array<int, 2> fds = {-1, -1};  // ours, and the keeper's until it is started

  Pair() = default;
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() { close(); }
  void close(size_t from = 0) {
    for (; from < fds.size(); ++from) {
      if (fds.at(from) >= 0) ::close(fds.at(from));
      fds.at(from) = -1;
    }
  }
};

// A thread of the host's may end without any more of its JavaScript.
void at_exit(void* data) { delete static_cast<Pair*>(data); }

Pair& pair_of(napi_env env, napi_callback_info info, size_t* count, napi_value* arguments) {
  void* data = nullptr;
  napi_get_cb_info(env, info, count, arguments, nullptr, &data);
  return *static_cast<Pair*>(data);
}

// send(text): now or not at all.
napi_value send(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value text = nullptr;
  const Pair& pair = pair_of(env, info, &count, &text);
  std::array<char, 12 << 10> packet;
  size_t length = 0;
  if (pair.fds[0] < 0 ||
      napi_get_value_string_utf8(env, text, packet.data(), packet.size(), &length) != napi_ok)
    return number(env, kGone);
  ssize_t sent = 0;
  do {
    sent = ::send(pair.fds[0], packet.data(), length, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return number(env, sent >= 0 ? kSent : errno == EAGAIN ? kFull : kGone);
}

// open(): descriptors, ours and the keeper's.
napi_value open(napi_env env, napi_callback_info info) {
  size_t count = 0;
  Pair& pair = pair_of(env, info, &count, nullptr);
  pair.close();
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.fds.data()) != 0) {
    napi_throw_error(env, nullptr, "no socket for the journal could be made");
    return nullptr;
  }
  napi_value list = nullptr;
  napi_create_array_with_length(env, 2, &list);
  for (uint32_t i = 0; i < 2; ++i) napi_set_element(env, list, i, number(env, pair.fds.at(i)));
  return list;
}

// started(): the keeper has its end.
napi_value started(napi_env env, napi_callback_info info) {
  size_t count = 0;
  pair_of(env, info, &count, nullptr).close(1);
  return nullptr;
}

napi_value close(napi_env env, napi_callback_info info) {
  size_t count = 0;
  pair_of(env, info, &count, nullptr).close();
  return nullptr;
}

}  // namespace

// As long as the environment: there is one for each journal that a host names.
napi_value packets(napi_env env, napi_callback_info) {
  auto* const pair = new Pair();
  napi_value object = nullptr;
  napi_create_object(env, &object);
  const struct {
    const char* name;
    napi_callback function;
  } functions[] = {{"open", open}, {"send", send}, {"started", started}, {"close", close}};
  for (const auto& [name, function] : functions) {
    napi_value value = nullptr;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, function, pair, &value);
    napi_set_named_property(env, object, name, value);
  }
  napi_add_env_cleanup_hook(env, at_exit, pair);
  return object;
}

}  // namespace bulkhead
