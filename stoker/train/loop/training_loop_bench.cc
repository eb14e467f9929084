// What the loop costs beside the work: a model of one small layer, batches of one sample. One whole
// run of Trainer (pipeline, schedule, metrics, checkpoints, all its checks) against the bare
// learner with one batch again and again, which is the work alone. The counter `us_of_loop` is the
// difference, in microseconds a step.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>
#include <unistd.h>

#include <filesystem>

#include "stoker/base/clock.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/run/schedules/constant_schedule.h"
#include "stoker/train/loop/trainer.h"
#include "stoker/train/optimizers/sgd.h"
#include "stoker/train/step/learner.h"

namespace stoker {
namespace {

constexpr int64_t kSteps = 10'000;

struct OneLayer : Model {
  OneLayer() { layer = register_module("layer", torch::nn::Linear(1, 2)); }
  at::Tensor Forward(const at::Tensor& input) override { return layer(input); }
  torch::nn::Linear layer{nullptr};
};

struct NoWork {
  static constexpr std::string_view kName = "no_work";
  static constexpr std::string_view kHelp = "One layer of one input and two scores.";
  static void Describe(OptionTable<NoWork>&) {}
  Result<std::shared_ptr<Model>> Build(const ModelInput&) const {
    return std::make_shared<OneLayer>();
  }
};

Recipe RecipeOfNoWork() {
  Array images = Array::Allocate(DType::kFloat32, {kSteps, 1});
  Array labels = Array::Allocate(DType::kInt64, {kSteps});
  for (int64_t i = 0; i < kSteps; ++i) {
    images.values<float>()[static_cast<size_t>(i)] = i % 2 == 0 ? 1.0f : -1.0f;
    labels.values<int64_t>()[static_cast<size_t>(i)] = i % 2;
  }
  Dataset train = *FromArrays({{"image", std::move(images)}, {"label", std::move(labels)}});
  train = *Batch{.size = 1}.Build(std::move(train));
  train = *Prefetch{}.Build(std::move(train));
  Recipe recipe{.data = {.train = std::move(train)}, .model = Configure(NoWork{}), .train = {}};
  recipe.train.options.epochs = 1;
  recipe.train.options.threads = 1;
  recipe.train.optimizer = Configure(Sgd{});
  recipe.train.schedule = Configure(ConstantSchedule{.lr = 0.01});
  return recipe;
}

// Microseconds a step of the work alone.
double BareStep(const Recipe& recipe) {
  const auto learner = *Learner::Create(recipe, {.channels = 1}, {});
  const TensorBatch batch{.input = torch::ones({1, 1}), .target = torch::zeros({1}, torch::kLong)};
  const Stopwatch watch;
  for (int64_t i = 0; i < kSteps; ++i) {
    if (!learner->Step(batch, {.lr = 0.01, .momentum = {}}, i + 1).ok()) return 0;
  }
  return watch.ElapsedSeconds() * 1e6 / static_cast<double>(kSteps);
}

double LoopStep(const Recipe& recipe, benchmark::State& state) {
  const std::filesystem::path run =
      std::filesystem::temp_directory_path() / ("stoker-loop-bench-" + std::to_string(::getpid()));
  const auto trainer = Trainer::Create(recipe, run);
  const Result<TrainSummary> summary = trainer.ok() ? (*trainer)->Run() : trainer.status();
  std::filesystem::remove_all(run);
  if (!summary.ok() || summary->step != kSteps) {
    state.SkipWithError(summary.status().ToString().c_str());
    return 0;
  }
  return summary->train_seconds * 1e6 / static_cast<double>(kSteps);
}

void BM_LoopOfNoWork(benchmark::State& state) {
  const Recipe recipe = RecipeOfNoWork();
  at::set_num_threads(1);
  std::vector<double> bare, loop;
  for (auto _ : state) {
    bare.push_back(BareStep(recipe));
    loop.push_back(LoopStep(recipe, state));
  }
  const auto median = [](std::vector<double>& values) {
    std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
    return values[values.size() / 2];
  };
  const double of_work = median(bare), of_all = median(loop);
  state.counters["us_of_work"] = of_work;
  state.counters["us_a_step"] = of_all;
  state.counters["us_of_loop"] = of_all - of_work;
}
BENCHMARK(BM_LoopOfNoWork)->Unit(benchmark::kMillisecond)->MinTime(2);

}  // namespace
}  // namespace stoker
