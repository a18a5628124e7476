// Strict JSON with positions, for files that people write. Every value knows its line, column and
// JSON path, so that a finding can name its place.
//
// Refused, beyond what RFC 8259 refuses: a second member of the same name, more than 1 MiB or 64
// levels, integers outside of int64, numbers outside of double, NUL (raw or as \u0000), a byte
// order mark. Comments, trailing commas, trailing text and invalid UTF-8 are no JSON to begin with.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bulkhead::json {

inline constexpr size_t kMaxBytes = size_t{1} << 20U;
inline constexpr int kMaxDepth = 64;
// Findings beyond this many are counted, not kept: a hostile file must not fill memory or a screen.
inline constexpr size_t kMaxDiagnostics = 100;

enum class Type : uint8_t { kNull, kBoolean, kInteger, kNumber, kString, kArray, kObject };

// "an object", "a string": for messages.
std::string_view label(Type type);

struct Value {
  Type type = Type::kNull;
  bool boolean = false;
  int64_t integer = 0;              // kInteger
  double number = 0;                // kNumber (had a fraction or an exponent) and kInteger
  std::string text;                 // kString, in UTF-8, escapes resolved
  std::vector<const Value*> items;  // kArray: elements; kObject: member values; in the file's order

  std::string key;                   // where the parent is an object
  size_t index = 0;                  // place in parent->items
  const Value* parent = nullptr;     // null for the root
  int line = 0, column = 0;          // of the value's first byte; 1-based; columns count bytes
  int key_line = 0, key_column = 0;  // of the member's name, where the parent is an object

  // The member of that name; null where there is none or this is no object.
  const Value* find(std::string_view name) const;
  // "files.read[2]"; empty for the root. Computed on demand: storing it would let a small file
  // with one long name use gigabytes.
  std::string path() const;
};

// Owns its values. Pointers to them stay good when the document is moved.
class Document {
 public:
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  const Value& root() const { return values_.front(); }

 private:
  friend class Builder;
  Document() = default;
  std::deque<Value> values_;
};

// `file` is only used in findings.
Result<Document> parse(const std::string& file, std::string_view bytes);

// A finding at `value` (at its name with `at_key`). `fix` has no default: whoever tells a mistake
// tells what to write instead.
Diagnostic finding(const std::string& file, const Value& value, std::string message,
                   std::string fix, bool at_key = false);

// Collects findings, at most kMaxDiagnostics of them; the rest is counted.
class Findings {
 public:
  void add(Diagnostic diagnostic);
  bool empty() const { return kept_.empty(); }
  // `message` and all findings; a last note tells how many were left out.
  Error error(std::string message) &&;

 private:
  std::vector<Diagnostic> kept_;
  size_t dropped_ = 0;
};

}  // namespace bulkhead::json
