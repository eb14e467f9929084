#include "stoker/train/step/learner_optimizer.h"

#include <utility>

#include "stoker/run/build_kind.h"
#include "stoker/train/core/row_gradient.h"
#include "stoker/train/step/sharded_optimizer.h"

namespace stoker {
namespace {

// Asked of one without parameters, since a rank may have none of a state that is shared out.
Status CheckRanks(const TrainRecipe& recipe, const Group& group) {
  if (recipe.options.hogwild > 1) {
    return InvalidArgument(
        "{}: its threads share the weights of one process, and this run has {} ranks, which each "
        "have their own; leave one of both out",
        recipe.NameOf("hogwild"), group.membership().world);
  }
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Optimizer> empty,
                          BuildKind(recipe.optimizer, TrainedParameters()));
  if (empty->row_updates() != RowUpdates::kLazy) return OkStatus();
  return InvalidArgument(
      "{}: lazy updates of embeddings are for one process, and this run has {} ranks, which send "
      "each other whole gradients; leave `lazy` out",
      recipe.NameOf("optimizer"), group.membership().world);
}

// Where a step moves all weights, threads would undo each other's steps.
Status CheckHogwildGradients(const TrainRecipe& recipe, bool of_rows, c10::Device device) {
  const std::string name = recipe.NameOf("hogwild");
  if (!device.is_cpu()) {
    return InvalidArgument(
        "{}: its threads compute on the CPU, and this run on {}; take device: "
        "cpu, or leave it out",
        name, device.str());
  }
  if (of_rows) return OkStatus();
  return InvalidArgument(
      "{}: its threads update some rows of large tables, and steps of this run move all weights; "
      "it takes a model with embeddings, and the optimizer adam or adamw with `lazy: true`, or, "
      "for {} vectors and more, adagrad (without weight_decay) or ftrl",
      name, kLeastRowsOfTable);
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
  if (recipe.options.hogwild > 1)
    STOKER_RETURN_IF_ERROR(CheckHogwildGradients(recipe, of_rows, device));
  if (updates != RowUpdates::kLazy || of_rows) return of_rows;
  return InvalidArgument(
      "{}: `lazy` is for the rows of embeddings, and the model has none; leave it out",
      recipe.NameOf("optimizer"));
}

}  // namespace stoker
