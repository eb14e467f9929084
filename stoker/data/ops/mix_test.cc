#include "stoker/data/ops/mix.h"

#include <algorithm>
#include <map>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/choice_plan_internal.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/testing/combining.h"

namespace stoker::mix_test {

using testing::ElementsAre;

// Inputs of the tests count from 0, 1000, 2000: how many elements came from each.
std::map<int64_t, int64_t> CountsOf(const std::vector<int64_t>& values) {
  std::map<int64_t, int64_t> counts;
  for (const int64_t value : values) ++counts[value / 1000];
  return counts;
}

// Those of one input, in the order in which they came.
std::vector<int64_t> OnlyOf(int64_t input, const std::vector<int64_t>& values) {
  std::vector<int64_t> only;
  for (const int64_t value : values) {
    if (value / 1000 == input) only.push_back(value - input * 1000);
  }
  return only;
}

std::vector<int64_t> CountingFrom0(int64_t n) { return ValuesOf(Numbers(n)); }

TEST(Mix, EveryInputHasExactlyItsShareAndKeepsItsOrder) {
  const Result<Dataset> dataset = Source(
      Mix{.inputs = {Numbers(700), Numbers(600, 1000), Numbers(900, 2000)}, .weights = {7, 2, 1}});
  const std::vector<int64_t> values = ValuesOf(dataset);
  EXPECT_EQ(CountsOf(values), (std::map<int64_t, int64_t>{{0, 700}, {1, 200}, {2, 100}}));
  EXPECT_EQ(OnlyOf(0, values), CountingFrom0(700));
  EXPECT_EQ(OnlyOf(1, values), CountingFrom0(200));
  EXPECT_EQ(OnlyOf(2, values), CountingFrom0(100));
  EXPECT_EQ(dataset->cardinality(), Cardinality::Of(1000));
}

TEST(Mix, OrderDependsOnSeedAndEpoch) {
  const Result<Dataset> dataset = Source(Mix{.inputs = {Numbers(100), Numbers(100, 1000)}});
  EXPECT_EQ(ValuesOf(dataset, {.seed = 1}), ValuesOf(dataset, {.seed = 1}));
  EXPECT_NE(ValuesOf(dataset, {.seed = 1}), ValuesOf(dataset, {.seed = 2}));
  EXPECT_NE(ValuesOf(dataset, {.seed = 1}), ValuesOf(dataset, {.seed = 1, .epoch = 1}));
}

TEST(Mix, GoesOnWithTheOthersUntilAllAreExhausted) {
  for (const bool streamed : {false, true}) {
    const Dataset shortest = streamed ? StreamedNumbers(10) : Numbers(10);
    const std::vector<int64_t> values =
        ValuesOf(Source(Mix{.inputs = {shortest, Numbers(300, 1000), Numbers(40, 2000)},
                            .weights = {1, 1, 3},
                            .stop = "all_exhausted"}));
    EXPECT_EQ(OnlyOf(0, values), CountingFrom0(10));
    EXPECT_EQ(OnlyOf(1, values), CountingFrom0(300));
    EXPECT_EQ(OnlyOf(2, values), CountingFrom0(40));
  }
}

TEST(Mix, RepeatsShortInputsUntilEachHasBeenSeenWhole) {
  for (const bool streamed : {false, true}) {
    SCOPED_TRACE(streamed);
    const Dataset shortest = streamed ? StreamedNumbers(10) : Numbers(10);
    const std::vector<int64_t> values = ValuesOf(
        Source(Mix{.inputs = {shortest, Numbers(100, 1000)}, .weights = {1, 1}, .stop = "repeat"}));
    EXPECT_EQ(OnlyOf(1, values), CountingFrom0(100));
    const std::vector<int64_t> repeated = OnlyOf(0, values);
    EXPECT_GE(repeated.size(), 90u);
    for (size_t i = 0; i < repeated.size(); ++i)
      EXPECT_EQ(repeated[i], static_cast<int64_t>(i % 10));
  }
}

TEST(Mix, StopsWithTheFirstInputThatIsExhaustedWhereLengthsAreNotKnown) {
  const std::vector<int64_t> values =
      ValuesOf(Source(Mix{.inputs = {StreamedNumbers(20), Numbers(1000, 1000)}}));
  EXPECT_EQ(OnlyOf(0, values), CountingFrom0(20));
  EXPECT_GT(CountsOf(values)[1], 0);
  EXPECT_LT(CountsOf(values)[1], 200);
}

TEST(Mix, KeepsItsPromises) {
  for (const char* stop : {"first_exhausted", "all_exhausted", "repeat"}) {
    SCOPED_TRACE(stop);
    ExpectKeepsItsPromises(
        Source(Mix{.inputs = {Numbers(9) | AddMillions(), Numbers(14, 1000), Numbers(4, 2000)},
                   .weights = {3, 2, 2},
                   .stop = stop}) |
        AddMillions() | Batch{.size = 3});
    ExpectKeepsItsPromises(
        Source(Mix{.inputs = {StreamedNumbers(5) | AddMillions(), Numbers(9, 1000) | Shuffle{}},
                   .weights = {1, 2},
                   .stop = stop}) |
        AddMillions());
    ExpectKeepsItsPromises(
        Source(Mix{.inputs = {StreamedNumbers(0), Numbers(6, 1000)}, .stop = stop}));
  }
  ExpectKeepsItsPromises(
      Source(Mix{.inputs = {Numbers(3) | Repeat{}, Numbers(5, 1000) | Repeat{}}}) |
      Take{.count = 30});
  ExpectKeepsItsPromises(Source(Mix{.inputs = {Numbers(9), Numbers(9, 1000)}}) | Shuffle{} |
                         Repeat{.count = 2});
}

TEST(Mix, AnEmptyInputNeitherHangsNorIsRepeated) {
  for (const char* stop : {"first_exhausted", "all_exhausted", "repeat"}) {
    for (const Dataset& empty : {Numbers(0), StreamedNumbers(0)}) {
      EXPECT_THAT(ValuesOf(Source(Mix{.inputs = {empty, empty}, .stop = stop})),
                  testing::IsEmpty());
    }
    EXPECT_EQ(ValuesOf(Source(Mix{.inputs = {Numbers(0), Numbers(7)}, .stop = stop})).size(),
              std::string(stop) == "first_exhausted" ? 0u : 7u);
  }
}

TEST(Mix, RefusesOptionsThatMakeNoSense) {
  EXPECT_THAT(Source(Mix{.inputs = {Numbers(3), Numbers(3)}, .weights = {1}}),
              FailsWith(StatusCode::kInvalidArgument, "mix: 1 weights for 2 inputs"));
  EXPECT_THAT(Source(Mix{.inputs = {Numbers(3), Numbers(3)}, .weights = {1, 0}}),
              FailsWith(StatusCode::kInvalidArgument, "weights has 0 among its values"));
  EXPECT_THAT(Source(Mix{.inputs = {Numbers(3), Numbers(3, 0, "y")}}),
              FailsWith(StatusCode::kInvalidArgument, "fields must agree"));
  EXPECT_THAT(Source(Mix{.inputs = {Numbers(3)}, .stop = "never"}),
              FailsWith(StatusCode::kInvalidArgument, "stop is 'never'"));
}

// Else a shuffle after a repeat would make an order, milliseconds long, for nearly each element.
TEST(ChoiceOrders, OfRoundsThatAreReadInTurnAreMadeOnce) {
  constexpr uint64_t kRounds = 100;
  const ChoicePlan plan = ChoicePlan::Weighted(
      {1, 3.14159}, {Cardinality::Of(100'000), Cardinality::Of(300'000)}, WhenExhausted::kStop);
  const ChoiceOrders orders(plan);
  std::vector<std::shared_ptr<const ChoicePlan::Ordered>> first;
  for (uint64_t epoch = 0; epoch < kRounds; ++epoch) first.push_back(orders.Get({1, epoch, 2}));
  for (uint64_t epoch = 0; epoch < kRounds; ++epoch)
    EXPECT_EQ(orders.Get({1, epoch, 2}), first[epoch]) << "epoch " << epoch;
  EXPECT_NE(orders.Get({2, 0, 2}), first[0]);
}

TEST(ChoiceOrders, OfAPlanThatIsNotShuffledAreOne) {
  const ChoicePlan plan = ChoicePlan::Pattern({0, 1, 1}, {Cardinality::Of(9), Cardinality::Of(9)},
                                              WhenExhausted::kContinue);
  const ChoiceOrders orders(plan);
  EXPECT_EQ(orders.Get({1, 0, 2}), orders.Get({7, 8, 9}));
}

TEST(BlockShares, AreExactForRatiosOfSmallIntegersAndCloseForOthers) {
  EXPECT_THAT(BlockShares({0.5, 0.5}), ElementsAre(128, 128));
  EXPECT_THAT(BlockShares({0.7, 0.2, 0.1}), ElementsAre(182, 52, 26));
  EXPECT_THAT(BlockShares({1, 0, 3}), ElementsAre(64, 0, 192));
  const std::vector<double> odd = {3.14159265358979, 1e-7, 2.71828182845905};
  const std::vector<int64_t> shares = BlockShares(odd);
  EXPECT_EQ(shares[0] + shares[1] + shares[2], 16384);
  EXPECT_EQ(shares[1], 1);
  EXPECT_NEAR(static_cast<double>(shares[0]) / 16384, odd[0] / (odd[0] + odd[1] + odd[2]), 1e-4);
}

}  // namespace stoker::mix_test
