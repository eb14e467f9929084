// Writes a .npy file row by row, where their number is not known beforehand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// The file holds its number of rows only once Finish has returned, and is not flushed to the disk:
// this is for files in an AtomicDirectory (io/atomic_file.h), which sees to both. The bytes are
// those that WriteNpy gives for all rows in one array. Moves; one thread at a time.
//
// Errors: kInvalidArgument for what NumPy lacks; kResourceExhausted and others for a disk that is
// full.
class NpyWriter {
 public:
  // A file of rows [..., row_shape], which are fully known.
  static Result<NpyWriter> Create(std::string path, DType dtype, Shape row_shape);

  // Adds one row, of this dtype and shape.
  Status Append(const Array& row);
  Status Finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  NpyWriter(std::unique_ptr<std::FILE, Close> file, std::string path, DType dtype, Shape row_shape)
      : file_(std::move(file)),
        path_(std::move(path)),
        dtype_(dtype),
        row_shape_(std::move(row_shape)) {}
  Status WriteHeader();
  Status Write(const void* bytes, size_t size);

  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
  DType dtype_;
  Shape row_shape_;
  int64_t rows_ = 0;
};

}  // namespace stoker
