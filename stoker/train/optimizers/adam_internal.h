// The implementation of `adam` and `adamw`.
#pragma once

#include <memory>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/base/status.h"
#include "stoker/run/optimizer.h"

namespace stoker {

struct AdamSettings {
  std::vector<double> betas;
  double eps = 0;
  double weight_decay = 0;
  bool decoupled = false;  // the decay is not a part of the gradient: AdamW
  bool lazy = false;       // rows of embeddings that a step does not use stay as they are
};

// Errors: not two betas; the message names the optimizer `name`.
Result<std::unique_ptr<Optimizer>> BuildAdam(std::string_view name, const AdamSettings& settings,
                                             const TrainedParameters& parameters);

// Adds the options `betas` and `eps`.
template <typename T, typename Table>
Table& DescribeAdam(Table& table) {
  return table
      .Field("betas", &T::betas,
             "decay of the running means of the gradient and of its square, each a step",
             OptionRange{.low = 0, .high = 0.999999})
      .Field("eps", &T::eps, "added to the square root, against division by zero", MoreThan(0));
}

// Adds the option `lazy`.
template <typename T, typename Table>
Table& DescribeLazy(Table& table) {
  return table.Field("lazy", &T::lazy,
                     "rows of embeddings that a step does not use stay as they are, and cost no "
                     "time");
}

// Checks that an optimizer's `betas` are two. Errors: kInvalidArgument.
Status CheckBetas(std::string_view name, const std::vector<double>& betas);

}  // namespace stoker
