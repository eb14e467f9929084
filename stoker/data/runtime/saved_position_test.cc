// The saved position of a pass: what is refused, and how small it is.
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/registry.h"
#include "stoker/data/runtime.h"
#include "stoker/data/runtime/test_stages.h"

namespace stoker {
namespace {

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

TEST(Pass, RefusesDamagedPositions) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(20) | Shuffle{});
  const std::pair<Json, const char*> kBroken[] = {
      {Json::array(), "no JSON object"},
      {Json::object(), "no integer 'seed'"},
      {{{"seed", 0}, {"epoch", 0}}, "no integer 'position'"},
      {{{"seed", 0}, {"epoch", 0}, {"position", 21}}, "element 21"},
      {{{"seed", 0}, {"epoch", 0}, {"position", -1}}, "'position' -1"},
  };
  for (const auto& [state, says] : kBroken) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                                dataset.Open(Runtime::Threaded(2)));
    const Status status = iterator->Restore(state);
    EXPECT_FALSE(status.ok()) << state;
    EXPECT_THAT(status.message(), testing::HasSubstr(says));
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

}  // namespace
}  // namespace stoker
