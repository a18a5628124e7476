// The workbench's first message, which holds what extensions wrote into their package.json: what is
// understood names plain ids and folders, is withheld from, and is understood again.

#include <cstdint>

#include "base/path.h"
#include "require.h"
#include "vscode/initial_data.h"

using namespace bulkhead;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto initial = InitialData::parse({data, size});
  if (!initial.ok()) return 0;
  const HostIdentity identity = initial->identity();
  require(is_canonical(identity.logs) && is_canonical(identity.global_storage),
          "folders are canonical");
  for (const HostExtension& each : identity.extensions) {
    require(is_canonical(each.folder), "an extension's folder is canonical");
    require(each.id.find('/') == std::string::npos && each.id.find("..") == std::string::npos,
            "an id is a name");
    for (const std::string& storage : identity.storage_of(each))
      require(is_canonical(storage) &&
                  (is_within(storage, identity.global_storage) ||
                   is_within(storage, identity.workspace_storage)) &&
                  storage != identity.global_storage && storage != identity.workspace_storage,
              "storage lies in the storage folders");
  }
  initial->withhold();
  const auto bytes = initial->bytes();
  const auto again = InitialData::parse(bytes);
  require(again.ok(), "what is withheld from is understood again");
  require(again->identity() == identity, "as the same");
  initial->remove_extensions();
  const auto none = InitialData::parse(initial->bytes());
  require(none.ok() && none->identity().extensions.empty(), "without extensions there are none");
  return 0;
}
