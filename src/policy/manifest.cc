#include "policy/manifest.h"

#include <fmt/core.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/hex.h"
#include "base/json.h"
#include "base/path.h"
#include "base/spelling.h"
#include "policy/extension_id.h"
#include "policy/units.h"

namespace bulkhead {

ManifestBytes ManifestBytes::of(std::string file, std::string bytes) {
  ManifestBytes result;
  result.file_ = std::move(file);
  result.bytes_ = std::move(bytes);
  return result;
}

std::string ManifestBytes::digest() const {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes_.data()),
                     bytes_.size());
  return hex(hash);
}

namespace {

using json::Type;
using json::Value;

constexpr size_t kMaxEntry = 4096;  // bytes, as PATH_MAX

// A lower-case word: "ssh-keys".
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

// What to write where a value of this type belongs.
std::string_view form(Type type) {
  switch (type) {
    case Type::kString:
      return "write it in double quotes";
    case Type::kInteger:
      return "write a whole number, without quotes";
    case Type::kArray:
      return "write a list, such as [\"…\", \"…\"]";
    case Type::kObject:
      return "write an object, such as {\"name\": …}";
    case Type::kNull:
    case Type::kBoolean:
    case Type::kNumber:
      break;
  }
  return "write a value of that type";
}

// Reads typed members of a document and collects what is wrong with them.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void complain(const Value& at, std::string message, std::string fix, bool at_key = false) {
    findings_.add(json::finding(file_, at, std::move(message), std::move(fix), at_key));
  }

  // False, with a finding, where `value` is of another type.
  bool expect(const Value& value, Type type) {
    if (value.type == type) return true;
    complain(value, fmt::format("must be {}, not {}", json::label(type), json::label(value.type)),
             std::string(form(type)));
    return false;
  }

  void only(const Value& object, std::span<const std::string_view> known) {
    for (const Value* member : object.items)
      if (std::find(known.begin(), known.end(), member->key) == known.end())
        complain(*member, "unknown name", suggestion(member->key, known), true);
  }

  // The text of a string member; empty, where optional and absent, or with a finding.
  std::string text(const Value& object, std::string_view name, bool required) {
    const Value* value = object.find(name);
    if (value == nullptr) {
      if (required) missing(object, name, fmt::format("add \"{}\": \"…\"", name));
      return {};
    }
    if (!expect(*value, Type::kString)) return {};
    if (value->text.empty())
      complain(*value, "must not be empty",
               required ? "write a name" : "write a text, or remove it");
    return value->text;
  }

  void missing(const Value& object, std::string_view name, std::string fix) {
    complain(object, fmt::format("\"{}\" is missing", name), std::move(fix));
  }

  // "manifest": 1
  void version(const Value& root, std::string_view name, std::string_view noun) {
    const Value* value = root.find(name);
    if (value == nullptr) {
      missing(root, name, fmt::format("add \"{}\": 1", name));
    } else if (expect(*value, Type::kInteger) && value->integer != 1) {
      complain(*value,
               fmt::format("{} version {} is not known to this bulkhead", noun, value->integer),
               fmt::format("write \"{}\": 1, or update bulkhead", name));
    }
  }

  // `numbers`: whole numbers as well, which stand for their text.
  std::vector<Entry> entries(const Value& object, std::string_view name, bool numbers = false) {
    std::vector<Entry> result;
    const Value* list = object.find(name);
    if (list == nullptr || !expect(*list, Type::kArray)) return result;
    result.reserve(list->items.size());
    // The list's path is computed once, not per entry.
    const std::string path = list->path();
    for (const Value* item : list->items) {
      const Location where{file_, item->line, item->column,
                           fmt::format("{}[{}]", path, item->index)};
      if (numbers && item->type == Type::kInteger) {
        result.push_back(Entry{fmt::format("{}", item->integer), where});
        continue;
      }
      if (!expect(*item, Type::kString)) continue;
      if (item->text.empty()) {
        complain(*item, "must not be empty", "remove the entry");
        continue;
      }
      if (item->text.size() > kMaxEntry) {
        complain(*item, fmt::format("longer than {} bytes", kMaxEntry),
                 "shorten it: the kernel takes no longer path");
        continue;
      }
      result.push_back(Entry{item->text, where});
    }
    return result;
  }

  // "network": hosts, or an object that tells hosts from ports.
  void network(const Value& object, std::vector<Entry>& connect, std::vector<Entry>& listen) {
    static constexpr std::array<std::string_view, 2> kKnown = {"connect", "listen"};
    const Value* value = object.find("network");
    if (value == nullptr || value->type != Type::kObject) {
      connect = entries(object, "network");
      return;
    }
    only(*value, kKnown);
    connect = entries(*value, "connect");
    listen = entries(*value, "listen", true);
  }

  std::optional<Otherwise> otherwise(const Value& root, std::string_view name = "otherwise") {
    const Value* value = root.find(name);
    if (value == nullptr || !expect(*value, Type::kString)) return std::nullopt;
    if (value->text == "ask") return Otherwise::kAsk;
    if (value->text != "deny")
      complain(*value, fmt::format("unknown value \"{}\"", escape_for_display(value->text)),
               value->text == "allow" ? "nothing is allowed by default: grant what is needed, and "
                                        "write \"ask\" or \"deny\""
                                      : "write \"ask\" or \"deny\"");
    return Otherwise::kDeny;
  }

  std::optional<bool> truth(const Value& object, std::string_view name) {
    const Value* value = object.find(name);
    if (value == nullptr || !expect(*value, Type::kBoolean)) return std::nullopt;
    return value->boolean;
  }

  Limits limits(const Value& root);

  bool clean() const { return findings_.empty(); }
  Error error(std::string_view noun) && {
    return std::move(findings_).error(fmt::format("{} is no valid {}", file_, noun));
  }

 private:
  std::optional<uint64_t> size(const Value& object, std::string_view name);
  std::optional<std::chrono::milliseconds> duration(const Value& object, std::string_view name);
  std::optional<uint32_t> count(const Value& object, std::string_view name, int64_t most);
  void zero(const Value& value) {
    complain(value, "a limit must be greater than zero", "raise it, or leave it out for no limit");
  }

  const std::string& file_;
  json::Findings findings_;
};

