// NumPy's .npy files: one array in a file. README.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/dtype.h"
#include "stoker/base/ledger.h"
#include "stoker/base/shape.h"
#include "stoker/base/status.h"
#include "stoker/formats/chunked/stored_values.h"
#include "stoker/io/file_bytes.h"

namespace stoker {

struct NpyHeader {
  DType dtype = DType::kUInt8;  // of the array
  Shape shape;
  StoredValue stored;  // the type of its values in the file
  bool fortran_order = false;
  uint64_t data = 0;  // where the values begin
};

// Parses a file's header; `bytes` is all of the file, or at least its header. Errors: kDataLoss,
// with the byte, for a malformed header; kUnimplemented for types that Stoker lacks.
Result<NpyHeader> ParseNpyHeader(std::span<const std::byte> bytes, const std::string& name);

// Does the same for a file: loads only its header.
Result<NpyHeader> ReadNpyHeader(const FileBytes& file);

// Returns whether values that begin at `values` can be used in place; else ParseNpy copies them.
bool LiesAsUsed(const NpyHeader& header, const std::byte* values);

// Checks that a file of `bytes` bytes has exactly the values that its header announces. Errors:
// kDataLoss, with the byte.
Status CheckNpySize(const NpyHeader& header, uint64_t bytes, const std::string& name);

// Reads the array of a file, opened as io/file_bytes.h says: if mapped, its pages are read on first
// access and shared with other processes; if by position, it is read whole. Values that are
// big-endian, in Fortran order, or unsigned of more than a byte (which become the next wider signed
// integers) are copied into memory charged to `account` (may be null). Errors: those above;
// kDataLoss if the file has more or fewer values than announced; kOutOfRange for one that int64
// cannot hold; those of io/file.h.
Result<Array> ReadNpy(const std::string& path,
                      const std::shared_ptr<MemoryAccount>& account = nullptr);

// Does the same for the bytes of a whole file; the array shares the memory of `owner`.
Result<Array> ParseNpy(const Buffer& owner, std::span<const std::byte> bytes,
                       const std::string& name,
                       const std::shared_ptr<MemoryAccount>& account = nullptr);

// Returns magic, version and header of a file; their length does not depend on the first extent.
// Errors: kInvalidArgument for bfloat16, which NumPy lacks.
Result<std::string> NpyHeaderOf(DType dtype, const Shape& shape, const std::string& name);

// Writes `array` atomically, in C order, version 1.0, with the bytes that numpy.save gives. Errors:
// those above and of AtomicFileWriter.
Status WriteNpy(const std::string& path, const Array& array);

}  // namespace stoker
