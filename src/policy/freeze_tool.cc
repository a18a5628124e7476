// Makes frozen_files() while bulkhead is built: freeze_tool MANIFESTS NAME... > frozen_files.cc
#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "policy/frozen.h"

namespace bulkhead {
namespace {

template <typename T>
Result<std::string> frozen(const Result<T>& parsed) {
  if (!parsed.ok()) return parsed.error();
  return freeze(*parsed);
}

Result<std::string> frozen_file(const std::string& name, const ManifestBytes& bytes) {
  if (name.starts_with("sets/")) return frozen(parse_set(bytes));
  if (name == "blocklist.json") return frozen(parse_blocklist(bytes, Blocklist::Source::kBuiltin));
  if (name == "telemetry.json")
    return frozen(parse_blocklist(bytes, Blocklist::Source::kTelemetry));
  return frozen(parse_manifest(bytes));
}

// As numbers: no literal may be as long as the blocklist.
void print_array(const std::string& name, const std::string& bytes) {
  fmt::print("constexpr char {}[] = {{", name);
  for (size_t i = 0; i < bytes.size(); ++i)
    fmt::print("{}{}", i % 24 == 0 ? "\n" : "", fmt::format("{},", static_cast<int>(bytes[i])));
  fmt::print("}};\n");
}

int make(const std::string& folder, int count, char** names) {
  fmt::print("#include \"policy/frozen.h\"\n\nnamespace bulkhead {{\nnamespace {{\n\n");
  std::string list;
  for (int i = 0; i < count; ++i) {
    const std::string file = folder + "/" + names[i];
    std::ifstream stream(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    const auto frozen = frozen_file(names[i], ManifestBytes::of(file, bytes));
    if (!frozen.ok()) {
      std::fprintf(stderr, "%s\n", to_string(frozen.error()).c_str());
      return 1;
    }
    print_array(fmt::format("kBytes{}", i), bytes);
    print_array(fmt::format("kFrozen{}", i), *frozen);
    list += fmt::format(
        "    {{\"{0}\", {{kBytes{1}, sizeof kBytes{1}}}, {{kFrozen{1}, sizeof kFrozen{1}}}}},\n",
        names[i], i);
  }
  fmt::print("\nconstexpr FrozenFile kFiles[] = {{\n{}}};\n\n}}  // namespace\n\n", list);
  fmt::print(
      "std::span<const FrozenFile> frozen_files() noexcept {{ return kFiles; }}\n\n"
      "}}  // namespace bulkhead\n");
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bulkhead

int main(int argc, char** argv) {
  return argc < 3 ? 2 : bulkhead::make(argv[1], argc - 2, argv + 2);
}
