#include "stoker/train/step/learner_weights.h"

#include <utility>
#include <vector>

#include "stoker/run/weights_file.h"
#include "stoker/train/core/named_tensor.h"
#include "stoker/train/core/parameters.h"

namespace stoker {

Status WriteWeightsOf(Learner& learner, const std::string& path, std::string sample,
                      std::string target) {
  const WeightAverage::Use average = learner.UseAverage();
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> arrays, ToNamedArrays(StateOf(learner.model())));
  return WriteWeights(
      path,
      {.arrays = std::move(arrays), .sample = std::move(sample), .target = std::move(target)});
}

}  // namespace stoker
