// The host's half in native code, Node-API only: shared memory, waiting, the end of a worker. What
// is said is read and written in JavaScript (js/lib), from a copy that no worker can change any
// more.
#include <fcntl.h>
#include <node_api.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "child.h"
#include "isolate/message.h"
#include "membrane/channel.h"
#include "membrane/turn.h"
#include "packets.h"
#include "weak.h"

namespace bulkhead {
namespace {

// What exchange() and the listener give instead of a length (js/lib/link.cjs).
constexpr int32_t kTimeOver = -1, kMemoryOver = -2, kGone = -3, kBroken = -4;

int32_t code_of(Turn::End end) {
  switch (end) {
    case Turn::End::kTimeOver:
      return kTimeOver;
    case Turn::End::kMemoryOver:
      return kMemoryOver;
    default:
      return kGone;
  }
}

// Has the thread that JavaScript of this environment runs in been told to end (worker.terminate(),
// process.exit())? Then no call runs any more that could.
bool is_stopping(napi_env env) {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return false;
  napi_value global = nullptr;
  bool has = false;
  napi_get_global(env, &global);
  const bool stopping = napi_has_named_property(env, global, "Object", &has) != napi_ok;
  napi_close_handle_scope(env, scope);
  return stopping;
}

class HostLink {
 public:
  HostLink() : turn_(channel_) {}
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;
  ~HostLink() { close(); }

  bool open(size_t slot, size_t shared) {
    memory_ = SharedChannel::make_memory(slot, shared);
    return memory_ >= 0 && channel_.attach(memory_, ChannelSide::kHost) &&
           ::pipe2(lifeline_.data(), O_CLOEXEC) == 0;
  }
  // As JavaScript wrote it (js/lib/pool.cjs): nobody waits for an answer.
  bool put_program(std::span<const uint8_t> message) {
    if (message.size() < sizeof(MessageHeader) || message.size() > channel_.capacity())
      return false;
    std::memcpy(channel_.outgoing().data(), message.data(), message.size());
    channel_.send(message.size());
    return true;
  }
  int memory() const { return memory_; }
  // What ends a worker when this process does, however: its end of a pipe.
  int lifeline() const { return lifeline_[0]; }
  // The worker has its descriptors. `keeper`: the child of this process that it is below.
  void started(pid_t keeper) {
    keeper_ = keeper;
    for (int* const fd : {&memory_, &lifeline_[0]}) close_one(*fd);
  }
  SharedChannel& channel() { return channel_; }
  Turn& turn() { return turn_; }
  bool usable() const { return channel_.attached(); }

  // The length of the next message, or a code.
  int32_t wait(napi_env env) {
    const Turn::End end = turn_.wait([env] { return is_stopping(env); });
    if (end != Turn::End::kMessage) return code_of(end);
    return receive();
  }
  int32_t receive() {
    length_ = channel_.receive();
    if (length_ == SIZE_MAX || length_ < sizeof(MessageHeader)) {
      length_ = 0;
      return kBroken;
    }
    return static_cast<int32_t>(length_);
  }
  size_t length() const { return length_; }

  // A thread waits, and calls into JavaScript by `tell` once. Started when first needed; false
  // where the host may have none more.
  bool listen(napi_threadsafe_function tell) {
    std::unique_lock guard(mutex_);
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { listen_loop(); });
    } catch (const std::system_error&) {
      return false;
    }
    tell_ = tell;
    listening_ = true;
    turn_.resume();
    wanted_.notify_one();
    return true;
  }
  // Takes the waiting back: true where nobody was told, nor will be.
  bool take_back() {
    std::unique_lock guard(mutex_);
    if (!listening_) return false;
    turn_.abandon();
    done_.wait(guard, [this] { return !listening_; });
    turn_.resume();
    return !told_;
  }

  // Whether somebody was told within `time`; else the thread goes on waiting.
  bool wait_told(std::chrono::nanoseconds time) {
    std::unique_lock guard(mutex_);
    return done_.wait_for(guard, time, [this] { return !listening_; });
  }

