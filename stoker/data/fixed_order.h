// Training data whose samples come in the same order in every epoch.
#pragma once

#include <string_view>

#include "stoker/data/dataset.h"

namespace stoker {

// Whether no stage of `dataset` draws at random which element comes next. False where that is
// not known, because a stage opens pipelines of its own.
bool HasFixedOrder(const Dataset& dataset);

// What that means for training, and what to do, for warnings.
inline constexpr std::string_view kFixedOrderProblem =
    "nothing shuffles its samples, so every epoch has them in the order of the files, and batches "
    "of few classes where those are sorted";
inline constexpr std::string_view kFixedOrderAdvice = "put `shuffle` behind the source";

}  // namespace stoker
