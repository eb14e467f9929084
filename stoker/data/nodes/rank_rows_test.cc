// Ranks that share the rows of each batch: together they have the bytes of one process, also after
// a restart with another number of them.
#include "stoker/data/nodes/rank_rows.h"

#include <cstring>

#include "stoker/data/core/batch_samples.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/testing/random_pipeline.h"
#include "stoker/data/testing/testing.h"

namespace stoker::rank_rows_test {

using Elements = std::vector<Element>;

const Runtime kRuntimes[] = {Runtime::Inline(), Runtime::Threaded(2)};

// What the ranks read of `dataset` from `state` on, if it is given, at most `steps` elements each,
// and the position of the last rank then.
struct Read {
  std::vector<Elements> ranks;
  Json state;
};
Result<Read> ReadRanks(const Dataset& dataset, int64_t world, const Runtime& runtime,
                       uint64_t seed = 1, const Json& state = nullptr, size_t steps = 1'000'000) {
  Read read;
  for (int64_t rank = 0; rank < world; ++rank) {
    STOKER_ASSIGN_OR_RETURN(const RankRows rows,
                            RowsOfRank(dataset, {.rank = rank, .world = world}));
    STOKER_ASSIGN_OR_RETURN(const auto iterator, rows.dataset.Open(runtime, {.seed = seed}));
    if (!state.is_null()) STOKER_RETURN_IF_ERROR(iterator->Restore(state));
    Elements elements;
    while (elements.size() < steps) {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, iterator->Next());
      if (!element) break;
      elements.push_back(*std::move(element));
    }
    STOKER_ASSIGN_OR_RETURN(read.state, iterator->Save());
    read.ranks.push_back(std::move(elements));
  }
  return read;
}

// One array whose rows are those of `parts`, one part after the other.
Array Joined(const std::vector<Array>& parts) {
  Shape shape = parts.front().shape();
  shape.front() = 0;
  for (const Array& part : parts) shape.front() += part.shape().front();
  Array whole = Array::Allocate(parts.front().dtype(), shape);
  size_t at = 0;
  for (const Array& part : parts) {
    if (part.num_bytes() > 0) std::memcpy(whole.data() + at, part.data(), part.num_bytes());
    at += part.num_bytes();
  }
  return whole;
}

// The elements of one process, put together from those of the ranks.
Elements Joined(const std::vector<Elements>& ranks) {
  Elements all;
  for (size_t i = 0; i < ranks.front().size(); ++i) {
    Element joined{.key = ranks.front()[i].key, .arrays = {}, .failure = {}};
    for (size_t field = 0; field < ranks.front()[i].arrays.size(); ++field) {
      std::vector<Array> parts;
      for (const Elements& rank : ranks) {
        EXPECT_EQ(rank[i].key, joined.key);
        parts.push_back(rank[i].arrays[field]);
      }
      joined.arrays.push_back(Joined(parts));
    }
    all.push_back(std::move(joined));
  }
  return all;
}

Elements Behind(const Elements& elements, size_t n) {
  n = std::min(n, elements.size());
  return {elements.begin() + static_cast<std::ptrdiff_t>(n), elements.end()};
}

struct Case {
  Result<Dataset> dataset;
  bool makes_all;
};

std::vector<Case> Cases() {
  const auto position = [](int64_t n) { return Result<Dataset>(NumberedImages(n)); };
  const auto stream = [](int64_t n) { return Result<Dataset>(StreamedImages(n)); };
  return {
      {position(50) | Shuffle{} | AddNoise() | Batch{.size = 7} | Prefetch{}, false},
      {position(50) | Shuffle{} | AddNoise() | Batch{.size = 7} | Prefetch{} | Repeat{.count = 3},
       false},
      {position(50) | Batch{.size = 8, .drop_remainder = true} | Repeat{.count = 2}, false},
      {position(51) | Batch{.size = 10} | Skip{.count = 1} | Take{.count = 3} | Repeat{.count = 2},
       false},
      // Its last batch has one row, so fewer than ranks.
      {position(41) | Shuffle{} | Batch{.size = 8}, false},
      {position(50) | Shuffle{} | Batch{.size = 7} | AddNoise() | Prefetch{}, true},
      {position(50) | Shuffle{} | PaddedBatch{.size = 7}, true},
      {position(50) | Batch{.size = 6} | Shuffle{}, true},
      {stream(50) | Shuffle{.buffer = 10} | AddNoise() | Batch{.size = 7} | Prefetch{}, true},
      {stream(50) | AddNoise() | Batch{.size = 6, .drop_remainder = true} | Repeat{.count = 2},
       true},
      {stream(41) | Batch{.size = 8} | AddNoise() | Prefetch{}, true},
  };
}

