// What the guest's end of the membrane cannot do in JavaScript.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "isolate/guest.h"
#include "isolate/worker.h"

namespace bulkhead {

// Data of every function: the guest and the worker that it belongs to. They outlive a guest whose
// heap goes on.
struct GuestNatives {
  Guest* guest = nullptr;
  Worker* worker = nullptr;
  bool cache_rejected = false;
  // Promises of the realm's that were rejected while nothing handled them, and whether there are
  // some.
  std::vector<v8::Global<v8::Promise>> rejected;
  uint8_t has_rejected = 0;

  static GuestNatives& of(const v8::FunctionCallbackInfo<v8::Value>& info) {
    return *static_cast<GuestNatives*>(info.Data().As<v8::External>()->Value());
  }
};

namespace {

using Info = v8::FunctionCallbackInfo<v8::Value>;

constexpr int kNativesSlot = 2;  // of a context; its modules have the one before

// Of a guest that is there no more, all are the same.
template <v8::FunctionCallback function>
void living(const Info& info) {
  if (GuestNatives::of(info).guest != nullptr) return function(info);
  info.GetIsolate()->ThrowError("the sandbox is disposed");
}

uint32_t number_at(const Info& info, int i) {
  return info[i]->IsUint32() ? info[i].As<v8::Uint32>()->Value() : 0;
}

// exchange(length): sends, returns the length of the answer.
void exchange(const Info& info) {
  GuestNatives& natives = GuestNatives::of(info);
  if (*natives.guest->heap()->flushing() != 0) {
    info.GetIsolate()->ThrowError("a finalizer cannot call what is outside");
    return;
  }
  const uint32_t length = number_at(info, 0);
  const size_t answer =
      length >= sizeof(MessageHeader) && length <= natives.worker->channel().capacity()
          ? natives.worker->exchange(*natives.guest, length)
          : 0;
  if (answer == 0) {
    natives.worker->look(info.GetIsolate());
    if (!natives.worker->is_callee_over()) natives.guest->refuse();
    return info.GetIsolate()->TerminateExecution();
  }
  info.GetReturnValue().Set(static_cast<uint32_t>(answer));
}

// kind(value): js/lib/wire.cjs, Kind.
void kind(const Info& info) {
  constexpr uint32_t kNative = 16, kProxy = 32;
  const v8::Local<v8::Value> value = info[0];
  uint32_t kind = 0;
  if (value->IsProxy())
    kind = kProxy | (!value->IsFunction() ? 0U : value.As<v8::Object>()->IsConstructor() ? 2U : 1U);
  else if (value->IsFunction())
    kind = (value.As<v8::Object>()->IsConstructor() ? 2U : 1U) |
           (value.As<v8::Function>()->ScriptId() == v8::UnboundScript::kNoScriptId ? kNative : 0U);
  else if (value->IsArray())
    kind = 3;
  else if (value->IsDate())
    kind = 4;
  else if (value->IsRegExp())
    kind = 5;
  else if (value->IsNativeError())
    kind = 6;
  else if (value->IsPromise())
    kind = 7;
  else if (value->IsMap())
    kind = 8;
  else if (value->IsSet())
    kind = 9;
  else if (value->IsArrayBufferView())
    kind = 10;
  else if (value->IsArrayBuffer() || value->IsSharedArrayBuffer())
    kind = 11;
  else if (value->IsStringObject() || value->IsNumberObject() || value->IsBooleanObject() ||
           value->IsBigIntObject() || value->IsSymbolObject())
    kind = 12;
  info.GetReturnValue().Set(kind);
}

// putString(text, position, end): writes its characters; how many bytes they are, negative for two
// bytes each, or undefined where they do not fit.
void put_string(const Info& info) {
  GuestNatives& natives = GuestNatives::of(info);
  if (!info[0]->IsString()) return;
  v8::Isolate* const isolate = info.GetIsolate();
  const v8::Local<v8::String> text = info[0].As<v8::String>();
  const auto out = natives.worker->channel().outgoing();
  const size_t position = number_at(info, 1), length = static_cast<size_t>(text->Length());
  const bool narrow = text->IsOneByte();
  const size_t size = narrow ? length : 2 * length;
  if (position > out.size() || size > out.size() - position) return;
  uint8_t* const to = out.data() + position;
  if (narrow) {
    text->WriteOneByteV2(isolate, 0, static_cast<uint32_t>(length), to);
  } else if (reinterpret_cast<uintptr_t>(to) % 2 == 0) {
    text->WriteV2(isolate, 0, static_cast<uint32_t>(length), reinterpret_cast<uint16_t*>(to));
  } else {
    std::u16string copy(length, u'\0');
    text->WriteV2(isolate, 0, static_cast<uint32_t>(length),
                  reinterpret_cast<uint16_t*>(copy.data()));
    std::memcpy(to, copy.data(), size);
  }
  const auto signed_size = static_cast<double>(size);
  info.GetReturnValue().Set(narrow ? signed_size : -signed_size);
}

// getString(position, bytes, two): the characters of a message.
void get_string(const Info& info) {
  GuestNatives& natives = GuestNatives::of(info);
  const size_t position = number_at(info, 0), size = number_at(info, 1);
  const size_t capacity = natives.worker->channel().capacity();
  if (position > capacity || size > capacity - position || size > v8::String::kMaxLength) return;
  const uint8_t* const from = natives.worker->channel().incoming() + position;
  v8::Local<v8::String> text;
  if (!info[2]->IsTrue()) {
    if (v8::String::NewFromOneByte(info.GetIsolate(), from, v8::NewStringType::kNormal,
                                   static_cast<int>(size))
            .ToLocal(&text))
      info.GetReturnValue().Set(text);
    return;
  }
  std::u16string copy(size / 2, u'\0');
  std::memcpy(copy.data(), from, copy.size() * 2);
  if (v8::String::NewFromTwoByte(info.GetIsolate(), reinterpret_cast<const uint16_t*>(copy.data()),
                                 v8::NewStringType::kNormal, static_cast<int>(copy.size()))
          .ToLocal(&text))
    info.GetReturnValue().Set(text);
}

// A code cache in the message that was received; null: none.
v8::ScriptCompiler::CachedData* cached_at(const Info& info, int at) {
  const SharedChannel& channel = GuestNatives::of(info).worker->channel();
  const size_t position = number_at(info, at), size = number_at(info, at + 1);
  if (size == 0 || position > channel.capacity() || size > channel.capacity() - position)
    return nullptr;
  return new v8::ScriptCompiler::CachedData(channel.incoming() + position, static_cast<int>(size),
                                            v8::ScriptCompiler::CachedData::BufferNotOwned);
}

// codeCache(source, file, position, end): writes what V8 makes of a script, all of its functions;
// how many bytes that is, or undefined where they do not fit.
void code_cache(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  if (!info[0]->IsString()) return;
  v8::ScriptCompiler::Source source(info[0].As<v8::String>(), v8::ScriptOrigin(info[1]));
  v8::Local<v8::UnboundScript> script;
  {
    v8::TryCatch caught(isolate);
    if (!v8::ScriptCompiler::CompileUnboundScript(isolate, &source,
                                                  v8::ScriptCompiler::kEagerCompile)
             .ToLocal(&script)) {
      say_where(isolate->GetCurrentContext(), caught);
      caught.ReThrow();
      return;
    }
  }
  const std::unique_ptr<v8::ScriptCompiler::CachedData> made(
      v8::ScriptCompiler::CreateCodeCache(script));
  const auto out = GuestNatives::of(info).worker->channel().outgoing();
  const size_t position = number_at(info, 2),
               end = std::min<size_t>(number_at(info, 3), out.size());
  const auto size = static_cast<size_t>(made ? made->length : 0);
  if (!made || position > end || size > end - position) return;
  std::memcpy(out.data() + position, made->data, size);
  info.GetReturnValue().Set(static_cast<uint32_t>(size));
}

// cacheRejected(): whether V8 had no use for the one of the last run() that had one.
void cache_rejected(const Info& info) {
  info.GetReturnValue().Set(GuestNatives::of(info).cache_rejected);
}

// run(source, file, line, column, position, size): a script's last value; with a code cache where
// size is not 0.
void run(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  if (!info[0]->IsString()) return;
  const v8::ScriptOrigin origin(info[1], static_cast<int>(number_at(info, 2)),
                                static_cast<int>(number_at(info, 3)));
  v8::ScriptCompiler::CachedData* const cached = cached_at(info, 4);
  v8::ScriptCompiler::Source source(info[0].As<v8::String>(), origin, cached);
  v8::Local<v8::Script> script;
  v8::Local<v8::Value> value;
  {
    v8::TryCatch caught(isolate);
    if (!v8::ScriptCompiler::Compile(context, &source,
                                     cached != nullptr ? v8::ScriptCompiler::kConsumeCodeCache
                                                       : v8::ScriptCompiler::kNoCompileOptions)
             .ToLocal(&script)) {
      say_where(context, caught);
      caught.ReThrow();
      return;
    }
  }
  if (cached != nullptr) GuestNatives::of(info).cache_rejected = cached->rejected;
  if (script->Run(context).ToLocal(&value)) info.GetReturnValue().Set(value);
}

// compileModule(source, name): [number, specifiers …].
void compile_module(const Info& info) {
  if (!info[0]->IsString() || !info[1]->IsString()) return;
  v8::Local<v8::Array> answer;
  if (GuestNatives::of(info)
          .guest->modules()
          .compile(info.GetIsolate()->GetCurrentContext(), info[0].As<v8::String>(),
                   info[1].As<v8::String>())
          .ToLocal(&answer))
    info.GetReturnValue().Set(answer);
}

// makeModule(name, names, values): its number.
void make_module(const Info& info) {
  if (!info[0]->IsString() || !info[1]->IsArray() || !info[2]->IsArray()) return;
  v8::Local<v8::Integer> number;
  if (GuestNatives::of(info)
          .guest->modules()
          .make(info.GetIsolate()->GetCurrentContext(), info[0].As<v8::String>(),
                info[1].As<v8::Array>(), info[2].As<v8::Array>())
          .ToLocal(&number))
    info.GetReturnValue().Set(number);
}

// evaluateModule(number, resolve): a promise.
void evaluate_module(const Info& info) {
  if (!info[1]->IsFunction()) return;
  v8::Local<v8::Value> promise;
  if (GuestNatives::of(info)
          .guest->modules()
          .evaluate(info.GetIsolate()->GetCurrentContext(), number_at(info, 0),
                    info[1].As<v8::Function>())
          .ToLocal(&promise))
    info.GetReturnValue().Set(promise);
}

void module_namespace(const Info& info) {
  v8::Local<v8::Value> found;
  if (GuestNatives::of(info).guest->modules().namespace_of(number_at(info, 0)).ToLocal(&found))
    info.GetReturnValue().Set(found);
}

void use_importer(const Info& info) {
  if (info[0]->IsFunction())
    GuestNatives::of(info).guest->modules().use_importer(info[0].As<v8::Function>());
}

void run_microtasks(const Info& info) {
  GuestNatives::of(info).guest->microtasks()->PerformCheckpoint(info.GetIsolate());
}

// within(milliseconds, function): calls it, then runs microtasks, in so much processor time at
// most: [ended, milliseconds used]. All that it put off and had no time for is forgotten.
void within(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  Worker& worker = *GuestNatives::of(info).worker;
  v8::MicrotaskQueue* const microtasks = GuestNatives::of(info).guest->microtasks();
  if (!info[0]->IsNumber() || !info[1]->IsFunction()) return;
  const double most = std::clamp(info[0].As<v8::Number>()->Value(), 0.0, 1e9);
  Limiter::Spent spent;
  {
    const v8::TryCatch caught(isolate);
    worker.limiter().start(static_cast<uint64_t>(most * 1e6));
    const bool done =
        !info[1].As<v8::Function>()->Call(context, v8::Undefined(isolate), 0, nullptr).IsEmpty();
    if (done || !caught.HasTerminated()) microtasks->PerformCheckpoint(isolate);
    spent = worker.limiter().finish();
    if (spent.over) isolate->CancelTerminateExecution();
  }
  if (spent.over) {
    const v8::TryCatch caught(isolate);
    isolate->TerminateExecution();
    microtasks->PerformCheckpoint(isolate);
    isolate->CancelTerminateExecution();
  }
  // The host's limits end everything.
  if (worker.is_ending() || GuestNatives::of(info).guest->is_refused())
    return isolate->TerminateExecution();
  v8::Local<v8::Value> pair[] = {
      v8::Boolean::New(isolate, spent.over),
      v8::Number::New(isolate, static_cast<double>(spent.nanoseconds) / 1e6)};
  info.GetReturnValue().Set(v8::Array::New(isolate, pair, 2));
}

// whenSettled(promise, fulfilled, rejected), whatever the guest did to `then`.
void when_settled(const Info& info) {
  if (!info[0]->IsPromise() || !info[1]->IsFunction() || !info[2]->IsFunction()) return;
  const bool done = !info[0]
                         .As<v8::Promise>()
                         ->Then(info.GetIsolate()->GetCurrentContext(), info[1].As<v8::Function>(),
                                info[2].As<v8::Function>())
                         .IsEmpty();
  info.GetReturnValue().Set(done);
}

// outcome(promise): nothing while it is pending, else [fulfilled, value].
void outcome(const Info& info) {
  if (!info[0]->IsPromise()) return;
  v8::Isolate* const isolate = info.GetIsolate();
  const v8::Local<v8::Promise> promise = info[0].As<v8::Promise>();
  if (promise->State() == v8::Promise::kPending) return;
  promise->MarkAsHandled();
  v8::Local<v8::Value> pair[] = {
      v8::Boolean::New(isolate, promise->State() == v8::Promise::kFulfilled), promise->Result()};
  info.GetReturnValue().Set(v8::Array::New(isolate, pair, 2));
}

// rejections(): why promises were rejected that nothing handles by now, once for each.
void rejections(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  GuestNatives& natives = GuestNatives::of(info);
  std::vector<v8::Local<v8::Value>> reasons;
  for (const v8::Global<v8::Promise>& rejected : natives.rejected) {
    const v8::Local<v8::Promise> promise = rejected.Get(isolate);
    if (!promise->HasHandler()) reasons.push_back(promise->Result());
  }
  natives.rejected.clear();
  natives.has_rejected = 0;
  info.GetReturnValue().Set(v8::Array::New(isolate, reasons.data(), reasons.size()));
}

// isDetachable(buffer): no WebAssembly memory's is, nor what is detached.
void is_detachable(const Info& info) {
  info.GetReturnValue().Set(info[0]->IsArrayBuffer() &&
                            info[0].As<v8::ArrayBuffer>()->IsDetachable() &&
                            !info[0].As<v8::ArrayBuffer>()->WasDetached());
}

// memory(): bytes of the heap in use, then of buffers.
void memory(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  v8::HeapStatistics statistics;
  isolate->GetHeapStatistics(&statistics);
  v8::Local<v8::Value> numbers[] = {
      v8::Number::New(isolate, static_cast<double>(statistics.used_heap_size())),
      v8::Number::New(
          isolate, static_cast<double>(GuestNatives::of(info).guest->heap()->allocator().used()))};
  info.GetReturnValue().Set(v8::Array::New(isolate, numbers, 2));
}

// collect(): all that nobody has any more, what a WeakRef keeps until its job is over included: the
// job may be the loop that makes it.
void collect(const Info& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  isolate->ClearKeptObjects();
  isolate->MemoryPressureNotification(v8::MemoryPressureLevel::kCritical);
  isolate->MemoryPressureNotification(v8::MemoryPressureLevel::kNone);
}

// By V8's own deleter of nothing: any other one makes the channel count as memory that collecting
// garbage would free, and so each heap collect from its first moment.
v8::Local<v8::Uint8Array> view_of(v8::Isolate* isolate, void* data, size_t size) {
  auto store =
      v8::ArrayBuffer::NewBackingStore(data, size, v8::BackingStore::EmptyDeleter, nullptr);
  return v8::Uint8Array::New(v8::ArrayBuffer::New(isolate, std::move(store)), 0, size);
}

// What the host has, too; undefined for who was given none.
v8::Local<v8::Value> shared_with(const Guest& guest, const SharedChannel& channel) {
  v8::Isolate* const isolate = guest.isolate();
  const std::span<uint8_t> bytes = channel.shared();
  if (!guest.shares() || bytes.empty()) return v8::Undefined(isolate);
  return v8::SharedArrayBuffer::New(
      isolate, v8::SharedArrayBuffer::NewBackingStore(bytes.data(), bytes.size(),
                                                      v8::BackingStore::EmptyDeleter, nullptr));
}

}  // namespace

void forget_guest(GuestNatives& natives) {
  natives.guest = nullptr;
  natives.rejected.clear();
}

void note_rejection(v8::PromiseRejectMessage message) {
  // Whoever makes thousands that nobody handles is told some of them.
  constexpr size_t kMost = 32;
  if (message.GetEvent() != v8::kPromiseRejectWithNoHandler) return;
  const v8::Local<v8::Promise> promise = message.GetPromise();
  v8::Local<v8::Context> context;
  if (!promise->GetCreationContext().ToLocal(&context)) return;
  auto* const natives =
      static_cast<GuestNatives*>(context->GetAlignedPointerFromEmbedderData(kNativesSlot));
  if (natives == nullptr || natives->guest == nullptr || natives->rejected.size() >= kMost) return;
  natives->rejected.emplace_back(v8::Isolate::GetCurrent(), promise);
  natives->has_rejected = 1;
}

v8::MaybeLocal<v8::Object> make_natives(Guest& guest, Worker& worker,
                                        v8::Local<v8::Context> context) {
  v8::Isolate* const isolate = context->GetIsolate();
  const auto name = [&](const char* text) {
    return v8::String::NewFromUtf8(isolate, text, v8::NewStringType::kInternalized)
        .ToLocalChecked();
  };
  guest.natives_ = std::make_shared<GuestNatives>();
  guest.natives_->guest = &guest;
  guest.natives_->worker = &worker;
  guest.heap_->keep(guest.natives_);
  context->SetAlignedPointerInEmbedderData(kNativesSlot, guest.natives_.get());
  const v8::Local<v8::External> data = v8::External::New(isolate, guest.natives_.get());
  const v8::Local<v8::Object> natives = v8::Object::New(isolate);
  const struct {
    const char* name;
    v8::FunctionCallback function;
  } functions[] = {{"exchange", living<exchange>},
                   {"kind", living<kind>},
                   {"putString", living<put_string>},
                   {"getString", living<get_string>},
                   {"run", living<run>},
                   {"codeCache", living<code_cache>},
                   {"cacheRejected", living<cache_rejected>},
                   {"runMicrotasks", living<run_microtasks>},
                   {"whenSettled", living<when_settled>},
                   {"outcome", living<outcome>},
                   {"rejections", living<rejections>},
                   {"isDetachable", living<is_detachable>},
                   {"memory", living<memory>},
                   {"collect", living<collect>},
                   {"within", living<within>},
                   {"compileModule", living<compile_module>},
                   {"makeModule", living<make_module>},
                   {"evaluateModule", living<evaluate_module>},
                   {"moduleNamespace", living<module_namespace>},
                   {"useImporter", living<use_importer>}};
  for (const auto& [key, function] : functions) {
    v8::Local<v8::Function> made;
    if (!v8::Function::New(context, function, data, 0, v8::ConstructorBehavior::kThrow)
             .ToLocal(&made) ||
        !natives->Set(context, name(key), made).FromMaybe(false))
      return {};
  }
  SharedChannel& channel = worker.channel();
  if (!natives
           ->Set(context, name("in"),
                 view_of(isolate, const_cast<uint8_t*>(channel.incoming()), channel.capacity()))
           .FromMaybe(false) ||
      !natives
           ->Set(context, name("out"),
                 view_of(isolate, channel.outgoing().data(), channel.capacity()))
           .FromMaybe(false) ||
      !natives->Set(context, name("shared"), shared_with(guest, channel)).FromMaybe(false) ||
      !natives->Set(context, name("rejected"), view_of(isolate, &guest.natives_->has_rejected, 1))
           .FromMaybe(false) ||
      // Not 0 while finalizers run.
      !natives->Set(context, name("flushing"), view_of(isolate, guest.heap_->flushing(), 1))
           .FromMaybe(false))
    return {};
  return natives;
}

}  // namespace bulkhead
