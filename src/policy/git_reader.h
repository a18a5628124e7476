// GitReader: the settings of a git configuration, one after the other, as git reads them
// (git-config(1), "Syntax").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bulkhead {

struct GitSetting {
  std::string section, subsection, name, value;  // section and name in lower case
  bool has_subsection = false;
  int line = 0;
};

// Pure. `text` must outlive it.
class GitReader {
 public:
  explicit GitReader(std::string_view text);

  // The next setting; nullopt at the end. An error where git could not read it either.
  Result<std::optional<GitSetting>> next();

 private:
  Error wrong(std::string_view what) const;
  char take();
  void skip_line();
  void skip_blank();
  Status read_header();
  Result<GitSetting> read_setting();
  Result<std::string> read_value();

  std::string_view rest_;
  int line_ = 1;
  std::string section_, subsection_;
  bool has_subsection_ = false;
};

}  // namespace bulkhead
