#include "stoker/data/transforms/color_jitter.h"

#include <set>

#include "stoker/data/testing/paired_transforms.h"
#include "stoker/image/color.h"

namespace stoker::color_jitter_test {

Result<Dataset> Jittered(const ColorJitter& options) {
  return Result<Dataset>(EmptyImages(DType::kUInt8, {3, 6, 7})) | options;
}

Array PictureOf(int64_t index) { return PairOf(index, 6, 7).arrays[0]; }

TEST(ColorJitter, IsTheChangesOneAfterTheOtherInTheDrawnOrder) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Jittered({.brightness = 0.4, .contrast = 0.5, .saturation = 0.6, .hue = 0.1}));
  TransformTester tester(dataset);
  std::set<std::vector<size_t>> orders;
  for (int64_t index = 0; index < 200; ++index) {
    const SampleKey key{.epoch = 0, .index = index};
    Rng rng = tester.RngOf(key);
    rng.UniformDouble();  // whether
    std::vector<size_t> order = {0, 1, 2, 3};
    for (size_t i = 3; i > 0; --i) std::swap(order[i], order[rng.Below(i + 1)]);
    orders.insert(order);
    const double b = 0.6 + 0.8 * rng.UniformDouble(), c = 0.5 + 1.0 * rng.UniformDouble();
    const double s = 0.4 + 1.2 * rng.UniformDouble(), h = -0.1 + 0.2 * rng.UniformDouble();
    Array want = CopyOf(PictureOf(index));
    uint8_t* values = want.values<uint8_t>().data();
    const ImageShape shape{3, 6, 7};
    for (const size_t what : order) {
      if (what == 0) AdjustBrightness(values, shape, static_cast<float>(b), values);
      if (what == 1) AdjustContrast(values, shape, c, values);
      if (what == 2) AdjustSaturation(values, shape, s, values);
      if (what == 3) AdjustHue(values, shape, static_cast<float>(h), values);
    }
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out,
                                tester.Apply({.key = key, .arrays = {PictureOf(index)}}));
    ASSERT_TRUE(SameBytes(out.arrays[0], want)) << index;
  }
  EXPECT_EQ(orders.size(), 24u);
}

TEST(ColorJitter, ChangesTheShareItIsTold) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Jittered({.brightness = 0.9, .probability = 0.3}));
  TransformTester tester(dataset);
  int changed = 0;
  for (int64_t index = 0; index < 2000; ++index) {
    const Array image = PictureOf(1);
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Element out, tester.Apply({.key = {.epoch = 0, .index = index}, .arrays = {image}}));
    changed += !SameBytes(out.arrays[0], image);
  }
  EXPECT_NEAR(changed, 600, 110);  // five standard deviations
}

TEST(ColorJitter, NothingByDefault) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Jittered({}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array out, TransformTester(dataset).Apply(PictureOf(4)));
  EXPECT_TRUE(SameBytes(out, PictureOf(4)));
}

TEST(ColorJitter, RowsGiveTheBytesOfElements) {
  const ColorJitter options{.brightness = 0.5, .contrast = 0.5, .saturation = 0.5, .hue = 0.2};
  ExpectRowsAndElementsAgree(options, DType::kUInt8, {3, 5, 7});
  ExpectRowsAndElementsAgree(options, DType::kUInt8, {1, 5, 7});
}

TEST(ColorJitter, IsRefusedBeforeTheFirstElement) {
  ExpectRefused(ColorJitter{}, DType::kFloat32, {3, 4, 4},
                "color_jitter: field 'image' is float32; it must be uint8: put color_jitter before "
                "normalize");
  ExpectRefused(ColorJitter{}, DType::kUInt8, {4, 4, 4}, "must have 1 channel (grey) or 3");
  ExpectRefused(ColorJitter{.hue = 0.6}, DType::kUInt8, {3, 4, 4}, "hue is 0.6");
  ExpectRefused(ColorJitter{.contrast = -1}, DType::kUInt8, {3, 4, 4}, "contrast is -1");
}

TEST(ColorJitter, ChecksChannelsThatWereUnknownWhenTheyCome) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kUInt8, {-1, -1, -1})) | ColorJitter{.hue = 0.1});
  EXPECT_THAT(TransformTester(dataset).Apply(Array::Allocate(DType::kUInt8, {2, 4, 4})),
              FailsWith(StatusCode::kInvalidArgument, "an image of 2 channels"));
}

}  // namespace stoker::color_jitter_test
