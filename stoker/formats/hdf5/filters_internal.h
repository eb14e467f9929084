// Filters: what chunks go through on their way to the file, and back.
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

// In the order in which they were applied. Errors: kDataLoss; kUnimplemented, with its name, for a
// filter that is not known, and for two compressions.
Result<std::vector<Hdf5Filter>> ParseHdf5Filters(const Hdf5Content& file,
                                                 const Hdf5Message& message,
                                                 const std::string& where);

// Of a chunk as it is in the file, the `bytes` bytes that it was made of; filter i was left out
// where bit i of `left_out` is set. No memory is asked for that the stored bytes cannot fill; it is
// charged to `account` (may be null), during the call at most twice `bytes` and a few more.
// Thread-safe. Errors: kDataLoss, without saying where.
Result<Buffer> UndoHdf5Filters(const std::vector<Hdf5Filter>& filters, uint32_t left_out,
                               std::span<const std::byte> stored, uint64_t bytes,
                               const std::shared_ptr<MemoryAccount>& account = nullptr);

}  // namespace stoker::internal
