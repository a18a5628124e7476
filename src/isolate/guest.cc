#include "isolate/guest.h"

#include <cstdio>
#include <cstring>
#include <utility>

#include "isolate/worker.h"

namespace bulkhead {
namespace {

// The program of the guests as V8 reads it: where it is, once for all of a worker.
class ProgramText final : public v8::String::ExternalOneByteStringResource {
 public:
  explicit ProgramText(const std::string& text) : text_(text) {}
  const char* data() const override { return text_.data(); }
  size_t length() const override { return text_.size(); }

 private:
  const std::string& text_;
};

v8::Local<v8::String> text(v8::Isolate* isolate, const char* characters) {
  return v8::String::NewFromUtf8(isolate, characters, v8::NewStringType::kInternalized)
      .ToLocalChecked();
}

}  // namespace

Guest::Guest(Worker& worker, uint32_t number, std::shared_ptr<Heap> heap, uint32_t flags)
    : worker_(worker),
      number_(number),
      flags_(flags),
      heap_(std::move(heap)),
      isolate_(heap_->isolate()),
      modules_(isolate_) {
  auto queue = v8::MicrotaskQueue::New(isolate_, v8::MicrotasksPolicy::kExplicit);
  queue_ = queue.get();
  heap_->keep(std::move(queue));
}

// What is left of the realm, finalizers, may run while the isolate lives, and reaches nothing.
Guest::~Guest() {
  const v8::Isolate::Scope scope(isolate_);
  const v8::HandleScope handles(isolate_);
  if (natives_) forget_guest(*natives_);
  if (!context_.IsEmpty()) modules_.leave(context_.Get(isolate_));
  modules_.reset();
  script_.Reset();
  serve_.Reset();
  context_.Reset();
}

bool Guest::start() {
  const v8::Isolate::Scope scope(isolate_);
  const v8::HandleScope handles(isolate_);
  if (!heap_->is_running()) heap_->limit_stack(0);
  // Microtasks of its own: those of another realm do not run in its turns.
  const v8::Local<v8::Context> context = v8::Context::New(isolate_, nullptr, {}, {}, {}, queue_);
  if (context.IsEmpty()) return false;
  context_.Reset(isolate_, context);
  modules_.enter(context);
  isolate_->SetPromiseRejectCallback(note_rejection);
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
      !make_natives(*this, worker_, context).ToLocal(&natives))
    return false;
  v8::Local<v8::Value> arguments[] = {natives};
  if (!value.As<v8::Function>()
           ->Call(context, v8::Undefined(isolate_), 1, arguments)
           .ToLocal(&function) ||
      !function->IsFunction())
    return false;
  script_.Reset(isolate_, script);
  // Of another engine: compiling took what it would have saved.
  if (cached != nullptr && cached->rejected)
    if (const auto code = program_code()) worker_.keep_code(*code);
  serve_.Reset(isolate_, function.As<v8::Function>());
  if ((flags_ & kCreateEval) == 0) context->AllowCodeGenerationFromStrings(false);
  return true;
}

std::unique_ptr<v8::ScriptCompiler::CachedData> Guest::program_code() {
  const v8::Isolate::Scope scope(isolate_);
  const v8::HandleScope handles(isolate_);
  return std::unique_ptr<v8::ScriptCompiler::CachedData>(
      v8::ScriptCompiler::CreateCodeCache(script_.Get(isolate_)));
}

void Guest::serve(const MessageHeader& header, size_t length) {
  if (heap_->is_spent()) return worker_.reply(header, kOpEnded, kEndMemory);
  const v8::Isolate::Scope scope(isolate_);
  const v8::HandleScope handles(isolate_);
  const v8::Local<v8::Context> context = context_.Get(isolate_);
  const v8::Context::Scope entered(context);
  const v8::TryCatch caught(isolate_);
  const bool outermost = worker_.depth() == 0;
  if (outermost) heap_->limit_stack(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  ++depth_;
  const bool refused = std::exchange(refused_, false);
  size_t reply = 0;
  bool ended = true;
  {
    const Worker::Running running(worker_, isolate_);
    const Heap::Running in_heap(*heap_);
    v8::Local<v8::Value> arguments[] = {
        v8::Integer::NewFromUnsigned(isolate_, static_cast<uint32_t>(length)),
        v8::Boolean::New(isolate_, outermost), v8::Boolean::New(isolate_, depth_ == 1)};
    v8::Local<v8::Value> result;
    if (!worker_.is_ending() &&
        serve_.Get(isolate_)
            ->Call(context, v8::Undefined(isolate_), 3, arguments)
            .ToLocal(&result) &&
        result->IsUint32())
      reply = result.As<v8::Uint32>()->Value();
    ended = reply == 0 || refused_ || worker_.is_ending();
    if (outermost) heap_->flush();
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
    heap_->recover(depth_ == 0 ? queue_ : nullptr);
    uint8_t* const out = worker_.channel().outgoing().data();
    std::memcpy(out, &answer, sizeof answer);
    reply = sizeof answer;
    // As a text of js/lib/wire.cjs.
    if (const std::string seen = depth_ == 0 ? worker_.take_seen() : ""; !seen.empty()) {
      const auto size = static_cast<uint32_t>(seen.size());
      out[reply] = kTagText;
      std::memcpy(out + reply + 1, &size, sizeof size);
      std::memcpy(out + reply + 1 + sizeof size, seen.data(), size);
      reply += 1 + sizeof size + size;
    }
  }
  worker_.channel().send(reply);
}

}  // namespace bulkhead
