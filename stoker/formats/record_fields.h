// The fields of the records in Stoker's own formats, and their JSON.
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

// The inverse of RecordFieldsToJson. Errors: kDataLoss for a malformed list, and for a field whose
// known extents multiply to more than any machine can address.
Result<std::vector<ElementField>> RecordFieldsFromJson(const Json& json);

// A packed file's description of its records.
struct RecordSchema {
  std::vector<ElementField> fields;  // at least one; names are distinct
  std::vector<std::string> classes;  // names of the labels 0, 1, ...; may be empty
  std::string origin;                // the records' source, as text for people

  bool operator==(const RecordSchema&) const = default;
};

// {"fields": as above, "classes": [text, ...], "origin": text}; without classes if there are none.
// Equal schemas give equal bytes.
std::string RecordSchemaToText(const RecordSchema& schema);

// The inverse of RecordSchemaToText. Ignores unknown keys, which later versions may add. Errors:
// kDataLoss.
Result<RecordSchema> ParseRecordSchema(std::string_view text);

}  // namespace stoker
