#include "stoker/image/affine.h"

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "stoker/image/testing_internal.h"

namespace stoker::affine_test {

constexpr AffineChange kChange{.degrees = -20,
                               .translate_x = 2,
                               .translate_y = -1,
                               .scale = 1.3,
                               .shear_x = 10,
                               .shear_y = -5};

std::vector<uint8_t> Nearest(const std::vector<uint8_t>& in, const ImageShape& shape,
                             const AffineMatrix& matrix, uint8_t fill) {
  std::vector<uint8_t> out(in.size() + 1, 201);  // a guard after
  WarpNearest(reinterpret_cast<const std::byte*>(in.data()), shape, 1, matrix,
              reinterpret_cast<const std::byte*>(&fill), {shape.height, shape.width},
              reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out.back(), 201) << "written after the end";
  out.pop_back();
  return out;
}

std::vector<uint8_t> Bilinear(const std::vector<uint8_t>& in, const ImageShape& shape,
                              const AffineMatrix& matrix, uint8_t fill) {
  std::vector<uint8_t> out(in.size());
  WarpBilinear(in.data(), shape, matrix, fill, {shape.height, shape.width}, out.data());
  return out;
}

// Golden values: torchvision 0.26 (transforms.v2.functional), planes of MixedBytes(_, 2), 9 x 8.
TEST(WarpNearest, IsWhatTorchvisionGives) {
  const auto in = MixedBytes(2 * 9 * 8, 2);
  EXPECT_EQ(
      Nearest(in, {2, 9, 8}, RotationMatrix(30), 0),
      BytesOfHex(
          "0000b71e7672000030bd91c9aabd5500b2b46be85e84db00b2fb6b1212d0c6ea03262e785229e36f3f96"
          "c9eded000325004cddb6e100f72500b03985a6c6c5790000599cbc4200000000e100b4120000ff0dcf81"
          "3ae89500a8aafc81cc695100a87cfc3737a80abd6255497577c3028dcab29e0a0aaaaa050087cb68d9aa"
          "d305009368c0b2ac514f0000ccc425d30000"));
  EXPECT_EQ(
      Nearest(in, {2, 9, 8}, InverseMatrix(kChange), 0),
      BytesOfHex(
          "8686b2b41be8e8aa860357fb6b6b125e0003262e2e2512d0003f26c9c97852d0004c9696c9ed4a2900b0"
          "ddddb6ed000000b0e33985e1e17400e3e339a6c6c6740000599ca6bc42c56565a8aaae81813a6562f37c"
          "fcfc37cc00625549497837a800ca559e9e7577a80087b2b29e0a8fc30093cbcb680aaaaa00938c68c0d9"
          "d975008c8c68b2acac750000ccc4b225d351"));
}

TEST(WarpNearest, FillsAndShearsAsTorchvisionDoes) {
  const auto in = MixedBytes(9 * 8, 2);
  EXPECT_EQ(
      Nearest(in, {1, 9, 8}, RotationMatrix(-50), 77),
      BytesOfHex(
          "4d4d4d03b275304d4d4c3f57fbb4bd4db0b0962efb6b91b7e3ddb6c925e891c99c85ed785212aa76a6c6"
          "e14ad05e846342c6000329c655554dc5f7039feadb4d4d7921256f4d4d4d"));
  const AffineChange shear{
      .shear_x = std::atan(0.3) * 180 / 3.14159265358979323846, .center_x = -4, .center_y = -4.5};
  EXPECT_EQ(
      Nearest(in, {1, 9, 8}, InverseMatrix(shear), 0),
      BytesOfHex(
          "3c7530bdb71e347886b2b41b91c9767257fb6be8aabd6300262e25125e84550096c97852d0c6db00b6ed"
          "4a29e3ea000085e100039f6f0000a6c674f725c4000042c57921e8000000"));
}

TEST(WarpBilinear, IsWithinOneLevelOfTorchvision) {
  const auto in = MixedBytes(2 * 9 * 8, 2);
  const auto within = [](const std::vector<uint8_t>& got, const std::vector<uint8_t>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_LE(std::abs(got[i] - want[i]), 1) << i;
  };
  within(Bilinear(in, {2, 9, 8}, RotationMatrix(30), 0),
         BytesOfHex(
             "0035784e6c732200219488b4ae9b4b0085825de0827e9e678ddb6c2c54c1d4e12d424f615551969e3f65"
             "bbbfa21932562490d4a3db57c86a00a27b7ab396b14d0042809cb4472c0000188d31b96a4200a447b998"
             "8cdb9900baabcd7b837b5e27c293ac5f7f7f1aaba17063757bb2537abc91a05353a6a331409db790d49b"
             "b36b00797ea5b4a159350033b6ab508a2400"));
  within(Bilinear(in, {2, 9, 8}, InverseMatrix(kChange), 0),
         BytesOfHex(
             "4f92afc7648fcfa6304e77e48868696806223b54302c2a85133f4770856b57820e4785b5bcc470370870"
             "b9cfb3de6b0e0086ab6e86c6825000799b6c97b9a49300306497a9966dbd327eab9ec3bd78483b8bda8b"
             "b7a05da535929b60646a4fa23fba7c7a7f75789e208ba7a577316fa90975b0a9726295a80064928ab8cd"
             "b29a00529597b4b29a720053c5ab7f8bb251"));
}

TEST(Warp, QuarterTurnsOfSquaresAreExact) {
  std::vector<uint8_t> in(25), want(25);
  std::iota(in.begin(), in.end(), uint8_t{1});
  for (size_t y = 0; y < 5; ++y) {
    for (size_t x = 0; x < 5; ++x) want[(4 - x) * 5 + y] = in[y * 5 + x];  // counter-clockwise
  }
  EXPECT_EQ(Nearest(in, {1, 5, 5}, RotationMatrix(90), 0), want);
  EXPECT_EQ(Bilinear(in, {1, 5, 5}, RotationMatrix(90), 0), want);
  EXPECT_EQ(Nearest(in, {1, 5, 5}, RotationMatrix(360), 0), in);
}

// What torchvision's _compute_affine_output_size gives, but for the quarter turn.
TEST(WholeSize, HasRoomForAllThatIsTurned) {
  const auto of = [](double degrees, int64_t height, int64_t width) {
    const WarpSize size = WholeSize(RotationMatrix(degrees), height, width);
    return std::pair(size.height, size.width);
  };
  EXPECT_EQ(of(0, 5, 8), std::pair(int64_t{5}, int64_t{8}));
  EXPECT_EQ(of(90, 5, 8), std::pair(int64_t{8}, int64_t{5}));
  EXPECT_EQ(of(180, 5, 8), std::pair(int64_t{5}, int64_t{8}));
  EXPECT_EQ(of(45, 10, 10), std::pair(int64_t{16}, int64_t{16}));  // 5 -+ 7.07: from -3 to 13
  EXPECT_EQ(of(30, 20, 40), std::pair(int64_t{38}, int64_t{46}));  // 10 -+ 18.66, 20 -+ 22.32
  EXPECT_EQ(of(-30, 20, 40), of(30, 20, 40));
}

TEST(Warp, AResultWithRoomForAllHoldsEveryPixelOfAQuarterTurn) {
  const auto in = MixedBytes(2 * 3 * 4, 5);
  const AffineMatrix matrix = RotationMatrix(90);  // counter-clockwise
  const WarpSize size = WholeSize(matrix, 3, 4);
  std::vector<uint8_t> want(in.size()), nearest(in.size()), bilinear(in.size());
  for (size_t c = 0; c < 2; ++c) {
    for (size_t y = 0; y < 3; ++y) {
      for (size_t x = 0; x < 4; ++x) want[c * 12 + (3 - x) * 3 + y] = in[c * 12 + y * 4 + x];
    }
  }
  const uint8_t fill = 7;
  WarpNearest(reinterpret_cast<const std::byte*>(in.data()), {2, 3, 4}, 1, matrix,
              reinterpret_cast<const std::byte*>(&fill), size,
              reinterpret_cast<std::byte*>(nearest.data()));
  WarpBilinear(in.data(), {2, 3, 4}, matrix, fill, size, bilinear.data());
  EXPECT_EQ(nearest, want);
  EXPECT_EQ(bilinear, want);
}

TEST(Warp, WholePixelsAreMovedExactly) {
  const auto in = MixedBytes(6 * 7, 5);
  const AffineMatrix matrix = InverseMatrix({.translate_x = 2, .translate_y = -1});
  std::vector<uint8_t> want(in.size(), 9);
  for (size_t y = 0; y + 1 < 6; ++y) {
    for (size_t x = 2; x < 7; ++x) want[y * 7 + x] = in[(y + 1) * 7 + x - 2];
  }
  EXPECT_EQ(Nearest(in, {1, 6, 7}, matrix, 9), want);
  EXPECT_EQ(Bilinear(in, {1, 6, 7}, matrix, 9), want);
}

TEST(Warp, WhatLiesFarOutsideIsFilled) {
  const std::vector<uint8_t> in(12, 1);
  for (const double far : {1e3, -1e3, 1e18, -1e18}) {
    const AffineMatrix matrix = InverseMatrix({.translate_x = far, .translate_y = far});
    EXPECT_THAT(Nearest(in, {1, 3, 4}, matrix, 7), testing::Each(7));
    EXPECT_THAT(Bilinear(in, {1, 3, 4}, matrix, 7), testing::Each(7));
  }
}

TEST(WarpNearest, MovesValuesOfEverySize) {
  const auto bytes = MixedBytes(2 * 9 * 8, 6);
  const std::vector<int64_t> in(bytes.begin(), bytes.end());
  const auto want = Nearest(bytes, {2, 9, 8}, RotationMatrix(17), 3);
  std::vector<int64_t> out(in.size());
  const int64_t fill = 3;
  WarpNearest(reinterpret_cast<const std::byte*>(in.data()), {2, 9, 8}, 8, RotationMatrix(17),
              reinterpret_cast<const std::byte*>(&fill), {9, 8},
              reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(std::vector<uint8_t>(out.begin(), out.end()), want);
}

}  // namespace stoker::affine_test
