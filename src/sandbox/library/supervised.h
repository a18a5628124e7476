// Supervised: one compartment, with the thread that launches it, watches it and lives as long.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "policy/judge.h"
#include "sandbox/plan/plan.h"
#include "sandbox/run/requests.h"
#include "sandbox/run/supervisor.h"

namespace bulkhead {

class Supervised {
 public:
  // Returns when the program waits to begin. `given` are the descriptors that the plan names.
  static Result<std::unique_ptr<Supervised>> prepare(Plan plan, std::shared_ptr<Judge> judge,
                                                     std::string name_server,
                                                     std::vector<Fd> given);
  // Ends it, and waits for that.
  ~Supervised();
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  // A descriptor of those that the plan has as given later. Before begin().
  Status give(int number, int fd);
  // Lets the program begin; ESRCH where it has been killed. Once.
  Status begin();

  pid_t program() const { return program_; }
  // What became of it, for as long as this object lives; null: the deadline came first. No
  // deadline: waits.
  const RunReport* wait(std::optional<std::chrono::steady_clock::time_point> deadline);
  int ended_fd() const { return ended_fd_.get(); }  // readable from then on

  void end() noexcept;
  Status signal(int number);
  Requests& requests() { return *requests_; }

 private:
  Supervised(Plan plan, std::shared_ptr<Judge> judge, std::string name_server);
  Status open();
  Status start_thread();
  void run();
  bool wait_to_begin(Supervisor& supervisor);

  const Plan plan_;
  const std::shared_ptr<Judge> judge_;
  const std::string name_server_;
  std::vector<Fd> given_;
  std::unique_ptr<Requests> requests_;
  Fd end_fd_, ended_fd_;
  pid_t program_ = -1;
  Fd program_fd_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Supervisor* prepared_ = nullptr;  // the thread's, while it waits to begin
  std::optional<Error> failed_;     // before that
  bool begun_ = false, dropped_ = false;
  std::optional<RunReport> report_;
  std::thread thread_;  // last: it uses all else
};

}  // namespace bulkhead
