// How the broker decides on a command that a host runs: by its name, what it opens, and each
// resource among its arguments.
#include <algorithm>
#include <optional>

#include "base/path.h"
#include "vscode/broker_parts.h"
#include "vscode/disarm.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

namespace {

constexpr const char* kSaidInChats[] = {"request", "response"};

// "setContext" and "_setContext".
bool sets_context(const std::string& command) { return command.ends_with("etContext"); }

// What a chat is said to have heard and answered before: as texts, for a part of an answer may edit
// files or be a button that runs anything.
bool is_plain_chat(const Json& value) {
  return !anywhere(value, [](const Json& one) {
    return std::any_of(std::begin(kSaidInChats), std::end(kSaidInChats), [&](const char* key) {
      const auto said = one.is_object() ? one.find(key) : one.end();
      return said != one.end() && !said->is_string() && !is_none(*said);
    });
  });
}

// What a chat's command is given that sends a text to whatever agent and tools a person has chosen
// there, or chooses these: without it the text stands in the chat's field until a person sends it.
bool steers_agent(const Json& given) {
  if (given.is_string()) return !given.get_ref<const std::string&>().empty();
  if (!given.is_object()) return false;
  const auto said = [&](const char* key) {
    const auto found = given.find(key);
    return found != given.end() && !is_none(*found) && *found != false && *found != "";
  };
  if (said("mode") || said("agentMode") || said("toolsInclude") || said("toolsExclude") ||
      said("toolIds"))
    return true;
  return (said("query") || said("inputValue")) && given.value("isPartialQuery", Json()) != true;
}

}  // namespace

std::string Broker::permission_of(const std::string& command) {
  if (!options_.commands.has(command) && shows_own_view(command)) return "commands";
  return options_.commands.needs(command);
}

// What VS Code makes for each view that a package declares, and for each container of such.
bool Broker::shows_own_view(const std::string& command) {
  constexpr std::string_view kContainer = "workbench.view.extension.";
  if (command.starts_with(kContainer))
    return owns_part("container/" + command.substr(kContainer.size()));
  const size_t dot = command.rfind('.');
  if (dot == std::string::npos || command.substr(dot) != ".focus") return false;
  const std::string view = command.substr(0, dot);
  return owns_part(view) && (!is_editors_family(view) || knows(builtin_views_, view));
}

// What it takes to have a command open something in another viewer than text editors and its own:
// previews and notebooks load what they show from the network. Empty where nothing is needed.
std::string Broker::viewer_needs(const std::string& command, const Json& arguments) {
  if (!command.starts_with("vscode.") && !command.starts_with("_workbench.")) return {};
  const auto is_foreign = [&](const std::string& view) {
    return !view.empty() && view != "default" && !knows(own_views_, view) &&
           !knows(own_views_, "notebook/" + view);
  };
  const bool chosen =
      command.ends_with(".openWith") && is_foreign(text_of(at(at(arguments, 1), 1)));
  if (chosen || anywhere(arguments, [&](const Json& one) {
        return one.is_object() && is_foreign(text_of(one.value("override", Json())));
      }))
    return "commands-foreign";
  const bool notebook = anywhere(arguments, [&](const Json& one) {
    const auto uri =
        one.is_string() ? resource_text(one.get_ref<const std::string&>()) : std::optional(one);
    const auto resource = uri ? parse_resource(*uri, remote_authority_) : std::nullopt;
    return resource && lower_case(resource->path).ends_with(".ipynb");
  });
  return notebook ? "notebooks" : "";
}

// A command that it has registered, and that nobody has declared since: whoever comes last has it.
bool Broker::runs_own(const std::string& command) {
  const std::lock_guard lock(mutex_);
  return registered_commands_.contains(command) &&
         (declared_.contains(command) || !others_declared_.contains(command));
}

// There is no such command, nor one of its family that somebody else may register: there is nothing
// to ask about. What begins with "_" is not declared, and may come late.
bool Broker::is_nobodys(const std::string& command) const {
  if (command.starts_with('_') || is_editors_family(command) || options_.commands.has(command))
    return false;
  const std::lock_guard lock(mutex_);
  return !existing_commands_.contains(command) && !others_declared_.contains(command) &&
         !declared_.contains(command) && !others_families_.contains(command_family(command));
}

