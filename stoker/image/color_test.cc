#include "stoker/image/color.h"

#include <cstdlib>

#include "stoker/image/testing_internal.h"

namespace stoker::color_test {

constexpr ImageShape kShape{3, 5, 6};

using Change = void (*)(const uint8_t* in, const ImageShape& shape, uint8_t* out);

std::vector<uint8_t> Changed(Change change, const std::vector<uint8_t>& in,
                             const ImageShape& shape) {
  std::vector<uint8_t> out(in.size() + 1, 77);  // a guard after
  change(in.data(), shape, out.data());
  EXPECT_EQ(out.back(), 77) << "written after the end";
  out.pop_back();
  std::vector<uint8_t> in_place = in;
  change(in_place.data(), shape, in_place.data());
  EXPECT_EQ(in_place, out) << "another result in place";
  return out;
}

void ExpectWithin(int levels, const std::vector<uint8_t>& got, const std::vector<uint8_t>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(got[i] - want[i]), levels)
        << "value " << i << ": " << int{got[i]} << " for " << int{want[i]};
}

// Results of torchvision 0.26 (transforms.v2.functional) for the planes of MixedBytes(90, 1).
struct GoldenCase {
  const char* name;
  Change change;
  int levels;  // of difference that are allowed, because torch fuses multiplications and additions
  const char* values;
};
const GoldenCase kGolden[] = {
    {"Brightness0_3",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) {
       AdjustBrightness(in, shape, 0.3f, out);
     },
     0,
     "121c2636031c3b2a013013202d40124b421834281007051809362c1d1439470d194b1d2a234c4336494a"
     "0b1c340c250d2d42190148113f011d031a093e1f0b2e3c4700024c3d221e334a38251f0b4539302c2903"
     "202b48193b15"},
    {"Brightness1_7",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) {
       AdjustBrightness(in, shape, 1.7f, out);
     },
     0,
     "669fdbff149ffff106ff6cb7ffff66ffff8dffe75d2c1e8938fffda471ffff4c90ffa8eecaffffffffff"
     "42a1ff45d64affff8e06ff64ff0aa6129538ffb03effffff030bffffc5aaffffffd4b43efffffffbe816"
     "b5f4ff92ff77"},
    {"Contrast0_4",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) {
       AdjustContrast(in, shape, 0.4, out);
     },
     1,
     "63707e9350709a844c8c647687a063afa36c90816155526b589386726698aa5d6daf72837ab0a494adae"
     "5a71915b7d5c87a46c4cac62a04d724f6e589e745a899caa4c4eb19d79738fae967d755aa7978c868250"
     "7684ac6d9a67"},
    {"Contrast1_9",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) {
       AdjustContrast(in, shape, 1.9, out);
     },
     1,
     "014184e50041ff9c00c4085caeff01ffff2cd9910000002900e7aa470efbff0030ff4b9971ffffe8ffff"
     "0043db007e00aeff2e00ff00ff0049003600ff5400b7ffff0000ffff6b4dd4fff27c5800fffac2a89300"
     "5aa0ff32ff14"},
    {"Saturation0_2",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) {
       AdjustSaturation(in, shape, 0.2, out);
     },
     1,
     "9c4763d245808eb681af99ac63a07c8ca43ba7b54e1a86407b5f85375869c03d5ae057897fccadb2bdc9"
     "4d8893629234a3c75415b33b9f3c7a265c49ba4951cd6b9d679bb3b7a4ab67a796738e32b2c063329d32"
     "8a5897357251"},
    {"Saturation1_8",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) {
       AdjustSaturation(in, shape, 1.8, out);
     },
     1,
     "00749e95003bfd650096002bcaff00ffff6ab45a1f19006100ffa48a2dffff1c4fff6e8e6effffb9ffff"
     "0035ca0069238af65300ff3aff0049005300e386006affff0000ffe2431ceeffdf864517ffbde0f57400"
     "4bc7ff76ff3a"},
    {"Hue0_2",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) {
       AdjustHue(in, shape, 0.2f, out);
     },
     1,
     "40683e9c9add290755c34064abf761fbb143e6889b94121521b5f261c6c03c2e81fb0c5ec6fe04a39de4"
     "2d5f3cd1dc53979737044f51664e622743bbee2d25f6cbee02a9ffcdf5f92761bb296a25bfdfa261f30d"
     "d406a20bc121"},
    {"HueMinus0_45",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) {
       AdjustHue(in, shape, -0.45f, out);
     },
     1,
     "ee2d25fbcbee02c1ffcdf5f9275fbb296a25b8df9f53f30dd406940bb4215268359cadec16076ec74064"
     "abf76efba63ee688a294120e21b5f261c6b63c3481f70c5ec6fe04a38bd53a6c3ce6dc53978e37043851"
     "545f622f43c0"},
    {"Gray",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) { ToGray(in, shape, out); }, 1,
     "b5425cda548981c0a1b2b0bd57938d719736a6c1541aa33c924a812d5e54b5425cda548981c0a1b2b0bd"
     "57938d719736a6c1541aa33c924a812d5e54b5425cda548981c0a1b2b0bd57938d719736a6c1541aa33c"
     "924a812d5e54"},
    {"Invert",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) { Invert(in, shape, out); }, 0,
     "c3a17e4bf3a13971fb5cbf936829c30423ac5177c8e5edaede4a6a9ebc3f11d2aa049c7388011f490a06"
     "d8a050d681d36820abfb0cc42bf99df4a7de3097da633411fdf800328b9b5408448295da19405d6b76f2"
     "946f0da939b9"},
    {"Posterize3",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) { Posterize(in, shape, 3, out); },
     0,
     "204080a00040c08000a0406080c020e0c040a0802000004020a0806040c0e02040e0608060e0e0a0e0e0"
     "2040a020602080c04000e020c00060004020c0602080c0e00000e0c06060a0e0a0606020e0a0a0808000"
     "6080e040c040"},
    {"Solarize100_5",
     [](const uint8_t* in, const ImageShape& shape, uint8_t* out) {
       Solarize(in, shape, 100.5f, out);
     },
     0,
     "3c5e7e4b0c5e3971045c409368293c0423535177371a1251214a6a61433f112d5504637388011f490a06"
     "275f5029812c682054040c3b2b06620b5821309725633411020700328b6454084482952519405d6b760d"
     "946f0d563946"},
};
class ColorGolden : public testing::TestWithParam<GoldenCase> {};

