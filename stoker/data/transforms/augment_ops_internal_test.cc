#include "stoker/data/transforms/augment_ops_internal.h"

#include <array>
#include <cmath>
#include <cstdlib>

#include "stoker/data/testing/paired_transforms.h"
#include "stoker/image/testing_internal.h"

namespace stoker::augment_ops_internal_test {

// torchvision 0.26, of an image of 200 x 300 and 31 bins.
struct MagnitudeCase {
  AugmentSpace space;
  AugmentOp op;
  int64_t bin;
  double magnitude;
};
constexpr MagnitudeCase kMagnitudes[] = {
    {AugmentSpace::kRandAugment, AugmentOp::kIdentity, 9, 0},
    {AugmentSpace::kRandAugment, AugmentOp::kShearX, 9, 0.09},
    {AugmentSpace::kRandAugment, AugmentOp::kShearY, 9, 0.09},
    {AugmentSpace::kRandAugment, AugmentOp::kTranslateX, 9, 40.7855},
    {AugmentSpace::kRandAugment, AugmentOp::kTranslateY, 9, 27.19033},
    {AugmentSpace::kRandAugment, AugmentOp::kRotate, 9, 9},
    {AugmentSpace::kRandAugment, AugmentOp::kBrightness, 9, 0.27},
    {AugmentSpace::kRandAugment, AugmentOp::kColor, 9, 0.27},
    {AugmentSpace::kRandAugment, AugmentOp::kContrast, 9, 0.27},
    {AugmentSpace::kRandAugment, AugmentOp::kSharpness, 9, 0.27},
    {AugmentSpace::kRandAugment, AugmentOp::kPosterize, 9, 7},
    {AugmentSpace::kRandAugment, AugmentOp::kSolarize, 9, 0.7},
    {AugmentSpace::kRandAugment, AugmentOp::kAutoContrast, 9, 0},
    {AugmentSpace::kRandAugment, AugmentOp::kEqualize, 9, 0},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kIdentity, 27, 0},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kShearX, 27, 0.891},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kShearY, 27, 0.891},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kTranslateX, 27, 28.8},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kTranslateY, 27, 28.8},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kRotate, 27, 121.5},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kBrightness, 27, 0.891},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kColor, 27, 0.891},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kContrast, 27, 0.891},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kSharpness, 27, 0.891},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kPosterize, 27, 3},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kSolarize, 27, 0.1},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kAutoContrast, 27, 0},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kEqualize, 27, 0},
};

TEST(AugmentMagnitude, IsThatOfTorchvisionsTables) {
  for (const MagnitudeCase& golden : kMagnitudes) {
    EXPECT_NEAR(AugmentMagnitude(golden.space, golden.op, golden.bin, 31, {3, 200, 300}),
                golden.magnitude, 1e-4)
        << AugmentOpName(golden.op);
  }
}

