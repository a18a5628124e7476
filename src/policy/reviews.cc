// ReviewStore: what was approved, in one JSON file that people may read:
//
//   {
//     "reviews": 1,
//     "approved": [
//       {"extension": "publisher.name", "version": "1.2.3", "package": "<SHA-256>",
//        "manifest": "<SHA-256>", "when": "2026-01-31T12:00:00Z", "text": "{ … the manifest … }"}
//     ]
//   }
#include "policy/reviews.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "base/json.h"
#include "base/nlohmann.h"
#include "base/path.h"
#include "policy/extension_id.h"
#include "policy/user_file.h"

namespace bulkhead {
namespace {

bool is_digest(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<std::vector<Approval>> parse(const std::string& file, const std::string& bytes) {
  BULKHEAD_TRY(const json::Document document, json::parse(file, bytes));
  json::Findings findings;
  const auto complain = [&](const json::Value& at, std::string message, std::string fix) {
    findings.add(json::finding(file, at, std::move(message), std::move(fix)));
  };
  const json::Value& root = document.root();
  std::vector<Approval> result;
  const json::Value* version = root.find("reviews");
  const json::Value* approved = root.find("approved");
  if (version == nullptr || version->type != json::Type::kInteger || version->integer != 1) {
    complain(root, "is no list of reviews of version 1",
             "move the file away to start anew, or update bulkhead");
  } else if (approved == nullptr || approved->type != json::Type::kArray) {
    complain(root, "\"approved\" is missing or no list", "add \"approved\": []");
  } else {
    for (const json::Value* item : approved->items) {
      Approval one;
      std::string digest, text;
      const auto member = [&](const char* name, std::string& into) {
        const json::Value* value = item->find(name);
        if (value != nullptr && value->type == json::Type::kString) {
          into = value->text;
        } else {
          complain(value != nullptr ? *value : *item, fmt::format("\"{}\" must be a string", name),
                   "remove the whole review, and the extension is reviewed again");
        }
      };
      member("extension", one.id);
      member("version", one.version);
      member("package", one.package);
      member("manifest", digest);
      member("when", one.approved);
      member("text", text);
      if (!is_extension_id(one.id) || lower_case(one.id) != one.id)
        complain(*item, "\"extension\" must be publisher.name in lower case",
                 "write it so, or remove the review");
      if (!is_digest(one.package))
        complain(*item, "\"package\" must be a SHA-256",
                 "remove the review, and the extension is reviewed again");
      one.manifest = ManifestBytes::of(fmt::format("approved manifest of {}", one.id), text);
      if (one.manifest.digest() != digest)
        complain(*item, "\"manifest\" is not the SHA-256 of \"text\"",
                 fmt::format("run bulkhead review --forget {}, or remove it", one.id));
      const auto same = [&](const Approval& each) { return each.id == one.id; };
      if (std::any_of(result.begin(), result.end(), same))
        complain(*item, fmt::format("\"{}\" stands here twice", escape_for_display(one.id)),
                 "remove one of the two");
      result.push_back(std::move(one));
    }
  }
  if (!findings.empty())
    return std::move(findings).error(fmt::format(
        "{} is no valid list of reviews; correct it, or move it away to review everything again",
        file));
  std::sort(result.begin(), result.end(),
            [](const Approval& a, const Approval& b) { return a.id < b.id; });
  return result;
}

Result<std::vector<Approval>> read(const std::string& file) {
  BULKHEAD_TRY(const std::optional<std::string> bytes, read_users_own(file));
  if (!bytes) return std::vector<Approval>();
  return parse(file, *bytes);
}

Status write(const std::string& file, const std::vector<Approval>& approvals) {
  std::string text = "{\n  \"reviews\": 1,\n  \"approved\": [";
  const char* separator = "\n    ";
  // nlohmann throws on invalid UTF-8, and only then.
  try {
    for (const Approval& one : approvals) {
      const nlohmann::ordered_json line = {
          {"extension", one.id},    {"version", one.version},
          {"package", one.package}, {"manifest", one.manifest.digest()},
          {"when", one.approved},   {"text", one.manifest.bytes()}};
      text += separator + line.dump();
      separator = ",\n    ";
    }
  } catch (const nlohmann::json::type_error&) {
    return Error{"cannot record this review: its manifest is no valid UTF-8", EILSEQ};
  }
  text += "\n  ]\n}\n";
  if (text.size() > json::kMaxBytes)
    return Error{fmt::format("cannot record more reviews: {} would be larger than {} bytes; forget "
                             "those of extensions that are gone (bulkhead review --forget ID)",
                             file, json::kMaxBytes),
                 EFBIG};
  return write_file_atomically(file, text, 0600);
}

}  // namespace

std::string_view label(ReviewReason reason) {
  switch (reason) {
    case ReviewReason::kNone:
      return "none";
    case ReviewReason::kNew:
      return "new";
    case ReviewReason::kChanged:
      return "changed";
    case ReviewReason::kWidened:
      return "widened";
  }
  return "new";
}

ReviewReason review_reason(const std::optional<Approval>& approval, const Package& package,
                           const ManifestBytes& manifest, bool widens) {
  if (!approval || approval->id != package.id) return ReviewReason::kNew;
  const bool same_manifest = approval->manifest.digest() == manifest.digest();
  if (approval->package == package.digest && same_manifest) return ReviewReason::kNone;
  if (widens && !same_manifest) return ReviewReason::kWidened;
  // The code is the same, and bulkhead's manifest for it now asks for no more than it did.
  if (approval->package == package.digest) return ReviewReason::kNone;
  // Other code under the same permissions: nobody but the person vouches for it. (Once packages are
  // signed, a signature by the approved publisher's key answers here.)
  return ReviewReason::kChanged;
}

Result<std::vector<Approval>> ReviewStore::list() const { return read(file_); }

Result<std::optional<Approval>> ReviewStore::approved(std::string_view id) const {
  BULKHEAD_TRY(std::vector<Approval> approvals, read(file_));
  const std::string wanted = lower_case(id);
  for (Approval& each : approvals)
    if (each.id == wanted) return std::optional<Approval>(std::move(each));
  return std::optional<Approval>();
}

Status ReviewStore::approve(const Package& package, const ManifestBytes& manifest) {
  if (!is_extension_id(package.id) || !is_digest(package.digest))
    return Error{"cannot record a review of a package without an id and a digest", EINVAL};
  BULKHEAD_TRY(const Fd held, lock_beside(file_));
  BULKHEAD_TRY(std::vector<Approval> approvals, read(file_));
  std::erase_if(approvals, [&](const Approval& each) { return each.id == package.id; });
  Approval one;
  one.id = package.id;
  one.version = package.version;
  one.package = package.digest;
  one.manifest = manifest;
  one.approved = timestamp_now();
  const auto after = std::find_if(approvals.begin(), approvals.end(),
                                  [&](const Approval& each) { return each.id > one.id; });
  approvals.insert(after, std::move(one));
  return write(file_, approvals);
}

Result<bool> ReviewStore::forget(std::string_view id) {
  BULKHEAD_TRY(const Fd held, lock_beside(file_));
  BULKHEAD_TRY(std::vector<Approval> approvals, read(file_));
  const std::string unwanted = lower_case(id);
  if (std::erase_if(approvals, [&](const Approval& each) { return each.id == unwanted; }) == 0)
    return false;
  BULKHEAD_CHECK(write(file_, approvals));
  return true;
}

std::string reviews_file(const Places& places) { return places.config + "/reviews.json"; }

}  // namespace bulkhead