TEST_P(ColorGolden, IsWhatTorchvisionGives) {
  ExpectWithin(GetParam().levels, Changed(GetParam().change, MixedBytes(90, 1), kShape),
               BytesOfHex(GetParam().values));
}
INSTANTIATE_TEST_SUITE_P(Color, ColorGolden, testing::ValuesIn(kGolden),
                         [](const auto& test_case) { return test_case.param.name; });

TEST(AutoContrast, IsWhatTorchvisionGives) {
  std::vector<uint8_t> in = MixedBytes(90, 1);
  for (uint8_t& value : in) value = static_cast<uint8_t>(value / 2 + 30);
  ExpectWithin(
      0, Changed(AutoContrast, in, kShape),
      BytesOfHex(
          "3a5d80b6085dc98f00a33e6b97d93afedf50b08833160e4e1db6955f40c2ee2851fa5f8a74fee0b5f4f8"
          "225bad247c2894de5100f237d4025f06551cce67229bcaee0004fecc7363a9f6ba7b6922e6bea193870a"
          "698ff254c644"));
}

// Of a picture of 32 x 32, every second row and every fourth column.
TEST(Equalize, IsWhatTorchvisionGives) {
  std::vector<uint8_t> in = MixedBytes(32 * 32, 3), got;
  for (uint8_t& value : in) value = static_cast<uint8_t>(value / 3 + 20);
  const std::vector<uint8_t> out = Changed(Equalize, in, {1, 32, 32});
  for (size_t i = 0; i < out.size(); ++i) {
    if (i / 32 % 2 == 0 && i % 4 == 0) got.push_back(out[i]);
  }
  ExpectWithin(
      0, got,
      BytesOfHex(
          "4062098f2c9d5fe4748f625b2937fd9709e8b0ad1b68a3508fca624a625f8da9bcdb29378d8d3374a9ea"
          "f4b06c8f5fbc9514f14021580cde00bc95a505147a68c37a8ae4a92c1f2fd81fb943e44dca4a8dd55b40"
          "d16274055fefdea3c59758f71b09ed685b53f7f1d1007fde6247140dbcf1b682fa5bad976c330d0d7ab9"
          "fd21"));
}