// Results of torchvision 0.26 for MixedBytes(72, 2) as a grey picture of 9 x 8, by magnitudes of
// these bins.
struct ChangeCase {
  AugmentSpace space;
  AugmentOp op;
  int64_t bin;
  bool negative;
  const char* values;
};
constexpr ChangeCase kChanges[] = {
    {AugmentSpace::kRandAugment, AugmentOp::kShearX, 9, false,
     "3c7530bdb71e347886b2b41b91c976720357fb6be8aabd633f262e25125e84554c96c97852d0c6dbb0dd"
     "b6ed4a29e3ea3985e100039f6f009ca6c674f725c40097bc42c57921e800"},
    {AugmentSpace::kRandAugment, AugmentOp::kShearY, 9, false,
     "3c7530bdb71e767286b2b41b91c9bd630357fb6be8aa84553f262e25125ec6db4c96c97852d0e3eab0dd"
     "b6ed4a299f6fe33985e1000325c4599ca6c674f721e81e97bc42c5790000"},
    {AugmentSpace::kRandAugment, AugmentOp::kTranslateX, 9, false,
     "003c7530bdb71e340086b2b41b91c976000357fb6be8aabd003f262e25125e84004c96c97852d0c600b0"
     "ddb6ed4a29e300e33985e100039f00599ca6c674f725001e97bc42c57921"},
    {AugmentSpace::kRandAugment, AugmentOp::kTranslateY, 9, false,
     "00000000000000003c7530bdb71e347886b2b41b91c976720357fb6be8aabd633f262e25125e84554c96"
     "c97852d0c6dbb0ddb6ed4a29e3eae33985e100039f6f599ca6c674f725c4"},
    {AugmentSpace::kRandAugment, AugmentOp::kRotate, 9, false,
     "7530bdb71e34780075b4b41b91c976638657fb6be8aabd5503262e25125e84db3f96c97852d0c6ea4cdd"
     "b6ed4a29e36fb03985e100039fc4e39ca6c674f7f721001e97bc42c57921"},
    {AugmentSpace::kRandAugment, AugmentOp::kBrightness, 9, false,
     "4c943cf0e8264298aae2e422b8ff9590036eff87ffd7f07d50303a2e1677a76b60beff9868fffbffdfff"
     "e7ff5d34ffffff48a8ff0003c98c71c6d2fb93ff2ef826bfee53fa9929ff"},
    {AugmentSpace::kRandAugment, AugmentOp::kContrast, 9, false,
     "297119cdc5031f7587bfc10095dc726d004bff64ffb4cd5a2d0d170b005484483d9bdc7545e5d8f3bcf5"
     "c4ff3a11fdfffd2585fa0000a6694ea3afd870ff0bd5039ccb30d77606ff"},
    {AugmentSpace::kRandAugment, AugmentOp::kSharpness, 9, false,
     "3c7530bdb71e347886bdbd0391d375720352ff69fdaec7633f1a211500547f554c9ad4794ee0cddbb0e8"
     "b8ff431cf0eae3267def0000a26f59a0a9d071ff14c41e97bc42c57921e8"},
    {AugmentSpace::kRandAugment, AugmentOp::kPosterize, 9, false,
     "3c7430bcb61e347886b2b41a90c876720256fa6ae8aabc623e262e24125e84544c96c87852d0c6dab0dc"
     "b6ec4a28e2eae23884e000029e6e589ca6c674f624c41e96bc42c47820e8"},
    {AugmentSpace::kRandAugment, AugmentOp::kSolarize, 9, false,
     "3c753042481e347886b24b1b913676720357046b17aa42633f262e25125e84554c963678522f3924b022"
     "49124a291c151c39851e00039f6f599ca6397408253b1e9743423a792117"},
    {AugmentSpace::kRandAugment, AugmentOp::kAutoContrast, 9, false,
     "3c7630c0b91e347988b4b61b93cc77730358fe6cebacc06440262e25125f86564d98cc7953d3c9deb2e0"
     "b8f04b29e6ede63987e40003a1705a9ea8c975fa25c71e99be43c87a21eb"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kShearX, 27, true,
     "3c7530bdb71e34780086b2b41b91c97600000357fb6be8aa0000003f262e2512000000004c96c9780000"
     "000000b0ddb6000000000000e33900000000000000590000000000000000"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kShearY, 27, true,
     "3c00000000000000867500000000000003b23000000000003f57b4bd000000004c26fb1bb7000000b096"
     "2e6b911e0000e3ddc925e8c934005939b67812aa76781e9c85ed525ebd72"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kTranslateX, 27, true,
     "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000000000000000000000000"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kTranslateY, 27, true,
     "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000000000000000000000000"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kRotate, 27, true,
     "00979c59e300000000bca639dd4c3f00c5c6e1b6b6963f03c574e1edc92e5757f7034a527825fbb49f9f"
     "29d012e81bbd6feac65e5ee891bd00eadb84bdc91e000000006372763400"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kBrightness, 27, true,
     "060c05141303050d0e1313020f150c0c00091b0b1912140a06040504010a0e090810150d081615171318"
     "13190804181918060e180000110c091112150c1a041503101407150d0319"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kContrast, 27, true,
     "7a80788887767980828687768389807f737c8e7f8c86887e7a777877757d817c7b8389807c8a898b868b"
     "878d7b778c8c8c79818b7373847f7d848589808e77887683877a8880778c"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kSharpness, 27, true,
     "3c7530bdb71e3478868c95678fa777720364a1709f999b633f4d5859507e92554c88a1725d99aedbb0b5"
     "adb06053b7eae3769eb14e3e926f598d9ba47c9d5cc41e97bc42c57921e8"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kPosterize, 27, false,
     "206020a0a000206080a0a00080c060600040e060e0a0a06020202020004080404080c06040c0c0c0a0c0"
     "a0e04020e0e0e02080e0000080604080a0c060e020c00080a040c06020e0"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kSolarize, 27, false,
     "c38acf4248e1cb87794d4be46e36898d03a804941755429cc0d9d1da12a17baab3693687ad2f39244f22"
     "4912b5d61c151cc67a1e00036090a66359398b08da3be16843bd3a86de17"},
    {AugmentSpace::kTrivialAugmentWide, AugmentOp::kAutoContrast, 27, false,
     "3c7630c0b91e347988b4b61b93cc77730358fe6cebacc06440262e25125f86564d98cc7953d3c9deb2e0"
     "b8f04b29e6ede63987e40003a1705a9ea8c975fa25c71e99be43c87a21eb"},
};

