#include "stoker/image/decode_scratch.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STOKER_WATCHED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define STOKER_WATCHED 1
#endif
#ifdef STOKER_WATCHED
#include <sanitizer/asan_interface.h>
#endif

namespace stoker {
namespace {

// AddressSanitizer sees a block as one. Once it knows which pieces are handed out, it reports
// accesses beyond a piece, into the gap after it.
#ifdef STOKER_WATCHED
constexpr size_t kGap = kBufferAlignment;
void Forbid(const std::byte* begin, size_t size) { __asan_poison_memory_region(begin, size); }
void Allow(const std::byte* begin, size_t size) { __asan_unpoison_memory_region(begin, size); }
#else
constexpr size_t kGap = 0;
void Forbid(const std::byte*, size_t) {}
void Allow(const std::byte*, size_t) {}
#endif

}  // namespace

DecodeScratch::DecodeScratch()
    : DecodeScratch([](size_t bytes) { return Buffer::Allocate(bytes); }) {}

DecodeScratch::DecodeScratch(Source source) : source_(std::move(source)) {}

DecodeScratch::~DecodeScratch() { Drop(); }

void DecodeScratch::Drop() {
  for (const Buffer& block : blocks_) Allow(block.data(), block.size());
  blocks_.clear();
}

std::byte* DecodeScratch::Take(size_t bytes) {
  if (bytes > SIZE_MAX / 4) throw std::bad_alloc();
  const size_t rounded =
      (std::max<size_t>(bytes, 1) + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment +
      kGap;
  if (blocks_.empty() || blocks_.back().size() - used_ < rounded) {
    const size_t wanted = std::max(next_block_bytes_, std::bit_ceil(rounded));
    blocks_.push_back(source_(wanted));
    Forbid(blocks_.back().data(), blocks_.back().size());
    used_ = 0;
    next_block_bytes_ = wanted;
  }
  std::byte* const taken = blocks_.back().data() + used_;
  used_ += rounded;
  Allow(taken, bytes);
  return taken;
}

void DecodeScratch::Reset() {
  used_ = 0;
  const size_t held = held_bytes();
  if (blocks_.size() <= 1 && held <= kMaxIdleBytes) {
    if (!blocks_.empty()) Forbid(blocks_.back().data(), blocks_.back().size());
    return;
  }
  Drop();
  next_block_bytes_ = std::clamp(std::bit_ceil(held), kMinBlockBytes, kMaxIdleBytes);
}

size_t DecodeScratch::held_bytes() const {
  size_t bytes = 0;
  for (const Buffer& block : blocks_) bytes += block.size();
  return bytes;
}

}  // namespace stoker
