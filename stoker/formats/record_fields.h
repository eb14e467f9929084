// What every record of a file has, in formats of our own; and the same as JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/json.h"
#include "stoker/base/shape.h"
#include "stoker/base/status.h"

namespace stoker {

// Extents that differ between records are kUnknownDim.
struct ElementField {
  std::string name;
  DType dtype = DType::kUInt8;
  Shape shape;

  bool operator==(const ElementField&) const = default;
};

// [{"name": "image", "dtype": "uint8", "shape": [28, 28]}, ...]
Json RecordFieldsToJson(std::span<const ElementField> fields);

// The inverse. Errors: kDataLoss for what is no such list, and for a field whose known extents
// multiply to more than any machine can address.
Result<std::vector<ElementField>> RecordFieldsFromJson(const Json& json);

}  // namespace stoker
