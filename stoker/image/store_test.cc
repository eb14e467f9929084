#include "stoker/image/store.h"

#include <cstring>

#include "stoker/base/array.h"
#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/testing.h"
#include "stoker/image/cast.h"
#include "stoker/image/flip.h"
#include "stoker/image/testing_internal.h"

namespace stoker::store_test {

constexpr ShiftScale kConstants[] = {
    {123.675f, 0.01712475f}, {116.28f, 0.017507f}, {103.53f, 0.0174291f}, {-3.5f, 1e-3f}};
constexpr DType kSlotTypes[] = {DType::kUInt8, DType::kFloat32, DType::kBFloat16};
constexpr size_t kGuard = 256;

// A slot of bytes with guards of 0xa5 around it, larger than it need be.
struct Slot {
  Slot(DType dtype, int64_t height, int64_t width, int64_t channels, bool channels_last)
      : bytes(static_cast<size_t>(height * width * channels) * DTypeSize(dtype) + 2 * kGuard,
              std::byte{0xa5}),
        slot(PixelSlot::Of(dtype, bytes.data() + kGuard, height, width, channels, channels_last)) {}
  std::vector<std::byte> bytes;
  PixelSlot slot;
};

class StoreOn : public OnInstructionSet {};
STOKER_ON_EVERY_INSTRUCTION_SET(StoreOn);

TEST_P(StoreOn, EveryWidthTypeAndLayoutGivesTheBytesOfTheReference) {
  const auto pixels = MixedBytes(200 * kPixelBytes + 64, 1);
  for (const int64_t width : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 130}) {
    for (const DType dtype : kSlotTypes) {
      for (int64_t channels = 1; channels <= 4; ++channels) {
        for (int mode = 0; mode < 8; ++mode) {
          const bool last = mode & 1, flip = mode & 2, scaled = mode & 4;
          if (scaled && dtype == DType::kUInt8) continue;
          const PixelFinish finish{
              flip, scaled ? std::span(kConstants).first(static_cast<size_t>(channels))
                           : std::span<const ShiftScale>()};
          Slot want(dtype, 2, width, channels, last), got(dtype, 2, width, channels, last);
          StoreRowReference(pixels.data(), 1, finish, want.slot);
          StoreRow(pixels.data(), 1, finish, got.slot);
          ASSERT_EQ(got.bytes, want.bytes) << DTypeName(dtype) << " width " << width << " channels "
                                           << channels << " mode " << mode;
        }
      }
    }
  }
}

TEST_P(StoreOn, PastTheCachesTheBytesAreTheSame) {
  const auto pixels = MixedBytes(300 * kPixelBytes + 64, 1);
  for (const int64_t width : {16, 64, 100, 224}) {
    for (const DType dtype : kSlotTypes) {
      for (int mode = 0; mode < 8; ++mode) {
        const bool last = mode & 1, flip = mode & 2;
        const size_t unaligned = mode & 4 ? 4 : 0;  // bytes
        const size_t size = static_cast<size_t>(2 * width * 3) * DTypeSize(dtype) + unaligned;
        const Buffer want = Buffer::Allocate(size), got = Buffer::Allocate(size);
        for (const Buffer& bytes : {want, got}) std::memset(bytes.data(), 0xa5, size);
        const PixelFinish finish{.flip = flip};
        const auto slot = [&](const Buffer& bytes) {
          return PixelSlot::Of(dtype, bytes.data() + unaligned, 2, width, 3, last);
        };
        StoreRowReference(pixels.data(), 1, finish, slot(want));
        PixelSlot streamed = slot(got);
        streamed.streamed = true;
        StoreRow(pixels.data(), 1, finish, streamed);
        FinishStreaming();
        ASSERT_EQ(std::memcmp(got.data(), want.data(), size), 0)
            << DTypeName(dtype) << " width " << width << " mode " << mode;
      }
    }
  }
}

// Crop and resize, flip, normalise, cast: one after the other, with the kernels for each.
std::vector<std::byte> StepByStep(const PixelView& source, const ResampleBox& box,
                                  ResampleFilter filter, bool flip, DType dtype, int64_t height,
                                  int64_t width) {
  ResampleScratch scratch;
  const ImageShape shape{source.channels, height, width};
  const auto n = static_cast<size_t>(shape.num_values());
  std::vector<std::byte> bytes(n);
  ResampleToSlot(source, box, filter, {},
                 PixelSlot::Of(DType::kUInt8, bytes.data(), height, width, source.channels, false),
                 scratch);
  if (flip) FlipHorizontally(bytes.data(), shape, 1, bytes.data());
  if (dtype == DType::kUInt8) return bytes;
  std::vector<float> floats(n);
  NormalizeImages(reinterpret_cast<const uint8_t*>(bytes.data()), 1,
                  static_cast<size_t>(height * width),
                  std::span(kConstants).first(static_cast<size_t>(source.channels)), floats.data());
  std::vector<std::byte> out(n * DTypeSize(dtype));
  CastValues(DType::kFloat32, reinterpret_cast<const std::byte*>(floats.data()), n, dtype,
             out.data());
  return out;
}

