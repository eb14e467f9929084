#include "stoker/train/predict/batch_predictions_internal.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

// Row `sample` of float32 [samples, n]; nothing of an array that is not there.
std::vector<float> RowOf(const std::optional<Array>& rows, int64_t sample) {
  if (!rows) return {};
  const Array row = rows->Row(sample);
  const std::span<float> values = row.values<float>();
  return {values.begin(), values.end()};
}

// What a model says of a batch, in CPU memory.
struct Outputs {
  Array scores, best;
  std::optional<Array> probabilities;
  bool labels = false;

  std::vector<Prediction> ToPredictions() const {
    std::vector<Prediction> predictions;
    for (int64_t i = 0; i < best.num_values(); ++i) {
      predictions.push_back({.scores = RowOf(scores, i),
                             .probabilities = RowOf(probabilities, i),
                             .best = best.values<int64_t>()[static_cast<size_t>(i)],
                             .labels = labels});
    }
    return predictions;
  }
};

// What targets of the form that weights were trained by (weights_file.h) mean to the loss. Weights
// of elsewhere do not say; then they are class numbers, as most are.
Result<TargetKind> KindOfWeights(const Loss& loss, const std::string& form, int64_t outputs) {
  if (form == "numbers") {
    return loss.KindOf(
        {.name = "target", .dtype = DType::kFloat32, .shape = {-1, loss.NumbersFor(outputs)}},
        outputs);
  }
  return loss.KindOf({.name = "target", .dtype = DType::kInt64, .shape = {-1}}, outputs);
}

}  // namespace

Result<std::vector<Prediction>> PredictBatch(Model& model, const Loss& loss,
                                             const std::string& form, const Inputs& inputs) {
  at::Tensor scores, best, probabilities;
  Outputs outputs;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&]() -> Status {
    scores = model.ForwardAll(inputs).to(at::kFloat);
    STOKER_ASSIGN_OR_RETURN(const TargetKind kind, KindOfWeights(loss, form, scores.size(1)));
    best = loss.Predict(scores);
    probabilities = loss.Probabilities(scores, kind);
    if (kind == TargetKind::kNumbers) scores = loss.InUnitsOfTarget(scores);
    outputs.labels = kind == TargetKind::kLabels && scores.size(1) > 1;
    return OkStatus();
  }));
  STOKER_ASSIGN_OR_RETURN(outputs.scores, ToArray(scores));
  STOKER_ASSIGN_OR_RETURN(outputs.best, ToArray(best));
  if (probabilities.defined()) {
    STOKER_ASSIGN_OR_RETURN(outputs.probabilities, ToArray(probabilities));
  }
  return outputs.ToPredictions();
}

}  // namespace stoker
