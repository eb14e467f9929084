#include "stoker/run/sample_noun.h"

#include "stoker/base/testing.h"

namespace stoker::sample_noun_test {

TEST(NounOf, IsAnImageWhereASampleHasAPlaneAndASampleOtherwise) {
  const ModelInput image{.channels = 3, .height = 8, .width = 8};
  EXPECT_EQ(NounOf(image), "image");
  EXPECT_EQ(NounOf({.parts = {image, image}}), "sample");
  EXPECT_EQ(NounOf({.channels = 1, .height = 1, .width = 28}), "image");
  EXPECT_EQ(NounOf({.channels = 1, .height = 28, .width = 1}), "image");
  EXPECT_EQ(NounOf({.channels = 17, .steps = true}), "sequence");
  EXPECT_EQ(NounOf({.channels = 17}), "sample");  // a row of numbers
  EXPECT_EQ(NounOf({.channels = 1}), "sample");   // one number
  EXPECT_EQ(NounOf({.channels = 0}), "sample");   // not known yet
}

}  // namespace stoker::sample_noun_test
