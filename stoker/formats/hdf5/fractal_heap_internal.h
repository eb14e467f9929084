// Fractal heaps, in which large groups store their links.
#pragma once

#include <cstdint>

#include "stoker/formats/hdf5/content_internal.h"

namespace stoker::internal {

// A cheap value; borrows the content. Thread-safe.
class FractalHeap {
 public:
  // Errors: kDataLoss; kUnimplemented if blocks are filtered.
  static Result<FractalHeap> Open(const Hdf5Content& file, uint64_t at);

  struct Place {
    uint64_t at, bytes;  // in the file
  };
  // Finds the object whose heap ID, of `size` bytes, is next in `id`. Errors: kDataLoss;
  // kUnimplemented for an object that is not in the heap's own blocks.
  Result<Place> Find(Hdf5Cursor id, uint64_t size) const;

 private:
  explicit FractalHeap(const Hdf5Content& file) : file_(&file) {}
  uint64_t RowBytes(uint64_t row) const;  // of one block of the row
  Result<Place> FindInTable(uint64_t offset, uint64_t bytes) const;

  const Hdf5Content* file_;
  uint64_t at_ = 0;
  uint64_t width_ = 0, first_bytes_ = 0, most_direct_ = 0, root_ = 0, root_rows_ = 0;
  int offset_bytes_ = 0, length_bytes_ = 0;
};

}  // namespace stoker::internal
