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

// Makes an array whose values are not initialised.
using NewArray = std::function<Array(DType dtype, Shape shape)>;
// Makes an array whose memory is charged to no account.
Array NewArrayOfNobody(DType dtype, Shape shape);

// The result that a row becomes.
enum class RowForm : uint8_t {
  kValues,    // numbers, the same count in every row
  kFollowed,  // a text or list of its own length, which ChunkedArray::Follow makes
};

// The stored values of one chunk, C order. A cheap value.
struct StoredChunk {
  Buffer owner;
  const std::byte* data = nullptr;  // null: never written, so all of it is the fill value
  Shape shape;                      // at least the part of the chunk that lies in the array
  bool mapped = false;              // it is mapped memory of the file, so keeping it costs nothing
  // If the bytes at `data` are to be read from a file (FileBytes::ReadAt): that file, which the
  // array keeps.
  const FileBytes* unloaded = nullptr;

  // Copies `bytes` bytes from `offset` of the chunk on.
  Status Copy(size_t offset, size_t bytes, std::byte* to) const;
};

// A format's description of an array that it opens. Everything in it has been checked.
struct ChunkedLayout {
  std::string name;   // for messages: "a.h5: /train/images"
  Shape shape;        // at least one dimension; rows lie along the first
  Shape chunk_shape;  // as many, none of them 0
  RowForm form = RowForm::kValues;
  StoredValue value;            // of kValues
  size_t value_bytes = 1;       // of one value in the file, in either form
  DType dtype = DType::kUInt8;  // of rows
  Shape row_shape;              // of rows; [-1] if they are followed
  std::string fill;             // value_bytes bytes, or empty for zeros
};

// The sizes of a layout that passed CheckLayout.
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
  // REQUIRES: `layout` passed CheckLayout.
  explicit ChunkedArray(ChunkedLayout layout) : layout_(std::move(layout)), sizes_(layout_) {}
  virtual ~ChunkedArray() = default;

  const ChunkedLayout& layout() const { return layout_; }
  const std::string& name() const { return layout_.name; }
  int64_t rows() const { return layout_.shape.front(); }
  // Chunks along each dimension, and in all. They are numbered in C order.
  const Shape& grid() const { return sizes_.grid; }
  int64_t chunks() const { return sizes_.chunks; }
  // Returns the bytes of a decompressed chunk.
  uint64_t chunk_bytes() const { return sizes_.chunk_bytes; }
  // Returns the bytes of a row in the file.
  size_t stored_row_bytes() const { return sizes_.stored_row_bytes; }

  // Reads, and decompresses, chunk `number`. Memory: chunk_bytes(), charged to `account` (may be
  // null), and during the call as much again for each filter to undo; none if it is mapped().
  // Errors: kDataLoss, naming array, chunk and byte.
  Result<StoredChunk> ReadChunk(int64_t number,
                                const std::shared_ptr<MemoryAccount>& account = nullptr) const {
    return DoReadChunk(number, account);
  }

  // Returns the numbers of the chunks that have been written, sorted; the values of others are the
  // fill value. Errors: those of looking for them.
  virtual Result<std::vector<int64_t>> WrittenChunks() const = 0;

  // Returns whether all chunks are stored unchanged in mapped memory, so that reading one costs
  // nothing.
  virtual bool mapped() const { return false; }

  // Returns a row of form kFollowed, given the bytes stored in its place. Errors: as ReadChunk.
  virtual Result<Array> Follow(std::span<const std::byte> stored, const NewArray& make) const;

 private:
  virtual Result<StoredChunk> DoReadChunk(int64_t number,
                                          const std::shared_ptr<MemoryAccount>& account) const = 0;

  const ChunkedLayout layout_;
  const ChunkGridSizes sizes_;
};

// Checks that a layout announced by a file can be read: its sizes can be computed, and a row is not
// far larger than a file of `file_bytes` could hold. Errors: kDataLoss, kUnimplemented,
// kInvalidArgument for a single value.
Status CheckLayout(const ChunkedLayout& layout, uint64_t file_bytes);

}  // namespace stoker
