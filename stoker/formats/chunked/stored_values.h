// Numbers as a file stores them, where that differs from how Stoker computes with them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/base/dtype.h"
#include "stoker/base/status.h"

namespace stoker {

enum class StoredKind : uint8_t {
  kBool,      // one byte, true where it is not 0
  kSigned,    // 1, 2, 4 or 8 bytes
  kUnsigned,  // likewise
  kFloat,     // 2, 4 or 8 bytes, IEEE 754
  kBFloat16,  // 2 bytes
};

// A number of `bytes` bytes. Stoker has no unsigned types of more than a byte: those are widened to
// the next signed one, and those of 8 bytes must fit into int64.
struct StoredValue {
  StoredKind kind = StoredKind::kUnsigned;
  size_t bytes = 1;
  bool big_endian = false;

  // What it becomes. Errors: kUnimplemented for a size that there is not.
  Result<DType> ToDType() const;
  // Whether its bytes are those of the dtype.
  bool IsNative() const;
};

// Values of type `stored` become those of its dtype, in place: `values` holds `count` of the dtype,
// and what is stored fills the end of it. Errors: kOutOfRange for an unsigned number of 64 bits
// that int64 cannot hold.
Status ConvertStored(const StoredValue& stored, std::byte* values, size_t count);

}  // namespace stoker
