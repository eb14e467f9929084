#include "stoker/train/evaluator.h"

#include <c10/core/InferenceMode.h>

#include "stoker/base/clock.h"
#include "stoker/data/dataset.h"
#include "stoker/device/device_prefetcher.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/loss.h"
#include "stoker/train/metrics.h"
#include "stoker/train/model.h"

namespace stoker {
namespace {

// Sums over batches, on the device until they are read.
struct Sums {
  explicit Sums(const Measures& measures) : loss_of(measures.loss), metrics(measures.metrics) {}

  void Add(const at::Tensor& scores, const at::Tensor& target) {
    const double batch_weight = loss_of.Weight(target);
    const at::Tensor batch_loss = loss_of.Mean(scores, target).to(at::kDouble) * batch_weight;
    const at::Tensor predicted = loss_of.Predict(scores);
    const at::Tensor batch_correct = CountCorrect(predicted, target);
    loss = loss.defined() ? loss + batch_loss : batch_loss;
    correct = correct.defined() ? correct + batch_correct : batch_correct;
    metrics.Add(scores, predicted, target);
    weight += batch_weight;
    samples += target.size(0);
  }

  const Loss& loss_of;
  MetricSet metrics;
  int64_t samples = 0;
  double weight = 0;
  at::Tensor loss;
  at::Tensor correct;
};

// The model in evaluation mode for a scope.
class EvaluationMode {
 public:
  explicit EvaluationMode(Model& model) : model_(model), was_training_(model.is_training()) {
    model_.eval();
  }
  ~EvaluationMode() { model_.train(was_training_); }

 private:
  Model& model_;
  const bool was_training_;
};

Status AddBatch(Model& model, const TensorBatch& batch, const RowNames& rows, Sums& sums) {
  at::Tensor scores;
  const Status status = CatchTorchErrors([&] {
    // Scores of 16 bits would make the loss coarse.
    scores = model.Forward(batch.input).to(at::kFloat);
    sums.Add(scores, batch.target);
  });
  if (status.ok() || !scores.defined()) return status;
  STOKER_RETURN_IF_ERROR(CheckTarget(batch, scores.size(1), rows));
  return status;
}

}  // namespace

Json Evaluation::ToJson() const {
  Json json = {{"samples", samples}, {"loss", loss}, {"accuracy", accuracy}, {"seconds", seconds}};
  if (!metrics.is_null()) json["metrics"] = metrics;
  return json;
}

Status CheckEvaluable(const Dataset& batches) {
  if (batches.cardinality().infinite()) {
    return InvalidArgument(
        "data.eval never ends, so it cannot be evaluated on; take `repeat` out of it");
  }
  if (batches.cardinality().known() && batches.cardinality().value() == 0) {
    return InvalidArgument(
        "data.eval gives no batch; with drop_remainder the batch must not be larger than the data");
  }
  return OkStatus();
}

Result<Evaluation> Evaluate(Model& model, const Measures& measures, DevicePrefetcher& batches,
                            const std::atomic<bool>* stop) {
  const c10::InferenceMode no_gradients;
  const EvaluationMode evaluation_mode(model);
  const Stopwatch watch;
  Sums sums(measures);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, batches.Next());
    if (!batch) break;
    STOKER_RETURN_IF_ERROR(AddBatch(model, *batch, measures.rows, sums).While("evaluating"));
    if (stop != nullptr && *stop) return Cancelled("evaluation was stopped");
  }
  if (sums.samples == 0) {
    return InvalidArgument("the eval pipeline gives no batch; check its source and its `batch`");
  }
  Evaluation evaluation{
      .samples = sums.samples,
      .loss = sums.loss.item<double>() / sums.weight,
      .accuracy = sums.correct.item<double>() / static_cast<double>(sums.samples)};
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { evaluation.metrics = sums.metrics.Values(); }));
  evaluation.seconds = watch.ElapsedSeconds();
  return evaluation;
}

}  // namespace stoker
