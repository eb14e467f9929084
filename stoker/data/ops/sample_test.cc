#include "stoker/data/ops/sample.h"

#include <cmath>
#include <map>
#include <set>

#include "stoker/data/ops/alias_table_internal.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/weighted_orders_internal.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/range.h"
#include "stoker/data/testing/promises.h"

namespace stoker::sample_test {

// Elements {number: int64[], label: int64[], weight: float32[]}; number i is i.
Dataset Weighted(const std::vector<float>& weights) {
  std::vector<int64_t> numbers, labels;
  for (size_t i = 0; i < weights.size(); ++i) {
    numbers.push_back(static_cast<int64_t>(i));
    labels.push_back(static_cast<int64_t>(i % 2));
  }
  return *FromArrays({{"number", Array::Of(numbers)},
                      {"label", Array::Of(labels)},
                      {"weight", Array::Of(weights)}});
}

std::vector<int64_t> Numbers(const Result<Dataset>& dataset, const PassOptions& pass = {}) {
  const Result<std::vector<Element>> elements = ReadAll(*dataset, Runtime::Threaded(2), pass);
  EXPECT_THAT(elements, IsOk());
  return elements.ok() ? Labels(*elements, 0) : std::vector<int64_t>{};
}

// How often each of n numbers comes.
std::vector<double> Counts(const std::vector<int64_t>& numbers, size_t n) {
  std::vector<double> counts(n);
  for (const int64_t number : numbers) ++counts[static_cast<size_t>(number)];
  return counts;
}

// Within five standard deviations of what `weights` make of `draws`.
void ExpectDrawnBy(const std::vector<double>& weights, const std::vector<double>& counts,
                   double draws) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double p = weights[i] / sum;
    EXPECT_NEAR(counts[i], draws * p, 5 * std::sqrt(draws * p * (1 - p))) << "element " << i;
  }
}

TEST(Sample, DrawsByTheWeightOfAFieldOfAClassOrOfAList) {
  constexpr int64_t kDraws = 100'000;
  const auto input = [] { return Result<Dataset>(Weighted({1, 0, 2.5f, 6.5f})); };
  ExpectDrawnBy({1, 0, 2.5, 6.5},
                Counts(Numbers(input() | Sample{.count = kDraws, .weight = "weight"}), 4), kDraws);
  ExpectDrawnBy(
      {3, 1, 3, 1},
      Counts(Numbers(input() | Sample{.count = kDraws, .label = "label", .weights = {3, 1}}), 4),
      kDraws);
  ExpectDrawnBy(
      {0.1, 0.2, 0.3, 0},
      Counts(Numbers(input() | Sample{.count = kDraws, .weights = {0.1, 0.2, 0.3, 0}}), 4), kDraws);
  ExpectDrawnBy({1, 1, 1, 1}, Counts(Numbers(input() | Sample{.count = kDraws}), 4), kDraws);
}

TEST(Sample, GivesAsManyAsTheInputHasUnlessTold) {
  const auto input = [] { return Result<Dataset>(Weighted({1, 2, 3})); };
  EXPECT_EQ(Numbers(input() | Sample{}).size(), 3u);
  EXPECT_EQ(Numbers(input() | Sample{.count = 0}).size(), 0u);
  EXPECT_EQ((input() | Sample{.count = 7})->cardinality().value(), 7);
}

TEST(Sample, OfAllAlikeKeepsNoTable) {
  constexpr int64_t k2To40 = int64_t{1} << 40;
  const Result<Dataset> dataset = Source(Range{.stop = k2To40}) | Sample{.count = 1000};
  const std::vector<Element> elements = *ReadAll(*dataset, Runtime::Threaded(2), {.seed = 1});
  ASSERT_EQ(elements.size(), 1000u);
  double sum = 0;
  for (const int64_t index : Labels(elements, 0)) {
    EXPECT_GE(index, 0);
    EXPECT_LT(index, k2To40);
    sum += static_cast<double>(index) / k2To40;
  }
  EXPECT_NEAR(sum, 500, 5 * std::sqrt(1000 / 12.));  // 5 sigma
  EXPECT_THAT((Source(Range{.stop = k2To40}) | Sample{.count = 9, .replacement = false}),
              FailsWith(StatusCode::kUnimplemented, "at most 2^32 - 1"));
}

