// One optimizer step over many small and a few large parameters (160 x 2,000 and 8 x 3 million), as
// in large networks. Two optimizers take turns, step by step, so what disturbs one disturbs both;
// the counter `times_faster` is the median time of the second by that of the first. BM_Scaling has
// how much faster a step is on two threads than on one, of weights that memory holds (those above)
// and of some that caches do (160 x 2,000), and BM_MemoryScaling the same of a plain sum, which is
// what memory allows; BM_RowUpdates has the same of a step with a gradient of rows, and
// BM_DecayedMoments has what flushing denormals gains.
#include <benchmark/benchmark.h>
#include <torch/optim/adamw.h>
#include <torch/utils.h>

#include <algorithm>
#include <functional>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"
#include "stoker/device/torch_denormals.h"
#include "stoker/train/core/named_tensor.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/kernels/thread_scaling_bench.h"
#include "stoker/train/optimizers/adagrad.h"
#include "stoker/train/optimizers/adam.h"
#include "stoker/train/optimizers/adamw.h"
#include "stoker/train/optimizers/ftrl.h"
#include "stoker/train/optimizers/lamb.h"
#include "stoker/train/optimizers/lars.h"
#include "stoker/train/optimizers/lion.h"
#include "stoker/train/optimizers/rmsprop.h"
#include "stoker/train/optimizers/sgd.h"
#include "stoker/train/step/clipping.h"