  void close() {
    {
      std::unique_lock guard(mutex_);
      stopping_ = true;
      turn_.abandon();
      wanted_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
    turn_.kill();
    turn_.forget();
    channel_.detach();
    for (int* const fd : {&memory_, &lifeline_[0], &lifeline_[1]}) close_one(*fd);
    if (const pid_t keeper = std::exchange(keeper_, 0); keeper > 0) reap(keeper);
  }

 private:
  void listen_loop() {
    std::unique_lock guard(mutex_);
    for (;;) {
      wanted_.wait(guard, [this] { return listening_ || stopping_; });
      if (stopping_) return;
      guard.unlock();
      const Turn::End end = turn_.wait();
      guard.lock();
      told_ = end != Turn::End::kAbandoned;
      end_ = end;
      listening_ = false;
      done_.notify_all();
      if (told_ && !stopping_) napi_call_threadsafe_function(tell_, nullptr, napi_tsfn_nonblocking);
    }
  }

 public:
  // After the listener has told: what wait() would have given.
  int32_t heard() {
    std::unique_lock guard(mutex_);
    return end_ == Turn::End::kMessage ? receive() : code_of(end_);
  }

 private:
  SharedChannel channel_;
  Turn turn_;
  static void close_one(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }

  int memory_ = -1;
  std::array<int, 2> lifeline_ = {-1, -1};
  pid_t keeper_ = 0;
  size_t length_ = 0;

  std::mutex mutex_;
  std::condition_variable wanted_, done_;
  std::thread thread_;
  bool listening_ = false, told_ = false, stopping_ = false;
  Turn::End end_ = Turn::End::kMessage;
  napi_threadsafe_function tell_ = nullptr;
};

// ------------------------------------------------------------------------------------ Node-API

// One per link. The functions of a link hold it; the last that is collected deletes it.
struct Held {
  HostLink link;
  napi_env env = nullptr;
  napi_threadsafe_function tell = nullptr;
  uint8_t* in = nullptr;
  uint8_t* out = nullptr;
  size_t in_size = 0, out_size = 0;
  TurnLimits limits;
  napi_ref in_ref = nullptr, out_ref = nullptr;
  std::weak_ptr<Held>* hook = nullptr;  // at_exit's
};
using Shared = std::shared_ptr<Held>;

void at_exit(void* data) {
  auto* const held = static_cast<std::weak_ptr<Held>*>(data);
  if (const Shared alive = held->lock()) {
    alive->hook = nullptr;
    alive->link.close();
  }
  delete held;
}

struct Call {
  Held* held = nullptr;
  size_t count = 4;
  napi_value args[4] = {};
};

// The link of a function that was called, and its arguments.
Call call_of(napi_env env, napi_callback_info info) {
  Call call;
  void* data = nullptr;
  napi_get_cb_info(env, info, &call.count, call.args, nullptr, &data);
  call.held = static_cast<Shared*>(data)->get();
  return call;
}

int32_t integer_of(napi_env env, napi_value value) {
  int32_t number = 0;
  napi_get_value_int32(env, value, &number);
  return number;
}

double number_of(napi_env env, napi_value value) {
  double number = 0;
  napi_get_value_double(env, value, &number);
  return number;
}

napi_value make(napi_env env, double number) {
  napi_value value = nullptr;
  napi_create_double(env, number, &value);
  return value;
}

napi_value make(napi_env env, int32_t number) {
  napi_value value = nullptr;
  napi_create_int32(env, number, &value);
  return value;
}

napi_value make(napi_env env, bool truth) {
  napi_value value = nullptr;
  napi_get_boolean(env, truth, &value);
  return value;
}

// useBuffers(in, out): two Uint8Arrays of JavaScript's own.
napi_value use_buffers(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  Held& held = *call.held;
  const auto take = [&](napi_value value, uint8_t** bytes, size_t* size, napi_ref* ref) {
    if (*ref != nullptr) napi_delete_reference(env, *ref);
    *ref = nullptr;
    *bytes = nullptr;
    *size = 0;
    napi_typedarray_type type{};
    void* data = nullptr;
    size_t length = 0;
    if (napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr) != napi_ok ||
        type != napi_uint8_array)
      return;
    napi_create_reference(env, value, 1, ref);
    *bytes = static_cast<uint8_t*>(data);
    *size = length;
  };
  take(call.args[0], &held.in, &held.in_size, &held.in_ref);
  take(call.args[1], &held.out, &held.out_size, &held.out_ref);
  return nullptr;
}

// Copies a message to where JavaScript reads; one that does not fit waits for fetch().
int32_t deliver(Held& held, int32_t length) {
  if (length > 0 && static_cast<size_t>(length) <= held.in_size)
    std::memcpy(held.in, held.link.channel().incoming(), held.link.length());
  return length;
}

