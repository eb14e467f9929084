#include "stoker/image/blur.h"

#include <cmath>
#include <cstdlib>

#include "stoker/image/testing_internal.h"

namespace stoker::blur_test {

void ExpectWithin(int levels, const std::vector<uint8_t>& got, const std::vector<uint8_t>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(got[i] - want[i]), levels) << "value " << i;
}

// Golden values: torchvision 0.26 (transforms.v2.functional), planes of MixedBytes(_, 2), 9 x 8.
TEST(BlurGaussian, IsWithinOneLevelOfTorchvision) {
  const auto in = MixedBytes(2 * 9 * 8, 2);
  std::vector<uint8_t> out(in.size());
  BlurScratch scratch;
  BlurGaussian(in.data(), {2, 9, 8}, /*height=*/5, /*width=*/3, 1.3, scratch, out.data());
  ExpectWithin(
      1, out,
      BytesOfHex(
          "767f83888c8d78706c787d81858e7c74586d787a7d9189855d707c73708c999d75818e7c697b9fb28e93"
          "a18a6b6d9ab28e95a69676688d9c818ba097886f837e78859b968f7580708896abab8e9689a68c94a5a4"
          "8e948da597929d958b8a909d9d918c7f867f867d9d938576847b78609e998b7f8e7e7150979696909880"
          "755a918f9996997c78618b8a9b9998787966"));
  BlurGaussian(in.data(), {2, 9, 8}, 7, 7, 0.8, scratch, out.data());
  ExpectWithin(
      1, out,
      BytesOfHex(
          "747d7a7e8c78666772848a7c91937e754e6a87798c9b918247586a5d6282928d7785917b6787aeb9a2a5"
          "ae9f656aa7c1968f9f9f625a83977b889d9c877f74836d889d94968a70837196ab9697839490839daba6"
          "9e8a9893979e9ca38e87a3ad978d7e7e798584879c96806f7b815c589d9c867388886062989a9f9d9d92"
          "6d6a94969da2938669677b7e86968479737e"));
}

TEST(BlurGaussian, InPlaceGivesTheSame) {
  const auto in = MixedBytes(3 * 20 * 31, 7);
  std::vector<uint8_t> out(in.size()), in_place = in;
  BlurScratch scratch;
  BlurGaussian(in.data(), {3, 20, 31}, 9, 5, 2, scratch, out.data());
  BlurGaussian(in_place.data(), {3, 20, 31}, 9, 5, 2, scratch, in_place.data());
  EXPECT_EQ(in_place, out);
}

TEST(BlurGaussian, MirrorsPicturesSmallerThanTheKernel) {
  const std::vector<uint8_t> in = {10, 20};
  std::vector<uint8_t> out(2);
  BlurScratch scratch;
  BlurGaussian(in.data(), {1, 1, 2}, 9, 9, 100, scratch, out.data());
  // 20 10 20 10 [20] ...: five of nine are the pixel itself.
  EXPECT_THAT(out, testing::ElementsAre(14, 16));
}

TEST(BlurGaussian, KeepsTheMeanOfFloatsWithinRounding) {
  std::vector<float> in(11 * 13, 0.0f), out(in.size());
  in[5 * 13 + 6] = 1.0f;
  BlurScratch scratch;
  BlurGaussian(in.data(), {1, 11, 13}, 5, 5, 1.0, scratch, out.data());
  double sum = 0;
  for (const float value : out) sum += value;
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_NEAR(out[5 * 13 + 7] / out[5 * 13 + 6], std::exp(-0.5), 1e-6);
}

TEST(AdjustSharpness, IsWithinOneLevelOfTorchvision) {
  const auto in = MixedBytes(9 * 8, 2);
  std::vector<uint8_t> out(in.size());
  AdjustSharpness(in.data(), {1, 9, 8}, 0.1, out.data());
  ExpectWithin(
      1, out,
      BytesOfHex(
          "3c7530bdb71e3478868c95688fa677720364a0709f999a633f4d595a517f92554c88a1725d99aedbb0b5"
          "adaf6054b6eae3779fb14f3f926f598d9ba37d9c5cc41e97bc42c57921e8"));
  AdjustSharpness(in.data(), {1, 9, 8}, 2.5, out.data());
  ExpectWithin(
      1, out,
      BytesOfHex(
          "3c7530bdb71e347886f1e70094ff73720340ff62ffc5f6633f00000000266c554cacff813effeddbb0ff"
          "c3ff2400ffeae30059ff0000b46f59b4b8ff65ff00c41e97bc42c57921e8"));
}

TEST(AdjustSharpness, LeavesPicturesOfTwoRowsAsTheyAre) {
  const auto in = MixedBytes(3 * 2 * 7, 3);
  std::vector<uint8_t> out(in.size());
  AdjustSharpness(in.data(), {3, 2, 7}, 0, out.data());
  EXPECT_EQ(out, in);
}

}  // namespace stoker::blur_test
