#include "stoker/train/optimizers/adamw.h"

#include "stoker/train/optimizers/adam_internal.h"

namespace stoker {

void Adamw::Describe(OptionTable<Adamw>& table) {
  DescribeAdam<Adamw>(table).Field("weight_decay", &Adamw::weight_decay,
                                   "share of each weight taken away a step, times the learning "
                                   "rate",
                                   AtLeast(0));
  DescribeLazy<Adamw>(table);
}

Result<std::unique_ptr<Optimizer>> Adamw::Build(const TrainedParameters& parameters) const {
  return BuildAdam(
      kName,
      {.betas = betas, .eps = eps, .weight_decay = weight_decay, .decoupled = true, .lazy = lazy},
      parameters);
}

}  // namespace stoker
