#include "stoker/base/denormals.h"

#include <xmmintrin.h>

namespace stoker {
namespace {

// Bits of MXCSR (Intel's manual, volume 1, 10.2.3). Every x86-64 CPU has both.
constexpr uint32_t kDenormalsAreZero = 1u << 6, kFlushToZero = 1u << 15;
// Exceptions that instructions have raised; no part of how the thread computes.
constexpr uint32_t kExceptionFlags = 0x3f;

}  // namespace

uint32_t FloatMode() { return _mm_getcsr() & ~kExceptionFlags; }

void SetFloatMode(uint32_t mode) { _mm_setcsr(mode | (_mm_getcsr() & kExceptionFlags)); }

uint32_t WithDenormalsFlushed(uint32_t mode, bool flushed) {
  constexpr uint32_t kBoth = kDenormalsAreZero | kFlushToZero;
  return flushed ? mode | kBoth : mode & ~kBoth;
}

}  // namespace stoker
