// What a host says about tests: the window has one tree of them and one list of their runs, in
// which everything is found by an id, whoever names it.
#include <algorithm>
#include <string>

#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

// "controller\0suite\0test", as VS Code makes them; so are the ids of its tags.
bool Broker::owns_test(const Json& id) {
  const std::string name = text_of(id);
  return knows(own_controllers_, name.substr(0, name.find('\0')));
}

// An id, something that has one, or a list of either.
Broker::Ruling Broker::decide_tests(const Json& value, const Asked& asked) {
  if (is_none(value)) return Ruling::pass();
  if (value.is_array()) {
    for (const Json& each : value)
      if (Ruling ruling = decide_tests(each, asked); !ruling.passes()) return ruling;
    return Ruling::pass();
  }
  const Json id = value.is_object() ? value.value("extId", Json()) : value;
  if (owns_test(id)) return Ruling::pass();
  return refuse(asked, json_string(id).substr(0, 200), "speaks for tests that are not its own");
}

// The workbench goes by these alone, not by the controller that the diff is said to be of.
Broker::Ruling Broker::decide_test_diff(const Json& value, const Asked& asked) {
  if (!value.is_array())
    return refuse(asked, json_string(value).substr(0, 200), "is no list of tests");
  const auto member = [](const Json& one, const char* key) {
    return one.is_object() ? one.value(key, Json()) : Json();
  };
  for (const Json& change : value) {
    const Json added = member(change, "item");
    for (const Json& id : {member(change, "itemId"), member(change, "id"),
                           member(member(change, "tag"), "id"), member(added, "extId"),
                           member(added, "controllerId"), member(member(added, "item"), "extId")})
      if (!is_none(id) && !owns_test(id))
        return refuse(asked, json_string(id).substr(0, 200),
                      "speaks for tests that are not its own");
  }
  return Ruling::pass();
}

Broker::Ruling Broker::decide_test_run(const Json& value, const Asked& asked) {
  bool own = false;
  for (const char* key : {"controllerId", "ctrlId"}) {
    const auto controller = value.is_object() ? value.find(key) : value.end();
    if (controller == value.end()) continue;
    own = knows(own_controllers_, text_of(*controller));
    if (!own) break;
  }
  // "Run again" repeats what a run says that it ran, whoever's tests these are. No host names
  // targets: with them it is one of the workbench's own.
  for (const char* key : {"include", "exclude"})
    if (own && value.contains(key))
      if (Ruling ruling = decide_tests(value[key], asked); !ruling.passes()) return ruling;
  own = own && !value.contains("targets");
  // Of two runs of one id the workbench finds the later one, and puts there what others say.
  const std::string id = value.is_object() ? text_of(value.value("id", Json())) : "";
  if (own && !knows(shared_runs_, id)) return Ruling::pass();
  return refuse(asked, json_string(value).substr(0, 200), "is no run of its own tests");
}

// A person's documents are saved for it, and it may debug.
Broker::Ruling Broker::decide_test_targets(const Json& value, const Asked& asked) {
  const Json targets = value.is_object() ? value.value("targets", Json()) : Json();
  if (!targets.is_array())
    return refuse(asked, json_string(value).substr(0, 200), "is no list of tests");
  for (const Json& target : targets) {
    const Json controller = target.is_object() ? target.value("controllerId", Json()) : Json();
    if (knows(own_controllers_, text_of(controller))) continue;
    const std::string about = asked.method + " " + json_string(controller).substr(0, 200);
    if (Ruling ruling = decide_permission("commands-foreign", asked.about(about)); !ruling.passes())
      return ruling;
  }
  return Ruling::pass();
}

// In a run that the workbench begins, each controller has a part.
void Broker::learn_runs(const RpcRequest& request) {
  const Json arguments = arguments_of(request, [](size_t i) { return i == 0; });
  const std::lock_guard lock(mutex_);
  for (const Json& each : at(arguments, 0))
    if (each.is_object()) shared_runs_.insert(text_of(each.value("runId", Json())));
}

}  // namespace bulkhead