namespace stoker {
namespace {

constexpr ScheduleValue kNow{.lr = 1e-3, .momentum = {}};

constexpr int64_t kLarge = 8;  // parameters of 3 million

// Equal weights and gradients at each call.
std::vector<at::Tensor> MakeParameters(int64_t large = kLarge) {
  torch::manual_seed(1);
  std::vector<at::Tensor> parameters;
  const auto add = [&](int64_t n) {
    parameters.push_back(torch::randn({n}).requires_grad_());
    parameters.back().mutable_grad() = torch::randn({n});
  };
  for (int i = 0; i < 160; ++i) add(2000);
  for (int64_t i = 0; i < large; ++i) add(3'000'000);
  return parameters;
}

struct Stepper {
  std::vector<at::Tensor> parameters;
  std::function<void()> step = {};
};

template <typename Kind>
Stepper OursOver(std::vector<at::Tensor> parameters) {
  Stepper stepper{std::move(parameters)};
  TrainedParameters trained;
  for (const at::Tensor& parameter : stepper.parameters) {
    trained.push_back({std::to_string(trained.size()), parameter});
  }
  std::shared_ptr<Optimizer> optimizer = *Kind{}.Build(trained);
  stepper.step = [optimizer] { optimizer->Step(kNow); };
  return stepper;
}

template <typename Kind>
Stepper Ours() {
  return OursOver<Kind>(MakeParameters());
}

Stepper TorchAdamw() {
  Stepper stepper{MakeParameters()};
  auto optimizer = std::make_shared<torch::optim::AdamW>(
      stepper.parameters, torch::optim::AdamWOptions(kNow.lr).weight_decay(0.01));
  stepper.step = [optimizer] { optimizer->step(); };
  return stepper;
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
BENCHMARK(BM_OptimizerStep<Ours<Ftrl>, Ours<Adamw>>)->STOKER_STEP;

template <typename Kind>
void BM_Scaling(benchmark::State& bench) {
  const Stepper stepper = OursOver<Kind>(MakeParameters(bench.range(0)));
  for (auto _ : bench) bench.counters["two_threads"] = TwoThreadScaling(stepper.step);
}
#define STOKER_SCALING ArgName("large")->Arg(0)->Arg(kLarge)->Iterations(1)
BENCHMARK(BM_Scaling<Adamw>)->STOKER_SCALING;  // torch's own kernel
BENCHMARK(BM_Scaling<Ftrl>)->STOKER_SCALING;
BENCHMARK(BM_Scaling<Lamb>)->STOKER_SCALING;
BENCHMARK(BM_Scaling<Lars>)->STOKER_SCALING;
BENCHMARK(BM_Scaling<Lion>)->STOKER_SCALING;
BENCHMARK(BM_Scaling<Rmsprop>)->STOKER_SCALING;

// What the memory allows: torch's own sum of two tensors into a third, of as many values.
void BM_MemoryScaling(benchmark::State& bench) {
  int64_t values = 0;
  for (const at::Tensor& parameter : MakeParameters(bench.range(0))) values += parameter.numel();
  const at::Tensor left = torch::ones({values}), right = torch::ones({values});
  at::Tensor sum = torch::zeros({values});
  for (auto _ : bench) {
    bench.counters["two_threads"] = TwoThreadScaling([&] { at::add_out(sum, left, right); });
  }
}
BENCHMARK(BM_MemoryScaling)->STOKER_SCALING;

// Clipping reads all gradients once and changes none: their norm is below the limit.
void BM_ClippingScaling(benchmark::State& bench) {
  const std::vector<at::Tensor> parameters = MakeParameters(bench.range(0));
  for (auto _ : bench) {
    bench.counters["two_threads"] =
        TwoThreadScaling([&] { ClipGradients({.norm = 1e9}, parameters); });
  }
}
BENCHMARK(BM_ClippingScaling)->STOKER_SCALING;

// A step with a gradient of some rows of a table (core/row_gradient.h): 60,000 of a million, 32
// values each.
template <typename Kind>
void BM_RowUpdates(benchmark::State& bench) {
  torch::manual_seed(1);
  constexpr int64_t kRows = 1'000'000, kUsed = 60'000, kWidth = 32;
  const at::Tensor table = torch::zeros({kRows, kWidth}).requires_grad_();
  const at::Tensor used = std::get<0>(torch::randperm(kRows).narrow(0, 0, kUsed).sort());
  table.mutable_grad() =
      torch::sparse_coo_tensor(used.unsqueeze(0), torch::randn({kUsed, kWidth}), {kRows, kWidth})
          .coalesce();
  Kind kind;
  if constexpr (requires { kind.lazy; }) kind.lazy = true;
  const std::unique_ptr<Optimizer> optimizer = *kind.Build({{"table", table}});
  const auto step = [&] { optimizer->Step(kNow); };
  for (auto _ : bench) step();
  bench.counters["two_threads"] = TwoThreadScaling(step);
}
#define STOKER_ROWS UseRealTime()->Unit(benchmark::kMillisecond)
BENCHMARK(BM_RowUpdates<Adagrad>)->STOKER_ROWS;
BENCHMARK(BM_RowUpdates<Adam>)->STOKER_ROWS;
BENCHMARK(BM_RowUpdates<Adamw>)->STOKER_ROWS;
BENCHMARK(BM_RowUpdates<Ftrl>)->STOKER_ROWS;

// Ten million weights without gradient, such as rows of an embedding that no sample names: after
// some 830 steps their moments (beta 0.9) are denormals. `times_faster`: the median step that keeps
// them by that which flushes them.
template <typename Kind>
void BM_DecayedMoments(benchmark::State& bench) {
  const at::Tensor weights = torch::ones({10'000'000}).requires_grad_();
  weights.mutable_grad() = torch::zeros_like(weights);
  const std::unique_ptr<Optimizer> optimizer = *Kind{}.Build({{"weights", weights}});
  optimizer->Step(kNow);
  const TorchFloatModes modes;
  std::vector<double> seconds[2];
  for (auto _ : bench) {
    for (const bool flushed : {false, true}) {
      FlushTorchDenormals(flushed);
      for (const NamedTensor& state : optimizer->State()) {
        if (state.tensor.is_floating_point()) state.tensor.fill_(1e-40);
      }
      const Stopwatch watch;
      optimizer->Step(kNow);
      seconds[flushed ? 1 : 0].push_back(watch.ElapsedSeconds());
    }
    bench.SetIterationTime(seconds[1].back());
  }
  bench.counters["times_faster"] = Median(seconds[0]) / Median(seconds[1]);
}
BENCHMARK(BM_DecayedMoments<Adamw>)->STOKER_STEP;
BENCHMARK(BM_DecayedMoments<Lamb>)->STOKER_STEP;
BENCHMARK(BM_DecayedMoments<Rmsprop>)->STOKER_STEP;

}  // namespace
}  // namespace stoker
