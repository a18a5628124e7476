#include "cli/command_line.h"

#include <CLI/App.hpp>

namespace bulkhead {

Option Option::type_name(const std::string& name) const { return Option(option_->type_name(name)); }
Option Option::group(const std::string& name) const { return Option(option_->group(name)); }
Option Option::required() const { return Option(option_->required()); }
Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }
Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }
bool Option::given() const { return option_->count() > 0; }

Option Option::repeatable() const {
  return Option(option_->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll));
}

Option Option::check(const std::function<std::string(const std::string&)>& wrong) const {
  return Option(option_->check(wrong));
}

Option Option::in_range(int least, int most) const {
  return Option(option_->check(CLI::Range(least, most).description("")));
}

Option CommandLine::add_option(const std::string& name, std::string& into,
                               const std::string& about) {
  return Option(app_.add_option(name, into, about));
}
Option CommandLine::add_option(const std::string& name, std::vector<std::string>& into,
                               const std::string& about) {
  return Option(app_.add_option(name, into, about));
}
Option CommandLine::add_option(const std::string& name, int& into, const std::string& about) {
  return Option(app_.add_option(name, into, about));
}
Option CommandLine::add_option(const std::string& name, uint64_t& into, const std::string& about) {
  return Option(app_.add_option(name, into, about));
}
Option CommandLine::add_option(const std::string& name, std::optional<uint32_t>& into,
                               const std::string& about) {
  return Option(app_.add_option(name, into, about));
}
Option CommandLine::add_option(const std::string& name, std::optional<double>& into,
                               const std::string& about) {
  return Option(app_.add_option(name, into, about));
}
Option CommandLine::add_flag(const std::string& name, bool& into, const std::string& about) {
  return Option(app_.add_flag(name, into, about));
}
Option CommandLine::add_flag(const std::string& name, std::optional<std::string>& into,
                             const std::string& about) {
  return Option(app_.add_flag(name, into, about));
}
void CommandLine::examples(const std::string& lines) {
  app_.description(app_.get_description() + "\n\n" + lines + "\n");
}
void CommandLine::footer(const std::string& text) { app_.footer(text); }

}  // namespace bulkhead
