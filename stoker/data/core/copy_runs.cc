#include "stoker/data/core/copy_runs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/data/core/copy_runs.cc"  // NOLINT: for foreach_target.h
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kCacheLine = 64;
// About so many bytes are asked for ahead, in runs at least and at most so many.
constexpr size_t kAheadBytes = 8192;
constexpr size_t kLeastAhead = 4, kMostAhead = 32;
// The processor itself prefetches the rest of a longer run, and memcpy is as fast as possible.
constexpr size_t kMostOfARun = 4096;

// Inlined by force: GCC 12 takes a function that does nothing but prefetch for one without effect
// and leaves out calls of it.
[[gnu::always_inline]] inline void Prefetch(const MemoryRun& run) {
  const size_t bytes = std::min(run.bytes, kMostOfARun);
  for (size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(run.from + at);
  // One line more where it begins within a line.
  if (bytes > kCacheLine) __builtin_prefetch(run.from + bytes - 1);
}

HWY_INLINE void CopyLine(const std::byte* from, std::byte* to) {
  const hn::CappedTag<uint8_t, kCacheLine> d;
  for (size_t at = 0; at < kCacheLine; at += hn::Lanes(d)) {
    hn::StoreU(hn::LoadU(d, reinterpret_cast<const uint8_t*>(from) + at), d,
               reinterpret_cast<uint8_t*>(to) + at);
  }
}

// A run of at least a line. For each line copied one of `later` is asked for: more at a time than
// the processor can have under way would hold up the copy.
HWY_INLINE void CopyLines(const MemoryRun& run, const MemoryRun& later, std::byte* to) {
  size_t at = 0;
  for (; at + kCacheLine <= run.bytes; at += kCacheLine) {
    if (at < later.bytes) __builtin_prefetch(later.from + at);
    CopyLine(run.from + at, to + at);
  }
  const size_t asked = std::min(later.bytes, kMostOfARun);
  for (; at < asked; at += kCacheLine) __builtin_prefetch(later.from + at);
  if (asked > 0) __builtin_prefetch(later.from + asked - 1);
  // The last line; what of it has been copied before is copied again.
  const size_t last = run.bytes - kCacheLine;
  CopyLine(run.from + last, to + last);
}

void Copy(const MemoryRun* runs, size_t count, std::byte* to) {
  if (count == 1) {  // one run: nothing to prefetch
    if (runs[0].bytes > 0) std::memcpy(to, runs[0].from, runs[0].bytes);
    return;
  }
  if (count == 0) return;
  const size_t ahead =
      std::clamp(kAheadBytes / std::max<size_t>(1, runs[0].bytes), kLeastAhead, kMostAhead);
  for (size_t i = 0; i < std::min(ahead, count); ++i) Prefetch(runs[i]);
  for (size_t i = 0; i < count; ++i) {
    const MemoryRun& run = runs[i];
    const MemoryRun later = i + ahead < count ? runs[i + ahead] : MemoryRun{run.from, 0};
    if (run.bytes >= kCacheLine && run.bytes <= kMostOfARun) {
      CopyLines(run, later, to);
    } else {
      Prefetch(later);
      if (run.bytes == sizeof(uint64_t)) {  // a label, mostly: not worth a call
        std::memcpy(to, run.from, sizeof(uint64_t));
      } else if (run.bytes > 0) {
        std::memcpy(to, run.from, run.bytes);
      }
    }
    to += run.bytes;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(Copy);

void CopyRuns(std::span<const MemoryRun> runs, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(Copy)(runs.data(), runs.size(), to);
}

}  // namespace stoker
#endif  // HWY_ONCE
