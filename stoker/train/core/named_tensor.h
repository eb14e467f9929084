// Tensors by name, for weights and optimizer states in files.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"

namespace stoker {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};
using NamedTensors = std::vector<NamedTensor>;

// Returns the values of `tensors` as arrays named prefix + name. Shares memory if possible
// (ToArray), so write the arrays out before the tensors change.
Result<std::vector<NamedArray>> ToNamedArrays(const NamedTensors& tensors,
                                              std::string_view prefix = "");

// Copies into every tensor the array named prefix + its name; keeps layout and device of the
// tensors.
//   source  what messages call the arrays' origin
// Errors (kFailedPrecondition, nothing copied): an array is missing, has another shape or type, or
// begins with `prefix` and belongs to no tensor. Up to five of them are named.
Status CopyArraysInto(const NamedTensors& tensors, std::span<const NamedArray> arrays,
                      std::string_view prefix, std::string_view source);

}  // namespace stoker
