#include "stoker/data/pictures/picture_plan.h"

#include "stoker/base/testing.h"

namespace stoker::picture_plan_test {

TEST(PicturePlan, AddsUpCropsResizesAndMirrorings) {
  PicturePlan plan(100, 200);
  EXPECT_TRUE(plan.Crop({.y = 10, .x = 20, .height = 80, .width = 90}));
  EXPECT_TRUE(plan.Resize({.y = 1, .x = 2, .height = 60, .width = 70}, ResampleFilter::kBilinear,
                          {.height = 30, .width = 40}));
  EXPECT_TRUE(plan.Mirror());
  EXPECT_TRUE(plan.Crop({.y = 3, .x = 4, .height = 10, .width = 12}));
  EXPECT_EQ(plan.region().y, 11);
  EXPECT_EQ(plan.region().x, 22);
  EXPECT_EQ(plan.region().height, 60);
  EXPECT_EQ(plan.region().width, 70);
  EXPECT_EQ(plan.window().y, 3);
  EXPECT_EQ(plan.window().x, 40 - 4 - 12);
  EXPECT_EQ(plan.height(), 10);
  EXPECT_EQ(plan.width(), 12);
  EXPECT_TRUE(plan.mirrored());
  EXPECT_EQ(plan.resized()->y, 1);
  EXPECT_EQ(plan.resized()->x, 2);
}

TEST(PicturePlan, CutsOfAPictureUpsideDownCountFromItsOtherEnd) {
  PicturePlan plan(100, 200);
  EXPECT_TRUE(plan.TurnUpside());
  EXPECT_TRUE(plan.Crop({.y = 10, .x = 20, .height = 30, .width = 40}));
  EXPECT_EQ(plan.region().y, 60);
  EXPECT_EQ(plan.region().x, 20);
  EXPECT_TRUE(plan.upside_down());
}

TEST(PicturePlan, MirrorsBeforeAResizeWhatWasMirroredBefore) {
  PicturePlan plan(100, 200);
  EXPECT_TRUE(plan.Mirror());
  EXPECT_TRUE(plan.Resize({.y = 5, .x = 30, .height = 50, .width = 100}, ResampleFilter::kBilinear,
                          {10, 20}));
  EXPECT_EQ(plan.region().x, 200 - 30 - 100);
  EXPECT_EQ(plan.resized()->x, 30);
  EXPECT_TRUE(plan.resized()->mirrored);
  EXPECT_FALSE(plan.resized()->upside_down);
  EXPECT_FALSE(plan.mirrored());
}

TEST(PicturePlan, OfAPictureWithABorderOnlyWhatShowsIsDecoded) {
  PicturePlan plan(100, 200);
  EXPECT_TRUE(plan.Mirror());
  EXPECT_TRUE(plan.CropOrPad({.y = -10, .x = 150, .height = 60, .width = 70}, {.fill = 9}));
  EXPECT_EQ(plan.region().y, 0);
  EXPECT_EQ(plan.region().height, 50);
  EXPECT_EQ(plan.region().x, 0);  // of columns 150 to 199, mirrored
  EXPECT_EQ(plan.region().width, 50);
  ASSERT_TRUE(plan.framed());
  EXPECT_EQ(plan.framed()->window.y, -10);
  EXPECT_EQ(plan.framed()->window.x, -20);
  EXPECT_EQ(plan.framed()->border.fill, 9);
  EXPECT_EQ(plan.height(), 60);
  EXPECT_EQ(plan.width(), 70);
  EXPECT_TRUE(plan.Crop({.y = 10, .x = 0, .height = 50, .width = 50}));
  EXPECT_EQ(plan.framed()->window.y, 0);
  EXPECT_EQ(plan.framed()->window.x, 0);
}

TEST(PicturePlan, RefusesWhatOnePassCannotDoAndStaysAsItWas) {
  PicturePlan plan(100, 200);
  EXPECT_FALSE(plan.Crop({.y = -1, .x = 0, .height = 10, .width = 10}));
  EXPECT_FALSE(plan.Crop({.y = 95, .x = 0, .height = 10, .width = 10}));
  EXPECT_FALSE(plan.CropOrPad({.y = 100, .x = 0, .height = 10, .width = 10}, {}));  // only border
  EXPECT_FALSE(plan.framed());
  EXPECT_EQ(plan.height(), 100);
  EXPECT_EQ(plan.region().width, 200);
  EXPECT_TRUE(plan.CropOrPad({.y = -1, .x = 0, .height = 100, .width = 200}, {}));
  EXPECT_FALSE(plan.CropOrPad({.y = -1, .x = 0, .height = 100, .width = 200}, {}));  // a second one
  EXPECT_FALSE(plan.Resize({.height = 100, .width = 200}, ResampleFilter::kBilinear, {10, 10}));
  EXPECT_EQ(plan.height(), 100);
  EXPECT_EQ(plan.region().height, 99);
  EXPECT_FALSE(plan.resized());
}

}  // namespace stoker::picture_plan_test
