#include "stoker/image/cast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "stoker/base/random.h"

namespace stoker::cast_test {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename To, typename From>
std::vector<To> CastTo(DType from, const std::vector<From>& in, DType to) {
  std::vector<To> out(in.size());
  CastValues(from, reinterpret_cast<const std::byte*>(in.data()), in.size(), to,
             reinterpret_cast<std::byte*>(out.data()));
  return out;
}

template <typename To, typename From>
std::vector<To> Cast(const std::vector<From>& in) {
  return CastTo<To>(DTypeOf<From>(), in, DTypeOf<To>());
}

TEST(CastValues, TruncatesAndClampsFloatsToIntegers) {
  const std::vector<double> in = {0.9,    -0.9, 1.5,   -1.5,   127.9, 128,   255.9, 256,
                                  -128.9, -129, 1e300, -1e300, kInf,  -kInf, kNan};
  EXPECT_THAT(Cast<uint8_t>(in),
              testing::ElementsAre(0, 0, 1, 0, 127, 128, 255, 255, 0, 0, 255, 0, 255, 0, 0));
  EXPECT_THAT(Cast<int8_t>(in), testing::ElementsAre(0, 0, 1, -1, 127, 127, 127, 127, -128, -128,
                                                     127, -128, 127, -128, 0));
}

TEST(CastValues, ClampsToIntegersThatFloatsCannotHold) {
  const std::vector<float> in = {2147483520.0f, 2147483648.0f, -2147483648.0f, -2147483904.0f,
                                 1e30f};
  EXPECT_THAT(
      Cast<int32_t>(in),
      testing::ElementsAre(2147483520, std::numeric_limits<int32_t>::max(),
                           std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::min(),
                           std::numeric_limits<int32_t>::max()));
  EXPECT_THAT(Cast<int64_t>(std::vector<double>{9223372036854774784.0, 9223372036854775808.0,
                                                -9223372036854775808.0, kNan}),
              testing::ElementsAre(9223372036854774784, std::numeric_limits<int64_t>::max(),
                                   std::numeric_limits<int64_t>::min(), 0));
}

TEST(CastValues, KeepsTheLowBitsOfWiderIntegers) {
  EXPECT_THAT(Cast<uint8_t>(std::vector<int32_t>{300, -1, 255}),
              testing::ElementsAre(44, 255, 255));
  EXPECT_THAT(Cast<int16_t>(std::vector<int64_t>{32768, -32769, 5}),
              testing::ElementsAre(-32768, 32767, 5));
}

TEST(CastValues, MakesAnythingButZeroTrue) {
  EXPECT_THAT(
      CastTo<uint8_t>(DType::kFloat64, std::vector<double>{0.0, -0.0, 0.1, kNan}, DType::kBool),
      testing::ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(
      CastTo<uint8_t>(DType::kInt64, std::vector<int64_t>{0, int64_t{1} << 40}, DType::kBool),
      testing::ElementsAre(0, 1));
}

TEST(CastValues,
     TakesEveryBoolButZeroAsOne) {  // files hold bytes that C++ does not allow in a bool
  const std::vector<uint8_t> bytes = {0, 1, 2, 255};
  EXPECT_THAT(CastTo<float>(DType::kBool, bytes, DType::kFloat32),
              testing::ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(CastTo<uint8_t>(DType::kBool, bytes, DType::kBool), testing::ElementsAre(0, 1, 1, 1));
}

TEST(CastValues, IsExactToWiderTypes) {
  EXPECT_THAT(Cast<float>(std::vector<uint8_t>{0, 1, 255}), testing::ElementsAre(0, 1, 255));
  EXPECT_THAT(Cast<int64_t>(std::vector<int8_t>{-128, 127}), testing::ElementsAre(-128, 127));
  EXPECT_THAT(Cast<double>(std::vector<int32_t>{-2147483647, 3}),
              testing::ElementsAre(-2147483647.0, 3.0));
}

// Every dtype holds 0..100, so each way there and back must return the same.
TEST(CastValues, ReturnsSmallNumbersUnchangedBetweenAllPairsOfDtypes) {
  std::vector<uint8_t> numbers;
  for (uint8_t i = 0; i <= 100; ++i) numbers.push_back(i);
  const auto last = static_cast<int>(DType::kFloat64);
  for (int a = static_cast<int>(DType::kUInt8); a <= last; ++a) {
    for (int b = static_cast<int>(DType::kUInt8); b <= last; ++b) {
      SCOPED_TRACE(testing::Message() << DTypeName(static_cast<DType>(a)) << " to "
                                      << DTypeName(static_cast<DType>(b)));
      const auto as_a = CastTo<int64_t>(DType::kUInt8, numbers,
                                        static_cast<DType>(a));  // 8 bytes are room for any
      const auto as_b = CastTo<int64_t>(static_cast<DType>(a), as_a, static_cast<DType>(b));
      EXPECT_EQ(CastTo<uint8_t>(static_cast<DType>(b), as_b, DType::kUInt8), numbers);
    }
  }
}

// IEEE 754-2008, table 3.5 and section 4.3.1.
TEST(Float16, HasTheValuesOfIeee754) {
  const std::pair<uint16_t, float> values[] = {
      {0x0000, 0.0f},      {0x3c00, 1.0f},       {0xc000, -2.0f},    {0x7bff, 65504.0f},
      {0x0400, 0x1p-14f},  {0x03ff, 0x3ffp-24f}, {0x0001, 0x1p-24f}, {0x3555, 0.333251953125f},
      {0x7c00, HUGE_VALF}, {0xfc00, -HUGE_VALF}};
  for (const auto& [bits, value] : values) {
    EXPECT_EQ(Float16ToFloat(bits), value);
    EXPECT_EQ(FloatToFloat16(value), bits) << value;
  }
  EXPECT_TRUE(std::signbit(Float16ToFloat(0x8000)));
  EXPECT_EQ(FloatToFloat16(-0.0f), 0x8000);
}

TEST(Float16, RoundsToNearestTiesToEven) {
  EXPECT_EQ(FloatToFloat16(1.0f + 0x1p-11f), 0x3c00);             // a tie, down to even
  EXPECT_EQ(FloatToFloat16(1.0f + 0x3p-11f), 0x3c02);             // a tie, up to even
  EXPECT_EQ(FloatToFloat16(1.0f + 0x1p-11f + 0x1p-23f), 0x3c01);  // above the tie
  EXPECT_EQ(FloatToFloat16(65519.996f), 0x7bff);
  EXPECT_EQ(FloatToFloat16(65520.0f), 0x7c00);  // halfway to what would be 65536
  EXPECT_EQ(FloatToFloat16(0x1p-25f), 0x0000);  // a tie with zero
  EXPECT_EQ(FloatToFloat16(0x1.000002p-25f), 0x0001);
  EXPECT_EQ(FloatToFloat16(0x1.ffcp-15f), 0x0400);  // a subnormal rounds up to a normal
}

TEST(Float16, ReturnsEveryBitPatternUnchanged) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = Float16ToFloat(static_cast<uint16_t>(bits));
    const uint32_t quiet = std::isnan(value) ? 0x200 : 0;
    ASSERT_EQ(FloatToFloat16(value), bits | quiet) << std::hex << bits;
  }
}

TEST(BFloat16, ReturnsEveryBitPatternUnchanged) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = BFloat16ToFloat(static_cast<uint16_t>(bits));
    const uint32_t quiet = std::isnan(value) ? 0x40 : 0;
    ASSERT_EQ(FloatToBFloat16(value), bits | quiet) << std::hex << bits;
  }
}

