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

// A name of the editor's, such as "inputFocus": it has no extension's before it.
bool is_focus(const std::string& key) {
  return key.find_first_of(".:") == std::string::npos &&
         lower_case(key).find("focus") != std::string::npos;
}

// What stands in the conditions of a declaration: names and words, of which the latter do no harm.
void collect_conditions(const Json& value, std::set<std::string>& into, int depth = 0) {
  if (depth > 20 || into.size() > kMostContexts) return;
  for (const auto& [key, member] : value.items()) {
    if (member.is_structured()) collect_conditions(member, into, depth + 1);
    if (!value.is_object() || !member.is_string() || (key != "when" && key != "enablement"))
      continue;
    const auto& text = member.get_ref<const std::string&>();
    for (size_t at = 0; at < text.size();) {
      const auto begin =
          std::find_if(text.begin() + static_cast<ptrdiff_t>(at), text.end(), is_of_name);
      const auto end = std::find_if_not(begin, text.end(), is_of_name);
      if (begin != end) into.emplace(begin, end);
      at = static_cast<size_t>(end - text.begin()) + 1;
    }
  }
}

}  // namespace

// With mutex_ held.
void Broker::learn_contexts(const Json& description, bool is_own) {
  const auto contributes = description.find("contributes");
  if (contributes == description.end() || !contributes->is_structured()) return;
  collect_conditions(*contributes, is_own ? own_contexts_ : others_contexts_);
}

// One that begins with the name or the publisher of an extension of this host, or that a condition
// of its package reads, and no other package's.
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
  if (others_contexts_.contains(key))
    return family && !others_families_.contains(command_family(name));
  return family || own_contexts_.contains(key);
}

// VS Code makes texts of what is none: "x" of ["x"].
Broker::Ruling Broker::decide_context(const Json& key, const Asked& asked) {
  const std::string name = text_of(key);
  if (!key.is_string() || is_made_by_editor(name) || is_focus(name) ||
      options_.commands.has_context(name))
    return refuse(asked, dumped(key).substr(0, 200), "says what only the editor or Bulkhead says");
  if (owns_context(name)) return Ruling::pass();
  // What nobody reads has no effect, and an error would end who does not expect one.
  arbiter_.note_refusal(Kind::kVscode, "context " + name.substr(0, 200),
                        "is no context of this extension", Attempt{0, 0, asked.method, nullptr});
  return Ruling::quiet();
}

}  // namespace bulkhead