// A length as JavaScript says it: negative where a turn begins, whose number the message has.
bool send_now(Held& held, int32_t told) {
  const auto length = static_cast<size_t>(std::abs(static_cast<int64_t>(told)));
  if (!held.link.usable() || length < sizeof(MessageHeader) || length > held.out_size ||
      length > held.link.channel().capacity())
    return false;
  if (told < 0) {
    MessageHeader header;
    std::memcpy(&header, held.out, sizeof header);
    held.link.turn().begin(header.turn, held.limits);
  }
  std::memcpy(held.link.channel().outgoing().data(), held.out, length);
  held.link.channel().send(length);
  return true;
}

// exchange(length): sends so many bytes and waits for what comes back: a length or a code.
napi_value exchange(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  Held& held = *call.held;
  if (!send_now(held, integer_of(env, call.args[0]))) return make(env, kBroken);
  return make(env, deliver(held, held.link.wait(env)));
}

// wait(): exchange() without sending.
napi_value wait(napi_env env, napi_callback_info info) {
  Held& held = *call_of(env, info).held;
  return make(env, held.link.usable() ? deliver(held, held.link.wait(env)) : kGone);
}

// fetch(): the message that was too large for the buffer, into a new one (useBuffers).
napi_value fetch(napi_env env, napi_callback_info info) {
  Held& held = *call_of(env, info).held;
  const bool fits = held.link.usable() && held.link.length() <= held.in_size;
  if (fits) std::memcpy(held.in, held.link.channel().incoming(), held.link.length());
  return make(env, fits);
}

// send(length): sends, and has the listener called when there is an answer.
napi_value send(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  Held& held = *call.held;
  if (held.tell == nullptr || !send_now(held, integer_of(env, call.args[0])))
    return make(env, false);
  if (!held.link.listen(held.tell)) return make(env, false);
  napi_ref_threadsafe_function(env, held.tell);
  return make(env, true);
}

// takeBack(): the listener is not called; true where it has not been, nor will be.
napi_value take_back(napi_env env, napi_callback_info info) {
  Held& held = *call_of(env, info).held;
  const bool taken = held.link.take_back();
  if (taken) napi_unref_threadsafe_function(env, held.tell);
  return make(env, taken);
}

// waitTold(milliseconds): whether the listener was told by then; it is called later all the same.
napi_value wait_told(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  const double time = std::clamp(number_of(env, call.args[0]), 0.0, 1000.0);
  return make(
      env, call.held->link.wait_told(std::chrono::nanoseconds(static_cast<int64_t>(time * 1e6))));
}

// heard(): in the listener: a length or a code.
napi_value heard(napi_env env, napi_callback_info info) {
  Held& held = *call_of(env, info).held;
  return make(env, held.link.usable() ? deliver(held, held.link.heard()) : kGone);
}

void call_listener(napi_env env, napi_value listener, void*, void*) {
  if (env == nullptr) return;
  napi_value undefined = nullptr;
  napi_get_undefined(env, &undefined);
  napi_call_function(env, undefined, listener, 0, nullptr, nullptr);
}

// listener(function): who is called, without arguments.
napi_value listener(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  napi_value name = nullptr;
  napi_create_string_utf8(env, "bulkhead", NAPI_AUTO_LENGTH, &name);
  if (napi_create_threadsafe_function(env, call.args[0], nullptr, name, 0, 1, nullptr, nullptr,
                                      nullptr, call_listener, &call.held->tell) == napi_ok)
    napi_unref_threadsafe_function(env, call.held->tell);
  return nullptr;
}

// idle(): nothing is waited for; the event loop may end.
napi_value idle(napi_env env, napi_callback_info info) {
  const Held& held = *call_of(env, info).held;
  if (held.tell != nullptr) napi_unref_threadsafe_function(env, held.tell);
  return nullptr;
}

// limits(processor ms, wall ms, resident bytes): of the turns that begin from now on.
napi_value limits(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  const auto bounded = [&](int i, double factor) {
    return static_cast<uint64_t>(std::clamp(number_of(env, call.args[i]) * factor, 0.0, 1e18));
  };
  call.held->limits = {bounded(0, 1e6), bounded(1, 1e6), bounded(2, 1)};
  return nullptr;
}

// beginInner(turn, processor ms, wall ms), endInner(): of a call in the middle of a turn.
napi_value begin_inner(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  const auto nanoseconds = [&](int i) {
    return static_cast<uint64_t>(std::clamp(number_of(env, call.args[i]) * 1e6, 0.0, 1e18));
  };
  call.held->link.turn().begin_inner(static_cast<uint32_t>(number_of(env, call.args[0])),
                                     {nanoseconds(1), nanoseconds(2), 0});
  return nullptr;
}

