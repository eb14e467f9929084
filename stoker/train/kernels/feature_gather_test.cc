#include "stoker/train/kernels/feature_gather.h"

#include <ATen/Parallel.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/train/models/feature_inputs_internal.h"

namespace stoker::feature_gather_test {

// Numbers, one-hot features, vectors, a list and vectors that two features share.
FeatureLayout Layout(int64_t cities) {
  return {{{.name = "numbers", .slots = 3},
           {.name = "grade", .categories = 5},
           {.name = "city", .categories = cities, .embedding = 7, .shared = "cities"},
           {.name = "seen", .slots = 4, .categories = cities, .embedding = 7, .shared = "cities"},
           {.name = "words", .slots = 2, .categories = 30, .combine = CombineVectors::kSum},
           {.name = "day", .categories = 7, .embedding = 2, .part = FeaturePart::kDeep},
           {.name = "tags", .slots = 3, .categories = 20, .combine = CombineVectors::kSqrtN},
           {.name = "near",
            .slots = 2,
            .categories = 15,
            .embedding = 3,
            .combine = CombineVectors::kSqrtN}}};
}

// Some slots have no category, some rows of lists none at all.
at::Tensor Rows(int64_t samples, int64_t cities) {
  at::Tensor rows = at::randn({samples, 17});
  const std::vector<int64_t> most = {5,  cities, cities, cities, cities, cities, 30,
                                     30, 7,      20,     20,     20,     15,     15};
  for (int64_t slot = 0; slot < 14; ++slot) {
    rows.select(1, 3 + slot)
        .copy_(at::randint(-1, most[static_cast<size_t>(slot)], {samples}, at::kFloat));
  }
  rows.narrow(1, 5, 4).narrow(0, 0, samples / 3).fill_(-1);
  return rows;
}

// Scores and gradients of all parameters.
template <typename Module, typename Forward>
std::vector<at::Tensor> Trained(Module& module, const Forward& forward) {
  for (at::Tensor& parameter : module.parameters()) parameter.mutable_grad().reset();
  const at::Tensor out = forward();
  (out * out).sum().backward();
  std::vector<at::Tensor> results = {out.detach().clone()};
  for (const at::Tensor& parameter : module.parameters())
    results.push_back(parameter.grad().clone());
  return results;
}

template <typename Module>
void ExpectAsOfParts(Module& module, const at::Tensor& rows) {
  const auto fused = Trained(module, [&] { return module.Forward(rows); });
  const auto parts = Trained(module, [&] { return module.ForwardOfParts(rows); });
  ASSERT_EQ(fused.size(), parts.size());
  for (size_t i = 0; i < fused.size(); ++i) {
    ASSERT_EQ(fused[i].sizes(), parts[i].sizes());
    EXPECT_TRUE(fused[i].allclose(parts[i], 1e-4, 1e-4)) << i;
  }
}

TEST(GatherFeatures, GivesTheVectorsAndGradientsOfTorchsOwnParts) {
  torch::manual_seed(2);
  internal::FeatureVectors all(Layout(40), FeaturePart::kBoth);
  ExpectAsOfParts(all, Rows(60, 40));
  ExpectAsOfParts(all, Rows(3000, 40));  // on several threads
}

TEST(GatherFeatures, GivesTheScoresAndGradientsOfALinearLayerOverFeatures) {
  torch::manual_seed(3);
  internal::FeatureWeights wide(Layout(40), FeaturePart::kWide, 3);
  for (at::Tensor& parameter : wide.parameters()) parameter.data().normal_();
  ExpectAsOfParts(wide, Rows(60, 40));
  ExpectAsOfParts(wide, Rows(30000, 40));
}

TEST(GatherFeatures, HasTheSameGradientsAsRowsOfTheTables) {
  torch::manual_seed(5);
  internal::FeatureVectors vectors(Layout(40), FeaturePart::kBoth);
  const at::Tensor rows = Rows(3000, 40);
  const auto whole = Trained(vectors, [&] { return vectors.Forward(rows); });
  for (const auto& module : vectors.modules(/*include_self=*/false)) {
    if (auto* table = module->as<torch::nn::EmbeddingImpl>()) table->options.sparse(true);
  }
  for (const auto& of_rows : {Trained(vectors, [&] { return vectors.Forward(rows); }),
                              Trained(vectors, [&] { return vectors.ForwardOfParts(rows); })}) {
    for (size_t i = 1; i < whole.size(); ++i) {
      ASSERT_TRUE(of_rows[i].is_sparse());
      EXPECT_TRUE(of_rows[i].to_dense().allclose(whole[i], 1e-4, 1e-4)) << i;
    }
  }
}

TEST(GatherFeatures, HasTheSameBytesForAnyNumberOfThreads) {
  torch::manual_seed(4);
  internal::FeatureVectors vectors(Layout(5000), FeaturePart::kBoth);
  const at::Tensor rows = Rows(4000, 5000);
  const int before = at::get_num_threads();
  std::vector<std::vector<at::Tensor>> results;
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    results.push_back(Trained(vectors, [&] { return vectors.Forward(rows); }));
  }
  at::set_num_threads(before);
  for (size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_TRUE(results[0][i].equal(results[1][i])) << i;
    EXPECT_TRUE(results[0][i].equal(results[2][i])) << i;
  }
}

TEST(GatherFeatures, TakesRowsOfNoSamples) {
  internal::FeatureVectors vectors(Layout(4), FeaturePart::kBoth);
  EXPECT_EQ(vectors.Forward(at::randn({0, 17})).sizes(),
            (std::vector<int64_t>{0, vectors.width()}));
}

TEST(CanGatherFeatures, RefusesOtherTypesAndRowsThatWantGradients) {
  const at::Tensor rows = at::randn({2, 3});
  EXPECT_TRUE(CanGatherFeatures(rows, {rows}));
  EXPECT_FALSE(CanGatherFeatures(rows.to(at::kDouble), {}));
  EXPECT_FALSE(CanGatherFeatures(rows, {rows.t()}));
  EXPECT_FALSE(CanGatherFeatures(at::randn({2, 3}).set_requires_grad(true), {}));
}

}  // namespace stoker::feature_gather_test
