// Values that may be unknown, in JSON: null stands for them.
#pragma once

#include <cmath>
#include <optional>

#include "stoker/base/json.h"

namespace stoker {

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// JSON has no NaN and no infinity.
inline Json FiniteOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace stoker
