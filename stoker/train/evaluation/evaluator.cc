#include "stoker/train/evaluation/evaluator.h"

#include <c10/core/InferenceMode.h>

#include <optional>

#include "stoker/base/clock.h"
#include "stoker/base/trace.h"
#include "stoker/data/advice/no_batch.h"
#include "stoker/data/core/dataset.h"
#include "stoker/device/device_prefetcher.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/evaluation/measured_sums_internal.h"

namespace stoker {
namespace {

Result<std::optional<TensorBatch>> Next(DevicePrefetcher& batches) {
  const TraceSpan span("wait for data");
  return batches.Next();
}

Status AddBatch(Model& model, const TensorBatch& batch, const Measures& measures,
                MeasuredSums& sums) {
  const TraceSpan span("evaluate a batch");
  at::Tensor scores;
  const Status status = CatchTorchErrors([&] {
    // Scores of 16 bits would make the loss coarse.
    scores = model.ForwardAll(batch.input).to(at::kFloat);
    return sums.Add(scores, batch.target);
  });
  if (status.ok() || !scores.defined()) return status;
  STOKER_RETURN_IF_ERROR(CheckTargets(measures.objective, batch, scores.size(1), measures.rows));
  return status;
}

}  // namespace

Status CheckEvaluable(const Dataset& batches) {
  if (batches.cardinality().infinite()) {
    return InvalidArgument(
        "data.eval never ends, so it cannot be evaluated on; take `repeat` out of it");
  }
  if (batches.cardinality() == Cardinality::Of(0)) return NoBatch(batches, "data.eval");
  return OkStatus();
}

Result<Evaluation> Evaluate(Model& model, const Measures& measures, DevicePrefetcher& batches,
                            const std::atomic<bool>* stop) {
  const c10::InferenceMode no_gradients;
  const EvaluationMode evaluation_mode(model);
  const Stopwatch watch;
  MeasuredSums sums(measures);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, Next(batches));
    if (!batch) break;
    STOKER_RETURN_IF_ERROR(AddBatch(model, *batch, measures, sums).While("evaluating"));
    if (stop != nullptr && *stop) return Cancelled("evaluation was stopped");
  }
  if (sums.samples() == 0) return NoBatch("data.eval");
  Evaluation evaluation;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&]() -> Status {
    STOKER_ASSIGN_OR_RETURN(evaluation, sums.Read());
    return OkStatus();
  }));
  evaluation.seconds = watch.ElapsedSeconds();
  return evaluation;
}

}  // namespace stoker
