#include "stoker/train/kernels/row_bags.h"

#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <torch/nn/functional/embedding.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/train/core/row_gradient.h"

namespace stoker::row_bags_test {

constexpr int64_t kPadding = -1;

// Some ids are padding, and all of the third sample's.
at::Tensor Ids(int64_t samples, int64_t length, int64_t rows) {
  torch::manual_seed(3);
  at::Tensor ids = torch::randint(rows, {samples, length}, torch::kLong);
  ids.masked_fill_(torch::rand({samples, length}).lt(0.3), kPadding);
  if (samples > 2) ids[2].fill_(kPadding);
  return ids;
}

struct Passed {
  at::Tensor out, gradient;  // the gradient whole
};

Passed Pass(const at::Tensor& table, const std::function<at::Tensor(const at::Tensor&)>& forward) {
  at::Tensor leaf = table.clone().requires_grad_();
  const at::Tensor out = forward(leaf);
  (out * out).sum().backward();
  return {out.detach(), leaf.grad().is_sparse() ? leaf.grad().to_dense() : leaf.grad()};
}

constexpr CombineVectors kAll[] = {CombineVectors::kSum, CombineVectors::kMean,
                                   CombineVectors::kSqrtN};

// Row by row of torch's own parts.
at::Tensor Plain(const at::Tensor& ids, const at::Tensor& table, CombineVectors combine) {
  const at::Tensor there = ids.ne(kPadding);
  const at::Tensor vectors = table.index_select(0, ids.clamp_min(0).flatten())
                                 .view({ids.size(0), ids.size(1), table.size(1)}) *
                             there.unsqueeze(2);
  const at::Tensor sums = vectors.sum(1);
  if (combine == CombineVectors::kSum) return sums;
  const at::Tensor count = there.sum(1, /*keepdim=*/true).clamp_min(1);
  return sums / (combine == CombineVectors::kMean ? count : count.sqrt());
}

TEST(SumRowsOf, GivesTheVectorsAndGradientsOfTorchsOwnParts) {
  for (const CombineVectors combine : kAll) {
    for (const int64_t samples : {1, 5, 700}) {
      SCOPED_TRACE(samples);
      const at::Tensor ids = Ids(samples, 9, 50), table = at::randn({50, 17});
      const Passed ours = Pass(table, [&](const at::Tensor& leaf) {
        return SumRowsOf(ids, leaf, {.padding = kPadding, .combine = combine});
      });
      const Passed plain =
          Pass(table, [&](const at::Tensor& leaf) { return Plain(ids, leaf, combine); });
      EXPECT_TRUE(ours.out.allclose(plain.out, 1e-5, 1e-5));
      EXPECT_TRUE(ours.gradient.allclose(plain.gradient, 1e-4, 1e-4));
    }
  }
}

TEST(SumRowsOf, GivesTheBytesOfPaddedIdsForRaggedOnes) {
  const at::Tensor ids = Ids(700, 9, 50), table = at::randn({50, 17});
  // Without the padding at the end of a sample; that between ids stays.
  std::vector<int64_t> values, offsets = {0};
  for (int64_t sample = 0; sample < ids.size(0); ++sample) {
    const auto* const begin = ids.const_data_ptr<int64_t>() + sample * 9;
    const auto* end = begin + 9;
    while (end > begin && end[-1] == kPadding) --end;
    values.insert(values.end(), begin, end);
    offsets.push_back(static_cast<int64_t>(values.size()));
  }
  const Inputs ragged = Inputs::WithOffsets(torch::tensor(values, torch::kLong),
                                            torch::tensor(offsets, torch::kLong));
  for (const CombineVectors combine : kAll) {
    const RowBagOptions options{.padding = kPadding, .combine = combine};
    const Passed of_padded =
        Pass(table, [&](const at::Tensor& leaf) { return SumRowsOf(ids, leaf, options); });
    const Passed of_ragged =
        Pass(table, [&](const at::Tensor& leaf) { return SumRowsOf(ragged, leaf, options); });
    EXPECT_TRUE(of_padded.out.equal(of_ragged.out));
    EXPECT_TRUE(of_padded.gradient.equal(of_ragged.gradient));
  }
}

TEST(SumRowsOf, HasAGradientOfTheRowsThatWereUsed) {
  at::Tensor table = at::randn({5000, 4}).requires_grad_();
  SumRowsOf(torch::tensor({{7L, 4000L}, {7L, long{kPadding}}}), table, {.padding = kPadding})
      .sum()
      .backward();
  ASSERT_TRUE(IsOfRows(table.grad()));
  JoinRows({table});
  EXPECT_TRUE(RowsOf(table.grad()).equal(torch::tensor({7L, 4000L})));
  EXPECT_TRUE(ValuesOfGradient(table.grad())
                  .equal(torch::tensor({{2.f, 2.f, 2.f, 2.f}, {1.f, 1.f, 1.f, 1.f}})));
}

TEST(SumRowsOf, GivesTheSameBytesOnAnyNumberOfThreads) {
  const at::Tensor ids = Ids(900, 20, 10'000), table = at::randn({10'000, 32});
  const int before = at::get_num_threads();
  std::vector<Passed> results;
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    results.push_back(Pass(table, [&](const at::Tensor& leaf) {
      return SumRowsOf(ids, leaf, {.padding = kPadding, .combine = CombineVectors::kMean});
    }));
  }
  at::set_num_threads(before);
  for (const size_t other : {1, 2}) {
    EXPECT_TRUE(results[0].out.equal(results[other].out));
    EXPECT_TRUE(results[0].gradient.equal(results[other].gradient));
  }
}

TEST(SumRowsOf, TakesNoSamplesAndNoIds) {
  const at::Tensor table = at::randn({4, 3});
  EXPECT_EQ(SumRowsOf(torch::empty({0, 5}, torch::kLong), table, {}).sizes(),
            (std::vector<int64_t>{0, 3}));
  EXPECT_TRUE(
      SumRowsOf(torch::empty({2, 0}, torch::kLong), table, {.combine = CombineVectors::kMean})
          .equal(torch::zeros({2, 3})));
}

}  // namespace stoker::row_bags_test
