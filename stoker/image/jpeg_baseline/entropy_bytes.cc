#include "stoker/image/jpeg_baseline/entropy_bytes.h"

#include <algorithm>
#include <cstring>

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/jpeg_baseline/entropy_bytes.cc"  // NOLINT
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg_baseline {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

Unstuffed UnstuffVectors(std::span<const uint8_t> in, std::span<uint8_t> out) {
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto stuffed = hn::Set(d, 0xff);
  Unstuffed done;
  while (done.consumed + lanes <= in.size() && done.produced + lanes <= out.size()) {
    const auto bytes = hn::LoadU(d, in.data() + done.consumed);
    hn::StoreU(bytes, d, out.data() + done.produced);
    const intptr_t first = hn::FindFirstTrue(d, bytes == stuffed);
    const size_t plain = first < 0 ? lanes : static_cast<size_t>(first);
    done.consumed += plain;
    done.produced += plain;
    if (first < 0) continue;
    if (done.consumed + 1 == in.size() || in[done.consumed + 1] != 0) {
      done.at_marker = true;
      return done;
    }
    done.consumed += 2;  // the 0xff has been stored
    ++done.produced;
  }
  const Unstuffed rest = UnstuffReference(in.subspan(done.consumed), out.subspan(done.produced));
  return {done.consumed + rest.consumed, done.produced + rest.produced, rest.at_marker};
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg_baseline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg_baseline {

HWY_EXPORT(UnstuffVectors);

Unstuffed Unstuff(std::span<const uint8_t> in, std::span<uint8_t> out) {
  return HWY_DYNAMIC_DISPATCH(UnstuffVectors)(in, out);
}

Unstuffed UnstuffReference(std::span<const uint8_t> in, std::span<uint8_t> out) {
  Unstuffed done;
  while (done.consumed < in.size() && done.produced < out.size()) {
    const uint8_t byte = in[done.consumed];
    if (byte == 0xff) {
      done.at_marker = done.consumed + 1 == in.size() || in[done.consumed + 1] != 0;
      if (done.at_marker) break;
      ++done.consumed;
    }
    ++done.consumed;
    out[done.produced++] = byte;
  }
  return done;
}

void EntropyBytes::Start(std::span<const uint8_t> jpeg, size_t at) {
  jpeg_ = jpeg;
  Begin(at);
}

void EntropyBytes::Begin(size_t at) {
  interval_at_ = next_ = at;
  gone_ = size_ = 0;
  complete_ = false;
  Refill(begin());
}

const uint8_t* EntropyBytes::Refill(const uint8_t* at) {
  if (complete_) return at;
  const size_t kept = static_cast<size_t>(end() - at);
  std::memmove(window_.data(), at, kept);
  gone_ += size_ - kept;
  const Unstuffed fresh =
      Unstuff(jpeg_.subspan(next_), std::span(window_).first(kWindow).subspan(kept));
  next_ += fresh.consumed;
  size_ = kept + fresh.produced;
  complete_ = fresh.at_marker || next_ == jpeg_.size();
  std::memset(window_.data() + size_, 0, complete_ ? kSlack : 0);
  return begin();
}

uint8_t EntropyBytes::NextInterval() {
  for (;;) {
    const void* found = next_ == jpeg_.size()
                            ? nullptr
                            : std::memchr(jpeg_.data() + next_, 0xff, jpeg_.size() - next_);
    if (found == nullptr) return 0;
    next_ = static_cast<size_t>(static_cast<const uint8_t*>(found) - jpeg_.data());
    while (next_ < jpeg_.size() && jpeg_[next_] == 0xff) ++next_;
    if (next_ == jpeg_.size()) return 0;
    const uint8_t marker = jpeg_[next_++];
    if (marker == 0) continue;
    Begin(next_);
    return marker;
  }
}

size_t EntropyBytes::FileOffset(const uint8_t* at) const {
  size_t left = gone_ + static_cast<size_t>(at - begin());
  size_t offset = interval_at_;
  for (; left > 0 && offset < jpeg_.size(); --left) {
    offset += jpeg_[offset] == 0xff ? 2 : 1;
  }
  return std::min(offset, jpeg_.size());
}

}  // namespace stoker::jpeg_baseline
#endif  // HWY_ONCE
