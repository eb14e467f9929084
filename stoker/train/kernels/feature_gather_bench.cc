// What wide_and_deep makes of the rows of a table, forward and backward: fused, and of torch's own
// parts. The counter `two_threads` says how much faster it is on two of torch's threads than on
// one.
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <torch/utils.h>

#include "stoker/train/kernels/thread_scaling_bench.h"
#include "stoker/train/models/feature_inputs_internal.h"

namespace stoker {
namespace {

// Six numbers and three features with vectors of eight values.
FeatureLayout LayoutOf(int64_t categories) {
  FeatureLayout layout{{{.name = "numbers", .slots = 6}}};
  for (const char* name : {"a", "b", "c"})
    layout.columns.push_back({.name = name, .categories = categories, .embedding = 8});
  return layout;
}

template <auto Forward>
void BM_FeatureVectors(benchmark::State& bench) {
  torch::manual_seed(1);
  const int64_t samples = bench.range(0), categories = bench.range(1);
  internal::FeatureVectors vectors(LayoutOf(categories), FeaturePart::kBoth);
  at::Tensor rows = at::randn({samples, 9});
  rows.narrow(1, 6, 3).copy_(at::randint(0, categories, {samples, 3}, at::kFloat));
  const at::Tensor grad = at::randn({samples, vectors.width()});
  const auto step = [&] {
    (vectors.*Forward)(rows).backward(grad);
    for (at::Tensor& parameter : vectors.parameters()) parameter.mutable_grad().reset();
  };
  for (auto _ : bench) step();
  bench.counters["two_threads"] = TwoThreadScaling(step);
  if (!vectors.Forward(rows).allclose(vectors.ForwardOfParts(rows), 1e-4, 1e-5))
    bench.SkipWithError("wrong answer");
  bench.SetItemsProcessed(bench.iterations() * samples);
}
#define STOKER_ROWS Args({256, 8})->Args({256, 1000})->Args({8192, 1000})->UseRealTime()
BENCHMARK(BM_FeatureVectors<&internal::FeatureVectors::Forward>)->STOKER_ROWS;
BENCHMARK(BM_FeatureVectors<&internal::FeatureVectors::ForwardOfParts>)->STOKER_ROWS;

}  // namespace
}  // namespace stoker
