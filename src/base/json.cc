#include "base/json.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "base/nlohmann.h"
#include "base/path.h"

namespace bulkhead::json {

std::string_view label(Type type) {
  switch (type) {
    case Type::kNull:
      return "null";
    case Type::kBoolean:
      return "a boolean";
    case Type::kInteger:
      return "an integer";
    case Type::kNumber:
      return "a number";
    case Type::kString:
      return "a string";
    case Type::kArray:
      return "a list";
    case Type::kObject:
      return "an object";
  }
  return "a value";
}

const Value* Value::find(std::string_view name) const {
  if (type != Type::kObject) return nullptr;
  const auto it = std::find_if(items.begin(), items.end(),
                               [&](const Value* member) { return member->key == name; });
  return it == items.end() ? nullptr : *it;
}

namespace {

constexpr size_t kMaxShownKey = 60;

bool is_plain_key(std::string_view key) {
  return !key.empty() && key.size() <= kMaxShownKey &&
         std::all_of(key.begin(), key.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '$';
         });
}

std::string shown_key(std::string_view key) {
  if (is_plain_key(key)) return std::string(key);
  const bool cut = key.size() > kMaxShownKey;
  return fmt::format("[\"{}{}\"]", escape_for_display(key.substr(0, kMaxShownKey)),
                     cut ? "..." : "");
}

// What a person most probably has to do about a text that is no JSON from `at` on; `what` is the
// library's complaint, in which "expected" tells what could have stood there.
std::string syntax_fix(std::string_view text, size_t at, std::string_view what) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return "it is empty: write a value, such as {}";
  const char found = at < text.size() ? text[at] : '\0';
  if (found == '/' || found == '#') return "remove the comment: JSON has none";
  if (found == '\'') return "write double quotes";
  if (found == ']' || found == '}') {
    const size_t before = text.find_last_not_of(" \t\r\n", at == 0 ? 0 : at - 1);
    if (before != std::string_view::npos && text[before] == ',')
      return fmt::format("remove the comma before \"{}\"", found);
  }
  struct Case {
    std::string_view said, fix;
  };
  constexpr Case kCases[] = {
      {"ill-formed UTF-8", "save the file as UTF-8"},
      {"control character", "write \"\\n\" for a new line, \"\\t\" for a tab, or close the string"},
      {"missing closing quote", "close the string with a double quote"},
      {"invalid string", "write a backslash twice, or one of the escapes that JSON knows"},
      {"invalid number", "write a number such as 12 or 1.5, without zeros in front"},
      {"unexpected end of input", "close every \"{\", \"[\" and string that was opened"},
      {"; expected end of input", "remove what stands behind the end"},
      {"while parsing object key", "write the name in double quotes, or close with \"}\""},
      {"; expected ':'", "write \":\" between the name and its value"},
      {"; expected '}'", "write a comma before it, or close with \"}\""},
      {"; expected ']'", "write a comma before it, or close with \"]\""},
  };
  for (const Case& each : kCases)
    if (what.find(each.said) != std::string_view::npos) return std::string(each.fix);
  return "write a value: a string in double quotes, a number, true, false, a list or an object";
}

}  // namespace

std::string Value::path() const {
  std::vector<const Value*> chain;
  for (const Value* value = this; value->parent != nullptr; value = value->parent)
    chain.push_back(value);
  std::string result;
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    if ((*it)->parent->type == Type::kArray) {
      result += fmt::format("[{}]", (*it)->index);
      continue;
    }
    const std::string shown = shown_key((*it)->key);
    if (!result.empty() && shown[0] != '[') result += '.';
    result += shown;
  }
  return result;
}

Diagnostic finding(const std::string& file, const Value& value, std::string message,
                   std::string fix, bool at_key) {
  Diagnostic diagnostic;
  diagnostic.file = file;
  const bool named = at_key && value.key_line > 0;
  diagnostic.line = named ? value.key_line : value.line;
  diagnostic.column = named ? value.key_column : value.column;
  diagnostic.field = value.path();
  diagnostic.message = std::move(message);
  diagnostic.fix = std::move(fix);
  return diagnostic;
}

