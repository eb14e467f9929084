// The layout of elements that `stoker pack` writes to LMDB: keys and values. docs/formats.md,
// Packing, describes it for users.
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

// The key of the schema (RecordSchemaToText): it sorts after those of all elements.
inline constexpr std::string_view kPackedSchemaKey = "stoker";

// Returns "000000000012/image": the order of keys' bytes is by element, then by the field's name.
std::string PackedKey(int64_t element, std::string_view field);

// Returns whether values of the field are .npy files: if two or more extents differ between
// elements, the number of bytes does not determine them. All other values are raw, little-endian
// and in C order.
bool IsPackedAsNpy(const ElementField& field);

// Appends the bytes of a value to `out`. Errors: kInvalidArgument for bfloat16 in a .npy file.
Status AppendPackedValue(const ElementField& field, const Array& value, std::string& out);

// The inverse of AppendPackedValue: shares `owner`, which contains `bytes`, if they are aligned,
// else copies to `scratch`. `name` begins messages. Errors: kDataLoss for malformed bytes.
Result<Array> ParsePackedValue(const ElementField& field, const Buffer& owner,
                               std::span<const std::byte> bytes, const std::string& name,
                               Scratch& scratch);

}  // namespace stoker
