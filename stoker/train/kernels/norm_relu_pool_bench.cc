// One block of the quick start's model without its convolution, forward and backward, batch 128:
// fused, and of torch's own parts. Both on all of torch's threads; the counter `two_threads` says
// how much faster it is on two than on one.
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/max_pool2d.h>
#include <benchmark/benchmark.h>
#include <torch/utils.h>

#include "stoker/train/kernels/norm_relu_pool.h"
#include "stoker/train/kernels/thread_scaling_bench.h"

namespace stoker {
namespace {

at::Tensor Fused(const at::Tensor& x, const NormState& state) { return NormReluPool(x, state); }

at::Tensor OfParts(const at::Tensor& x, const NormState& state) {
  return at::max_pool2d(at::batch_norm(x, state.weight, state.bias, state.running_mean,
                                       state.running_var, state.training, state.momentum, state.eps,
                                       /*cudnn_enabled=*/false),
                        2)
      .relu_();
}

template <auto Block>
void BM_NormReluPool(benchmark::State& bench) {
  torch::manual_seed(1);
  const int64_t channels = bench.range(0), size = bench.range(1);
  const at::Tensor x = torch::randn({128, channels, size, size})
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .set_requires_grad(true);
  const NormState state{.weight = torch::ones({channels}).set_requires_grad(true),
                        .bias = torch::zeros({channels}).set_requires_grad(true),
                        .running_mean = torch::zeros({channels}),
                        .running_var = torch::ones({channels}),
                        .training = true};
  const at::Tensor grad = torch::randn_like(Block(x, state));
  const auto step = [&] {
    Block(x, state).backward(grad);
    x.mutable_grad().reset();
  };
  for (auto _ : bench) step();
  bench.counters["two_threads"] = TwoThreadScaling(step);
  if (!torch::allclose(Block(x, state), OfParts(x, state), 1e-4, 1e-5)) {
    bench.SkipWithError("wrong answer");
  }
  bench.SetItemsProcessed(bench.iterations() * 128);  // images
}
#define STOKER_BLOCKS Args({16, 28})->Args({32, 14})->Args({32, 7})->UseRealTime()
BENCHMARK(BM_NormReluPool<Fused>)->STOKER_BLOCKS;
BENCHMARK(BM_NormReluPool<OfParts>)->STOKER_BLOCKS;

}  // namespace
}  // namespace stoker
