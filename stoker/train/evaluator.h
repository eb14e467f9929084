// Evaluation: how good a model is on a dataset, without gradients.
#pragma once

#include <atomic>
#include <cstdint>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

class Dataset;
class Feeder;
class Model;

struct Evaluation {
  int64_t samples = 0;
  double loss = 0;      // mean cross-entropy
  double accuracy = 0;  // 0 to 1
  double seconds = 0;

  Json ToJson() const;
};

// Whether `batches` can be evaluated on: kInvalidArgument where it never ends or gives no batch.
Status CheckEvaluable(const Dataset& batches);

// Puts every batch of `feeder` through the model, in evaluation mode, which is set back afterwards.
//   stop  may be null; once true, the call ends after the batch under way with kCancelled
// Errors: the pipeline's; no sample at all; those of Learner::Step.
Result<Evaluation> Evaluate(Model& model, Feeder& feeder, const std::atomic<bool>* stop = nullptr);

}  // namespace stoker
