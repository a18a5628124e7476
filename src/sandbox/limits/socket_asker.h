// Asks sockets of other processes what they hold, each by a copy of its descriptor that lives for a
// moment. Where its owner has closed it meanwhile ours is the last, and closing that waits as long
// as the owner has said, SO_LINGER: hours. So all of it is done by a thread that nobody waits for.
#pragma once

#include <linux/sock_diag.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace bulkhead {

class SocketAsker {
 public:
  struct Question {
    pid_t thread = -1;  // as we see it
    int number = -1;    // of the descriptor
    uint64_t inode = 0;
  };
  struct Answer {
    bool is_inet = false;
    std::array<uint32_t, SK_MEMINFO_VARS> memory{};
  };

  // `before_close` (tests) is called in the thread, each time before it closes a copy.
  explicit SocketAsker(std::function<void()> before_close = {});
  ~SocketAsker();
  SocketAsker(const SocketAsker&) = delete;
  SocketAsker& operator=(const SocketAsker&) = delete;

  // By inode. Missing are those that are not what was meant any more, or cannot be copied; all
  // while one of an earlier call is still being closed; and what takes longer than a tenth of a
  // second altogether.
  std::map<uint64_t, Answer> ask(std::vector<Question> questions);

 private:
  struct State;
  bool start();
  static void serve(const std::shared_ptr<State>& state);

  std::function<void()> before_close_;
  std::shared_ptr<State> state_;  // the thread's, too, which may outlive us
  pid_t owner_ = -1;              // the thread's process: a fork has it not
};

}  // namespace bulkhead
