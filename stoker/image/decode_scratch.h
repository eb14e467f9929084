// Working memory that decoders reuse from one picture to the next.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "stoker/base/buffer.h"

namespace stoker {

// An arena: Take allocates pieces, Reset frees them all at once. After a few pictures of a size it
// allocates no more. The destructor returns its blocks.
//
// The source of the blocks decides which account they are charged to. A pipeline stage passes its
// pool, and may make a new arena for each picture, because a pool recycles blocks of equal size and
// all blocks here are powers of two. Threads: one at a time.
class DecodeScratch {
 public:
  // Returns a block of at least this many bytes, 64-byte aligned. May throw std::bad_alloc.
  using Source = std::function<Buffer(size_t bytes)>;

  // Takes blocks from the heap, charged to no account.
  DecodeScratch();
  explicit DecodeScratch(Source source);
  DecodeScratch(const DecodeScratch&) = delete;
  DecodeScratch& operator=(const DecodeScratch&) = delete;
  ~DecodeScratch();

  // Returns `bytes` bytes, 64-byte aligned, not cleared, valid until Reset. Throws what the source
  // throws.
  std::byte* Take(size_t bytes);

  // Frees everything taken. Merges the blocks into one for the next time; returns more than
  // kMaxIdleBytes, which one huge picture among small ones needs, to the source.
  void Reset();

  // Returns bytes of all blocks held.
  size_t held_bytes() const;

  static constexpr size_t kMinBlockBytes = size_t{256} << 10;
  static constexpr size_t kMaxIdleBytes = size_t{16} << 20;

 private:
  void Drop();

  const Source source_;
  std::vector<Buffer> blocks_;  // Take allocates from the last
  size_t used_ = 0;             // bytes of it
  size_t next_block_bytes_ = kMinBlockBytes;
};

}  // namespace stoker
