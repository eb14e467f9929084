#include "stoker/data/ops/balance.h"

#include <atomic>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "stoker/base/mutex.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/balanced_order_internal.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/ops/unbatch.h"
#include "stoker/data/ops/window.h"
#include "stoker/data/ops/zip.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::balance_test {

// Elements {number: int64[], label: int64[]}; number i is i.
Dataset Labelled(const std::vector<int64_t>& labels) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < labels.size(); ++i) numbers.push_back(static_cast<int64_t>(i));
  return *FromArrays({{"number", Array::Of(numbers)}, {"label", Array::Of(labels)}});
}

// 100 elements: 90 of class 3, 8 of class -1, 2 of class 7.
Dataset Imbalanced() {
  std::vector<int64_t> labels(100, 3);
  for (size_t i = 0; i < 8; ++i) labels[i * 12] = -1;
  labels[5] = labels[77] = 7;
  return Labelled(labels);
}

std::map<int64_t, int64_t> Counts(const std::vector<int64_t>& values) {
  std::map<int64_t, int64_t> counts;
  for (const int64_t value : values) ++counts[value];
  return counts;
}

std::vector<Element> Read(const Result<Dataset>& dataset, const PassOptions& pass = {}) {
  return *ReadAll(*dataset, Runtime::Threaded(2), pass);
}

// A field of so many bytes more.
Map AddsBytes(int64_t bytes) {
  Spec output = Imbalanced().spec();
  output.fields.push_back({"bytes", DType::kUInt8, {bytes}});
  return {.function =
              [bytes](Element& element, Rng&, Scratch& scratch) {
                element.arrays.push_back(scratch.NewArray(DType::kUInt8, {bytes}));
                return OkStatus();
              },
          .output = std::move(output)};
}

TEST(Balance, DrawsEveryClassEquallyOften) {
  const std::vector<Element> elements = Read(Imbalanced() | Balance{.count = 601});
  for (const auto& [label, count] : Counts(Labels(elements))) {
    EXPECT_NEAR(static_cast<double>(count), 200.5, 0.5) << label;
  }
  EXPECT_EQ(Read(Imbalanced() | Balance{}).size(), 100u);
}

TEST(Balance, GoesThroughAClassBeforeAnElementComesAgain) {
  const std::vector<Element> elements = Read(Imbalanced() | Balance{.count = 3 * 90});
  const std::vector<int64_t> numbers = Labels(elements, 0), labels = Labels(elements, 1);
  std::map<int64_t, std::vector<int64_t>> by_class;
  for (size_t i = 0; i < numbers.size(); ++i) by_class[labels[i]].push_back(numbers[i]);
  EXPECT_EQ(Counts(by_class[3]).size(), 90u);
  for (const auto& [number, count] : Counts(by_class[-1])) {
    EXPECT_NEAR(static_cast<double>(count), 11.5, 0.5) << number;
  }
  for (const auto& [number, count] : Counts(by_class[7])) EXPECT_EQ(count, 45) << number;
  // Each time in another order.
  std::set<std::vector<int64_t>> orders;
  for (size_t round = 0; round < 11; ++round) {
    const auto begin = by_class[-1].begin() + static_cast<std::ptrdiff_t>(round * 8);
    orders.emplace(begin, begin + 8);
  }
  EXPECT_GT(orders.size(), 9u);
}

TEST(Balance, OrdersBySeedAndEpoch) {
  const Result<Dataset> dataset = Imbalanced() | Balance{};
  const auto numbers = [&](const PassOptions& pass) { return Labels(Read(dataset, pass), 0); };
  EXPECT_EQ(numbers({.seed = 1}), numbers({.seed = 1}));
  EXPECT_NE(numbers({.seed = 1}), numbers({.seed = 2}));
  EXPECT_NE(numbers({.seed = 1}), numbers({.seed = 1, .epoch = 1}));
  const Result<Dataset> seeded = Imbalanced() | Balance{.seed = 3};
  EXPECT_EQ(Labels(Read(seeded, {.seed = 1})), Labels(Read(seeded, {.seed = 2})));
}

TEST(Balance, KeepsItsPromises) {
  ExpectKeepsItsPromises(*(Imbalanced() | Balance{.count = 40}));
  ExpectKeepsItsPromises(
      *(Imbalanced() | Balance{.count = 20} | Batch{.size = 3} | Repeat{.count = 2} | Prefetch{}));
}

