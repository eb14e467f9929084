// Writes a .npy file row by row, without knowing their number beforehand.
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
// use it for files in an AtomicDirectory (io/atomic_file.h), which does both. The bytes are those
// that WriteNpy writes for all rows in one array. Movable; one thread at a time.
//
// Errors: kInvalidArgument for types that NumPy lacks; those of writing, such as kResourceExhausted
// for a full disk.
class NpyWriter {
 public:
  // Begins a file of rows of `row_shape`, which is fully known.
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
