#include "isolate/worker.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <thread>

#include "isolate/guest.h"

namespace bulkhead {
namespace {

constexpr uint64_t kLookNanoseconds = 3'000'000;
constexpr int kMostFrames = 12, kMostName = 200;

uint64_t processor_time(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

Worker::Worker(v8::Platform& platform) : platform_(platform) {}

Worker::~Worker() = default;

v8::ScriptCompiler::CachedData* Worker::cached_code() {
  if (code_.empty()) return nullptr;
  return new v8::ScriptCompiler::CachedData(code_.data(), static_cast<int>(code_.size()),
                                            v8::ScriptCompiler::CachedData::BufferNotOwned);
}

Worker::Running::Running(Worker& worker, v8::Isolate* isolate) : worker_(worker) {
  const std::lock_guard guard(worker_.mutex_);
  worker_.running_.push_back(isolate);
}

Worker::Running::~Running() {
  const std::lock_guard guard(worker_.mutex_);
  worker_.running_.pop_back();
}

size_t Worker::await() {
  if (!channel_.spin())
    while (!channel_.has_message()) channel_.sleep(0);
  const size_t length = channel_.receive();
  if (length == SIZE_MAX || length < sizeof(MessageHeader)) broken();
  return length;
}

void Worker::broken() {
  say_last(LastWords::kProtocol);
  ::_exit(1);
}

void Worker::take_program() {
  constexpr size_t kText = sizeof(MessageHeader) + sizeof(ProgramMessage);
  const size_t length = await();
  const uint8_t* const message = channel_.incoming();
  MessageHeader header;
  ProgramMessage program;
  std::memcpy(&header, message, sizeof header);
  if (header.op != kOpProgram || length < kText) broken();
  std::memcpy(&program, message + sizeof header, sizeof program);
  if (program.text > length - kText) broken();
  const uint8_t* const code = message + kText + program.text;
  program_.assign(reinterpret_cast<const char*>(message) + kText, program.text);
  code_.assign(code, message + length);
  // While the host does not wait yet. Where it cannot be, whoever asks for it is told that it is
  // not there.
  (void)make(header.sandbox, program.first);
}

void Worker::enter(v8::Isolate* isolate) {
  if (entered_ == isolate) return;
  if (entered_ != nullptr) entered_->Exit();
  if (isolate != nullptr) isolate->Enter();
  entered_ = isolate;
}

void Worker::serve() {
  stack_base_ = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  take_program();
  ::pthread_getcpuclockid(::pthread_self(), &clock_);
  std::thread([this] { watch(); }).detach();
  channel_.control().ready.store(1);
  futex_wake(channel_.control().ready);
  for (;;) {
    const size_t length = await();
    MessageHeader header;
    std::memcpy(&header, channel_.incoming(), sizeof header);
    // Nothing runs, so the watchdog looks at none of this.
    turns_.assign(1, header.turn);
    ending_.store(kNone, std::memory_order_relaxed);
    memory_over_.store(false, std::memory_order_relaxed);
    seen_.clear();
    dispatch(length);
  }
}

void Worker::dispatch(size_t length) {
  MessageHeader header;
  std::memcpy(&header, channel_.incoming(), sizeof header);
  if (header.op == kOpCreate) return create(header, length);
  if (header.op == kOpDispose) return dispose(header);
  if (header.op == kOpCode) return give_code(header);
  Guest* const guest = header.sandbox < guests_.size() ? guests_[header.sandbox].get() : nullptr;
  if (guest == nullptr) return reply(header, kOpEnded, kEndUnknown);
  if (depth() == 0) enter(guest->isolate());
  guest->serve(header, length);
}

size_t Worker::exchange(const Guest& guest, size_t length) {
  channel_.send(length);
  for (;;) {
    const size_t received = await();
    MessageHeader header;
    std::memcpy(&header, channel_.incoming(), sizeof header);
    if (header.op >= kOpReturn)
      return header.sandbox == guest.number() && header.op != kOpEnded && !is_ending() &&
                     !is_callee_over()
                 ? received
                 : 0;
    if (header.turn == turns_.back()) {
      dispatch(received);
      continue;
    }
    // A call with limits of its own in the middle of this one: it may end alone.
    begin_inner(header.turn);
    dispatch(received);
    end_inner();
  }
}

void Worker::begin_inner(uint32_t turn) {
  const std::lock_guard guard(mutex_);
  turns_.push_back(turn);
}

void Worker::end_inner() {
  const std::lock_guard guard(mutex_);
  turns_.pop_back();
  seen_.clear();
  if (ending_ == kNone || ending_ < turns_.size()) return;
  ending_ = kNone;
  // Asked for once it had answered: that is not for who runs below.
  if (!running_.empty()) running_.back()->CancelTerminateExecution();
}

void Worker::reply(const MessageHeader& header, uint8_t op, uint8_t flags,
                   std::span<const uint8_t> body) {
  const MessageHeader answer{.op = op,
                             .flags = flags,
                             .releases = 0,
                             .sandbox = header.sandbox,
                             .turn = header.turn,
                             .target = 0};
  uint8_t* const out = channel_.outgoing().data();
  std::memcpy(out, &answer, sizeof answer);
  if (!body.empty()) std::memcpy(out + sizeof answer, body.data(), body.size());
  channel_.send(sizeof answer + body.size());
}

void Worker::create(const MessageHeader& header, size_t length) {
  CreateMessage limits;
  if (length < sizeof header + sizeof limits) return reply(header, kOpEnded, kEndUnknown);
  std::memcpy(&limits, channel_.incoming() + sizeof header, sizeof limits);
  const uint8_t why = make(header.sandbox, limits);
  reply(header, why == 0 ? kOpReturn : kOpEnded, why);
}

uint8_t Worker::make(uint32_t sandbox, const CreateMessage& limits) {
  constexpr size_t kMostGuests = 4096;
  if (sandbox >= kMostGuests) return kEndUnknown;
  if (sandbox >= guests_.size()) guests_.resize(sandbox + 1);
  const size_t other = limits.shares - 1;
  if (limits.shares != 0 && (other >= guests_.size() || !guests_[other])) return kEndUnknown;
  if (limits.shares != 0 && guests_[other]->heap()->is_spent()) return kEndMemory;
  auto heap = limits.shares == 0 ? std::make_shared<Heap>(*this, limits) : guests_[other]->heap();
  auto guest = std::make_unique<Guest>(*this, sandbox, heap, limits.flags);
  // What of V8 makes it is not ended when the heap is full: the headroom is for the end, not for
  // more.
  if (!guest->start() || heap->is_over()) {
    heap->recover(guest->microtasks());
    return kEndMemory;
  }
  guests_[sandbox] = std::move(guest);
  return 0;
}

// An answer without bytes where there is none, or none that fits.
void Worker::give_code(const MessageHeader& header) {
  Guest* const guest = header.sandbox < guests_.size() ? guests_[header.sandbox].get() : nullptr;
  const auto code = guest != nullptr && depth() == 0 ? guest->program_code() : nullptr;
  const auto size = static_cast<size_t>(code ? code->length : 0);
  if (size == 0 || size > channel_.outgoing().size() - sizeof header)
    return reply(header, kOpReturn);
  keep_code(*code);
  reply(header, kOpReturn, 0, code_);
}

void Worker::dispose(const MessageHeader& header) {
  // Nested in itself, a guest cannot go: its frames are on the stack.
  const bool can = header.sandbox < guests_.size() && guests_[header.sandbox] &&
                   guests_[header.sandbox]->depth() == 0;
  if (can) {
    if (depth() == 0 && guests_[header.sandbox]->isolate() == entered_) enter(nullptr);
    guests_[header.sandbox].reset();
  }
  reply(header, can ? kOpReturn : kOpEnded, can ? 0 : kEndUnknown);
}

void Worker::watch() {
  auto& word = channel_.control().terminate;
  uint32_t seen = 0;
  for (;;) {
    const uint32_t asked = word.load();
    if (asked == seen) {
      futex_wait(word, asked, 0);
      continue;
    }
    seen = asked;
    if (!ask_to_end(asked)) continue;
    // V8 has places where it can only be ended. Not before it had a processor to look with.
    const uint64_t used = processor_time(clock_);
    while (word.load() == asked && is_to_end(asked)) {
      futex_wait(word, asked, kLookNanoseconds);
      if (processor_time(clock_) - used >= kLookNanoseconds) {
        end(asked);
        break;
      }
    }
  }
}

// Has what runs look where it stands, and end.
bool Worker::ask_to_end(uint32_t turn) {
  const std::lock_guard guard(mutex_);
  const auto found = std::find(turns_.begin(), turns_.end(), turn);
  if (running_.empty() || found == turns_.end()) return false;
  ending_ = std::min<size_t>(ending_, static_cast<size_t>(found - turns_.begin()));
  running_.back()->RequestInterrupt(
      [](v8::Isolate* isolate, void* data) {
        auto* const worker = static_cast<Worker*>(data);
        // One that comes too late is nobody's.
        if (!worker->is_ending()) return;
        worker->look(isolate);
        isolate->TerminateExecution();
      },
      this);
  return true;
}

bool Worker::is_to_end(uint32_t turn) {
  const std::lock_guard guard(mutex_);
  return !running_.empty() && ending_ != kNone &&
         std::find(turns_.begin(), turns_.end(), turn) != turns_.end();
}

void Worker::end(uint32_t turn) {
  const std::lock_guard guard(mutex_);
  if (!running_.empty() && ending_ != kNone &&
      std::find(turns_.begin(), turns_.end(), turn) != turns_.end())
    running_.back()->TerminateExecution();
}

void Worker::look(v8::Isolate* isolate) {
  if (!is_ending() || memory_over_ || !seen_.empty()) return;
  const v8::HandleScope handles(isolate);
  const v8::Local<v8::StackTrace> stack = v8::StackTrace::CurrentStackTrace(isolate, kMostFrames);
  if (stack.IsEmpty()) return;
  const auto add = [&](v8::Local<v8::String> text, const char* otherwise) {
    if (text.IsEmpty() || text->Length() == 0 || text->Length() > kMostName) {
      seen_ += otherwise;
      return;
    }
    std::string bytes(static_cast<size_t>(text->Length()), '\0');
    text->WriteOneByteV2(isolate, 0, static_cast<uint32_t>(bytes.size()),
                         reinterpret_cast<uint8_t*>(bytes.data()));
    seen_ += bytes;
  };
  for (int i = 0; i < stack->GetFrameCount(); i++) {
    const v8::Local<v8::StackFrame> frame = stack->GetFrame(isolate, static_cast<uint32_t>(i));
    seen_ += "    at ";
    add(frame->GetFunctionName(), "<anonymous>");
    seen_ += " (";
    add(frame->GetScriptName(), "<anonymous>");
    seen_ += ":" + std::to_string(frame->GetLineNumber()) + ":" +
             std::to_string(frame->GetColumn()) + ")\n";
  }
}

Limiter& Worker::limiter() {
  if (limiter_ == nullptr) limiter_ = new Limiter([this] { end_running(); });
  return *limiter_;
}

void Worker::end_running() {
  const std::lock_guard guard(mutex_);
  if (!running_.empty()) running_.back()->TerminateExecution();
}

void Worker::out_of_memory(v8::Isolate* isolate) {
  const std::lock_guard guard(mutex_);
  ending_ = 0;
  memory_over_ = true;
  // Where it does not come back in time, this is why.
  say_last(LastWords::kMemory);
  isolate->TerminateExecution();
}

}  // namespace bulkhead
