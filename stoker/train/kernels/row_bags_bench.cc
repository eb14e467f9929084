// An embedding bag of 20 ids a sample over a million rows of 32 values, forward and backward, with
// a gradient of rows in which each row is once: ours, and torch's. The counter `two_threads` says
// how much faster ours is on two of torch's threads than on one. And the same of samples of very
// different lengths: their ids as they stand, and filled up to the longest.
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding_bag.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <torch/utils.h>

#include "stoker/train/core/row_gradient.h"
#include "stoker/train/kernels/row_bags.h"
#include "stoker/train/kernels/thread_scaling_bench.h"

namespace stoker {
namespace {

constexpr int64_t kRows = 1'000'000, kWidth = 32, kIds = 20;

at::Tensor TorchsBags(const at::Tensor& ids, const at::Tensor& table) {
  return std::get<0>(at::embedding_bag(table, ids.flatten(),
                                       at::arange(0, ids.numel(), ids.size(1)),
                                       /*scale_grad_by_freq=*/false, /*mode=*/0, /*sparse=*/true));
}

at::Tensor OurBags(const at::Tensor& ids, const at::Tensor& table) {
  return SumRowsOf(ids, table, {.padding = -1});
}

template <auto Bags>
void BM_RowBags(benchmark::State& bench) {
  torch::manual_seed(1);
  const int64_t samples = bench.range(0);
  at::Tensor table = at::randn({kRows, kWidth}).requires_grad_();
  // Half of the ids are of a thousandth of the rows.
  const at::Tensor popular = at::randint(kRows / 1000, {samples, kIds / 2}, at::kLong);
  const at::Tensor ids =
      torch::cat({popular, at::randint(kRows, {samples, kIds / 2}, at::kLong)}, 1);
  const at::Tensor grad = at::randn({samples, kWidth});
  const auto step = [&] {
    table.mutable_grad().reset();
    Bags(ids, table).backward(grad);
    JoinRows({table});
  };
  for (auto _ : bench) step();
  bench.counters["two_threads"] = TwoThreadScaling(step);
  const at::Tensor ours = OurBags(ids, table), torchs = TorchsBags(ids, table);
  if (!ours.allclose(torchs, 1e-4, 1e-4)) bench.SkipWithError("wrong answer");
  bench.SetItemsProcessed(bench.iterations() * samples);
}
#define STOKER_BAGS Arg(256)->Arg(4096)->UseRealTime()->Unit(benchmark::kMillisecond)
BENCHMARK(BM_RowBags<&OurBags>)->STOKER_BAGS;
BENCHMARK(BM_RowBags<&TorchsBags>)->STOKER_BAGS;

// Most samples have few ids, and one in a hundred has up to two hundred.
at::Tensor DifferentLengths(int64_t samples) {
  const at::Tensor lengths = torch::randint(1, 12, {samples}, torch::kLong);
  return at::where(torch::rand({samples}).lt(0.01), lengths * 18, lengths);
}

template <bool kRagged>
void BM_RowBagsOfDifferentLengths(benchmark::State& bench) {
  torch::manual_seed(1);
  const int64_t samples = bench.range(0);
  at::Tensor table = at::randn({kRows, kWidth}).requires_grad_();
  const at::Tensor lengths = DifferentLengths(samples);
  const at::Tensor there =
      at::arange(lengths.max().item<int64_t>()).unsqueeze(0).lt(lengths.unsqueeze(1));
  const at::Tensor padded =
      at::randint(kRows, there.sizes(), at::kLong).masked_fill(there.logical_not(), -1);
  const at::Tensor offsets = at::cat({torch::zeros({1}, at::kLong), lengths.cumsum(0)});
  const Inputs ids =
      kRagged ? Inputs::WithOffsets(padded.masked_select(there), offsets) : Inputs(padded);
  const at::Tensor grad = at::randn({samples, kWidth});
  for (auto _ : bench) {
    table.mutable_grad().reset();
    SumRowsOf(ids, table, {.padding = -1}).backward(grad);
    JoinRows({table});
  }
  bench.SetItemsProcessed(bench.iterations() * samples);
}
BENCHMARK(BM_RowBagsOfDifferentLengths<true>)->STOKER_BAGS;
BENCHMARK(BM_RowBagsOfDifferentLengths<false>)->STOKER_BAGS;

}  // namespace
}  // namespace stoker
