// Control: what one compartment tells the companion, and what the person behind it answers.
//
// A unix socket of the user's alone, one for each extension host; JSON lines in both directions
// (the messages: vscode/companion/README.md). The companion connects, not the host: a host whose
// window has no companion simply has nobody who answers, and then the answer is no.
//
// Trust: whoever can connect is the user (0700 folder, checked by SO_PEERCRED) and outside of every
// compartment (the folder is on the blocklist, and a compartment's connect() is decided by path).
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/nlohmann.h"
#include "base/result.h"
#include "trace/arbiter.h"

namespace bulkhead {

class Control final : public Asker {
 public:
  using Json = nlohmann::ordered_json;

  // What the companion may ask for. Called by the control's own thread; an error goes back to the
  // companion as a message.
  struct Handlers {
    std::function<Status(const std::string& digest, bool approve)> review;
    std::function<Status(Kind kind, const std::string& resource, bool grant)> remember;
    std::function<void()> end;
    std::function<Json()> usage;                  // {"cpu","memory","processes"}, or null
    std::function<std::vector<Event>()> refused;  // so far, coalesced
  };
  struct Options {
    std::string socket;  // path; its folder is made
    // An extension host whose main thread asks stands still, and so do completions and saving.
    std::chrono::milliseconds main_patience{2000};
    // Everybody else: long enough for who is there, and not for who is not.
    std::chrono::milliseconds patience{5000};
    // A person is asked this often at most: so many at once, then one more each `refill`.
    int burst = 12;
    std::chrono::seconds refill{10};
  };

  static Result<std::unique_ptr<Control>> open(Options options, Handlers handlers);
  // Removes what killed hosts left in the windows' folders below `folder`, never what is alive.
  static void clear_stale(const std::string& folder) noexcept;
  ~Control() override;

  // Greets the companions that are there and those that come. Replaces the last one.
  void hello(Json message);
  // To the companions that are there.
  void tell(Json message);
  // Kept for those that come later, one of each "type", until withdrawn by a message of that type
  // that is null.
  void keep(const std::string& type, Json message);

  // Returns once a companion is there, or after so long.
  void wait_for_somebody(std::chrono::milliseconds most);

  // A question stays open after who asked has gone on (kLater), until it is answered or cancelled.
  Answer ask(const Question& question) override;
  std::optional<std::chrono::milliseconds> patience(Waits waits) const noexcept override;
  void on_late(std::function<void(const Question&, Answer)> answered) override;
  void cancel() noexcept override;
  bool asking() const noexcept override;

 private:
  explicit Control(Options options, Handlers handlers);
  struct Client;
  struct Open;
  void run();
  void accept_client();
  bool read_client(Client& client);
  void take(Client& client, const std::string& line);
  void answer(uint64_t id, Answer answer);
  void send(Client& client, const Json& message);
  void send_all(const Json& message);
  bool tick();  // false: not all was told
  void wake() noexcept;

  Options options_;
  Handlers handlers_;
  Fd listener_, wake_;
  std::vector<std::unique_ptr<Client>> clients_;  // the thread's
  std::map<std::string, uint64_t> told_;          // refusals by key, with the count last told

  mutable std::mutex mutex_;
  std::condition_variable answered_;
  Json hello_;
  std::map<std::string, Json> kept_;
  std::vector<Json> outbox_;                        // for every client
  std::map<uint64_t, std::shared_ptr<Open>> open_;  // as many as the arbiter's bound lets be
  size_t held_ = 0;                                 // threads in ask()
  uint64_t last_id_ = 0;
  bool anybody_ = false;
  bool cancelled_ = false;
  double tokens_;
  std::chrono::steady_clock::time_point refilled_;
  bool stopping_ = false;
  std::mutex late_mutex_;  // held while a late answer is given on; before mutex_
  std::function<void(const Question&, Answer)> late_;
  std::thread thread_;
};

}  // namespace bulkhead
