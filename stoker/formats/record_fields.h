// What every record of a file has, in formats of our own; and the same as JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>
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

// The inverse of the above. Errors: kDataLoss for what is no such list, and for a field whose known
// extents multiply to more than any machine can address.
Result<std::vector<ElementField>> RecordFieldsFromJson(const Json& json);

// What a packed file says of its records.
struct RecordSchema {
  std::vector<ElementField> fields;  // at least one; names are different
  std::vector<std::string> classes;  // what the labels 0, 1, ... stand for; may be empty
  std::string origin;                // what the records were made from, for people

  bool operator==(const RecordSchema&) const = default;
};

// {"fields": as above, "classes": [text, ...], "origin": text}; without classes where there are
// none. Equal schemas give equal bytes.
std::string RecordSchemaToText(const RecordSchema& schema);

// The inverse; keys that are not known are left to later versions. Errors: kDataLoss.
Result<RecordSchema> ParseRecordSchema(std::string_view text);

}  // namespace stoker