std::optional<uint64_t> Reader::size(const Value& object, std::string_view name) {
  const Value* value = object.find(name);
  if (value == nullptr) return std::nullopt;
  std::optional<uint64_t> bytes;
  if (value->type == Type::kString) {
    bytes = parse_size(value->text);
  } else if (value->type == Type::kInteger && value->integer >= 0) {
    bytes = static_cast<uint64_t>(value->integer);
  }
  if (!bytes) {
    complain(*value, "must be a size", "write a whole number with a unit, such as \"512MiB\"");
  } else if (*bytes == 0) {
    zero(*value);
    return std::nullopt;
  }
  return bytes;
}

std::optional<std::chrono::milliseconds> Reader::duration(const Value& object,
                                                          std::string_view name) {
  const Value* value = object.find(name);
  if (value == nullptr) return std::nullopt;
  const auto time = value->type == Type::kString ? parse_duration(value->text) : std::nullopt;
  if (!time) {
    complain(*value, "must be a duration",
             "write a whole number with the unit ms, s, m or h, such as \"30s\"");
  } else if (time->count() == 0) {
    zero(*value);
    return std::nullopt;
  }
  return time;
}

std::optional<uint32_t> Reader::count(const Value& object, std::string_view name, int64_t most) {
  const Value* value = object.find(name);
  if (value == nullptr || !expect(*value, Type::kInteger)) return std::nullopt;
  if (value->integer == 0) {
    zero(*value);
    return std::nullopt;
  }
  if (value->integer < 0 || value->integer > most) {
    complain(*value, fmt::format("must be from 1 to {}", most),
             "write a number in that range, or leave it out for no limit");
    return std::nullopt;
  }
  return static_cast<uint32_t>(value->integer);
}

