// What a start costs: cold, with the plan cached, from a host with a large heap and many threads,
// and from a pool; by the rooms' own functions (library_bench.cc: as a host does it).
//
// The program is /bin/true, of which the kernel's part (execve, the dynamic linker) is not ours:
// those that start end when the program is about to execute, those from a pool when it is let go.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "sandbox/launch/compartment.h"
#include "sandbox/launch/prepared.h"
#include "sandbox/plan/plan.h"

namespace bulkhead {
namespace {

Plan plan_of_all(Stdio stdio) {
  PolicyInputs inputs;
  inputs.manifest.files.read = {{"/", {}}};
  inputs.manifest.run = {{"/", {}}};
  inputs.variables.home = "/nonexistent";
  auto plan = make_plan(std::move(Policy::compile(inputs)).value(), {"/bin/true"}, {}, "/", {});
  plan->stdio = std::move(stdio);
  return std::move(plan).value();
}

// `plan` is called for each start.
template <class PlanMaker>
void time_starts(benchmark::State& state, const PlanMaker& plan) {
  for (auto _ : state) {
    auto compartment = launch(plan());
    state.PauseTiming();
    if (!compartment.ok()) {
      state.SkipWithError(compartment.error().message.c_str());
      break;
    }
    kill_compartment(*compartment);
    state.ResumeTiming();
  }
}

void start_cold(benchmark::State& state) {
  time_starts(state, [] { return plan_of_all({}); });
}
BENCHMARK(start_cold)->Name("start/cold")->Unit(benchmark::kMicrosecond)->UseRealTime();

void start(benchmark::State& state) {
  const Plan plan = plan_of_all({});
  time_starts(state, [&plan]() -> const Plan& { return plan; });
}
BENCHMARK(start)->Name("start/plan cached")->Unit(benchmark::kMicrosecond)->UseRealTime();

// A gigabyte that was written to, and 200 threads.
class LargeHost {
 public:
  LargeHost() {
    memory_ = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Small pages, as a heap that grows a little at a time has.
    ::madvise(memory_, kBytes, MADV_NOHUGEPAGE);
    std::memset(memory_, 1, kBytes);
    for (int i = 0; i < 200; ++i) threads_.emplace_back([this] { done_.wait(false); });
  }
  ~LargeHost() {
    done_ = true;
    done_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    ::munmap(memory_, kBytes);
  }
  LargeHost(const LargeHost&) = delete;
  LargeHost& operator=(const LargeHost&) = delete;

 private:
  static constexpr size_t kBytes = size_t{1} << 30U;
  void* memory_;
  std::atomic<bool> done_ = false;
  std::vector<std::thread> threads_;
};

void start_from_large_host(benchmark::State& state) {
  const LargeHost host;
  start(state);
}
BENCHMARK(start_from_large_host)
    ->Name("start/host of 1 GB and 200 threads")
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

void prepare_one(benchmark::State& state) {
  const Plan plan = plan_of_all({{0, kGivenLater}, {1, kGivenLater}, {2, kGivenLater}});
  for (auto _ : state) {
    auto prepared = prepare(plan);
    state.PauseTiming();
    if (!prepared.ok()) {
      state.SkipWithError(prepared.error().message.c_str());
      break;
    }
    kill_compartment(prepared->compartment);
    state.ResumeTiming();
  }
}
BENCHMARK(prepare_one)->Name("prepare")->Unit(benchmark::kMicrosecond)->UseRealTime();

void start_from_pool(benchmark::State& state) {
  const Plan plan = plan_of_all({{0, kGivenLater}, {1, kGivenLater}, {2, kGivenLater}});
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (auto _ : state) {
    state.PauseTiming();
    auto prepared = prepare(plan);
    if (!prepared.ok()) {
      state.SkipWithError(prepared.error().message.c_str());
      break;
    }
    state.ResumeTiming();
    bool done = true;
    for (int number = 0; number <= 2; ++number)
      done = give(*prepared, plan, number, null.get()).ok() && done;
    done = prepared->listener->send(prepared->execve, Reply::go_on()) && done;
    state.PauseTiming();
    kill_compartment(prepared->compartment);
    state.ResumeTiming();
    if (!done) state.SkipWithError("the program could not be started");
  }
}
BENCHMARK(start_from_pool)->Name("start/pool")->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace bulkhead

BENCHMARK_MAIN();
