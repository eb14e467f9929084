// Between Array, the unit of the input pipeline, and at::Tensor, the unit of libtorch.
#pragma once

#include <ATen/core/Tensor.h>

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

}  // namespace stoker