TEST(Balance, TreatsAnElementThatComesTwiceDifferently) {
  const Map random{.function = [](Element& element, Rng& rng, Scratch& scratch) {
    element.arrays[1] = scratch.NewArray(DType::kInt64, {});
    element.arrays[1].values<int64_t>()[0] = static_cast<int64_t>(rng.Below(1 << 30));
    return OkStatus();
  }};
  const std::vector<int64_t> draws = Labels(Read(Labelled({0, 0}) | Balance{.count = 20} | random));
  EXPECT_EQ(Counts(draws).size(), 20u);
}

TEST(Balance, StandsBehindWhatKeepsTheOrderAndNothingElse) {
  const auto input = [] { return Result<Dataset>(Imbalanced()); };
  const Map map{.function = [](Element&, Rng&, Scratch&) { return OkStatus(); }};
  EXPECT_THAT(input() | Skip{.count = 3} | Take{.count = 50} | map | Repeat{.count = 2} |
                  Prefetch{} | Balance{},
              IsOk());
  EXPECT_THAT(input() | Shuffle{} | Balance{},
              FailsWith(StatusCode::kInvalidArgument, "put balance before it"));
  EXPECT_THAT((input() | Shuffle{.seed = 1, .reshuffle = false} | Balance{}), IsOk());
  // What is left out is the same in every pass.
  EXPECT_THAT((input() | Batch{.size = 7, .drop_remainder = true} | Unbatch{} | Balance{}), IsOk());
  EXPECT_THAT((input() | PaddedBatch{.size = 7, .drop_remainder = true, .fields = {}} | Unbatch{} |
               Balance{}),
              IsOk());
  EXPECT_THAT(
      (input() | Window{.size = 3, .shift = 1, .drop_remainder = true} | Unbatch{} | Balance{}),
      IsOk());
  EXPECT_THAT(
      Source(Zip{.inputs = {Imbalanced(), NumberedImages(40)}, .prefix = {"", "b_"}}) | Balance{},
      IsOk());
  EXPECT_THAT(
      (input() | Shuffle{} | Batch{.size = 7, .drop_remainder = true} | Unbatch{} | Balance{}),
      FailsWith(StatusCode::kInvalidArgument, "put balance before it"));
  EXPECT_THAT(StreamedImages(5) | Balance{},
              FailsWith(StatusCode::kInvalidArgument, "can only be read in order"));
  EXPECT_THAT(input() | Repeat{} | Balance{},
              FailsWith(StatusCode::kInvalidArgument, "has no end"));
}

TEST(Balance, NeedsOneWholeNumberPerElement) {
  EXPECT_THAT(NumberedImages(5) | Balance{.field = "class"},
              FailsWith(StatusCode::kInvalidArgument, "balance: there is no field 'class'"));
  EXPECT_THAT(NumberedImages(5) | Balance{.field = "image"},
              FailsWith(StatusCode::kInvalidArgument, "one number is needed"));
  const Dataset floats = *FromArrays({{"label", Array::Of(std::vector<float>{1, 2})}});
  EXPECT_THAT(floats | Balance{}, FailsWith(StatusCode::kInvalidArgument, "must be integers"));
  EXPECT_THAT(Labelled({}) | Balance{.count = 3},
              FailsWith(StatusCode::kInvalidArgument, "the input has none"));
  EXPECT_TRUE(Read(Labelled({}) | Balance{}).empty());
}

