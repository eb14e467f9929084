#include "stoker/train/loop/tensorboard_tensors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "stoker/base/testing.h"
#include "stoker/train/models/mlp.h"

namespace stoker::tensorboard_tensors_test {

using testing::HasSubstr;
using testing::Not;

TEST(TensorboardTensors, ShowPicturesInRowsOfEightWithGapsBetween) {
  Summary summary;
  STOKER_ASSERT_OK(AddPictures(
      "batch/input", at::arange(10 * 3 * 4 * 5, at::kFloat).view({10, 3, 4, 5}), summary));
  const std::string event = summary.Event(1, 0);
  EXPECT_THAT(event, HasSubstr("batch/input"));
  // height 2 * 4 + 2, width 8 * 5 + 7 * 2, channels 3
  EXPECT_THAT(event, HasSubstr("\x08\x0a\x10\x36\x18\x03"));
  EXPECT_THAT(event, HasSubstr("PNG"));
}

TEST(TensorboardTensors, ShowPicturesWhoseValuesAreNotFinite) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, 3.F}) {
    Summary summary;
    STOKER_ASSERT_OK(AddPictures("batch/input", at::full({1, 1, 2, 2}, value), summary));
    EXPECT_THAT(summary.Event(1, 0), HasSubstr("batch/input"));
  }
}

TEST(TensorboardTensors, ShowNothingOfWhatIsNoPicture) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{4, 3}, {4, 2, 8, 8}, {4, 1, 1, 1}, {0, 1, 8, 8}}) {
    Summary summary;
    STOKER_ASSERT_OK(AddPictures("batch/input", at::zeros(shape), summary));
    EXPECT_TRUE(summary.empty());
  }
}

TEST(TensorboardTensors, ShowAConfusionMatrixAndNothingOfWhatIsNone) {
  Summary summary;
  STOKER_ASSERT_OK(AddConfusion("eval/confusion", {{3, 1, 0}, {0, 0, 0}, {1, 1, 2}}, summary));
  const std::string event = summary.Event(1, 0);
  EXPECT_THAT(event, HasSubstr("eval/confusion"));
  // 255 pixels (0xff 0x01) a side, one channel
  EXPECT_THAT(event, HasSubstr("\x08\xff\x01\x10\xff\x01\x18\x01"));
  for (const Json& none :
       {Json(), Json::array(), Json{1, 2}, Json{{1, 2}}, Json{{1, "2"}, {3, 4}}}) {
    Summary empty;
    STOKER_ASSERT_OK(AddConfusion("eval/confusion", none, empty));
    EXPECT_TRUE(empty.empty()) << none;
  }
}

TEST(TensorboardTensors, HaveAHistogramOfEachParameterAndOfTheGradientsThatThereAre) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto model,
                              (Mlp{.classes = 3, .hidden = {4}}.Build({.channels = 5})));
  Summary before;
  STOKER_ASSERT_OK(AddHistograms(*model, 1, before));
  EXPECT_THAT(before.Event(1, 0), HasSubstr("weights/"));
  EXPECT_THAT(before.Event(1, 0), Not(HasSubstr("gradients/")));
  model->Forward(at::zeros({2, 5, 1, 1})).sum().backward();
  Summary after, halved;
  STOKER_ASSERT_OK(AddHistograms(*model, 1, after));
  EXPECT_THAT(after.Event(1, 0), HasSubstr("gradients/"));
  STOKER_ASSERT_OK(AddHistograms(*model, 2, halved));
  EXPECT_NE(halved.Event(1, 0), after.Event(1, 0));
}

}  // namespace stoker::tensorboard_tensors_test
