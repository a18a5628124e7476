// What a compartment can attempt. One table makes the enum, the label and the manifest's field.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bulkhead {

//        enumerator     label            manifest field
#define BULKHEAD_KINDS(X)                                                                          \
  X(kRead, "read",                                                                                 \
    "files.read") /* content of a file, list of a folder, a link's target, watching */             \
  X(kWrite, "write", "files.write") /* content; creating, renaming, linking, removing; connecting  \
                                       to a unix socket */                                         \
  X(kReadStatus, "read-status", "files.read") /* stat, access: free unless the path is hidden */   \
  X(kWriteStatus, "write-status", "files.write") /* chmod, chown, times, extended attributes */    \
  X(kConnect, "connect", "network")             /* a TCP connection that leaves the compartment */ \
  X(kLookup, "lookup", "network")               /* resolving a host name */                        \
  X(kListen, "listen", "network")               /* a port of the compartment on the machine's */   \
                                                /* loopback */                                     \
  X(kRun, "run", "run")                         /* executing a program */                          \
  X(kEnvironment, "environment", "environment") /* seeing a variable at start */                   \
  X(kVscode, "vscode", "vscode")                /* a permission of the VS Code API */              \
  X(kSystem, "system",                                                                             \
    "") /* a kernel interface that no manifest grants: ptrace, io_uring, mounts */

enum class Kind : uint8_t {
#define X(enumerator, label, field) enumerator,
  BULKHEAD_KINDS(X)
#undef X
};

inline constexpr std::array kKindLabels = {
#define X(enumerator, label, field) std::string_view(label),
    BULKHEAD_KINDS(X)
#undef X
};
inline constexpr std::array kKindFields = {
#define X(enumerator, label, field) std::string_view(field),
    BULKHEAD_KINDS(X)
#undef X
};

constexpr std::string_view label(Kind kind) { return kKindLabels[static_cast<size_t>(kind)]; }
// The kind that a label names.
constexpr std::optional<Kind> kind_of(std::string_view label) {
  for (size_t i = 0; i < kKindLabels.size(); ++i)
    if (kKindLabels[i] == label) return static_cast<Kind>(i);
  return std::nullopt;
}
constexpr std::string_view field(Kind kind) { return kKindFields[static_cast<size_t>(kind)]; }

enum class Verdict : uint8_t { kDeny, kAllow, kAsk };
constexpr std::string_view label(Verdict verdict) {
  constexpr std::array<std::string_view, 3> kLabels = {"deny", "allow", "ask"};
  return kLabels[static_cast<size_t>(verdict)];
}

// Index into Policy::rules(). Rule 0 is always `otherwise`, rule 1 that reading status is free.
using RuleId = uint32_t;
inline constexpr RuleId kOtherwiseRule = 0;
inline constexpr RuleId kFreeStatusRule = 1;

struct Decision {
  Verdict verdict = Verdict::kDeny;
  RuleId rule = kOtherwiseRule;  // the rule that decided
};

}  // namespace bulkhead
