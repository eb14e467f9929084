// Training data whose samples come in the same order in every epoch.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Whether no stage of `dataset` draws at random which element comes next. False where that is
// not known, because a stage opens pipelines of its own.
bool HasFixedOrder(const Dataset& dataset);

// What that means for training, and what to do, for warnings.
inline constexpr std::string_view kFixedOrderProblem =
    "nothing shuffles its samples, so every epoch has them in the order of the files, and batches "
    "of few classes where those are sorted";
inline constexpr std::string_view kFixedOrderAdvice = "put `shuffle` behind the source";

// Whether samples are shuffled only after they are in batches, so that a batch has the same samples
// in every epoch.
bool ShufflesOnlyBatches(const Dataset& dataset);

inline constexpr std::string_view kShuffledBatchesProblem =
    "`shuffle` follows `batch`, so it puts batches into another order, and each has the same "
    "samples in every epoch";
inline constexpr std::string_view kShuffledBatchesAdvice = "put `shuffle` before `batch`";

// What is wrong with the order of training data, and what to do about it; nothing where it is drawn
// from epoch to epoch.
struct OrderHint {
  std::string_view problem, advice;
};
std::optional<OrderHint> HintOfOrder(const Dataset& dataset);

}  // namespace stoker
