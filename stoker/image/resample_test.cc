#include "stoker/image/resample.h"

#include <array>
#include <cmath>
#include <numeric>

#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/image/resample_golden_internal.h"
#include "stoker/image/testing_internal.h"

namespace stoker::resample_test {

constexpr ResampleFilter kFilters[] = {ResampleFilter::kNearest, ResampleFilter::kBox,
                                       ResampleFilter::kArea,    ResampleFilter::kBilinear,
                                       ResampleFilter::kBicubic, ResampleFilter::kLanczos3};

// Keeps the channels of what comes, and checks that rows come once, in order.
class KeptRows final : public RowReceiver {
 public:
  KeptRows(int64_t width, int64_t channels) : width_(width), channels_(channels) {}
  void Take(int64_t y, const uint8_t* pixels) override {
    EXPECT_EQ(y, next_++);
    for (int64_t x = 0; x < width_; ++x) {
      const uint8_t* pixel = pixels + x * kPixelBytes;
      values.insert(values.end(), pixel, pixel + channels_);
    }
  }
  std::vector<uint8_t> values;

 private:
  const int64_t width_, channels_;
  int64_t next_ = 0;
};

std::vector<uint8_t> Resampled(const PixelView& source, const ResampleBox& box,
                               ResampleFilter filter, const ResampleSize& size,
                               ResampleScratch& scratch) {
  KeptRows rows(size.width, source.channels);
  Resample(source, box, filter, size, scratch, rows);
  EXPECT_EQ(rows.values.size(), static_cast<size_t>(size.height * size.width * source.channels));
  return rows.values;
}

std::vector<uint8_t> ResampledPlainly(const PixelView& source, const ResampleBox& box,
                                      ResampleFilter filter, const ResampleSize& size) {
  KeptRows rows(size.width, source.channels);
  ResampleReference(source, box, filter, size, rows);
  return rows.values;
}

TEST(ResampleReference, IsWithinOneLevelOfPillow) {
  for (const GoldenCase& golden : kGolden) {
    SCOPED_TRACE(testing::Message() << ResampleFilterName(golden.filter) << ' ' << golden.height
                                    << 'x' << golden.width);
    const auto bytes = MixedBytes(golden.height * golden.width * 3,
                                  static_cast<uint32_t>(golden.height * 100 + golden.width));
    const auto got =
        ResampledPlainly(Interleaved(bytes, golden.height, golden.width, 3), golden.box,
                         golden.filter, {golden.out_height, golden.out_width});
    const auto want = BytesOfHex(golden.pixels);
    ASSERT_EQ(got.size(), want.size());
    int differ = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_LE(std::abs(got[i] - want[i]), golden.filter == ResampleFilter::kNearest ? 0 : 1) << i;
      differ += got[i] != want[i];
    }
    // Pillow rounds to whole levels between the passes, so a share of its values is a level off.
    EXPECT_LE(differ * 3, static_cast<int>(got.size())) << "more than a third differ";
  }
}

class ResampleOn : public OnInstructionSet {};
STOKER_ON_EVERY_INSTRUCTION_SET(ResampleOn);

// Smaller, larger, both at once, one pixel, one row, sizes around every vector.
TEST_P(ResampleOn, GivesTheBytesOfTheReference) {
  constexpr int64_t kSizes[][4] = {{13, 17, 5, 7},  {5, 4, 9, 11}, {40, 33, 16, 70},
                                   {7, 90, 21, 8},  {1, 1, 3, 5},  {1, 37, 4, 19},
                                   {64, 3, 7, 1},   {9, 8, 9, 8},  {31, 65, 30, 64},
                                   {6, 16, 5, 129}, {150, 9, 2, 3}};
  ResampleScratch scratch;
  for (const auto& [h, w, oh, ow] : kSizes) {
    for (int64_t channels = 1; channels <= 4; ++channels) {
      const auto bytes = MixedBytes(h * w * channels, static_cast<uint32_t>(h + w));
      for (const ResampleFilter filter : kFilters) {
        for (const bool planar : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << ResampleFilterName(filter) << ' ' << h << 'x' << w << " to " << oh << 'x'
                       << ow << " of " << channels << (planar ? " planes" : ""));
          const PixelView view =
              planar ? Planar(bytes, h, w, channels) : Interleaved(bytes, h, w, channels);
          const ResampleBox box = ResampleBox::Whole(view);
          ASSERT_EQ(Resampled(view, box, filter, {oh, ow}, scratch),
                    ResampledPlainly(view, box, filter, {oh, ow}));
        }
      }
    }
  }
}

TEST_P(ResampleOn, BoxesGiveTheBytesOfTheReference) {
  const auto bytes = MixedBytes(50 * 60 * 3, 5);
  const PixelView view = Interleaved(bytes, 50, 60, 3);
  ResampleScratch scratch;
  for (const ResampleBox& box : {ResampleBox{7, 9, 20, 30}, ResampleBox{0.5, 30.25, 49.5, 29.75},
                                 ResampleBox{49, 59, 1, 1}, ResampleBox{20.5, 3.25, 0.25, 0.5}}) {
    for (const ResampleFilter filter : kFilters) {
      for (const ResampleSize& size : {ResampleSize{12, 12}, ResampleSize{70, 33}}) {
        ASSERT_EQ(Resampled(view, box, filter, size, scratch),
                  ResampledPlainly(view, box, filter, size))
            << ResampleFilterName(filter) << ' ' << box.y << ' ' << box.x;
      }
    }
  }
}

