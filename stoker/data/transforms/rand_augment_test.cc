#include "stoker/data/transforms/rand_augment.h"

#include "stoker/data/testing/paired_transforms.h"
#include "stoker/data/transforms/augment_ops_internal.h"
#include "stoker/data/transforms/trivial_augment.h"

namespace stoker::rand_augment_test {

PairedField ImageField() { return {.index = 0}; }

TEST(RandAugment, AppliesTheChangesThatAreDrawn) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyPairs()) | RandAugment{.ops = 3});
  TransformTester tester(dataset);
  BufferPool pool{nullptr, 1 << 20};
  Scratch scratch(pool);
  for (int64_t index = 0; index < 60; ++index) {
    const Element pair = PairOf(index, 20, 23);
    const Array shared = pair.arrays[0];  // so that it is not written to
    Rng rng = tester.RngOf(pair.key);
    std::vector<Augmentation> changes;
    for (int i = 0; i < 3; ++i)
      changes.push_back(DrawAugmentation(AugmentSpace::kRandAugment, 9, 31, {3, 20, 23}, rng));
    STOKER_ASSERT_OK_AND_ASSIGN(const Array want, ApplyAugmentations("test", shared, ImageField(),
                                                                     changes, false, scratch));
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(pair));
    ASSERT_TRUE(SameBytes(out.arrays[0], want)) << index;
  }
}

TEST(TrivialAugment, AppliesTheChangeThatIsDrawn) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyPairs()) | TrivialAugment{.interpolation = "bilinear"});
  TransformTester tester(dataset);
  BufferPool pool{nullptr, 1 << 20};
  Scratch scratch(pool);
  for (int64_t index = 0; index < 60; ++index) {
    const Element pair = PairOf(index, 20, 23);
    const Array shared = pair.arrays[0];  // so that it is not written to
    Rng rng = tester.RngOf(pair.key);
    const Augmentation change =
        DrawAugmentation(AugmentSpace::kTrivialAugmentWide, -1, 31, {3, 20, 23}, rng);
    STOKER_ASSERT_OK_AND_ASSIGN(const Array want, ApplyAugmentations("test", shared, ImageField(),
                                                                     {change}, true, scratch));
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(pair));
    ASSERT_TRUE(SameBytes(out.arrays[0], want)) << index;
  }
}

// Pixels of the mask are those of the image where it was only moved; where its colours changed, the
// mask keeps its values.
template <typename Options>
void ExpectMasksAreOnlyMoved(const Options& options) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(EmptyPairs()) | options);
  TransformTester tester(dataset);
  int moved = 0;
  for (int64_t index = 0; index < 60; ++index) {
    Element pair = PairOf(index, 20, 23);
    for (int64_t& value : pair.arrays[1].values<int64_t>()) value = 1000 + value % 3;
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(pair));
    EXPECT_THAT(out.arrays[1].values<int64_t>(),
                testing::Each(testing::AnyOf(-1, 1000, 1001, 1002)));
    moved += !SameBytes(out.arrays[1], pair.arrays[1]);
  }
  EXPECT_GT(moved, 5);
}

TEST(RandAugment, MasksAreOnlyMoved) {
  ExpectMasksAreOnlyMoved(
      RandAugment{.interpolation = "bilinear", .mask_fill = -1, .masks = {"mask"}});
}
TEST(TrivialAugment, MasksAreOnlyMoved) {
  ExpectMasksAreOnlyMoved(
      TrivialAugment{.interpolation = "bilinear", .mask_fill = -1, .masks = {"mask"}});
}

TEST(RandAugment, RowsGiveTheBytesOfElements) {
  ExpectRowsAndElementsAgree(RandAugment{}, DType::kUInt8, {3, 9, 7});
  ExpectRowsAndElementsAgree(TrivialAugment{}, DType::kUInt8, {1, 9, 7});
}

TEST(RandAugment, IsRefusedBeforeTheFirstElement) {
  ExpectRefused(RandAugment{.magnitude = 31}, DType::kUInt8, {3, 8, 8},
                "magnitude is 31, but there are 31 bins");
  ExpectRefused(RandAugment{}, DType::kFloat32, {3, 8, 8}, "it must be uint8");
  ExpectRefused(TrivialAugment{.bins = 1}, DType::kUInt8, {3, 8, 8}, "bins is 1");
  ExpectRefused(TrivialAugment{}, DType::kUInt8, {4, 8, 8}, "must have 1 channel");
}

}  // namespace stoker::rand_augment_test