// A command for which an extension of this host is activated, and which it registers then: of one
// that another depends on, or of the TypeScript that a plug-in has brought in.
bool Broker::wakes_own(const std::string& command) {
  if (owns_command(command)) return true;
  const std::lock_guard lock(mutex_);
  return builtins_wakers_.contains(command) && is_of_own_builtin(command) &&
         !others_declared_.contains(command) && !existing_commands_.contains(command) &&
         !options_.commands.has(command);
}

// Those that the table has: "git.openResource", "_git.checkout", "editor.emmet.action.mergeLines".
bool Broker::is_of_own_builtin(std::string_view command) const {
  command.remove_prefix(std::min(command.find_first_not_of('_'), command.size()));
  while (!command.empty()) {
    const std::string_view word = command.substr(0, command.find('.'));
    if (own_builtins_.contains(std::string(word))) return true;
    command.remove_prefix(std::min(word.size() + 1, command.size()));
  }
  return false;
}

Broker::Ruling Broker::decide_command(const Json& value, const Json& arguments,
                                      const Asked& asked) {
  const std::string command = text_of(value);
  if (runs_own(command) || wakes_own(command)) return Ruling::pass();
  const std::string needs = permission_of(command);
  const std::string detail = asked.method + " " + command;
  if (needs == "refuse")
    return refuse(asked.about(detail), command, "extensions in a compartment cannot run it");
  if (needs == CommandTable::kForeign && is_nobodys(command))
    return Ruling::deny("command '" + command + "' not found");
  if (needs != "free") {
    Ruling ruling = decide_permission(needs, asked.about(detail));
    if (!ruling.passes()) return ruling;
  }
  // What these change or copy is whatever a person has before them.
  Ruling active = Ruling::pass();
  if (needs == "workspace-edit" || needs == "clipboard")
    active = decide_active(asked.about(detail));
  if (!active.passes()) return active;
  Effort effort;
  Ruling given = decide_given(command, arguments, asked.about(detail), effort);
  return given.passes() ? active : given;
}

// Whether texts among its arguments are resources; of a command that nobody has read they may be.
bool Broker::names_resources(const std::string& command) {
  return options_.commands.reads_texts(command) || permission_of(command) == CommandTable::kForeign;
}

// An argument, or a member of one, of which the table says what the command does with it.
Broker::Ruling Broker::decide_used(const CommandArgument& rule, const Json& given,
                                   const Asked& asked) {
  const Json* value = &at(given, rule.place.value_or(0));
  for (const std::string& member : rule.members) {
    const auto found = value->is_object() ? value->find(member) : value->end();
    value = value->is_object() && found != value->end() ? &*found : &kNull;
  }
  if (is_none(*value) || *value == false) return Ruling::pass();
  std::string shown;
  for (const std::string& member : rule.members) shown += (shown.empty() ? "" : ".") + member;
  shown += (shown.empty() ? "" : " ") + json_string(*value).substr(0, 200);
  if (rule.use == CommandUse::kRefused)
    return refuse(asked, shown, "is not for an extension to say there");
  const auto resource =
      value->is_string() ? resource_text(text_of(*value), true) : std::optional<Json>(*value);
  if (!resource) return refuse(asked, shown, "is no resource");
  return rule.use == CommandUse::kWrite ? decide_written(*resource, asked)
                                        : decide_file(Kind::kRead, *resource, asked);
}

