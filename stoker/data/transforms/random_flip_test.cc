#include "stoker/data/transforms/random_flip.h"

#include "stoker/data/testing/transforms.h"

namespace stoker::random_flip_test {

Array SmallImage() {
  const std::vector<uint8_t> pixels = {1, 2, 3,  //
                                       4, 5, 6};
  return Array::Of(std::span<const uint8_t>(pixels), {1, 2, 3});
}

Result<Array> Flipped(const RandomFlip& options) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                          Result<Dataset>(EmptyImages(DType::kUInt8, {1, 2, 3})) | options);
  return TransformTester(dataset).Apply(SmallImage());
}

TEST(RandomFlip, MirrorsLeftToRight) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Flipped({.probability = 1}));
  EXPECT_THAT(image.values<uint8_t>(), testing::ElementsAre(3, 2, 1, 6, 5, 4));
}

TEST(RandomFlip, MirrorsTopToBottom) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image,
                              Flipped({.probability = 1, .direction = "vertical"}));
  EXPECT_THAT(image.values<uint8_t>(), testing::ElementsAre(4, 5, 6, 1, 2, 3));
}

TEST(RandomFlip, NeverMirrorsAtProbabilityZero) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Flipped({.probability = 0}));
  EXPECT_TRUE(SameBytes(image, SmallImage()));
}

TEST(RandomFlip, MirrorsTheShareItIsTold) {
  constexpr int64_t kSamples = 10000;
  for (const double probability : {0.1, 0.5, 0.9}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(EmptyImages(DType::kUInt8, {1, 1, 2})) |
                                    RandomFlip{.probability = probability});
    Rows rows = CountingRows(kSamples, DType::kUInt8, {1, 1, 2});
    for (int64_t i = 0; i < kSamples; ++i) {
      rows.columns[0].values<uint8_t>()[static_cast<size_t>(2 * i)] = 0;
      rows.columns[0].values<uint8_t>()[static_cast<size_t>(2 * i + 1)] = 1;
    }
    STOKER_ASSERT_OK_AND_ASSIGN(const Rows out, TransformTester(dataset).ApplyRows(rows));
    int64_t mirrored = 0;
    for (int64_t i = 0; i < kSamples; ++i)
      mirrored += out.columns[0].values<uint8_t>()[static_cast<size_t>(2 * i)];
    // Five standard deviations of a binomial are at most 250.
    EXPECT_NEAR(static_cast<double>(mirrored), kSamples * probability, 250);
  }
}

// Another use of the draws would change every run that is resumed with a newer version.
TEST(RandomFlip, DecidesByTheFirstDrawFromTheStreamOfTheSample) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kUInt8, {1, 2, 3})) | RandomFlip{.probability = 0.3});
  TransformTester tester(dataset);
  for (int64_t index = 0; index < 20; ++index) {
    const SampleKey key{.epoch = 2, .index = index};
    const bool mirrored = tester.RngOf(key).UniformDouble() < 0.3;
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out,
                                tester.Apply({.key = key, .arrays = {SmallImage()}}));
    EXPECT_EQ(out.arrays[0].values<uint8_t>()[0], mirrored ? 3 : 1) << index;
  }
}

TEST(RandomFlip, RowsGiveTheBytesOfElements) {
  for (const char* direction : {"horizontal", "vertical"}) {
    for (const DType dtype :
         {DType::kBool, DType::kUInt8, DType::kInt16, DType::kFloat32, DType::kFloat64}) {
      SCOPED_TRACE(testing::Message() << direction << ' ' << DTypeName(dtype));
      STOKER_ASSERT_OK_AND_ASSIGN(
          const Dataset dataset,
          Result<Dataset>(EmptyImages(dtype, {3, 5, 7})) | RandomFlip{.direction = direction});
      TransformTester(dataset).ExpectRowsGiveTheBytesOfElements(CountingRows(20, dtype, {3, 5, 7}));
    }
  }
}

TEST(RandomFlip, LeavesTheSpecAsItIsAndTakesUnknownSizes) {
  const Dataset input = EmptyImages(DType::kUInt8, {3, -1, -1});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(input) | RandomFlip{.probability = 1});
  EXPECT_EQ(dataset.spec(), input.spec());
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, TransformTester(dataset).Apply(SmallImage()));
  EXPECT_THAT(image.values<uint8_t>(), testing::ElementsAre(3, 2, 1, 6, 5, 4));
}

TEST(RandomFlip, RefusesWhatIsWrongBeforeTheFirstElement) {
  const Result<Dataset> images = EmptyImages(DType::kUInt8, {1, 2, 3});
  EXPECT_THAT(images | RandomFlip{.field = "picture"},
              FailsWith(StatusCode::kInvalidArgument, "picture"));
  EXPECT_THAT(images | RandomFlip{.probability = 1.5},
              FailsWith(StatusCode::kInvalidArgument, "probability is 1.5"));
  EXPECT_THAT(images | RandomFlip{.direction = "sideways"},
              FailsWith(StatusCode::kInvalidArgument, "sideways"));
  EXPECT_THAT(
      Result<Dataset>(EmptyImages(DType::kUInt8, {28, 28})) | RandomFlip{},
      FailsWith(
          StatusCode::kInvalidArgument,
          "random_flip: field 'image' has shape [28, 28]; it must be [channels, height, width]"));
  EXPECT_THAT(Result<Dataset>(EmptyImages(DType::kUInt8, {128, 1, 28, 28})) | RandomFlip{},
              FailsWith(StatusCode::kInvalidArgument,
                        "it must be [channels, height, width]: put random_flip before batch"));
}

}  // namespace stoker::random_flip_test
