// PageReach: which hosts the pages (webviews) of a host's extensions may reach, and where the
// editor's server, which gives the browser its orders (vscode/launcher/pages.cjs), finds that. A
// browser knows hosts and ports only: what it cannot be told exactly, it is not told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace bulkhead {

struct PageReach {
  std::vector<std::string> hosts;  // "api.example.com:443", "*.example.com:*"
  bool open = false;               // the pages may reach what they like

  // Of grants a host by its name, with one port or all. Not where some block may speak of it, and
  // neither networks nor "every host", which in a browser would be more than in a compartment.
  static PageReach of(const Policy& policy);
};

// Part of the name of their origin (vscode/workbench/pages.js); `extension` in lower case.
std::string page_label(std::string_view extension);

// For each of these extensions, in a folder of the user's own, which is made.
Status write_page_reach(const std::string& folder, const std::vector<std::string>& extensions,
                        const PageReach& reach);

}  // namespace bulkhead