TEST(RankRows, TogetherAreTheBatchesOfOneProcess) {
  for (const auto& [dataset, makes_all] : Cases()) {
    STOKER_ASSERT_OK(dataset);
    SCOPED_TRACE(dataset->ToString());
    STOKER_ASSERT_OK_AND_ASSIGN(const Elements whole,
                                ReadAll(*dataset, Runtime::Inline(), {.seed = 1}));
    for (const int64_t world : {1, 2, 3, 4}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const RankRows rows,
                                  RowsOfRank(*dataset, {.rank = 0, .world = world}));
      EXPECT_EQ(rows.makes_all, makes_all && world > 1);
      for (const Runtime& runtime : kRuntimes) {
        STOKER_ASSERT_OK_AND_ASSIGN(const Read read, ReadRanks(*dataset, world, runtime));
        ASSERT_EQ(Fingerprint(Joined(read.ranks)), Fingerprint(whole)) << world << " ranks";
      }
    }
  }
}

TEST(RankRows, AnyPositionIsContinuedByAnyNumberOfRanks) {
  for (const Case& each : Cases()) {
    const Dataset& dataset = *each.dataset;
    SCOPED_TRACE(dataset.ToString());
    STOKER_ASSERT_OK_AND_ASSIGN(const Elements whole,
                                ReadAll(dataset, Runtime::Inline(), {.seed = 1}));
    for (size_t steps = 0; steps <= whole.size(); ++steps) {
      const Runtime& saver = kRuntimes[steps % 2];
      const Runtime& reader = kRuntimes[steps / 2 % 2];
      STOKER_ASSERT_OK_AND_ASSIGN(const Read alone,
                                  ReadRanks(dataset, 1, saver, 1, nullptr, steps));
      STOKER_ASSERT_OK_AND_ASSIGN(const Read three,
                                  ReadRanks(dataset, 3, saver, 1, nullptr, steps));
      EXPECT_EQ(three.state, alone.state);
      for (const int64_t world : {1, 2, 4}) {
        STOKER_ASSERT_OK_AND_ASSIGN(const Read rest,
                                    ReadRanks(dataset, world, reader, 1, three.state));
        ASSERT_EQ(Fingerprint(Joined(rest.ranks)), Fingerprint(Behind(whole, steps)))
            << steps << " steps of 3 ranks, then " << world << ": " << three.state;
      }
    }
  }
}

TEST(RankRows, OfRandomPipelinesAreTheBatchesOfOneProcess) {
  const QuietLog quiet;  // pipelines that lose elements say so
  int compared = 0;
  for (uint32_t seed = 0; seed < 120; ++seed) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset random, RandomPipeline(seed));
    const Result<Dataset> dataset = Result<Dataset>(random) | Batch{.size = 3} | Prefetch{};
    if (!dataset.ok()) continue;  // elements of different shapes
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << dataset->ToString());
    STOKER_ASSERT_OK_AND_ASSIGN(const Elements whole,
                                ReadAll(*dataset, Runtime::Inline(), {.seed = seed}));
    if (whole.empty()) continue;
    ++compared;
    const size_t steps = whole.size() / 2;
    STOKER_ASSERT_OK_AND_ASSIGN(const Read two,
                                ReadRanks(*dataset, 2, kRuntimes[seed % 2], seed, nullptr, steps));
    STOKER_ASSERT_OK_AND_ASSIGN(const Read rest,
                                ReadRanks(*dataset, 3, kRuntimes[seed % 2], seed, two.state));
    Elements all = Joined(two.ranks);
    const Elements more = Joined(rest.ranks);
    all.insert(all.end(), more.begin(), more.end());
    ASSERT_EQ(Fingerprint(all), Fingerprint(whole));
  }
  EXPECT_GT(compared, 30);
}

