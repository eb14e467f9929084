// What each operator promises for itself. That both runtimes agree, and that positions are saved
// and restored, is tested for all of them together in runtime/random_pipelines_test.cc.
#include <set>

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/normalize.h"

namespace stoker::ops_test {

using testing::ElementsAre;

std::vector<int64_t> LabelsOf(const Result<Dataset>& dataset, const PassOptions& pass = {}) {
  return Labels(*ReadAll(*dataset, Runtime::Threaded(2), pass));
}

TEST(Shuffle, GivesEveryElementOnceAnEpoch) {
  const std::vector<int64_t> labels = LabelsOf(NumberedImages(1000) | Shuffle{});
  EXPECT_EQ(std::set<int64_t>(labels.begin(), labels.end()).size(), 1000u);
  EXPECT_EQ(labels.size(), 1000u);
}

TEST(Shuffle, OrderDependsOnSeedAndEpochOnly) {
  const Result<Dataset> dataset = NumberedImages(100) | Shuffle{};
  EXPECT_EQ(LabelsOf(dataset, {.seed = 1}), LabelsOf(dataset, {.seed = 1}));
  EXPECT_NE(LabelsOf(dataset, {.seed = 1}), LabelsOf(dataset, {.seed = 2}));
  EXPECT_NE(LabelsOf(dataset, {.seed = 1, .epoch = 0}), LabelsOf(dataset, {.seed = 1, .epoch = 1}));
}

TEST(Shuffle, OwnSeedOverridesTheRunsSeed) {
  const Result<Dataset> dataset = NumberedImages(100) | Shuffle{.seed = 9};
  EXPECT_EQ(LabelsOf(dataset, {.seed = 1}), LabelsOf(dataset, {.seed = 2}));
}

TEST(Repeat, GivesEachRoundItsOwnOrder) {
  const std::vector<int64_t> labels = LabelsOf(NumberedImages(50) | Shuffle{} | Repeat{.count = 2});
  ASSERT_EQ(labels.size(), 100u);
  const std::vector<int64_t> first(labels.begin(), labels.begin() + 50),
      second(labels.begin() + 50, labels.end());
  EXPECT_NE(first, second);
  EXPECT_EQ(std::multiset<int64_t>(first.begin(), first.end()),
            std::multiset<int64_t>(second.begin(), second.end()));
}

TEST(Repeat, RoundsAreTheEpochsOfAPassWithoutIt) {
  const Result<Dataset> once = NumberedImages(50) | Shuffle{};
  std::vector<int64_t> epochs = LabelsOf(once, {.seed = 3, .epoch = 0});
  const std::vector<int64_t> second = LabelsOf(once, {.seed = 3, .epoch = 1});
  epochs.insert(epochs.end(), second.begin(), second.end());
  EXPECT_EQ(LabelsOf(once | Repeat{.count = 2}, {.seed = 3}), epochs);
}

TEST(Repeat, ForEverCountsOnFromThePassesEpoch) {
  const Result<Dataset> once = NumberedImages(50) | Shuffle{};
  const Result<Dataset> endless = once | Repeat{} | Take{.count = 50};
  EXPECT_EQ(LabelsOf(endless, {.epoch = 3}), LabelsOf(once, {.epoch = 3}));
}

TEST(Repeat, OfNothingForEverEnds) {
  EXPECT_TRUE(LabelsOf(NumberedImages(0) | Repeat{}).empty());
  EXPECT_TRUE(LabelsOf(StreamedImages(0) | Repeat{}).empty());
}

TEST(Batch, StacksInOrderAndKeepsOrDropsTheRest) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset kept, NumberedImages(7) | Batch{.size = 3});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> batches,
                              ReadAll(kept, Runtime::Threaded(2)));
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].arrays[0].shape(), (Shape{3, 1, 4, 4}));
  EXPECT_EQ(batches[2].arrays[0].shape(), (Shape{1, 1, 4, 4}));
  EXPECT_THAT(Labels(batches), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(LabelsOf(NumberedImages(7) | Batch{.size = 3, .drop_remainder = true}),
              ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Batch, SpecHasTheSizeWhereEveryBatchIsFull) {
  EXPECT_EQ((NumberedImages(7) | Batch{.size = 3})->spec().fields[1].shape, (Shape{-1}));
  EXPECT_EQ((NumberedImages(6) | Batch{.size = 3})->spec().fields[1].shape, (Shape{3}));
  EXPECT_EQ((NumberedImages(7) | Batch{.size = 3, .drop_remainder = true})->spec().fields[1].shape,
            (Shape{3}));
  EXPECT_EQ((NumberedImages(7) | Repeat{} | Batch{.size = 3})->spec().fields[1].shape, (Shape{3}));
}

TEST(Batch, RefusesASizeOfZeroNamingTheOption) {
  EXPECT_THAT(NumberedImages(7) | Batch{.size = 0},
              FailsWith(StatusCode::kInvalidArgument, "batch"));
  EXPECT_THAT(NumberedImages(7) | Batch{.size = 0},
              FailsWith(StatusCode::kInvalidArgument, "size is 0; it must lie in 1.."));
}

TEST(Options, RefuseSizesThatNoMachineHolds) {
  EXPECT_THAT(NumberedImages(7) | Batch{.size = int64_t{1} << 62},
              FailsWith(StatusCode::kInvalidArgument, "batch"));
  EXPECT_THAT(NumberedImages(7) | Prefetch{.depth = int64_t{1} << 62},
              FailsWith(StatusCode::kInvalidArgument, "prefetch"));
}

Dataset Ragged(DType dtype, const Shape& shape) {
  return FromGenerator({{{"ragged", dtype, shape}}}, [](uint64_t) {
    return []() -> Result<std::optional<Element>> { return std::nullopt; };
  });
}

TEST(Batch, RefusesAFieldOfUnknownShapeWithWhatItsKindNeeds) {
  const auto refuses = [](const Dataset& dataset, const char* says) {
    EXPECT_THAT(dataset | Batch{}, FailsWith(StatusCode::kInvalidArgument, says));
  };
  refuses(Ragged(DType::kUInt8, {kUnknownDim}), "field 'ragged' has shape [?]");
  refuses(Ragged(DType::kUInt8, {kUnknownDim}), "of a text make numbers (wordpiece, sentencepiece");
  refuses(Ragged(DType::kInt32, {kUnknownDim}), "elements; use padded_batch");
  refuses(Ragged(DType::kUInt8, {3, kUnknownDim, kUnknownDim}), "elements; resize or crop before");
}

// Blocks are multiples of 64 bytes; an image has 16 bytes, a label 8.
TEST(MemoryToRead, CountsWhatEveryStageAsksForAndNothingElse) {
  const auto of = [](const Result<Dataset>& dataset, int64_t count) {
    return dataset->node().MemoryToRead(count);
  };
  const Result<Dataset> images = NumberedImages(100);
  EXPECT_EQ(of(images, 10), 192 + 128);  // gathered: 160 and 80 bytes
  EXPECT_EQ(of(images | Take{.count = 50} | Prefetch{}, 10), 192 + 128);
  // From anywhere: at most what they take one by one.
  EXPECT_EQ(of(images | Shuffle{} | Take{.count = 50} | Prefetch{}, 10), 10 * (64 + 64));
  const Result<Dataset> normalized = images | Normalize{};  // 64 bytes an image
  EXPECT_EQ(of(normalized, 10), 192 + 128 + 10 * (64 + 64));
  const Result<Dataset> batched = normalized | Batch{.size = 10};
  EXPECT_EQ(of(batched, 1), of(normalized, 10));  // by position, its columns are the batch
  EXPECT_EQ(of(batched | Repeat{} | Prefetch{}, 1), of(normalized, 10));
  EXPECT_EQ(of(batched, 2), *of(normalized, 20) + 2 * (640 + 128));
  // The last batch is smaller, which the Spec calls unknown; the size is an upper bound.
  EXPECT_EQ(of(normalized | Batch{.size = 11}, 1), of(normalized, 11));
  // A function gives one array for each field of each element, which are then stacked.
  const Result<Dataset> mapped =
      images | Map{.function = [](Element&, Rng&, Scratch&) { return OkStatus(); }};
  EXPECT_EQ(of(mapped, 10), 192 + 128 + 10 * (64 + 64) + 192 + 128);
  // In order, the elements of a batch are copied.
  EXPECT_EQ(of(StreamedImages(100) | Batch{.size = 10}, 1), 10 * (64 + 64) + 192 + 128);
}

TEST(MemoryToRead, IsUnknownWhereAShapeIsOrTheSumIsTooLarge) {
  const Dataset ragged = FromGenerator({{{"text", DType::kUInt8, {kUnknownDim}}}}, [](uint64_t) {
    return []() -> Result<std::optional<Element>> { return std::nullopt; };
  });
  EXPECT_EQ(ragged.node().MemoryToRead(1), std::nullopt);
  const Result<Dataset> large = NumberedImages(9) | Repeat{} | Batch{.size = 1 << 30} |
                                Batch{.size = 1 << 30} | Batch{.size = 1 << 30};
  EXPECT_EQ(large->node().MemoryToRead(1), std::nullopt);
}

TEST(Generator, IsHeldToItsSpec) {
  // The Spec promises a shape that the second element does not keep.
  const Dataset lying = FromGenerator({{{"x", DType::kUInt8, {2}}}}, [](uint64_t) {
    return [n = 0]() mutable -> Result<std::optional<Element>> {
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {n++ == 0 ? 2 : 3})}};
    };
  });
  EXPECT_THAT(ReadAll(*(lying | Batch{.size = 2}), Runtime::Inline()),
              FailsWith(StatusCode::kInvalidArgument, "element 1: field 'x' is uint8[3]"));
}

