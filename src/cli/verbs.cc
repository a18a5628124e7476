#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/spelling.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "sandbox/limits/outcome.h"

namespace bulkhead {
namespace {

constexpr std::array kVerbs = {
    Verb{"run", "run a program in a compartment", kCommand, add_run},
    Verb{"code", "VS Code with its extensions in compartments", "[FOLDER] [SERVER OPTIONS...]",
         add_code},
    Verb{"eval", "run JavaScript in a sandbox", "[FILE|-]", add_eval},
    Verb{"explain", "which rule decides an access, and what would change it", nullptr, add_explain},
    Verb{"check", "find mistakes in manifests and policy files", nullptr, add_check},
    Verb{"review", "what an extension could do, and whether you agreed to it", nullptr, add_review},
    Verb{"unblock", "lift a group of the blocklist for one workspace", nullptr, add_unblock},
    Verb{"shim", "have commands such as npm always run in a compartment", nullptr, add_shim},
    Verb{"home", "the home folders that programs have for themselves", nullptr, add_home},
    Verb{"log", "what was allowed and denied", nullptr, add_log},
    Verb{"doctor", "what this machine can enforce", nullptr, add_doctor},
    Verb{"completion", "completion for bash, zsh or fish", nullptr, add_completion},
};

// Not listed: the editor's server starts it.
constexpr Verb kHost{"host", "an extension host in a compartment", kCommand, add_host};
// Nor this: the Node package does.
constexpr Verb kIsolate{"isolate", "a worker of the JavaScript sandbox", kCommand, add_isolate};

int unknown_verb(const std::string& word) {
  std::vector<std::string_view> names;
  names.reserve(kVerbs.size());
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  const std::string near = did_you_mean(word, names);
  complain(fmt::format("unknown verb \"{}\"{} `bulkhead --help` lists them", word,
                       near.empty() ? ";" : ": " + near));
  return kExitFailed;
}

// The words before the command, and the command: PROGRAM and its arguments belong to the program,
// whatever they look like. The command starts after the first "--", or with the first word that is
// neither an option nor an option's value.
struct Split {
  std::vector<std::string> ours, command;
};
Split split_command(const CLI::App& app, const std::vector<std::string>& words) {
  Split split;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      split.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      return split;
    }
    if (!word.starts_with('-') || word == "-") {
      split.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      return split;
    }
    split.ours.push_back(word);
    if (word.find('=') != std::string::npos) continue;
    const CLI::Option* option = app.get_option_no_throw(word);
    // "--" is nobody's value: an option that lacks one is told so.
    if (option != nullptr && option->get_items_expected_max() > 0 && i + 1 < words.size() &&
        words[i + 1] != "--")
      split.ours.push_back(words[++i]);
  }
  return split;
}

// What is wrong, in the words of the command line rather than the parser's.
std::string complaint(const CLI::App& app, const CLI::Error& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> rest = app.remaining();
    if (!rest.empty() && !rest.front().starts_with('-'))
      return fmt::format("unexpected argument \"{}\"", rest.front());
    if (!rest.empty()) {
      std::vector<std::string> names;
      for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      const std::vector<std::string_view> known(names.begin(), names.end());
      const std::string word = rest.front().substr(0, rest.front().find('='));
      const std::string near = did_you_mean(word, known);
      return fmt::format("unknown option \"{}\"{}", word, near.empty() ? "" : ": " + near);
    }
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string_view text = error.what();
    const std::string name(text.substr(0, text.find(':')));
    if (const CLI::Option* option = app.get_option_no_throw(name); option != nullptr)
      return option->count() > 1 ? fmt::format("{} is given more than once", name)
                                 : fmt::format("{} needs {}", name, option->get_type_name());
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    // "Could not convert: --cpu = abc"; all that is converted are numbers and flags.
    const std::string_view text = error.what();
    const size_t name = text.find("--");
    const size_t equals = text.find(" = ");
    if (name < equals && equals != std::string_view::npos) {
      const std::string typed(text.substr(name, equals - name));
      const CLI::Option* option = app.get_option_no_throw(typed);
      if (option != nullptr && option->get_items_expected_max() == 0)
        return fmt::format("{} takes no value", typed);
      return fmt::format("{} {}: not a number, or one out of range", typed,
                         text.substr(equals + 3));
    }
  }
  return error.what();
}

// CLI11 would add which options exclude which: errors tell that.
class OptionFormatter final : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    const std::string type = option->get_type_name();
    return (type.empty() ? "" : " " + type) + (option->get_required() ? " REQUIRED" : "");
  }
};

// As wide as the terminal, in bounds that can be read; 80 where nobody looks.
size_t help_width() {
  const size_t width = terminal_width(STDOUT_FILENO);
  return width == 0 ? 80 : std::clamp<size_t>(width, 40, 100);
}

