// Denormals: floats other than zero that are nearer to it than the smallest with all their digits
// (1.2e-38 for float). CPUs take up to a hundred times as long for them. A thread that flushes them
// takes those that it reads for zero, and writes zero where one would be the result.
#pragma once

#include <cstdint>

namespace stoker {

// Whether the calling thread flushes denormals, and how else it computes with floats: what is read
// here can be set again, on this thread or another.
uint32_t FloatMode();
void SetFloatMode(uint32_t mode);

// `mode` with denormals flushed, or kept; nothing else is changed.
uint32_t WithDenormalsFlushed(uint32_t mode, bool flushed);

// While it lives, the calling thread flushes denormals or keeps them. It ends on the same thread.
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
