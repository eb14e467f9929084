#include "stoker/data/transforms/random_erasing.h"

#include "stoker/data/transforms/image_draws_internal.h"
#include "stoker/data/transforms/paired_testing_internal.h"

namespace stoker {
namespace {

TEST(RandomErasing, OverwritesTheWindowThatIsDrawn) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyPairs()) | RandomErasing{.probability = 1, .value = {0, 128, 255}});
  TransformTester tester(dataset);
  for (int64_t index = 0; index < 30; ++index) {
    const Element pair = PairOf(index, 20, 30);
    Rng rng = tester.RngOf(pair.key);
    rng.UniformDouble();  // whether
    const auto window = DrawErasedWindow(20, 30, {0.02, 0.33}, {0.3, 3.3}, rng);
    ASSERT_TRUE(window.has_value());
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(pair));
    for (int64_t i = 0; i < 3 * 20 * 30; ++i) {
      const int64_t c = i / 600, y = i / 30 % 20, x = i % 30;
      const bool inside = y >= window->y && y < window->y + window->height && x >= window->x &&
                          x < window->x + window->width;
      const int want = c == 0 ? 0 : c == 1 ? 128 : 255;
      ASSERT_EQ(out.arrays[0].values<uint8_t>()[static_cast<size_t>(i)],
                inside ? want : pair.arrays[0].values<uint8_t>()[static_cast<size_t>(i)]);
    }
  }
}

TEST(RandomErasing, ErasesTheShareItIsTold) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyPairs()) | RandomErasing{.probability = 0.25});
  TransformTester tester(dataset);
  int erased = 0;
  for (int64_t index = 0; index < 2000; ++index) {
    const Element pair = PairOf(index, 10, 10);
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(pair));
    erased += !SameBytes(out.arrays[0], pair.arrays[0]);
  }
  EXPECT_NEAR(erased, 500, 100);  // five standard deviations
}

TEST(RandomErasing, RowsGiveTheBytesOfElements) {
  for (const DType dtype : {DType::kUInt8, DType::kFloat32, DType::kInt64})
    ExpectRowsAndElementsAgree(RandomErasing{.value = {7}}, dtype, {3, 9, 11});
}

TEST(RandomErasing, IsRefusedBeforeTheFirstElement) {
  const Shape shape{3, 8, 8};
  ExpectRefused(RandomErasing{.value = {1, 2}}, DType::kUInt8, shape,
                "value has 2 numbers, but field 'image' has shape [3, 8, 8]");
  ExpectRefused(RandomErasing{.value = {0.5}}, DType::kUInt8, shape, "value is 0.5, which uint8");
  ExpectRefused(RandomErasing{.value = {}}, DType::kUInt8, shape, "value has 0 numbers");
  ExpectRefused(RandomErasing{.scale = {0.1, 2}}, DType::kUInt8, shape, "scale");
}

TEST(RandomErasing, ChecksChannelsThatWereUnknownWhenTheyCome) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {-1, -1, -1})) |
                                  RandomErasing{.probability = 1, .value = {1, 2, 3}});
  EXPECT_THAT(TransformTester(dataset).Apply(Array::Allocate(DType::kUInt8, {1, 8, 8})),
              FailsWith(StatusCode::kInvalidArgument, "value has 3 numbers, an image 1 channels"));
}

}  // namespace
}  // namespace stoker
