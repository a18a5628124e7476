#include "session/service_manager.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "base/path.h"

namespace bulkhead {
namespace {

using Clock = std::chrono::steady_clock;

// sd-bus(3), an interface that does not change, so that nothing has to be installed for building.
struct Bus;
struct Message;
struct BusError {
  const char *name, *message;
  int need_free;
};
using Answered = int (*)(Message*, void*, BusError*);

struct SdBus {
  int (*open_user)(Bus**);
  void (*close)(Bus*);
  Bus* (*unref)(Bus*);
  int (*new_method_call)(Bus*, Message**, const char*, const char*, const char*, const char*);
  int (*append)(Message*, const char*, ...);
  Message* (*message_unref)(Message*);
  int (*call_async)(Bus*, void**, Message*, Answered, void*, uint64_t);
  const BusError* (*error_of)(Message*);
  int (*process)(Bus*, Message**);
  int (*wait)(Bus*, uint64_t);
};

Result<SdBus> load() {
  constexpr const char* kLibrary = "libsystemd.so.0";
  // For good: it is marked so that it cannot be unloaded.
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Error{fmt::format("there is no {}", kLibrary), ENOENT};
  SdBus bus{};
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr) missing = name;
  };
  find(bus.open_user, "sd_bus_open_user");
  find(bus.close, "sd_bus_close");
  find(bus.unref, "sd_bus_unref");
  find(bus.new_method_call, "sd_bus_message_new_method_call");
  find(bus.append, "sd_bus_message_append");
  find(bus.message_unref, "sd_bus_message_unref");
  find(bus.call_async, "sd_bus_call_async");
  find(bus.error_of, "sd_bus_message_get_error");
  find(bus.process, "sd_bus_process");
  find(bus.wait, "sd_bus_wait");
  if (missing != nullptr)
    return Error{fmt::format("{} has no {}: it is too old", kLibrary, missing), ENOSYS};
  return bus;
}

struct Answer {
  const SdBus& bus;
  std::optional<Status> status;
};

int note_answer(Message* message, void* data, BusError* /*own*/) {
  auto& answer = *static_cast<Answer*>(data);
  const BusError* const error = answer.bus.error_of(message);
  if (error == nullptr) {
    answer.status = Status();
  } else {
    const char* const text = error->message != nullptr ? error->message : error->name;
    answer.status = Error{fmt::format("the user's service manager refused a scope: {}",
                                      escape_for_display(text != nullptr ? text : "")),
                          EACCES};
  }
  return 1;
}

Status failed(const char* step, int result) {
  return errno_error(fmt::format("{} the user's service manager", step), -result);
}

uint64_t microseconds_to(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(until - Clock::now());
  return static_cast<uint64_t>(std::max<int64_t>(0, left.count()));
}

// Never longer than `until`, whatever the other end does: sd_bus_call() would wait for a minute
// where that accepts a connection and then says nothing.
Status wait_for(const SdBus& sd, Bus* bus, const Answer& answer, Clock::time_point until) {
  while (!answer.status) {
    const int done = sd.process(bus, nullptr);
    if (done < 0) return failed("talk to", done);
    const uint64_t left = microseconds_to(until);
    if (left == 0) return Error{"the user's service manager did not answer in time", ETIMEDOUT};
    if (done > 0 || answer.status) continue;
    if (const int waited = sd.wait(bus, left); waited < 0 && waited != -EINTR)
      return failed("wait for", waited);
  }
  return *answer.status;
}

}  // namespace

Status start_own_scope(const std::string& name, Clock::time_point until) {
  BULKHEAD_TRY(const SdBus sd, load());
  Bus* opened = nullptr;
  if (const int result = sd.open_user(&opened); result < 0) return failed("find", result);
  Answer answer{sd, std::nullopt};  // outlives the connection, which may call back
  const auto hang_up = [&sd](Bus* bus) {
    sd.close(bus);
    sd.unref(bus);
  };
  const std::unique_ptr<Bus, decltype(hang_up)> bus(opened, hang_up);
  Message* made = nullptr;
  int result =
      sd.new_method_call(bus.get(), &made, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                         "org.freedesktop.systemd1.Manager", "StartTransientUnit");
  if (result < 0) return failed("write to", result);
  const std::unique_ptr<Message, decltype(sd.message_unref)> call(made, sd.message_unref);
  // PID 0 is who asks, as the manager sees it: our number may be another process's there.
  result = sd.append(made, "ssa(sv)a(sa(sv))", name.c_str(), "fail", 4,  //
                     "Description", "s", "a compartment of bulkhead",    //
                     "Delegate", "b", 1,                                 //
                     "CollectMode", "s", "inactive-or-failed",           //
                     "PIDs", "au", 1, uint32_t{0},                       //
                     0);
  if (result >= 0)
    result = sd.call_async(bus.get(), nullptr, made, note_answer, &answer, microseconds_to(until));
  if (result < 0) return failed("write to", result);
  return wait_for(sd, bus.get(), answer, until);
}

}  // namespace bulkhead
