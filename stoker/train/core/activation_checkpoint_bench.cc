// What activation checkpointing costs in time and saves in memory: one forward and backward pass of
// a model that keeps its activations against one that computes those of its blocks again. The
// counters are ratios of both in one run: time, and the most memory at once beside the weights.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <torch/utils.h>

#include <algorithm>

#include "stoker/base/clock.h"
#include "stoker/base/rounds_bench.h"
#include "stoker/base/statistics.h"
#include "stoker/train/models/convnet.h"
#include "stoker/train/models/resnet.h"
#include "stoker/train/step/learner.h"
#include "stoker/train/tune/memory_meter.h"

namespace stoker {
namespace {

std::unique_ptr<Learner> MakeLearner(const ModelRegistry::Configured& model, int64_t extent,
                                     bool checkpointed) {
  Recipe recipe{.data = {.root = {}, .train = Dataset(nullptr)}, .model = model, .train = {}};
  if (checkpointed) recipe.train.options.activation_checkpointing = {"*"};
  auto learner = Learner::Create(recipe, {.channels = 3, .height = extent, .width = extent},
                                 {.memory_format = MemoryFormat::kChannelsLast});
  return learner.ok() ? *std::move(learner) : nullptr;
}

void Compare(benchmark::State& state, const ModelRegistry::Configured& model, int64_t extent,
             int64_t samples) {
  at::set_num_threads(1);
  const TensorBatch batch{
      .input =
          torch::randn({samples, 3, extent, extent}).contiguous(at::MemoryFormat::ChannelsLast),
      .target = torch::zeros({samples}, torch::kLong)};
  std::vector<double> seconds[2];
  double peaks[2] = {};
  const std::unique_ptr<Learner> learners[2] = {MakeLearner(model, extent, false),
                                                MakeLearner(model, extent, true)};
  for (auto _ : state) {
    for (const int i : {0, 1}) {
      const MemoryMeter meter(c10::kCPU);
      const Stopwatch watch;
      if (!learners[i] || !learners[i]->Step(batch, {.lr = 0.01, .momentum = {}}).ok()) {
        return state.SkipWithError("a step failed");
      }
      seconds[i].push_back(watch.ElapsedSeconds());
      peaks[i] = static_cast<double>(meter.peak());
    }
  }
  state.counters["time"] = Median(seconds[1]) / Median(seconds[0]);
  state.counters["memory"] = peaks[1] / peaks[0];
  state.counters["MiB_kept"] = peaks[0] / (1 << 20);
}

void BM_CheckpointedConvnet(benchmark::State& state) {
  Compare(state, Configure(Convnet{}), 32, 128);
}
void BM_CheckpointedResnet18(benchmark::State& state) {
  Compare(state, Configure(Resnet18{.classes = 10, .stem = "small"}), 32, 32);
}
void BM_CheckpointedResnet50(benchmark::State& state) {
  Compare(state, Configure(Resnet50{}), 112, 8);
}
BENCHMARK(BM_CheckpointedConvnet)->Unit(benchmark::kMillisecond)->Iterations(BenchRounds(15));
BENCHMARK(BM_CheckpointedResnet18)->Unit(benchmark::kMillisecond)->Iterations(BenchRounds(7));
BENCHMARK(BM_CheckpointedResnet50)->Unit(benchmark::kMillisecond)->Iterations(BenchRounds(5));

}  // namespace
}  // namespace stoker
