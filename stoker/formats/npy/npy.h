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
  StoredValue stored;  // what its values are in the file
  bool fortran_order = false;
  uint64_t data = 0;  // where the values begin
};

// What the first bytes of a file announce; `bytes` is all of it, or at least its header. Errors:
// kDataLoss, with the byte, for what is no such header; kUnimplemented for types that Stoker lacks.
Result<NpyHeader> ParseNpyHeader(std::span<const std::byte> bytes, const std::string& name);

// The same of a file: loads its header alone.
Result<NpyHeader> ReadNpyHeader(const FileBytes& file);

// Whether values that begin at `values` are used as they lie there; else ParseNpy copies them.
bool LiesAsUsed(const NpyHeader& header, const std::byte* values);

// That a file of `bytes` bytes has exactly the values that its header announces. Errors: kDataLoss,
// with the byte.
Status CheckNpySize(const NpyHeader& header, uint64_t bytes, const std::string& name);

// The array of a file, which io/file_bytes.h opens: mapped, its pages are read when they are
// touched and shared by all who map it; by position, it is read whole. Where the values are
// big-endian, unsigned of more than a byte, which become the next wider signed integers, or lie in
// Fortran order they are copied, into memory charged to `account` (may be null). Errors: those
// above; kDataLoss where the values are not exactly those announced; kOutOfRange for one that int64
// cannot hold; those of io/file.h.
Result<Array> ReadNpy(const std::string& path,
                      const std::shared_ptr<MemoryAccount>& account = nullptr);

// The same of bytes that are all of such a file, with whose memory `owner` the array shares.
Result<Array> ParseNpy(const Buffer& owner, std::span<const std::byte> bytes,
                       const std::string& name,
                       const std::shared_ptr<MemoryAccount>& account = nullptr);

// All of a file but its values: magic, version and header, of the same length whatever the first
// extent is. Errors: kInvalidArgument for bfloat16, which NumPy lacks.
Result<std::string> NpyHeaderOf(DType dtype, const Shape& shape, const std::string& name);

// Writes `array` atomically, in C order, version 1.0, with the bytes that numpy.save gives. Errors:
// those above and of AtomicFileWriter.
Status WriteNpy(const std::string& path, const Array& array);

}  // namespace stoker
