// IDX: one array in a file, as MNIST and its successors are published. README.md has the layout
// byte by byte.
//
// Files may be plain, gzip, zstd, xz or bzip2 (decided by content). Reading is strict: the
// announced shape and the bytes that are there must agree exactly. Errors: kDataLoss with file and
// byte for anything that is not a whole IDX file, and a hint where it is recognisably something
// else; those of io/file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/dtype.h"
#include "stoker/base/ledger.h"
#include "stoker/base/shape.h"
#include "stoker/base/status.h"

namespace stoker {

struct IdxHeader {
  DType dtype = DType::kUInt8;  // uint8, int8, int16, int32, float32 or float64
  Shape shape;                  // 1 to 255 dimensions; 0 extents are allowed
};

// What a file announces, from its first bytes; the values are neither read nor checked.
Result<IdxHeader> ReadIdxHeader(const std::string& path);

// A whole file, values in this machine's byte order. Decompresses straight into the array: no
// second copy.
//   account  what the array is charged to while it lives, and the decoder's memory during the
//            call; may be null
Result<Array> ReadIdx(const std::string& path, std::shared_ptr<MemoryAccount> account = nullptr);

// Checks a whole file as ReadIdx does, and hands its values to `take` in their order, at most 1 MiB
// at a time, each time an array of one dimension: no more is held, whatever the file announces.
Result<IdxHeader> ForEachPartOfIdx(const std::string& path,
                                   const std::function<void(const Array& values)>& take);

// The same as ReadIdx from memory (plain IDX only); the values are copied.
//   name  what errors call the bytes
Result<Array> ParseIdx(std::span<const std::byte> bytes, const std::string& name);

enum class IdxCompression { kNone, kGzip };

// Writes `array` atomically (io/atomic_file.h). Errors: kInvalidArgument where IDX cannot hold it:
// another dtype, no dimension or more than 255, an extent of 2^32 or more; those of
// AtomicFileWriter.
Status WriteIdx(const std::string& path, const Array& array,
                IdxCompression compression = IdxCompression::kNone);

}  // namespace stoker
