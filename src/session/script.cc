#include "session/script.h"

#include <algorithm>
#include <array>
#include <span>

namespace bulkhead {
namespace {

using Words = std::span<const std::string_view>;

// What options are known to take. Of letters several may share a word; the last one's value is the
// rest of that word.
struct Options {
  std::string_view flags = {};     // letters that take nothing
  std::string_view attached = {};  // the rest of the word
  std::string_view values = {};    // the rest of the word or, where there is none, the next word
  std::string_view next = {};      // the next word, and must be the last letter of its own
  std::string_view code = {};      // as values: what runs, or the module that does
  std::string_view file = {};      // as next: the script
  Words flag_words = {};
  Words value_words = {};  // the next word, or what follows "="
  Words code_words = {};
  bool plus = false;                // "+x" is an option, too
  bool input_after_dashes = false;  // "--" ends the options of what comes by standard input
  bool is_node = false;
};

constexpr std::string_view kNodeFlags[] = {
    "-c",
    "--check",
    "--enable-source-maps",
    "--experimental-strip-types",
    "--experimental-transform-types",
    "--experimental-vm-modules",
    "--expose-gc",
    "--frozen-intrinsics",
    "--inspect",
    "--inspect-brk",
    "--inspect-wait",
    "--pending-deprecation",
    "--preserve-symlinks",
    "--preserve-symlinks-main",
    "--prof",
    "--throw-deprecation",
    "--trace-deprecation",
    "--trace-exit",
    "--trace-uncaught",
    "--trace-warnings",
    "--use-openssl-ca",
    "--use-system-ca",
    "--watch",
};
constexpr std::string_view kNodeValues[] = {
    "-r",
    "--require",
    "--import",
    "--loader",
    "--conditions",
    "--experimental-loader",
    "-C",
    "--env-file",
    "--input-type",
    "--icu-data-dir",
    "--dns-result-order",
    "--env-file-if-exists",
    "--title",
    "--unhandled-rejections",
};
constexpr std::string_view kNodeCode[] = {"-e", "--eval", "-p", "--print", "-pe"};
constexpr std::string_view kShellFlags[] = {"--norc",  "--noprofile",  "--posix",
                                            "--login", "--restricted", "--verbose"};
constexpr std::string_view kShellValues[] = {"--rcfile", "--init-file"};

constexpr Options kNode = {
    .flag_words = kNodeFlags, .value_words = kNodeValues, .code_words = kNodeCode, .is_node = true};
constexpr Options kPython = {.flags = "bBdEIOPqRsStuvx", .values = "WX", .code = "cm"};
constexpr Options kPerl = {
    .flags = "acflnpstTuUwW", .attached = "iMm", .values = "I", .code = "eE"};
constexpr Options kRuby = {.flags = "aclnpsUvw", .attached = "FiKW", .values = "EIr", .code = "e"};
constexpr Options kPhp = {
    .flags = "CeHnq", .values = "cd", .code = "r", .file = "f", .input_after_dashes = true};
constexpr Options kLua = {.flags = "EvW", .values = "l", .code = "e"};
constexpr Options kShell = {.flags = "abefhiklmnprtuvxBCEHPT",
                            .next = "oO",
                            .code = "c",
                            .flag_words = kShellFlags,
                            .value_words = kShellValues,
                            .plus = true};

struct Interpreter {
  std::string_view name;
  const Options* options;  // nullptr: not known
};
constexpr std::array<Interpreter, 14> kInterpreters = {{
    {"node", &kNode},
    {"nodejs", &kNode},
    {"deno", nullptr},
    {"bun", nullptr},
    {"python", &kPython},
    {"perl", &kPerl},
    {"ruby", &kRuby},
    {"php", &kPhp},
    {"lua", &kLua},
    {"sh", &kShell},
    {"bash", &kShell},
    {"dash", &kShell},
    {"zsh", &kShell},
    {"ksh", &kShell},
}};

// Programs whose words name another program.
constexpr std::string_view kStarters[] = {"busybox", "chrt",    "env",    "flock",  "ionice",
                                          "nice",    "nohup",   "setsid", "stdbuf", "strace",
                                          "taskset", "timeout", "xargs"};

bool holds(Words words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool holds(std::string_view letters, char letter) {
  return letters.find(letter) != std::string_view::npos;
}

// What one option takes.
enum class Takes { kNothing, kNextWord, kCode, kScript, kUnknown };

Takes whole_word(const Options& options, std::string_view word) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  if (holds(options.code_words, name)) return Takes::kCode;
  if (holds(options.value_words, name))
    return equals == std::string_view::npos ? Takes::kNextWord : Takes::kNothing;
  if (holds(options.flag_words, word)) return Takes::kNothing;
  // Node's and V8's: numbers, and what switches something off.
  if (options.is_node &&
      (word.starts_with("--no-") || (word.starts_with("--max-") && name != word)))
    return Takes::kNothing;
  return Takes::kUnknown;
}

Takes letters(const Options& options, std::string_view word) {
  for (size_t at = 1; at < word.size(); ++at) {
    const bool last = at + 1 == word.size();
    if (holds(options.flags, word[at])) continue;
    if (holds(options.attached, word[at])) return Takes::kNothing;
    if (holds(options.values, word[at])) return last ? Takes::kNextWord : Takes::kNothing;
    if (holds(options.next, word[at])) return last ? Takes::kNextWord : Takes::kUnknown;
    if (holds(options.code, word[at])) return Takes::kCode;
    if (holds(options.file, word[at])) return last ? Takes::kScript : Takes::kUnknown;
    return Takes::kUnknown;
  }
  return Takes::kNothing;
}

Script search(const Options& options, const std::vector<std::string>& command) {
  const Script unknown = {Script::Is::kUnknown};
  const auto file = [&](size_t at) {
    return at < command.size() ? Script{Script::Is::kFile, command[at]} : unknown;
  };
  for (size_t at = 1; at < command.size(); ++at) {
    const std::string_view word = command[at];
    if (word == "--") return options.input_after_dashes ? unknown : file(at + 1);
    if (!word.starts_with('-') && !(options.plus && word.starts_with('+'))) return file(at);
    if (word.size() == 1) return unknown;  // standard input
    Takes takes = whole_word(options, word);
    if (takes == Takes::kUnknown && !word.starts_with("--")) takes = letters(options, word);
    switch (takes) {
      case Takes::kNothing:
        break;
      case Takes::kNextWord:
        ++at;
        break;
      case Takes::kCode:
        // Without any, some read it from standard input.
        if (word.find('=') == std::string_view::npos &&
            (at + 1 == command.size() || command[at + 1].starts_with('-')))
          return unknown;
        return {Script::Is::kWords};
      case Takes::kScript:
        return file(at + 1);
      case Takes::kUnknown:
        return unknown;
    }
  }
  return unknown;
}

}  // namespace

Script script_of(std::string_view interpreter, const std::vector<std::string>& command) {
  if (holds(kStarters, interpreter)) return {Script::Is::kUnknown};
  // python3.11 → python
  interpreter = interpreter.substr(0, interpreter.find_last_not_of("0123456789.") + 1);
  const auto* const found =
      std::find_if(kInterpreters.begin(), kInterpreters.end(),
                   [interpreter](const Interpreter& each) { return each.name == interpreter; });
  if (found == kInterpreters.end()) return {Script::Is::kNoScript};
  if (found->options != nullptr) return search(*found->options, command);
  // A word, and no option before it.
  const size_t at = command.size() > 1 && command[1] == "run" ? 2 : 1;
  if (at >= command.size() || command[at].starts_with('-')) return {Script::Is::kUnknown};
  return {Script::Is::kFile, command[at]};
}

}  // namespace bulkhead
