#include "stoker/data/transforms/random_erasing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stoker/data/testing/paired_transforms.h"
#include "stoker/data/transforms/image_draws_internal.h"

namespace stoker::random_erasing_test {

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

// Values of the window by channel, for images of ones.
std::vector<std::vector<float>> Erased(const char* noise, int64_t index) {
  const Dataset dataset = *(Result<Dataset>(EmptyImages(DType::kFloat32, {2, 40, 40})) |
                            RandomErasing{.probability = 1, .scale = {0.2, 0.3}, .noise = noise});
  Element element{.key = {.epoch = 0, .index = index}, .arrays = {}};
  element.arrays.push_back(Array::Allocate(DType::kFloat32, {2, 40, 40}));
  std::ranges::fill(element.arrays[0].values<float>(), 100.0f);
  const Element out = *TransformTester(dataset).Apply(std::move(element));
  std::vector<std::vector<float>> values(2);
  for (size_t i = 0; i < 2 * 1600; ++i) {
    const float value = out.arrays[0].values<float>()[i];
    if (value != 100) values[i / 1600].push_back(value);
  }
  return values;
}

TEST(RandomErasing, NoiseOfEveryPixelIsStandardNormal) {
  std::vector<double> all;
  for (int64_t index = 0; index < 20; ++index) {
    for (const auto& channel : Erased("pixel", index))
      all.insert(all.end(), channel.begin(), channel.end());
  }
  const auto n = static_cast<double>(all.size());
  ASSERT_GT(n, 10000);
  const double mean = std::accumulate(all.begin(), all.end(), 0.0) / n;
  double squares = 0;
  for (const double value : all) squares += value * value;
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(n));             // five standard deviations
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2 / n));  // of the mean of squares
  EXPECT_NE(Erased("pixel", 1), Erased("pixel", 2));
  EXPECT_EQ(Erased("pixel", 1), Erased("pixel", 1));
}

TEST(RandomErasing, NoiseOfAChannelIsOneNumber) {
  const auto channels = Erased("channel", 3);
  for (const auto& channel : channels)
    EXPECT_EQ(channel, std::vector<float>(channel.size(), channel.front()));
  EXPECT_NE(channels[0].front(), channels[1].front());
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
  for (const char* noise : {"channel", "pixel"})
    ExpectRowsAndElementsAgree(RandomErasing{.noise = noise}, DType::kFloat32, {3, 9, 11});
}

TEST(RandomErasing, IsRefusedBeforeTheFirstElement) {
  const Shape shape{3, 8, 8};
  ExpectRefused(RandomErasing{.value = {1, 2}}, DType::kUInt8, shape,
                "value has 2 numbers, but field 'image' has shape [3, 8, 8]");
  ExpectRefused(RandomErasing{.value = {0.5}}, DType::kUInt8, shape, "value is 0.5, which uint8");
  ExpectRefused(RandomErasing{.value = {}}, DType::kUInt8, shape, "value has 0 numbers");
  ExpectRefused(RandomErasing{.scale = {0.1, 2}}, DType::kUInt8, shape, "scale");
  ExpectRefused(RandomErasing{.noise = "pixel"}, DType::kUInt8, shape,
                "noise of mean 0 and deviation 1 is for float32");
  ExpectRefused(RandomErasing{.value = {1}, .noise = "pixel"}, DType::kFloat32, shape,
                "value is 1 and noise is pixel");
}

TEST(RandomErasing, ChecksChannelsThatWereUnknownWhenTheyCome) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {-1, -1, -1})) |
                                  RandomErasing{.probability = 1, .value = {1, 2, 3}});
  EXPECT_THAT(TransformTester(dataset).Apply(Array::Allocate(DType::kUInt8, {1, 8, 8})),
              FailsWith(StatusCode::kInvalidArgument, "value has 3 numbers, an image 1 channels"));
}

}  // namespace stoker::random_erasing_test