// Some commands run others that they are given: the first of these that it may not run, which
// nobody is asked about. A text is one where there is such a command: a debugger's is "npm start".
std::string Broker::unfit_command(const Json& value, Effort& effort, int depth) {
  if (depth > 20) return "what is nested too deep";
  if (!value.is_structured()) return {};
  const auto is_known = [this](const std::string& name) {
    const std::lock_guard lock(mutex_);
    return existing_commands_.contains(name) || others_declared_.contains(name) ||
           options_.commands.has(name);
  };
  // Who runs it takes one of the two names, and one of the two lists.
  const auto may_run = [&](const std::string& name, const Json& beside) {
    for (const char* list : {"arguments", "args"}) {
      const auto found = beside.is_object() ? beside.find(list) : beside.end();
      const bool none = !beside.is_object() || found == beside.end() || is_none(*found);
      if (!effort.spend(none ? kNull : *found)) return false;
      Json given = none ? Json::array() : *found;
      if (!given.is_array()) given = Json::array({given});
      if (!may_offer(name, &given, effort)) return false;
    }
    return true;
  };
  const auto unfit = [&](const Json& one, const Json& beside) -> std::string {
    if (one.is_string()) {
      const std::string name = text_of(one);
      return !is_known(name) || may_run(name, beside) ? std::string() : name;
    }
    bool named = false;
    for (const char* key : {"id", "command"}) {
      const std::string name = one.is_object() ? text_of(one.value(key, Json())) : std::string();
      if (name.empty()) continue;
      if (!may_run(name, one)) return name;
      named = true;
    }
    return named ? std::string() : unfit_command(one, effort, depth + 1);
  };
  for (const auto& [key, member] : value.items()) {
    std::string found;
    if (!value.is_object() || !holds_command(key))
      found = unfit_command(member, effort, depth + 1);
    else if (!member.is_array())
      found = unfit(member, value);
    else
      for (const Json& each : member)
        if (found = unfit(each, value); !found.empty()) break;
    if (!found.empty()) return found;
  }
  return {};
}

// What a command is given, which itself may be run. The command stands first among the arguments.
Broker::Ruling Broker::decide_given(const std::string& command, const Json& arguments,
                                    const Asked& asked, Effort& effort) {
  if (permission_of(command) == "workspace-folders")
    if (Ruling ruling = decide_opening(command, at(arguments, 1), asked); !ruling.passes())
      return ruling;
  if (sets_context(command))
    if (Ruling ruling = decide_context(at(at(arguments, 1), 0), asked); !ruling.passes())
      return ruling;
  for (const CommandArgument& rule : options_.commands.arguments(command))
    if (rule.place)
      if (Ruling ruling = decide_used(rule, at(arguments, 1), asked); !ruling.passes())
        return ruling;
  // What stands in it is run by the next Enter, whatever that was meant for: commands (">", of
  // which the last one stands first), tasks, terminals ("task ", "term ").
  if (const std::string typed = text_of(at(at(arguments, 1), 0));
      command == "workbench.action.showCommands" ||
      (command == "workbench.action.quickOpen" &&
       (typed.starts_with('>') || typed.find(' ') != std::string::npos)))
    return refuse(asked, command, "puts a command before a person's next Enter");
  if ((command == "workbench.action.closeActiveEditor" || command == "moveActiveEditor" ||
       command.starts_with("workbench.action.moveEditor")) &&
      our_page_is_in_front())
    return refuse(asked, command, kTakesOurPage);
  if (const std::string shows = viewer_needs(command, arguments); !shows.empty())
    if (Ruling ruling = decide_permission(shows, asked); !ruling.passes()) return ruling;
  // Resources in a command's arguments are opened, compared or revealed: each must be readable.
  const bool names = names_resources(command);
  // The first, and of a comparison the second, are addresses, however they are written.
  const bool opens = options_.commands.reads_texts(command) && !command.ends_with(".changes");
  const size_t places = !opens ? 0 : command.ends_with("diff") ? 2 : 1;
  for (size_t i = 0; i < places; ++i) {
    const std::string text = text_of(at(at(arguments, 1), i));
    const auto place = resource_text(text) ? std::nullopt : resource_text(text, true);
    if (!place) continue;  // or judged below
    if (Ruling ruling = decide_argument(*place, names, asked, 0); !ruling.passes()) return ruling;
  }
  for (size_t i = 1; i < arguments.size(); ++i) {
    Ruling ruling = decide_argument(arguments[i], names, asked, 0);
    if (!ruling.passes()) return ruling;
  }
  if (permission_of(command) == "language-models" && steers_agent(at(at(arguments, 1), 0)))
    if (Ruling ruling = decide_permission(CommandTable::kForeign, asked); !ruling.passes())
      return ruling;
  if (permission_of(command) == "language-models" && !is_plain_chat(at(arguments, 1)))
    return refuse(asked, command, "says what a chat has answered before otherwise than as text");
  if (sets_context(command)) return Ruling::pass();  // kept as it is
  if (const std::string named = unfit_command(at(arguments, 1), effort); !named.empty())
    return refuse(asked, named, "is run by what it is given to, and may not be");
  return Ruling::pass();
}

