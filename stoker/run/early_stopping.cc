#include "stoker/run/early_stopping.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "stoker/base/json_or_null.h"

namespace stoker {

Result<EarlyStopping> EarlyStopping::Create(const EarlyStoppingOptions& options,
                                            const std::vector<MeasuredFigure>& measured) {
  Result<Monitor> monitor = Monitor::Create(options.metric, options.mode, measured);
  STOKER_RETURN_IF_ERROR(monitor.status().While("reading train.early_stopping.metric"));
  return EarlyStopping(options, *std::move(monitor));
}

std::optional<std::string> EarlyStopping::Observe(const Evaluation& evaluation, int64_t epoch) {
  if (epoch <= options_.after_epochs) return std::nullopt;
  const double value = monitor_.ValueIn(evaluation);
  const std::optional<double> best = best_ ? best_ : options_.baseline;
  if (monitor_.IsBetter(value, best.value_or(std::numeric_limits<double>::quiet_NaN()),
                        options_.min_delta)) {
    best_ = value;
    since_best_ = 0;
  } else {
    ++since_best_;
  }
  if (options_.goal && !monitor_.IsBetter(*options_.goal, value)) {
    return fmt::format("{} is {:.4g}, and {:.4g} was the goal", monitor_.metric(), value,
                       *options_.goal);
  }
  if (!options_.patience || since_best_ < *options_.patience) return std::nullopt;
  return fmt::format("{} has not become better than {} in {} evaluations", monitor_.metric(),
                     best ? fmt::format("{:.4g}", *best) : "nothing", since_best_);
}

Json EarlyStopping::Save() const { return {{"best", OrNull(best_)}, {"since_best", since_best_}}; }

Status EarlyStopping::Restore(const Json& state) {
  if (state.is_null()) return OkStatus();
  const Json best = state.is_object() ? state.value("best", Json()) : Json();
  const Json since = state.is_object() ? state.value("since_best", Json()) : Json();
  if ((!best.is_null() && !best.is_number()) || !since.is_number_integer()) {
    return DataLoss("the state of early stopping is not as we write it");
  }
  best_ = best.is_null() ? std::nullopt : std::optional<double>(best.get<double>());
  since_best_ = since.get<int64_t>();
  return OkStatus();
}

}  // namespace stoker
