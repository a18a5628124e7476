#include "isolate/heap.h"

#include <libplatform/libplatform.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "isolate/worker.h"

namespace bulkhead {
namespace {

constexpr size_t kMegabyte = 1 << 20;
constexpr size_t kLeastHeap = 8 * kMegabyte;
constexpr size_t kMostStack = kMegabyte;
constexpr size_t kCode = 16 * kMegabyte;
constexpr size_t kLeastStack = 64 << 10;
constexpr uint64_t kFlushInterval = 10'000'000;
// What a heap may grow by to unwind a script that filled it.
constexpr size_t kHeadroom = 16 * kMegabyte;

SharedChannel* last_channel =
    nullptr;  // of this process, for the handler that V8 calls without data

void fatal_out_of_memory(const char*, const v8::OOMDetails&) {
  if (last_channel != nullptr)
    last_channel->control().last_words.store(static_cast<uint32_t>(LastWords::kMemory));
  ::_exit(1);
}

// Young objects have three semi-spaces of a sixteenth each, as V8 counts; old ones the rest. When
// these are collected first, a flag says (js/lib/launcher.cjs).
void divide(v8::ResourceConstraints& constraints, size_t heap) {
  const size_t young = 3 * std::min(heap / 16, 32 * kMegabyte);
  constraints.set_max_young_generation_size_in_bytes(young);
  constraints.set_max_old_generation_size_in_bytes(heap - young);
}

size_t bytes(double value) { return static_cast<size_t>(std::clamp(value, 0.0, 1e15)); }

size_t heap_of(const CreateMessage& limits) { return std::max(bytes(limits.heap), kLeastHeap); }

// To some milliseconds, which costs a fifth.
uint64_t coarse_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

void* CountingAllocator::Allocate(size_t length) {
  if (used_.fetch_add(length) + length > limit_) {
    used_.fetch_sub(length);
    return nullptr;
  }
  void* const data = std::calloc(std::max<size_t>(length, 1), 1);
  if (data == nullptr) used_.fetch_sub(length);
  return data;
}

void CountingAllocator::Free(void* data, size_t length) {
  std::free(data);
  used_.fetch_sub(length);
}

Heap::Heap(Worker& worker, const CreateMessage& limits) : worker_(worker), limits_(limits) {
  last_channel = &worker.channel();
  allocator_ = std::make_shared<CountingAllocator>(bytes(limits.buffers));
  isolate_ = v8::Isolate::Allocate();
  v8::Isolate::CreateParams params;
  params.array_buffer_allocator_shared = allocator_;
  params.allow_atomics_wait = false;
  divide(params.constraints, heap_of(limits));
  // V8 would reserve 128 MB of addresses for each isolate's code, and a worker has many.
  params.constraints.set_code_range_size_in_bytes(kCode);
  v8::Isolate::Initialize(isolate_, params);
  isolate_->SetMicrotasksPolicy(v8::MicrotasksPolicy::kExplicit);
  isolate_->AddNearHeapLimitCallback(near_limit, this);
  isolate_->SetOOMErrorHandler(fatal_out_of_memory);
  if ((limits.flags & kCreateWasm) == 0)
    isolate_->SetAllowWasmCodeGenerationCallback(
        [](v8::Local<v8::Context>, v8::Local<v8::String>) { return false; });
}

Heap::~Heap() {
  v8::platform::NotifyIsolateShutdown(&worker_.platform(), isolate_);
  kept_.clear();
  isolate_->Dispose();
}

size_t Heap::near_limit(void* data, size_t current, size_t initial) {
  auto* const heap = static_cast<Heap*>(data);
  if (heap->memory_over_) {
    // It was asked to end and goes on filling.
    fatal_out_of_memory("", {});
  }
  heap->memory_over_ = true;
  heap->full_ = initial;
  heap->worker_.out_of_memory(heap->isolate_);
  return current + kHeadroom;
}

void Heap::limit_stack(uintptr_t here) {
  const uintptr_t limit = here == 0
                              ? worker_.stack_base() - kMostStack
                              : here - static_cast<size_t>(std::clamp(
                                           limits_.stack, double{kLeastStack}, double{kMostStack}));
  // Most turns begin at the same place, and V8 takes a lock to be told.
  if (limit != stack_limit_) isolate_->SetStackLimit(stack_limit_ = limit);
}

void Heap::flush() {
  const uint64_t now = coarse_now();
  if (now - flushed_ < kFlushInterval) return;
  flushed_ = now;
  flushing_ = 1;
  // A task of finalizers that is ended at once, because its turn is, comes again at once. The
  // others give memory back, which the next call needs.
  constexpr int kMostEnded = 32;
  for (int ended = 0; v8::platform::PumpMessageLoop(&worker_.platform(), isolate_);)
    if (worker_.is_ending() && ++ended == kMostEnded) break;
  flushing_ = 0;
}

void Heap::recover(v8::MicrotaskQueue* forgotten) {
  if (forgotten != nullptr) {
    // Ended before it begins: V8 drops all microtasks then, which would be the next turn's
    // otherwise.
    isolate_->TerminateExecution();
    forgotten->PerformCheckpoint(isolate_);
  }
  isolate_->CancelTerminateExecution();
  if (!memory_over_ || is_running()) return;
  isolate_->LowMemoryNotification();
  memory_over_ = false;
  worker_.say_last(LastWords::kNone);
  // Without the headroom, which each script that is ended would add to otherwise. V8 leaves a
  // quarter more than there is.
  isolate_->RemoveNearHeapLimitCallback(near_limit, full_);
  isolate_->AddNearHeapLimitCallback(near_limit, this);
  v8::HeapStatistics statistics;
  isolate_->GetHeapStatistics(&statistics);
  spent_ = statistics.used_heap_size() > heap_of(limits_);
}

}  // namespace bulkhead
