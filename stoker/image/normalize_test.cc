#include "stoker/image/normalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/random.h"

namespace stoker::normalize_test {

constexpr ShiftScale kConstants{.shift = 72.93f, .scale = 0.011109f};
constexpr float kCanary = -123456.0f;
constexpr size_t kGuard = 64;  // floats: four of the widest vectors

// Around every number of lanes, and one long one.
std::vector<size_t> EdgeLengths() {
  std::set<size_t> lengths{0, 1, 2, 3, 784, 1023};
  for (const size_t lanes : {4, 8, 16, 32, 64}) lengths.insert({lanes - 1, lanes, lanes + 1});
  return {lengths.begin(), lengths.end()};
}

std::vector<uint8_t> EveryByteFourTimes() {
  std::vector<uint8_t> bytes(1024 + 8);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}

std::vector<float> OddFloats() {
  Rng rng(/*seed=*/1, 0, 0, 0);
  std::vector<float> values(1024 + 8);
  for (float& value : values) value = static_cast<float>(rng.Normal() * 1e3);
  const float inf = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f,
                           -0.0f,
                           inf,
                           -inf,
                           1e-42f,
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::quiet_NaN()};
  std::copy(std::begin(special), std::end(special), values.begin() + 5);
  return values;
}

class NormalizeOn : public OnInstructionSet {};
STOKER_ON_EVERY_INSTRUCTION_SET(NormalizeOn);

template <typename T>
void ExpectBitsOfTheReference(const std::vector<T>& values) {
  for (const size_t n : EdgeLengths()) {
    for (const size_t start : {0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << "n=" << n << " start=" << start);
      std::vector<float> want(start + n + kGuard, kCanary), got = want;
      NormalizePlaneReference(values.data() + start, n, kConstants, want.data() + start);
      NormalizePlane(values.data() + start, n, kConstants, got.data() + start);
      ASSERT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0);
    }
  }
}

TEST_P(NormalizeOn, BytesGiveTheBitsOfTheReference) {
  ExpectBitsOfTheReference(EveryByteFourTimes());
}

TEST_P(NormalizeOn, FloatsGiveTheBitsOfTheReference) { ExpectBitsOfTheReference(OddFloats()); }

TEST_P(NormalizeOn, FloatsMayBeNormalizedInPlace) {
  const std::vector<float> values = OddFloats();
  std::vector<float> want(values.size()), got = values;
  NormalizePlaneReference(values.data(), values.size(), kConstants, want.data());
  NormalizePlane(got.data(), got.size(), kConstants, got.data());
  EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0);
}

TEST(NormalizePlane, UsesTheBestInstructionSetOfThisCpu) {
  EXPECT_EQ(InstructionSet(), hwy::TargetName(hwy::SupportedAndGeneratedTargets().front()));
}

TEST(NormalizePlaneReference, SubtractsThenMultiplies) {
  const uint8_t in[] = {0, 1, 2, 255};
  float out[4];
  NormalizePlaneReference(in, 4, {.shift = 2.0f, .scale = 0.5f}, out);
  EXPECT_THAT(out, testing::ElementsAre(-1.0f, -0.5f, 0.0f, 126.5f));
}

TEST(NormalizePlaneReference, RoundsTheDifferenceAndTheProductEach) {
  // 2^24 + 1 is halfway between two floats and becomes the even one, 2^24; three times that is
  // exact. x * scale - shift * scale would be rounded once, to 3 * 2^24 + 4.
  const float in[] = {16777216.0f};  // 2^24
  float out[1];
  NormalizePlaneReference(in, 1, {.shift = -1.0f, .scale = 3.0f}, out);
  EXPECT_EQ(out[0], 50331648.0f);
}

TEST(NormalizeImages, GivesEachChannelItsConstants) {
  const std::vector<uint8_t> in = {1, 2, 3, 4,  5,  6,
                                   7, 8, 9, 10, 11, 12};  // 2 images, 3 channels, 2 pixels
  const std::vector<ShiftScale> channels = {{0, 1}, {0, 10}, {1, 1}};
  std::vector<float> out(in.size());
  NormalizeImages(in.data(), 2, 2, channels, out.data());
  EXPECT_THAT(out, testing::ElementsAre(1, 2, 30, 40, 4, 5, 7, 8, 90, 100, 10, 11));
}

TEST(NormalizeImages, TakesOneChannelAsOneLongPlane) {
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  std::vector<float> out(in.size());
  NormalizeImages(in.data(), 3, 2, std::vector<ShiftScale>{{1, 2}}, out.data());
  EXPECT_THAT(out, testing::ElementsAre(0, 2, 4, 6, 8, 10));
}

TEST(NormalizeImages, TakesNoImagesAndEmptyPlanes) {
  float canary = kCanary;
  const std::vector<ShiftScale> channels = {{0, 1}, {0, 10}};
  NormalizeImages(static_cast<const uint8_t*>(nullptr), 0, 7, channels, &canary);
  NormalizeImages(static_cast<const uint8_t*>(nullptr), 7, 0, channels, &canary);
  EXPECT_EQ(canary, kCanary);
}

}  // namespace stoker::normalize_test
