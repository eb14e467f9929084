// MemoryMeter: measures the peak memory of torch's tensors.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>

namespace stoker {

// Counts while it lives. On the CPU: the exact allocations of the constructing thread, and of
// autograd for it, from torch's allocator, without the allocator's cache, scratch memory of
// libraries (oneDNN) and other threads. On an accelerator: all allocations from its caching
// allocator. Construct and destroy it on one thread, innermost first.
class MemoryMeter {
 public:
  explicit MemoryMeter(c10::Device device);
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;
  ~MemoryMeter();

  // Returns the peak in bytes since construction or the last Reset.
  uint64_t peak() const;
  // Resets the peak to the memory held now.
  void Reset();

 private:
  class CpuCounter;

  const c10::Device device_;
  std::shared_ptr<CpuCounter> counter_;  // on the CPU
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

// Returns how often torch's caching allocator has released its cache because the device's memory
// had run out; 0 on the CPU.
int64_t AllocationRetries(c10::Device device);

// Releases the cache of torch's caching allocator to the device; does nothing on the CPU.
void ReleaseCachedMemory(c10::Device device);

}  // namespace stoker
