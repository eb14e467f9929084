// MemoryMeter: the most memory that torch's tensors have had at once.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>

namespace stoker {

// Counts while it lives. On the CPU: what the constructing thread, and autograd for it, allocates
// from torch's allocator, exactly and whatever the allocator keeps; scratch of libraries (oneDNN)
// is not in it, nor what other threads allocate. On an accelerator: what its caching allocator has
// handed out on the device, to all. Made and destroyed by one thread, innermost first.
class MemoryMeter {
 public:
  explicit MemoryMeter(c10::Device device);
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;
  ~MemoryMeter();

  // Bytes at once since construction or the last Reset.
  uint64_t peak() const;
  // Forgets the peak; what is held counts on.
  void Reset();

 private:
  class CpuCounter;

  const c10::Device device_;
  std::shared_ptr<CpuCounter> counter_;  // on the CPU
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

// How often so far torch's caching allocator has given back what it kept, because the device's
// memory had run out; 0 on the CPU.
int64_t AllocationRetries(c10::Device device);

// Gives back to the device what torch's caching allocator keeps for later; nothing on the CPU.
void ReleaseCachedMemory(c10::Device device);

}  // namespace stoker
