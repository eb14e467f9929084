#include "stoker/tools/trainer/undefined_predictions.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr const char* kReason =
    "values of a sample are NaN or infinite or too large for the model, or its weights are";

bool Defined(const Prediction& prediction) {
  if (!prediction.parts.empty()) return std::ranges::all_of(prediction.parts, Defined);
  // A score may be minus infinity, where a model rules a class out.
  const std::vector<float>& answers =
      prediction.probabilities.empty() ? prediction.scores : prediction.probabilities;
  return std::ranges::all_of(answers, [](float answer) { return std::isfinite(answer); });
}

}  // namespace

void UndefinedPredictions::Look(const Prediction& prediction,
                                const std::function<std::string()>& name) {
  ++seen_;
  if (Defined(prediction)) return;
  if (undefined_++ == 0) first_ = name();
}

void UndefinedPredictions::Warn() const {
  if (undefined_ == 0) return;
  LogWarning("{} of {} are NaN or infinite, the first that of {}: {}", undefined_,
             CountText(seen_, "prediction"), Printable(first_), kReason);
}

void WarnOfUndefinedLoss(double loss) {
  if (std::isfinite(loss)) return;
  LogWarning("the loss is {}: {}; `stoker predict` names the first such sample", loss, kReason);
}

}  // namespace stoker
