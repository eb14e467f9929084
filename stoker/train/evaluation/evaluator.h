// Evaluates a model on a dataset, without gradients.
#pragma once

#include <atomic>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/registry.h"
#include "stoker/run/row_names.h"

namespace stoker {

class Dataset;
class DevicePrefetcher;
class Loss;
class Model;

// The measures of an evaluation.
struct Measures {
  const Loss& loss;
  const std::vector<MetricRegistry::Configured>& metrics;
  RowNames rows = PlacesInBatch;  // names of samples in messages
};

// Checks that `batches` can be evaluated on: kInvalidArgument if it is endless or has no batch.
Status CheckEvaluable(const Dataset& batches);

// Runs every batch of `batches` through the model, in evaluation mode, and restores its mode.
//   stop  may be null; once true, the call ends after the current batch with kCancelled
// Errors: the pipeline's; no sample at all; those of Learner::Step; a metric that is undefined for
// such targets.
Result<Evaluation> Evaluate(Model& model, const Measures& measures, DevicePrefetcher& batches,
                            const std::atomic<bool>* stop = nullptr);

}  // namespace stoker
