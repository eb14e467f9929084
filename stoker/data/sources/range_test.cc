#include "stoker/data/sources/range.h"

#include <limits>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"

namespace stoker::range_test {

using testing::ElementsAre;

TEST(Range, CountsUpAndDown) {
  EXPECT_THAT(ValuesOf(Source(Range{.stop = 4})), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ValuesOf(Source(Range{.stop = 11, .start = 2, .step = 3})), ElementsAre(2, 5, 8));
  EXPECT_THAT(ValuesOf(Source(Range{.stop = 12, .start = 2, .step = 3})), ElementsAre(2, 5, 8, 11));
  EXPECT_THAT(ValuesOf(Source(Range{.stop = -1, .start = 5, .step = -2})), ElementsAre(5, 3, 1));
  EXPECT_THAT(ValuesOf(Source(Range{.stop = 0, .start = 5, .step = -2})), ElementsAre(5, 3, 1));
  EXPECT_THAT(ValuesOf(Source(Range{.stop = 0})), testing::IsEmpty());
  EXPECT_THAT(ValuesOf(Source(Range{.stop = -3})), testing::IsEmpty());
  EXPECT_THAT(ValuesOf(Source(Range{.stop = 3, .step = -1})), testing::IsEmpty());
}

TEST(Range, ReachesBothEndsOf64Bits) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(ValuesOf(Source(Range{.stop = kMax, .start = kMin, .step = kMax})),
              ElementsAre(kMin, -1, kMax - 1));
  EXPECT_THAT(Source(Range{.stop = kMax, .start = kMin}),
              FailsWith(StatusCode::kInvalidArgument, "more than 2^63 - 2 values"));
}

TEST(Range, RefusesAStepOfZeroAndAFieldWithoutAName) {
  EXPECT_THAT(Source(Range{.stop = 3, .step = 0}),
              FailsWith(StatusCode::kInvalidArgument, "range: step is 0"));
  EXPECT_THAT(Source(Range{.stop = 3, .field = ""}),
              FailsWith(StatusCode::kInvalidArgument, "range: the field's name is empty"));
}

TEST(Range, KeepsItsPromises) {
  ExpectKeepsItsPromises(Source(Range{.stop = 30}) | Shuffle{} | AddMillions() | Batch{.size = 4});
  ExpectKeepsItsPromises(Source(Range{.stop = 9, .start = 1, .step = 2, .field = "n"}));
}

TEST(Range, AsksForNoMoreMemoryThanItTakes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset range, Source(Range{.stop = 1000}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, range.Open(Runtime::Threaded(1)));
  STOKER_ASSERT_OK(iterator->Next());
  EXPECT_LE(iterator->GetProfile().stages[0].peak_memory_bytes,
            8 * *range.node().MemoryToRead(256));
}

}  // namespace stoker::range_test
