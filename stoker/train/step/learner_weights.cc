#include "stoker/train/step/learner_weights.h"

#include "stoker/train/core/named_tensor.h"

namespace stoker {

Status WriteWeightsOf(Learner& learner, const std::string& path, Weights origin) {
  const WeightAverage::Use average = learner.UseAverage();
  STOKER_ASSIGN_OR_RETURN(origin.arrays, ToNamedArrays(StateOf(learner.model())));
  return WriteWeights(path, origin);
}

}  // namespace stoker
