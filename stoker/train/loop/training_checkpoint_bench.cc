// What a checkpoint costs a run: three layers of 1024 with AdamW (2.9 million weights, 34 MB a
// checkpoint), one after every tenth step. The same run without any, with those that training waits
// for, and with those written while it goes on (train.checkpoint.async). Counters, medians of the
// runs: `ms_waiting` and `ms_async`, by how much the whole run was longer for each checkpoint;
// `held_ms_async`, for how long training stood still for one; `ratio`, the first by the second.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "stoker/base/clock.h"
#include "stoker/base/rounds_bench.h"
#include "stoker/base/statistics.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/train/loop/trainer.h"
#include "stoker/train/models/mlp.h"

namespace stoker {
namespace {

constexpr int64_t kSteps = 60;
constexpr int64_t kBatch = 64;
constexpr int64_t kCheckpoints = 5;  // beside that of the end, which all runs have

Recipe RecipeOfLayers() {
  Array images = Array::Allocate(DType::kFloat32, {kSteps * kBatch, 784});
  Array labels = Array::Allocate(DType::kInt64, {kSteps * kBatch});
  std::ranges::fill(images.values<float>(), 0.5f);
  for (size_t i = 0; i < labels.values<int64_t>().size(); ++i) {
    labels.values<int64_t>()[i] = static_cast<int64_t>(i % 10);
  }
  Dataset train = *FromArrays({{"image", std::move(images)}, {"label", std::move(labels)}});
  train = *Batch{.size = kBatch}.Build(std::move(train));
  train = *Prefetch{}.Build(std::move(train));
  Recipe recipe{.data = {.train = std::move(train)},
                .model = Configure(Mlp{.classes = 10, .hidden = {1024, 1024, 1024}}),
                .train = {}};
  recipe.train.options.epochs = 1;
  recipe.train.options.threads = 1;
  recipe.train.options.lint = false;
  return recipe;
}

class HeldUp : public TrainObserver {
 public:
  void OnStart(const StartEvent&) override { since_start_ = Stopwatch(); }
  void OnCheckpoint(const CheckpointEvent& event) override {
    held_ += event.step < kSteps ? event.held_seconds : 0;
  }
  double seconds() const { return since_start_.ElapsedSeconds(); }
  double held_seconds() const { return held_; }

 private:
  Stopwatch since_start_;
  double held_ = 0;
};

struct Cost {
  double seconds = 0;
  double held_seconds = 0;
};

Cost RunOnce(Recipe recipe, benchmark::State& state) {
  const std::filesystem::path run =
      std::filesystem::temp_directory_path() / ("stoker-ckpt-bench-" + std::to_string(::getpid()));
  const auto trainer = Trainer::Create(std::move(recipe), run);
  HeldUp observer;
  const Result<TrainSummary> summary = trainer.ok() ? (*trainer)->Run(&observer) : trainer.status();
  const Cost cost{observer.seconds(), observer.held_seconds()};
  std::filesystem::remove_all(run);
  if (!summary.ok() || summary->step != kSteps) {
    state.SkipWithError(summary.status().ToString().c_str());
  }
  return cost;
}

void BM_Checkpoint(benchmark::State& state) {
  const Recipe without = RecipeOfLayers();
  Recipe waiting = without;
  waiting.train.checkpoint.every_steps = kSteps / (kCheckpoints + 1);
  waiting.train.checkpoint.async = false;
  Recipe async = waiting;
  async.train.checkpoint.async = true;
  std::vector<double> of_waiting, of_async, held;
  for (auto _ : state) {
    const double plain = RunOnce(without, state).seconds;
    of_waiting.push_back((RunOnce(waiting, state).seconds - plain) * 1e3 / kCheckpoints);
    const Cost cost = RunOnce(async, state);
    of_async.push_back((cost.seconds - plain) * 1e3 / kCheckpoints);
    held.push_back(cost.held_seconds * 1e3 / kCheckpoints);
  }
  state.counters["ms_waiting"] = Median(of_waiting);
  state.counters["ms_async"] = Median(of_async);
  state.counters["held_ms_async"] = Median(held);
  state.counters["ratio"] = Median(of_waiting) / Median(of_async);
}
BENCHMARK(BM_Checkpoint)->Unit(benchmark::kMillisecond)->Iterations(BenchRounds(5));

}  // namespace
}  // namespace stoker
