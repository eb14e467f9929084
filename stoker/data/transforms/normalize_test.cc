#include "stoker/data/transforms/normalize.h"

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/testing/transforms.h"

namespace stoker::normalize_test {

Result<Array> Normalized(const Normalize& options, const Array& image) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                          Result<Dataset>(EmptyImages(image.dtype(), image.shape())) | options);
  return TransformTester(dataset).Apply(image);
}

TEST(Normalize, ScalesBytesToZeroToOneByDefault) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Normalized({}, Array::Of<uint8_t>({0, 51, 255})));
  EXPECT_EQ(image.ToString(), "float32[3]");
  EXPECT_THAT(image.values<float>(),
              testing::ElementsAre(0.0f, 51 * static_cast<float>(1.0 / 255), 1.0f));
}

TEST(Normalize, LeavesFloatsAloneByDefault) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Normalized({}, Array::Of<float>({-1.5f, 7})));
  EXPECT_THAT(image.values<float>(), testing::ElementsAre(-1.5f, 7));
}

TEST(Normalize, ComputesWithConstantsRoundedOnce) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Normalized({.mean = {0.286}, .std = {0.353}},
                                                            Array::Of<uint8_t>({0, 100, 255})));
  const float shift = static_cast<float>(0.286 * 255),
              scale = static_cast<float>(1.0 / 255 / 0.353);
  EXPECT_THAT(
      image.values<float>(),
      testing::ElementsAre((0 - shift) * scale, (100 - shift) * scale, (255 - shift) * scale));
}

// (x / 255 - 0.5) / 0.25 in exact arithmetic.
TEST(Normalize, IsWithinARoundingOfTheFormula) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Normalized({.mean = {0.5}, .std = {0.25}},
                                                            Array::Of<uint8_t>({0, 51, 102, 255})));
  EXPECT_THAT(image.values<float>(),
              testing::Pointwise(testing::FloatNear(3e-7f), {-2.0f, -1.2f, -0.4f, 2.0f}));
}

TEST(Normalize, GivesEachChannelItsConstants) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};  // [3, 1, 2]
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image,
                              Normalized({.mean = {1, 0, 2}, .std = {0.5}},
                                         Array::Of(std::span<const float>(values), {3, 1, 2})));
  EXPECT_THAT(image.values<float>(), testing::ElementsAre(0, 2, 6, 8, 6, 8));
}

TEST(Normalize, GivesEachExtentOfTheLastDimensionItsConstants) {
  const Normalize options{.mean = {1, 2, 3}, .std = {1, 2, 4}, .per = "last"};
  const Array steps = Array::Of<float>({1, 2, 3, 2, 4, 7}).Reshaped({2, 3});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array normalized, Normalized(options, steps));
  EXPECT_THAT(normalized.values<float>(), testing::ElementsAre(0, 0, 0, 1, 1, 1));
  for (const DType dtype : {DType::kUInt8, DType::kFloat32}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(EmptyImages(dtype, {5, 2, 3})) | options);
    TransformTester(dataset).ExpectRowsGiveTheBytesOfElements(CountingRows(6, dtype, {5, 2, 3}));
  }
}

TEST(Normalize, GivesTheBytesOfChannelsFirstAlsoAlongTheLastDimension) {
  const std::vector<double> means = {0.1, 0.2, 0.3}, stds = {0.7, 0.8, 0.9};
  Array first = Array::Allocate(DType::kUInt8, {3, 5});
  Array last = Array::Allocate(DType::kUInt8, {5, 3});
  for (size_t c = 0; c < 3; ++c)
    for (size_t i = 0; i < 5; ++i)
      first.values<uint8_t>()[c * 5 + i] = last.values<uint8_t>()[i * 3 + c] =
          static_cast<uint8_t>(17 * i + 50 * c);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array by_channel,
                              Normalized({.mean = means, .std = stds}, first));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array by_last,
                              Normalized({.mean = means, .std = stds, .per = "last"}, last));
  for (size_t c = 0; c < 3; ++c)
    for (size_t i = 0; i < 5; ++i)
      EXPECT_EQ(by_channel.values<float>()[c * 5 + i], by_last.values<float>()[i * 3 + c]);
}

