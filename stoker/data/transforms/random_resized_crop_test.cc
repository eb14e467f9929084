#include "stoker/data/transforms/random_resized_crop.h"

#include "stoker/data/testing/paired_transforms.h"
#include "stoker/data/transforms/image_draws_internal.h"
#include "stoker/image/store.h"

namespace stoker::random_resized_crop_test {

// Cut, then resized: the filter sees nothing outside the window.
TEST(RandomResizedCrop, ResizesTheWindowThatIsDrawn) {
  for (const char* interpolation : {"bilinear", "bicubic", "nearest"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(EmptyPairs()) |
                                    RandomResizedCrop{.size = 16, .interpolation = interpolation});
    STOKER_ASSERT_OK_AND_ASSIGN(const ResampleFilter filter, ParseResampleFilter(interpolation));
    TransformTester tester(dataset);
    for (int64_t index = 0; index < 20; ++index) {
      const Element pair = PairOf(index, 50, 60);
      Rng rng = tester.RngOf(pair.key);
      const CropWindow window = DrawResizedCrop(50, 60, {0.08, 1}, {3.0 / 4, 4.0 / 3}, rng);
      std::vector<uint8_t> cut(static_cast<size_t>(3 * window.height * window.width));
      const uint8_t fill = 0;
      CropImage(pair.arrays[0].data(), {3, 50, 60}, 1, window,
                reinterpret_cast<const std::byte*>(&fill),
                reinterpret_cast<std::byte*>(cut.data()));
      const PixelView view{cut.data(), window.height, window.width,
                           3,          window.width,  window.height * window.width};
      std::vector<uint8_t> want(3 * 16 * 16);
      ResampleScratch scratch;
      ResampleToSlot(
          view, ResampleBox::Whole(view), filter, {},
          PixelSlot::Of(DType::kUInt8, reinterpret_cast<std::byte*>(want.data()), 16, 16, 3, false),
          scratch);
      STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(pair));
      ASSERT_THAT(out.arrays[0].values<uint8_t>(), testing::ElementsAreArray(want)) << index;
    }
  }
}

TEST(RandomResizedCrop, MovesMasksWithImages) {
  ExpectMovesMasksWithImages(
      RandomResizedCrop{.height = 12, .width = 9, .interpolation = "nearest", .masks = {"mask"}});
}

TEST(RandomResizedCrop, GivesEveryImageTheSize) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyPairs()) | RandomResizedCrop{.size = 24});
  EXPECT_EQ(dataset.spec().fields[0].shape, (Shape{3, 24, 24}));
  TransformTester tester(dataset);
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 500}, {300, 2}, {24, 24}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(PairOf(3, height, width)));
    EXPECT_EQ(out.arrays[0].shape(), (Shape{3, 24, 24}));
  }
  EXPECT_THAT(tester.Apply(PairOf(3, 0, 5)),
              FailsWith(StatusCode::kInvalidArgument, "an image of 0 x 5 pixels has no window"));
}

TEST(RandomResizedCrop, RowsGiveTheBytesOfElements) {
  for (const DType dtype : {DType::kUInt8, DType::kFloat32})
    ExpectRowsAndElementsAgree(RandomResizedCrop{.size = 6}, dtype, {3, 15, 17});
}

TEST(RandomResizedCrop, IsRefusedBeforeTheFirstElement) {
  const Shape shape{3, 8, 8};
  ExpectRefused(RandomResizedCrop{}, DType::kUInt8, shape, "give size, or height and width");
  ExpectRefused(RandomResizedCrop{.size = 4, .scale = {0.5}}, DType::kUInt8, shape,
                "random_resized_crop: scale is [0.5]; give two numbers");
  ExpectRefused(RandomResizedCrop{.size = 4, .scale = {0.5, 0.2}}, DType::kUInt8, shape,
                "the smaller first");
  ExpectRefused(RandomResizedCrop{.size = 4, .scale = {0, 1}}, DType::kUInt8, shape, "scale");
  ExpectRefused(RandomResizedCrop{.size = 4, .ratio = {0, 1}}, DType::kUInt8, shape, "ratio");
  ExpectRefused(RandomResizedCrop{.size = 4}, DType::kInt64, shape,
                "bilinear takes uint8 or float32");
}

}  // namespace stoker::random_resized_crop_test
