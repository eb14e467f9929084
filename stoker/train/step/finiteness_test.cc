#include "stoker/train/step/finiteness.h"

#include <torch/utils.h>

#include <cmath>
#include <limits>

#include "stoker/base/testing.h"

namespace stoker::finiteness_test {

const double kBroken[] = {NAN, -NAN, INFINITY, -INFINITY};

// Long enough for vectors and several threads, and with a tail.
at::Tensor Values(double at_place, int64_t place) {
  at::Tensor values = torch::randn({100'003});
  values[place] = at_place;
  return values;
}

TEST(Finiteness, NamesTheFirstTensorThatIsBrokenWhereverTheValueStands) {
  for (const double broken : kBroken) {
    for (const int64_t place : {0, 7, 50'000, 100'002}) {
      EXPECT_EQ(FirstNotFinite({{"sound", Values(1, 0)},
                                {"none", torch::zeros({0})},
                                {"count", torch::full({}, 3, torch::kLong)},
                                {"half", Values(2, 1).to(torch::kBFloat16)},
                                {"broken", Values(broken, place)},
                                {"too", Values(broken, place)}}),
                "broken")
          << broken << " at " << place;
    }
  }
  EXPECT_EQ(FirstNotFinite({{"large", Values(std::numeric_limits<float>::max(), 3)}}), "");
  EXPECT_EQ(FirstNotFinite({}), "");
}

TEST(Finiteness, SeesGradientsAndLeavesThemAsTheyWere) {
  const at::Tensor parameter = torch::zeros({100'003}, torch::requires_grad());
  const at::Tensor without = torch::zeros({3}, torch::requires_grad());
  const at::Tensor gradient = Values(std::numeric_limits<float>::denorm_min(), 5);
  parameter.mutable_grad() = gradient.clone();
  EXPECT_TRUE(GradientsAreFinite({without, parameter}));
  EXPECT_TRUE(torch::equal(parameter.grad(), gradient));
  for (const double broken : kBroken) {
    parameter.mutable_grad() = Values(broken, 100'002);
    EXPECT_FALSE(GradientsAreFinite({without, parameter}));
  }
  EXPECT_TRUE(GradientsAreFinite({without}));
}

}  // namespace stoker::finiteness_test
