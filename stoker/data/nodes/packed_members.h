// The layout of elements that `stoker pack` writes to tar archives: a member for each field, and
// the member with the schema. docs/formats.md, Packing, describes it for users.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/formats/record_fields.h"

namespace stoker {

// The first member of an archive that was packed: its schema (RecordSchemaToText). Its dot excludes
// it from samples.
inline constexpr std::string_view kPackedSchemaMember = ".stoker.json";

// The content of a member of a sample.
enum class MemberContent {
  kBytes,   // uint8[-1] as it is
  kNumber,  // a whole number in ASCII
  kArray,   // a .npy file
};

// One field, and the extensions that may hold it.
struct SampleField {
  ElementField field;
  std::vector<std::string> extensions;
  MemberContent content = MemberContent::kBytes;
};

// Returns the member for a field, which WebDataset's own reader decodes:
//   image: uint8[-1]               .jpg, .png, .webp, .bmp, .ppm or .bin, by its first bytes
//   text: uint8[-1]                .txt; uint8[-1] of any other name: .NAME
//   label: an integer of shape []  .cls, in ASCII; class, cls, cls2, count, id, index, inx: .NAME
//   anything else                  .NAME.npy
SampleField PackedField(const ElementField& field);

// Returns the extension for a field with these bytes, one of field.extensions.
std::string_view ExtensionFor(const SampleField& field, std::span<const std::byte> bytes);

// Returns the member's bytes for a value of the field. Errors: kInvalidArgument for bfloat16, which
// NumPy lacks.
Result<std::string> MemberOf(const SampleField& field, const Array& value);

// Returns the schema of a packed archive; nothing for any other. Errors: kDataLoss for a malformed
// schema; those of reading.
Result<std::optional<RecordSchema>> ReadPackedSchema(const std::string& path);

}  // namespace stoker