// A function may hand out memory that it goes on using, such as a table of its own.
TEST(Normalize, DoesNotWriteIntoMemoryThatIsOnlyLent) {
  std::vector<float> table = {1, 2, 3};
  const Dataset lent = FromGenerator({{{"image", DType::kFloat32, {3}}}}, [&](uint64_t) {
    return [&, done = false]() mutable -> Result<std::optional<Element>> {
      if (std::exchange(done, true)) return std::nullopt;
      Buffer buffer = Buffer::Wrap(reinterpret_cast<std::byte*>(table.data()), 12, nullptr);
      return Element{.arrays = {Array(std::move(buffer), DType::kFloat32, {3})}};
    };
  });
  for (const Normalize& options :
       {Normalize{.mean = {1}}, Normalize{.mean = {1, 1, 1}, .per = "last"}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(lent) | options);
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(1)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
      EXPECT_THAT(element->arrays[0].values<float>(), testing::ElementsAre(0, 1, 2));
      EXPECT_THAT(table, testing::ElementsAre(1, 2, 3));
    }
  }
}

TEST(Normalize, TakesAScaleOfItsOwn) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Normalized({.mean = {1}, .std = {2}, .scale = 0.5},
                                                            Array::Of<uint8_t>({2, 10})));
  EXPECT_THAT(image.values<float>(), testing::ElementsAre(0, 2));
}

TEST(Normalize, SaysFloat32InTheSpecAndKeepsTheShape) {
  const Dataset input =
      EmptyDataset({{{"label", DType::kInt64, {}}, {"image", DType::kUInt8, {1, -1, 28}}}});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(input) | Normalize{});
  EXPECT_EQ(dataset.spec().ToString(), "{label: int64[], image: float32[1, ?, 28]}");
}

TEST(Normalize, WritesFloatsInPlaceWhereNobodyElseSeesThem) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kFloat32, {2})) | Normalize{.mean = {1}});
  TransformTester tester(dataset);
  Element element{.key = {}, .arrays = {}};
  element.arrays.push_back(Array::Of<float>({1, 2}));
  const std::byte* memory = element.arrays.front().data();
  STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(std::move(element)));
  EXPECT_EQ(out.arrays.front().data(), memory);
  STOKER_ASSERT_OK_AND_ASSIGN(const Element again, tester.Apply(out));  // out sees the memory too
  EXPECT_NE(again.arrays.front().data(), memory);
  EXPECT_THAT(out.arrays.front().values<float>(), testing::ElementsAre(0, 1));
}

TEST(Normalize, RowsGiveTheBytesOfElements) {
  for (const DType dtype : {DType::kUInt8, DType::kFloat32}) {
    for (const Shape& shape : {Shape{3, 5, 7}, Shape{3}, Shape{3, 0, 2}}) {
      for (const std::vector<double>& mean :
           {std::vector<double>{0.4}, std::vector<double>{0.1, 0.2, 0.3}}) {
        SCOPED_TRACE(testing::Message() << DTypeName(dtype) << ShapeToString(shape) << mean.size());
        STOKER_ASSERT_OK_AND_ASSIGN(
            const Dataset dataset,
            Result<Dataset>(EmptyImages(dtype, shape)) | Normalize{.mean = mean});
        TransformTester(dataset).ExpectRowsGiveTheBytesOfElements(CountingRows(6, dtype, shape));
      }
    }
  }
}

TEST(Normalize, PerSampleGivesMeanZeroAndDeviationOne) {
  const std::vector<float> floats = {1, 2, 3, 4, 1000};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Array bytes, Normalized({.per_sample = true}, Array::Of<uint8_t>({10, 20, 30, 250})));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array of_floats,
                              Normalized({.per_sample = true}, Array::Of<float>(floats)));
  for (const Array& array : {bytes, of_floats}) {
    double sum = 0, squares = 0;
    for (const float value : array.values<float>()) {
      sum += value;
      squares += double{value} * value;
    }
    EXPECT_NEAR(sum, 0, 1e-5);
    EXPECT_NEAR(squares / static_cast<double>(array.num_values()), 1, 1e-5);
  }
  // (20 - 77.5) / 99.8436...
  EXPECT_NEAR(bytes.values<float>()[1], -0.575901, 1e-5);
}

TEST(Normalize, PerSampleGivesZerosWhereAllValuesAreEqual) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image,
                              Normalized({.per_sample = true}, Array::Of<uint8_t>({7, 7, 7})));
  EXPECT_THAT(image.values<float>(), testing::ElementsAre(0, 0, 0));
}