Limits Reader::limits(const Value& root) {
  static constexpr std::array<std::string_view, 8> kKnown = {
      "memory", "cpu", "cpu-time", "wall-time", "processes", "files", "written", "home"};
  Limits result;
  const Value* object = root.find("limits");
  if (object == nullptr || !expect(*object, Type::kObject)) return result;
  only(*object, kKnown);
  result.memory = size(*object, "memory");
  result.written = size(*object, "written");
  result.home = size(*object, "home");
  result.cpu_time = duration(*object, "cpu-time");
  result.wall_time = duration(*object, "wall-time");
  result.processes = count(*object, "processes", kMostProcesses);
  result.files = count(*object, "files", kMostFiles);
  if (const Value* cpu = object->find("cpu"); cpu != nullptr) {
    const bool numeric = cpu->type == Type::kInteger || cpu->type == Type::kNumber;
    if (!numeric || cpu->number < 0 || cpu->number > kMostCores) {
      complain(*cpu, "must be a number of cores from 0.01 to 4096", "such as 1.5");
    } else if (cpu->number == 0) {
      zero(*cpu);
    } else if (cpu->number < 0.01) {
      complain(*cpu, "must be a number of cores from 0.01 to 4096", "such as 0.5");
    } else {
      result.cpu = cpu->number;
    }
  }
  return result;
}

// Parses the JSON and hands its root, an object, to `read`.
template <typename T, typename Read>
Draft<T> draft_with(const ManifestBytes& bytes, std::string_view noun, Read read) {
  Draft<T> draft;
  const auto document = json::parse(bytes.file(), bytes.bytes());
  if (!document.ok()) {
    draft.error = document.error();
    return draft;
  }
  Reader reader(bytes.file());
  const Value& root = document->root();
  if (reader.expect(root, Type::kObject)) {
    if (const Value* schema = root.find("$schema"); schema != nullptr)
      reader.expect(*schema, Type::kString);
    read(reader, root, draft.readable);
  }
  if (!reader.clean()) draft.error = std::move(reader).error(noun);
  return draft;
}

template <typename T>
Result<T> whole(Draft<T> draft) {
  if (draft.error) return *std::move(draft.error);
  return std::move(draft.readable);
}

}  // namespace

std::string place(const Location& where) {
  std::string text = escape_for_display(where.file);
  if (where.line > 0) text += fmt::format(":{}:{}", where.line, where.column);
  return text;
}

Draft<Manifest> draft_manifest(const ManifestBytes& bytes) {
  static constexpr std::array<std::string_view, 10> kKnown = {
      "$schema", "manifest",    "extension", "files",  "network",
      "run",     "environment", "vscode",    "limits", "otherwise"};
  static constexpr std::array<std::string_view, 5> kFiles = {"read", "write", "block", "hide",
                                                             "private"};
  return draft_with<Manifest>(
      bytes, "manifest", [&](Reader& reader, const Value& root, Manifest& manifest) {
        reader.only(root, kKnown);
        reader.version(root, "manifest", "manifest");
        if (root.find("extension") != nullptr) {
          manifest.extension = reader.text(root, "extension", false);
          if (!manifest.extension.empty() && !is_extension_id(manifest.extension))
            reader.complain(*root.find("extension"), "is no extension identifier",
                            "write publisher.name");
        }
        if (const Value* files = root.find("files");
            files != nullptr && reader.expect(*files, Type::kObject)) {
          reader.only(*files, kFiles);
          manifest.files.read = reader.entries(*files, "read");
          manifest.files.write = reader.entries(*files, "write");
          manifest.files.block = reader.entries(*files, "block");
          manifest.files.hide = reader.entries(*files, "hide");
          manifest.files.private_home = reader.truth(*files, "private");
        }
        reader.network(root, manifest.network, manifest.listen);
        manifest.run = reader.entries(root, "run");
        manifest.environment = reader.entries(root, "environment");
        manifest.vscode = reader.entries(root, "vscode");
        manifest.limits = reader.limits(root);
        manifest.otherwise = reader.otherwise(root);
        manifest.digest = bytes.digest();
      });
}

