#include "stoker/image/decode_scratch.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace stoker {

DecodeScratch::DecodeScratch()
    : DecodeScratch([](size_t bytes) { return Buffer::Allocate(bytes); }) {}

DecodeScratch::DecodeScratch(Source source) : source_(std::move(source)) {}

std::byte* DecodeScratch::Take(size_t bytes) {
  if (bytes > SIZE_MAX / 4) throw std::bad_alloc();
  const size_t rounded =
      (std::max<size_t>(bytes, 1) + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  if (blocks_.empty() || blocks_.back().size() - used_ < rounded) {
    const size_t wanted = std::max(next_block_bytes_, std::bit_ceil(rounded));
    blocks_.push_back(source_(wanted));
    used_ = 0;
    next_block_bytes_ = wanted;
  }
  std::byte* const taken = blocks_.back().data() + used_;
  used_ += rounded;
  return taken;
}

void DecodeScratch::Reset() {
  used_ = 0;
  const size_t held = held_bytes();
  if (blocks_.size() <= 1 && held <= kMaxIdleBytes) return;
  blocks_.clear();
  next_block_bytes_ = std::clamp(std::bit_ceil(held), kMinBlockBytes, kMaxIdleBytes);
}

size_t DecodeScratch::held_bytes() const {
  size_t bytes = 0;
  for (const Buffer& block : blocks_) bytes += block.size();
  return bytes;
}

}  // namespace stoker
