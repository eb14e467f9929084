#include "stoker/image/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace stoker::mix_test {

// One value at a time, in doubles, which hold all of it exactly.
uint8_t MixPlainly(uint8_t a, uint8_t b, uint32_t weight) {
  const double share = weight / 65536.0;
  return static_cast<uint8_t>(std::floor(share * a + (1 - share) * b + 0.5));
}
float MixPlainly(float a, float b, float share) {
  const float rest = 1 - share;
  return static_cast<float>(double{share} * a) + static_cast<float>(double{rest} * b);
}

constexpr uint32_t kWeights[] = {0, 1, 13107, 32768, 52429, 65535, 65536};

TEST(MixValues, GivesTheMeanOfEveryPairOfBytesAtAnyWeight) {
  std::vector<uint8_t> a, b;
  for (int i = 0; i < 256 * 256; ++i) {
    a.push_back(static_cast<uint8_t>(i / 256));
    b.push_back(static_cast<uint8_t>(i % 256));
  }
  for (const uint32_t weight : kWeights) {
    std::vector<uint8_t> out(a.size());
    MixValues(a.data(), b.data(), a.size(), weight, out.data());
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(out[i], MixPlainly(a[i], b[i], weight)) << +a[i] << " " << +b[i] << " " << weight;
  }
}

TEST(MixValues, RoundsFloatsTheSameAtEveryLengthAndStart) {
  std::vector<float> a, b;
  for (int i = 0; i < 80; ++i) {
    a.push_back(static_cast<float>(std::sin(i) * 100));
    b.push_back(static_cast<float>(std::cos(i) / 7));
  }
  for (const float share : {0.0f, 0.1f, 1.0f / 3, 0.5f, 0.9999999f, 1.0f}) {
    for (const size_t begin : {size_t{0}, size_t{1}, size_t{3}}) {
      for (size_t n = 0; n + begin < a.size(); ++n) {
        std::vector<float> out(n + 1, -77);  // a guard after
        MixValues(a.data() + begin, b.data() + begin, n, share, out.data());
        for (size_t i = 0; i < n; ++i)
          ASSERT_EQ(out[i], MixPlainly(a[begin + i], b[begin + i], share));
        ASSERT_EQ(out[n], -77);
      }
    }
  }
}

TEST(MixValues, GivesEitherImageItselfAtItsWholeWeight) {
  const std::vector<float> a = {1.1f, -3}, b = {7, 1e30f};
  std::vector<float> out(2);
  MixValues(a.data(), b.data(), 2, 1.0f, out.data());
  EXPECT_EQ(out, a);
  MixValues(a.data(), b.data(), 2, 0.0f, out.data());
  EXPECT_EQ(out, b);
}

TEST(MixValues, MayWriteOverItsInput) {
  std::vector<uint8_t> a = {0, 100, 200}, b = {200, 100, 0};
  MixValues(a.data(), b.data(), 3, kWholeMixWeight / 4, a.data());
  EXPECT_THAT(a, testing::ElementsAre(150, 100, 50));
}

}  // namespace stoker::mix_test
