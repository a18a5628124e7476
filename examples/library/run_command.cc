// Runs a command in a compartment that may read the folder that it is given, and tells how it
// ended.
//   run_command FOLDER PROGRAM [ARGUMENTS…]
#include <bulkhead/compartment.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: run_command FOLDER PROGRAM [ARGUMENTS...]\n");
    return 2;
  }
  bulkhead::PolicyOptions granted;
  granted.variables.workspace = {argv[1]};
  const auto policy = bulkhead::Policy::parse(R"({
    "manifest": 1,
    "files": {"read": ["@system", "${workspace}"], "write": []},
    "run": ["/usr/bin", "/bin"]
  })",
                                              granted);
  if (!policy) {
    std::fprintf(stderr, "%s\n", policy.error().message.c_str());
    return 125;
  }
  bulkhead::Options options;
  options.command.assign(argv + 2, argv + argc);
  options.environment = {"PATH=/usr/bin:/bin"};
  options.folder = argv[1];
  options.descriptors = {{0, 0}, {1, 1}, {2, 2}};
  options.limits.memory = std::uint64_t{512} << 20;
  options.limits.wall_time = std::chrono::seconds(60);
  const auto compartment = bulkhead::Compartment::start(*policy, options);
  if (!compartment) {
    std::fprintf(stderr, "%s\n", compartment.error().message.c_str());
    return 125;
  }
  const bulkhead::Outcome& outcome = compartment->wait();
  std::fprintf(stderr, "%s\n", outcome.text.c_str());
  return outcome.code;
}