TEST(Equalize, LeavesPicturesOfTooFewPixelsAsTheyAre) {
  const std::vector<uint8_t> in = MixedBytes(100, 2);
  EXPECT_EQ(Changed(Equalize, in, {1, 10, 10}), in);
}

TEST(AutoContrast, LeavesEvenPlanesAsTheyAre) {
  const std::vector<uint8_t> in(30, 93);
  EXPECT_EQ(Changed(AutoContrast, in, {3, 2, 5}), in);
}

TEST(Color, NeutralFactorsChangeNothing) {
  const std::vector<uint8_t> in = MixedBytes(3 * 64 * 64, 3);
  const ImageShape shape{3, 64, 64};
  const auto same = [&](Change change) { EXPECT_EQ(Changed(change, in, shape), in); };
  same([](const uint8_t* a, const ImageShape& s, uint8_t* b) { AdjustBrightness(a, s, 1, b); });
  same([](const uint8_t* a, const ImageShape& s, uint8_t* b) { AdjustContrast(a, s, 1, b); });
  same([](const uint8_t* a, const ImageShape& s, uint8_t* b) { AdjustSaturation(a, s, 1, b); });
  same([](const uint8_t* a, const ImageShape& s, uint8_t* b) { Posterize(a, s, 8, b); });
  same([](const uint8_t* a, const ImageShape& s, uint8_t* b) { Solarize(a, s, 256, b); });
}

TEST(Color, GreyPicturesHaveNoSaturationAndNoHue) {
  const std::vector<uint8_t> in = MixedBytes(40, 4);
  const ImageShape shape{1, 5, 8};
  const auto same = [&](Change change) { EXPECT_EQ(Changed(change, in, shape), in); };
  same([](const uint8_t* a, const ImageShape& s, uint8_t* b) { AdjustSaturation(a, s, 0, b); });
  same([](const uint8_t* a, const ImageShape& s, uint8_t* b) { AdjustHue(a, s, 0.3f, b); });
  same(ToGray);
}

TEST(ToGrayPlane, IsAnyChannelOfToGray) {
  const std::vector<uint8_t> in = MixedBytes(3 * 30, 6);
  std::vector<uint8_t> gray = Changed(ToGray, in, {3, 5, 6}), plane(30);
  ToGrayPlane(in.data(), {3, 5, 6}, plane.data());
  gray.resize(30);
  EXPECT_EQ(plane, gray);
}

TEST(AdjustHue, AWholeTurnInThreePartsComesBackWithinRounding) {
  const std::vector<uint8_t> in = MixedBytes(3 * 20 * 20, 5);
  std::vector<uint8_t> out = in;
  for (int i = 0; i < 3; ++i) AdjustHue(out.data(), {3, 20, 20}, 1.0f / 3, out.data());
  ExpectWithin(4, out, in);
}

TEST(Color, EmptyPicturesAreLeftAlone) {
  for (const ImageShape& shape : {ImageShape{3, 0, 4}, ImageShape{1, 4, 0}}) {
    AdjustContrast(nullptr, shape, 0.5, nullptr);
    AdjustSaturation(nullptr, shape, 0.5, nullptr);
    AutoContrast(nullptr, shape, nullptr);
    Equalize(nullptr, shape, nullptr);
  }
}

}  // namespace stoker::color_test
