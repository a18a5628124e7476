// An addon of Node's that uses the shared library: start(manifest, program, argument, output) gives
// a number, wait(number) the outcome's text, kill(number) ends it.
#include <bulkhead/compartment.h>
#include <node_api.h>

#include <string>
#include <vector>

namespace {

std::vector<bulkhead::Compartment>& compartments() {
  static std::vector<bulkhead::Compartment> all;
  return all;
}

std::vector<napi_value> arguments(napi_env env, napi_callback_info info, size_t count) {
  std::vector<napi_value> values(count);
  napi_get_cb_info(env, info, &count, values.data(), nullptr, nullptr);
  return values;
}

std::string text_of(napi_env env, napi_value value) {
  size_t size = 0;
  napi_get_value_string_utf8(env, value, nullptr, 0, &size);
  std::string text(size, '\0');
  napi_get_value_string_utf8(env, value, text.data(), size + 1, &size);
  return text;
}

int32_t number_of(napi_env env, napi_value value) {
  int32_t number = -1;
  napi_get_value_int32(env, value, &number);
  return number;
}

napi_value text(napi_env env, const std::string& said) {
  napi_value value = nullptr;
  napi_create_string_utf8(env, said.data(), said.size(), &value);
  return value;
}

napi_value start(napi_env env, napi_callback_info info) {
  const auto given = arguments(env, info, 4);
  const auto policy = bulkhead::Policy::parse(text_of(env, given[0]));
  if (!policy) {
    napi_throw_error(env, nullptr, policy.error().message.c_str());
    return nullptr;
  }
  bulkhead::Options options;
  options.command = {text_of(env, given[1]), "-c", text_of(env, given[2])};
  options.environment = {"PATH=/usr/bin:/bin"};
  options.descriptors = {{1, number_of(env, given[3])}};
  auto compartment = bulkhead::Compartment::start(*policy, options);
  if (!compartment) {
    napi_throw_error(env, nullptr, compartment.error().message.c_str());
    return nullptr;
  }
  compartments().push_back(std::move(*compartment));
  napi_value number = nullptr;
  napi_create_uint32(env, static_cast<uint32_t>(compartments().size() - 1), &number);
  return number;
}

bulkhead::Compartment& named(napi_env env, napi_callback_info info) {
  return compartments().at(static_cast<size_t>(number_of(env, arguments(env, info, 1)[0])));
}

napi_value wait(napi_env env, napi_callback_info info) {
  return text(env, named(env, info).wait().text);
}

napi_value kill(napi_env env, napi_callback_info info) {
  named(env, info).kill();
  return nullptr;
}

napi_value init(napi_env env, napi_value exports) {
  const napi_property_descriptor functions[] = {
      {"start", nullptr, start, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"wait", nullptr, wait, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"kill", nullptr, kill, nullptr, nullptr, nullptr, napi_enumerable, nullptr}};
  napi_define_properties(env, exports, 3, functions);
  return exports;
}

}  // namespace

NAPI_MODULE(compartment, init)
