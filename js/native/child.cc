#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "number.h"

namespace bulkhead {
namespace {

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() {
    ::posix_spawn_file_actions_destroy(&actions_);
    for (const int fd : kept_) ::close(fd);
  }

  int enter(const std::string& folder) {
    return ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  // From above all numbers that the child gets, so that none is overwritten before it is used.
  int give(int fd, int number, int above) {
    const int kept = fd < 0 ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : fd;
    const int source = kept < 0 ? -1 : ::fcntl(kept, F_DUPFD_CLOEXEC, above);
    const int error = errno;
    if (fd < 0 && kept >= 0) ::close(kept);
    if (source < 0) return error;
    kept_.push_back(source);
    return ::posix_spawn_file_actions_adddup2(&actions_, source, number);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
  std::vector<int> kept_;
};

// With no signal blocked or ignored, whatever the host does with them.
class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::string text_of(napi_env env, napi_value value) {
  size_t length = 0;
  napi_get_value_string_utf8(env, value, nullptr, 0, &length);
  std::string text(length, '\0');
  napi_get_value_string_utf8(env, value, text.data(), length + 1, &length);
  return text;
}

template <typename Take>
void each_of(napi_env env, napi_value list, const Take& take) {
  uint32_t length = 0;
  napi_get_array_length(env, list, &length);
  for (uint32_t i = 0; i < length; ++i) {
    napi_value item = nullptr;
    napi_get_element(env, list, i, &item);
    take(item);
  }
}

std::vector<std::string> texts_of(napi_env env, napi_value list) {
  std::vector<std::string> texts;
  each_of(env, list, [&](napi_value item) { texts.push_back(text_of(env, item)); });
  return texts;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

napi_value spawn(napi_env env, napi_callback_info info) {
  size_t count = 4;
  napi_value arguments[4] = {};
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  std::vector<std::string> words = texts_of(env, arguments[0]);
  std::vector<std::string> environment = texts_of(env, arguments[1]);
  std::vector<int> descriptors;
  each_of(env, arguments[3],
          [&](napi_value item) { napi_get_value_int32(env, item, &descriptors.emplace_back(-1)); });
  if (words.empty()) return number(env, -EINVAL);
  FileActions actions;
  int error = actions.enter(text_of(env, arguments[2]));
  const auto most = static_cast<int>(descriptors.size());
  for (int i = 0; i < most && error == 0; ++i) error = actions.give(descriptors[i], i, most);
  pid_t child = 0;
  const Attributes attributes;
  if (error == 0)
    error = ::posix_spawn(&child, words.front().c_str(), actions.get(), attributes.get(),
                          pointers_to(words).data(), pointers_to(environment).data());
  return number(env, error == 0 ? child : -error);
}

napi_value is_over(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument = nullptr;
  napi_get_cb_info(env, info, &count, &argument, nullptr, nullptr);
  int32_t child = 0;
  napi_get_value_int32(env, argument, &child);
  napi_value over = nullptr;
  napi_get_boolean(env, child <= 0 || ::waitpid(child, nullptr, WNOHANG) != 0, &over);
  return over;
}

void reap(pid_t child) {
  const auto wait = [child] {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  };
  try {
    std::thread(wait).detach();
  } catch (const std::system_error&) {
    wait();  // a host that may have no thread more; whoever is reaped was killed
  }
}

}  // namespace bulkhead
