// GrantStore: remembered answers, in one JSON file that people may read and edit:
//
//   {
//     "grants": 1,
//     "answers": [
//       {"subject": "publisher.name", "manifest": "<SHA-256>", "kind": "read", "answer": "always",
//        "what": "/home/me/notes", "given": "2026-01-31T12:00:00Z"}
//     ]
//   }
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "base/json.h"
#include "base/nlohmann.h"
#include "base/path.h"
#include "policy/config.h"
#include "policy/user_file.h"

namespace bulkhead {
namespace {

struct Remembered {
  std::string subject, manifest, kind, answer, what, given;
  Location where;
};

constexpr std::string_view kAlways = "always";
constexpr std::string_view kNever = "never";

// The kinds that a manifest can grant.
std::optional<Kind> grantable(std::string_view text) {
  const auto kind = kind_of(text);
  return kind && !field(*kind).empty() ? kind : std::nullopt;
}

Result<std::vector<Remembered>> parse(const std::string& file, const std::string& bytes) {
  BULKHEAD_TRY(const json::Document document, json::parse(file, bytes));
  json::Findings findings;
  const auto complain = [&](const json::Value& at, std::string message, std::string fix) {
    findings.add(json::finding(file, at, std::move(message), std::move(fix)));
  };
  const json::Value& root = document.root();
  std::vector<Remembered> result;
  const json::Value* version = root.find("grants");
  const json::Value* answers = root.find("answers");
  if (version == nullptr || version->type != json::Type::kInteger || version->integer != 1) {
    complain(root, "is no list of remembered answers of version 1",
             "move the file away to start anew, or update bulkhead");
  } else if (answers == nullptr || answers->type != json::Type::kArray) {
    complain(root, "\"answers\" is missing or no list", "add \"answers\": []");
  } else {
    for (const json::Value* item : answers->items) {
      Remembered one;
      const auto member = [&](const char* name, std::string& into, bool required) {
        const json::Value* value = item->find(name);
        if (value != nullptr && value->type == json::Type::kString) {
          into = value->text;
        } else if (required || value != nullptr) {
          complain(value != nullptr ? *value : *item, fmt::format("\"{}\" must be a string", name),
                   "write it in double quotes, or remove the answer");
        }
      };
      member("subject", one.subject, true);
      member("manifest", one.manifest, true);
      member("kind", one.kind, true);
      member("answer", one.answer, true);
      member("what", one.what, true);
      member("given", one.given, false);
      if (!one.kind.empty() && !grantable(one.kind))
        complain(*item, fmt::format("unknown kind \"{}\"", escape_for_display(one.kind)),
                 "write what `bulkhead explain --help` lists, or remove the answer");
      if (!one.answer.empty() && one.answer != kAlways && one.answer != kNever)
        complain(*item, fmt::format("unknown answer \"{}\"", escape_for_display(one.answer)),
                 "write \"always\" or \"never\"");
      one.where = {file, item->line, item->column, item->path()};
      result.push_back(std::move(one));
    }
  }
  if (!findings.empty())
    return std::move(findings).error(fmt::format(
        "{} is no valid list of remembered answers; correct it, or move it away to be asked again",
        file));
  return result;
}

Result<std::vector<Remembered>> read(const std::string& file) {
  BULKHEAD_TRY(const std::optional<std::string> bytes, read_users_own(file));
  if (!bytes) return std::vector<Remembered>();
  return parse(file, *bytes);
}

// One line per answer: people read this file, and keep it in version control.
Result<std::string> print(const std::vector<Remembered>& answers) {
  std::string text = "{\n  \"grants\": 1,\n  \"answers\": [";
  const char* separator = "\n    ";
  // nlohmann throws on invalid UTF-8, and only then.
  try {
    for (const Remembered& one : answers) {
      nlohmann::ordered_json line = {{"subject", one.subject}, {"manifest", one.manifest},
                                     {"kind", one.kind},       {"answer", one.answer},
                                     {"what", one.what},       {"given", one.given}};
      text += separator + line.dump();
      separator = ",\n    ";
    }
  } catch (const nlohmann::json::type_error&) {
    return Error{"cannot remember this answer: its name is no valid UTF-8", EILSEQ};
  }
  text += "\n  ]\n}\n";
  return text;
}

}  // namespace

Result<std::vector<Extra>> GrantStore::load(const std::string& subject,
                                            const std::string& manifest_digest) const {
  BULKHEAD_TRY(const std::vector<Remembered> answers, read(file_));
  std::vector<Extra> result;
  for (const Remembered& one : answers) {
    if (one.subject != subject) continue;
    const bool never = one.answer == kNever;
    if (!never && one.manifest != manifest_digest) continue;
    Extra extra;
    extra.source = Rule::Source::kRemembered;
    extra.verdict = never ? Verdict::kDeny : Verdict::kAllow;
    extra.kind = *grantable(one.kind);
    extra.entry = Entry{one.what, one.where};
    result.push_back(std::move(extra));
  }
  return result;
}

Status GrantStore::remember(const std::string& subject, const std::string& manifest_digest,
                            const Extra& extra) {
  if (subject.empty())
    return Error{
        "nothing tells which code the program was given; name the script's file as its first word",
        EINVAL};
  if (field(extra.kind).empty())
    return Error{
        fmt::format("cannot remember an answer about {}: no manifest grants it", label(extra.kind)),
        EINVAL};
  if (extra.entry.text.empty() || extra.entry.text.find('\0') != std::string::npos)
    return Error{"cannot remember an answer about an empty name or one with a NUL byte", EINVAL};
  BULKHEAD_TRY(const Fd lock, lock_beside(file_));
  BULKHEAD_TRY(std::vector<Remembered> answers, read(file_));
  const bool never = extra.verdict == Verdict::kDeny;
  const std::string kind(label(extra.kind));
  // What this answer replaces: the same question under the same manifest, and every "never" about
  // it, since the person has changed their mind.
  std::erase_if(answers, [&](const Remembered& one) {
    return one.subject == subject && one.kind == kind && one.what == extra.entry.text &&
           (one.manifest == manifest_digest || one.answer == kNever || never);
  });
  answers.push_back({.subject = subject,
                     .manifest = manifest_digest,
                     .kind = kind,
                     .answer = std::string(never ? kNever : kAlways),
                     .what = extra.entry.text,
                     .given = timestamp_now(),
                     .where = {}});
  BULKHEAD_TRY(const std::string text, print(answers));
  if (text.size() > json::kMaxBytes)
    return Error{
        fmt::format("cannot remember more answers: {} would be larger than {} bytes; remove "
                    "some, or grant whole folders in a manifest",
                    file_, json::kMaxBytes),
        EFBIG};
  return write_file_atomically(file_, text, 0600);
}

Status GrantStore::forget(const std::string& subject, Kind kind, const std::string& entry) {
  BULKHEAD_TRY(const Fd lock, lock_beside(file_));
  BULKHEAD_TRY(std::vector<Remembered> answers, read(file_));
  const std::string kind_text(label(kind));
  if (std::erase_if(answers, [&](const Remembered& one) {
        return one.subject == subject && one.kind == kind_text && one.what == entry;
      }) == 0)
    return {};
  BULKHEAD_TRY(const std::string text, print(answers));
  return write_file_atomically(file_, text, 0600);
}

}  // namespace bulkhead
