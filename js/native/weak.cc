// A WeakRef of the language keeps its object until the job is over that made or asked it, and dies
// with a full collection alone; so does an object that a FinalizationRegistry knows. These
// references are gone after a collection of young objects, which takes a millisecond.
#include "weak.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "number.h"

namespace bulkhead {
namespace {

// Lives until its environment and all its objects are gone: their finalizers come later than the
// environment's cleanup hooks.
struct Table {
  std::vector<napi_ref> slots;
  std::vector<int32_t> free;
  std::vector<int32_t> dead;  // collected, and not told yet
  napi_ref listener = nullptr;
  size_t held = 0;
  bool over = false;
};

void let_go(const Table* table) {
  if (table->over && table->held == 0) delete table;
}

void at_exit(void* data) {
  auto* const table = static_cast<Table*>(data);
  table->over = true;
  let_go(table);
}

void collected(napi_env env, void* data, void* hint) {
  auto* const table = static_cast<Table*>(hint);
  const auto slot = static_cast<int32_t>(reinterpret_cast<intptr_t>(data));
  napi_delete_reference(env, std::exchange(table->slots[static_cast<size_t>(slot)], nullptr));
  --table->held;
  if (table->over) return let_go(table);
  table->dead.push_back(slot);
  if (table->dead.size() > 1) return;
  // The first of many: the listener comes for all of them.
  napi_value listener = nullptr, undefined = nullptr;
  if (napi_get_reference_value(env, table->listener, &listener) != napi_ok || listener == nullptr)
    return;
  napi_get_undefined(env, &undefined);
  napi_call_function(env, undefined, listener, 0, nullptr, nullptr);
}

Table& table_of(napi_env env, napi_callback_info info, napi_value* argument) {
  size_t count = 1;
  void* data = nullptr;
  napi_get_cb_info(env, info, &count, argument, nullptr, &data);
  return *static_cast<Table*>(data);
}

// hold(object): a number for get(), until dead() has told it.
napi_value hold(napi_env env, napi_callback_info info) {
  napi_value object = nullptr;
  Table& table = table_of(env, info, &object);
  int32_t slot = 0;
  if (table.free.empty()) {
    slot = static_cast<int32_t>(table.slots.size());
    table.slots.push_back(nullptr);
  } else {
    slot = table.free.back();
    table.free.pop_back();
  }
  if (napi_add_finalizer(env, object, reinterpret_cast<void*>(intptr_t{slot}), collected, &table,
                         &table.slots[static_cast<size_t>(slot)]) != napi_ok) {
    table.free.push_back(slot);
    napi_throw_type_error(env, nullptr, "no object, or none that can be referred to");
    return nullptr;
  }
  ++table.held;
  return number(env, slot);
}

// get(number): the object, or undefined once it was collected.
napi_value get(napi_env env, napi_callback_info info) {
  napi_value argument = nullptr;
  const Table& table = table_of(env, info, &argument);
  int32_t slot = -1;
  napi_get_value_int32(env, argument, &slot);
  napi_value object = nullptr;
  if (slot < 0 || static_cast<size_t>(slot) >= table.slots.size()) return nullptr;
  napi_ref const reference = table.slots[static_cast<size_t>(slot)];
  if (reference != nullptr) napi_get_reference_value(env, reference, &object);
  return object;
}

// dead(): the numbers of what was collected since the last time; they are given anew from here on.
napi_value dead(napi_env env, napi_callback_info info) {
  napi_value argument = nullptr, list = nullptr;
  Table& table = table_of(env, info, &argument);
  napi_create_array_with_length(env, table.dead.size(), &list);
  for (uint32_t i = 0; i < table.dead.size(); ++i)
    napi_set_element(env, list, i, number(env, table.dead[i]));
  table.free.insert(table.free.end(), table.dead.begin(), table.dead.end());
  table.dead.clear();
  return list;
}

}  // namespace

// listener: is called, without arguments, when dead() has something to tell again.
napi_value weak(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value listener = nullptr, object = nullptr;
  napi_get_cb_info(env, info, &count, &listener, nullptr, nullptr);
  auto* const table = new Table();
  napi_create_reference(env, listener, 1, &table->listener);
  napi_create_object(env, &object);
  const struct {
    const char* name;
    napi_callback function;
  } functions[] = {{"hold", hold}, {"get", get}, {"dead", dead}};
  for (const auto& [name, function] : functions) {
    napi_value made = nullptr;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, function, table, &made);
    napi_set_named_property(env, object, name, made);
  }
  napi_add_env_cleanup_hook(env, at_exit, table);
  return object;
}

}  // namespace bulkhead