TEST(RankRows, MakeOnlyTheirOwnSamplesByPosition) {
  std::atomic<int64_t> made{0};
  const Map count{.function =
                      [&made](Element&, Rng&, Scratch&) {
                        ++made;
                        return OkStatus();
                      },
                  .random = false};
  const Result<Dataset> dataset = Result<Dataset>(NumberedImages(40)) | count | Batch{.size = 8};
  STOKER_ASSERT_OK(dataset);
  STOKER_ASSERT_OK_AND_ASSIGN(const RankRows rows, RowsOfRank(*dataset, {.rank = 1, .world = 4}));
  STOKER_ASSERT_OK(ReadAll(rows.dataset, Runtime::Inline()).status());
  EXPECT_EQ(made, 10);
}

TEST(RankRows, NameTheSamplesThatTheyHave) {
  const Result<Dataset> dataset = Result<Dataset>(NumberedImages(21)) | Batch{.size = 8};
  STOKER_ASSERT_OK(dataset);
  STOKER_ASSERT_OK_AND_ASSIGN(const RankRows rows, RowsOfRank(*dataset, {.rank = 1, .world = 2}));
  const int64_t first[] = {0};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto of_full,
      SamplesInBatch(rows.dataset, 1, {.epoch = 0, .index = 1}, first, "label"));
  EXPECT_EQ(of_full.front().index, 12);  // batch 1 has 8 to 15, this rank the second half
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto of_last,
      SamplesInBatch(rows.dataset, 1, {.epoch = 0, .index = 2}, first, "label"));
  EXPECT_EQ(of_last.front().index, 18);  // of 16 to 20 it has those from the third on
}

TEST(RankRows, OfRaggedBatchesHaveTheValuesOfTheirSamplesWithOffsetsOfTheirOwn) {
  const Map lengthen{
      .function =
          [](Element& element, Rng&, Scratch& scratch) {
            const int64_t label = element.arrays[1].values<int64_t>()[0];
            element.arrays[0] = scratch.NewArray(DType::kInt64, {label % 3});
            std::ranges::fill(element.arrays[0].values<int64_t>(), label);
            return OkStatus();
          },
      .output = {{{"words", DType::kInt64, {kUnknownDim}}, {"label", DType::kInt64, {}}}},
      .random = false};
  const Map later{.function = [](Element&, Rng&, Scratch&) { return OkStatus(); }, .random = false};
  for (const int kind : {0, 1, 2}) {
    const Result<Dataset> images = kind == 1 ? StreamedImages(21) : NumberedImages(21);
    Result<Dataset> batches = images | lengthen | Batch{.size = 8, .ragged = true};
    if (kind == 2) batches = batches | later;  // each rank cuts whole batches
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, batches);
    STOKER_ASSERT_OK_AND_ASSIGN(const Elements whole, ReadAll(dataset, Runtime::Inline()));
    for (const int64_t world : {2, 3}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const Read read, ReadRanks(dataset, world, Runtime::Threaded(2)));
      const Elements joined = Joined(read.ranks);
      ASSERT_EQ(joined.size(), whole.size());
      for (size_t i = 0; i < whole.size(); ++i) {
        EXPECT_EQ(joined[i].arrays[0].ToString(), whole[i].arrays[0].ToString());
        for (const size_t field : {0, 1}) {
          EXPECT_TRUE(std::ranges::equal(joined[i].arrays[field].values<int64_t>(),
                                         whole[i].arrays[field].values<int64_t>()));
        }
      }
      for (const Elements& rank : read.ranks) {
        for (const Element& element : rank) {
          const auto offsets = element.arrays[2].values<int64_t>();
          EXPECT_EQ(std::ssize(offsets), element.arrays[1].shape().front() + 1);
          EXPECT_EQ(offsets.front(), 0);
          EXPECT_EQ(offsets.back(), element.arrays[0].shape().front());
        }
      }
    }
  }
}

TEST(RankRows, ElementsWithoutRowsAreRefused) {
  EXPECT_THAT(RowsOfRank(NumberedImages(4), {.rank = 0, .world = 2}),
              FailsWith(StatusCode::kInvalidArgument, "end the pipeline with `batch`"));
}

}  // namespace stoker::rank_rows_test
