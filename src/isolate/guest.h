// Guest: a realm in a heap, with its global object, its modules, its microtasks and its end of the
// membrane, which is the same JavaScript as the host's (js/lib) and runs in the realm itself.
#pragma once

#include <v8.h>

#include <cstdint>
#include <memory>

#include "isolate/heap.h"
#include "isolate/message.h"
#include "isolate/modules.h"

namespace bulkhead {

class Worker;
struct GuestNatives;

class Guest {
 public:
  // flags: of CreateMessage.
  Guest(Worker& worker, uint32_t number, std::shared_ptr<Heap> heap, uint32_t flags);
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest();

  // Makes the context and runs the membrane's source in it.
  bool start();
  // What V8 has made of that source by now, functions that have run included; null: nothing.
  std::unique_ptr<v8::ScriptCompiler::CachedData> program_code();
  // Answers one request of the host.
  void serve(const MessageHeader& header, size_t length);

  uint32_t number() const { return number_; }
  v8::Isolate* isolate() const { return isolate_; }
  bool shares() const { return (flags_ & kCreateShared) != 0; }
  size_t depth() const { return depth_; }
  const std::shared_ptr<Heap>& heap() const { return heap_; }
  v8::MicrotaskQueue* microtasks() { return queue_; }
  Modules& modules() { return modules_; }
  // The host answers nothing any more to what runs now.
  void refuse() { refused_ = true; }
  bool is_refused() const { return refused_; }

 private:
  friend v8::MaybeLocal<v8::Object> make_natives(Guest&, Worker&, v8::Local<v8::Context>);

  Worker& worker_;
  const uint32_t number_, flags_;
  const std::shared_ptr<Heap> heap_;
  v8::Isolate* const isolate_;
  v8::MicrotaskQueue* queue_ = nullptr;  // the heap's to keep
  Modules modules_;
  std::shared_ptr<GuestNatives> natives_;
  v8::Global<v8::Context> context_;
  v8::Global<v8::UnboundScript> script_;
  v8::Global<v8::Function> serve_;
  size_t depth_ = 0;
  bool refused_ = false;
};

// The functions that the membrane's JavaScript finds as its `io` (natives.cc).
v8::MaybeLocal<v8::Object> make_natives(Guest& guest, Worker& worker,
                                        v8::Local<v8::Context> context);
// V8 tells of each promise that is rejected.
void note_rejection(v8::PromiseRejectMessage message);
// From now on they do nothing.
void forget_guest(GuestNatives& natives);

}  // namespace bulkhead
