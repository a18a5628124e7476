// bulkhead completion: scripts for bash, zsh and fish, made from the option tables that the command
// line is parsed by, so that they cannot drift from it.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>

#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/config.h"
#include "sandbox/limits/outcome.h"

namespace bulkhead {
namespace {

struct Word {
  std::vector<std::string> names;  // "--follow", "-f"
  std::string about;
  std::string type;  // empty: takes no value
};

// "all|ssh-keys|…": what --unblock takes. None where the blocklist cannot be read, of which other
// verbs complain.
std::string built_in_groups() {
  const auto places = find_places();
  const auto shipped =
      places.ok() ? load_shipped(*places, LoadSets::kNone) : Result<Shipped>(places.error());
  if (!shipped.ok()) return "";
  std::string names = "all";
  for (const Blocklist& list : shipped->blocklists)
    if (list.source == Blocklist::Source::kBuiltin)
      for (const BlockGroup& group : list.groups) names.append("|").append(group.name);
  return names;
}

std::vector<Word> options_of(const CLI::App& app) {
  static const std::string groups = built_in_groups();
  std::vector<Word> found;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    Word word;
    for (const std::string& name : option->get_lnames()) word.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) word.names.push_back("-" + name);
    word.about = option->get_description();
    if (option->get_items_expected_max() > 0) word.type = option->get_type_name();
    if (word.type == "GROUP" && !groups.empty()) word.type = groups;
    found.push_back(std::move(word));
  }
  return found;
}

// The values that complete a word of this type: a list, files, folders, programs or nothing.
bool is_file_type(std::string_view type) { return type == "FILE" || type == "PATH"; }
bool is_list_type(std::string_view type) { return type.find('|') != std::string_view::npos; }
std::string words_of(std::string type) {
  std::replace(type.begin(), type.end(), '|', ' ');
  return type;
}

std::string positional_words(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() && is_list_type(option->get_type_name()))
      return words_of(option->get_type_name());
  return "";
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string joined(const std::vector<Word>& words) {
  std::string out;
  for (const Word& word : words)
    for (const std::string& name : word.names) out += (out.empty() ? "" : " ") + name;
  return out;
}

std::string verb_names() {
  std::string out;
  for (const Verb& verb : verbs()) out.append(out.empty() ? "" : " ").append(verb.name);
  return out;
}

// How bash completes the value of an option of this type.
std::string bash_values(const std::string& type) {
  if (is_list_type(type)) return "_bulkhead_words " + single_quoted(words_of(type)) + "; ";
  if (is_file_type(type)) return "_bulkhead_files -f; ";
  if (type == "FOLDER") return "_bulkhead_files -d; ";
  if (type == "PROGRAM") return "_bulkhead_files -c; ";
  return "";
}

std::string bash() {
  std::string verbs_text, cases;
  for (const Verb& verb : verbs()) {
    const ParsedVerb parsed = parser_of(verb);
    const CLI::App* sub = parsed.app.get();
    const std::vector<Word> options = options_of(*sub);
    std::string taking;
    for (const Word& word : options) {
      if (word.type.empty()) continue;
      for (const std::string& name : word.names) {
        taking += (taking.empty() ? "" : " ") + name;
        cases += fmt::format("    {}:{}) {}return ;;\n", verb.name, name, bash_values(word.type));
      }
    }
    verbs_text +=
        fmt::format("    {}) options={}; taking={}; words={}; command={} ;;\n", verb.name,
                    single_quoted(joined(options)), single_quoted(taking),
                    single_quoted(positional_words(*sub)), verb.takes_command() ? "yes" : "no");
  }
  return fmt::format(R"(# bash completion for bulkhead: . <(bulkhead completion bash)
_bulkhead_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }}
_bulkhead_files() {{
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}}
_bulkhead() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local verb=${{COMP_WORDS[1]}} options= taking= words= command=no i
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    _bulkhead_words {all}
    return
  fi
  case $verb in
    help) _bulkhead_words {names}; return ;;
{verbs_text}  esac
  # --option=value is three words to bash.
  if [[ $current = = ]]; then current=
  elif [[ $previous = = ]]; then previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  # Where the command of `run` starts, bash completes that command instead.
  if [[ $command = yes ]]; then
    for (( i = 2; i < COMP_CWORD; ++i )); do
      case ${{COMP_WORDS[i]}} in
        --) break ;;
        -*) if [[ ${{COMP_WORDS[i+1]}} = = ]]; then (( i += 2 ))
          elif [[ " $taking " = *" ${{COMP_WORDS[i]}} "* ]]; then (( ++i ))
          fi ;;
        *) (( --i )); break ;;
      esac
    done
    if (( i < COMP_CWORD )); then
      if declare -F _command_offset > /dev/null; then _command_offset $(( i + 1 ))
      elif (( i + 1 == COMP_CWORD )); then _bulkhead_files -c
      else _bulkhead_files -f
      fi
      return
    fi
  fi
  case $verb:$previous in
{cases}  esac
  if [[ $current = -* ]]; then _bulkhead_words "$options"
  elif [[ $command = yes ]]; then _bulkhead_files -c
  elif [[ -n $words ]]; then
    _bulkhead_words "$words"
    (( ${{#COMPREPLY[@]}} )) || _bulkhead_files -f
  else _bulkhead_files -f
  fi
}}
complete -F _bulkhead bulkhead
)",
                     fmt::arg("all", single_quoted(verb_names() + " help --help --version")),
                     fmt::arg("names", single_quoted(verb_names())),
                     fmt::arg("verbs_text", verbs_text), fmt::arg("cases", cases));
}

