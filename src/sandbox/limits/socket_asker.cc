#include "sandbox/limits/socket_asker.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "sandbox/kernel/foreign_thread.h"

namespace bulkhead {
namespace {

constexpr std::chrono::milliseconds kPatience(100);

std::optional<SocketAsker::Answer> answer_of(const Fd& copy, uint64_t inode) {
  struct stat about {};
  if (!copy || ::fstat(copy.get(), &about) != 0 || !S_ISSOCK(about.st_mode) ||
      about.st_ino != inode)
    return std::nullopt;
  SocketAsker::Answer answer;
  socklen_t size = sizeof answer.memory;
  if (::getsockopt(copy.get(), SOL_SOCKET, SO_MEMINFO, answer.memory.data(), &size) != 0)
    return std::nullopt;
  int family = AF_UNSPEC;
  size = sizeof family;
  (void)::getsockopt(copy.get(), SOL_SOCKET, SO_DOMAIN, &family, &size);
  answer.is_inet = family == AF_INET || family == AF_INET6;
  return answer;
}

}  // namespace

struct SocketAsker::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> before_close;
  std::vector<Question> questions;
  std::map<uint64_t, Answer> answers;
  bool busy = false;  // with one that was taken from `questions`
  bool ended = false;
};

SocketAsker::SocketAsker(std::function<void()> before_close)
    : before_close_(std::move(before_close)) {}

SocketAsker::~SocketAsker() {
  if (!state_ || owner_ != ::getpid()) return;
  const std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->changed.notify_all();
}

void SocketAsker::serve(const std::shared_ptr<State>& state) {
  std::optional<ThreadDescriptors> descriptors;
  pid_t thread = -1;
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->ended || !state->questions.empty(); });
    if (state->ended) return;
    const Question question = state->questions.back();
    state->questions.pop_back();
    state->busy = true;
    lock.unlock();
    if (question.thread != thread) {
      thread = question.thread;
      descriptors.emplace(thread);
    }
    // Whatever it is: to be closed by this thread, too.
    auto copied = descriptors->copy(question.number);
    Fd copy = copied.ok() ? std::move(*copied) : Fd();
    const std::optional<Answer> answer = answer_of(copy, question.inode);
    lock.lock();
    if (answer) state->answers[question.inode] = *answer;
    lock.unlock();
    if (state->before_close) state->before_close();
    copy.reset();  // here it may wait
    lock.lock();
    state->busy = false;
    if (!state->questions.empty()) continue;
    thread = -1;  // its number may be another's by the next time
    state->changed.notify_all();
  }
}

bool SocketAsker::start() {
  if (state_ && owner_ == ::getpid()) return true;
  // In a forked process the old one is never destroyed: the thread there was has its share of it.
  state_ = std::make_shared<State>();
  state_->before_close = before_close_;
  owner_ = ::getpid();
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  try {
    std::thread([state = state_] { serve(state); }).detach();
  } catch (const std::system_error&) {
    state_.reset();
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return state_ != nullptr;
}

std::map<uint64_t, SocketAsker::Answer> SocketAsker::ask(std::vector<Question> questions) {
  if (questions.empty() || !start()) return {};
  std::unique_lock lock(state_->mutex);
  if (state_->busy) return {};
  state_->answers.clear();
  state_->questions = std::move(questions);
  state_->changed.notify_all();
  (void)state_->changed.wait_for(lock, kPatience,
                                 [&] { return state_->questions.empty() && !state_->busy; });
  state_->questions.clear();
  return std::exchange(state_->answers, {});
}

}  // namespace bulkhead
