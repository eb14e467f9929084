#include "stoker/train/optimizers/adam.h"

#include "stoker/train/optimizers/adam_internal.h"

namespace stoker {

void Adam::Describe(OptionTable<Adam>& table) {
  DescribeAdam<Adam>(table).Field("weight_decay", &Adam::weight_decay,
                                  "times the weight, added to the gradient", AtLeast(0));
  DescribeLazy<Adam>(table);
}

Result<std::unique_ptr<Optimizer>> Adam::Build(const TrainedParameters& parameters) const {
  return BuildAdam(kName, {.betas = betas, .eps = eps, .weight_decay = weight_decay, .lazy = lazy},
                   parameters);
}

}  // namespace stoker
