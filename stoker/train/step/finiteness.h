// Checks tensors for NaNs and infinities, in one pass over their values.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/device/inputs.h"
#include "stoker/run/row_names.h"
#include "stoker/train/core/named_tensor.h"

namespace stoker {

// The message and the advice for an input that is not finite.
inline constexpr std::string_view kInputNotFinite = "the input holds values that are not finite";
inline constexpr std::string_view kFiniteInput =
    "Correct these samples or leave them out (`filter`); where they come from missing values, give "
    "the field another `default`";

// The functions throw c10::Error; they wait for a device once, not for each tensor.

// Checks gradients with the kernel of gradient scaling and the factor 1: it writes them without
// changing any.
bool GradientsAreFinite(const std::vector<at::Tensor>& parameters);

// Returns the name of the first floating-point tensor that holds one; empty if none does.
std::string FirstNotFinite(const NamedTensors& tensors);

// Returns kDataLoss with both of the above where one input holds any, which names the samples.
//   one    exactly one input
//   field  that it comes from
//   batch  its key, for `names`
Status CheckFinite(const Inputs& one, std::string_view field, const SampleKey& batch,
                   const RowNames& names);

}  // namespace stoker
