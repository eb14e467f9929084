#include "stoker/data/ops/unbatch.h"

#include <numeric>

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/balance.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/sample.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::unbatch_test {

// Counts how often batches are made.
Map Counting(std::atomic<int>& made) {
  return {.function = [&made](Element&, Rng&, Scratch&) {
    ++made;
    return OkStatus();
  }};
}

TEST(Unbatch, UndoesABatch) {
  for (const bool drop : {false, true}) {
    for (const Dataset& source : {NumberedImages(21), StreamedImages(21)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto samples, ReadAll(source, Runtime::Inline()));
      const Result<Dataset> dataset = source | Batch{.size = 4, .drop_remainder = drop} | Unbatch{};
      EXPECT_EQ(dataset->spec(), source.spec());
      STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(*dataset, Runtime::Threaded(2)));
      EXPECT_EQ(Fingerprint(got), Fingerprint({samples.begin(), samples.end() - (drop ? 1 : 0)}));
    }
  }
}

TEST(Unbatch, IsByPositionWhereEveryBatchHasTheSameSizeAndIsSmall) {
  const Result<Dataset> full = NumberedImages(20) | Batch{.size = 4} | Unbatch{};
  EXPECT_TRUE(full->node().random_access());
  EXPECT_EQ(full->cardinality(), Cardinality::Of(20));
  EXPECT_EQ((NumberedImages(20) | Repeat{} | Batch{.size = 4} | Unbatch{})->cardinality(),
            Cardinality::Infinite());
  const Result<Dataset> ragged = NumberedImages(21) | Batch{.size = 4} | Unbatch{};
  EXPECT_FALSE(ragged->node().random_access());
  EXPECT_EQ(ragged->cardinality(), Cardinality::Unknown());
  EXPECT_EQ(full->node().Disturbs(), "");
}

TEST(Unbatch, KeepsThePromisesOfAPipeline) {
  for (const Dataset& source : {NumberedImages(22), StreamedImages(22)}) {
    for (const bool drop : {false, true}) {
      const Result<Dataset> batches = source | Batch{.size = 4, .drop_remainder = drop};
      ExpectKeepsItsPromises(*(batches | Unbatch{} | Prefetch{}));
      ExpectKeepsItsPromises(*(batches | Unbatch{} | Repeat{.count = 2} | Batch{.size = 3}));
    }
  }
  ExpectKeepsItsPromises(*(NumberedImages(24) | Batch{.size = 4} | Unbatch{} | Shuffle{}));
  ExpectKeepsItsPromises(*(NumberedImages(24) | Batch{.size = 4} | Skip{.count = 3} | Unbatch{} |
                           Filter{.except = {14, 19}} | Shuffle{.buffer = 5}));
  ExpectKeepsItsPromises(*(NumberedImages(24) | Shuffle{} | Batch{.size = 4} | Unbatch{} |
                           Skip{.count = 3} | Batch{.size = 5} | Prefetch{}));
}

// 8,000 samples of 24 bytes are more than is read ahead at once.
TEST(Unbatch, MakesEveryLargeBatchOnceHoweverItsSamplesAreRead) {
  std::atomic<int> made = 0;
  const Result<Dataset> batches =
      NumberedImages(24'000) | Batch{.size = 8000, .drop_remainder = true} | Counting(made);
  for (const Result<Dataset>& dataset :
       {batches | Unbatch{}, batches | Unbatch{} | Prefetch{},
        batches | Unbatch{} | Batch{.size = 50}, batches | Unbatch{} | Repeat{.count = 1}}) {
    SCOPED_TRACE(dataset->ToString());
    EXPECT_FALSE(dataset->node().random_access());
    made = 0;
    STOKER_ASSERT_OK(ReadAll(*dataset, Runtime::Threaded(2)));
    EXPECT_EQ(made, 3);
  }
  EXPECT_EQ((batches | Unbatch{})->cardinality(), Cardinality::Of(24'000));
}

// One sample of each of many batches takes more than as many consecutive ones.
TEST(Unbatch, IsPredictedToTakeWhatItTakesBelowWhatReadsItFromAnywhere) {
  constexpr int64_t kBatch = 64, kRead = 64;
  const Result<Dataset> samples = NumberedImages(64 * kBatch) | Batch{.size = kBatch} | Unbatch{};
  for (const Result<Dataset>& dataset :
       {samples | Shuffle{}, samples | Sample{}, samples | Balance{.field = "label"}}) {
    SCOPED_TRACE(dataset->ToString());
    ASSERT_TRUE(dataset->node().random_access());
    STOKER_ASSERT_OK(dataset->Open(Runtime::Inline()));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, Pass::Create(*dataset, Runtime::Inline(), {}));
    std::vector<int64_t> positions(kRead);
    std::iota(positions.begin(), positions.end(), 0);
    const int64_t before = Scratch::BytesAskedByThisThread();
    STOKER_ASSERT_OK(
        dataset->node().ReadRows(positions, ReadContext(*pass, 0, /*vectorized=*/true)));
    const int64_t asked = Scratch::BytesAskedByThisThread() - before;
    EXPECT_GT(asked, samples->node().MemoryToRead(kRead).value_or(0));
    EXPECT_LE(asked, dataset->node().MemoryToRead(kRead).value_or(0));
  }
}

TEST(Unbatch, KeysTellSamplesApartWhateverTheOrderOfTheBatches) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto samples,
      ReadAll(*(NumberedImages(20) | Batch{.size = 4} | Shuffle{} | Unbatch{}), Runtime::Inline()));
  for (size_t i = 0; i < samples.size(); ++i)
    EXPECT_EQ(samples[i].key.index, Labels(samples)[i]) << i;
}

