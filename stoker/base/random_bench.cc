// Random numbers per second, against the standard library's generator; and what a stream of its own
// for every sample costs.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "stoker/base/random.h"

namespace stoker {
namespace {

constexpr int kDraws = 4096;  // an iteration

void CheckMean(benchmark::State& state, double sum, double wanted) {
  const double mean = sum / static_cast<double>(state.iterations() * kDraws);
  // One iteration draws 4096 numbers of standard deviation at most 1: nine standard errors.
  if (std::abs(mean - wanted) > 9.0 / std::sqrt(kDraws)) state.SkipWithError("wrong answer");
}

void BM_PhiloxUniform(benchmark::State& state) {
  Rng rng(1, 2, 3, 4);
  double total = 0;
  for (auto _ : state) {
    float sum = 0;
    for (int i = 0; i < kDraws; ++i) sum += rng.Uniform();
    total += sum;
  }
  CheckMean(state, total, 0.5);
  state.SetItemsProcessed(state.iterations() * kDraws);
}
BENCHMARK(BM_PhiloxUniform);

void BM_MersenneTwisterUniform(benchmark::State& state) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform;
  double total = 0;
  for (auto _ : state) {
    float sum = 0;
    for (int i = 0; i < kDraws; ++i) sum += uniform(generator);
    total += sum;
  }
  CheckMean(state, total, 0.5);
  state.SetItemsProcessed(state.iterations() * kDraws);
}
BENCHMARK(BM_MersenneTwisterUniform);

void BM_PhiloxNormal(benchmark::State& state) {
  Rng rng(1, 2, 3, 4);
  double total = 0;
  for (auto _ : state) {
    for (int i = 0; i < kDraws; ++i) total += rng.Normal();
  }
  CheckMean(state, total, 0.0);
  state.SetItemsProcessed(state.iterations() * kDraws);
}
BENCHMARK(BM_PhiloxNormal);

void BM_StandardNormal(benchmark::State& state) {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  double total = 0;
  for (auto _ : state) {
    for (int i = 0; i < kDraws; ++i) total += normal(generator);
  }
  CheckMean(state, total, 0.0);
  state.SetItemsProcessed(state.iterations() * kDraws);
}
BENCHMARK(BM_StandardNormal);

// What a transform pays for a sample: a new stream and a few draws from it (a crop's offset and a
// flip take three).
void BM_StreamPerSample(benchmark::State& state) {
  uint64_t index = 0;
  double total = 0;
  for (auto _ : state) {
    for (int i = 0; i < kDraws; ++i) {
      Rng rng(1, 2, index++, 4);
      total += static_cast<double>(rng.Below(9) + rng.Below(9)) / 16.0 +
               (rng.Bernoulli(0.5) ? 0.5 : -0.5);
    }
  }
  CheckMean(state, total, 0.5);
  state.SetItemsProcessed(state.iterations() * kDraws);
}
BENCHMARK(BM_StreamPerSample);

}  // namespace
}  // namespace stoker
