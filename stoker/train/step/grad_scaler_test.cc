#include "stoker/train/step/grad_scaler.h"

#include <torch/utils.h>

#include <limits>

#include "stoker/base/testing.h"

namespace stoker::grad_scaler_test {

using Verdict = GradScaler::Verdict;

// A parameter whose gradient is this times the scale.
std::vector<at::Tensor> WithGradient(const GradScaler& scaler, double gradient) {
  at::Tensor parameter = torch::zeros({3}, torch::requires_grad());
  parameter.mutable_grad() = torch::full({3}, gradient) * scaler.scale();
  return {parameter};
}

TEST(GradScaler, GrowsAndBacksOffByTheGoldenValues) {
  GradScaler scaler(at::kCPU, {.growth_interval = 3});
  std::vector<double> scales;
  for (int step = 1; step <= 8; ++step) {
    const double gradient = step == 4 ? std::numeric_limits<double>::infinity() : 1;
    scaler.Unscale(WithGradient(scaler, gradient));
    EXPECT_EQ(scaler.finite(), step != 4) << step;
    EXPECT_EQ(scaler.Update(scaler.finite()), step != 4 ? Verdict::kMove : Verdict::kSkip) << step;
    scales.push_back(scaler.scale());
  }
  EXPECT_EQ(scales,
            (std::vector<double>{65536, 65536, 131072, 65536, 65536, 65536, 131072, 131072}));
  EXPECT_EQ(scaler.skipped(), 1);
}

TEST(GradScaler, GivesTheGradientsBackAsTheyWere) {
  GradScaler scaler(at::kCPU);
  const std::vector<at::Tensor> parameters = WithGradient(scaler, .1);
  scaler.Unscale(parameters);
  EXPECT_TRUE(torch::equal(parameters[0].grad(), torch::full({3}, .1)));
}

TEST(GradScaler, NeverGrowsToInfinity) {
  GradScaler scaler(at::kCPU, {.start = 3e38, .growth_interval = 1});
  scaler.Unscale({torch::zeros({1})});
  EXPECT_EQ(scaler.Update(scaler.finite()), Verdict::kMove);
  EXPECT_FLOAT_EQ(static_cast<float>(scaler.scale()), 3e38f);
}

// One that is not finite may be an accident, also at the floor: two in a row are none.
TEST(GradScaler, GivesUpAtTheSecondInARowAtTheFloor) {
  GradScaler scaler(at::kCPU, {.start = 4, .floor = 1});
  const auto verdict_on = [&](double gradient) {
    scaler.Unscale(WithGradient(scaler, gradient));
    return scaler.Update(scaler.finite());
  };
  std::vector<Verdict> verdicts;
  const double nan = NAN;
  for (const double gradient : {nan, nan, 1., nan, nan, 1.}) {
    verdicts.push_back(verdict_on(gradient));
  }
  using enum Verdict;
  EXPECT_EQ(verdicts, (std::vector{kSkip, kSkip, kMove, kSkip, kHopeless, kMove}));
  EXPECT_EQ(scaler.scale(), 1);
  EXPECT_EQ(scaler.skipped(), 3);
}

TEST(GradScaler, GoesOnFromItsState) {
  GradScaler scaler(at::kCPU, {.growth_interval = 3}), other(at::kCPU, {.growth_interval = 3});
  for (int step = 0; step < 2; ++step) {
    scaler.Unscale(WithGradient(scaler, 1));
    scaler.Update(scaler.finite());
  }
  const NamedTensors from = scaler.State(), to = other.State();
  for (size_t i = 0; i < from.size(); ++i) at::Tensor(to[i].tensor).copy_(from[i].tensor);
  other.Unscale(WithGradient(other, 1));
  other.Update(other.finite());
  EXPECT_EQ(other.scale(), 131072);
}

}  // namespace stoker::grad_scaler_test