TEST(Map, IsHeldToItsSpec) {
  const Result<Dataset> loses_a_field =
      NumberedImages(4) | Map{.function = [](Element& element, Rng&, Scratch&) {
        element.arrays.pop_back();
        return OkStatus();
      }};
  const Result<Dataset> changes_a_type =
      NumberedImages(4) | Map{.function = [](Element& element, Rng&, Scratch& scratch) {
        element.arrays[0] = scratch.NewArray(DType::kFloat32, {1, 4, 4});
        return OkStatus();
      }};
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(ReadAll(*loses_a_field, runtime),
                FailsWith(StatusCode::kInvalidArgument, "has 1 fields"));
    EXPECT_THAT(ReadAll(*changes_a_type, runtime),
                FailsWith(StatusCode::kInvalidArgument, "field 'image' is float32[1, 4, 4]"));
  }
}

TEST(TakeAndSkip, SplitAnEpochWithoutLossOrOverlap) {
  for (const Dataset& source : {NumberedImages(10), StreamedImages(10)}) {
    EXPECT_THAT(LabelsOf(Result<Dataset>(source) | Take{.count = 4}), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(LabelsOf(Result<Dataset>(source) | Skip{.count = 4}),
                ElementsAre(4, 5, 6, 7, 8, 9));
    EXPECT_THAT(LabelsOf(Result<Dataset>(source) | Skip{.count = 4} | Take{.count = 2}),
                ElementsAre(4, 5));
    EXPECT_THAT(LabelsOf(Result<Dataset>(source) | Take{.count = 99}).size(), 10u);
    EXPECT_TRUE(LabelsOf(Result<Dataset>(source) | Skip{.count = 99}).empty());
  }
}

TEST(Prefetch, ChangesNothing) {
  for (const Dataset& source : {NumberedImages(30), StreamedImages(30)}) {
    for (const int64_t depth : {1, 2, 1000}) {
      EXPECT_EQ(LabelsOf(Result<Dataset>(source) | Prefetch{.depth = depth}), LabelsOf(source));
    }
  }
}

TEST(Generator, IsAskedOnceForEachElementAndReplayedOnlyOnRestore) {
  std::atomic<int> calls = 0;
  const Dataset source = FromGenerator({{{"x", DType::kInt64, {}}}}, [&](uint64_t) {
    return [&, n = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      ++calls;
      if (n == 10) return std::nullopt;
      return Element{.arrays = {Array::Of(std::vector<int64_t>{n++}).Reshaped({})}};
    };
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> first,
                              source.Open(Runtime::Inline()));
  for (int i = 0; i < 6; ++i) STOKER_ASSERT_OK(first->Next());
  EXPECT_EQ(calls, 6);
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, first->Save());
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> second,
                              source.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(second->Restore(state));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*second));
  EXPECT_THAT(Labels(rest, 0), ElementsAre(6, 7, 8, 9));
}

}  // namespace stoker::ops_test