void Findings::add(Diagnostic diagnostic) {
  if (kept_.size() < kMaxDiagnostics) {
    kept_.push_back(std::move(diagnostic));
  } else {
    ++dropped_;
  }
}

Error Findings::error(std::string message) && {
  sort_by_place(kept_);
  if (dropped_ > 0) {
    Diagnostic note;
    note.severity = Diagnostic::Severity::kNote;
    note.message = fmt::format("{} more findings are not shown", dropped_);
    kept_.push_back(std::move(note));
  }
  return Error{std::move(message), 0, std::move(kept_)};
}

// Receives nlohmann's events and walks the text in step with them. The library's SAX interface
// gives no positions, but each event stands for exactly one token of a text that it found valid up
// to there, so the token's start is the next byte that is neither white space, comma nor colon.
class Builder {
 public:
  Builder(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  // The names and signatures are those of nlohmann::json_sax.
  bool null() { return scalar(Type::kNull, 4) != nullptr; }
  bool boolean(bool value) {
    Value* added = scalar(Type::kBoolean, value ? 4 : 5);
    if (added != nullptr) added->boolean = value;
    return added != nullptr;
  }
  bool number_integer(int64_t value) {
    Value* added = scalar(Type::kInteger, number_length());
    if (added == nullptr) return false;
    added->integer = value;
    added->number = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(uint64_t value) {
    if (value > static_cast<uint64_t>(INT64_MAX)) {
      Value* added = scalar(Type::kInteger, number_length());
      if (added != nullptr) out_of_range(*added);
      return added != nullptr;
    }
    return number_integer(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string& spelling) {
    // The library turns integers that do not fit into doubles; a limit that silently changes its
    // value is worse than an error.
    const bool integral = spelling.find_first_of(".eE") == std::string::npos;
    Value* added = scalar(integral ? Type::kInteger : Type::kNumber, number_length());
    if (added == nullptr) return false;
    added->number = value;
    if (integral) out_of_range(*added);
    return true;
  }
  bool string(std::string& value) {
    Value* added = scalar(Type::kString, string_length());
    if (added == nullptr) return false;
    if (value.find('\0') != std::string::npos)
      findings_.add(finding(file_, *added, "a string holds a NUL byte", "remove \\u0000"));
    added->text = std::move(value);
    return true;
  }
  bool binary(std::vector<uint8_t>&) { return false; }  // not in JSON text

  bool start_object(size_t) { return open(Type::kObject); }
  bool start_array(size_t) { return open(Type::kArray); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    skip();
    Frame& frame = frames_.back();
    frame.key_at = place(at_);
    at_ += string_length();
    frame.key = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    // The library's position counts the bytes read, the offending one included.
    const size_t at = std::min(position == 0 ? 0 : position - 1, text_.size());
    Diagnostic diagnostic;
    diagnostic.file = file_;
    const auto [line, column] = place(at);
    diagnostic.line = line;
    diagnostic.column = column;
    std::string_view what = error.what();
    if (error.id == 406) {
      diagnostic.message = "a number is out of range";
      diagnostic.fix = "write a number between -1.7e308 and 1.7e308";
    } else {
      if (const size_t colon = what.find(": "); colon != std::string_view::npos)
        what.remove_prefix(colon + 2);
      diagnostic.message = "not valid JSON: " + escape_for_display(what.substr(0, 300));
      diagnostic.fix = syntax_fix(text_, at, what);
    }
    findings_.add(std::move(diagnostic));
    return false;
  }

  Result<Document> result() && {
    if (!findings_.empty()) return std::move(findings_).error(fmt::format("cannot read {}", file_));
    return std::move(document_);
  }
  Findings& findings() { return findings_; }

 private:
  struct Frame {
    Value* value;
    std::string key = {};
    std::pair<int, int> key_at = {};
    std::unordered_set<std::string_view> names = {};  // views of the members' keys
  };

  static bool is_between_tokens(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':';
  }
  void skip() {
    while (at_ < text_.size() && is_between_tokens(text_[at_])) ++at_;
  }
  size_t number_length() {
    skip();
    const size_t end = text_.find_first_not_of("+-.0123456789eE", at_);
    return (end == std::string_view::npos ? text_.size() : end) - at_;
  }
  size_t string_length() {
    skip();
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    return end + 1 - at_;
  }

  // Positions are asked for in ascending order, apart from an error's.
  std::pair<int, int> place(size_t offset) {
    if (offset < counted_) {
      counted_ = 0;
      line_ = 1;
      line_start_ = 0;
    }
    for (; counted_ < offset; ++counted_) {
      if (text_[counted_] != '\n') continue;
      ++line_;
      line_start_ = counted_ + 1;
    }
    return {line_, static_cast<int>(offset - line_start_) + 1};
  }

  Value* scalar(Type type, size_t length) {
    Value* value = add(type);
    at_ += length;
    return value;
  }

  Value* add(Type type) {
    skip();
    Value& value = document_.values_.emplace_back();
    value.type = type;
    std::tie(value.line, value.column) = place(at_);
    if (frames_.empty()) return &value;
    Frame& frame = frames_.back();
    value.parent = frame.value;
    value.index = frame.value->items.size();
    if (frame.value->type == Type::kObject) {
      value.key = std::move(frame.key);
      std::tie(value.key_line, value.key_column) = frame.key_at;
      if (value.key.find('\0') != std::string::npos)
        findings_.add(finding(file_, value, "a name holds a NUL byte", "remove \\u0000", true));
      if (!frame.names.insert(value.key).second)
        findings_.add(finding(file_, value, "this name stands twice in one object",
                              "keep one of the two", true));
    }
    frame.value->items.push_back(&value);
    return &value;
  }

  bool open(Type type) {
    Value* value = add(type);
    ++at_;
    if (frames_.size() >= static_cast<size_t>(kMaxDepth)) {
      findings_.add(finding(file_, *value, fmt::format("nested deeper than {} levels", kMaxDepth),
                            "remove the levels that are too many"));
      return false;
    }
    frames_.push_back(Frame{value});
    return true;
  }
  bool close() {
    skip();
    ++at_;
    frames_.pop_back();
    return true;
  }

  void out_of_range(const Value& value) {
    findings_.add(
        finding(file_, value, "an integer is out of range", fmt::format("at most {}", INT64_MAX)));
  }

  const std::string& file_;
  std::string_view text_;
  size_t at_ = 0;  // behind the last token
  size_t counted_ = 0, line_start_ = 0;
  int line_ = 1;
  std::vector<Frame> frames_;
  Document document_;
  Findings findings_;
};

Result<Document> parse(const std::string& file, std::string_view bytes) {
  Diagnostic refusal;
  refusal.file = file;
  const auto refuse = [&](size_t offset, std::string message, std::string fix) {
    const std::string_view before = bytes.substr(0, offset);
    refusal.line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    refusal.column = static_cast<int>(offset - (before.rfind('\n') + 1)) + 1;
    refusal.message = std::move(message);
    refusal.fix = std::move(fix);
    return Error{fmt::format("cannot read {}", file), 0, {std::move(refusal)}};
  };
  if (bytes.size() > kMaxBytes)
    return refuse(
        0, fmt::format("the file has {} bytes; at most {} are read", bytes.size(), kMaxBytes),
        "shorten it");
  // Of UTF-8 and UTF-16. Before the next: what is UTF-16 is full of NUL bytes.
  if (bytes.substr(0, 3) == "\xEF\xBB\xBF" || bytes.substr(0, 2) == "\xFF\xFE" ||
      bytes.substr(0, 2) == "\xFE\xFF")
    return refuse(0, "the file starts with a byte order mark", "save it as UTF-8 without one");
  // The library takes a NUL for the end of the text, which would let anything stand behind it.
  if (const size_t nul = bytes.find('\0'); nul != std::string_view::npos)
    return refuse(nul, "the file holds a NUL byte", "remove it");

  Builder builder(file, bytes);
  nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &builder,
                            nlohmann::json::input_format_t::json, /*strict=*/true,
                            /*ignore_comments=*/false);
  return std::move(builder).result();
}

}  // namespace bulkhead::json
