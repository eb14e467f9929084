// Number types of files that differ from Stoker's dtypes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/base/dtype.h"
#include "stoker/base/status.h"

namespace stoker {

enum class StoredKind : uint8_t {
  kBool,      // one byte, true if it is not 0
  kSigned,    // 1, 2, 4 or 8 bytes
  kUnsigned,  // likewise
  kFloat,     // 2, 4 or 8 bytes, IEEE 754
  kBFloat16,  // 2 bytes
};

// A number of `bytes` bytes. Unsigned numbers of more than a byte, which Stoker lacks, are widened
// to the next signed type; those of 8 bytes must fit into int64.
struct StoredValue {
  StoredKind kind = StoredKind::kUnsigned;
  size_t bytes = 1;
  bool big_endian = false;

  // Returns the dtype it becomes. Errors: kUnimplemented for a size without a dtype.
  Result<DType> ToDType() const;
  // Returns whether its bytes are already those of the dtype.
  bool IsNative() const;
};

// Converts values of type `stored` to its dtype, in place: `values` has room for `count` of the
// dtype, and the stored values fill its end. Errors: kOutOfRange for an unsigned number of 64 bits
// that int64 cannot hold.
Status ConvertStored(const StoredValue& stored, std::byte* values, size_t count);

}  // namespace stoker
