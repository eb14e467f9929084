// What the automatic settings reach of the best that a sweep by hand finds (threads x depth x
// chunk), on four workloads, and how many threads stay when the consumer is slow. Each measures
// the seconds that STOKER_SWEEP_SECONDS names (quick and noisy without it), e.g.
//
//   STOKER_SWEEP_SECONDS=1 stoker_data_bench --benchmark_filter=Automatic
//
// Counters: elements_per_s, best_per_s and share of the two; threads, depth (in chunks) and chunk
// of the best, and those that were chosen.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "stoker/base/statistics.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/runtime/crew.h"

namespace stoker {
namespace {

double SweepSeconds() {
  const char* seconds = std::getenv("STOKER_SWEEP_SECONDS");
  return seconds == nullptr ? 0.01 : std::atof(seconds);
}

void Compute(int64_t ns) {
  for (const int64_t end = ThreadCpuNs() + ns; ThreadCpuNs() < end;) {
  }
}
void Sleep(int64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }

constexpr int64_t kUs = 1000, kMs = 1000 * kUs;

struct Workload {
  int64_t bytes = 64;  // of an element
  void (*work)(const Element&) = nullptr;
  std::vector<int> threads;
  std::vector<int64_t> depths;  // chunks
  std::vector<int64_t> chunks;
};

constexpr int64_t kMostAhead = 1 << 16;  // what prefetch takes

const Workload kTiny{.work = [](const Element&) {},
                     .threads = {1, 2, 4},
                     .depths = {2, 8, 32},
                     .chunks = {64, 256, 1024, 4096}};
const Workload kComputes5Ms{.work = [](const Element&) { Compute(5 * kMs); },
                            .threads = {1, 2, 4},
                            .depths = {2, 8},
                            .chunks = {1, 4}};
const Workload kSleeps20Ms{.work = [](const Element&) { Sleep(20 * kMs); },
                           .threads = {2, 16, 64},
                           .depths = {2, 64},
                           .chunks = {1, 4}};
const Workload kOneSlowIn50{.work =
                                [](const Element& element) {
                                  element.key.index % 50 == 0 ? Sleep(10 * kMs)
                                                              : Compute(100 * kUs);
                                },
                            .threads = {1, 2, 4, 8},
                            .depths = {2, 16, 128},
                            .chunks = {1, 4, 16}};

struct Setting {
  int threads = 0;
  int64_t depth = 0;  // chunks; 0: automatic
  int64_t chunk = 0;
};

Result<Dataset> Pipeline(const Workload& workload, const Setting& setting) {
  const Map map{.function = [work = workload.work](Element& element, Rng&, Scratch&) {
    work(element);
    return OkStatus();
  }};
  Prefetch prefetch;
  if (setting.depth > 0) prefetch.depth = std::min(setting.depth * setting.chunk, kMostAhead);
  return FromArrays({{"x", Array::Allocate(DType::kUInt8, {1 << 14, workload.bytes})}}) | map |
         Repeat{} | prefetch;
}

struct Measured {
  double per_s = 0;
  Setting chosen;  // in the end
};

// Elements in a second, after a time to settle in.
Result<Measured> Measure(const Workload& workload, const Setting& setting, double settle,
                         double seconds, int64_t consumer_ns = 0) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset, Pipeline(workload, setting));
  Runtime runtime = Runtime::Threaded(setting.threads);
  runtime.chunk = setting.chunk;
  STOKER_ASSIGN_OR_RETURN(const auto elements, dataset.Open(runtime));
  const auto run = [&](double for_s) -> Result<double> {
    const Stopwatch watch;
    int64_t count = 0;
    while (watch.ElapsedSeconds() < for_s) {
      for (int i = 0; i < (consumer_ns > 0 ? 1 : 8); ++i, ++count) {
        STOKER_RETURN_IF_ERROR(elements->Next().status());
      }
      if (consumer_ns > 0) Compute(consumer_ns);
    }
    return static_cast<double>(count) / watch.ElapsedSeconds();
  };
  STOKER_RETURN_IF_ERROR(run(settle).status());
  Measured measured;
  STOKER_ASSIGN_OR_RETURN(measured.per_s, run(seconds));
  for (const Decision& decision : elements->decisions().decisions()) {
    if (decision.what == "threads") measured.chosen.threads = static_cast<int>(decision.to);
    if (decision.what == "depth") measured.chosen.depth = decision.to;
    if (decision.what == "chunk") measured.chosen.chunk = decision.to;
  }
  return measured;
}

Result<Setting> BestOfSweep(const Workload& workload, double seconds) {
  Setting best;
  double most = 0;
  for (const int threads : workload.threads) {
    for (const int64_t depth : workload.depths) {
      for (const int64_t chunk : workload.chunks) {
        const Setting setting{threads, depth, chunk};
        STOKER_ASSIGN_OR_RETURN(const Measured measured,
                                Measure(workload, setting, seconds / 4, seconds));
        if (measured.per_s <= most) continue;
        most = measured.per_s;
        best = setting;
      }
    }
  }
  return best;
}

constexpr int kRounds = 7;

// The two sides in turn, so that a machine that slows down slows both.
Status Compare(benchmark::State& state, const Workload& workload) {
  const double seconds = SweepSeconds();
  STOKER_ASSIGN_OR_RETURN(const Setting best, BestOfSweep(workload, seconds / 2));
  std::vector<double> automatic, by_hand, shares;
  Setting chosen;
  for (int round = 0; round < kRounds; ++round) {
    STOKER_ASSIGN_OR_RETURN(const Measured tuned, Measure(workload, {}, 3 * seconds, seconds));
    automatic.push_back(tuned.per_s);
    chosen = tuned.chosen;
    STOKER_ASSIGN_OR_RETURN(const Measured fixed, Measure(workload, best, seconds / 4, seconds));
    by_hand.push_back(fixed.per_s);
    shares.push_back(tuned.per_s / fixed.per_s);
  }
  state.counters["elements_per_s"] = Median(automatic);
  state.counters["best_per_s"] = Median(by_hand);
  state.counters["share"] = Median(shares);
  for (const auto& [of, setting] : {std::pair{"best", best}, std::pair{"chosen", chosen}}) {
    state.counters[fmt::format("{}_threads", of)] = setting.threads;
    state.counters[fmt::format("{}_depth", of)] = static_cast<double>(setting.depth);
    state.counters[fmt::format("{}_chunk", of)] = static_cast<double>(setting.chunk);
  }
  return OkStatus();
}

void Automatic(benchmark::State& state, const Workload& workload) {
  for (auto _ : state) {
    if (const Status status = Compare(state, workload); !status.ok()) {
      state.SkipWithError(status.message().c_str());
    }
  }
}

// Elements that take 1 ms of sleep to make and 2 ms to use: one thread is enough.
void ThreadsLeftUnderASlowConsumer(benchmark::State& state) {
  const Workload sleeps{
      .work = [](const Element&) { Sleep(kMs); }, .threads = {}, .depths = {}, .chunks = {}};
  for (auto _ : state) {
    const Result<Measured> measured = Measure(sleeps, {}, 0, 10 * SweepSeconds(), 2 * kMs);
    if (!measured.ok()) state.SkipWithError(measured.status().message().c_str());
    if (measured.ok()) state.counters["threads"] = measured->chosen.threads;
  }
}

BENCHMARK_CAPTURE(Automatic, tiny, kTiny)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(Automatic, computes_5_ms, kComputes5Ms)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(Automatic, sleeps_20_ms, kSleeps20Ms)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(Automatic, one_slow_in_50, kOneSlowIn50)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK(ThreadsLeftUnderASlowConsumer)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace stoker
