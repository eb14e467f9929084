// Converts between Array, the type of the input pipeline, and at::Tensor, the type of libtorch.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/MemoryFormat.h>

#include "stoker/base/array.h"
#include "stoker/base/dtype.h"
#include "stoker/base/status.h"

namespace stoker {

// Returns torch's type; every DType has one.
at::ScalarType ToScalarType(DType dtype);
// Errors: kUnimplemented, by name, for torch's types without a DType (complex, quantised, ...).
Result<DType> FromScalarType(at::ScalarType type);

// Returns the array as a tensor that shares its memory: the tensor keeps the array's Buffer alive,
// and writes to one are visible in the other. Costs a microsecond.
at::Tensor ToTensor(const Array& array);

// Returns the tensor's values in C order. Shares the memory of a contiguous tensor in CPU memory;
// else copies (and waits for an accelerator).
Result<Array> ToArray(const at::Tensor& tensor);

// Returns the same values in memory in this order; a tensor without four dimensions in C order.
// Unlike Tensor::contiguous, which leaves a tensor of one channel (or of 1 x 1 pixels) with the
// strides it has, because both orders then have the same bytes: oneDNN reads the order from the
// strides and would use the slow one, for this layer and all later ones (channels_last: 1.7 times
// the time a step of the quick start's model). Copies only if bytes must move.
at::Tensor InLayout(const at::Tensor& tensor, at::MemoryFormat format);

}  // namespace stoker