TEST(Normalize, PerSampleRowsGiveTheBytesOfElements) {
  for (const DType dtype : {DType::kUInt8, DType::kFloat32}) {
    for (const Shape& shape : {Shape{3, 5, 7}, Shape{1}, Shape{3, 0, 2}}) {
      STOKER_ASSERT_OK_AND_ASSIGN(
          const Dataset dataset,
          EmptyDataset({{{"image", dtype, shape}, {"label", DType::kInt64, {}}}}) |
              Normalize{.per_sample = true});
      TransformTester(dataset).ExpectRowsGiveTheBytesOfElements(CountingRows(6, dtype, shape));
    }
  }
}

struct BrokenCase {
  const char* name;
  Normalize options;
  DType dtype;
  Shape shape;
  const char* says;
};
class NormalizeBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(NormalizeBroken, IsRefusedBeforeTheFirstElement) {
  const BrokenCase& broken = GetParam();
  EXPECT_THAT(Result<Dataset>(EmptyImages(broken.dtype, broken.shape)) | broken.options,
              FailsWith(StatusCode::kInvalidArgument, broken.says));
}

// Over 60 lines: a table, with a row for each mistake.
INSTANTIATE_TEST_SUITE_P(
    Normalize, NormalizeBroken,
    testing::Values(
        BrokenCase{"Integers",
                   {},
                   DType::kInt32,
                   {1, 2, 2},
                   "normalize: field 'image' is int32; it must be uint8 or float32: where it has "
                   "pixels of 0 to 255, give it `type: uint8` in its source's fields or put "
                   "`cast: uint8` in front"},
        BrokenCase{"Doubles",
                   {},
                   DType::kFloat64,
                   {1, 2, 2},
                   "normalize: field 'image' is float64; it must be uint8 or float32: put `cast: "
                   "float32` in front"},
        BrokenCase{"UnknownField", {.field = "picture"}, DType::kUInt8, {1, 2, 2}, "picture"},
        BrokenCase{"TooManyMeans",
                   {.mean = {0, 0, 0}},
                   DType::kUInt8,
                   {1, 28, 28},
                   "normalize: mean has 3 values, but field 'image' has shape [1, 28, 28], whose "
                   "first dimension is the channels; give one value, or one for each channel"},
        BrokenCase{"TooManyStds",
                   {.std = {1, 1}},
                   DType::kUInt8,
                   {3, 28, 28},
                   "normalize: std has 2 values"},
        BrokenCase{"UnknownChannels",
                   {.std = {1, 1}},
                   DType::kUInt8,
                   {-1, 28, 28},
                   "has shape [?, 28, 28]"},
        BrokenCase{"OtherThanTheLastDimension",
                   {.mean = {0, 0}, .per = "last"},
                   DType::kFloat32,
                   {2, 3},
                   "normalize: mean has 2 values, but field 'image' has shape [2, 3]; with `per: "
                   "last` give one value, or one for each extent of the last dimension"},
        BrokenCase{"ScalarsHaveNoChannels", {.mean = {1, 1}}, DType::kFloat32, {}, "has shape []"},
        BrokenCase{
            "NoMean", {.mean = {}}, DType::kUInt8, {1}, "normalize: mean is empty; give one value"},
        BrokenCase{"ZeroStd", {.std = {0}}, DType::kUInt8, {1}, "std has 0 among its values"},
        BrokenCase{"NegativeScale", {.scale = -1}, DType::kUInt8, {1}, "scale is -1"},
        BrokenCase{"ConstantsBeyondFloat32",
                   {.std = {1e-60}},
                   DType::kUInt8,
                   {1},
                   "normalize: channel 0: mean 0, std 1e-60 and scale 0.00392156862745098 make "
                   "constants that float32 cannot hold"},
        BrokenCase{"PerSampleWithAMean",
                   {.mean = {0.5}, .per_sample = true},
                   DType::kUInt8,
                   {1},
                   "normalize: per_sample takes mean and std from each sample"},
        BrokenCase{"PerSampleWithPer",
                   {.per_sample = true, .per = "last"},
                   DType::kUInt8,
                   {1},
                   "leave out mean, std, scale and per, or per_sample"},
        BrokenCase{"NanMean", {.mean = {__builtin_nan("")}}, DType::kUInt8, {1}, "mean nan"}),
    [](const auto& test_case) { return test_case.param.name; });

}  // namespace stoker::normalize_test