TEST_P(ResampleOn, RandomShapesAndBoxesGiveTheBytesOfTheReference) {
  Rng rng(/*seed=*/1, 0, 0, 0);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(rng.Below(static_cast<uint64_t>(n)));
  };
  ResampleScratch scratch;
  for (int i = 0; i < 300; ++i) {
    const int64_t h = 1 + below(60), w = 1 + below(90), channels = 1 + below(4);
    const auto bytes = MixedBytes(h * w * channels, static_cast<uint32_t>(i));
    const PixelView view =
        below(2) ? Planar(bytes, h, w, channels) : Interleaved(bytes, h, w, channels);
    ResampleBox box{rng.UniformDouble() * static_cast<double>(h) / 2,
                    rng.UniformDouble() * static_cast<double>(w) / 2, 0, 0};
    box.height = (static_cast<double>(h) - box.y) * (1 - rng.UniformDouble() * 0.99);
    box.width = (static_cast<double>(w) - box.x) * (1 - rng.UniformDouble() * 0.99);
    const ResampleFilter filter = kFilters[below(6)];
    const ResampleSize size{1 + below(50), 1 + below(140)};
    STOKER_ASSERT_OK(CheckResample("test", view, box, size));
    ASSERT_EQ(Resampled(view, box, filter, size, scratch),
              ResampledPlainly(view, box, filter, size))
        << "case " << i << ": " << ResampleFilterName(filter) << ' ' << h << 'x' << w << " to "
        << size.height << 'x' << size.width;
  }
}

// Black and white at the edges of what 16-bit products and sums hold.
TEST_P(ResampleOn, ExtremesDoNotOverflow) {
  std::vector<uint8_t> bytes(40 * 40);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = (i / 40 / 3 + i % 40 / 3) % 2 ? 255 : 0;
  const PixelView view = Interleaved(bytes, 40, 40, 1);
  ResampleScratch scratch;
  for (const ResampleFilter filter : kFilters) {
    for (const int64_t side : {9, 23, 40, 97}) {
      ASSERT_EQ(Resampled(view, ResampleBox::Whole(view), filter, {side, side}, scratch),
                ResampledPlainly(view, ResampleBox::Whole(view), filter, {side, side}))
          << ResampleFilterName(filter) << ' ' << side;
    }
  }
}

TEST(Resample, EvenAreasKeepTheirValueExactly) {
  ResampleScratch scratch;
  for (const int value : {0, 1, 100, 254, 255}) {
    const std::vector<uint8_t> bytes(37 * 41 * 3, static_cast<uint8_t>(value));
    const PixelView view = Interleaved(bytes, 37, 41, 3);
    for (const ResampleFilter filter : kFilters) {
      for (const ResampleSize& size : {ResampleSize{11, 3}, ResampleSize{80, 90}}) {
        EXPECT_THAT(Resampled(view, ResampleBox::Whole(view), filter, size, scratch),
                    testing::Each(value))
            << ResampleFilterName(filter);
      }
    }
  }
}

TEST(Resample, TheSameSizeGivesTheSamePixels) {
  const auto bytes = MixedBytes(20 * 30 * 3, 1);
  const PixelView view = Interleaved(bytes, 20, 30, 3);
  ResampleScratch scratch;
  for (const ResampleFilter filter : kFilters) {
    EXPECT_EQ(Resampled(view, ResampleBox::Whole(view), filter, {20, 30}, scratch), bytes)
        << ResampleFilterName(filter);
  }
}

TEST(Resample, AreaIsTheMeanOfWhatIsCovered) {
  const std::vector<uint8_t> bytes = {0, 90, 240};
  ResampleScratch scratch;
  const PixelView view = Interleaved(bytes, 1, 3, 1);
  // Each of the two covers a pixel and a half.
  EXPECT_THAT(Resampled(view, ResampleBox::Whole(view), ResampleFilter::kArea, {1, 2}, scratch),
              testing::ElementsAre(30, 190));
}

TEST(Resample, AScratchUsedForOtherSizesGivesWhatAFreshOneGives) {
  const auto bytes = MixedBytes(64 * 64 * 3, 2);
  const PixelView view = Interleaved(bytes, 64, 64, 3);
  ResampleScratch used;
  for (const int64_t side : {64, 7, 130, 33, 7}) {
    for (const ResampleFilter filter : kFilters) {
      ResampleScratch fresh;
      ASSERT_EQ(Resampled(view, ResampleBox::Whole(view), filter, {side, 31}, used),
                Resampled(view, ResampleBox::Whole(view), filter, {side, 31}, fresh));
    }
  }
}

