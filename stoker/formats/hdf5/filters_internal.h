// The filter pipeline that HDF5 applies to chunks.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/formats/hdf5/object_internal.h"

namespace stoker::internal {

enum class Hdf5FilterKind : uint16_t {
  kDeflate = 1,
  kShuffle = 2,
  kFletcher32 = 3,
  kLzf = 32000,   // of h5py
  kZstd = 32015,  // registered with the HDF Group
};

struct Hdf5Filter {
  Hdf5FilterKind kind;
  uint32_t value_bytes = 1;  // of kShuffle
};

// Returns the filters in the order in which they were applied. Errors: kDataLoss; kUnimplemented,
// with its name, for an unknown filter, and for two compressions.
Result<std::vector<Hdf5Filter>> ParseHdf5Filters(const Hdf5Content& file,
                                                 const Hdf5Message& message,
                                                 const std::string& where);

// Undoes the filters of a stored chunk and returns its `bytes` bytes; filter i was not applied if
// bit i of `left_out` is set. Allocates no more than the stored bytes can fill, charged to
// `account` (may be null), during the call at most about twice `bytes`. Thread-safe. Errors:
// kDataLoss, without the place.
Result<Buffer> UndoHdf5Filters(const std::vector<Hdf5Filter>& filters, uint32_t left_out,
                               std::span<const std::byte> stored, uint64_t bytes,
                               const std::shared_ptr<MemoryAccount>& account = nullptr);

}  // namespace stoker::internal
