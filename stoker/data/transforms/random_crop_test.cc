#include "stoker/data/transforms/random_crop.h"

#include <map>

#include "stoker/data/testing/transforms.h"

namespace stoker::random_crop_test {

TEST(RandomCrop, CutsTheWholeImageOutWhereThereIsOnlyOnePlace) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {1, 2, 2})) |
                                  RandomCrop{.size = 4, .padding = 1, .fill = 9});
  EXPECT_EQ(dataset.spec().fields[0].shape, (Shape{1, 4, 4}));
  const std::vector<uint8_t> pixels = {1, 2, 3, 4};
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, TransformTester(dataset).Apply(Array::Of(
                                                     std::span<const uint8_t>(pixels), {1, 2, 2})));
  EXPECT_EQ(image.shape(), (Shape{1, 4, 4}));
  EXPECT_THAT(image.values<uint8_t>(), testing::ElementsAre(9, 9, 9, 9,  //
                                                            9, 1, 2, 9,  //
                                                            9, 3, 4, 9,  //
                                                            9, 9, 9, 9));
}

// With an image whose values are their own positions, a window of one pixel tells where it was.
TEST(RandomCrop, DrawsEveryPlaceEquallyOften) {
  constexpr int64_t kSamples = 25000, kPlaces = 25;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kUInt8, {1, 5, 5})) | RandomCrop{.size = 1, .padding = 0});
  Rows rows = CountingRows(kSamples, DType::kUInt8, {1, 5, 5});
  const auto pixels = rows.columns[0].values<uint8_t>();
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i % kPlaces);
  STOKER_ASSERT_OK_AND_ASSIGN(const Rows out, TransformTester(dataset).ApplyRows(rows));
  std::vector<double> times(kPlaces, 0);
  for (const uint8_t place : out.columns[0].values<uint8_t>()) ++times[place];
  double chi_squared = 0;
  const double expected = static_cast<double>(kSamples) / kPlaces;
  for (const double n : times) chi_squared += (n - expected) * (n - expected) / expected;
  // 24 degrees of freedom: 51.2 is exceeded once in 1000 (NIST/SEMATECH e-Handbook, 1.3.6.7.4); the
  // seed is fixed.
  EXPECT_LT(chi_squared, 51.2);
  EXPECT_GT(chi_squared, 5.0) << "too even to be random";
}

// Another order of the draws would change every run that is resumed with a newer version.
TEST(RandomCrop, DrawsYThenXFromTheStreamOfTheSample) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kUInt8, {1, 5, 7})) | RandomCrop{.size = 1, .padding = 0});
  std::vector<uint8_t> positions(35);
  std::iota(positions.begin(), positions.end(), uint8_t{0});
  TransformTester tester(dataset);
  for (int64_t index = 0; index < 20; ++index) {
    Element element{.key = {.epoch = 2, .index = index}, .arrays = {}};
    element.arrays.push_back(Array::Of(std::span<const uint8_t>(positions), {1, 5, 7}));
    Rng rng = tester.RngOf(element.key);
    const uint64_t y = rng.Below(5), x = rng.Below(7);
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(std::move(element)));
    EXPECT_EQ(out.arrays[0].values<uint8_t>()[0], y * 7 + x);
  }
}

TEST(RandomCrop, ReachesEveryCornerOfTheBorderAndNothingBeyond) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kUInt8, {1, 1, 1})) | RandomCrop{.padding = 1, .fill = 7});
  Rows rows = CountingRows(500, DType::kUInt8, {1, 1, 1});
  for (uint8_t& pixel : rows.columns[0].values<uint8_t>()) pixel = 1;
  STOKER_ASSERT_OK_AND_ASSIGN(const Rows out, TransformTester(dataset).ApplyRows(rows));
  std::map<int, int> times;
  for (const uint8_t pixel : out.columns[0].values<uint8_t>()) ++times[pixel];
  EXPECT_EQ(times.size(), 2u);
  EXPECT_NEAR(times[1], 500 / 9.0, 35);  // one place in nine; five standard deviations
}

TEST(RandomCrop, ItsBorderShowsTheImageWhereItIsTold) {
  const std::vector<uint8_t> pixels = {1, 2, 3, 4};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {1, 2, 2})) |
                                  RandomCrop{.size = 4, .padding = 1, .padding_mode = "reflect"});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, TransformTester(dataset).Apply(Array::Of(
                                                     std::span<const uint8_t>(pixels), {1, 2, 2})));
  EXPECT_THAT(image.values<uint8_t>(), testing::ElementsAre(4, 3, 4, 3,  //
                                                            2, 1, 2, 1,  //
                                                            4, 3, 4, 3,  //
                                                            2, 1, 2, 1));
}

