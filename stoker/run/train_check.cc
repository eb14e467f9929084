#include "stoker/run/train_check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/problems.h"
#include "stoker/run/build_kind.h"
#include "stoker/run/early_stopping.h"
#include "stoker/run/monitor.h"
#include "stoker/run/weight_renames.h"
#include "stoker/run/weights_source.h"

namespace stoker {
Status TakeOutWrongParts(TrainRecipe& train, const std::vector<MeasuredFigure>& measured) {
  Problems problems;
  if (const Status early = EarlyStopping::Create(train.early_stopping, measured).status();
      !early.ok()) {
    problems.Add(early);
    train.early_stopping = {};
  }
  if (CheckpointOptions& checkpoint = train.checkpoint; !checkpoint.best.empty()) {
    const Status best = Monitor::Create(checkpoint.best, checkpoint.best_mode, measured).status();
    problems.Add(best.While("reading train.checkpoint.best"));
    if (!best.ok()) checkpoint.best.clear();
  }
  std::erase_if(train.callbacks, [&](const CallbackRegistry::Configured& callback) {
    const Status made = BuildKind(callback).status();
    problems.Add(made);
    return !made.ok();
  });
  if (const Status rules = CheckRenames(train.init_from); !rules.ok()) {
    problems.Add(rules);
    train.init_from = {};
  }
  return problems.ToStatus();
}

Status TryWeightsFile(const InitFromOptions& options) {
  if (options.weights.empty()) return OkStatus();
  return WithPrefix("train.init_from.weights: ", LoadWeights(options.weights).status());
}

}  // namespace stoker
