#include "stoker/image/jpeg_baseline/color_rows.h"

#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/image/jpeg_baseline/testing.h"

namespace stoker::jpeg_baseline::color_rows_test {

constexpr uint8_t kCanary = 0xa5;
constexpr size_t kGuard = 200;
constexpr size_t kLongest = 300;

std::vector<uint8_t> RandomBytes(Rng& rng) {
  std::vector<uint8_t> bytes(kLongest + 2 * kRowPadding);
  for (uint8_t& byte : bytes) {
    const uint64_t kind = rng.Below(8);  // extremes now and then
    byte = kind == 0 ? 0 : kind == 1 ? 255 : static_cast<uint8_t>(rng.Below(256));
  }
  return bytes;
}

std::vector<uint8_t> Guarded(size_t n) { return std::vector<uint8_t>(n + kGuard, kCanary); }

class ColorRowsOn : public OnInstructionSet {
 protected:
  Rng rng_{/*seed=*/2, 0, 0, 0};
};

TEST_P(ColorRowsOn, ConvertRowGivesTheBytesOfTheReference) {
  for (size_t n = 0; n < kLongest; ++n) {
    const auto y = RandomBytes(rng_), cb = RandomBytes(rng_), cr = RandomBytes(rng_);
    std::vector<uint8_t> want = Guarded(3 * n), got = want;
    ConvertRowReference(y.data(), cb.data(), cr.data(), n, want.data());
    ConvertRow(y.data(), cb.data(), cr.data(), n, got.data());
    ASSERT_EQ(got, want) << n << " pixels";
  }
}

TEST_P(ColorRowsOn, ConvertRowIsRightForEveryPairOfCbAndCr) {
  std::vector<uint8_t> y(256), cb(256), cr(256), want(3 * 256), got(3 * 256);
  for (size_t i = 0; i < 256; ++i) cb[i] = static_cast<uint8_t>(i);
  for (const int light : {0, 90, 128, 255}) {
    std::fill(y.begin(), y.end(), static_cast<uint8_t>(light));
    for (int c = 0; c < 256; ++c) {
      std::fill(cr.begin(), cr.end(), static_cast<uint8_t>(c));
      ConvertRowReference(y.data(), cb.data(), cr.data(), 256, want.data());
      ConvertRow(y.data(), cb.data(), cr.data(), 256, got.data());
      ASSERT_EQ(got, want) << "Y " << light << ", Cr " << c;
    }
  }
}

TEST_P(ColorRowsOn, ConvertDoubledRowGivesTheBytesOfTheReference) {
  for (size_t n = 0; n < kLongest; ++n) {
    for (const size_t x : {size_t{0}, size_t{1}, size_t{2}, size_t{17}}) {
      for (const bool summed : {false, true}) {
        const auto y = RandomBytes(rng_), near = RandomBytes(rng_), far = RandomBytes(rng_);
        std::vector<int16_t> cb(near.size()), cr(near.size());
        for (size_t i = 0; i < cb.size(); ++i) {
          cb[i] = static_cast<int16_t>(summed ? 3 * near[i] + far[i] : near[i]);
          cr[i] = static_cast<int16_t>(summed ? 3 * far[i] + near[i] : far[i]);
        }
        std::vector<uint8_t> want = Guarded(3 * n), got = want;
        ConvertDoubledRowReference(y.data(), cb.data() + 1, cr.data() + 1, x, n, summed,
                                   want.data());
        ConvertDoubledRow(y.data(), cb.data() + 1, cr.data() + 1, x, n, summed, got.data());
        ASSERT_EQ(got, want) << n << " pixels from " << x << (summed ? ", summed" : "");
      }
    }
  }
}

TEST_P(ColorRowsOn, SumAndBlendGiveTheValuesOfTheReference) {
  for (size_t n = 0; n < kLongest; ++n) {
    const auto near = RandomBytes(rng_), far = RandomBytes(rng_);
    std::vector<int16_t> want(n + kRowPadding), got(n + kRowPadding);
    SumRowsReference(near.data(), far.data(), n, want.data());
    SumRows(near.data(), far.data(), n, got.data());
    ASSERT_TRUE(std::equal(want.begin(), want.begin() + static_cast<ptrdiff_t>(n), got.begin()));
    WidenRow(near.data(), n, got.data());
    ASSERT_TRUE(std::equal(near.begin(), near.begin() + static_cast<ptrdiff_t>(n), got.begin()));
    for (const bool below : {false, true}) {
      std::vector<uint8_t> want_bytes(n + kRowPadding), got_bytes(n + kRowPadding);
      BlendRowsReference(near.data(), far.data(), below, n, want_bytes.data());
      BlendRows(near.data(), far.data(), below, n, got_bytes.data());
      want_bytes.resize(n);
      got_bytes.resize(n);
      ASSERT_EQ(got_bytes, want_bytes);
    }
  }
}

STOKER_ON_EVERY_INSTRUCTION_SET(ColorRowsOn);

TEST(ConvertRowReference, GivesJfifsPrimaries) {
  // T.871: red is Y 76, Cb 85, Cr 255; rounded as they are, they come back nearly red.
  const uint8_t y[] = {76, 150, 29, 255}, cb[] = {85, 44, 255, 128}, cr[] = {255, 21, 107, 128};
  uint8_t rgb[12];
  ConvertRowReference(y, cb, cr, 4, rgb);
  EXPECT_THAT(rgb, testing::ElementsAre(254, 0, 0, 0, 255, 1, 0, 0, 254, 255, 255, 255));
}

TEST(RepeatSamples, BeginsInTheMiddleOfASample) {
  const uint8_t in[] = {1, 2, 3};
  uint8_t out[7];
  RepeatSamples(in, 4, 2, 7, out);
  EXPECT_THAT(out, testing::ElementsAre(1, 1, 2, 2, 2, 2, 3));
}

}  // namespace stoker::jpeg_baseline::color_rows_test
