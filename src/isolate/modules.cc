#include "isolate/modules.h"

#include <string>

namespace bulkhead {
namespace {

// Of a context's embedder data.
constexpr int kSlot = 1;

v8::Local<v8::String> text(v8::Isolate* isolate, const char* characters) {
  return v8::String::NewFromUtf8(isolate, characters, v8::NewStringType::kInternalized)
      .FromMaybe(v8::String::Empty(isolate));
}

}  // namespace

void say_where(v8::Local<v8::Context> context, const v8::TryCatch& caught) {
  v8::Isolate* const isolate = context->GetIsolate();
  const v8::Local<v8::Message> message = caught.Message();
  if (!caught.HasCaught() || caught.HasTerminated() || message.IsEmpty() ||
      !caught.Exception()->IsNativeError())
    return;
  const v8::String::Utf8Value said(isolate, message->Get());
  const v8::String::Utf8Value file(isolate, message->GetScriptResourceName());
  if (*said == nullptr || *file == nullptr) return;
  std::string stack(*said, static_cast<size_t>(said.length()));
  constexpr std::string_view kUncaught = "Uncaught ";
  if (stack.starts_with(kUncaught)) stack.erase(0, kUncaught.size());
  stack += "\n    at " + std::string(*file, static_cast<size_t>(file.length())) + ":" +
           std::to_string(message->GetLineNumber(context).FromMaybe(0)) + ":" +
           std::to_string(message->GetStartColumn(context).FromMaybe(0) + 1);
  v8::Local<v8::String> value;
  if (v8::String::NewFromUtf8(isolate, stack.data(), v8::NewStringType::kNormal,
                              static_cast<int>(stack.size()))
          .ToLocal(&value))
    (void)caught.Exception()
        .As<v8::Object>()
        ->CreateDataProperty(context, text(isolate, "stack"), value)
        .FromMaybe(false);
}

Modules::Modules(v8::Isolate* isolate) : isolate_(isolate) {
  isolate_->SetHostImportModuleDynamicallyCallback(import);
  isolate_->SetHostInitializeImportMetaObjectCallback(describe);
}

void Modules::enter(v8::Local<v8::Context> context) {
  context->SetAlignedPointerInEmbedderData(kSlot, this);
}

void Modules::leave(v8::Local<v8::Context> context) {
  context->SetAlignedPointerInEmbedderData(kSlot, nullptr);
}

Modules* Modules::of(v8::Local<v8::Context> context) {
  auto* const modules = static_cast<Modules*>(context->GetAlignedPointerFromEmbedderData(kSlot));
  if (modules == nullptr) context->GetIsolate()->ThrowError("the sandbox is disposed");
  return modules;
}

void Modules::reset() {
  entries_.clear();
  resolver_.Reset();
  importer_.Reset();
}

uint32_t Modules::add(v8::Local<v8::Module> module, v8::Local<v8::String> name) {
  Entry& entry = entries_.emplace_back();
  entry.module.Reset(isolate_, module);
  entry.name.Reset(isolate_, name);
  return static_cast<uint32_t>(entries_.size() - 1);
}

Modules::Entry* Modules::find(v8::Local<v8::Module> module) {
  for (Entry& entry : entries_)
    if (entry.module == module) return &entry;
  return nullptr;
}

v8::MaybeLocal<v8::Array> Modules::compile(v8::Local<v8::Context> context,
                                           v8::Local<v8::String> source,
                                           v8::Local<v8::String> name) {
  const v8::ScriptOrigin origin(name, 0, 0, false, -1, {}, false, false, true);
  v8::ScriptCompiler::Source unit(source, origin);
  v8::Local<v8::Module> module;
  {
    v8::TryCatch caught(isolate_);
    if (!v8::ScriptCompiler::CompileModule(isolate_, &unit).ToLocal(&module)) {
      say_where(context, caught);
      caught.ReThrow();
      return {};
    }
  }
  const v8::Local<v8::FixedArray> requests = module->GetModuleRequests();
  std::vector<v8::Local<v8::Value>> answer;
  answer.push_back(v8::Local<v8::Value>());
  for (int i = 0; i < requests->Length(); ++i) {
    const auto request = requests->Get(context, i).As<v8::ModuleRequest>();
    if (request->GetImportAttributes()->Length() != 0) {
      isolate_->ThrowException(v8::Exception::TypeError(
          text(isolate_, "import attributes are not supported in a sandbox")));
      return {};
    }
    answer.push_back(request->GetSpecifier());
  }
  answer.front() = v8::Integer::NewFromUnsigned(isolate_, add(module, name));
  return v8::Array::New(isolate_, answer.data(), answer.size());
}

v8::MaybeLocal<v8::Integer> Modules::make(v8::Local<v8::Context> context,
                                          v8::Local<v8::String> name, v8::Local<v8::Array> names,
                                          v8::Local<v8::Array> values) {
  std::vector<v8::Local<v8::String>> exports;
  for (uint32_t i = 0; i < names->Length(); ++i) {
    v8::Local<v8::Value> item;
    if (!names->Get(context, i).ToLocal(&item) || !item->IsString()) return {};
    exports.push_back(item.As<v8::String>());
  }
  const v8::Local<v8::Module> module = v8::Module::CreateSyntheticModule(
      isolate_, name, v8::MemorySpan<const v8::Local<v8::String>>(exports.data(), exports.size()),
      fill);
  const uint32_t number = add(module, name);
  entries_[number].names.Reset(isolate_, names);
  entries_[number].values.Reset(isolate_, values);
  return v8::Integer::NewFromUnsigned(isolate_, number).As<v8::Integer>();
}

v8::MaybeLocal<v8::Value> Modules::fill(v8::Local<v8::Context> context,
                                        v8::Local<v8::Module> module) {
  v8::Isolate* const isolate = context->GetIsolate();
  Modules* const modules = of(context);
  Entry* const entry = modules == nullptr ? nullptr : modules->find(module);
  v8::Local<v8::Promise::Resolver> done;
  if (entry == nullptr || !v8::Promise::Resolver::New(context).ToLocal(&done)) return {};
  const v8::Local<v8::Array> names = entry->names.Get(isolate), values = entry->values.Get(isolate);
  for (uint32_t i = 0; i < names->Length(); ++i) {
    v8::Local<v8::Value> name, value;
    if (!names->Get(context, i).ToLocal(&name) || !values->Get(context, i).ToLocal(&value) ||
        !module->SetSyntheticModuleExport(isolate, name.As<v8::String>(), value).FromMaybe(false))
      return {};
  }
  if (!done->Resolve(context, v8::Undefined(isolate)).FromMaybe(false)) return {};
  return done->GetPromise();
}

v8::MaybeLocal<v8::Module> Modules::resolve(v8::Local<v8::Context> context,
                                            v8::Local<v8::String> specifier,
                                            v8::Local<v8::FixedArray> attributes,
                                            v8::Local<v8::Module> referrer) {
  (void)attributes;  // refused by compile()
  v8::Isolate* const isolate = context->GetIsolate();
  Modules* const found = of(context);
  if (found == nullptr) return {};
  Modules& modules = *found;
  const Entry* const from = modules.find(referrer);
  if (from == nullptr || modules.resolver_.IsEmpty()) return {};
  v8::Local<v8::Value> arguments[] = {
      v8::Integer::NewFromUnsigned(isolate, static_cast<uint32_t>(from - modules.entries_.data())),
      specifier};
  v8::Local<v8::Value> number;
  if (!modules.resolver_.Get(isolate)
           ->Call(context, v8::Undefined(isolate), 2, arguments)
           .ToLocal(&number))
    return {};
  if (!number->IsUint32() || number.As<v8::Uint32>()->Value() >= modules.entries_.size()) {
    isolate->ThrowError("a module is not there");
    return {};
  }
  return modules.entries_[number.As<v8::Uint32>()->Value()].module.Get(isolate);
}

v8::MaybeLocal<v8::Value> Modules::evaluate(v8::Local<v8::Context> context, uint32_t number,
                                            v8::Local<v8::Function> resolve) {
  if (number >= entries_.size()) return {};
  const v8::Local<v8::Module> module = entries_[number].module.Get(isolate_);
  if (module->GetStatus() < v8::Module::kInstantiated) {
    v8::TryCatch caught(isolate_);
    resolver_.Reset(isolate_, resolve);
    const bool done = module->InstantiateModule(context, Modules::resolve).FromMaybe(false);
    resolver_.Reset();
    if (!done) {
      say_where(context, caught);
      caught.ReThrow();
      return {};
    }
  }
  // V8 keeps null for what was ended in the middle.
  if (module->GetStatus() == v8::Module::kErrored && module->GetException()->IsNull()) {
    isolate_->ThrowError("the module was ended while it was evaluated");
    return {};
  }
  return module->Evaluate(context);
}

v8::MaybeLocal<v8::Value> Modules::namespace_of(uint32_t number) {
  if (number >= entries_.size()) return {};
  return entries_[number].module.Get(isolate_)->GetModuleNamespace();
}

v8::MaybeLocal<v8::Promise> Modules::import(v8::Local<v8::Context> context,
                                            v8::Local<v8::Data> options, v8::Local<v8::Value> from,
                                            v8::Local<v8::String> specifier,
                                            v8::Local<v8::FixedArray> attributes) {
  (void)options;
  v8::Isolate* const isolate = context->GetIsolate();
  Modules* const found = of(context);
  if (found == nullptr) return {};
  const Modules& modules = *found;
  v8::Local<v8::Value> arguments[] = {specifier, from,
                                      v8::Boolean::New(isolate, attributes->Length() != 0)};
  v8::Local<v8::Value> promise;
  if (modules.importer_.IsEmpty() ||
      !modules.importer_.Get(isolate)
           ->Call(context, v8::Undefined(isolate), 3, arguments)
           .ToLocal(&promise) ||
      !promise->IsPromise())
    return {};
  return promise.As<v8::Promise>();
}

void Modules::describe(v8::Local<v8::Context> context, v8::Local<v8::Module> module,
                       v8::Local<v8::Object> meta) {
  v8::Isolate* const isolate = context->GetIsolate();
  Modules* const modules = of(context);
  const Entry* const entry = modules == nullptr ? nullptr : modules->find(module);
  if (entry != nullptr)
    (void)meta->CreateDataProperty(context, text(isolate, "url"), entry->name.Get(isolate))
        .FromMaybe(false);
}

}  // namespace bulkhead
