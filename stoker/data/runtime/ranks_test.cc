// Several ranks that share a pass: together they see what one alone would, also after a restart
// with another number of them.
#include <numeric>

#include "stoker/base/permutation.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/random_pipeline.h"
#include "stoker/data/testing/testing.h"

namespace stoker::ranks_test {

using Elements = std::vector<Element>;

const Runtime kRuntimes[] = {Runtime::Inline(), Runtime::Threaded(2)};

// What `world` ranks read of `dataset`, up to `steps` elements each, from `state` on where it is
// given, and rank 0's position then.
struct Read {
  std::vector<Elements> ranks;
  Json state;
};
Result<Read> ReadRanks(const Dataset& dataset, const Runtime& runtime, PassOptions options,
                       const Json& state = nullptr, size_t steps = 1'000'000) {
  Read read;
  for (options.rank = 0; options.rank < options.world; ++options.rank) {
    STOKER_ASSIGN_OR_RETURN(const auto iterator, dataset.Open(runtime, options));
    if (!state.is_null()) STOKER_RETURN_IF_ERROR(iterator->Restore(state));
    Elements elements;
    bool ended = false;
    for (size_t step = 0; step < steps && !ended; ++step) {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, iterator->Next());
      ended = !element;
      if (element) elements.push_back(*std::move(element));
    }
    STOKER_ASSIGN_OR_RETURN(Json after, iterator->Save());
    if (options.rank == 0) read.state = std::move(after);
    read.ranks.push_back(std::move(elements));
  }
  return read;
}

// In rounds, as they are dealt out.
Elements Interleaved(const std::vector<Elements>& ranks) {
  Elements all;
  for (size_t round = 0; round < ranks.front().size(); ++round) {
    for (const Elements& rank : ranks) {
      if (round < rank.size()) all.push_back(rank[round]);
    }
  }
  return all;
}

Elements Behind(const Elements& elements, size_t n) {
  n = std::min(n, elements.size());
  return {elements.begin() + static_cast<std::ptrdiff_t>(n), elements.end()};
}

std::vector<Result<Dataset>> Pipelines() {
  const auto position = [](int64_t n) { return Result<Dataset>(NumberedImages(n)); };
  const auto stream = [](int64_t n) { return Result<Dataset>(StreamedImages(n)); };
  return {
      position(50) | Shuffle{} | AddNoise() | Batch{.size = 3} | AddNoise() | Prefetch{},
      position(50) | Shuffle{} | Batch{.size = 4, .drop_remainder = true} | Repeat{.count = 2},
      stream(50),
      stream(50) | AddNoise() | Batch{.size = 3} | AddNoise() | Prefetch{},
      stream(50) | Batch{.size = 4, .drop_remainder = true} | AddNoise(),
      stream(47) | AddNoise() | Batch{.size = 2, .drop_remainder = true} | Prefetch{} |
          Batch{.size = 2} | AddNoise(),
      stream(50) | Shuffle{.buffer = 10} | AddNoise() | Batch{.size = 3},
      stream(25) | Batch{.size = 3} | Repeat{.count = 2} | Skip{.count = 1} | AddNoise(),
      stream(50) | Take{.count = 0} | Batch{.size = 3},
  };
}

TEST(Ranks, TogetherReadWhatOneAloneReads) {
  for (const Result<Dataset>& dataset : Pipelines()) {
    STOKER_ASSERT_OK(dataset);
    SCOPED_TRACE(dataset->ToString());
    STOKER_ASSERT_OK_AND_ASSIGN(const Elements whole,
                                ReadAll(*dataset, Runtime::Inline(), {.seed = 1}));
    for (const int64_t world : {1, 2, 3, 4, 8}) {
      for (const Runtime& runtime : kRuntimes) {
        STOKER_ASSERT_OK_AND_ASSIGN(const Read read,
                                    ReadRanks(*dataset, runtime, {.seed = 1, .world = world}));
        ASSERT_EQ(Fingerprint(Interleaved(read.ranks)), Fingerprint(whole)) << world << " ranks";
        EXPECT_LE(read.ranks.front().size(), read.ranks.back().size() + 1);
      }
    }
  }
}

