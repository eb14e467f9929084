// Between Array, the unit of the input pipeline, and at::Tensor, the unit of libtorch.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/MemoryFormat.h>

#include "stoker/base/array.h"
#include "stoker/base/dtype.h"
#include "stoker/base/status.h"

namespace stoker {

// Every DType exists in torch.
at::ScalarType ToScalarType(DType dtype);
// Errors: kUnimplemented, by name, for torch's types that we do not have (complex, quantised, ...).
Result<DType> FromScalarType(at::ScalarType type);

// The array as a tensor in CPU memory, sharing it: the tensor keeps the array's Buffer alive, and
// writing to one is seen in the other. A microsecond.
at::Tensor ToTensor(const Array& array);

// The tensor's values in C order, whatever its layout. Shares the memory where the tensor lies in
// CPU memory and is contiguous; else a copy (from an accelerator: waits for it).
Result<Array> ToArray(const at::Tensor& tensor);

// The same values in memory in this order; a tensor without four dimensions in C order. Unlike
// Tensor::contiguous, which leaves a tensor of one channel (or of 1 x 1 pixels) with the strides it
// has, since both orders are the same bytes then: oneDNN reads the order from the strides and would
// take the slow one, for this layer and all behind it (channels_last: 1.7 times the time a step of
// the quick start's model). Copies only where the bytes must move.
at::Tensor InLayout(const at::Tensor& tensor, at::MemoryFormat format);

}  // namespace stoker
