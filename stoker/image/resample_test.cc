#include "stoker/image/resample.h"

#include <cmath>
#include <numeric>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/image/testing_internal.h"

namespace stoker {
namespace {

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

// Results of Pillow 11.3's Image.resize for pictures of MixedBytes(_, height * 100 + width). (13 is
// another only where a picture becomes wider and lower: the last of these.)
struct GoldenCase {
  ResampleFilter filter;
  int64_t height, width;
  ResampleBox box;
  int64_t out_height, out_width;
  const char* pixels;
};
constexpr GoldenCase kGolden[] = {
    {ResampleFilter::kBilinear,
     13,
     17,
     {0, 0, 13, 17},
     5,
     7,
     "6750815582856d80848968858f5c8c919f9788ad838a5266788684845988736f93737184638c926b8c6788858c83"
     "8b71ad5d6680888767738d6f9d7f5e8f73b1936099958675677a6a7a6e69719d89718f816f6181a5946d8063757c"
     "756a718a8a819a837f81757565"},
    {ResampleFilter::kBilinear,
     5,
     4,
     {0, 0, 5, 4},
     9,
     11,
     "6efee96df6e463b4ba5871915b4b867455af8d5ed79366e58e6fe48a78e28979e29adca298d8a281b5a26992a266"
     "7baa8578c2a374d89f6ed78768c97062b96d61b8e4a42ddfa635b2b87a85c9be78cae7a0b1e1c899dab47bc07c5d"
     "9b463d763e3a719bc01198c0177fc24e65c48462b9ae8598c1a776d3ab5fc79e4ea8913c898f3a852ef00b2eec0d"
     "32ce2235b1354190585b69927442cb9b38d6ca3dc4f943b2ff44b042ac7643aa74499a6c4f8a645b786872628288"
     "4d9ca1429eba3d91d43884d737835585b65683b35e789b666c8372647585637b9762809f547ca24071a32b68a328"
     "6763ce4f64c8506c9e5a7573647e6475898293949faf8487b063509f43188f3e118d6bfa116cf21575b5337e7851"
     "8564758c94a192c3cc73a5d03e59bb090da70203a4"},
    {ResampleFilter::kBilinear,
     12,
     10,
     {2.5, 1.25, 7.5, 7.5},
     4,
     4,
     "6f8d74986d7c7a9a87688e877b9e756e89b2798d9c838e95856d6a697e67848c66a09967729b72779e398375589f"
     "7b64"},
    {ResampleFilter::kBox,
     13,
     17,
     {0, 0, 13, 17},
     5,
     7,
     "6547925b7c7d7083868b707e7e4d8d979d929db28a8f3c5172a185a644a3716e9478648936a2926e6d4e8f85a183"
     "967bbe55488b89935c687075988b698d76ce742a90877f7f577c50715d405ea796708e7596707eb7ac6d825f8880"
     "6e53778bae7a8a828687777267"},
    {ResampleFilter::kBox,
     3,
     3,
     {0, 0, 3, 3},
     7,
     5,
     "5ac3495ac349e2522df23ca6f23ca65ac3495ac349e2522df23ca6f23ca6fd463cfd463c9a4930bd1deabd1deafd"
     "463cfd463c9a4930bd1deabd1deafd463cfd463c9a4930bd1deabd1deada56ecda56ec147bf9952294952294da56"
     "ecda56ec147bf9952294952294"},
    {ResampleFilter::kBicubic,
     13,
     17,
     {0, 0, 13, 17},
     5,
     7,
     "664d834e84846b83858e668395588b96a49589b1868a4a60798e8386518b6b71957672835d8b97688b648a8c9382"
     "8e70b7575f838f8c616d8a6ea17d5c9173b497579c998e73657c687d676472a4907092836a5c82a89a687b5b747c"
     "7462708e95819a838381717463"},
    {ResampleFilter::kBicubic,
     4,
     5,
     {0, 0, 4, 5},
     7,
     9,
     "600011790631a7386ad2778bf2ab8ef6a83cd1900d696c5b30598a57373565464980696ca79d76c8c271cf9559b5"
     "674963655537665c48b27348b6724bc16d63d85581dc4891778c892fab5b5a4f4177193cd47e5ddc7498e76492b3"
     "797c759aab849fbc8d9368617138485d4bd78d89e675f4f651ce858c8412d3bd8692d8dc606a71972b30b8a2dddb"
     "c3e99af7f52ac29f2e6e3a495f434956685b348ba4219dccd5e0ffe2e9b1f2f214b6b100605900251b1e061d5b13"
     "99a91ddfd1"},
    {ResampleFilter::kLanczos3,
     15,
     14,
     {0, 0, 15, 14},
     5,
     6,
     "b8748aab868e6384998e8092c189ac63848d6d54839b90607a74935b808a71958254888d8ea59c6b9d9273599c79"
     "a593b2948b708c81b492688c7888615f86659e878671808b77858dad7aa07a358e8aa6887b84739881738997"},
    {ResampleFilter::kLanczos3,
     4,
     5,
     {0, 0, 4, 5},
     6,
     7,
     "6200128a1241d06792f3a593ffad18917a313057945952445d605f84a86eb6d65ac17266774d5a3b764440d27e4d"
     "d87662df5b73c15f9e60b9784984406b1e34d57fa2ff5dd4af808329dae4b994aba5772f1f998bd5c9e1fd64efb4"
     "3c7623727f634a5d9681227dd4d3dbffecf277cfd100605f000e002708619220e6ca"},
    {ResampleFilter::kNearest,
     13,
     17,
     {0, 0, 13, 17},
     5,
     7,
     "14178c43a69294603874ad9a891ac2aee6aa4db8157f203667e4e6b3086bcc21797bed8b46e3af393a196831d94b"
     "b041f46e03248f57b06cd539e0260ede92e30c0fefd4b4c53e38b99f957e15ae30067f6c851a2acdff384297dbc1"
     "d4b771644faca9b0456edb962b"},
    {ResampleFilter::kNearest,
     3,
     4,
     {0, 0, 3, 4},
     7,
     9,
     "5adaf85adaf8ebfdedebfded6126286126286126280bbaeb0bbaeb5adaf85adaf8ebfdedebfded61262861262861"
     "26280bbaeb0bbaeb943c6b943c6b3544ee3544ee27399d27399d27399da4260ba4260b943c6b943c6b3544ee3544"
     "ee27399d27399d27399da4260ba4260b943c6b943c6b3544ee3544ee27399d27399d27399da4260ba4260bb3932d"
     "b3932dcda5cbcda5cbf92d37f92d37f92d37b8ca24b8ca24b3932db3932dcda5cbcda5cbf92d37f92d37f92d37b8"
     "ca24b8ca24"},
    {ResampleFilter::kBicubic,
     12,
     10,
     {2.5, 1.25, 7.5, 7.5},
     4,
     4,
     "6b8e73a365787aa486638c8c7da871698bc5798a9e838c9b8c646a607a65848d65a6a06272a27777a828866e58a8"
     "7765"},
    {ResampleFilter::kLanczos3,
     16,
     5,
     {0, 0, 16, 5},
     4,
     8,
     "aaab8a97b09a79a2b87074c97c68cf9478caa862a9ae4a958b7ba1938e8991ab6f73b0887fb4aeb4abc7c583a2c0"
     "6883924459976e778e9e9868868e5975916f829d8c8e6e999446854841806742758461836bad8670b98596748b8a"
     "39917426"},
};

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
  ASSERT_EQ(ResampleInstructionSet(), hwy::TargetName(GetParam())) << "another one ran";
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

}  // namespace
}  // namespace stoker
