// What compartments cost a host of include/bulkhead/compartment.h.
//   library_bench starts [ROUNDS]     a start: cold, by a policy at hand, from a pool
//   library_bench idle [COUNT]        so many compartments at once: memory, descriptors, threads
//   library_bench busy [COUNT] [MS]   decisions per second of so many, all of them busy
//   library_bench open FOLDER MS      (for itself: what is busy)
#include <bulkhead/compartment.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using bulkhead::Compartment;
using Clock = std::chrono::steady_clock;

constexpr const char* kManifest =
    R"({"manifest": 1, "files": {"read": ["@system"]}, "run": ["/bin"]})";

template <typename T>
T must(bulkhead::Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "library_bench: ERROR OCCURRED: %s\n", result.error().message.c_str());
  std::exit(1);
}

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

// ---- Starts ----

struct Times {
  std::vector<double> each;
  void tell(const char* what) {
    std::sort(each.begin(), each.end());
    std::printf("start, %-16s median %7.0f us, best %7.0f us, 90%% %7.0f us\n", what,
                each[each.size() / 2], each.front(), each[each.size() * 9 / 10]);
  }
};

bulkhead::Options program() {
  bulkhead::Options options;
  options.command = {"/bin/true"};
  return options;
}

// In turns, so that what else the machine does meets all of them.
void starts(int rounds) {
  const auto policy = must(bulkhead::Policy::parse(kManifest));
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  Times cold, at_hand, pooled;
  for (int i = 0; i < rounds; ++i) {
    {
      const auto begin = Clock::now();
      const auto mine = must(bulkhead::Policy::parse(kManifest));
      const auto compartment = must(Compartment::start(mine, program()));
      cold.each.push_back(microseconds(Clock::now() - begin));
    }
    {
      const auto begin = Clock::now();
      const auto compartment = must(Compartment::start(policy, program()));
      at_hand.each.push_back(microseconds(Clock::now() - begin));
    }
    auto prepared = must(Compartment::prepare(policy, program(), {0, 1, 2}));
    const auto begin = Clock::now();
    const auto compartment = must(prepared.start({{0, null}, {1, null}, {2, null}}));
    pooled.each.push_back(microseconds(Clock::now() - begin));
  }
  ::close(null);
  cold.tell("cold");
  at_hand.tell("policy at hand");
  pooled.tell("pooled");
}

// ---- Many at once ----

size_t count_in(const char* folder) {
  size_t count = 0;
  DIR* const dir = ::opendir(folder);
  while (const dirent* const entry = ::readdir(dir)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(dir);
  return count;
}

// Resident, of this process: kB.
long resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::atol(line.c_str() + 6);
  return 0;
}

struct Host {
  long memory = resident();
  size_t descriptors = count_in("/proc/self/fd");
  size_t threads = count_in("/proc/self/task");
  void tell(const char* when, const Host& before, size_t count) const {
    std::printf("%-22s %8.1f KB, %5.1f descriptors each; %zu threads in all\n", when,
                static_cast<double>(memory - before.memory) / static_cast<double>(count),
                static_cast<double>(descriptors - before.descriptors) / static_cast<double>(count),
                threads);
  }
};

void raise_descriptors() {
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  now.rlim_cur = now.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &now);
}

void idle(size_t count) {
  raise_descriptors();
  const auto policy = must(bulkhead::Policy::parse(kManifest));
  bulkhead::Options sleeps;
  sleeps.command = {"/bin/sleep", "100000"};
  { const auto first = must(Compartment::start(policy, sleeps)); }
  {
    const Host before;
    std::vector<bulkhead::Prepared> all;
    for (size_t i = 0; i < count; ++i) all.push_back(must(Compartment::prepare(policy, sleeps)));
    Host().tell("prepared:", before, count);
  }
  const Host before;
  const auto begin = Clock::now();
  std::vector<Compartment> all;
  for (size_t i = 0; i < count; ++i) all.push_back(must(Compartment::start(policy, sleeps)));
  const double seconds = microseconds(Clock::now() - begin) / 1e6;
  Host().tell("just started:", before, count);
  std::this_thread::sleep_for(4s);
  Host().tell("idle for 4 s:", before, count);
  const auto end = Clock::now();
  for (Compartment& one : all) one.kill();
  for (Compartment& one : all) one.wait();
  std::printf("%zu compartments: %.0f starts per second, ended within %.1f s\n", count,
              static_cast<double>(count) / seconds, microseconds(Clock::now() - end) / 1e6);
}

// ---- Busy ones ----

// Opens files that are decided on by the supervisor: the folder is granted by a pattern, and not as
// a whole. Says how many.
int open_files(const std::string& folder, int milliseconds) {
  const std::string file = folder + "/file.txt";
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  long opened = 0;
  while (Clock::now() < end)
    for (int i = 0; i < 100; ++i) {
      const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) return 1;
      ::close(fd);
      ++opened;
    }
  std::printf("%ld\n", opened);
  return 0;
}

void busy(size_t count, int milliseconds) {
  char folder[] = "/var/tmp/library-bench-XXXXXX";
  if (::mkdtemp(folder) == nullptr) std::exit(1);
  const std::string file = std::string(folder) + "/file.txt";
  std::ofstream(file) << "x\n";
  char self[4096] = "";
  if (::readlink("/proc/self/exe", self, sizeof self - 1) < 0) std::exit(1);
  const auto policy = must(bulkhead::Policy::parse(
      std::string(R"({"manifest": 1, "files": {"read": ["@system", ")") + folder + R"(/*.txt", ")" +
      self + R"("]}, "run": [")" + self + R"("]})"));
  std::vector<Compartment> all;
  std::vector<int> said;
  for (size_t i = 0; i < count; ++i) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::exit(1);
    bulkhead::Options options;
    options.command = {self, "open", folder, std::to_string(milliseconds)};
    options.descriptors = {{1, ends[1]}, {2, 2}};
    all.push_back(must(Compartment::start(policy, options)));
    ::close(ends[1]);
    said.push_back(ends[0]);
  }
  std::vector<long> opened;
  for (size_t i = 0; i < count; ++i) {
    char text[64] = "";
    (void)!::read(said[i], text, sizeof text - 1);
    ::close(said[i]);
    if (all[i].wait().code != 0) {
      std::fprintf(stderr, "library_bench: ERROR OCCURRED: %s\n", all[i].wait().text.c_str());
      std::exit(1);
    }
    opened.push_back(std::atol(text));
  }
  ::unlink(file.c_str());
  ::rmdir(folder);
  long sum = 0;
  for (const long one : opened) sum += one;
  std::printf(
      "%zu busy compartments: %.0f decisions per second, the slowest %.0f\n", count,
      static_cast<double>(sum) * 1000 / milliseconds,
      static_cast<double>(*std::min_element(opened.begin(), opened.end())) * 1000 / milliseconds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int at, int otherwise) {
    return argc > at ? std::max(1, std::atoi(argv[at])) : otherwise;
  };
  if (what == "open" && argc == 4) return open_files(argv[2], number(3, 1));
  if (what == "starts") return starts(number(2, 100)), 0;
  if (what == "idle") return idle(static_cast<size_t>(number(2, 1000))), 0;
  if (what == "busy") return busy(static_cast<size_t>(number(2, 8)), number(3, 2000)), 0;
  std::fprintf(stderr, "usage: library_bench starts [ROUNDS] | idle [COUNT] | busy [COUNT] [MS]\n");
  return 2;
}
