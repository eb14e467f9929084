// The option `spec`: fields with type and shape, as a user writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/spec.h"
#include "stoker/data/options/field_map.h"

namespace stoker::python {

// One field. In a recipe `label: int64`, or `tokens: {type: int64, shape: [-1]}`.
struct SpecField {
  static constexpr std::string_view kName = "field";
  std::string name;  // in a recipe the key
  std::string type = "float32";
  std::vector<int64_t> shape;  // -1: extents that differ; none: one value

  static void Describe(OptionTable<SpecField>& table);
};

using SpecOption = FieldMap<SpecField>;

// Errors: an unknown type.
Result<Spec> SpecOf(const SpecOption& fields);

}  // namespace stoker::python
