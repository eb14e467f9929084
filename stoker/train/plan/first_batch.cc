#include "stoker/train/plan/first_batch.h"

#include <utility>

#include "stoker/train/plan/feed.h"

namespace stoker {

Result<FirstBatch> ReadFirstBatch(const Recipe& recipe, c10::Device device,
                                  TargetCheck check_target) {
  const TrainOptions& options = recipe.train.options;
  const Dataset& data = recipe.data.train;
  STOKER_RETURN_IF_ERROR(
      FindFeederFields(data.spec(), {.input = options.input, .target = options.target}).status());
  STOKER_ASSIGN_OR_RETURN(const ModelInput input, ModelInputOf(data, options.input));
  STOKER_ASSIGN_OR_RETURN(TensorBatch batch, FirstBatchOf(recipe, Placement{.device = device},
                                                          std::move(check_target)));
  return FirstBatch{.batch = std::move(batch), .input = input};
}

}  // namespace stoker
