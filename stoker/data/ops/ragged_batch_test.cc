// `batch` with ragged: values of all samples, and offsets.
#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/concatenate.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/ragged_internal.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/unbatch.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"

namespace stoker::ragged_batch_test {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

// Sample i has i % 4 pairs of numbers, which begin at 10 i, and its label i.
Map Pairs() {
  return Map{.function =
                 [](Element& element, Rng&, Scratch& scratch) {
                   const int64_t label = element.arrays[1].values<int64_t>()[0];
                   Array pairs = scratch.NewArray(DType::kInt64, {label % 4, 2});
                   int64_t next = 10 * label;
                   for (int64_t& value : pairs.values<int64_t>()) value = next++;
                   element.arrays[0] = std::move(pairs);
                   return OkStatus();
                 },
             .output = {{{"pairs", DType::kInt64, {kUnknownDim, 2}}, {"label", DType::kInt64, {}}}},
             .random = false};
}

template <typename T = int64_t>
std::vector<T> ValuesOf(const Array& array) {
  const auto values = array.values<T>();
  return {values.begin(), values.end()};
}

TEST(RaggedBatch, HasTheValuesOfAllSamplesAndWhereEachBegins) {
  for (const bool streamed : {false, true}) {
    const Result<Dataset> images = streamed ? StreamedImages(6) : NumberedImages(6);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                images | Pairs() | Batch{.size = 4, .ragged = true});
    EXPECT_EQ(dataset.spec().ToString(),
              "{pairs: int64[?, 2], label: int64[?], pairs_offsets: int64[?]}");
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, ReadAll(dataset, runtime));
      ASSERT_EQ(batches.size(), 2u);
      EXPECT_EQ(batches[0].arrays[0].shape(), (Shape{6, 2}));
      EXPECT_THAT(ValuesOf(batches[0].arrays[0]),
                  ElementsAre(10, 11, 20, 21, 22, 23, 30, 31, 32, 33, 34, 35));
      EXPECT_THAT(ValuesOf(batches[0].arrays[1]), ElementsAre(0, 1, 2, 3));
      EXPECT_THAT(ValuesOf(batches[0].arrays[2]), ElementsAre(0, 0, 1, 3, 6));
      // The last has two samples, of which the first is empty.
      EXPECT_THAT(ValuesOf(batches[1].arrays[0]), ElementsAre(50, 51));
      EXPECT_THAT(ValuesOf(batches[1].arrays[2]), ElementsAre(0, 0, 1));
    }
  }
}

TEST(RaggedBatch, IsThePaddedBatchWithoutItsPadding) {
  const Result<Dataset> samples = NumberedImages(50) | Shuffle{} | Pairs();
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset ragged, samples | Batch{.size = 7, .ragged = true});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset padded, samples | PaddedBatch{.size = 7, .mask = true});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto short_ones, ReadAll(ragged, Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto long_ones, ReadAll(padded, Runtime::Inline()));
  ASSERT_EQ(short_ones.size(), long_ones.size());
  for (size_t i = 0; i < short_ones.size(); ++i) {
    std::vector<int64_t> expected;
    const std::vector<int64_t> all = ValuesOf(long_ones[i].arrays[0]);
    const auto mask = long_ones[i].arrays[2].values<bool>();
    for (size_t place = 0; place < mask.size(); ++place) {
      if (!mask[place]) continue;
      expected.push_back(all[2 * place]);
      expected.push_back(all[2 * place + 1]);
    }
    EXPECT_THAT(ValuesOf(short_ones[i].arrays[0]), ElementsAreArray(expected));
    EXPECT_EQ(ValuesOf(short_ones[i].arrays[1]), ValuesOf(long_ones[i].arrays[1]));
  }
}

// A model that was trained on ragged samples predicts some that happen to be equally long.
TEST(RaggedBatch, StacksSamplesWhoseShapesAreEqual) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset ragged,
                              NumberedImages(6) | Batch{.size = 4, .ragged = true});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset plain, NumberedImages(6) | Batch{.size = 4});
  EXPECT_EQ(ragged.spec(), plain.spec());
  EXPECT_EQ(ragged.ToString(), plain.ToString());
}

