// Resolver: answers the name lookups of a compartment, on the sockets that init bound inside
// (Compartment::dns_udp, dns_tcp), from the supervisor's side of the network.
//
// Only names that some grant names are resolved at all, so that a lookup carries nothing out that
// the manifest does not name; and a query is built anew, so that nothing but the name leaves.
// Answers fill the NameCache, by which connections are decided.
//
// What this does not stop: labels below a granted wildcard ("*.example.com") reach that domain's
// name servers. Whoever grants the wildcard grants that.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "policy/judge.h"
#include "sandbox/launch/compartment.h"
#include "sandbox/network/name_cache.h"
#include "sandbox/threads/loop.h"

namespace bulkhead {

struct ResolverOptions {
  std::string server;                              // "ADDRESS:PORT" (SupervisorOptions::dns_server)
  std::string configuration = "/etc/resolv.conf";  // read where `server` is empty
  std::chrono::milliseconds patience{2500};        // for one answer of one server
  int rounds = 2;                                  // over all servers
};

class Resolver {
 public:
  // Begins to answer, by turns of the loop's. The compartment's sockets, the judge, the names and
  // the loop outlive it. An unreadable configuration leaves no upstream servers: the hosts file
  // still answers.
  static Result<std::unique_ptr<Resolver>> start(const Compartment& compartment, Judge& judge,
                                                 NameCache& names, Loop& loop,
                                                 const ResolverOptions& options);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Ends all threads; ends asking too (Judge::stop_asking), since one of them may wait for a
  // person. Safe twice, from one thread.
  void stop();

 private:
  class Answerer;
  explicit Resolver(std::unique_ptr<Answerer> answerer);
  std::unique_ptr<Answerer> answerer_;
};

}  // namespace bulkhead
