// Guest: a V8 isolate with its context, its limits and its end of the membrane, which is the same
// JavaScript as the host's (js/lib) and runs in the guest's own realm.
#pragma once

#include <v8.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "isolate/message.h"
#include "isolate/modules.h"

namespace bulkhead {

class Worker;

// ArrayBuffers count as the memory that they are.
class CountingAllocator final : public v8::ArrayBuffer::Allocator {
 public:
  explicit CountingAllocator(size_t limit) : limit_(limit) {}
  void* Allocate(size_t length) override;
  void* AllocateUninitialized(size_t length) override { return Allocate(length); }
  void Free(void* data, size_t length) override;
  size_t used() const { return used_.load(); }

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
};

class Guest {
 public:
  Guest(Worker& worker, uint32_t number, const CreateMessage& limits);
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest();

  // Makes the context and runs the membrane's source in it.
  bool start();
  // Answers one request of the host.
  void serve(const MessageHeader& header, size_t length);

  uint32_t number() const { return number_; }
  v8::Isolate* isolate() const { return isolate_; }
  size_t depth() const { return depth_; }
  // Finalizers run once the reply is written, and may write nothing themselves.
  bool is_flushing() const { return flushing_; }
  Modules& modules() { return *modules_; }
  // The host answers nothing any more to what runs now.
  void refuse() { refused_ = true; }
  bool is_refused() const { return refused_; }

 private:
  friend struct GuestNatives;
  static size_t near_heap_limit(void* data, size_t current, size_t initial);
  void flush();
  void recover();

  Worker& worker_;
  const uint32_t number_;
  const CreateMessage limits_;
  std::shared_ptr<CountingAllocator> allocator_;
  v8::Isolate* isolate_ = nullptr;
  std::unique_ptr<Modules> modules_;
  v8::Global<v8::Context> context_;
  v8::Global<v8::Function> serve_;
  size_t depth_ = 0;
  uintptr_t stack_limit_ = 0;
  bool memory_over_ = false, flushing_ = false, refused_ = false;
  uint64_t flushed_ = 0;
};

// The functions that the membrane's JavaScript finds as its `io` (natives.cc).
v8::MaybeLocal<v8::Object> make_natives(Guest& guest, Worker& worker,
                                        v8::Local<v8::Context> context,
                                        const CountingAllocator& allocator);

}  // namespace bulkhead