TEST(BFloat16, RoundsToNearestTiesToEven) {
  EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(FloatToBFloat16(std::numeric_limits<float>::max()), 0x7f80);
}

// The nearest half, found by trying all of them: slow, and plainly right.
uint16_t NearestFloat16(double value) {
  uint16_t best = 0;
  double best_distance = kInf;
  for (uint16_t bits = 0; bits < 0x7c00; ++bits) {
    const double distance = std::fabs(Float16ToFloat(bits) - std::fabs(value));
    if (distance < best_distance || (distance == best_distance && bits % 2 == 0)) {
      best = bits;
      best_distance = distance;
    }
  }
  return static_cast<uint16_t>(best | (std::signbit(value) ? 0x8000 : 0));
}

TEST(CastValues, RoundsDoublesToFloat16Once) {
  std::vector<double> in = {1.0 + 0x1p-11 + 0x1p-40, 1.0 + 0x3p-11 - 0x1p-40, 0x1p-25 + 0x1p-70,
                            -0x1p-25 - 0x1p-70};
  Rng rng(/*seed=*/2, 0, 0, 0);
  for (int i = 0; i < 40; ++i)
    in.push_back(rng.Normal() * std::exp2(static_cast<double>(rng.Below(30)) - 20));
  const auto got = CastTo<uint16_t>(DType::kFloat64, in, DType::kFloat16);
  for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(got[i], NearestFloat16(in[i])) << in[i];
}

TEST(CastValues, RoundsDoublesBeyondFloat16ToInfinity) {
  EXPECT_THAT(
      CastTo<uint16_t>(DType::kFloat64,
                       std::vector<double>{1e300, -1e300, 65520.0, 65520.0 - 0x1p-30, 1e-300},
                       DType::kFloat16),
      testing::ElementsAre(0x7c00, 0xfc00, 0x7c00, 0x7bff, 0));
}

TEST(CastValues, RoundsLargeIntegersToBFloat16Once) {
  // 2^60 + 2^52 is halfway between two bfloat16; one more is above it, and float or double would
  // lose the one.
  const int64_t tie = (int64_t{1} << 60) + (int64_t{1} << 52);
  EXPECT_THAT(CastTo<uint16_t>(DType::kInt64, std::vector<int64_t>{tie - 1, tie, tie + 1, -tie - 1},
                               DType::kBFloat16),
              testing::ElementsAre(0x5d80, 0x5d80, 0x5d81, 0xdd81));
  const int32_t small_tie = (1 << 30) + (1 << 22);
  EXPECT_THAT(CastTo<uint16_t>(DType::kInt32, std::vector<int32_t>{small_tie, small_tie + 1},
                               DType::kBFloat16),
              testing::ElementsAre(0x4e80, 0x4e81));
}

}  // namespace stoker::cast_test
