// One optimizer step over many small and a few large parameters (160 x 2,000 and 8 x 3 million), as
// in large networks. Two optimizers take turns, step by step, so what disturbs one disturbs both;
// the counter `times_faster` is the median time of the second by that of the first.
#include <benchmark/benchmark.h>
#include <torch/optim/adamw.h>
#include <torch/utils.h>

#include <algorithm>
#include <functional>

#include "stoker/base/clock.h"
#include "stoker/train/named_tensor.h"
#include "stoker/train/optimizers/adamw.h"
#include "stoker/train/optimizers/lamb.h"
#include "stoker/train/optimizers/lars.h"
#include "stoker/train/optimizers/lion.h"
#include "stoker/train/optimizers/rmsprop.h"
#include "stoker/train/optimizers/sgd.h"
#include "stoker/train/parameters.h"

namespace stoker {
namespace {

constexpr ScheduleValue kNow{.lr = 1e-3, .momentum = {}};

// Equal weights and gradients at each call.
std::vector<at::Tensor> MakeParameters() {
  torch::manual_seed(1);
  std::vector<at::Tensor> parameters;
  const auto add = [&](int64_t n) {
    parameters.push_back(torch::randn({n}).requires_grad_());
    parameters.back().mutable_grad() = torch::randn({n});
  };
  for (int i = 0; i < 160; ++i) add(2000);
  for (int i = 0; i < 8; ++i) add(3'000'000);
  return parameters;
}

struct Stepper {
  std::vector<at::Tensor> parameters = MakeParameters();
  std::function<void()> step = {};
};

template <typename Kind>
Stepper Ours() {
  Stepper stepper;
  TrainedParameters trained;
  for (const at::Tensor& parameter : stepper.parameters) {
    trained.push_back({std::to_string(trained.size()), parameter});
  }
  std::shared_ptr<Optimizer> optimizer = *Kind{}.Build(trained);
  stepper.step = [optimizer] { optimizer->Step(kNow); };
  return stepper;
}

Stepper TorchAdamw() {
  Stepper stepper;
  auto optimizer = std::make_shared<torch::optim::AdamW>(
      stepper.parameters, torch::optim::AdamWOptions(kNow.lr).weight_decay(0.01));
  stepper.step = [optimizer] { optimizer->step(); };
  return stepper;
}

double Median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

template <auto MakeFirst, auto MakeSecond>
void BM_OptimizerStep(benchmark::State& bench) {
  const Stepper first = MakeFirst(), second = MakeSecond();
  std::vector<double> first_s, second_s;
  for (auto _ : bench) {
    const Stopwatch of_first;
    first.step();
    first_s.push_back(of_first.ElapsedSeconds());
    const Stopwatch of_second;
    second.step();
    second_s.push_back(of_second.ElapsedSeconds());
    bench.SetIterationTime(first_s.back());
  }
  bench.counters["times_faster"] = Median(second_s) / Median(first_s);
  // Where both are AdamW, they must agree.
  if constexpr (MakeFirst == &Ours<Adamw> && MakeSecond == &TorchAdamw) {
    for (size_t i = 0; i < first.parameters.size(); ++i) {
      if (!torch::allclose(first.parameters[i], second.parameters[i], 1e-4, 1e-5)) {
        bench.SkipWithError("wrong answer");
      }
    }
  }
}
#define STOKER_STEP UseManualTime()->Unit(benchmark::kMillisecond)
BENCHMARK(BM_OptimizerStep<Ours<Adamw>, TorchAdamw>)->STOKER_STEP;
BENCHMARK(BM_OptimizerStep<Ours<Sgd>, Ours<Adamw>>)->STOKER_STEP;
BENCHMARK(BM_OptimizerStep<Ours<Lamb>, Ours<Adamw>>)->STOKER_STEP;
BENCHMARK(BM_OptimizerStep<Ours<Lars>, Ours<Adamw>>)->STOKER_STEP;
BENCHMARK(BM_OptimizerStep<Ours<Lion>, Ours<Adamw>>)->STOKER_STEP;
BENCHMARK(BM_OptimizerStep<Ours<Rmsprop>, Ours<Adamw>>)->STOKER_STEP;

}  // namespace
}  // namespace stoker
