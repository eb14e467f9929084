#include "stoker/data/ops/enumerate.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::enumerate_test {

using testing::ElementsAre;

TEST(Enumerate, NumbersElementsInTheOrderInWhichTheyPass) {
  for (const Dataset& source : {NumberedImages(6), StreamedImages(6)}) {
    const Result<Dataset> dataset = source | Skip{.count = 2} | Enumerate{.start = 10};
    EXPECT_EQ(dataset->spec().fields.back().ToString(), "index: int64[]");
    STOKER_ASSERT_OK_AND_ASSIGN(const auto elements, ReadAll(*dataset, Runtime::Threaded(2)));
    EXPECT_THAT(Labels(elements, 2), ElementsAre(10, 11, 12, 13));
    EXPECT_THAT(Labels(elements), ElementsAre(2, 3, 4, 5));
  }
}

TEST(Enumerate, BehindAShuffleNumbersPlacesInFrontOfItSamples) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto elements,
      ReadAll(*(NumberedImages(20) | Enumerate{.field = "sample"} | Shuffle{} | Enumerate{}),
              Runtime::Threaded(2)));
  EXPECT_EQ(Labels(elements, 2), Labels(elements, 1));
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(Labels(elements, 3)[i], static_cast<int64_t>(i));
}

TEST(Enumerate, BeginsAnewEachEpochInFrontOfARepeatAndCountsOnBehindIt) {
  for (const Dataset& source : {NumberedImages(2), StreamedImages(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const auto elements,
        ReadAll(*(source | Enumerate{.field = "inner"} | Repeat{.count = 2} | Enumerate{}),
                Runtime::Inline()));
    EXPECT_THAT(Labels(elements, 2), ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(Labels(elements, 3), ElementsAre(0, 1, 2, 3));
  }
}

TEST(Enumerate, KeepsThePromisesOfAPipeline) {
  for (const Dataset& source : {NumberedImages(13), StreamedImages(13)}) {
    ExpectKeepsItsPromises(*(source | Enumerate{}));
    ExpectKeepsItsPromises(*(source | Enumerate{} | Repeat{.count = 2} | Batch{.size = 3} |
                             Enumerate{.field = "batch"} | Prefetch{}));
  }
}

TEST(Enumerate, RefusesANameThatIsTakenOrEmpty) {
  EXPECT_THAT((NumberedImages(3) | Enumerate{.field = "label"}),
              FailsWith(StatusCode::kInvalidArgument,
                        "enumerate: it adds a field 'label', but the elements have one"));
  EXPECT_THAT((NumberedImages(3) | Enumerate{.field = ""}),
              FailsWith(StatusCode::kInvalidArgument, "has no name"));
}

TEST(Enumerate, StaysReadableByPositionAndCountsItsMemory) {
  const Result<Dataset> dataset = NumberedImages(5) | Enumerate{};
  EXPECT_TRUE(dataset->node().random_access());
  EXPECT_EQ(dataset->node().Disturbs(), "");
  EXPECT_EQ(dataset->node().MemoryToRead(10), 192 + 128 + 10 * 64);
}

}  // namespace stoker::enumerate_test
