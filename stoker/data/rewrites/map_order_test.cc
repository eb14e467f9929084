#include "stoker/data/rewrites/map_order.h"

#include <atomic>

#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shard.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/test_stages.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/normalize.h"

namespace stoker::map_order_test {

using testing::HasSubstr;

const Normalize kNormalize{.mean = {100}, .std = {50}, .scale = 1};
// Fixed, so that its order does not depend on the stages before it.
const Shuffle kShuffle{.seed = 5, .buffer = 16};

// The same as the normalisation above, but not known to be movable.
Map NormalizeInAFunction(const Spec& output) {
  return {.function =
              [](Element& element, Rng&, Scratch& scratch) {
                const Array in = element.arrays[0];
                Array out = scratch.NewArray(DType::kFloat32, in.shape());
                for (int64_t i = 0; i < in.num_values(); ++i) {
                  const auto at = static_cast<size_t>(i);
                  const float shifted = static_cast<float>(in.values<uint8_t>()[at]) - 100.0f;
                  out.values<float>()[at] = shifted * (1.0f / 50.0f);
                }
                element.arrays[0] = std::move(out);
                return OkStatus();
              },
          .output = output,
          .random = false};
}

TEST(MapOrder, AShuffleBufferHoldsWhatANormalizationBeforeItHasNotYetMadeLarger) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              StreamedImages(100) | kNormalize | kShuffle | Prefetch{});
  const DatasetNode& normalize = dataset.node().input().node();
  EXPECT_EQ(normalize.name(), "normalize");
  EXPECT_THAT(normalize.Details(), HasSubstr("moved from before shuffle"));
  EXPECT_EQ(normalize.input().node().name(), "shuffle");
  EXPECT_EQ(normalize.input().spec().fields[0].dtype, DType::kUInt8);
}

TEST(MapOrder, MovingANormalizationChangesNoByte) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset moved, StreamedImages(100) | kNormalize | kShuffle);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset as_written,
                              StreamedImages(100) | NormalizeInAFunction(moved.spec()) | kShuffle);
  ASSERT_EQ(as_written.node().name(), "shuffle");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, ReadAll(as_written, Runtime::Inline()));
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(moved, runtime));
    EXPECT_EQ(Fingerprint(got), Fingerprint(expected));
  }
  ExpectKeepsItsPromises(moved);
}

TEST(MapOrder, StaysAsWrittenWhereElementsBecomeSmallerOrAFunctionMayFail) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset smaller, StreamedImages(10) | kNormalize |
                                                         Cast{.field = "image", .dtype = "uint8"} |
                                                         kShuffle);
  EXPECT_EQ(smaller.node().name(), "shuffle");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset function, StreamedImages(10) | FailAt(3) | kShuffle);
  EXPECT_EQ(function.node().name(), "shuffle");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset exact, NumberedImages(10) | kNormalize | Shuffle{});
  EXPECT_EQ(exact.node().name(), "shuffle");
}

TEST(MapOrder, AMapIsNotAppliedToWhatAShardOrASkipBehindItLeavesOut) {
  std::atomic<int> calls = 0;
  const Map counts{.function =
                       [&](Element&, Rng&, Scratch&) {
                         ++calls;
                         return OkStatus();
                       },
                   .random = false};
  const struct {
    Result<Dataset> dataset;
    int calls;
    std::string name;
  } cases[] = {{StreamedImages(40) | counts | Shard{.count = 4, .index = 1}, 10, "shard"},
               {StreamedImages(40) | counts | kNormalize | Skip{.count = 33}, 7, "skip"}};
  for (const auto& [dataset, expected, name] : cases) {
    STOKER_ASSERT_OK(dataset);
    EXPECT_THAT(dataset->node().Details(), HasSubstr("moved from before " + name));
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      calls = 0;
      STOKER_ASSERT_OK_AND_ASSIGN(const auto elements, ReadAll(*dataset, runtime));
      EXPECT_EQ(std::ssize(elements), expected);
      EXPECT_EQ(calls, expected) << dataset->ToString();
    }
    ExpectKeepsItsPromises(*dataset);
  }
}

TEST(MapOrder, MovesWhatWasWrittenBeforeTwoOperatorsBehindBoth) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              StreamedImages(40) | kNormalize | Shard{.count = 2} | kShuffle);
  EXPECT_THAT(dataset.node().Details(),
              HasSubstr("moved from before shard; moved from before shuffle"));
  EXPECT_EQ(dataset.node().input().node().name(), "shuffle");
  EXPECT_EQ(dataset.node().input().node().input().node().name(), "shard");
}

}  // namespace stoker::map_order_test
