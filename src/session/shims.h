// Shims: programs of a folder for PATH, each of which runs the real one of its name in a
// compartment.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/config.h"

namespace bulkhead {

// Below bulkhead's own data, where no compartment may write, whatever it is granted: what stands
// there comes before everything else in the person's PATH.
std::string shims_folder(const Places& places);

// The folders of PATH without that of the shims, by whichever name it is there: a compartment's
// programs find the real ones.
std::string path_without_shims(const std::string& path, const std::string& folder);
// The same done to this process's PATH.
void leave_shims();

class Shims {
 public:
  // `program`: bulkhead, as shims are to start it.
  Shims(std::string folder, std::string program)
      : folder_(std::move(folder)), program_(std::move(program)) {}

  const std::string& folder() const { return folder_; }
  // Makes one. False where it was there as it should be. An error where the name is no program's in
  // `search_path`, or where something else has the file's name.
  Result<bool> add(const std::string& name, const std::vector<std::string>& search_path) const;
  // Removes one; an error where there is none, or what is there is nobody's shim.
  Status remove(const std::string& name) const;
  // The names of those there are, sorted. Nothing else in the folder is told.
  Result<std::vector<std::string>> list() const;

 private:
  std::string file_of(const std::string& name) const;

  std::string folder_, program_;
};

}  // namespace bulkhead