TEST_P(StoreOn, OnePassGivesTheBitsOfTheStepsOneAfterTheOther) {
  const auto bytes = MixedBytes(60 * 80 * 3, 9);
  const PixelView source = Interleaved(bytes, 60, 80, 3);
  ResampleScratch scratch;
  for (const ResampleFilter filter : {ResampleFilter::kBilinear, ResampleFilter::kBicubic}) {
    for (const ResampleBox& box : {ResampleBox{3, 5, 50, 70}, ResampleBox{10, 20, 8, 9}}) {
      for (const DType dtype : kSlotTypes) {
        for (const bool flip : {false, true}) {
          const PixelFinish finish{flip, dtype == DType::kUInt8 ? std::span<const ShiftScale>()
                                                                : std::span(kConstants).first(3)};
          Slot slot(dtype, 32, 37, 3, /*channels_last=*/false);
          ResampleToSlot(source, box, filter, finish, slot.slot, scratch);
          const auto want = StepByStep(source, box, filter, flip, dtype, 32, 37);
          ASSERT_EQ(std::vector(slot.bytes.begin() + kGuard, slot.bytes.end() - kGuard), want)
              << DTypeName(dtype) << (flip ? " flipped" : "");
        }
      }
    }
  }
}

TEST(ResampleToSlot, FillsOnlyItsPartOfALargerArray) {
  const std::vector<uint8_t> bytes(4 * 4 * 3, 7);
  std::vector<float> batch(3 * 10 * 20, -1.0f);
  // Rows 2..4, columns 5..9 of planes of 10 x 20.
  const PixelSlot slot{.dtype = DType::kFloat32,
                       .data = reinterpret_cast<std::byte*>(batch.data() + 2 * 20 + 5),
                       .height = 3,
                       .width = 5,
                       .channels = 3,
                       .row_stride = 20,
                       .plane_stride = 200};
  ResampleScratch scratch;
  const PixelView source = Interleaved(bytes, 4, 4, 3);
  ResampleToSlot(source, ResampleBox::Whole(source), ResampleFilter::kBilinear, {}, slot, scratch);
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t y = i / 20 % 10, x = i % 20;
    const bool inside = y >= 2 && y < 5 && x >= 5 && x < 10;
    ASSERT_EQ(batch[i], inside ? 7.0f : -1.0f) << y << ' ' << x;
  }
}

TEST(CopyToSlot, GivesEveryLayoutTheSourcesValues) {
  const auto bytes = MixedBytes(5 * 70 * 3, 11);
  ResampleScratch scratch;
  Slot planes(DType::kUInt8, 5, 70, 3, false), pixels(DType::kUInt8, 5, 70, 3, true);
  CopyToSlot(Interleaved(bytes, 5, 70, 3), {}, planes.slot, scratch);
  const std::vector<uint8_t> as_planes(
      reinterpret_cast<const uint8_t*>(planes.slot.data),
      reinterpret_cast<const uint8_t*>(planes.slot.data) + bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t c = i % 3, x = i / 3 % 70, y = i / 210;
    ASSERT_EQ(as_planes[c * 350 + y * 70 + x], bytes[i]);
  }
  CopyToSlot(Planar(as_planes, 5, 70, 3), {}, pixels.slot, scratch);
  EXPECT_EQ(std::memcmp(pixels.slot.data, bytes.data(), bytes.size()), 0);
}

TEST(StoreRow, RoundsToBFloat16AsCastDoes) {
  std::vector<uint8_t> pixels(256 * kPixelBytes + 64);
  for (size_t x = 0; x < 256; ++x) pixels[x * kPixelBytes] = static_cast<uint8_t>(x);
  for (const ShiftScale constants : {ShiftScale{0, 1}, ShiftScale{127.3f, 0.0137f},
                                     ShiftScale{0, 3e36f}, ShiftScale{1, 1e-40f}}) {
    std::vector<uint16_t> got(256);
    const PixelSlot slot =
        PixelSlot::Of(DType::kBFloat16, reinterpret_cast<std::byte*>(got.data()), 1, 256, 1, false);
    StoreRow(pixels.data(), 0, {false, std::span(&constants, 1)}, slot);
    for (size_t x = 0; x < 256; ++x) {
      const float value = (static_cast<float>(x) - constants.shift) * constants.scale;
      ASSERT_EQ(got[x], FloatToBFloat16(value)) << x;
    }
  }
}

}  // namespace stoker::store_test
