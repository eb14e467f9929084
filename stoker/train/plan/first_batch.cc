#include "stoker/train/plan/first_batch.h"

#include <utility>

#include "stoker/train/plan/feed.h"

namespace stoker {

Result<ModelInput> InputOf(const TrainOptions& options, const Dataset& batches) {
  STOKER_RETURN_IF_ERROR(FindFeederFields(batches.spec(), FeedOptions(options, batches, c10::kCPU,
                                                                      MemoryFormat::kContiguous))
                             .status());
  return ModelInputOf(batches, options.AllInputs());
}

Result<FirstBatch> ReadFirstBatch(const Recipe& recipe, c10::Device device, BatchChecks checks) {
  STOKER_ASSIGN_OR_RETURN(ModelInput input, InputOf(recipe.train.options, recipe.data.train));
  STOKER_ASSIGN_OR_RETURN(TensorBatch batch,
                          FirstBatchOf(recipe, Placement{.device = device}, std::move(checks)));
  return FirstBatch{.batch = std::move(batch), .input = std::move(input)};
}

}  // namespace stoker
