// Evaluation: how good a model is on a dataset, without gradients.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/train/row_names.h"

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

struct Evaluation {
  int64_t samples = 0;
  double loss = 0;  // mean
  // Share of samples that were taken for what they are, 0 to 1, or where they have several labels
  // share of all their labels; nothing where targets are numbers.
  std::optional<double> accuracy = {};
  double seconds = 0;
  Json metrics = nullptr;  // of MetricSet, by name; null where none was asked for

  Json ToJson() const;  // without accuracy where there is none
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
