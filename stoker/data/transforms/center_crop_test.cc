#include "stoker/data/transforms/center_crop.h"

#include "stoker/data/testing/paired_transforms.h"

namespace stoker::center_crop_test {

std::vector<int> Cropped(int64_t n, int64_t window) {
  Array image = Array::Allocate(DType::kUInt8, {1, 1, n});
  std::iota(image.values<uint8_t>().begin(), image.values<uint8_t>().end(), uint8_t{1});
  const auto dataset = Result<Dataset>(EmptyImages(DType::kUInt8, {1, -1, -1})) |
                       CenterCrop{.height = 1, .width = window};
  const auto out = TransformTester(*dataset).Apply(image);
  return {out->values<uint8_t>().begin(), out->values<uint8_t>().end()};
}

// As torchvision's center_crop: a half is rounded to even.
TEST(CenterCrop, CutsTheMiddle) {
  EXPECT_THAT(Cropped(5, 3), testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(Cropped(5, 2), testing::ElementsAre(3, 4));     // from 1.5, so from 2
  EXPECT_THAT(Cropped(4, 3), testing::ElementsAre(1, 2, 3));  // from 0.5, so from 0
}

TEST(CenterCrop, PutsABorderAroundWhatIsSmaller) {
  EXPECT_THAT(Cropped(2, 5), testing::ElementsAre(0, 1, 2, 0, 0));
  EXPECT_THAT(Cropped(3, 5), testing::ElementsAre(0, 1, 2, 3, 0));
}

TEST(CenterCrop, MovesMasksWithImages) {
  ExpectMovesMasksWithImages(CenterCrop{.height = 10, .width = 30, .masks = {"mask"}});
}

TEST(CenterCrop, RowsGiveTheBytesOfElements) {
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kFloat32})
    ExpectRowsAndElementsAgree(CenterCrop{.height = 3, .width = 9, .fill = 5}, dtype, {3, 5, 7});
}

TEST(CenterCrop, IsRefusedBeforeTheFirstElement) {
  ExpectRefused(CenterCrop{}, DType::kUInt8, {3, 8, 8}, "give size, or height and width");
  ExpectRefused(CenterCrop{.size = 4, .fill = 256}, DType::kUInt8, {3, 8, 8},
                "fill is 256, which uint8");
  ExpectRefused(CenterCrop{.size = 4, .field = "picture"}, DType::kUInt8, {3, 8, 8}, "picture");
}

}  // namespace stoker::center_crop_test
