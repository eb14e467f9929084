#include "stoker/data/advice/no_batch.h"

#include <fstream>

#include "stoker/base/testing.h"
#include "stoker/data/data.h"
#include "stoker/data/sources/csv.h"

namespace stoker::no_batch_test {

Status Why(const Result<Dataset>& pipeline) {
  EXPECT_THAT(pipeline, IsOk());
  EXPECT_EQ(pipeline->cardinality(), Cardinality::Of(0));
  return NoBatch(*pipeline, "data.train");
}

TEST(NoBatch, AnEmptySourceIsNamedWithItsFiles) {
  const TempDir directory;
  std::ofstream(directory / "empty.csv") << "a,b\n";
  const Status why = Why(Source(Csv{.files = directory / "empty.csv"}) | Shuffle{} | Batch{});
  EXPECT_THAT(
      why, FailsWith(StatusCode::kInvalidArgument, "data.train gives no batch: its source csv ("));
  EXPECT_THAT(why.message(), testing::HasSubstr("empty.csv) holds no samples"));
  EXPECT_THAT(why.message(), testing::Not(testing::HasSubstr("drop_remainder")));
}

TEST(NoBatch, ABatchLargerThanTheDataIsNamedWithBothNumbers) {
  EXPECT_THAT(Why(Source(Range{.stop = 480}) | Shuffle{} |
                  Batch{.size = 1000, .drop_remainder = true} | Prefetch{}),
              FailsWith(StatusCode::kInvalidArgument,
                        "its 480 samples are fewer than one batch of 1000, and drop_remainder"));
}

TEST(NoBatch, AStageThatLeavesNothingIsNamed) {
  EXPECT_THAT(Why(Source(Range{.stop = 480}) | Skip{.count = 480} | Batch{}),
              FailsWith(StatusCode::kInvalidArgument, "`skip` leaves out all of 480 elements"));
}

}  // namespace stoker::no_batch_test
