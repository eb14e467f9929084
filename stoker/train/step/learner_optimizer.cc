#include "stoker/train/step/learner_optimizer.h"

#include <utility>

#include "stoker/run/build_kind.h"
#include "stoker/train/core/row_gradient.h"
#include "stoker/train/step/sharded_optimizer.h"

namespace stoker {
namespace {

// Asked of one without parameters, since a rank may have none of a state that is shared out.
Status CheckRanks(const TrainRecipe& recipe, const Group& group) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Optimizer> empty,
                          BuildKind(recipe.optimizer, TrainedParameters()));
  if (empty->row_updates() != RowUpdates::kLazy) return OkStatus();
  return InvalidArgument(
      "{}: lazy updates of embeddings are for one process, and this run has {} ranks, which send "
      "each other whole gradients; leave `lazy` out",
      recipe.NameOf("optimizer"), group.membership().world);
}

}  // namespace

Result<std::unique_ptr<Optimizer>> BuildOptimizer(const TrainRecipe& recipe,
                                                  const TrainedParameters& parameters,
                                                  Group* group) {
  const auto build = [kind = recipe.optimizer](const TrainedParameters& some) {
    return BuildKind(kind, some);
  };
  if (group != nullptr) STOKER_RETURN_IF_ERROR(CheckRanks(recipe, *group));
  if (group == nullptr || !recipe.distributed.shard_optimizer) return build(parameters);
  STOKER_ASSIGN_OR_RETURN(
      std::unique_ptr<ShardedOptimizer> optimizer,
      ShardedOptimizer::Create(*group, parameters, build, BucketBytes(recipe.distributed)));
  return std::unique_ptr<Optimizer>(std::move(optimizer));
}

Result<bool> ChooseGradients(const TrainRecipe& recipe, const Optimizer& optimizer, Model& model,
                             c10::Device device, const Group* group) {
  RowUpdates updates = optimizer.row_updates();
  // On an accelerator no gain has been measured, and recorded passes would be lost.
  if (updates == RowUpdates::kSame && (group != nullptr || !device.is_cpu()))
    updates = RowUpdates::kNone;
  const bool of_rows = UseRowGradients(model, updates);
  if (updates != RowUpdates::kLazy || of_rows) return of_rows;
  return InvalidArgument(
      "{}: `lazy` is for the rows of embeddings, and the model has none; leave it out",
      recipe.NameOf("optimizer"));
}

}  // namespace stoker
