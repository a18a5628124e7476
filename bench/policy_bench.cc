// How long a decision and a compilation take, by the number of rules.
//
// Rules look like those of people: folders of a home directory a few levels deep, one in ten a
// block, one in fifty with a wildcard in a component, and 40 "**/name" rules whatever the size.
// Paths asked for are 7 to 9 components deep; half of them hit a rule. They are asked in a random
// order from a pool that is larger than the first caches, as a real program's would be.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "policy/policy.h"

namespace {

using bulkhead::BlockGroup;
using bulkhead::Blocklist;
using bulkhead::Entry;
using bulkhead::Kind;
using bulkhead::Policy;
using bulkhead::PolicyInputs;

std::string folder_of(size_t i) {
  return fmt::format("/no-such-home/me/projects/group-{}/project-{}/packages/part-{}", i % 37,
                     i % 911, i);
}

PolicyInputs inputs_of(size_t rules) {
  PolicyInputs inputs;
  inputs.variables.home = "/no-such-home/me";
  inputs.variables.workspace = {"/no-such-home/me/projects/group-1/project-1"};
  BlockGroup group;
  group.name = "bench";
  const auto entry = [](std::string text) {
    return Entry{std::move(text), {"bench.json", 1, 1, "files"}};
  };
  for (size_t i = 0; i < 20; ++i) {
    inputs.manifest.files.read.push_back(entry(fmt::format("**/.config-{}", i)));
    group.block_write.push_back(entry(fmt::format("**/.tool-{}/hooks", i)));
  }
  for (size_t i = 0; i < rules; ++i) {
    if (i % 10 == 0) {
      group.block.push_back(entry(folder_of(i) + "/secret"));
    } else if (i % 50 == 1) {
      inputs.manifest.files.read.push_back(entry(folder_of(i) + "/*.log"));
    } else if (i % 2 == 0) {
      inputs.manifest.files.read.push_back(entry(folder_of(i) + "/src"));
    } else {
      inputs.manifest.files.write.push_back(entry(folder_of(i) + "/out"));
    }
  }
  Blocklist blocklist;
  blocklist.groups.push_back(std::move(group));
  inputs.blocklists.push_back(std::move(blocklist));
  return inputs;
}

std::shared_ptr<const Policy> policy_of(size_t rules) {
  auto result = Policy::compile(inputs_of(rules));
  if (!result.ok()) {
    fmt::print(stderr, "{}\n", bulkhead::to_string(result.error()));
    std::exit(1);
  }
  return std::move(result).value();
}

std::vector<std::string> paths_of(size_t rules) {
  std::mt19937 random(20261121);
  static constexpr const char* kEnds[] = {"src/index.js", "src/lib/a.ts", "out/index.js",
                                          "secret/key",   "README.md",    "error.log",
                                          "test/x/y.js",  "package.json"};
  std::vector<std::string> paths(4096);
  for (std::string& path : paths)
    path = folder_of(random() % rules) + "/" + kEnds[random() % std::size(kEnds)];
  return paths;
}

void DecidePath(benchmark::State& state) {
  const auto rules = static_cast<size_t>(state.range(0));
  const auto policy = policy_of(rules);
  const std::vector<std::string> paths = paths_of(rules);
  size_t i = 0, sum = 0;
  for (auto _ : state) {
    sum += policy->decide_path(Kind::kRead, paths[i++ % paths.size()]).rule;
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(DecidePath)->Arg(100)->Arg(1000)->Arg(10000)->Arg(100000)->ArgName("rules");

void AboveBlock(benchmark::State& state) {
  const auto rules = static_cast<size_t>(state.range(0));
  const auto policy = policy_of(rules);
  const std::vector<std::string> paths = paths_of(rules);
  size_t i = 0, sum = 0;
  for (auto _ : state) sum += policy->above_block(paths[i++ % paths.size()]) ? 1 : 0;
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(AboveBlock)->Arg(1000)->Arg(100000)->ArgName("rules");

void DecideConnect(benchmark::State& state) {
  const auto rules = static_cast<size_t>(state.range(0));
  PolicyInputs inputs;
  for (size_t i = 0; i < rules; ++i)
    inputs.manifest.network.push_back(
        {i % 3 == 0   ? fmt::format("host-{}.example.com:443", i)
         : i % 3 == 1 ? fmt::format("*.zone-{}.example.org:443", i)
                      : fmt::format("10.{}.{}.{}:443", i >> 16U & 255U, i >> 8U & 255U, i & 255U),
         {}});
  const auto policy = Policy::compile(inputs);
  if (!policy.ok()) std::exit(1);
  std::vector<std::string> names(1024);
  std::mt19937 random(20261121);
  for (std::string& name : names)
    name = random() % 2 == 0 ? fmt::format("host-{}.example.com", random() % rules)
                             : fmt::format("a.zone-{}.example.org", random() % rules);
  const auto address = *bulkhead::IpAddress::parse("8.8.8.8");
  size_t i = 0, sum = 0;
  for (auto _ : state) {
    const std::string_view name = names[i++ % names.size()];
    sum += (*policy)->decide_connect(address, 443, std::span(&name, 1)).rule;
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(DecideConnect)->Arg(1000)->Arg(100000)->ArgName("rules");

void Compile(benchmark::State& state) {
  const PolicyInputs inputs = inputs_of(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Policy::compile(inputs));
}
BENCHMARK(Compile)->Arg(1000)->Arg(100000)->ArgName("rules")->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
