#include "stoker/train/evaluator.h"

#include <c10/core/InferenceMode.h>

#include "stoker/base/clock.h"
#include "stoker/data/dataset.h"
#include "stoker/device/feeder.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/losses.h"
#include "stoker/train/metrics.h"
#include "stoker/train/model.h"

namespace stoker {
namespace {

// Sums over batches, on the device until they are read.
struct Sums {
  int64_t samples = 0;
  at::Tensor loss;
  at::Tensor correct;

  void Add(const at::Tensor& scores, const at::Tensor& target) {
    const at::Tensor batch_loss = CrossEntropy(scores, target).to(at::kDouble) * target.size(0);
    const at::Tensor batch_correct = CountCorrect(scores, target);
    loss = loss.defined() ? loss + batch_loss : batch_loss;
    correct = correct.defined() ? correct + batch_correct : batch_correct;
    samples += target.size(0);
  }
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

Status AddBatch(Model& model, const TensorBatch& batch, Sums& sums) {
  at::Tensor scores;
  const Status status = CatchTorchErrors([&] {
    // Scores of 16 bits would make the loss coarse.
    scores = model.Forward(batch.input).to(at::kFloat);
    sums.Add(scores, batch.target);
  });
  if (status.ok() || !scores.defined()) return status;
  STOKER_RETURN_IF_ERROR(CheckTarget(batch.target, scores.size(1)));
  return status;
}

}  // namespace

Json Evaluation::ToJson() const {
  return {{"samples", samples}, {"loss", loss}, {"accuracy", accuracy}, {"seconds", seconds}};
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

Result<Evaluation> Evaluate(Model& model, Feeder& feeder, const std::atomic<bool>* stop) {
  const c10::InferenceMode no_gradients;
  const EvaluationMode evaluation_mode(model);
  const Stopwatch watch;
  Sums sums;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, feeder.Next());
    if (!batch) break;
    STOKER_RETURN_IF_ERROR(AddBatch(model, *batch, sums).While("evaluating"));
    if (stop != nullptr && *stop) return Cancelled("evaluation was stopped");
  }
  if (sums.samples == 0) {
    return InvalidArgument("the eval pipeline gives no batch; check its source and its `batch`");
  }
  const auto samples = static_cast<double>(sums.samples);
  return Evaluation{.samples = sums.samples,
                    .loss = sums.loss.item<double>() / samples,
                    .accuracy = static_cast<double>(sums.correct.item<int64_t>()) / samples,
                    .seconds = watch.ElapsedSeconds()};
}

}  // namespace stoker
