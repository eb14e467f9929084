// Working memory of decoders, kept from one picture to the next.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "stoker/base/buffer.h"

namespace stoker {

// An arena: memory is handed out piece by piece and taken back all at once. After a few pictures of
// a size it asks for no more. What it holds goes back when it is destroyed.
//
// Where blocks come from decides whom they are charged to: a pipeline stage hands in its pool, and
// may make the arena anew for each picture, since a pool recycles blocks of equal size and all
// blocks here are powers of two.
// Threads: one at a time.
class DecodeScratch {
 public:
  // Gives a block of at least this many bytes, 64-byte aligned. May throw std::bad_alloc.
  using Source = std::function<Buffer(size_t bytes)>;

  // Blocks from the heap, charged to nobody.
  DecodeScratch();
  explicit DecodeScratch(Source source);
  DecodeScratch(const DecodeScratch&) = delete;
  DecodeScratch& operator=(const DecodeScratch&) = delete;
  ~DecodeScratch();

  // `bytes` bytes, 64-byte aligned, not cleared, valid until Reset. Throws what the source throws.
  std::byte* Take(size_t bytes);

  // Takes back all that was handed out. What did not fit into one block will the next time; more
  // than kMaxIdleBytes, as one huge picture among small ones needs, goes back to the source.
  void Reset();

  // Bytes of all blocks held.
  size_t held_bytes() const;

  static constexpr size_t kMinBlockBytes = size_t{256} << 10;
  static constexpr size_t kMaxIdleBytes = size_t{16} << 20;

 private:
  void Drop();

  const Source source_;
  std::vector<Buffer> blocks_;  // the last is being handed out
  size_t used_ = 0;             // bytes of it
  size_t next_block_bytes_ = kMinBlockBytes;
};

}  // namespace stoker
