// A pool of prepared compartments: programs that are launched and confined before it is known what
// they will work on. Each takes one line of standard input, reads nothing but the system's files,
// and is gone after its line, so that no line meets what another has left.
//   pool SIZE < LINES
#include <bulkhead/compartment.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <string>

namespace {

class Pool {
 public:
  Pool(bulkhead::Policy policy, size_t size) : policy_(std::move(policy)), size_(size) {}

  // Prepares as many as are missing. A server does this in a thread of its own, or when it is idle.
  bulkhead::Status fill() {
    while (waiting_.size() < size_) {
      bulkhead::Options options;
      options.command = {"/usr/bin/sha256sum"};
      options.limits.wall_time = std::chrono::seconds(10);  // from its start on
      options.limits.memory = std::uint64_t{64} << 20;
      auto prepared = bulkhead::Compartment::prepare(policy_, options, {0, 1});
      if (!prepared) return prepared.error();
      waiting_.push_back(std::move(*prepared));
    }
    return std::monostate{};
  }

  // Input and output are the program's standard ones.
  bulkhead::Result<bulkhead::Compartment> start(int input, int output) {
    for (;;) {
      if (const auto filled = fill(); !filled) return filled.error();
      bulkhead::Prepared prepared = std::move(waiting_.front());
      waiting_.pop_front();
      auto compartment = prepared.start({{0, input}, {1, output}});
      // Somebody killed it while it waited.
      if (!compartment && compartment.error().errno_value == ESRCH) continue;
      return compartment;
    }
  }

 private:
  bulkhead::Policy policy_;
  size_t size_;
  std::deque<bulkhead::Prepared> waiting_;
};

// One program at its line. What it says comes by a pipe.
struct Worker {
  bulkhead::Compartment compartment;
  int output;
};

// The line goes in by a pipe as well: it is no part of the program's text or arguments.
bulkhead::Result<Worker> work_on(Pool& pool, const std::string& line) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) return bulkhead::Error{"cannot make a pipe", errno};
  if (::pipe2(out, O_CLOEXEC) != 0) {
    const int why = errno;
    ::close(in[0]);
    ::close(in[1]);
    return bulkhead::Error{"cannot make a pipe", why};
  }
  auto compartment = pool.start(in[0], out[1]);
  (void)!::write(in[1], line.data(), line.size());
  for (const int fd : {in[0], in[1], out[1]}) ::close(fd);
  if (!compartment) {
    ::close(out[0]);
    return compartment.error();
  }
  return Worker{std::move(*compartment), out[0]};
}

void finish(Worker& worker) {
  const bulkhead::Outcome& outcome = worker.compartment.wait();
  char text[256];
  const ssize_t size = ::read(worker.output, text, sizeof text);
  ::close(worker.output);
  std::cout << (outcome.code == 0 && size > 64 ? std::string(text, 64) : outcome.text) << "\n";
}

int complain(const bulkhead::Error& error) {
  std::cerr << error.message << "\n";
  return 125;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t size = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4;
  if (size == 0) return complain({"usage: pool SIZE < LINES", EINVAL});
  const auto policy = bulkhead::Policy::parse(
      R"({"manifest": 1, "files": {"read": ["@system"]}, "run": ["/usr/bin/sha256sum"]})");
  if (!policy) return complain(policy.error());
  Pool pool(*policy, size);
  if (const auto filled = pool.fill(); !filled) return complain(filled.error());
  std::deque<Worker> workers;
  for (std::string line; std::getline(std::cin, line);) {
    if (workers.size() >= size) {
      finish(workers.front());
      workers.pop_front();
    }
    auto worker = work_on(pool, line);
    if (!worker) return complain(worker.error());
    workers.push_back(std::move(*worker));
  }
  for (Worker& worker : workers) finish(worker);
  return 0;
}
