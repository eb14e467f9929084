// How `stoker pack` keeps elements in LMDB: what the keys are, and how a value holds an array.
// docs/formats.md, Packing, has it for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/data/core/transform.h"
#include "stoker/formats/record_fields.h"

namespace stoker {

// The key of the schema (RecordSchemaToText): behind those of all elements.
inline constexpr std::string_view kPackedSchemaKey = "stoker";

// "000000000012/image": by their bytes, keys are sorted by element, then by the field's name.
std::string PackedKey(int64_t element, std::string_view field);

// Whether values of the field are .npy files: where two extents or more differ between elements,
// the number of bytes does not tell them. All others are the values as they lie in memory,
// little-endian and in C order.
bool IsPackedAsNpy(const ElementField& field);

// The bytes of a value, appended to `out`. Errors: kInvalidArgument for bfloat16 in a .npy file.
Status AppendPackedValue(const ElementField& field, const Array& value, std::string& out);

// The inverse: shares `owner`, which `bytes` are part of, where they are aligned, else a copy from
// `scratch`. `name` begins messages. Errors: kDataLoss for bytes that are no such value.
Result<Array> ParsePackedValue(const ElementField& field, const Buffer& owner,
                               std::span<const std::byte> bytes, const std::string& name,
                               Scratch& scratch);

}  // namespace stoker