TEST(ApplyAugmentations, GiveWhatTorchvisionGives) {
  BufferPool pool{nullptr, 1 << 20};
  Scratch scratch(pool);
  const Array image = BytesArray(MixedBytes(72, 2), {1, 9, 8});
  const Array shared = image;  // so that it is not written to
  for (const ChangeCase& golden : kChanges) {
    SCOPED_TRACE(AugmentOpName(golden.op));
    const double magnitude =
        AugmentMagnitude(golden.space, golden.op, golden.bin, 31, ImageShapeOf(image));
    const Augmentation change{golden.op, golden.negative ? -magnitude : magnitude};
    STOKER_ASSERT_OK_AND_ASSIGN(const Array out,
                                ApplyAugmentations("test", shared, {}, {change}, false, scratch));
    const auto want = BytesOfHex(golden.values);
    ASSERT_EQ(out.num_bytes(), want.size());
    // A level for what torch fuses.
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_LE(std::abs(out.values<uint8_t>()[i] - want[i]), 1) << i;
  }
}

TEST(DrawAugmentation, DrawsEveryOpEquallyOftenAndBothSigns) {
  constexpr int kSamples = 28000;
  std::array<int, kNumAugmentOps> times{}, negative{};
  for (int i = 0; i < kSamples; ++i) {
    Rng rng(1, 0, static_cast<uint64_t>(i), 1);
    const Augmentation drawn =
        DrawAugmentation(AugmentSpace::kRandAugment, 9, 31, {3, 32, 32}, rng);
    ++times[static_cast<size_t>(drawn.op)];
    negative[static_cast<size_t>(drawn.op)] += drawn.magnitude < 0;
  }
  for (int op = 0; op < kNumAugmentOps; ++op) {
    const auto i = static_cast<size_t>(op);
    EXPECT_NEAR(times[i], kSamples / kNumAugmentOps, 220);  // five standard deviations
    const bool is_signed = IsSigned(static_cast<AugmentOp>(op));
    EXPECT_NEAR(negative[i], is_signed ? times[i] / 2.0 : 0, is_signed ? 120 : 0);
  }
}

TEST(DrawAugmentation, DrawsTheBinEvenlyWhereNoneIsGiven) {
  std::array<int, 4> times{};
  for (int i = 0; i < 20000; ++i) {
    Rng rng(2, 0, static_cast<uint64_t>(i), 1);
    const Augmentation drawn =
        DrawAugmentation(AugmentSpace::kTrivialAugmentWide, -1, 4, {3, 32, 32}, rng);
    if (drawn.op == AugmentOp::kSolarize)
      ++times[static_cast<size_t>(std::lround((1 - drawn.magnitude) * 3))];
  }
  for (const int n : times) EXPECT_NEAR(n, 20000 / 14 / 4, 95);  // five standard deviations
}

}  // namespace stoker::augment_ops_internal_test
