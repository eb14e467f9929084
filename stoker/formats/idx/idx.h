// IDX: one array in a file, the format of MNIST and its successors. README.md has the layout byte
// by byte.
//
// Files may be plain or compressed (io/decompression.h). Reading is strict: the
// announced shape and the bytes that are there must agree exactly. Errors: kDataLoss with file and
// byte for anything that is not a whole IDX file, and a hint if it is recognisably another format;
// those of io/file.h.
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

// Reads a file's header; neither reads nor checks the values.
Result<IdxHeader> ReadIdxHeader(const std::string& path);

// Reads a whole file, with values in this machine's byte order. Decompresses directly into the
// array.
//   account  what the array is charged to while it lives, and the decoder's memory during the
//            call; may be null
Result<Array> ReadIdx(const std::string& path, std::shared_ptr<MemoryAccount> account = nullptr);

// Checks a whole file as ReadIdx does, and passes its values to `take` in order, in arrays of one
// dimension and at most 1 MiB, which bounds its memory.
Result<IdxHeader> ForEachPartOfIdx(const std::string& path,
                                   const std::function<void(const Array& values)>& take);

// The same as ReadIdx, from memory (plain IDX only); copies the values.
//   name  what errors call the bytes
Result<Array> ParseIdx(std::span<const std::byte> bytes, const std::string& name);

enum class IdxCompression { kNone, kGzip };

// Writes `array` atomically (io/atomic_file.h). Errors: kInvalidArgument if IDX cannot hold it:
// another dtype, no dimension or more than 255, an extent of 2^32 or more; those of
// AtomicFileWriter.
Status WriteIdx(const std::string& path, const Array& array,
                IdxCompression compression = IdxCompression::kNone);

}  // namespace stoker
