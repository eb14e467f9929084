#include "stoker/data/ops/take_while.h"

#include <stdexcept>

#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::take_while_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int64_t> LabelsLeft(const Result<Dataset>& dataset) {
  return Labels(*ReadAll(*dataset, Runtime::Threaded(2)));
}

TakeWhile UntilLabel(int64_t end) {
  return {.predicate = [end](const Element& element) {
    return element.arrays[1].values<int64_t>()[0] < end;
  }};
}

TEST(TakeWhile, EndsBeforeTheFirstElementThatDoesNotMeetTheConditions) {
  for (const Dataset& source : {NumberedImages(10), StreamedImages(10)}) {
    const Result<Dataset> input = source;
    EXPECT_THAT(LabelsLeft(input | TakeWhile{.max = 3}), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(LabelsLeft(input | TakeWhile{.except = {2}}), ElementsAre(0, 1));
    EXPECT_THAT(LabelsLeft(input | TakeWhile{.equals = {0, 1, 5}}), ElementsAre(0, 1));
    EXPECT_THAT(LabelsLeft(input | TakeWhile{.min = 1}), IsEmpty());
    EXPECT_EQ(LabelsLeft(input | TakeWhile{.max = 90}).size(), 10u);
    EXPECT_THAT(LabelsLeft(input | UntilLabel(2)), ElementsAre(0, 1));
  }
}

TEST(TakeWhile, DoesNotKnowItsNumberOfElements) {
  EXPECT_EQ((NumberedImages(9) | UntilLabel(3))->cardinality(), Cardinality::Unknown());
  EXPECT_EQ((NumberedImages(0) | UntilLabel(3))->cardinality(), Cardinality::Of(0));
}

TEST(TakeWhile, EveryRoundOfRepeatBeginsAnew) {
  EXPECT_THAT(LabelsLeft(NumberedImages(9) | UntilLabel(2) | Repeat{.count = 3}),
              ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(TakeWhile, KeepsThePromisesOfAPipeline) {
  for (const Dataset& source : {NumberedImages(23), StreamedImages(23)}) {
    ExpectKeepsItsPromises(source | UntilLabel(9));
    ExpectKeepsItsPromises(source | TakeWhile{.max = 7} | Repeat{.count = 2} | Batch{.size = 3} |
                           Prefetch{});
  }
  ExpectKeepsItsPromises(NumberedImages(23) | Shuffle{} | TakeWhile{.except = {4}});
}

TEST(TakeWhile, NeedsAConditionOnANumber) {
  EXPECT_THAT((NumberedImages(3) | TakeWhile{}),
              FailsWith(StatusCode::kInvalidArgument, "take_while: there is no condition"));
  EXPECT_THAT((NumberedImages(3) | TakeWhile{.field = "image", .max = 3}),
              FailsWith(StatusCode::kInvalidArgument, "take_while: field 'image' has shape"));
}

TEST(TakeWhile, SaysWhichElementAFunctionFailedOn) {
  const TakeWhile failing{.predicate = [](const Element& element) -> Result<bool> {
    if (element.key.index == 5) throw std::runtime_error("bad");
    return true;
  }};
  EXPECT_THAT(ReadAll(*(NumberedImages(9) | failing), Runtime::Threaded(2)).status(),
              FailsWith(StatusCode::kInternal, "take_while: element 5: the predicate threw: bad"));
}

}  // namespace stoker::take_while_test
