// The worker's entry for Node: serve(descriptor, source).
#include <node.h>
#include <uv.h>

#include <cstdio>
#include <cstring>

#include "isolate/worker.h"

namespace bulkhead {
namespace {

void serve(const v8::FunctionCallbackInfo<v8::Value>& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  if (!info[0]->IsInt32() || !info[1]->IsString()) return;
  const v8::String::Utf8Value source(isolate, info[1]);
  node::Environment* const environment = node::GetCurrentEnvironment(context);
  // Never deleted: the process ends in serve().
  auto* const worker =
      new Worker(node::GetMultiIsolatePlatform(environment), node::GetCurrentEventLoop(isolate),
                 std::string(*source, static_cast<size_t>(source.length())));
  if (!worker->attach(info[0].As<v8::Int32>()->Value())) {
    std::fprintf(stderr, "bulkhead worker: no channel: %s\n", std::strerror(errno));
    std::_Exit(1);
  }
  worker->serve();
}

}  // namespace
}  // namespace bulkhead

NODE_MODULE_INIT() {
  (void)module;
  NODE_SET_METHOD(exports, "serve", bulkhead::serve);
}
