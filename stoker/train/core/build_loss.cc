#include "stoker/train/core/build_loss.h"

#include <utility>

#include "stoker/run/build_kind.h"
#include "stoker/run/learned_train.h"
#include "stoker/train/core/transformed_target_internal.h"

namespace stoker {

Result<std::shared_ptr<const Loss>> BuildLoss(const TrainRecipe& train) {
  STOKER_RETURN_IF_ERROR(CheckIsLearned(train));
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<const Loss> loss, BuildKind(train.loss));
  if (!train.target.transforms()) return loss;
  return TransformTarget(std::move(loss), train.target);
}

}  // namespace stoker
