#include "stoker/data/transforms/random_affine.h"

#include "stoker/data/testing/paired_transforms.h"
#include "stoker/data/transforms/image_draws_internal.h"

namespace stoker::random_affine_test {

TEST(RandomAffine, WarpsByTheChangeThatIsDrawn) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(EmptyPairs()) |
                                                         RandomAffine{.degrees = {20},
                                                                      .translate = {0.1, 0.2},
                                                                      .scale = {0.8, 1.2},
                                                                      .shear = {-5, 5, -3, 3},
                                                                      .interpolation = "bilinear",
                                                                      .fill = {9}});
  TransformTester tester(dataset);
  const AffineRanges ranges{.degrees = {-20, 20},
                            .translate_x = 0.1,
                            .translate_y = 0.2,
                            .scale = {0.8, 1.2},
                            .shear_x = {-5, 5},
                            .shear_y = {-3, 3}};
  for (int64_t index = 0; index < 20; ++index) {
    const Element pair = PairOf(index, 12, 15);
    Rng rng = tester.RngOf(pair.key);
    std::vector<uint8_t> want(3 * 12 * 15);
    WarpBilinear(pair.arrays[0].values<uint8_t>().data(), {3, 12, 15},
                 InverseMatrix(DrawAffine(12, 15, ranges, rng)), 9, {12, 15}, want.data());
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(pair));
    ASSERT_THAT(out.arrays[0].values<uint8_t>(), testing::ElementsAreArray(want));
  }
}

TEST(RandomAffine, MovesMasksWithImages) {
  ExpectMovesMasksWithImages(
      RandomAffine{.degrees = {90}, .translate = {0.3, 0.3}, .masks = {"mask"}});
}

TEST(RandomAffine, ExpandedResultsShowAllOfWhatIsTurned) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyPairs()) |
          RandomAffine{.degrees = {90, 90}, .expand = true, .masks = {"mask"}});
  EXPECT_EQ(dataset.spec().fields[0].shape, (Shape{3, kUnknownDim, kUnknownDim}));
  const Element pair = PairOf(1, 12, 15);
  STOKER_ASSERT_OK_AND_ASSIGN(const Element out, TransformTester(dataset).Apply(pair));
  EXPECT_EQ(out.arrays[0].shape(), (Shape{3, 15, 12}));
  EXPECT_EQ(out.arrays[1].shape(), (Shape{1, 15, 12}));
  // Clockwise: what was at the lower left is at the upper left.
  EXPECT_EQ(out.arrays[0].values<uint8_t>()[0], pair.arrays[0].values<uint8_t>()[11 * 15]);
}

TEST(RandomAffine, TurnsAboutACornerWhereItIsTold) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyPairs()) |
          RandomAffine{.degrees = {180, 180}, .center = {15, 12}, .fill = {1, 2, 3}});
  STOKER_ASSERT_OK_AND_ASSIGN(const Element out, TransformTester(dataset).Apply(PairOf(1, 12, 15)));
  // All of it lies below and to the right of where it was: nothing but the fill of each channel.
  for (size_t i = 0; i < 3 * 180; ++i)
    ASSERT_EQ(out.arrays[0].values<uint8_t>()[i], 1 + i / 180) << i;
}

TEST(RandomAffine, ChecksChannelsThatWereUnknownWhenTheyCome) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kUInt8, {-1, -1, -1})) | RandomAffine{.fill = {1, 2, 3}});
  EXPECT_THAT(TransformTester(dataset).Apply(Array::Allocate(DType::kUInt8, {1, 8, 8})),
              FailsWith(StatusCode::kInvalidArgument, "fill has 3 numbers, an image 1 channels"));
}

TEST(RandomAffine, NothingByDefault) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyPairs()) | RandomAffine{});
  const Element pair = PairOf(1, 12, 15);
  STOKER_ASSERT_OK_AND_ASSIGN(const Element out, TransformTester(dataset).Apply(pair));
  EXPECT_TRUE(SameBytes(out.arrays[0], pair.arrays[0]));
}

TEST(RandomAffine, RowsGiveTheBytesOfElements) {
  const RandomAffine options{.degrees = {45}, .shear = {10}};
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kFloat32, DType::kInt64})
    ExpectRowsAndElementsAgree(options, dtype, {3, 5, 7});
  for (const DType dtype : {DType::kUInt8, DType::kFloat32}) {
    ExpectRowsAndElementsAgree(RandomAffine{.degrees = {45}, .interpolation = "bilinear"}, dtype,
                               {3, 5, 7});
  }
}

TEST(RandomAffine, IsRefusedBeforeTheFirstElement) {
  const Shape shape{3, 8, 8};
  ExpectRefused(RandomAffine{.degrees = {-3}}, DType::kUInt8, shape, "degrees is -3");
  ExpectRefused(RandomAffine{.translate = {0.1}}, DType::kUInt8, shape, "translate has 1 numbers");
  ExpectRefused(RandomAffine{.translate = {0.1, 2}}, DType::kUInt8, shape, "translate");
  ExpectRefused(RandomAffine{.center = {1}}, DType::kUInt8, shape, "center has 1 numbers");
  ExpectRefused(RandomAffine{.scale = {1, 2}, .expand = true}, DType::kUInt8, shape,
                "leave out translate, scale, shear and center, or expand");
  ExpectRefused(RandomAffine{.fill = {1, 2}}, DType::kUInt8, shape,
                "fill has 2 numbers, but field 'image' has shape [3, 8, 8]");
  ExpectRefused(RandomAffine{.scale = {0, 1}}, DType::kUInt8, shape, "scale");
  ExpectRefused(RandomAffine{.shear = {90}}, DType::kUInt8, shape, "shear is 90 degrees");
  ExpectRefused(RandomAffine{.shear = {1, 2, 3}}, DType::kUInt8, shape, "shear is [1, 2, 3]");
  ExpectRefused(RandomAffine{.interpolation = "bilinear"}, DType::kInt16, shape,
                "bilinear takes uint8 or float32");
  ExpectRefused(RandomAffine{.fill = {300}}, DType::kUInt8, shape, "fill is 300");
}

}  // namespace stoker::random_affine_test
