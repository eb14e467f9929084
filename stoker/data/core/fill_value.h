// One value of any dtype that operators write many times: a border, a padding, a mask.
#pragma once

#include <string_view>

#include "stoker/data/core/spec.h"

namespace stoker {

struct alignas(8) FillValue {
  std::byte bytes[8] = {};  // the first DTypeSize of them
};

// Returns `value` in the dtype of `field`, rounded to the nearest if that is a float.
// InvalidArgument if it is an integer type that cannot hold the value; `who` and `option` are for
// the message.
Result<FillValue> MakeFillValue(std::string_view who, std::string_view option, double value,
                                const Field& field);

// Writes it n times, one after the other.
void Fill(const FillValue& value, size_t value_size, size_t n, std::byte* out);

}  // namespace stoker
