// How `stoker pack` keeps elements in tar archives: what members their fields are, and the member
// that tells so. docs/formats.md, Packing, has it for users.
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

// The first member of an archive that was packed: its schema (RecordSchemaToText). The dot keeps it
// from being part of a sample.
inline constexpr std::string_view kPackedSchemaMember = ".stoker.json";

// What a member of a sample holds.
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

// The members that WebDataset's own reader takes for what they are:
//   image: uint8[-1]               .jpg, .png, .webp, .bmp, .ppm or .bin, by its first bytes
//   text: uint8[-1]                .txt; uint8[-1] of any other name: .NAME
//   label: an integer of shape []  .cls, in ASCII; class, cls, cls2, count, id, index, inx: .NAME
//   anything else                  .NAME.npy
SampleField PackedField(const ElementField& field);

// The extension of this field with these bytes, one of field.extensions.
std::string_view ExtensionFor(const SampleField& field, std::span<const std::byte> bytes);

// The member's bytes for a value of the field. Errors: kInvalidArgument for bfloat16, which NumPy
// lacks.
Result<std::string> MemberOf(const SampleField& field, const Array& value);

// The schema of an archive that was packed; nothing of any other. Errors: kDataLoss for a schema
// that is none; those of reading.
Result<std::optional<RecordSchema>> ReadPackedSchema(const std::string& path);

}  // namespace stoker