// Whether a person who clicks may run it for the host: nobody is asked then. `arguments` is null
// where they stand in a text, which has many ways to spell them.
bool Broker::may_offer(const std::string& command, const Json* arguments, Effort& effort) {
  // A link's escapes are read before it runs, and then it names another one.
  if (command.find('%') != std::string::npos) return false;
  if (runs_own(command) || owns_command(command)) return true;
  const std::string needs = permission_of(command);
  if (needs != "free" && (needs == "refuse" || !granted(needs))) return false;
  // Writes into whatever has the focus by then.
  const bool edits = needs == "workspace-edit" || needs == "clipboard";
  const bool writes = edits && (!command.starts_with("editor.action.") ||
                                command.ends_with("Snippet") || command.ends_with("showSnippets"));
  const bool judged = writes || needs == "workspace-folders" || needs == "language-models" ||
                      sets_context(command) || command == "workbench.action.quickOpen" ||
                      command.starts_with("vscode.") ||
                      !options_.commands.arguments(command).empty();
  if (arguments == nullptr) return !judged;
  if (is_none(*arguments)) return true;
  if (!judged && !names_resources(command) && !anywhere(*arguments, is_resource_like))
    return unfit_command(*arguments, effort).empty();
  if (!arguments->is_array()) return false;
  if (arguments->empty()) return true;
  if (writes) return false;
  return decide_given(command, Json::array({command, *arguments}),
                      {"a command that is offered " + command, 0, false}, effort)
      .passes();
}

// Objects are resources to whoever expects one, marked or not. A text is one where the command
// takes texts for resources, and everywhere where it says of itself that it is a file.
Broker::Ruling Broker::decide_argument(const Json& value, bool names_resources, const Asked& asked,
                                       int depth) {
  if (depth > 20) return Ruling::deny("bulkhead: arguments that are nested too deep");
  const auto decide = [&](const Json& uri) {
    const std::string scheme = lower_case(text_of(uri.value("scheme", Json())));
    if (scheme == "http" || scheme == "https" || scheme == "mailto")
      return decide_external(uri, asked);
    return decide_file(Kind::kRead, uri, asked);
  };
  const bool is_resource = is_resource_like(value);
  if (is_resource) {
    Ruling ruling = decide(value);
    if (!ruling.passes()) return ruling;
  }
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    const auto uri = resource_text(text);
    if (!uri) return Ruling::pass();
    const bool says_so =
        lower_case(text.substr(0, 5)) == "file:" || lower_case(text).starts_with("vscode-");
    return names_resources || says_so ? decide(*uri) : Ruling::pass();
  }
  if (value.is_structured()) {
    for (const Json& child : value) {
      if (is_resource && !child.is_structured()) continue;  // its own path
      Ruling ruling = decide_argument(child, names_resources, asked, depth + 1);
      if (!ruling.passes()) return ruling;
    }
  }
  return Ruling::pass();
}

// Opens a folder, which has to be readable like every resource of a command. A workspace file would
// name further ones, and other options choose a profile or a server.
Broker::Ruling Broker::decide_opening(const std::string& command, const Json& given,
                                      const Asked& asked) {
  const bool opens = command == "vscode.openFolder";
  const Json folder = opens ? at(given, 0) : Json();
  const Json options = at(given, opens ? 1 : 0);
  if (!is_none(folder)) {
    const auto resource = parse_resource(folder, remote_authority_);
    if (!resource) return refuse(asked, json_string(folder).substr(0, 200), "is no folder");
    if (lower_case(resource->scheme) == "untitled" ||
        lower_case(normalize(resource->path)).ends_with(".code-workspace"))
      return refuse(asked, resource->path, "opens a workspace file, which can name any folder");
  }
  if (options.is_object() && !is_none(options))
    for (const auto& [key, value] : options.items())
      if (key != "forceNewWindow" && key != "forceReuseWindow" && key != "reuseWindow" &&
          key != "noRecentEntry" && key != "filesToOpen" && !is_none(value) && value != false)
        return refuse(asked, key, "opens a folder in another way than as it is");
  return Ruling::pass();
}

}  // namespace bulkhead
