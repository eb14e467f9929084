// Dropout of a batch in training, forward and backward: ours, whose draws depend on the row alone
// and so not on the number of threads or ranks, and torch's. The counter `two_threads` says how
// much faster it is on two of torch's threads than on one.
#include <ATen/ops/dropout.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <optional>

#include "stoker/train/core/layers.h"
#include "stoker/train/core/training_pass.h"
#include "stoker/train/kernels/thread_scaling_bench.h"

namespace stoker {
namespace {

constexpr double kProbability = 0.5;

void BM_Dropout(benchmark::State& bench) {
  const bool ours = bench.range(1) != 0;
  at::Tensor x = at::randn({256, bench.range(0)}).requires_grad_();
  const at::Tensor grad = at::ones_like(x);
  std::optional<TrainingPass> pass;
  if (ours) pass.emplace(PlaceOfPass{.seed = 1, .step = 1});
  const auto step = [&] {
    x.mutable_grad().reset();
    Dropout(x, kProbability, /*training=*/true).backward(grad);
  };
  for (auto _ : bench) step();
  bench.counters["two_threads"] = TwoThreadScaling(step);
  const double kept = x.grad().ne(0).to(at::kDouble).mean().item<double>();
  if (kept < .45 || kept > .55) bench.SkipWithError("wrong answer");
  bench.SetItemsProcessed(bench.iterations() * x.numel());
}
BENCHMARK(BM_Dropout)
    ->ArgNames({"values", "ours"})
    ->ArgsProduct({{1024, 16384}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stoker
