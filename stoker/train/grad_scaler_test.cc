#include "stoker/train/grad_scaler.h"

#include <torch/utils.h>

#include <limits>

#include "stoker/base/testing.h"

namespace stoker {
namespace {

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
    STOKER_ASSERT_OK_AND_ASSIGN(const bool finite, scaler.Update());
    EXPECT_EQ(finite, step != 4) << step;
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
  STOKER_ASSERT_OK(scaler.Update());
  EXPECT_FLOAT_EQ(static_cast<float>(scaler.scale()), 3e38f);
}

TEST(GradScaler, SaysWhenNoScaleHelps) {
  GradScaler scaler(at::kCPU, {.start = 1.5e-6});
  scaler.Unscale(WithGradient(scaler, NAN));
  EXPECT_THAT(scaler.Update(), FailsWith(StatusCode::kFailedPrecondition, "precision bf16"));
}

TEST(GradScaler, GoesOnFromItsState) {
  GradScaler scaler(at::kCPU, {.growth_interval = 3}), other(at::kCPU, {.growth_interval = 3});
  for (int step = 0; step < 2; ++step) {
    scaler.Unscale(WithGradient(scaler, 1));
    STOKER_ASSERT_OK(scaler.Update());
  }
  const NamedTensors from = scaler.State(), to = other.State();
  for (size_t i = 0; i < from.size(); ++i) at::Tensor(to[i].tensor).copy_(from[i].tensor);
  other.Unscale(WithGradient(other, 1));
  STOKER_ASSERT_OK(other.Update());
  EXPECT_EQ(other.scale(), 131072);
}

}  // namespace
}  // namespace stoker
