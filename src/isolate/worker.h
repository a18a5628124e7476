// Worker: the process in which guests run. One thread serves the host's requests, nested as deep as
// the two sides call each other; a second one only ends what runs, when the host says so.
#pragma once

#include <v8-platform.h>
#include <v8.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isolate/limiter.h"
#include "isolate/message.h"
#include "membrane/channel.h"

namespace bulkhead {

class Guest;

class Worker {
 public:
  explicit Worker(v8::Platform& platform);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  bool attach(int fd) { return channel_.attach(fd, ChannelSide::kWorker); }
  // Until the host is gone; does not return.
  [[noreturn]] void serve();

  // For a guest that waits for the answer to what it asked: serves what comes in between, and
  // returns the length of the answer. 0: the turn is to end.
  size_t exchange(const Guest& guest, size_t length);

  SharedChannel& channel() { return channel_; }
  v8::Platform& platform() { return platform_; }
  // What every guest runs first: its end of the membrane.
  const std::string& program() const { return program_; }
  // Its code cache, or null.
  v8::ScriptCompiler::CachedData* cached_code();
  void keep_code(const v8::ScriptCompiler::CachedData& code) {
    code_.assign(code.data, code.data + code.length);
  }

  // `body` fits behind a header.
  void reply(const MessageHeader& header, uint8_t op, uint8_t flags = 0,
             std::span<const uint8_t> body = {});
  // What the host reads once the process is no more.
  void say_last(LastWords words) {
    channel_.control().last_words.store(static_cast<uint32_t>(words));
  }
  // The near end of a heap: the running turn is over.
  void out_of_memory(v8::Isolate* isolate);
  // What runs is to end: its turn, or one in the middle of which that is.
  bool is_ending() const { return ending_.load() != kNone; }
  // Where the code stands that is to end, for whoever is told of it. Frames of JavaScript; nothing
  // where it is no limit of time that ends it.
  void look(v8::Isolate* isolate);
  std::string take_seen() { return std::exchange(seen_, {}); }
  // For what a guest grants its own callees, one at a time; made when first needed.
  Limiter& limiter();
  bool is_callee_over() const { return limiter_ != nullptr && limiter_->is_over(); }
  MessageEnd why() const { return memory_over_.load() ? kEndMemory : kEndTime; }
  uintptr_t stack_base() const { return stack_base_; }
  size_t depth() const { return running_.size(); }

  // Marks an isolate as what runs, for as long as it is in scope.
  class Running {
   public:
    Running(Worker& worker, v8::Isolate* isolate);
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running();

   private:
    Worker& worker_;
  };

 private:
  size_t await();
  [[noreturn]] void broken();
  void take_program();
  // Entering an isolate costs more than a short message, so the last one stays entered between
  // turns.
  void enter(v8::Isolate* isolate);
  void dispatch(size_t length);
  void begin_inner(uint32_t turn);
  void end_inner();
  void create(const MessageHeader& header, size_t length);
  // Why it cannot be, or 0.
  uint8_t make(uint32_t sandbox, const CreateMessage& limits);
  void dispose(const MessageHeader& header);
  void give_code(const MessageHeader& header);
  void watch();
  bool ask_to_end(uint32_t turn);
  bool is_to_end(uint32_t turn);
  void end(uint32_t turn);
  void end_running();

  SharedChannel channel_;
  v8::Platform& platform_;
  std::string program_;
  v8::Isolate* entered_ = nullptr;
  std::vector<uint8_t> code_;
  std::vector<std::unique_ptr<Guest>> guests_;
  uintptr_t stack_base_ = 0;
  Limiter* limiter_ = nullptr;
  std::string seen_;
  clockid_t clock_{};  // of the thread that runs guests

  std::mutex mutex_;
  std::vector<v8::Isolate*> running_;  // under the mutex: the watchdog ends the last one
  // The turn, and those that were begun in the middle of it; changed under the mutex where
  // something runs. ending_: the first of them that is to end, and so all after it.
  std::vector<uint32_t> turns_;
  static constexpr size_t kNone = SIZE_MAX;
  std::atomic<size_t> ending_{kNone};
  std::atomic<bool> memory_over_{false};
};

}  // namespace bulkhead
