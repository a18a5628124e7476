// Command line: what may stand after a verb. CLI11 parses it, whose header is the heaviest of all:
// it is read where parsers are made and asked, and nowhere else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace bulkhead {

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option type_name(const std::string& name) const;
  Option group(const std::string& name) const;
  Option required() const;
  // Any number of times, each with one word.
  Option repeatable() const;
  Option needs(Option other) const;
  Option excludes(Option other) const;
  // `wrong` says what is wrong with a word, or nothing.
  Option check(const std::function<std::string(const std::string&)>& wrong) const;
  Option in_range(int least, int most) const;

  // Whether it was there, once the line is parsed.
  bool given() const;

 private:
  CLI::Option* option_;
};

class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(app) {}

  Option add_option(const std::string& name, std::string& into, const std::string& about);
  Option add_option(const std::string& name, std::vector<std::string>& into,
                    const std::string& about);
  Option add_option(const std::string& name, int& into, const std::string& about);
  Option add_option(const std::string& name, uint64_t& into, const std::string& about);
  Option add_option(const std::string& name, std::optional<uint32_t>& into,
                    const std::string& about);
  Option add_option(const std::string& name, std::optional<double>& into, const std::string& about);
  Option add_flag(const std::string& name, bool& into, const std::string& about);
  // "--name{}": --name, or --name=VALUE.
  Option add_flag(const std::string& name, std::optional<std::string>& into,
                  const std::string& about);
  // Commands to copy, one a line, before everything else that the help says.
  void examples(const std::string& lines);
  void footer(const std::string& text);

 private:
  CLI::App& app_;
};

}  // namespace bulkhead
