#include "stoker/train/tune/memory_meter.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <atomic>

namespace stoker {

// torch tells it of every block that is allocated and freed.
class MemoryMeter::CpuCounter final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*block*/, int64_t bytes, size_t /*allocated*/, size_t /*reserved*/,
                         c10::Device device) override {
    if (!device.is_cpu()) return;
    const int64_t held = held_.fetch_add(bytes) + bytes;
    int64_t peak = peak_.load();
    while (held > peak && !peak_.compare_exchange_weak(peak, held)) {
    }
  }
  bool memoryProfilingEnabled() const override { return true; }

  int64_t peak() const { return peak_; }
  void Reset() { peak_ = held_.load(); }

 private:
  std::atomic<int64_t> held_ = 0, peak_ = 0;
};

struct MemoryMeter::Guard {
  explicit Guard(std::shared_ptr<CpuCounter> counter)
      : info(c10::DebugInfoKind::PROFILER_STATE, std::move(counter)) {}
  c10::DebugInfoGuard info;
};

MemoryMeter::MemoryMeter(c10::Device device) : device_(device) {
  if (device_.is_cpu()) {
    counter_ = std::make_shared<CpuCounter>();
    guard_ = std::make_unique<Guard>(counter_);
  }
  Reset();
}

MemoryMeter::~MemoryMeter() = default;

uint64_t MemoryMeter::peak() const {
  if (counter_) return static_cast<uint64_t>(std::max<int64_t>(counter_->peak(), 0));
  // Index 0: all kinds of blocks together.
  return static_cast<uint64_t>(
      at::accelerator::getDeviceStats(device_.index()).allocated_bytes[0].peak);
}

void MemoryMeter::Reset() {
  if (counter_) {
    counter_->Reset();
  } else {
    at::accelerator::resetPeakStats(device_.index());
  }
}

int64_t AllocationRetries(c10::Device device) {
  return device.is_cpu() ? 0 : at::accelerator::getDeviceStats(device.index()).num_alloc_retries;
}

void ReleaseCachedMemory(c10::Device device) {
  if (!device.is_cpu()) at::accelerator::emptyCache();
}

}  // namespace stoker
