// Evaluation: how good a model is on a dataset, without gradients.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/row_names.h"

namespace stoker {

class Dataset;
class DevicePrefetcher;
class Loss;
class Model;

// What an evaluation is measured by.
struct Measures {
  const Loss& loss;
  const std::vector<std::string>& metrics;  // names as MetricSet knows them
  RowNames rows = PlacesInBatch;            // what messages call samples
};

// Whether `batches` can be evaluated on: kInvalidArgument where it never ends or gives no batch.
Status CheckEvaluable(const Dataset& batches);

// Puts every batch of `batches` through the model, in evaluation mode, which is set back
// afterwards.
//   stop  may be null; once true, the call ends after the batch under way with kCancelled
// Errors: the pipeline's; no sample at all; those of Learner::Step; a metric that has no meaning
// for such targets.
Result<Evaluation> Evaluate(Model& model, const Measures& measures, DevicePrefetcher& batches,
                            const std::atomic<bool>* stop = nullptr);

}  // namespace stoker
