// Arrays that a file keeps in chunks of a regular grid.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/buffer.h"
#include "stoker/base/shape.h"
#include "stoker/base/status.h"
#include "stoker/formats/chunked/stored_values.h"
#include "stoker/io/file_bytes.h"

namespace stoker {

// Makes an array whose values are not set.
using NewArray = std::function<Array(DType dtype, Shape shape)>;
// One whose memory is charged to nobody.
Array NewArrayOfNobody(DType dtype, Shape shape);

// What a row is to become.
enum class RowForm : uint8_t {
  kValues,    // numbers, as many in every row
  kFollowed,  // a text or list of its own length, which ChunkedArray::Follow makes
};

// The stored values of one chunk, C order. A cheap value.
struct StoredChunk {
  Buffer owner;
  const std::byte* data = nullptr;  // null: was never written, so all of it is the fill value
  Shape shape;                      // at least the part of the chunk that lies in the array
  bool mapped = false;              // it lies in the file, so that keeping it costs nothing
  // Where `data` stands for bytes of a file that are to be read from it (FileBytes::ReadAt): that
  // file, which the array keeps.
  const FileBytes* unloaded = nullptr;

  // Copies `bytes` bytes from `offset` of the chunk on.
  Status Copy(size_t offset, size_t bytes, std::byte* to) const;
};

// What a format describes of an array when it opens it. Everything has been checked.
struct ChunkedLayout {
  std::string name;   // for messages: "a.h5: /train/images"
  Shape shape;        // at least one dimension; rows lie along the first
  Shape chunk_shape;  // as many, none of them 0
  RowForm form = RowForm::kValues;
  StoredValue value;            // of kValues
  size_t value_bytes = 1;       // what one value takes in the file, whatever the form
  DType dtype = DType::kUInt8;  // of rows
  Shape row_shape;              // of rows; [-1] where they are followed
  std::string fill;             // value_bytes bytes, or empty for zeros
};

// What follows from a layout that CheckLayout has found to be possible.
struct ChunkGridSizes {
  explicit ChunkGridSizes(const ChunkedLayout& layout);
  Shape grid;                // chunks along each dimension
  int64_t chunks = 1;        // in all
  uint64_t chunk_bytes = 0;  // of one that is decompressed
  size_t stored_row_bytes = 0;
};

// Immutable; const calls are safe from several threads.
class ChunkedArray {
 public:
  // CheckLayout has been asked.
  explicit ChunkedArray(ChunkedLayout layout) : layout_(std::move(layout)), sizes_(layout_) {}
  virtual ~ChunkedArray() = default;

  const ChunkedLayout& layout() const { return layout_; }
  const std::string& name() const { return layout_.name; }
  int64_t rows() const { return layout_.shape.front(); }
  // Chunks along each dimension, and in all. They are numbered in C order.
  const Shape& grid() const { return sizes_.grid; }
  int64_t chunks() const { return sizes_.chunks; }
  // What one chunk takes when it is decompressed.
  uint64_t chunk_bytes() const { return sizes_.chunk_bytes; }
  // What one row takes in the file.
  size_t stored_row_bytes() const { return sizes_.stored_row_bytes; }

  // Reads, and decompresses, chunk `number`. Memory: chunk_bytes(), charged to `account` (may be
  // null), and during the call as much again for each step of undoing what was done to it; nothing
  // where it is mapped(). Errors: kDataLoss, naming array, chunk and byte.
  Result<StoredChunk> ReadChunk(int64_t number,
                                const std::shared_ptr<MemoryAccount>& account = nullptr) const {
    return DoReadChunk(number, account);
  }

  // The numbers of the chunks that have been written, sorted; the values of others are the fill
  // value. Errors: those of looking for them.
  virtual Result<std::vector<int64_t>> WrittenChunks() const = 0;

  // Whether all chunks lie in the file as they are, so that reading one costs nothing.
  virtual bool mapped() const { return false; }

  // A row of form kFollowed, from what is stored in its place. Errors: as ReadChunk.
  virtual Result<Array> Follow(std::span<const std::byte> stored, const NewArray& make) const;

 private:
  virtual Result<StoredChunk> DoReadChunk(int64_t number,
                                          const std::shared_ptr<MemoryAccount>& account) const = 0;

  const ChunkedLayout layout_;
  const ChunkGridSizes sizes_;
};

// Whether a layout that a file announces can be read: its sizes can be computed, and a row is not
// far larger than a file of `file_bytes` can be meant to hold.
// Errors: kDataLoss, kUnimplemented, kInvalidArgument for a single value.
Status CheckLayout(const ChunkedLayout& layout, uint64_t file_bytes);

}  // namespace stoker