TEST(Sample, WithoutReplacementGivesNothingTwice) {
  const Result<Dataset> dataset =
      Weighted({1, 0, 2, 3, 4}) | Sample{.count = 4, .weight = "weight", .replacement = false};
  for (uint64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<int64_t> numbers = Numbers(dataset, {.epoch = epoch});
    EXPECT_EQ(std::set<int64_t>(numbers.begin(), numbers.end()), (std::set<int64_t>{0, 2, 3, 4}));
  }
}

// Two of three elements, weights 1, 2, 3: by hand, P(first two = a, b) = w_a/6 * w_b/(6 - w_a).
TEST(Sample, WithoutReplacementDrawsByWeightAmongThoseLeft) {
  constexpr int kPasses = 20'000;
  const Result<Dataset> dataset =
      Weighted({1, 2, 3}) | Sample{.count = 2, .weight = "weight", .replacement = false};
  std::map<std::vector<int64_t>, double> counts;
  for (uint64_t seed = 0; seed < kPasses; ++seed) {
    ++counts[Labels(*ReadAll(*dataset, Runtime::Inline(), {.seed = seed}), 0)];
  }
  for (const double first : {0, 1, 2}) {
    for (const double second : {0, 1, 2}) {
      if (first == second) continue;
      const double p = (first + 1) / 6 * (second + 1) / (6 - first - 1);
      EXPECT_NEAR((counts[{static_cast<int64_t>(first), static_cast<int64_t>(second)}]),
                  kPasses * p, 5 * std::sqrt(kPasses * p))
          << first << ", " << second;
    }
  }
}

TEST(Sample, OrdersBySeedAndEpoch) {
  for (const bool replacement : {true, false}) {
    const Result<Dataset> dataset =
        Weighted(std::vector<float>(50, 2)) | Sample{.replacement = replacement};
    EXPECT_EQ(Numbers(dataset, {.seed = 1}), Numbers(dataset, {.seed = 1}));
    EXPECT_NE(Numbers(dataset, {.seed = 1}), Numbers(dataset, {.seed = 2}));
    EXPECT_NE(Numbers(dataset, {.seed = 1}), Numbers(dataset, {.seed = 1, .epoch = 1}));
  }
  const Result<Dataset> seeded = Weighted({1, 2, 3}) | Sample{.count = 20, .seed = 3};
  EXPECT_EQ(Numbers(seeded, {.seed = 1}), Numbers(seeded, {.seed = 2}));
}

TEST(Sample, KeepsItsPromises) {
  for (const bool replacement : {true, false}) {
    ExpectKeepsItsPromises(*(Weighted({1, 2, 3, 4, 5, 6, 7, 8, 9}) |
                             Sample{.weight = "weight", .replacement = replacement} |
                             Batch{.size = 2} | Repeat{.count = 3} | Prefetch{}));
  }
}

TEST(Sample, RefusesWhatMakesNoSense) {
  const auto input = [] { return Result<Dataset>(Weighted({1, 2, 3})); };
  EXPECT_THAT((input() | Sample{.weight = "weight", .label = "label"}),
              FailsWith(StatusCode::kInvalidArgument, "one or the other"));
  EXPECT_THAT(input() | Sample{.label = "label"},
              FailsWith(StatusCode::kInvalidArgument, "one for each class, are missing"));
  EXPECT_THAT((input() | Sample{.weights = {1, 2}}),
              FailsWith(StatusCode::kInvalidArgument, "2 weights are given for 3 elements"));
  EXPECT_THAT((input() | Sample{.weights = {1, 2, -1}}),
              FailsWith(StatusCode::kInvalidArgument, "must be >= 0"));
  EXPECT_THAT(input() | Sample{.weight = "wait"},
              FailsWith(StatusCode::kInvalidArgument, "there is no field 'wait'"));
  EXPECT_THAT(input() | Shuffle{} | Sample{},
              IsOk());  // nothing is learnt of the elements
  EXPECT_THAT(input() | Shuffle{} | Sample{.weight = "weight"},
              FailsWith(StatusCode::kInvalidArgument, "put sample before it"));
  EXPECT_THAT((input() | Shuffle{} | Sample{.weights = {1, 2, 3}}),
              FailsWith(StatusCode::kInvalidArgument, "put sample before it"));
  EXPECT_THAT(StreamedImages(3) | Sample{},
              FailsWith(StatusCode::kInvalidArgument, "can only be read in order"));
}

