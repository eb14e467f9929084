#include "stoker/image/jpeg_baseline/geometry.h"

#include "stoker/base/testing.h"

namespace stoker::jpeg_baseline::geometry_test {

// A picture in colour of 50 x 34 pixels.
Frame FrameOf(int across, int down) {
  Frame frame{.width = 50, .height = 34, .num_components = 3};
  frame.components[0] = {.across = across, .down = down};
  return frame;
}

TEST(Geometry, AtFullSizeBlocksAre8x8AndSamplesAreRoundedUp) {
  const Geometry g = GeometryOf(FrameOf(2, 1), 1);
  EXPECT_EQ(g.width, 50);
  EXPECT_EQ(g.height, 34);
  EXPECT_EQ(g.mcu_width, 16);
  EXPECT_EQ(g.mcu_height, 8);
  EXPECT_EQ(g.planes[0].width, 50);
  EXPECT_EQ(g.planes[1].block_size, 8);
  EXPECT_EQ(g.planes[1].mcu_width, 8);
  EXPECT_EQ(g.planes[1].width, 25);
  EXPECT_EQ(g.planes[1].height, 34);
}

TEST(Geometry, AScaleTakesFrom420WhatItsColoursLack) {
  const int luma[] = {4, 2, 1}, chroma[] = {8, 4, 2};
  for (int i = 0; i < 3; ++i) {
    const Geometry g = GeometryOf(FrameOf(2, 2), 2 << i);
    EXPECT_EQ(g.planes[0].block_size, luma[i]);
    EXPECT_EQ(g.planes[1].block_size, chroma[i]);
    EXPECT_EQ(g.planes[1].width, g.width);
    EXPECT_EQ(ExpansionOf(g, 1).across, 1);
    EXPECT_EQ(ExpansionOf(g, 1).down, 1);
  }
}

TEST(Geometry, AScaleLeavesOtherColoursAsManyTimesFewer) {
  const Geometry g = GeometryOf(FrameOf(2, 1), 4);  // 4:2:2
  EXPECT_EQ(g.width, 13);
  EXPECT_EQ(g.height, 9);
  EXPECT_EQ(g.planes[1].block_size, 2);
  EXPECT_EQ(g.planes[1].width, 7);
  EXPECT_EQ(ExpansionOf(g, 1).across, 2);
  EXPECT_TRUE(ExpansionOf(g, 1).fancy_across);
  EXPECT_FALSE(ExpansionOf(GeometryOf(FrameOf(2, 1), 8), 1).fancy_across);
  // 4:1:0: what is left over of a factor of 4 x 2 is one of 2 x 1.
  const Geometry wide = GeometryOf(FrameOf(4, 2), 2);
  EXPECT_EQ(wide.planes[2].block_size, 8);
  EXPECT_EQ(ExpansionOf(wide, 2).across, 2);
  EXPECT_EQ(ExpansionOf(wide, 2).down, 1);
}

}  // namespace stoker::jpeg_baseline::geometry_test
