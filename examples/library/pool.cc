// A pool of compartments: so many programs at a time that work on lines of standard input, each in
// a compartment of its own that reads nothing but the system's files, and is gone after its line.
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

// One program at its line. What it says comes by a pipe.
struct Worker {
  bulkhead::Compartment compartment;
  int output;
};

// The line goes in by a pipe as well: it is no part of the program's text or arguments.
bulkhead::Result<Worker> start(const bulkhead::Policy& policy, const std::string& line) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) return bulkhead::Error{"cannot make a pipe", errno};
  if (::pipe2(out, O_CLOEXEC) != 0) {
    const int why = errno;
    ::close(in[0]);
    ::close(in[1]);
    return bulkhead::Error{"cannot make a pipe", why};
  }
  bulkhead::Options options;
  options.command = {"/usr/bin/sha256sum"};
  options.descriptors = {{0, in[0]}, {1, out[1]}};
  options.limits.wall_time = std::chrono::seconds(10);
  options.limits.memory = std::uint64_t{64} << 20;
  auto compartment = bulkhead::Compartment::start(policy, options);
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

}  // namespace

int main(int argc, char** argv) {
  const size_t size = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4;
  const auto policy = bulkhead::Policy::parse(
      R"({"manifest": 1, "files": {"read": ["@system"]}, "run": ["/usr/bin/sha256sum"]})");
  if (!policy) {
    std::cerr << policy.error().message << "\n";
    return 125;
  }
  std::deque<Worker> workers;
  for (std::string line; std::getline(std::cin, line);) {
    if (workers.size() >= size) {
      finish(workers.front());
      workers.pop_front();
    }
    auto worker = start(*policy, line);
    if (!worker) {
      std::cerr << worker.error().message << "\n";
      return 125;
    }
    workers.push_back(std::move(*worker));
  }
  for (Worker& worker : workers) finish(worker);
  return 0;
}
