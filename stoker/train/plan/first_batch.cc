#include "stoker/train/plan/first_batch.h"

#include <utility>

#include "stoker/data/core/runtime.h"
#include "stoker/data/transforms/layout.h"

namespace stoker {

Result<FirstBatch> ReadFirstBatch(const Recipe& recipe, c10::Device device,
                                  TargetCheck check_target) {
  const TrainOptions& options = recipe.train.options;
  const Dataset& data = recipe.data.train;
  const bool channels_last = HasChannelsLast(data, options.input);
  STOKER_ASSIGN_OR_RETURN(
      const FeederFields fields,
      FindFeederFields(data.spec(), {.input = options.input, .target = options.target}));
  STOKER_ASSIGN_OR_RETURN(const ModelInput input,
                          ModelInputOf(data.spec().fields[fields.input], channels_last));
  STOKER_ASSIGN_OR_RETURN(
      auto elements, data.Open(Runtime::Threaded(), {.seed = static_cast<uint64_t>(options.seed),
                                                     .losses = LossLogging::kNone}));
  STOKER_ASSIGN_OR_RETURN(const auto feeder,
                          Feeder::Create(std::move(elements), data.spec(),
                                         {.input = options.input,
                                          .target = options.target,
                                          .device = device,
                                          .channels_last = channels_last,
                                          .check_target = std::move(check_target)}));
  STOKER_ASSIGN_OR_RETURN(std::optional<TensorBatch> batch, feeder->Next());
  if (!batch) return InvalidArgument("data.train gives no batch; check its source and its `batch`");
  return FirstBatch{.batch = *std::move(batch), .input = input};
}

}  // namespace stoker
