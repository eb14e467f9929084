// Detects training data whose samples come in the same order in every epoch.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns whether no stage of `dataset` draws at random which element comes next. False if unknown,
// because a stage opens its own pipelines.
bool HasFixedOrder(const Dataset& dataset);

// The consequence for training and the remedy, for warnings.
inline constexpr std::string_view kFixedOrderProblem =
    "nothing shuffles its samples, so every epoch has them in the order of the files, and batches "
    "of few classes where those are sorted";
inline constexpr std::string_view kFixedOrderAdvice = "put `shuffle` after the source";

// Returns whether samples are shuffled only after they are in batches, so that a batch has the same
// samples in every epoch.
bool ShufflesOnlyBatches(const Dataset& dataset);

inline constexpr std::string_view kShuffledBatchesProblem =
    "`shuffle` follows `batch`, so it puts batches into another order, and each has the same "
    "samples in every epoch";
inline constexpr std::string_view kShuffledBatchesAdvice = "put `shuffle` before `batch`";

// The problem with the order of training data, and its remedy; nothing if each epoch draws a new
// order.
struct OrderHint {
  std::string_view problem, advice;
};
std::optional<OrderHint> HintOfOrder(const Dataset& dataset);

}  // namespace stoker
