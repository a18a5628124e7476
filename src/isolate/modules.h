// Modules: the ES modules that a guest has compiled, and how they are linked and evaluated. Where
// their text comes from is the host's business (js/lib/modules.cjs); names are known to
// js/lib/guest.cjs alone, here they are numbers.
#pragma once

#include <v8.h>

#include <cstdint>
#include <vector>

namespace bulkhead {

class Modules {
 public:
  explicit Modules(v8::Isolate* isolate);
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  ~Modules() = default;

  // [number, specifiers that it asks for …]; empty: an error is pending.
  v8::MaybeLocal<v8::Array> compile(v8::Local<v8::Context> context, v8::Local<v8::String> source,
                                    v8::Local<v8::String> name);
  // A module of values that are there already.
  v8::MaybeLocal<v8::Integer> make(v8::Local<v8::Context> context, v8::Local<v8::String> name,
                                   v8::Local<v8::Array> names, v8::Local<v8::Array> values);
  // Links by resolve(number, specifier) → number, and evaluates: a promise.
  v8::MaybeLocal<v8::Value> evaluate(v8::Local<v8::Context> context, uint32_t number,
                                     v8::Local<v8::Function> resolve);
  v8::MaybeLocal<v8::Value> namespace_of(uint32_t number);

  // import() of a guest: importer(specifier, name of the script, attributes) → promise.
  void use_importer(v8::Local<v8::Function> importer) { importer_.Reset(isolate_, importer); }
  void reset();

  // Callbacks of the isolate find it by the context, of which an isolate may have several.
  void enter(v8::Local<v8::Context> context);
  static void leave(v8::Local<v8::Context> context);

 private:
  struct Entry {
    v8::Global<v8::Module> module;
    v8::Global<v8::String> name;
    v8::Global<v8::Array> names, values;  // of make()
  };

  static Modules* of(v8::Local<v8::Context> context);
  static v8::MaybeLocal<v8::Module> resolve(v8::Local<v8::Context> context,
                                            v8::Local<v8::String> specifier,
                                            v8::Local<v8::FixedArray> attributes,
                                            v8::Local<v8::Module> referrer);
  static v8::MaybeLocal<v8::Promise> import(v8::Local<v8::Context> context,
                                            v8::Local<v8::Data> options, v8::Local<v8::Value> from,
                                            v8::Local<v8::String> specifier,
                                            v8::Local<v8::FixedArray> attributes);
  static void describe(v8::Local<v8::Context> context, v8::Local<v8::Module> module,
                       v8::Local<v8::Object> meta);
  static v8::MaybeLocal<v8::Value> fill(v8::Local<v8::Context> context,
                                        v8::Local<v8::Module> module);

  uint32_t add(v8::Local<v8::Module> module, v8::Local<v8::String> name);
  Entry* find(v8::Local<v8::Module> module);

  v8::Isolate* const isolate_;
  std::vector<Entry> entries_;
  v8::Global<v8::Function> resolver_, importer_;
};

// An error of compiling or linking has no stack: it gets the place that `caught` knows.
void say_where(v8::Local<v8::Context> context, const v8::TryCatch& caught);

}  // namespace bulkhead