TEST(RaggedBatch, LeavesOutARemainderWhereAsked) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      NumberedImages(6) | Pairs() | Batch{.size = 4, .drop_remainder = true, .ragged = true});
  EXPECT_EQ(dataset.spec().ToString(),
            "{pairs: int64[?, 2], label: int64[4], pairs_offsets: int64[5]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, ReadAll(dataset, Runtime::Inline()));
  EXPECT_EQ(batches.size(), 1u);
}

TEST(RaggedBatch, NamesTheOffsetsOfAFieldAlsoBehindLaterStages) {
  const Result<Dataset> ragged = NumberedImages(6) | Pairs() | Batch{.size = 2, .ragged = true};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset later, ragged | Prefetch{});
  EXPECT_EQ(FindOffsets(later, "pairs"), "pairs_offsets");
  EXPECT_EQ(FindOffsets(later, "label"), std::nullopt);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset joined,
                              Concatenate{.inputs = {*ragged, *ragged}}.Build());
  EXPECT_EQ(FindOffsets(joined, "pairs"), "pairs_offsets");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset plain, NumberedImages(6) | Batch{.size = 2});
  EXPECT_EQ(FindOffsets(plain, "image"), std::nullopt);
}

TEST(RaggedBatch, IsNoneOnceALaterStageHasGivenTheFieldAnotherShape) {
  const Map stacked{.function =
                        [](Element& element, Rng&, Scratch& scratch) {
                          element.arrays[0] = scratch.NewArray(DType::kInt64, {2, 3, 2});
                          return OkStatus();
                        },
                    .output = {{{"pairs", DType::kInt64, {kUnknownDim, 3, 2}},
                                {"label", DType::kInt64, {kUnknownDim}},
                                {"pairs_offsets", DType::kInt64, {kUnknownDim}}}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset later, NumberedImages(6) | Pairs() |
                                                       Batch{.size = 2, .ragged = true} | stacked);
  EXPECT_EQ(FindOffsets(later, "pairs"), std::nullopt);
  EXPECT_THAT(OffsetsByField(later), IsEmpty());
}

TEST(RaggedBatch, SaysWhatItCannotJoin) {
  const auto batched = [](const Spec& spec) {
    const Map to{.function = [](Element&, Rng&, Scratch&) { return OkStatus(); }, .output = spec};
    return NumberedImages(6) | to | Batch{.size = 2, .ragged = true};
  };
  EXPECT_THAT(batched({{{"x", DType::kFloat32, {3, kUnknownDim}}}}),
              FailsWith(StatusCode::kInvalidArgument, "only the first extent of a ragged field"));
  EXPECT_THAT(batched({{{"x", DType::kFloat32, {kUnknownDim}}, {"x_offsets", DType::kInt64, {}}}}),
              FailsWith(StatusCode::kInvalidArgument, "x_offsets"));
  EXPECT_THAT((NumberedImages(6) | Pairs() | Batch{.size = 2}),
              FailsWith(StatusCode::kInvalidArgument, "`ragged: true`"));
  EXPECT_THAT((NumberedImages(6) | Pairs() | Batch{.size = 2, .ragged = true} | Unbatch{}),
              FailsWith(StatusCode::kInvalidArgument, "unbatch: field 'pairs' is ragged"));
}

TEST(RaggedBatch, NamesAnElementThatIsNotWhatWasPromised) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const std::optional<RaggedPlan> plan,
      RaggedPlan::Make({{{"pairs", DType::kInt64, {kUnknownDim, 3}}}}, /*extent=*/2));
  const Element wrong{.key = {.epoch = 0, .index = 7},
                      .arrays = {Array::Allocate(DType::kInt64, {4, 2})}};
  BufferPool pool{nullptr, 1 << 20};
  Scratch scratch(pool);
  EXPECT_THAT(plan->Join(std::span(&wrong, 1), {}, scratch).status(),
              FailsWith(StatusCode::kInvalidArgument, "element 7: field 'pairs' has shape [4, 2]"));
}

}  // namespace stoker::ragged_batch_test
