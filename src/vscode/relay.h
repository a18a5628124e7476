// Relay: moves the bytes between VS Code's server, the browser and one extension host, and ends the
// protocols on all sides.
//
//   server ── NodeChannel ──► relay ── NodeChannel ──► extension host
//   browser ─ WebSocket ────► relay ── socket pair ──► extension host
//
// The server hands the browser's socket over by the channel, as soon as the relay says "ready" in
// the name of a host that need not exist yet: the judge starts it once the workbench has said what
// for. The host never gets that socket: it gets one end of a pair, once, and lives through the
// browser's reconnections without noticing. Nothing that it says on its channel reaches the server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "vscode/message_judge.h"

namespace bulkhead {

struct RelayOptions {
  size_t message_limit = 256U << 20U;  // bytes of one message; a larger one ends the host
  size_t kept_limit = 64U << 20U;      // bytes waiting for one side before the other is not read
  std::chrono::milliseconds grace{10800000};  // how long a host waits for its browser to come back
  // The same where nobody is expected back: before the host is at work (a workbench that lost its
  // connection starts another), and once the browser said that it leaves the page. A page that is
  // loaded anew while its hosts start ends without a goodbye of VS Code's own.
  std::chrono::milliseconds short_grace{10000};
  // Told, by run()'s thread, when the host no longer answers and when it does again. It may stand
  // still while `is_excused`.
  std::function<void(bool responds)> on_pulse = {};
  std::function<bool()> is_excused = {};
  std::chrono::milliseconds beat{1000};
};

class Relay {
 public:
  // `server` is the channel that `bulkhead host` inherited, `host` our end of the host's.
  Relay(Fd server, Fd host, MessageJudge& judge, RelayOptions options);
  ~Relay();

  // Until the window is closed, the host or the server gone, a grace time over or a message broken
  // (an error, whose text is for the journal). To be called once.
  Status run();
  // Whether run() returned because the host had gone, or had turned away.
  bool lost_host() const noexcept;
  // Makes run() return; from any thread.
  void stop() noexcept;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace bulkhead