// zsh's _arguments gives ":", "[" and "]" a meaning of their own.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const std::string& type) {
  if (is_list_type(type)) return "(" + words_of(type) + ")";
  if (is_file_type(type)) return "_files";
  if (type == "FOLDER") return "_files -/";
  if (type == "PROGRAM") return "_command_names -e";
  return " ";
}

std::string zsh() {
  std::string list, cases;
  for (const Verb& verb : verbs()) {
    const ParsedVerb parsed = parser_of(verb);
    const CLI::App* sub = parsed.app.get();
    list += "    " + single_quoted(fmt::format("{}:{}", verb.name, zsh_text(verb.summary))) + "\n";
    cases += fmt::format("      {})\n        _arguments -S", verb.name);
    for (const Word& word : options_of(*sub)) {
      for (const std::string& name : word.names) {
        std::string spec = fmt::format("*{}[{}]", name, zsh_text(word.about));
        if (!word.type.empty())
          spec += fmt::format(":{}:{}", zsh_text(word.type), zsh_action(word.type));
        cases += " \\\n          " + single_quoted(spec);
      }
    }
    size_t number = 0;
    for (const CLI::Option* option : sub->get_options()) {
      if (!option->get_positional()) continue;
      const std::string type = option->get_type_name();
      const bool many = option->get_expected_max() > 1;
      cases += " \\\n          " +
               single_quoted(fmt::format("{}:{}:{}", many ? "*" : std::to_string(++number),
                                         option->get_name(true), zsh_action(type)));
    }
    if (verb.rest != nullptr)
      cases += verb.takes_command()
                   ? " \\\n          '*:: :{ [[ $words[1] == -- ]] && shift words && "
                     "(( CURRENT-- )); _normal }'"
                   : " \\\n          '*:file:_files'";
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef bulkhead
# zsh completion for bulkhead: source <(bulkhead completion zsh)
_bulkhead() {{
  local -a verbs
  verbs=(
{list}    'help:how a verb is used'
  )
  local context state line
  _arguments -C '--help[how to use it]' '--version[which version this is]' \
    '1: :->verb' '*:: :->rest'
  case $state in
    verb) _describe 'verb' verbs ;;
    rest)
      case $line[1] in
      help) _describe 'verb' verbs ;;
{cases}      esac ;;
  esac
}}
if [[ $funcstack[1] = _bulkhead ]]; then _bulkhead "$@"; else compdef _bulkhead bulkhead; fi
)",
                     fmt::arg("list", list), fmt::arg("cases", cases));
}

std::string fish() {
  std::string out =
      "# fish completion for bulkhead: bulkhead completion fish | source\n"
      "complete -c bulkhead -f\n"
      "complete -c bulkhead -n __fish_use_subcommand -l help -d 'how to use it'\n"
      "complete -c bulkhead -n __fish_use_subcommand -l version -d 'which version this is'\n"
      "complete -c bulkhead -n __fish_use_subcommand -a help -d 'how a verb is used'\n";
  out += fmt::format("complete -c bulkhead -n '__fish_seen_subcommand_from help' -a {}\n",
                     single_quoted(verb_names()));
  for (const Verb& verb : verbs()) {
    out += fmt::format("complete -c bulkhead -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                       single_quoted(verb.summary));
    const std::string when =
        single_quoted(fmt::format("__fish_seen_subcommand_from {}", verb.name));
    const ParsedVerb parsed = parser_of(verb);
    const CLI::App* sub = parsed.app.get();
    for (const Word& word : options_of(*sub)) {
      out += "complete -c bulkhead -n " + when;
      for (const std::string& name : word.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (is_list_type(word.type))
        out += " -x -a " + single_quoted(words_of(word.type));
      else if (is_file_type(word.type))
        out += " -r -F";
      else if (word.type == "FOLDER")
        out += " -x -a '(__fish_complete_directories)'";
      else if (word.type == "PROGRAM")
        out += " -x -a '(__fish_complete_command)'";
      else if (!word.type.empty())
        out += " -x";
      out += " -d " + single_quoted(word.about) + "\n";
    }
    for (const CLI::Option* option : sub->get_options()) {
      if (!option->get_positional()) continue;
      const std::string type = option->get_type_name();
      if (is_list_type(type))
        out +=
            fmt::format("complete -c bulkhead -n {} -a {}\n", when, single_quoted(words_of(type)));
      else if (is_file_type(type))
        out += fmt::format("complete -c bulkhead -n {} -F\n", when);
    }
    if (verb.rest != nullptr && !verb.takes_command())
      out += fmt::format("complete -c bulkhead -n {} -F\n", when);
    if (verb.takes_command())
      out += fmt::format(
          "complete -c bulkhead -n {} -x -a '(__fish_complete_subcommand --fcs-skip=2)'\n", when);
  }
  return out;
}

}  // namespace

Action add_completion(CommandLine& line) {
  auto shell = std::make_shared<std::string>();
  line.add_option("SHELL", *shell, "which shell").type_name("bash|zsh|fish").required();
  line.footer("Exit code: 0 printed, 125 no such shell, or bulkhead itself failed.");
  return [shell](const std::vector<std::string>&) {
    std::string text;
    if (*shell == "bash")
      text = bash();
    else if (*shell == "zsh")
      text = zsh();
    else if (*shell == "fish")
      text = fish();
    if (text.empty()) {
      complain(fmt::format("no completion for \"{}\": one of bash, zsh, fish", *shell));
      return kExitFailed;
    }
    return print(text) ? 0 : kExitFailed;
  };
}

}  // namespace bulkhead
