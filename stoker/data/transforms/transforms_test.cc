// The transforms together, in whole pipelines.
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/data/transforms/random_crop.h"
#include "stoker/data/transforms/random_flip.h"

namespace stoker::transforms_test {

Result<Dataset> Augmented(const Dataset& source) {
  return Result<Dataset>(source) | RandomCrop{.padding = 2} | RandomFlip{} |
         Cast{.field = "label", .dtype = "int32"} | Normalize{.mean = {0.286}, .std = {0.353}} |
         Batch{.size = 7};
}

TEST(Transforms, ThreadedGivesTheBytesOfInline) {
  for (const uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Augmented(NumberedImages(50)));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto want,
                                ReadAll(dataset, Runtime::Inline(), {.seed = seed}));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got,
                                ReadAll(dataset, Runtime::Threaded(3), {.seed = seed}));
    EXPECT_EQ(Fingerprint(got), Fingerprint(want));
  }
}

TEST(Transforms, StreamsGiveTheBytesOfReadingByPosition) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset by_position, Augmented(NumberedImages(30)));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset streamed, Augmented(StreamedImages(30)));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto want,
                              ReadAll(by_position, Runtime::Inline(), {.seed = 5}));
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(streamed, runtime, {.seed = 5}));
    EXPECT_EQ(Fingerprint(got), Fingerprint(want));
  }
}

TEST(Transforms, DrawAnewEachEpochAndForEachSeed) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(NumberedImages(50)) | RandomFlip{});
  const auto pixels = [&](const PassOptions& pass) {
    std::string text;
    const auto elements = ReadAll(dataset, Runtime::Inline(), pass);
    for (const Element& element : *elements) {
      for (const uint8_t value : element.arrays[0].values<uint8_t>())
        text += static_cast<char>(value);
    }
    return text;
  };
  const std::string first = pixels({.seed = 1, .epoch = 0});
  EXPECT_EQ(pixels({.seed = 1, .epoch = 0}), first);
  EXPECT_NE(pixels({.seed = 1, .epoch = 1}), first);
  EXPECT_NE(pixels({.seed = 2, .epoch = 0}), first);
}

TEST(Transforms, DoNotDependOnTheOrderOfTheSamples) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto in_order,
      ReadAll(*(Result<Dataset>(NumberedImages(20)) | RandomFlip{}), Runtime::Inline()));
  // Behind the flip, so that the flip's stage keeps its number, which keys the draws.
  STOKER_ASSERT_OK_AND_ASSIGN(const auto shuffled, ReadAll(*(Result<Dataset>(NumberedImages(20)) |
                                                             RandomFlip{} | Shuffle{}),
                                                           Runtime::Inline()));
  for (const Element& element : shuffled) {
    const auto index = static_cast<size_t>(element.key.index);
    EXPECT_TRUE(SameBytes(element.arrays[0], in_order[index].arrays[0])) << index;
  }
}

TEST(Transforms, AreKnownToRecipesByTheirFilesNames) {
  const std::vector<std::string> names = OperatorRegistry::Known().Names();
  EXPECT_THAT(names, testing::IsSupersetOf({"cast", "normalize", "random_crop", "random_flip"}));
}

}  // namespace stoker::transforms_test
