#include "stoker/data/transforms/gaussian_blur.h"

#include "stoker/data/testing/paired_transforms.h"
#include "stoker/image/blur.h"

namespace stoker::gaussian_blur_test {

TEST(GaussianBlur, BlursByTheSigmaThatIsDrawn) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {3, 9, 8})) |
                                  GaussianBlur{.kernel_size = {3, 5}, .sigma = {0.5, 3}});
  TransformTester tester(dataset);
  for (int64_t index = 0; index < 20; ++index) {
    const Element pair = PairOf(index, 9, 8);
    Rng rng = tester.RngOf(pair.key);
    rng.UniformDouble();  // whether
    const double sigma = 0.5 + 2.5 * rng.UniformDouble();
    std::vector<uint8_t> want(3 * 9 * 8);
    BlurScratch scratch;
    BlurGaussian(pair.arrays[0].values<uint8_t>().data(), {3, 9, 8}, /*height=*/5, /*width=*/3,
                 sigma, scratch, want.data());
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out,
                                tester.Apply({.key = pair.key, .arrays = {pair.arrays[0]}}));
    ASSERT_THAT(out.arrays[0].values<uint8_t>(), testing::ElementsAreArray(want));
  }
}

TEST(GaussianBlur, LeavesImagesAloneAtProbabilityZero) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {3, 9, 8})) |
                                  GaussianBlur{.kernel_size = {3}, .probability = 0});
  const Array image = PairOf(1, 9, 8).arrays[0];
  STOKER_ASSERT_OK_AND_ASSIGN(const Array out, TransformTester(dataset).Apply(image));
  EXPECT_TRUE(SameBytes(out, image));
}

TEST(GaussianBlur, RowsGiveTheBytesOfElements) {
  for (const DType dtype : {DType::kUInt8, DType::kFloat32}) {
    ExpectRowsAndElementsAgree(GaussianBlur{.kernel_size = {5}, .probability = 0.5}, dtype,
                               {3, 5, 7});
  }
}

TEST(GaussianBlur, IsRefusedBeforeTheFirstElement) {
  const Shape shape{3, 8, 8};
  ExpectRefused(GaussianBlur{.kernel_size = {4}}, DType::kUInt8, shape,
                "kernel_size is [4]; give one odd number");
  ExpectRefused(GaussianBlur{.kernel_size = {3, 3, 3}}, DType::kUInt8, shape,
                "or width and height");
  ExpectRefused(GaussianBlur{.kernel_size = {3}, .sigma = {2, 1}}, DType::kUInt8, shape,
                "the smaller first");
  ExpectRefused(GaussianBlur{.kernel_size = {3}, .sigma = {0}}, DType::kUInt8, shape, "sigma");
  ExpectRefused(GaussianBlur{.kernel_size = {3}}, DType::kInt16, shape,
                "it must be uint8 or float32");
}

}  // namespace stoker::gaussian_blur_test