TEST(RandomCrop, TakesHeightAndWidthApart) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset both,
                              Result<Dataset>(EmptyImages(DType::kFloat32, {3, 32, 32})) |
                                  RandomCrop{.height = 24, .width = 36});
  EXPECT_EQ(both.spec().ToString(), "{image: float32[3, 24, 36]}");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset one,
      Result<Dataset>(EmptyImages(DType::kFloat32, {3, 32, 30})) | RandomCrop{.width = 24});
  EXPECT_EQ(one.spec().ToString(), "{image: float32[3, 32, 24]}");
}

TEST(RandomCrop, KeepsTheImagesOwnSizeByDefault) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kUInt8, {1, 28, 28})) | RandomCrop{});
  EXPECT_EQ(dataset.spec().fields[0].shape, (Shape{1, 28, 28}));
}

TEST(RandomCrop, FillsWithTheValueInTheFieldsDtype) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kFloat32, {1, 1, 1})) |
                                  RandomCrop{.size = 3, .padding = 1, .fill = -0.5});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, TransformTester(dataset).Apply(
                                                     Array::Allocate(DType::kFloat32, {1, 1, 1})));
  EXPECT_EQ(image.values<float>()[0], -0.5f);
}

TEST(RandomCrop, RowsGiveTheBytesOfElements) {
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kFloat32, DType::kInt64}) {
    for (const RandomCrop& options : {RandomCrop{}, RandomCrop{.size = 4, .padding = 0},
                                      RandomCrop{.height = 9, .width = 3, .fill = 1}}) {
      SCOPED_TRACE(testing::Message()
                   << DTypeName(dtype) << ' ' << options.size << ' ' << options.height);
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                  Result<Dataset>(EmptyImages(dtype, {3, 5, 7})) | options);
      TransformTester(dataset).ExpectRowsGiveTheBytesOfElements(CountingRows(20, dtype, {3, 5, 7}));
    }
  }
}

TEST(RandomCrop, ChecksImagesWhoseSizeWasUnknownWhenTheyCome) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {1, -1, -1})) |
                                  RandomCrop{.size = 6, .padding = 1});
  EXPECT_EQ(dataset.spec().ToString(), "{image: uint8[1, 6, 6]}");
  TransformTester tester(dataset);
  STOKER_EXPECT_OK(tester.Apply(Array::Allocate(DType::kUInt8, {1, 4, 9})));
  const char* says =
      "random_crop: element 7: a window of 6 x 6 does not fit into an image of 3 x 9 padded by 1";
  EXPECT_THAT(tester.Apply(Array::Allocate(DType::kUInt8, {1, 3, 9})),
              FailsWith(StatusCode::kInvalidArgument, says));
  EXPECT_THAT(tester.ApplyRows(CountingRows(2, DType::kUInt8, {1, 3, 9})),
              FailsWith(StatusCode::kInvalidArgument,
                        "random_crop: element 100: a window of 6 x 6 does not fit"));
}

struct BrokenCase {
  const char* name;
  RandomCrop options;
  Shape shape;
  const char* says;
};
class RandomCropBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(RandomCropBroken, IsRefusedBeforeTheFirstElement) {
  EXPECT_THAT(Result<Dataset>(EmptyImages(DType::kUInt8, GetParam().shape)) | GetParam().options,
              FailsWith(StatusCode::kInvalidArgument, GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    RandomCrop, RandomCropBroken,
    testing::Values(
        BrokenCase{"UnknownField", {.field = "picture"}, {1, 2, 2}, "picture"},
        BrokenCase{
            "NoImage",
            {},
            {28, 28},
            "random_crop: field 'image' has shape [28, 28]; it must be [channels, height, width]"},
        BrokenCase{"Batch", {}, {8, 1, 28, 28}, "put random_crop before batch"},
        BrokenCase{"WindowTooHigh",
                   {.size = 37},
                   {1, 28, 28},
                   "random_crop: a window of height 37 is wanted, but field 'image' has height 28, "
                   "padded 36; make the window smaller or the padding at least 5"},
        BrokenCase{"WindowTooWide", {.width = 29, .padding = 0}, {1, 28, 28}, "padding at least 1"},
        BrokenCase{"SizeAndWidth",
                   {.size = 24, .width = 20},
                   {1, 28, 28},
                   "random_crop: size is 24 and width is 20; give size, or height and width"},
        BrokenCase{"NegativePadding", {.padding = -1}, {1, 28, 28}, "padding is -1"},
        BrokenCase{"HugeSize", {.size = int64_t{1} << 40}, {1, -1, -1}, "size is 1099511627776"},
        BrokenCase{"FillBeyondTheDtype",
                   {.fill = 256},
                   {1, 28, 28},
                   "random_crop: fill is 256, which uint8 of field 'image' cannot hold"},
        BrokenCase{"FillBetweenIntegers",
                   {.fill = 0.5},
                   {1, 28, 28},
                   "choose another, or change the field"}),
    [](const auto& test_case) { return test_case.param.name; });

}  // namespace stoker::random_crop_test
