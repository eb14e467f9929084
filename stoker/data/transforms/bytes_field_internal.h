// Fields of bytes, for transforms that make arrays of them.
#pragma once

#include <cstddef>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// The number of the field. Errors: kInvalidArgument if there is none, or it is not uint8[?]; they
// begin with `op`.
Result<size_t> BytesField(const Dataset& input, std::string_view op, std::string_view field);

}  // namespace stoker
