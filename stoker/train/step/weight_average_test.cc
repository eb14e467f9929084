#include "stoker/train/step/weight_average.h"

#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/run/registry.h"
#include "stoker/train/models/convnet.h"

namespace stoker::weight_average_test {

std::shared_ptr<Model> SmallModel() {
  return *Convnet{.classes = 2, .channels = {2}}.Build({.channels = 1, .height = 4, .width = 4});
}

// Every weight and every running mean becomes `value`.
void Fill(const Model& model, double value) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& weight : StateOf(model)) weight.tensor.fill_(value);
}

double FirstOf(const NamedTensors& tensors) {
  return tensors[0].tensor.flatten()[0].item<double>();
}

// The average after weights 1, 2, ... at steps 1, 2, ...
double AverageAfter(const AverageOptions& options, const SchedulePlan& plan, int64_t steps) {
  const auto model = SmallModel();
  WeightAverage average(options, plan, *model);
  for (int64_t step = 1; step <= steps; ++step) {
    Fill(*model, static_cast<double>(step));
    average.Observe(step);
  }
  return FirstOf(average.Averages());
}

TEST(EmaDecay, GivesTheGoldenValues) {
  EXPECT_EQ(EmaDecay({}, 1), 0);
  EXPECT_NEAR(EmaDecay({}, 2), .370039, 1e-6);
  EXPECT_NEAR(EmaDecay({}, 11), .797820, 1e-6);
  EXPECT_NEAR(EmaDecay({}, 1001), .990007, 1e-6);
  EXPECT_EQ(EmaDecay({.decay = .9}, 1001), .9);
}

TEST(WeightAverage, OfEmaFollowsItsFormula) {
  const SchedulePlan plan{.total_steps = 100, .steps_per_epoch = 10};
  double expected = 0;
  for (int64_t n = 1; n <= 20; ++n) {
    const double d = EmaDecay({}, n);
    expected = d * expected + (1 - d) * static_cast<double>(n);
  }
  EXPECT_NEAR(AverageAfter({.kind = "ema"}, plan, 20), expected, 1e-4);
}

TEST(WeightAverage, OfSwaIsThePlainMeanAtEpochsEndsOfTheLastQuarter) {
  const SchedulePlan plan{.total_steps = 40, .steps_per_epoch = 5};
  EXPECT_NEAR(AverageAfter({.kind = "swa"}, plan, 40), (35 + 40) / 2.0, 1e-5);
  EXPECT_NEAR(AverageAfter({.kind = "swa", .start = 0, .every = 10}, plan, 40), 25, 1e-5);
}

TEST(WeightAverage, IsInTheModelWhileItIsUsedAndNotBeforeItsFirstUpdate) {
  const auto model = SmallModel();
  WeightAverage average({.kind = "swa", .start = 0, .every = 2},
                        {.total_steps = 9, .steps_per_epoch = 9}, *model);
  Fill(*model, 3);
  average.Observe(1);
  {
    const WeightAverage::Use nothing_yet = average.UseInModel();
    EXPECT_EQ(FirstOf(StateOf(*model)), 3);
  }
  average.Observe(2);
  Fill(*model, 5);
  const at::Tensor held = ParametersOf(*model)[0].tensor;  // as an optimizer holds it
  {
    const WeightAverage::Use use = average.UseInModel();
    EXPECT_EQ(FirstOf(StateOf(*model)), 3);
    const at::Tensor x = torch::ones({1, 1, 4, 4});
    EXPECT_EQ(model->Forward(x).sizes(), (std::vector<int64_t>{1, 2}));
  }
  EXPECT_EQ(FirstOf(StateOf(*model)), 5);
  EXPECT_EQ(held.flatten()[0].item<double>(), 5);
  Fill(*model, 6);
  EXPECT_EQ(held.flatten()[0].item<double>(), 6);
}

TEST(WeightAverage, AveragesRunningMomentsAndCopiesCounts) {
  const auto model = SmallModel();
  WeightAverage average({.kind = "swa", .start = 0, .every = 1},
                        {.total_steps = 9, .steps_per_epoch = 9}, *model);
  for (int64_t step = 1; step <= 2; ++step) {
    Fill(*model, static_cast<double>(step * 2));
    average.Observe(step);
  }
  for (const NamedTensor& each : average.Averages()) {
    const double expected = each.tensor.is_floating_point() ? 3 : 4;
    EXPECT_EQ(each.tensor.flatten()[0].item<double>(), expected) << each.name;
  }
}

TEST(WeightAverage, IsNotKeptWhereNoneIsWanted) {
  const auto model = SmallModel();
  EXPECT_FALSE(WeightAverage({}, {.total_steps = 9, .steps_per_epoch = 9}, *model).kept());
  EXPECT_FALSE(WeightAverage({.kind = "ema"}, {}, *model).kept());
}

}  // namespace stoker::weight_average_test