TEST(Ranks, SavedByFourAreContinuedExactlyByAnyNumber) {
  for (const Result<Dataset>& dataset : Pipelines()) {
    SCOPED_TRACE(dataset->ToString());
    STOKER_ASSERT_OK_AND_ASSIGN(const Elements whole,
                                ReadAll(*dataset, Runtime::Inline(), {.seed = 1}));
    for (size_t steps = 0; steps * 4 <= whole.size() + 8; ++steps) {
      const Runtime& saver = kRuntimes[steps % 2];
      STOKER_ASSERT_OK_AND_ASSIGN(
          const Read four, ReadRanks(*dataset, saver, {.seed = 1, .world = 4}, nullptr, steps));
      for (const int64_t world : {1, 3, 4, 8}) {
        for (const Runtime& runtime : kRuntimes) {
          STOKER_ASSERT_OK_AND_ASSIGN(
              const Read rest,
              ReadRanks(*dataset, runtime, {.seed = 1, .world = world}, four.state));
          ASSERT_EQ(Fingerprint(Interleaved(rest.ranks)), Fingerprint(Behind(whole, steps * 4)))
              << steps << " steps of 4 ranks, then " << world << ": " << four.state;
        }
      }
    }
  }
}

TEST(Ranks, ContinueWhatOneAloneHasSavedAndAreSavedAndContinuedAgain) {
  for (const Result<Dataset>& dataset : Pipelines()) {
    SCOPED_TRACE(dataset->ToString());
    STOKER_ASSERT_OK_AND_ASSIGN(const Elements whole,
                                ReadAll(*dataset, Runtime::Inline(), {.seed = 1}));
    for (size_t alone = 0; alone <= whole.size(); alone += 3) {
      for (const Runtime& runtime : kRuntimes) {
        STOKER_ASSERT_OK_AND_ASSIGN(const Read one,
                                    ReadRanks(*dataset, runtime, {.seed = 1}, nullptr, alone));
        STOKER_ASSERT_OK_AND_ASSIGN(
            const Read three, ReadRanks(*dataset, runtime, {.seed = 1, .world = 3}, one.state, 2));
        STOKER_ASSERT_OK_AND_ASSIGN(
            const Read two, ReadRanks(*dataset, runtime, {.seed = 1, .world = 2}, three.state, 1));
        STOKER_ASSERT_OK_AND_ASSIGN(const Read rest,
                                    ReadRanks(*dataset, runtime, {.seed = 1}, two.state));
        Elements pieces = one.ranks.front();
        for (const Read* read : {&three, &two, &rest}) {
          const Elements more = Interleaved(read->ranks);
          pieces.insert(pieces.end(), more.begin(), more.end());
        }
        ASSERT_EQ(Fingerprint(pieces), Fingerprint(whole)) << alone << " elements alone";
      }
    }
  }
}

TEST(Ranks, OfRandomPipelinesReadWhatOneAloneReadsAndContinue) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, RandomPipeline(seed));
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << dataset.ToString());
    const PassOptions alone{.seed = seed};
    const PassOptions ranks{.seed = seed, .world = 1 + seed % 5};
    STOKER_ASSERT_OK_AND_ASSIGN(const Elements whole, ReadAll(dataset, Runtime::Inline(), alone));
    const size_t steps = whole.size() / 3 / static_cast<size_t>(ranks.world);
    STOKER_ASSERT_OK_AND_ASSIGN(const Read first,
                                ReadRanks(dataset, kRuntimes[seed % 2], ranks, nullptr, steps));
    const PassOptions others{.seed = seed, .world = 1 + seed % 3};
    STOKER_ASSERT_OK_AND_ASSIGN(const Read rest,
                                ReadRanks(dataset, kRuntimes[seed / 2 % 2], others, first.state));
    Elements pieces = Interleaved(first.ranks);
    const Elements more = Interleaved(rest.ranks);
    pieces.insert(pieces.end(), more.begin(), more.end());
    ASSERT_EQ(Fingerprint(pieces), Fingerprint(whole));
  }
}

