#include "stoker/image/jpeg_baseline/inverse_dct.h"

#include <algorithm>
#include <array>

#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/image/jpeg_baseline/testing.h"

namespace stoker::jpeg_baseline::inverse_dct_test {

constexpr ptrdiff_t kStride = 48;  // 32 bytes of samples and a guard
constexpr uint8_t kCanary = 0xa5;

class InverseDctOn : public OnInstructionSet {};

TEST_P(InverseDctOn, GivesTheBytesOfTheReferenceAndClearsTheValues) {
  Rng rng(/*seed=*/4, 0, 0, 0);
  for (int i = 0; i < 3000; ++i) {
    const int last_place = i % 2 == 0 ? static_cast<int>(rng.Below(10)) : i % 64;
    const int magnitude = std::array{20, 300, 2000, 40000}[static_cast<size_t>(i % 4)];
    TestGroup group = RandomGroup(rng, last_place, magnitude);
    TestGroup copy = group;
    std::array<uint8_t, 8 * kStride> want, got;
    want.fill(kCanary);
    got.fill(kCanary);
    const bool plain = InverseDctGroupReference(copy.values.data(), copy.divisors.data(),
                                                last_place, want.data(), kStride);
    ASSERT_EQ(InverseDctGroup(group.values.data(), group.divisors.data(), last_place, got.data(),
                              kStride),
              plain);
    ASSERT_EQ(got, want) << "last place " << last_place << ", magnitude " << magnitude;
    ASSERT_TRUE(std::ranges::all_of(group.values, [](int16_t v) { return v == 0; }));
  }
}

STOKER_ON_EVERY_INSTRUCTION_SET(InverseDctOn);

TEST(InverseDctReference, OfADcValueIsFlat) {
  TestGroup group;
  group.divisors.fill(4);
  for (int b = 0; b < kGroupBlocks; ++b) group.values[b * 8] = static_cast<int16_t>(b * 20);
  std::array<uint8_t, 8 * kStride> out;
  EXPECT_TRUE(
      InverseDctGroupReference(group.values.data(), group.divisors.data(), 0, out.data(), kStride));
  for (int b = 0; b < kGroupBlocks; ++b) {
    for (int i = 0; i < kBlockValues; ++i) {
      EXPECT_EQ(out[static_cast<size_t>(i / 8 * kStride + b * 8 + i % 8)], 128 + b * 10);
    }
  }
}

TEST(InverseDctReference, OfTheFirstAcValueIsACosine) {
  TestGroup group;
  group.divisors.fill(1);
  group.values[1] = 400;
  std::array<uint8_t, 8 * kStride> out;
  EXPECT_TRUE(
      InverseDctGroupReference(group.values.data(), group.divisors.data(), 1, out.data(), kStride));
  // 128 + 400 / 8 * sqrt(2) * cos((2 x + 1) pi / 16), T.81, A.3.3.
  EXPECT_THAT(std::span(out).first(8), testing::ElementsAre(197, 187, 167, 142, 114, 89, 69, 59));
}

TEST(InverseDctReference, TellsOfValuesThatNoPictureGives) {
  TestGroup group;
  group.divisors.fill(255);
  group.values[3] = 40;  // times 255 is more than 8192
  std::array<uint8_t, 8 * kStride> out;
  EXPECT_FALSE(InverseDctGroupReference(group.values.data(), group.divisors.data(), 63, out.data(),
                                        kStride));
}

}  // namespace stoker::jpeg_baseline::inverse_dct_test
