// Result<T>: a value, or an Error that says what was tried, on what, and what to do about it.
//
// g++ 12 has no std::expected; tl::expected lets callers drop errors. This one is [[nodiscard]],
// small, and has the one macro that keeps call sites flat.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bulkhead {

// One finding about a file that somebody wrote: where, what, and how to mend it.
struct Diagnostic {
  enum class Severity { kError, kWarning, kNote };
  Severity severity = Severity::kError;
  std::string file;     // as the user named it; empty where there is no file
  int line = 0;         // 1-based; 0 where unknown
  int column = 0;       // 1-based, in bytes; 0 where unknown
  std::string field;    // JSON path such as files.read[2]; empty where none
  std::string message;  // one sentence without a trailing full stop
  std::string fix;      // what to write instead; empty where nothing sensible can be said
};

// "file:line:column: error: field: message (fix)".
std::string to_string(const Diagnostic& diagnostic);

// By file, line and column; behind these what has no place.
void sort_by_place(std::vector<Diagnostic>& diagnostics);

struct Error {
  std::string message;  // "cannot open /a/b: Permission denied"; names the thing and the cause
  int errno_value = 0;  // errno of the call that failed; 0 where no system call did
  std::vector<Diagnostic> diagnostics = {};  // all findings, where a file was read
};

// The message, then one line per diagnostic.
std::string to_string(const Error& error);

// "cannot WHAT: strerror(errno)" with the current errno.
Error errno_error(std::string what);
Error errno_error(std::string what, int errno_value);

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  // Calling value() on an error, or error() on a value, throws std::bad_variant_access:
  // a bug of ours, never a way to handle errors.
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<std::monostate, Error> state_;
};

using Status = Result<void>;

#define BULKHEAD_CONCAT_(a, b) a##b
#define BULKHEAD_CONCAT(a, b) BULKHEAD_CONCAT_(a, b)

// BULKHEAD_TRY(auto fd, open_it(path));  — declares fd, or returns the error to the caller.
#define BULKHEAD_TRY(declaration, expression) \
  BULKHEAD_TRY_(BULKHEAD_CONCAT(bulkhead_result_, __LINE__), declaration, expression)
#define BULKHEAD_TRY_(temporary, declaration, expression)   \
  auto temporary = (expression);                            \
  if (!temporary.ok()) return std::move(temporary).error(); \
  declaration = std::move(temporary).value()

// BULKHEAD_CHECK(mount_it());  — for Status.
#define BULKHEAD_CHECK(expression)                                  \
  do {                                                              \
    if (auto bulkhead_status = (expression); !bulkhead_status.ok()) \
      return std::move(bulkhead_status).error();                    \
  } while (false)

}  // namespace bulkhead