TEST(Ranks, MakeOnlyTheirOwnElements) {
  std::atomic<int> made = 0;
  const Map count{.function = [&](Element&, Rng&, Scratch&) {
    ++made;
    return OkStatus();
  }};
  for (const Dataset& source : {NumberedImages(40), StreamedImages(40)}) {
    made = 0;
    const Result<Dataset> dataset =
        Result<Dataset>(source) | count | Batch{.size = 2} | count | Prefetch{};
    STOKER_ASSERT_OK_AND_ASSIGN(const auto rank,
                                dataset->Open(Runtime::Threaded(2), {.rank = 1, .world = 4}));
    STOKER_ASSERT_OK(ReadAll(*rank));
    EXPECT_EQ(made, 10 + 5);
    EXPECT_EQ(rank->GetProfile().stages.back().elements, 5);
  }
}

TEST(Ranks, ThatRunDryCanStopAll) {
  // Eleven batches, the last with one element, for four ranks: the third round is not whole.
  for (const Dataset& source : {NumberedImages(31), StreamedImages(31)}) {
    for (const Runtime& runtime : kRuntimes) {
      const Result<Dataset> dataset = Result<Dataset>(source) | AddNoise() | Batch{.size = 3};
      const PassOptions options{.world = 4, .when_dry = WhenDry::kStopAll};
      STOKER_ASSERT_OK_AND_ASSIGN(const Elements whole, ReadAll(*dataset, runtime));
      STOKER_ASSERT_OK_AND_ASSIGN(const Read read, ReadRanks(*dataset, runtime, options));
      for (const Elements& rank : read.ranks) EXPECT_EQ(rank.size(), 2u);
      EXPECT_EQ(Fingerprint(Interleaved(read.ranks)),
                Fingerprint({whole.begin(), whole.begin() + 8}));
      STOKER_ASSERT_OK_AND_ASSIGN(const Read after,
                                  ReadRanks(*dataset, runtime, options, read.state));
      EXPECT_TRUE(Interleaved(after.ranks).empty());
      // With three, the last round is two batches.
      STOKER_ASSERT_OK_AND_ASSIGN(
          const Read three,
          ReadRanks(*dataset, runtime, {.world = 3, .when_dry = WhenDry::kStopAll}));
      for (const Elements& rank : three.ranks) EXPECT_EQ(rank.size(), 3u);
    }
  }
}

TEST(Ranks, CountARaggedBatchAsOneOnlyWhereItIsKept) {
  const auto ranks_of = [](bool drop_remainder) {
    const Result<Dataset> dataset =
        StreamedImages(10) | Batch{.size = 3, .drop_remainder = drop_remainder};
    const Result<Read> read =
        ReadRanks(*dataset, Runtime::Inline(), {.world = 2, .when_dry = WhenDry::kStopAll});
    return std::pair(read->ranks[0].size(), read->ranks[1].size());
  };
  EXPECT_EQ(ranks_of(false), std::pair(size_t{2}, size_t{2}));  // 3, 3, 3, 1
  EXPECT_EQ(ranks_of(true), std::pair(size_t{1}, size_t{1}));   // 3, 3, 3
}

TEST(Ranks, ThatRunDryCanGoOnWithEmptyBatches) {
  for (const Dataset& source : {NumberedImages(31), StreamedImages(31)}) {
    for (const Runtime& runtime : kRuntimes) {
      const Result<Dataset> dataset = Result<Dataset>(source) | Batch{.size = 3} | Prefetch{};
      const PassOptions options{.world = 4, .when_dry = WhenDry::kEmptyBatches};
      STOKER_ASSERT_OK_AND_ASSIGN(const Read read, ReadRanks(*dataset, runtime, options));
      for (const Elements& rank : read.ranks) EXPECT_EQ(rank.size(), 3u);
      const Element& empty = read.ranks[3][2];
      EXPECT_EQ(empty.arrays[0].shape(), (Shape{0, 1, 4, 4}));
      EXPECT_EQ(empty.arrays[1].shape(), (Shape{0}));
      EXPECT_EQ(empty.key.index, 11);
      std::vector<int64_t> labels = Labels(Interleaved(read.ranks));
      EXPECT_EQ(labels.size(), 31u);
      STOKER_ASSERT_OK_AND_ASSIGN(const Read after,
                                  ReadRanks(*dataset, runtime, options, read.state));
      EXPECT_TRUE(Interleaved(after.ranks).empty());
    }
  }
  EXPECT_THAT(
      NumberedImages(5).Open(Runtime::Inline(), {.world = 2, .when_dry = WhenDry::kEmptyBatches}),
      FailsWith(StatusCode::kInvalidArgument, "put batch last"));
}