// The column where an option's description begins; on a narrow terminal that is a line of its own.
size_t description_column() { return help_width() < 60 ? 6 : 34; }

constexpr std::string_view kExample = "  bulkhead run";

// In `width` columns, but for words that have no space to break at. Lines that begin with spaces go
// on at `indent`.
std::string fitted(std::string_view text, size_t width, size_t indent_of_options) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    // What is there to be copied is never broken.
    if (line.starts_with(kExample)) {
      out.append(line).append("\n");
      continue;
    }
    const size_t indent = line.starts_with(' ') ? indent_of_options : 0;
    std::string_view before = line.substr(0, std::min(indent, line.size()));
    if (line.size() <= width || (indent > 0 && before.back() != ' ')) {
      out.append(line).append("\n");
      continue;
    }
    for (const std::string& part : wrap(line.substr(indent), width - indent)) {
      out.append(before).append(indent - before.size(), ' ').append(part).append("\n");
      before = {};
    }
  }
  return out;
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

ParsedVerb parser_of(const Verb& verb) {
  ParsedVerb parsed;
  parsed.app = std::make_unique<CLI::App>(verb.summary, fmt::format("bulkhead {}", verb.name));
  parsed.app->set_help_flag("--help,-h", "print this and exit");
  parsed.app->formatter(std::make_shared<OptionFormatter>());
  parsed.app->get_formatter()->column_width(description_column());
  CommandLine line(*parsed.app);
  parsed.action = verb.add(line);
  return parsed;
}

std::string help_text(const Verb& verb, const CLI::App& app) {
  std::string text = app.help();
  // CLI11 lists "Positionals" and "Options" under a usage line, which knows nothing of a command.
  constexpr std::string_view kUsage = "[OPTIONS]";
  const size_t at = text.find(kUsage);
  if (verb.rest != nullptr && at != std::string::npos)
    text.insert(at + kUsage.size(), fmt::format(" [--] {}", verb.rest));
  // One empty line between groups, none at the end.
  for (size_t gap = 0; (gap = text.find("\n\n\n")) != std::string::npos;) text.erase(gap, 1);
  if (text.ends_with("\n\n")) text.pop_back();
  return fitted(text, help_width(), description_column());
}

std::string help_text() {
  std::string text =
      "Permissions for untrusted programs: runs them with exactly the access that you grant.\n"
      "Usage: bulkhead VERB [OPTIONS]\n\n";
  for (const Verb& verb : kVerbs) text += fmt::format("  {:<12}{}\n", verb.name, verb.summary);
  text +=
      "\n  bulkhead help VERB  how a verb is used\n"
      "  bulkhead --version  its version\n";
  return fitted(text, help_width(), 14);
}

int run_command_line(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) {
    static_cast<void>(write_all(STDERR_FILENO, help_text()));
    return kExitFailed;
  }
  const bool help = words[0] == "help" || words[0] == "--help" || words[0] == "-h";
  const size_t most = words[0] == "help" ? 2 : 1;
  if ((help || words[0] == "--version") && words.size() > most) {
    complain(fmt::format("unexpected argument \"{}\"; `bulkhead --help` tells how it is used",
                         words[most]));
    return kExitFailed;
  }
  // `bulkhead help VERB` is `bulkhead VERB --help`.
  if (words.size() > 1 && help) {
    words = {words[1], "--help"};
  } else if (help) {
    return print(help_text()) ? 0 : kExitFailed;
  }
  if (words[0] == "--version") return print("bulkhead " BULKHEAD_VERSION "\n") ? 0 : kExitFailed;
  const Verb* verb = std::find_if(kVerbs.begin(), kVerbs.end(),
                                  [&](const Verb& one) { return words[0] == one.name; });
  if (words[0] == kHost.name) verb = &kHost;
  if (words[0] == kIsolate.name) verb = &kIsolate;
  if (verb == kVerbs.end()) return unknown_verb(words[0]);
  words.erase(words.begin());

  // A parser of its own for each verb: as a subcommand, CLI11 would take the word "run" in
  // `bulkhead explain run git` for the verb.
  ParsedVerb parsed = parser_of(*verb);
  std::vector<std::string> rest;
  if (verb->rest != nullptr) {
    Split split = split_command(*parsed.app, words);
    words = std::move(split.ours);
    rest = std::move(split.command);
  }
  // CLI11 reports by exceptions, --help among them; none leaves this function.
  try {
    std::reverse(words.begin(), words.end());
    parsed.app->parse(words);
  } catch (const CLI::CallForHelp&) {
    return print(help_text(*verb, *parsed.app)) ? 0 : kExitFailed;
  } catch (const CLI::Error& error) {
    complain(fmt::format("{}; `bulkhead help {}` tells how it is used",
                         complaint(*parsed.app, error), verb->name));
    return kExitFailed;
  }
  return parsed.action(rest);
}

}  // namespace bulkhead