TEST(Balance, LearnsTheClassesOnTheThreadsOfThePassAndWithinItsBudget) {
  Mutex mutex;
  std::set<std::thread::id> threads;
  const Map note{.function = [&](Element&, Rng&, Scratch&) {
    const MutexLock lock(mutex);
    threads.insert(std::this_thread::get_id());
    return OkStatus();
  }};
  STOKER_ASSERT_OK((Imbalanced() | note | Balance{})->Open(Runtime::Inline()));
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
  threads.clear();
  STOKER_ASSERT_OK((Imbalanced() | note | Balance{})->Open(Runtime::Threaded(1)));
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));

  Runtime tight = Runtime::Threaded(4);
  tight.memory_budget = 1 << 20;
  const Result<Dataset> large = Imbalanced() | AddsBytes(100'000) | Balance{};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, large->Open(tight));
  const int64_t peak = iterator->GetProfile().peak_memory_bytes;
  EXPECT_GE(peak, 100'000);  // what has been learnt from is counted in this pass
  EXPECT_LE(peak, tight.memory_budget);
}

TEST(Balance, EndsEarlyWhereItIsToStopWhileItLearns) {
  std::atomic<bool> stop = false;
  std::atomic<int> made = 0;
  const Map stop_soon{.function = [&](Element&, Rng&, Scratch&) {
    if (++made == 20) stop = true;
    return OkStatus();
  }};
  Runtime runtime = Runtime::Inline();
  runtime.stop = &stop;
  const Result<Dataset> dataset = Imbalanced() | stop_soon | Balance{};
  EXPECT_THAT(dataset->Open(runtime), FailsWith(StatusCode::kCancelled, "stop"));
  EXPECT_EQ(made, 20);
  EXPECT_THAT(ReadAll(*dataset, Runtime::Inline()), IsOk());  // what was begun does not matter
}

TEST(Balance, WhoWaitsForAnotherPassToLearnCanBeStopped) {
  std::atomic<bool> learning = false, go_on = false;
  const Map wait{.function = [&](Element&, Rng&, Scratch&) {
    learning = true;
    learning.notify_all();
    go_on.wait(false);
    return OkStatus();
  }};
  const Result<Dataset> dataset = Imbalanced() | wait | Balance{};
  std::thread first([&] { EXPECT_THAT(dataset->Open(Runtime::Inline()), IsOk()); });
  learning.wait(false);
  std::atomic<bool> stop = true;
  Runtime stopped = Runtime::Inline();
  stopped.stop = &stop;
  EXPECT_THAT(dataset->Open(stopped), FailsWith(StatusCode::kCancelled, "another pass"));
  go_on = true;
  go_on.notify_all();
  first.join();
}

TEST(Balance, ReportsWhatStopsItFromLearningTheClasses) {
  const Map fail{.function = [](Element& element, Rng&, Scratch&) {
    return element.key.index == 50 ? DataLoss("element 50 is bad") : OkStatus();
  }};
  EXPECT_THAT((Imbalanced() | fail | Balance{})->Open(Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "element 50 is bad"));
}

TEST(BalancedOrder, MakesForOnePositionNoMoreThanItNeeds) {
  std::vector<int64_t> labels(5000);
  std::iota(labels.begin(), labels.end(), 0);
  const ClassTable table(labels);
  const SharedPermutations permutations(nullptr);
  BalancedOrder order(table, permutations, 1, 2, 3);
  EXPECT_EQ(order.kept(), 0);
  order(12345);
  EXPECT_EQ(order.kept(), 2);  // of the classes in this run, and of the elements of one class
  for (int64_t i = 0; i < 10; ++i) order(i);
  EXPECT_LE(order.kept(), 12);
}

// Whichever permutations are kept, as few positions or many are asked for.
TEST(BalancedOrder, IsTheSameHoweverManyPositionsAreAskedForAtATime) {
  for (const int64_t classes : {1, 7, 300, 2000}) {
    std::vector<int64_t> labels(6000);
    for (size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<int64_t>(i * i) % classes;  // classes of many sizes
    const ClassTable table(labels);
    const SharedPermutations permutations(nullptr);
    BalancedOrder whole(table, permutations, 1, 2, 3);
    for (const int64_t at_once : {1, 2, 64, 5000}) {
      for (int64_t begin = 0; begin < 20'000; begin += 1 + at_once * 3) {
        BalancedOrder part(table, permutations, 1, 2, 3, at_once);
        for (int64_t i = begin; i < begin + at_once; ++i) ASSERT_EQ(part(i), whole(i)) << i;
      }
    }
  }
}

TEST(BalancedOrder, KeepsNoSmallPermutationThatServesOnePosition) {
  std::vector<int64_t> labels(5000);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int64_t>(i) % 100;
  const ClassTable table(labels);
  const SharedPermutations permutations(nullptr);
  BalancedOrder one(table, permutations, 1, 2, 3, /*positions=*/1);
  one(12345);
  EXPECT_EQ(one.kept(), 0);
  BalancedOrder few(table, permutations, 1, 2, 3, /*positions=*/50);
  for (int64_t i = 0; i < 50; ++i) few(i);
  EXPECT_EQ(few.kept(), 1);  // of the classes
}

// The order is part of the format of a run.
TEST(BalancedOrder, IsGolden) {
  const ClassTable table({0, 1, 1, 0, 2, 1, 1, 1});
  const SharedPermutations permutations(nullptr);
  BalancedOrder order(table, permutations, 1, 2, 3);
  std::vector<int64_t> sources;
  for (int64_t i = 0; i < 12; ++i) sources.push_back(order(i));
  EXPECT_THAT(sources, testing::ElementsAre(0, 4, 5, 6, 3, 4, 0, 4, 1, 4, 7, 3));
  BalancedOrder backwards(table, permutations, 1, 2, 3);
  for (int64_t i = 11; i >= 0; --i) EXPECT_EQ(backwards(i), sources[static_cast<size_t>(i)]);
}

}  // namespace stoker::balance_test