TEST(Sample, RefusesWeightsByWhichNothingCanBeDrawn) {
  const auto open = [](const std::vector<float>& weights, const Sample& sample) {
    return (Weighted(weights) | sample)->Open(Runtime::Inline());
  };
  EXPECT_THAT(open({0, 0}, {.weight = "weight"}),
              FailsWith(StatusCode::kInvalidArgument, "add up to 0"));
  EXPECT_THAT(open({1, -2}, {.weight = "weight"}),
              FailsWith(StatusCode::kInvalidArgument, "element 1 has weight -2"));
  EXPECT_THAT(open({1, NAN}, {.weight = "weight"}),
              FailsWith(StatusCode::kInvalidArgument, "element 1 has weight nan"));
  EXPECT_THAT(open({1, 0, 2}, {.weight = "weight", .replacement = false}),
              FailsWith(StatusCode::kInvalidArgument, "only 2 have a weight above 0"));
  EXPECT_THAT(open({1, 1, 1}, {.label = "label", .weights = {1}}),
              FailsWith(StatusCode::kOutOfRange, "element 1 has label 1"));
}

TEST(WeightedOrders, AreMadeOnceForAsManyEpochsAsTheirBytesAllow) {
  const WeightedOrders small(std::vector<double>(100, 1), 100);
  std::vector<std::shared_ptr<const WeightedOrders::Order>> first;
  for (int round = 0; round < 3; ++round) {  // a hundred epochs that interleave
    for (uint64_t epoch = 0; epoch < 100; ++epoch) {
      const auto order = small.Get({.seed = 1, .epoch = epoch});
      if (round == 0) first.push_back(order);
      ASSERT_EQ(order, first[epoch]) << "epoch " << epoch << " was made again";
    }
  }
  const WeightedOrders large(std::vector<double>(1000, 1), 1000, /*kept_bytes=*/15'000);
  std::vector<std::weak_ptr<const WeightedOrders::Order>> kept;
  for (uint64_t epoch = 0; epoch < 5; ++epoch) kept.push_back(large.Get({.epoch = epoch}));
  EXPECT_THAT(std::vector<bool>({kept[0].expired(), kept[1].expired(), kept[2].expired(),
                                 kept[3].expired(), kept[4].expired()}),
              testing::ElementsAre(true, true, false, false, false));
}

TEST(AliasTable, NeverDrawsWhatHasNoWeightAndKnowsOneElement) {
  std::vector<double> weights(1000, 0.1);
  for (size_t i = 0; i < weights.size(); i += 2) weights[i] = 0;
  const AliasTable table(weights), one({0.3});
  Rng rng(1, 2, 3, 4);
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_EQ(table.Draw(rng) % 2, 1);
    ASSERT_EQ(one.Draw(rng), 0);
  }
}

// The draws are part of the format of a run.
TEST(AliasTable, IsGolden) {
  const AliasTable table({1, 2, 3, 4, 0, 0.5});
  Rng rng(1, 2, 3, 4);
  std::vector<int64_t> draws;
  for (int i = 0; i < 12; ++i) draws.push_back(table.Draw(rng));
  EXPECT_THAT(draws, testing::ElementsAre(0, 3, 3, 5, 5, 3, 1, 2, 5, 2, 2, 2));
}

}  // namespace stoker::sample_test