napi_value end_inner(napi_env env, napi_callback_info info) {
  call_of(env, info).held->link.turn().end_inner();
  return nullptr;
}

// used(): milliseconds of processor time of the turn, or the last one.
napi_value used(napi_env env, napi_callback_info info) {
  return make(env, static_cast<double>(call_of(env, info).held->link.turn().used()) / 1e6);
}

// add(milliseconds): others used them on behalf of the turn.
napi_value add(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  call.held->link.turn().add(
      static_cast<uint64_t>(std::clamp(number_of(env, call.args[0]) * 1e6, 0.0, 1e18)));
  return nullptr;
}

// left(): milliseconds that the turn has left, of processor time and by the clock.
napi_value left(napi_env env, napi_callback_info info) {
  const Turn::Left left = call_of(env, info).held->link.turn().left();
  napi_value list = nullptr;
  napi_create_array_with_length(env, 2, &list);
  napi_set_element(env, list, 0, make(env, static_cast<double>(left.processor_ns) / 1e6));
  napi_set_element(env, list, 1, make(env, static_cast<double>(left.wall_ns) / 1e6));
  return list;
}

// watch(keeper, worker): process ids.
napi_value watch(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  return make(env, call.held->link.turn().watch(static_cast<pid_t>(number_of(env, call.args[0])),
                                                static_cast<pid_t>(number_of(env, call.args[1]))));
}

// ready(milliseconds): waits for a worker that has just been started.
napi_value ready(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  HostLink& link = call.held->link;
  if (!link.usable()) return make(env, false);
  const uint64_t end =
      monotonic_ns() + static_cast<uint64_t>(std::max(0.0, number_of(env, call.args[0])) * 1e6);
  auto& word = link.channel().control().ready;
  while (word.load() == 0) {
    if (monotonic_ns() >= end || link.turn().gone()) return make(env, false);
    futex_wait(word, 0, 1'000'000);
  }
  return make(env, true);
}

// stop(): the turn that is under way is to end now.
napi_value stop(napi_env env, napi_callback_info info) {
  HostLink& link = call_of(env, info).held->link;
  if (link.usable()) link.turn().stop();
  return nullptr;
}

napi_value last_words(napi_env env, napi_callback_info info) {
  HostLink& link = call_of(env, info).held->link;
  return make(env,
              link.usable() ? static_cast<double>(link.channel().control().last_words.load()) : 0);
}

napi_value processor_time(napi_env env, napi_callback_info info) {
  return make(env,
              static_cast<double>(call_of(env, info).held->link.turn().processor_time()) / 1e6);
}

napi_value memory(napi_env env, napi_callback_info info) {
  return make(env, static_cast<double>(call_of(env, info).held->link.memory()));
}

// copyShared(bytes, offset, write): copies a Uint8Array into the memory behind the slots, or out of
// it. False where it does not fit, or nothing is left to copy. Never a view of it: V8 believes that
// the bytes of an ArrayBuffer change by its own code alone, and a guest that writes while the host
// sorts would be elsewhere.
napi_value copy_shared(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  napi_typedarray_type type{};
  void* data = nullptr;
  size_t length = 0;
  bool write = false;
  if (!call.held->link.usable() ||
      napi_get_typedarray_info(env, call.args[0], &type, &length, &data, nullptr, nullptr) !=
          napi_ok ||
      type != napi_uint8_array || napi_get_value_bool(env, call.args[2], &write) != napi_ok)
    return make(env, false);
  const std::span<uint8_t> shared = call.held->link.channel().shared();
  const double offset = number_of(env, call.args[1]);
  if (!(offset >= 0 && offset <= static_cast<double>(shared.size())) ||
      length > shared.size() - static_cast<size_t>(offset))
    return make(env, false);
  uint8_t* const at = shared.data() + static_cast<size_t>(offset);
  if (length > 0) std::memcpy(write ? at : data, write ? data : at, length);
  return make(env, true);
}

napi_value lifeline(napi_env env, napi_callback_info info) {
  return make(env, static_cast<double>(call_of(env, info).held->link.lifeline()));
}

// started(keeper): spawn()'s answer, or 0: memory() and lifeline() are its own now.
napi_value started(napi_env env, napi_callback_info info) {
  const Call call = call_of(env, info);
  call.held->link.started(static_cast<pid_t>(number_of(env, call.args[0])));
  return nullptr;
}

