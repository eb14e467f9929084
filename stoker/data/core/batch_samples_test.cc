#include "stoker/data/core/batch_samples.h"

#include <numeric>

#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/rank_rows.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/ops/unbatch.h"
#include "stoker/data/testing/testing.h"

namespace stoker::batch_samples_test {

// 20 samples whose value is their number.
Dataset Numbered() {
  Array values = Array::Allocate(DType::kInt64, {20});
  std::iota(values.values<int64_t>().begin(), values.values<int64_t>().end(), 0);
  return *FromArrays({{"value", std::move(values)}});
}

// Every row of every batch of a pass, as it is said to be made of, is the value it has.
void ExpectTold(const Dataset& batches) {
  constexpr uint64_t kSeed = 3;
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, batches.Open(runtime, {.seed = kSeed}));
    int64_t seen = 0;
    while (true) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> batch, iterator->Next());
      if (!batch) break;
      const auto values = batch->arrays[0].values<int64_t>();
      std::vector<int64_t> rows(values.size());
      std::iota(rows.begin(), rows.end(), 0);
      STOKER_ASSERT_OK_AND_ASSIGN(const auto samples,
                                  SamplesInBatch(batches, kSeed, batch->key, rows, "value"));
      for (size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(samples[i].index, values[i]);
        EXPECT_EQ(samples[i].file, "");
      }
      ++seen;
    }
    EXPECT_GT(seen, 3);
  }
}

TEST(SamplesInBatch, NamesTheSamplesOfEveryBatchOfEveryEpoch) {
  Dataset data = *Shuffle{}.Build(Numbered());
  data = *Batch{.size = 6}.Build(data);
  ExpectTold(data);
  data = *Take{.count = 3}.Build(data);
  data = *Prefetch{}.Build(*Repeat{.count = 3}.Build(data));
  ExpectTold(data);
}

TEST(SamplesInBatch, NamesTheRowsOfARankWhetherItMakesThemAloneOrCutsThemOutOfWholeBatches) {
  const Dataset samples = *Shuffle{}.Build(Numbered());
  for (const Dataset& batches :
       {*Batch{.size = 6}.Build(samples), *PaddedBatch{.size = 6}.Build(samples)}) {
    for (int64_t rank = 0; rank < 3; ++rank) {
      STOKER_ASSERT_OK_AND_ASSIGN(
          const RankRows rows, RowsOfRank(*Prefetch{}.Build(batches), {.rank = rank, .world = 3}));
      ExpectTold(rows.dataset);
    }
  }
}

TEST(SamplesInBatch, SaysWhereNumbersTellNothing) {
  const SampleKey key{.epoch = 0, .index = 0};
  const std::vector<int64_t> rows = {0};
  const Dataset stream = *Batch{.size = 6}.Build(StreamedImages(20));
  EXPECT_THAT(SamplesInBatch(stream, 1, key, rows, "value"),
              FailsWith(StatusCode::kUnimplemented, "by position"));
  const Dataset single = *Unbatch{}.Build(*Batch{.size = 6}.Build(Numbered()));
  EXPECT_THAT(SamplesInBatch(single, 1, key, rows, "value"),
              FailsWith(StatusCode::kUnimplemented, "by position"));
}

TEST(SamplesInBatch, RefusesABatchOrRowThatDoesNotExist) {
  const Dataset data = *Batch{.size = 6}.Build(Numbered());
  for (const auto& [batch, row] : std::vector<std::pair<int64_t, int64_t>>{
           {3, 2}, {4, 0}, {0, 6}, {-1, 0}, {0, -1}, {INT64_MAX / 2, 0}}) {
    EXPECT_THAT(SamplesInBatch(data, 1, {.epoch = 0, .index = batch}, std::vector{row}, "value"),
                FailsWith(StatusCode::kOutOfRange, "no sample"));
  }
}

}  // namespace stoker::batch_samples_test
