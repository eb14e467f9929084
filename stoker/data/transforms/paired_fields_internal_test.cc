// One draw for several fields, in the two transforms that work on many samples at once.
#include "stoker/data/transforms/paired_fields_internal.h"

#include "stoker/data/testing/paired_transforms.h"
#include "stoker/data/transforms/random_crop.h"
#include "stoker/data/transforms/random_flip.h"

namespace stoker::paired_fields_internal_test {

TEST(PairedFields, RandomFlipMirrorsMasksWithImages) {
  ExpectMovesMasksWithImages(RandomFlip{.masks = {"mask"}});
  ExpectMovesMasksWithImages(RandomFlip{.direction = "vertical", .images = {"mask"}});
}

TEST(PairedFields, RandomCropCutsMasksWithImages) {
  ExpectMovesMasksWithImages(RandomCrop{.size = 12, .masks = {"mask"}});
}

TEST(PairedFields, RandomCropFillsMasksWithAValueOfTheirOwn) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyPairs()) |
          RandomCrop{.size = 3, .padding = 1, .fill = 7, .mask_fill = -100, .masks = {"mask"}});
  STOKER_ASSERT_OK_AND_ASSIGN(const Element out, TransformTester(dataset).Apply(PairOf(1, 1, 1)));
  EXPECT_EQ(out.arrays[0].values<uint8_t>()[0], 7);
  EXPECT_EQ(out.arrays[1].values<int64_t>()[0], -100);
}

// {image, mask} with rows, where both are computed at once.
template <typename Options>
void ExpectRowsOfPairsAgree(const Options& options) {
  const Spec spec{{{"image", DType::kUInt8, {3, 6, 5}}, {"mask", DType::kInt64, {1, 6, 5}}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(EmptyDataset(spec)) | options);
  std::vector<Element> pairs;
  for (int64_t i = 0; i < 9; ++i) pairs.push_back(PairOf(i, 6, 5));
  BufferPool pool{nullptr, 1 << 20};
  Scratch scratch(pool);
  STOKER_ASSERT_OK_AND_ASSIGN(const Rows rows, StackElements(spec, pairs, scratch));
  TransformTester(dataset).ExpectRowsGiveTheBytesOfElements(rows);
}

TEST(PairedFields, RowsGiveTheBytesOfElements) {
  ExpectRowsOfPairsAgree(RandomFlip{.masks = {"mask"}});
  ExpectRowsOfPairsAgree(RandomCrop{.size = 4, .masks = {"mask"}});
}

TEST(PairedFields, AreRefusedWhereTheyCannotBeMovedTogether) {
  const auto refused = [](const RandomFlip& options, const char* says) {
    EXPECT_THAT(Result<Dataset>(EmptyPairs()) | options,
                FailsWith(StatusCode::kInvalidArgument, says));
  };
  refused({.masks = {"mask", "mask"}}, "random_flip: field 'mask' is named twice");
  refused({.masks = {"depth"}}, "depth");
  EXPECT_THAT(Result<Dataset>(EmptyDataset(
                  {{{"image", DType::kUInt8, {3, 8, 8}}, {"label", DType::kInt64, {}}}})) |
                  RandomFlip{.masks = {"label"}},
              FailsWith(StatusCode::kInvalidArgument, "must be [channels, height, width]"));
}

}  // namespace stoker::paired_fields_internal_test
