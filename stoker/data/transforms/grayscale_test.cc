#include "stoker/data/transforms/grayscale.h"

#include "stoker/data/testing/paired_transforms.h"

namespace stoker::grayscale_test {

// One pixel; 0.2989 * 100 + 0.587 * 50 + 0.114 * 200 is 82.04.
Result<Array> Gray(const Grayscale& options) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                          Result<Dataset>(EmptyImages(DType::kUInt8, {3, 1, 1})) | options);
  STOKER_ASSIGN_OR_RETURN(Array out,
                          TransformTester(dataset).Apply(BytesArray({100, 50, 200}, {3, 1, 1})));
  EXPECT_EQ(out.shape(), dataset.spec().fields[0].shape);
  return out;
}

TEST(Grayscale, WeighsTheColoursAndRoundsDown) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array three, Gray({}));
  EXPECT_THAT(three.values<uint8_t>(), testing::ElementsAre(82, 82, 82));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array one, Gray({.channels = 1}));
  EXPECT_THAT(one.values<uint8_t>(), testing::ElementsAre(82));
}

TEST(Grayscale, GivesGreyImagesThreeChannelsWhereAsked) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {1, 1, 2})) | Grayscale{});
  EXPECT_EQ(dataset.spec().ToString(), "{image: uint8[3, 1, 2]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const Array out,
                              TransformTester(dataset).Apply(BytesArray({7, 9}, {1, 1, 2})));
  EXPECT_THAT(out.values<uint8_t>(), testing::ElementsAre(7, 9, 7, 9, 7, 9));
}

TEST(Grayscale, MakesTheShareGreyThatItIsTold) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kUInt8, {3, 1, 1})) | Grayscale{.probability = 0.2});
  TransformTester tester(dataset);
  int gray = 0;
  for (int64_t index = 0; index < 2000; ++index) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out,
                                tester.Apply({.key = {.epoch = 0, .index = index},
                                              .arrays = {BytesArray({100, 50, 200}, {3, 1, 1})}}));
    gray += out.arrays[0].values<uint8_t>()[0] == 82;
  }
  EXPECT_NEAR(gray, 400, 90);  // five standard deviations
}

TEST(Grayscale, DrawsNothingWhereAllAreGrey) {
  const auto all = Result<Dataset>(EmptyImages(DType::kUInt8, {3, 1, 1})) | Grayscale{};
  EXPECT_FALSE(all->node().random());
  const auto some =
      Result<Dataset>(EmptyImages(DType::kUInt8, {3, 1, 1})) | Grayscale{.probability = 0.5};
  EXPECT_TRUE(some->node().random());
}

TEST(Grayscale, RowsGiveTheBytesOfElements) {
  ExpectRowsAndElementsAgree(Grayscale{.probability = 0.5}, DType::kUInt8, {3, 5, 7});
  ExpectRowsAndElementsAgree(Grayscale{.channels = 1}, DType::kUInt8, {3, 5, 7});
}

TEST(Grayscale, IsRefusedBeforeTheFirstElement) {
  ExpectRefused(Grayscale{.channels = 2}, DType::kUInt8, {3, 4, 4}, "channels is 2");
  ExpectRefused(Grayscale{.probability = 0.5, .channels = 1}, DType::kUInt8, {3, 4, 4},
                "channels must be 3, or 1 where probability is 1");
  ExpectRefused(Grayscale{}, DType::kFloat32, {3, 4, 4}, "it must be uint8");
}

}  // namespace stoker::grayscale_test
