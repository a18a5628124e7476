// Heap: a V8 isolate with its limits of memory and stack. One realm runs in it, or several (guest).
#pragma once

#include <v8.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "isolate/message.h"

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

class Heap {
 public:
  Heap(Worker& worker, const CreateMessage& limits);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  v8::Isolate* isolate() const { return isolate_; }
  const CountingAllocator& allocator() const { return *allocator_; }

  // Marks that one of its realms runs, for as long as it is in scope.
  class Running {
   public:
    explicit Running(Heap& heap) : heap_(heap) { ++heap_.depth_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { --heap_.depth_; }

   private:
    Heap& heap_;
  };
  bool is_running() const { return depth_ != 0; }

  // What runs from now on has so much stack below `here` as the limits say; 0: all that there is.
  void limit_stack(uintptr_t here);
  // Finalizers, and what V8 put off, within the turn's limits, once the turn's reply is written:
  // they may write nothing themselves.
  void flush();
  // Not 0 meanwhile; realms look here before they write.
  uint8_t* flushing() { return &flushing_; }
  // It was full, and what runs is ended for it.
  bool is_over() const { return memory_over_; }
  // Holds more than its limit when nothing runs: nothing will again.
  bool is_spent() const { return spent_; }
  // After a script was ended: usable again, unless it is spent. `forgotten`: what its realm had put
  // off, or null where that still runs.
  void recover(v8::MicrotaskQueue* forgotten);
  // Lives as long as the isolate: what functions of its realms lead to, which outlive their realm.
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }

 private:
  static size_t near_limit(void* data, size_t current, size_t initial);

  Worker& worker_;
  const CreateMessage limits_;
  std::vector<std::shared_ptr<void>> kept_;
  std::shared_ptr<CountingAllocator> allocator_;
  v8::Isolate* isolate_ = nullptr;
  size_t depth_ = 0;
  uintptr_t stack_limit_ = 0;
  uint8_t flushing_ = 0;
  bool memory_over_ = false, spent_ = false;
  size_t full_ = 0;  // where V8 found it full the first time
  uint64_t flushed_ = 0;
};

}  // namespace bulkhead
