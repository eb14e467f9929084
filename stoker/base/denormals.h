// Denormals: floats other than zero that are smaller than the smallest normal one (1.2e-38 for
// float). CPUs take up to a hundred times as long for them. A thread that flushes denormals reads
// them as zero and writes zero in their place.
#pragma once

#include <cstdint>

namespace stoker {

// Returns the calling thread's floating-point mode, of which the flushing of denormals is a part.
// It can be set again, on this thread or another.
uint32_t FloatMode();
void SetFloatMode(uint32_t mode);

// Returns `mode` with denormals flushed, or kept; the rest of it is unchanged.
uint32_t WithDenormalsFlushed(uint32_t mode, bool flushed);

// While it lives, the calling thread flushes denormals or keeps them. Destroy it on the same
// thread.
class DenormalScope {
 public:
  explicit DenormalScope(bool flushed) : before_(FloatMode()) {
    SetFloatMode(WithDenormalsFlushed(before_, flushed));
  }
  ~DenormalScope() { SetFloatMode(before_); }
  DenormalScope(const DenormalScope&) = delete;
  DenormalScope& operator=(const DenormalScope&) = delete;

 private:
  const uint32_t before_;
};

}  // namespace stoker