// {a: uint8[?], b: uint8[?]} with as many values as given.
Dataset Pairs(int64_t a, int64_t b) {
  return FromGenerator({{{"a", DType::kUInt8, {-1}}, {"b", DType::kUInt8, {-1}}}}, [=](uint64_t) {
    return [=, done = false]() mutable -> Result<std::optional<Element>> {
      if (std::exchange(done, true)) return std::nullopt;
      return Element{
          .arrays = {Array::Allocate(DType::kUInt8, {a}), Array::Allocate(DType::kUInt8, {b})}};
    };
  });
}

TEST(Unbatch, NamesAnElementWhoseFieldsDisagree) {
  EXPECT_EQ(ReadAll(*(Pairs(3, 3) | Unbatch{}), Runtime::Inline())->size(), 3u);
  EXPECT_TRUE(ReadAll(*(Pairs(0, 0) | Unbatch{}), Runtime::Inline())->empty());
  EXPECT_THAT(ReadAll(*(Pairs(3, 2) | Unbatch{}), Runtime::Threaded(2)),
              FailsWith(StatusCode::kInvalidArgument,
                        "unbatch: element 0: field 'a' has 3 parts, 'b' has 2"));
}

// By position {a: uint8[3], b: uint8[?]}, where b has as many values as given.
Dataset HalfKnown(int64_t b) {
  return *(NumberedImages(4) |
           Map{.function =
                   [b](Element& element, Rng&, Scratch& scratch) {
                     element.arrays = {scratch.NewArray(DType::kUInt8, {3}),
                                       scratch.NewArray(DType::kUInt8, {b})};
                     return OkStatus();
                   },
               .output = {{{"a", DType::kUInt8, {3}}, {"b", DType::kUInt8, {-1}}}}});
}

TEST(Unbatch, ReadsNothingBehindAFieldThatIsTooShortHoweverItIsRead) {
  const Dataset good = *(HalfKnown(3) | Unbatch{}), bad = *(HalfKnown(2) | Unbatch{});
  ASSERT_TRUE(bad.node().random_access());
  EXPECT_EQ(ReadAll(good, Runtime::Threaded(2))->size(), 12u);
  const auto too_short =
      FailsWith(StatusCode::kInvalidArgument, "element 0: field 'a' has 3 parts, 'b' has 2");
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)})
    EXPECT_THAT(ReadAll(bad, runtime), too_short);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, Pass::Create(bad, Runtime::Inline(), {}));
  const ReadContext context(*pass, /*epoch=*/0, /*vectorized=*/true);
  EXPECT_THAT(bad.node().Read(2, context), too_short);
  EXPECT_THAT(bad.node().ReadRows(std::vector<int64_t>{1, 2}, context), too_short);
  EXPECT_THAT(bad.node().ReadKey({.epoch = 0, .index = 2}, context), too_short);
}

TEST(Unbatch, RefusesWhatCannotBeSplit) {
  EXPECT_THAT(NumberedImages(3) | Unbatch{},
              FailsWith(StatusCode::kInvalidArgument, "field 'label' is a scalar"));
  const Dataset unequal = *FromArrays({{"a", Array::Allocate(DType::kUInt8, {5, 2})},
                                       {"b", Array::Allocate(DType::kUInt8, {5, 3})}});
  EXPECT_THAT(unequal | Unbatch{},
              FailsWith(StatusCode::kInvalidArgument, "field 'b' has 3 parts, but others have 2"));
}

}  // namespace stoker::unbatch_test