TEST(ResampleFloats, AreTheBytesBeforeTheyAreRounded) {
  constexpr int64_t kHeight = 33, kWidth = 21;
  const auto bytes = MixedBytes(kHeight * kWidth, 3);
  const std::vector<float> floats(bytes.begin(), bytes.end());
  const PixelView view = Interleaved(bytes, kHeight, kWidth, 1);
  const ResampleBox box{2, 1.5, 30, 18};
  ResampleScratch scratch;
  for (const ResampleFilter filter : kFilters) {
    if (filter == ResampleFilter::kBicubic || filter == ResampleFilter::kLanczos3)
      continue;  // bytes are clamped in between
    for (const ResampleSize& size : {ResampleSize{8, 9}, ResampleSize{50, 40}}) {
      const auto want = Resampled(view, box, filter, size, scratch);
      std::vector<float> got(want.size());
      ResampleFloats(floats.data(), kHeight, kWidth, kWidth, box, filter, size, scratch,
                     got.data());
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], want[i], 0.55) << ResampleFilterName(filter) << ' ' << i;
    }
  }
}

TEST(ResampleNearest, TakesThePixelsThatBytesTake) {
  const auto bytes = MixedBytes(15 * 22, 4);
  const PixelView view = Interleaved(bytes, 15, 22, 1);
  const ResampleBox box{1.5, 2, 12, 20};
  ResampleScratch scratch;
  for (const ResampleSize& size : {ResampleSize{4, 6}, ResampleSize{40, 50}}) {
    const auto want = Resampled(view, box, ResampleFilter::kNearest, size, scratch);
    const std::vector<int64_t> wide(bytes.begin(), bytes.end());
    std::vector<int64_t> got(want.size());
    ResampleNearest(reinterpret_cast<const std::byte*>(wide.data()), 15, 22, sizeof(int64_t), box,
                    size, reinterpret_cast<std::byte*>(got.data()));
    EXPECT_EQ(std::vector<uint8_t>(got.begin(), got.end()), want);
  }
}

TEST(ResampleNearest, OfAPartTakesThePixelsThatItTakesOfTheWhole) {
  constexpr int64_t kHeight = 41, kWidth = 37;
  const auto bytes = MixedBytes(kHeight * kWidth, 5);
  const auto* whole = reinterpret_cast<const std::byte*>(bytes.data());
  ResampleScratch scratch;
  for (const auto& [y, x, height, width] : std::vector<std::array<int64_t, 4>>{
           {0, 0, 41, 37}, {3, 5, 30, 17}, {40, 36, 1, 1}, {7, 0, 33, 37}}) {
    for (const ResampleSize& size : {ResampleSize{1, 1}, {9, 31}, {100, 77}}) {
      std::vector<uint8_t> want(static_cast<size_t>(size.height * size.width));
      ResampleNearest(whole, kHeight, kWidth, 1,
                      {static_cast<double>(y), static_cast<double>(x), static_cast<double>(height),
                       static_cast<double>(width)},
                      size, reinterpret_cast<std::byte*>(want.data()));
      KeptRows rows(size.width, 1);
      ResampleNearest({.data = bytes.data() + y * kWidth + x,
                       .height = height,
                       .width = width,
                       .channels = 1,
                       .row_stride = kWidth},
                      y, x, size, scratch, rows);
      EXPECT_EQ(rows.values, want) << y << " " << x << " to " << size.height;
    }
  }
}

TEST(ResampleFilter, NamesAreReadBack) {
  for (const ResampleFilter filter : kFilters) {
    STOKER_ASSERT_OK_AND_ASSIGN(const ResampleFilter read,
                                ParseResampleFilter(ResampleFilterName(filter)));
    EXPECT_EQ(read, filter);
  }
  EXPECT_THAT(ParseResampleFilter("linear"),
              FailsWith(StatusCode::kInvalidArgument, "nearest, box, area, bilinear"));
}

TEST(CheckResample, SaysWhatIsWrong) {
  const std::vector<uint8_t> bytes(10 * 10);
  const PixelView view = Interleaved(bytes, 10, 10, 1);
  const auto check = [&](const ResampleBox& box, const ResampleSize& size) {
    return CheckResample("resize", view, box, size);
  };
  STOKER_EXPECT_OK(check({0, 0, 10, 10}, {1, 1}));
  EXPECT_THAT(check({0, 0, 10.5, 10}, {1, 1}),
              FailsWith(StatusCode::kInvalidArgument, "not within the image of 10 x 10"));
  EXPECT_THAT(check({0, 0, std::nan(""), 10}, {1, 1}),
              FailsWith(StatusCode::kInvalidArgument, "empty or not within"));
  EXPECT_THAT(check({-1, 0, 4, 4}, {1, 1}), FailsWith(StatusCode::kInvalidArgument, "resize"));
  EXPECT_THAT(check({0, 0, 10, 10}, {0, 1}),
              FailsWith(StatusCode::kInvalidArgument, "to 0 x 1 pixels"));
  EXPECT_THAT(CheckResample("resize", Interleaved(bytes, 2, 10, 5), {0, 0, 2, 10}, {1, 1}),
              FailsWith(StatusCode::kInvalidArgument, "of 5 channels"));
}

}  // namespace stoker::resample_test
