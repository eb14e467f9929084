#include "stoker/data/ops/scan.h"

#include <cmath>

#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::scan_test {

using testing::ElementsAre;

std::vector<double> Scanned(const std::string& function, const Runtime& runtime) {
  const Result<Dataset> dataset =
      *FromArrays({{"x", Array::Of<float>({3, -1, 4, 1.5f})}}) | Scan{.function = function};
  std::vector<double> values;
  const auto all = ReadAll(*dataset, runtime);
  EXPECT_THAT(all, IsOk());
  for (const Element& element : *all) values.push_back(element.arrays[1].values<double>()[0]);
  return values;
}

TEST(Scan, FollowsANumberThroughTheEpoch) {
  for (const Runtime& runtime : kRuntimes) {
    EXPECT_THAT(Scanned("sum", runtime), ElementsAre(3, 2, 6, 7.5));
    EXPECT_THAT(Scanned("product", runtime), ElementsAre(3, -3, -12, -18));
    EXPECT_THAT(Scanned("min", runtime), ElementsAre(3, -1, -1, -1));
    EXPECT_THAT(Scanned("max", runtime), ElementsAre(3, 3, 4, 4));
    EXPECT_THAT(Scanned("mean", runtime), ElementsAre(3, 1, 2, 1.875));
    EXPECT_THAT(Scanned("previous", runtime), ElementsAre(testing::IsNan(), 3, -1, 4));
    EXPECT_THAT(Scanned("change", runtime), ElementsAre(testing::IsNan(), -4, 5, -2.5));
  }
}

// state[0] counts; every element's label becomes the number of elements so far times 10.
Scan Counting() {
  return {.step =
              [](std::vector<double>& state, Element& element, Scratch& scratch) {
                state[0] += 10;
                Array label = scratch.NewArray(DType::kInt64, {});
                label.values<int64_t>()[0] = static_cast<int64_t>(state[0]);
                element.arrays[1] = std::move(label);
                return OkStatus();
              },
          .initial = {5}};
}

TEST(Scan, CallsAFunctionInOrderWithItsStateAndBeginsEachEpochAnew) {
  const Result<Dataset> dataset = NumberedImages(3) | Counting() | Repeat{.count = 2};
  for (const Runtime& runtime : kRuntimes)
    EXPECT_THAT(Labels(*ReadAll(*dataset, runtime)), ElementsAre(15, 25, 35, 15, 25, 35));
}

TEST(Scan, KeepsThePromisesOfAPipeline) {
  for (const Dataset& source : {NumberedImages(23), StreamedImages(23)}) {
    for (const char* function : {"sum", "change", "max"}) {
      ExpectKeepsItsPromises(source | Scan{.field = "label", .function = function} |
                             Repeat{.count = 2} | Batch{.size = 4} | Prefetch{});
    }
    ExpectKeepsItsPromises(source | Counting());
  }
  ExpectKeepsItsPromises(NumberedImages(23) | Shuffle{} | Scan{.field = "label"});
}

TEST(Scan, DisturbsOnlyWhereTheOrderIsNotFixed) {
  EXPECT_EQ((NumberedImages(3) | Scan{.field = "label"})->node().Disturbs(), "");
  EXPECT_NE((NumberedImages(3) | Shuffle{} | Scan{.field = "label"})->node().Disturbs(), "");
}

TEST(Scan, SaysWhatIsWrong) {
  const auto refused = [](std::string_view says) {
    return FailsWith(StatusCode::kInvalidArgument, std::string(says));
  };
  EXPECT_THAT((NumberedImages(3) | Scan{.field = "image"}), refused("put scan before `batch`"));
  EXPECT_THAT((NumberedImages(3) | Scan{.field = "y"}), refused("there is no field 'y'"));
  EXPECT_THAT((NumberedImages(3) | Scan{.field = "label", .function = "median"}),
              refused("function"));
  EXPECT_THAT((NumberedImages(3) | Scan{.field = "label", .to = "image"}),
              refused("one of that name"));
  const Scan failing{.step = [](std::vector<double>&, Element& element, Scratch&) {
    return element.key.index == 2 ? DataLoss("bad") : OkStatus();
  }};
  EXPECT_THAT(ReadAll(*(NumberedImages(5) | failing), Runtime::Threaded(2)).status(),
              FailsWith(StatusCode::kDataLoss, "bad"));
}

}  // namespace stoker::scan_test
