#include "stoker/train/predict/batch_predictions_internal.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
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

// What a model says of one target of a batch, in CPU memory.
struct Outputs {
  Array scores, best;
  std::optional<Array> probabilities;
  bool labels = false;

  Prediction Of(int64_t sample) const {
    return {.scores = RowOf(scores, sample),
            .probabilities = RowOf(probabilities, sample),
            .best = best.values<int64_t>()[static_cast<size_t>(sample)],
            .labels = labels};
  }
};

// What targets of the form that weights were trained by (weights_file.h) mean to the loss. Weights
// of elsewhere do not say; then they are class numbers, as most are.
Result<TargetKind> KindOfWeights(const Loss& loss, std::string_view form, int64_t outputs) {
  if (form == "numbers") {
    return loss.KindOf(
        {.name = "target", .dtype = DType::kFloat32, .shape = {-1, loss.NumbersFor(outputs)}},
        outputs);
  }
  return loss.KindOf({.name = "target", .dtype = DType::kInt64, .shape = {-1}}, outputs);
}

// The form of each target (FormOf); of weights of elsewhere nothing.
std::vector<std::string> FormsOf(const std::string& form, size_t targets) {
  std::vector<std::string> forms;
  for (size_t begin = 0; begin <= form.size();) {
    const size_t end = std::min(form.find(',', begin), form.size());
    forms.push_back(form.substr(begin, end - begin));
    begin = end + 1;
  }
  forms.resize(targets);
  return forms;
}

// What is still on the device.
struct Computed {
  at::Tensor scores, best, probabilities;
  bool labels = false;
};

Result<Computed> Compute(const Loss& loss, std::string_view form, const at::Tensor& scores) {
  STOKER_ASSIGN_OR_RETURN(const TargetKind kind, KindOfWeights(loss, form, scores.size(1)));
  return Computed{.scores = kind == TargetKind::kNumbers ? loss.InUnitsOfTarget(scores) : scores,
                  .best = loss.Predict(scores),
                  .probabilities = loss.Probabilities(scores, kind),
                  .labels = kind == TargetKind::kLabels && scores.size(1) > 1};
}

Result<Outputs> ToHost(const Computed& computed) {
  Outputs outputs{.labels = computed.labels};
  STOKER_ASSIGN_OR_RETURN(outputs.scores, ToArray(computed.scores));
  STOKER_ASSIGN_OR_RETURN(outputs.best, ToArray(computed.best));
  if (computed.probabilities.defined()) {
    STOKER_ASSIGN_OR_RETURN(outputs.probabilities, ToArray(computed.probabilities));
  }
  return outputs;
}

}  // namespace

Result<std::vector<Prediction>> PredictBatch(Model& model, const Objective& objective,
                                             const std::string& form, const Inputs& inputs) {
  const std::vector<ObjectivePart>& parts = objective.parts();
  const std::vector<std::string> forms = FormsOf(form, parts.size());
  std::vector<Computed> computed;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&]() -> Status {
    const at::Tensor scores = model.ForwardAll(inputs).to(at::kFloat);
    const std::vector<at::Tensor> of_parts = objective.ScoresOfParts(scores);
    for (size_t i = 0; i < parts.size(); ++i) {
      STOKER_ASSIGN_OR_RETURN(computed.emplace_back(),
                              Compute(*parts[i].loss, forms[i], of_parts[i]));
    }
    return OkStatus();
  }));
  std::vector<Outputs> outputs;
  for (const Computed& of_part : computed) {
    STOKER_ASSIGN_OR_RETURN(outputs.emplace_back(), ToHost(of_part));
  }
  std::vector<Prediction> predictions;
  for (int64_t sample = 0; sample < inputs.samples(); ++sample) {
    Prediction& prediction = predictions.emplace_back();
    if (!objective.of_several()) {
      prediction = outputs[0].Of(sample);
      continue;
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      prediction.parts.push_back(outputs[i].Of(sample));
      prediction.parts.back().target = parts[i].field;
    }
  }
  return predictions;
}

}  // namespace stoker
