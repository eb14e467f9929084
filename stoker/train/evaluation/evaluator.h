// Evaluates a model on a dataset, without gradients.
#pragma once

#include <atomic>

#include "stoker/base/status.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/row_names.h"

namespace stoker {

class Dataset;
class DevicePrefetcher;
class Model;
class Objective;

// The measures of an evaluation.
struct Measures {
  const Objective& objective;     // with the metrics
  RowNames rows = PlacesInBatch;  // names of samples in messages
};

// Checks that `batches` can be evaluated on: kInvalidArgument if it is endless or has no batch.
Status CheckEvaluable(const Dataset& batches);

// Runs every batch of `batches` through the model, in evaluation mode, and restores its mode. Where
// the objective has several targets, the loss is the weighted sum of theirs, there is no accuracy,
// and the metrics are those of each by FigureOfTarget, its loss and its accuracy among them.
//   stop  may be null; once true, the call ends after the current batch with kCancelled
// Errors: the pipeline's; no sample at all; those of Learner::Step; a metric that is undefined for
// such targets.
Result<Evaluation> Evaluate(Model& model, const Measures& measures, DevicePrefetcher& batches,
                            const std::atomic<bool>* stop = nullptr);

}  // namespace stoker