Draft<Blocklist> draft_blocklist(const ManifestBytes& bytes, Blocklist::Source source) {
  static constexpr std::array<std::string_view, 6> kKnown = {"$schema", "blocklist", "groups",
                                                             "limits",  "otherwise", "telemetry"};
  static constexpr std::array<std::string_view, 8> kGroup = {
      "name", "reason", "block", "block-write", "network", "run", "environment", "vscode"};
  return draft_with<Blocklist>(
      bytes, "blocklist", [&](Reader& reader, const Value& root, Blocklist& blocklist) {
        blocklist.source = source;
        reader.only(root, kKnown);
        reader.version(root, "blocklist", "blocklist");
        if (root.find("limits") != nullptr) blocklist.limits = reader.limits(root);
        blocklist.otherwise = reader.otherwise(root);
        blocklist.telemetry = reader.otherwise(root, "telemetry");
        const Value* groups = root.find("groups");
        if (groups == nullptr || !reader.expect(*groups, Type::kArray)) return;
        std::set<std::string> names;
        for (const Value* item : groups->items) {
          if (!reader.expect(*item, Type::kObject)) continue;
          reader.only(*item, kGroup);
          BlockGroup group;
          group.name = reader.text(*item, "name", true);
          group.reason = reader.text(*item, "reason", false);
          if (!group.name.empty() && (!is_name(group.name) || group.name == "all"))
            reader.complain(*item->find("name"), "is no group name",
                            "use lower-case letters, digits and \"-\"; \"all\" is taken");
          if (!group.name.empty() && !names.insert(group.name).second)
            reader.complain(*item->find("name"), "another group has this name",
                            "rename one, or join the two");
          group.block = reader.entries(*item, "block");
          group.block_write = reader.entries(*item, "block-write");
          reader.network(*item, group.network, group.listen);
          group.run = reader.entries(*item, "run");
          group.environment = reader.entries(*item, "environment");
          group.vscode = reader.entries(*item, "vscode");
          blocklist.groups.push_back(std::move(group));
        }
      });
}

Draft<Sets> draft_set(const ManifestBytes& bytes) {
  static constexpr std::array<std::string_view, 7> kKnown = {"$schema", "set",   "about", "read",
                                                             "run",     "names", "write"};
  return draft_with<Sets>(bytes, "set", [&](Reader& reader, const Value& root, Sets& sets) {
    reader.only(root, kKnown);
    if (const Value* write = root.find("write"); write != nullptr)
      reader.complain(*write, "no set grants writing",
                      "name the paths in the files.write of each manifest that needs them", true);
    const std::string name = reader.text(root, "set", true);
    if (!name.empty() && !is_name(name))
      reader.complain(*root.find("set"), "is no set name",
                      "use lower-case letters, digits and \"-\", without \"@\"");
    PathSet set;
    set.about = reader.text(root, "about", false);
    set.read = reader.entries(root, "read");
    set.run = reader.entries(root, "run");
    set.names = reader.entries(root, "names");
    sets.emplace(name, std::move(set));
  });
}

Result<Manifest> parse_manifest(const ManifestBytes& bytes) { return whole(draft_manifest(bytes)); }

Result<Blocklist> parse_blocklist(const ManifestBytes& bytes, Blocklist::Source source) {
  return whole(draft_blocklist(bytes, source));
}

Result<Sets> parse_set(const ManifestBytes& bytes) { return whole(draft_set(bytes)); }

Limits with_limits(Limits limits, const Limits& over) {
  const auto take = [](auto& into, const auto& from) {
    if (from) into = from;
  };
  take(limits.memory, over.memory);
  take(limits.cpu, over.cpu);
  take(limits.cpu_time, over.cpu_time);
  take(limits.wall_time, over.wall_time);
  take(limits.processes, over.processes);
  take(limits.files, over.files);
  take(limits.written, over.written);
  take(limits.home, over.home);
  return limits;
}

}  // namespace bulkhead
