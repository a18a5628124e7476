#include "isolate/guest.h"

#include <libplatform/libplatform.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

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

// The program of the guests as V8 reads it: where it is, once for all of a worker.
class ProgramText final : public v8::String::ExternalOneByteStringResource {
 public:
  explicit ProgramText(const std::string& text) : text_(text) {}
  const char* data() const override { return text_.data(); }
  size_t length() const override { return text_.size(); }

 private:
  const std::string& text_;
};

// To some milliseconds, which costs a fifth.
uint64_t coarse_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

v8::Local<v8::String> text(v8::Isolate* isolate, const char* characters) {
  return v8::String::NewFromUtf8(isolate, characters, v8::NewStringType::kInternalized)
      .ToLocalChecked();
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

Guest::Guest(Worker& worker, uint32_t number, const CreateMessage& limits)
    : worker_(worker), number_(number), limits_(limits) {
  const auto bytes = [](double value) { return static_cast<size_t>(std::clamp(value, 0.0, 1e15)); };
  last_channel = &worker.channel();
  allocator_ = std::make_shared<CountingAllocator>(bytes(limits.buffers));
  isolate_ = v8::Isolate::Allocate();
  v8::Isolate::CreateParams params;
  params.array_buffer_allocator_shared = allocator_;
  params.allow_atomics_wait = false;
  const size_t heap = std::max(bytes(limits.heap), kLeastHeap);
  params.constraints.ConfigureDefaultsFromHeapSize(0, heap);
  // V8 would reserve 128 MB of addresses for each isolate's code, and a worker has many.
  params.constraints.set_code_range_size_in_bytes(kCode);
  v8::Isolate::Initialize(isolate_, params);
  modules_ = std::make_unique<Modules>(isolate_);
  isolate_->SetMicrotasksPolicy(v8::MicrotasksPolicy::kExplicit);
  isolate_->AddNearHeapLimitCallback(near_heap_limit, this);
  isolate_->AutomaticallyRestoreInitialHeapLimit(0.7);
  isolate_->SetOOMErrorHandler(fatal_out_of_memory);
  if ((limits.flags & kCreateWasm) == 0)
    isolate_->SetAllowWasmCodeGenerationCallback(
        [](v8::Local<v8::Context>, v8::Local<v8::String>) { return false; });
}

Guest::~Guest() {
  {
    const v8::Isolate::Scope scope(isolate_);
    modules_->reset();
    serve_.Reset();
    context_.Reset();
  }
  v8::platform::NotifyIsolateShutdown(&worker_.platform(), isolate_);
  isolate_->Dispose();
}

size_t Guest::near_heap_limit(void* data, size_t current, size_t) {
  auto* const guest = static_cast<Guest*>(data);
  if (guest->memory_over_) {
    // It was asked to end and goes on filling.
    fatal_out_of_memory("", {});
  }
  guest->memory_over_ = true;
  guest->worker_.out_of_memory(guest->isolate_);
  return current + kHeadroom;
}

bool Guest::start() {
  const v8::Isolate::Scope scope(isolate_);
  const v8::HandleScope handles(isolate_);
  isolate_->SetStackLimit(worker_.stack_base() - kMostStack);
  const v8::Local<v8::Context> context = v8::Context::New(isolate_);
  context_.Reset(isolate_, context);
  const v8::Context::Scope entered(context);
  const v8::TryCatch caught(isolate_);
  v8::Local<v8::String> source;
  auto program = std::make_unique<ProgramText>(worker_.program());
  if (!v8::String::NewExternalOneByte(isolate_, program.get()).ToLocal(&source)) return false;
  (void)program.release();  // V8's from now on
  v8::ScriptOrigin origin(text(isolate_, "bulkhead:membrane"));
  v8::ScriptCompiler::CachedData* cached = worker_.cached_code();
  v8::ScriptCompiler::Source unit(source, origin, cached);
  v8::Local<v8::UnboundScript> script;
  if (!v8::ScriptCompiler::CompileUnboundScript(isolate_, &unit,
                                                cached != nullptr
                                                    ? v8::ScriptCompiler::kConsumeCodeCache
                                                    : v8::ScriptCompiler::kNoCompileOptions)
           .ToLocal(&script))
    return false;
  v8::Local<v8::Value> value, function;
  v8::Local<v8::Object> natives;
  if (!script->BindToCurrentContext()->Run(context).ToLocal(&value) || !value->IsFunction() ||
      !make_natives(*this, worker_, context, *allocator_).ToLocal(&natives))
    return false;
  v8::Local<v8::Value> arguments[] = {natives};
  if (!value.As<v8::Function>()
           ->Call(context, v8::Undefined(isolate_), 1, arguments)
           .ToLocal(&function) ||
      !function->IsFunction())
    return false;
  if (cached == nullptr) worker_.cache_code(v8::ScriptCompiler::CreateCodeCache(script));
  serve_.Reset(isolate_, function.As<v8::Function>());
  if ((limits_.flags & kCreateEval) == 0) context->AllowCodeGenerationFromStrings(false);
  return true;
}

void Guest::serve(const MessageHeader& header, size_t length) {
  const v8::Isolate::Scope scope(isolate_);
  const v8::HandleScope handles(isolate_);
  const v8::Local<v8::Context> context = context_.Get(isolate_);
  const v8::Context::Scope entered(context);
  const v8::TryCatch caught(isolate_);
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const bool outermost = worker_.depth() == 0;
  if (outermost) {
    const auto stack =
        static_cast<size_t>(std::clamp(limits_.stack, double{kLeastStack}, double{kMostStack}));
    // Most turns begin at the same place, and V8 takes a lock to be told.
    if (here - stack != stack_limit_) isolate_->SetStackLimit(stack_limit_ = here - stack);
  }
  ++depth_;
  const bool refused = std::exchange(refused_, false);
  size_t reply = 0;
  bool ended = true;
  {
    const Worker::Running running(worker_, isolate_);
    v8::Local<v8::Value> arguments[] = {
        v8::Integer::NewFromUnsigned(isolate_, static_cast<uint32_t>(length)),
        v8::Boolean::New(isolate_, outermost)};
    v8::Local<v8::Value> result;
    if (!worker_.is_ending() &&
        serve_.Get(isolate_)
            ->Call(context, v8::Undefined(isolate_), 2, arguments)
            .ToLocal(&result) &&
        result->IsUint32())
      reply = result.As<v8::Uint32>()->Value();
    ended = reply == 0 || refused_ || worker_.is_ending();
    if (outermost) flush();
  }
  --depth_;
  refused_ = refused;
  if (reply == 0 && caught.HasCaught() && !caught.HasTerminated()) {
    // For whoever works on the membrane: BULKHEAD_WORKER_STDERR (js/lib/launcher.cjs).
    const v8::String::Utf8Value words(isolate_, caught.Exception());
    std::fprintf(stderr, "bulkhead worker: %s\n", *words == nullptr ? "?" : *words);
  }
  if (!ended && worker_.is_ending()) isolate_->CancelTerminateExecution();
  if (ended) {
    const bool told = worker_.is_ending();
    const MessageHeader answer{.op = kOpEnded,
                               .flags = told ? worker_.why() : kEndUnknown,
                               .releases = 0,
                               .sandbox = header.sandbox,
                               .turn = header.turn,
                               .target = 0};
    recover();
    std::memcpy(worker_.channel().outgoing().data(), &answer, sizeof answer);
    reply = sizeof answer;
  }
  worker_.channel().send(reply);
}

// Finalizers, and what V8 put off, within the turn's limits.
void Guest::flush() {
  const uint64_t now = coarse_now();
  if (now - flushed_ < kFlushInterval) return;
  flushed_ = now;
  flushing_ = true;
  while (!worker_.is_ending() && v8::platform::PumpMessageLoop(&worker_.platform(), isolate_)) {
  }
  flushing_ = false;
}

// After a script was ended: the isolate is usable again.
void Guest::recover() {
  if (depth_ == 0) {
    // Ended before it begins: V8 drops all microtasks then, which would be the next turn's
    // otherwise.
    isolate_->TerminateExecution();
    isolate_->PerformMicrotaskCheckpoint();
  }
  isolate_->CancelTerminateExecution();
  if (!memory_over_ || depth_ != 0) return;
  isolate_->LowMemoryNotification();
  memory_over_ = false;
}

}  // namespace bulkhead
