#include "stoker/train/plan/batching_stage.h"

#include "stoker/base/testing.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/range.h"

namespace stoker::batching_stage_test {

Result<Dataset> Samples(int64_t count) { return Range{.stop = count}.Build(); }

TEST(BatchingStage, KnowsTheSamplesOfTheLastBatch) {
  const struct {
    Result<Dataset> batches;
    std::optional<int64_t> last;
  } cases[] = {
      {Samples(11) | Batch{.size = 4}, 3},
      {Samples(9) | Batch{.size = 4}, 1},
      {Samples(8) | Batch{.size = 4} | Prefetch{}, 4},
      {Samples(9) | Batch{.size = 4, .drop_remainder = true}, 4},
      {Samples(1) | Batch{.size = 1}, 1},
      {Samples(9) | Batch{.size = 4} | Take{.count = 2}, std::nullopt},
      {Samples(9) | Repeat{} | Batch{.size = 4}, std::nullopt},
      {Samples(9), std::nullopt},
  };
  for (const auto& [batches, last] : cases) {
    STOKER_ASSERT_OK(batches);
    EXPECT_EQ(SamplesOfLastBatch(*batches), last);
  }
}

}  // namespace stoker::batching_stage_test
