// Contexts: what conditions of menus and keys read ("when"). The editor's say where a person
// writes, what has the focus and what is shown, and keys answer questions by them. A host sets
// those of its own extensions and no others.
#include <algorithm>
#include <cctype>
#include <string_view>

#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

namespace {

constexpr size_t kMostContexts = 10'000;

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_.:/-").find(c) != std::string_view::npos;
}

// The first words of contexts that the editor makes of what there is: settings, views.
bool is_made_by_editor(const std::string& key) {
  static const std::set<std::string> kFamilies = {"config", "view", "workbench", "editor",
                                                  "vscode"};
  const std::string name = lower_case(key);
  return name.starts_with("bulkhead") || kFamilies.contains(command_family(name));
}

// Names and words; the latter do no harm.
void collect_names(std::string_view text, std::set<std::string>& into) {
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = std::find_if(at, text.end(), is_of_name);
    at = std::find_if_not(begin, text.end(), is_of_name);
    if (begin != at && into.size() < kMostContexts) into.emplace(begin, at);
  }
}

// What the conditions of a declaration read: "when", "enablement", and what ends a walkthrough's
// step.
void collect_conditions(const Json& value, std::set<std::string>& into, int depth = 0) {
  constexpr std::string_view kEvent = "onContext:";
  if (depth > 20) return;
  for (const auto& [key, member] : value.items()) {
    if (member.is_structured()) collect_conditions(member, into, depth + 1);
    if (!member.is_string()) continue;
    const auto& text = member.get_ref<const std::string&>();
    if (value.is_object() && (key == "when" || key == "enablement")) collect_names(text, into);
    if (text.starts_with(kEvent)) collect_names(std::string_view(text).substr(kEvent.size()), into);
  }
}

}  // namespace

// With mutex_ held.
void Broker::learn_contexts(const Json& description, bool is_own, bool is_builtin) {
  const auto contributes = description.find("contributes");
  if (contributes == description.end() || !contributes->is_structured()) return;
  collect_conditions(*contributes, is_own ? own_contexts_ : others_contexts_);
  if (is_builtin && !is_own) collect_conditions(*contributes, builtins_contexts_);
}

// One that begins with the name or the publisher of an extension of this host, or that a condition
// of its package reads, and no other package's. What the editor's own extensions read is theirs,
// for anybody can be called like one ("gitOpenRepositoryCount" of "some.git").
bool Broker::owns_context(const std::string& key) const {
  const std::string name = lower_case(key);
  const std::lock_guard lock(mutex_);
  const bool family =
      std::any_of(own_families_.begin(), own_families_.end(), [&](const std::string& own) {
        return name.starts_with(own) &&
               (name.size() == own.size() ||
                std::isalnum(static_cast<unsigned char>(key[own.size()])) == 0 ||
                std::isupper(static_cast<unsigned char>(key[own.size()])) != 0);
      });
  if (own_builtins_.empty() && builtins_contexts_.contains(key)) return false;
  if (others_contexts_.contains(key))
    return family && !others_families_.contains(command_family(name));
  return family || own_contexts_.contains(key);
}

// VS Code makes texts of what is none: "x" of ["x"].
Broker::Ruling Broker::decide_context(const Json& key, const Asked& asked) {
  const std::string name = text_of(key);
  // Git says for the editor whether a file has conflicts, wherever Git runs.
  const bool is_builtins = [&] {
    const std::lock_guard lock(mutex_);
    return is_of_own_builtin(name);
  }();
  if (!key.is_string() || is_made_by_editor(name) ||
      (options_.commands.has_context(name) && !is_builtins))
    return refuse(asked, json_string(key).substr(0, 200),
                  "says what only the editor or Bulkhead says");
  if (is_builtins || owns_context(name)) return Ruling::pass();
  // An error would end who does not expect one. What nobody reads has no effect at all.
  const bool is_others = [&] {
    const std::lock_guard lock(mutex_);
    return others_contexts_.contains(name);
  }();
  if (is_others)
    arbiter_.note_refusal(Kind::kVscode, "context " + name.substr(0, 200),
                          "is no context of this extension", Attempt{0, 0, asked.method, nullptr});
  return Ruling::quiet();
}

}  // namespace bulkhead