// isGone(): whether whom watch() named has ended.
napi_value is_gone(napi_env env, napi_callback_info info) {
  return make(env, call_of(env, info).held->link.turn().gone());
}

napi_value close(napi_env env, napi_callback_info info) {
  Held& held = *call_of(env, info).held;
  held.link.close();
  if (held.hook != nullptr) {
    napi_remove_env_cleanup_hook(env, at_exit, held.hook);
    delete held.hook;
    held.hook = nullptr;
  }
  if (held.tell != nullptr) napi_release_threadsafe_function(held.tell, napi_tsfn_abort);
  held.tell = nullptr;
  for (napi_ref* ref : {&held.in_ref, &held.out_ref})
    if (*ref != nullptr) napi_delete_reference(env, *ref);
  held.in_ref = held.out_ref = nullptr;
  held.in = held.out = nullptr;
  held.in_size = held.out_size = 0;
  return nullptr;
}

// link(slot bytes, message, shared bytes): an object of the functions above. The worker takes the
// message, its guests' program, from the memory before it is ready.
napi_value link(napi_env env, napi_callback_info info) {
  size_t count = 3, length = 0;
  napi_value args[3] = {};
  napi_get_cb_info(env, info, &count, args, nullptr, nullptr);
  void* program = nullptr;
  napi_typedarray_type type{};
  if (napi_get_typedarray_info(env, args[1], &type, &length, &program, nullptr, nullptr) !=
          napi_ok ||
      type != napi_uint8_array)
    length = 0;
  auto held = std::make_shared<Held>();
  held->env = env;
  const auto slot = static_cast<size_t>(std::clamp(number_of(env, args[0]), 0.0, 1e9));
  const auto extra = static_cast<size_t>(std::clamp(number_of(env, args[2]), 0.0, 1e9));
  if (!held->link.open(std::max(slot, length), extra) ||
      !held->link.put_program({static_cast<const uint8_t*>(program), length})) {
    napi_throw_error(env, nullptr, "no shared memory for a sandbox could be made");
    return nullptr;
  }
  held->hook = new std::weak_ptr<Held>(held);
  napi_add_env_cleanup_hook(env, at_exit, held->hook);
  napi_value object = nullptr;
  napi_create_object(env, &object);
  const struct {
    const char* name;
    napi_callback function;
  } functions[] = {{"useBuffers", use_buffers},
                   {"exchange", exchange},
                   {"wait", wait},
                   {"fetch", fetch},
                   {"send", send},
                   {"takeBack", take_back},
                   {"waitTold", wait_told},
                   {"heard", heard},
                   {"listener", listener},
                   {"idle", idle},
                   {"limits", limits},
                   {"beginInner", begin_inner},
                   {"endInner", end_inner},
                   {"used", used},
                   {"add", add},
                   {"left", left},
                   {"watch", watch},
                   {"ready", ready},
                   {"stop", stop},
                   {"lastWords", last_words},
                   {"memory", memory},
                   {"copyShared", copy_shared},
                   {"lifeline", lifeline},
                   {"started", started},
                   {"isGone", is_gone},
                   {"close", close},
                   {"processorTime", processor_time}};
  for (const auto& [name, function] : functions) {
    auto* const mine = new Shared(held);
    napi_value made = nullptr;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, function, mine, &made);
    napi_add_finalizer(
        env, made, mine, [](napi_env, void* data, void*) { delete static_cast<Shared*>(data); },
        nullptr, nullptr);
    napi_set_named_property(env, object, name, made);
  }
  return object;
}

}  // namespace
}  // namespace bulkhead

NAPI_MODULE_INIT() {
  napi_value function = nullptr;
  napi_create_function(env, "link", NAPI_AUTO_LENGTH, bulkhead::link, nullptr, &function);
  napi_set_named_property(env, exports, "link", function);
  napi_create_function(env, "packets", NAPI_AUTO_LENGTH, bulkhead::packets, nullptr, &function);
  napi_set_named_property(env, exports, "packets", function);
  napi_create_function(env, "weak", NAPI_AUTO_LENGTH, bulkhead::weak, nullptr, &function);
  napi_set_named_property(env, exports, "weak", function);
  napi_create_function(env, "spawn", NAPI_AUTO_LENGTH, bulkhead::spawn, nullptr, &function);
  napi_set_named_property(env, exports, "spawn", function);
  napi_create_function(env, "isOver", NAPI_AUTO_LENGTH, bulkhead::is_over, nullptr, &function);
  napi_set_named_property(env, exports, "isOver", function);
  return exports;
}
