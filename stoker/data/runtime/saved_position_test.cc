// The saved position of a pass: what is refused, and how small it is.
#include "stoker/base/permutation.h"
#include "stoker/data/core/drawn_order.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/balance.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/sample.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::saved_position_test {

TEST(Pass, RefusesAPositionSavedWithAnotherSeed) {
  const Result<Dataset> datasets[] = {
      NumberedImages(20) | Shuffle{},
      StreamedImages(20) | AddNoise(),
      StreamedImages(20) | AddNoise() | Batch{.size = 2} | Repeat{.count = 2} | Prefetch{},
      StreamedImages(20) | Skip{.count = 1},
  };
  for (const Result<Dataset>& dataset : datasets) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset->Open(runtime, {.seed = 1}));
      STOKER_ASSERT_OK(saved->Next());
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
      STOKER_ASSERT_OK_AND_ASSIGN(const auto other, dataset->Open(runtime, {.seed = 2}));
      EXPECT_THAT(other->Restore(state),
                  FailsWith(StatusCode::kFailedPrecondition, "saved with seed 1"));
      STOKER_ASSERT_OK_AND_ASSIGN(const auto same, dataset->Open(runtime, {.seed = 1}));
      EXPECT_THAT(same->Restore(state), IsOk());
    }
  }
}

// As a version saved it whose permutations were others, before positions named theirs or after.
TEST(Pass, APositionOfAnotherOrderIsRefusedWhereAStageDrawsOne) {
  const Result<Dataset> drawing[] = {
      NumberedImages(20) | Shuffle{} | Batch{.size = 2} | Prefetch{},
      NumberedImages(20) | Shuffle{.window = 8, .page = 2} | Repeat{},
      NumberedImages(20) | Shuffle{.seed = 7, .reshuffle = false},
      NumberedImages(20) | Sample{.label = "label", .weights = std::vector<double>(20, 1)},
      NumberedImages(20) | Balance{},
  };
  for (const Result<Dataset>& dataset : drawing) {
    SCOPED_TRACE(dataset->ToString());
    STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset->Open(Runtime::Threaded(2)));
    STOKER_ASSERT_OK(saved->Next());
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
    Json before = state, other = state;
    before.erase("orders");
    other["orders"] = IndexPermutation::kVersion + 1;
    for (const Json& refused : {before, other}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset->Open(Runtime::Threaded(2)));
      EXPECT_THAT(resumed->Restore(refused),
                  FailsWith(StatusCode::kFailedPrecondition, "shuffles in other orders"));
    }
    STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset->Open(Runtime::Threaded(2)));
    TakeForTheseOrders(before);
    STOKER_EXPECT_OK(resumed->Restore(before));
  }
}

TEST(Pass, APositionNamesNoOrderWhereNoStageDrawsOne) {
  const Result<Dataset> others[] = {
      NumberedImages(20) | AddNoise() | Batch{.size = 2} | Prefetch{},
      StreamedImages(20) | Shuffle{.buffer = 4},
  };
  for (const Result<Dataset>& dataset : others) {
    SCOPED_TRACE(dataset->ToString());
    STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset->Open(Runtime::Threaded(2)));
    STOKER_ASSERT_OK(saved->Next());
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
    EXPECT_FALSE(state.contains("orders")) << state;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset->Open(Runtime::Threaded(2)));
    STOKER_EXPECT_OK(resumed->Restore(state));
  }
}

TEST(Pass, IsRestoredOnceAtMost) {
  const Dataset dataset = NumberedImages(10);
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
    STOKER_ASSERT_OK(iterator->Restore(state));
    EXPECT_THAT(iterator->Restore(state),
                FailsWith(StatusCode::kFailedPrecondition, "restored once"));
  }
}

TEST(Pass, RefusesDamagedPositions) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(20) | Shuffle{});
  constexpr uint64_t kTooLarge = (uint64_t{1} << 63) + 3;  // as an int64_t it is negative
  const std::pair<Json, const char*> kBroken[] = {
      {Json::array(), "no JSON object"},
      {Json::object(), "no integer 'seed'"},
      {{{"seed", 0}, {"epoch", 0}}, "no integer 'position'"},
      {{{"seed", 0}, {"epoch", 0}, {"position", 21}}, "element 21"},
      {{{"seed", 0}, {"epoch", 0}, {"position", -1}}, "'position' -1"},
      {{{"seed", 0}, {"epoch", 0}, {"position", kTooLarge}}, "'position' 9223372036854775811"},
      {{{"seed", 0}, {"epoch", -1}, {"position", 0}}, "'epoch' -1"},
      {{{"seed", -1}, {"epoch", 0}, {"position", 0}}, "'seed' -1"},
  };
  for (auto [state, says] : kBroken) {
    if (state.contains("seed")) TakeForTheseOrders(state);
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                                dataset.Open(Runtime::Threaded(2)));
    const Status status = iterator->Restore(state);
    EXPECT_FALSE(status.ok()) << state;
    EXPECT_THAT(status.message(), testing::HasSubstr(says));
  }
}

TEST(Pass, RefusesCountsOfStreamsThatNoCountCanBe) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, StreamedImages(20) | Batch{.size = 2});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(Json state, saved->Save());
  state["batches"] = ~uint64_t{0};
  EXPECT_THAT(saved->Restore(state), FailsWith(StatusCode::kDataLoss, "'batches' 1844674407"));
}

// Seeds and epochs have all 64 bits; and whoever resumes need not know the epoch.
TEST(Pass, ContinuesInTheEpochInWhichItWasSaved) {
  const Result<Dataset> datasets[] = {
      NumberedImages(20) | Shuffle{} | AddNoise(),
      StreamedImages(20) | AddNoise() | Batch{.size = 2},
      StreamedImages(20) | AddNoise() | PaddedBatch{.size = 3},
      StreamedImages(20) | Repeat{.count = 3} | AddNoise() | Shuffle{.buffer = 4},
      StreamedImages(5) | Shuffle{.buffer = 3} | Repeat{} | Batch{.size = 2} | Take{.count = 9},
  };
  for (const Result<Dataset>& dataset : datasets) {
    SCOPED_TRACE(dataset->ToString());
    for (const uint64_t epoch : {uint64_t{1}, ~uint64_t{0} - 2}) {
      for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
        const PassOptions pass{.seed = ~uint64_t{0}, .epoch = epoch};
        STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset->Open(runtime, pass));
        for (int i = 0; i < 2; ++i) STOKER_ASSERT_OK(saved->Next());
        STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
        STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed,
                                    dataset->Open(runtime, {.seed = pass.seed, .epoch = 7}));
        STOKER_ASSERT_OK(resumed->Restore(state));
        EXPECT_EQ(Fingerprint(*ReadAll(*resumed)), Fingerprint(*ReadAll(*saved)));
      }
    }
  }
}

TEST(Pass, SavesARandomAccessPipelineInUnder200Bytes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(1000) | Shuffle{} | AddNoise() |
                                                         Batch{.size = 10} | Repeat{} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                              dataset.Open(Runtime::Threaded(2)));
  for (int i = 0; i < 333; ++i) STOKER_ASSERT_OK(iterator->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
  EXPECT_LT(state.dump().size(), 200u) << state;
}

}  // namespace stoker::saved_position_test
