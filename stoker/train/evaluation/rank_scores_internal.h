// What one rank sends the others of a batch that it has evaluated.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/device/inputs.h"

namespace stoker {

struct RankScores {
  at::Tensor scores;  // float32, [samples, outputs]
  Targets targets;    // as in TensorBatch
};

// Returns the bytes of all, with their types and shapes. They are on the CPU.
std::string PackScores(const RankScores& batch);

// Errors: kInternal for bytes that PackScores has not made.
Result<RankScores> UnpackScores(std::string_view bytes);

}  // namespace stoker