TEST(Ranks, ThatRunDryGoOnWithRaggedBatchesOfNoSample) {
  const Map words{
      .function =
          [](Element& element, Rng&, Scratch& scratch) {
            element.arrays[0] = scratch.NewArray(DType::kInt64, {2});
            return OkStatus();
          },
      .output = {{{"words", DType::kInt64, {kUnknownDim}}, {"label", DType::kInt64, {}}}}};
  const Result<Dataset> dataset = NumberedImages(9) | words | Batch{.size = 3, .ragged = true};
  const PassOptions options{.world = 2, .when_dry = WhenDry::kEmptyBatches};
  STOKER_ASSERT_OK_AND_ASSIGN(const Read read, ReadRanks(*dataset, Runtime::Inline(), options));
  const Element& empty = read.ranks[1].back();
  EXPECT_EQ(empty.arrays[0].shape(), (Shape{0}));
  EXPECT_EQ(empty.arrays[1].shape(), (Shape{0}));
  const auto offsets = empty.arrays[2].values<int64_t>();
  EXPECT_THAT(std::vector<int64_t>(offsets.begin(), offsets.end()), testing::ElementsAre(0));
}

TEST(Ranks, AreRefusedOutsideTheWorld) {
  const std::pair<int64_t, int64_t> wrong[] = {{2, 2}, {-1, 2}, {0, 0}, {0, -1}};
  for (const auto& [rank, world] : wrong) {
    EXPECT_THAT(NumberedImages(5).Open(Runtime::Inline(), {.rank = rank, .world = world}),
                FailsWith(StatusCode::kInvalidArgument, "ranks are numbered from 0"));
  }
}

TEST(Ranks, RefuseAPositionOfAnotherSeedAndADamagedOne) {
  const Result<Dataset> dataset = StreamedImages(20) | AddNoise() | Batch{.size = 2};
  const PassOptions options{.seed = 1, .world = 2};
  STOKER_ASSERT_OK_AND_ASSIGN(const Read read,
                              ReadRanks(*dataset, Runtime::Inline(), options, nullptr, 2));
  const auto restore = [&](const Json& state, uint64_t seed) {
    return (*dataset->Open(Runtime::Inline(), {.seed = seed, .world = 3}))->Restore(state);
  };
  EXPECT_THAT(restore(read.state, 1), IsOk());
  EXPECT_THAT(restore(read.state, 2), FailsWith(StatusCode::kFailedPrecondition, "with seed 1"));
  Json broken = read.state;
  broken["batches"] = "x";
  EXPECT_THAT(restore(broken, 1), FailsWith(StatusCode::kDataLoss, "batches"));
  broken = read.state;
  broken.erase("input");
  EXPECT_THAT(restore(broken, 1), FailsWith(StatusCode::kDataLoss, "input"));
}

TEST(Ranks, SaveAPipelineByPositionInUnder200Bytes) {
  const Result<Dataset> dataset =
      NumberedImages(1000) | Shuffle{} | AddNoise() | Batch{.size = 10} | Repeat{} | Prefetch{};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto rank,
                              dataset->Open(Runtime::Threaded(2), {.rank = 5, .world = 8}));
  for (int i = 0; i < 333; ++i) STOKER_ASSERT_OK(rank->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, rank->Save());
  EXPECT_EQ(state, (Json{{"epoch", 0},
                         {"position", 333 * 8},
                         {"seed", 0},
                         {"orders", IndexPermutation::kVersion}}));
}

}  // namespace stoker::ranks_test
