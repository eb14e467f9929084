// What stoker_cuda_activity.so makes of CUPTI's records: sums, and the time that they cover
// together. Allocates once, throws nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>

#include "stoker/base/mutex.h"
#include "stoker/machine/activity/cuda_counters.h"

namespace stoker {

// Of cupti_activity.h.
inline constexpr uint32_t kMemcpy = 1, kSynchronization = 38, kConcurrentKernel = 10;
inline constexpr uint8_t kHostToDevice = 1, kDeviceToHost = 2;
inline constexpr uint8_t kPageable = 1;
inline constexpr uint32_t kStreamWaitsForEvent = 2;  // the device waits, not the host

struct Record {
  uint32_t kind;
};
struct KernelRecord {
  uint32_t kind;
  uint8_t unused[12];
  uint64_t start, end;
  uint64_t completed;
  uint32_t device;
  uint8_t more[60];
  const char* name;
};
static_assert(offsetof(KernelRecord, start) == 16 && offsetof(KernelRecord, device) == 40 &&
              offsetof(KernelRecord, name) == 104);
struct CopyRecord {
  uint32_t kind;
  uint8_t copy_kind, source, target, flags;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t device;
};
static_assert(offsetof(CopyRecord, start) == 16 && offsetof(CopyRecord, device) == 32);
struct WaitRecord {
  uint32_t kind, type;
  uint64_t start, end;
};
static_assert(offsetof(WaitRecord, start) == 8);

enum class KernelKind : uint8_t { kOther, kFloat32, kTf32, kRelayout, kCollective };

inline bool NameHas(const char* name, const char* part) {
  return std::strstr(name, part) != nullptr;
}
inline bool NameHasOneOf(const char* name, std::initializer_list<const char*> parts) {
  return std::ranges::any_of(parts, [name](const char* part) { return NameHas(name, part); });
}

// By the names that NCCL, cuBLAS, cuDNN and CUTLASS give their kernels.
inline KernelKind KindOf(const char* name) {
  if (name == nullptr) return KernelKind::kOther;
  if (NameHas(name, "nccl")) return KernelKind::kCollective;
  if (NameHasOneOf(name, {"nchwToNhwc", "nhwcToNchw"})) return KernelKind::kRelayout;
  if (NameHasOneOf(name, {"f16", "fp16", "h1688", "h884", "half"})) return KernelKind::kOther;
  if (NameHasOneOf(name, {"winograd", "fft2d_", "pointwise_mult_and_sum_complex"}))
    return KernelKind::kFloat32;  // cuDNN's transforms for convolutions
  if (!NameHasOneOf(name, {"gemm", "conv", "fprop", "dgrad", "wgrad", "scudnn", "cutlass", "xmma"}))
    return KernelKind::kOther;
  if (NameHasOneOf(name, {"tf32", "_s1688"})) return KernelKind::kTf32;
  return NameHasOneOf(name, {"sgemm", "f32f32_", "scudnn", "ffma", "engineIf"})
             ? KernelKind::kFloat32
             : KernelKind::kOther;
}

// A time in which a device did something. Room for a window of a program that launches a kernel
// each us.
struct Interval {
  uint64_t start, end;
  bool kernel;
};
inline constexpr size_t kMostIntervals = 1 << 18;

class Intervals {
 public:
  Intervals() = default;
  ~Intervals() { std::free(data_); }
  Intervals(const Intervals&) = delete;
  Intervals& operator=(const Intervals&) = delete;

  // Returns false if there is no room.
  bool Add(const Interval& interval) {
    if (data_ == nullptr)
      data_ = static_cast<Interval*>(std::malloc(kMostIntervals * sizeof(Interval)));
    if (data_ == nullptr || count_ == kMostIntervals) return false;
    data_[count_++] = interval;
    return true;
  }
  // Drops them, and returns the time that they cover together, and of it that of kernels.
  void Take(int64_t& all, int64_t& kernels) {
    std::sort(data_, data_ + count_,
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    uint64_t until = 0, kernels_until = 0;
    for (size_t i = 0; i < count_; ++i) {
      Cover(data_[i], until, all);
      if (data_[i].kernel) Cover(data_[i], kernels_until, kernels);
    }
    count_ = 0;
  }

 private:
  static void Cover(const Interval& interval, uint64_t& until, int64_t& sum) {
    const uint64_t start = std::max(interval.start, until);
    if (interval.end <= start) return;
    sum += static_cast<int64_t>(interval.end - start);
    until = interval.end;
  }

  Interval* data_ = nullptr;
  size_t count_ = 0;
};

// Adds records up, and publishes the sums window by window. CUPTI hands buffers over from its own
// thread and from those that ask it to.
class Tally {
 public:
  explicit Tally(CudaCounters& published) : published_(published) {}

  void Add(const Record& record) {
    const MutexLock lock(mutex_);
    if (record.kind == kConcurrentKernel) AddKernel(reinterpret_cast<const KernelRecord&>(record));
    if (record.kind == kMemcpy) AddCopy(reinterpret_cast<const CopyRecord&>(record));
    if (record.kind == kSynchronization) AddWait(reinterpret_cast<const WaitRecord&>(record));
  }
  void AddDropped(size_t records) {
    const MutexLock lock(mutex_);
    sums_.dropped += static_cast<int64_t>(records);
  }

  // Publishes what has been added, of a window of `counted_ns`. Buffers of different threads come
  // out of order, so the time that kernels cover together is known only now.
  void Publish(int64_t counted_ns) {
    const MutexLock lock(mutex_);
    for (size_t device = 0; device < kCountedDevices; ++device)
      intervals_[device].Take(sums_.busy_ns[device], sums_.computing_ns[device]);
    ++sums_.windows;
    sums_.counted_ns += counted_ns;
    int64_t numbers[sizeof(CudaCounters) / sizeof(int64_t)];
    std::memcpy(numbers, &sums_, sizeof numbers);
    auto* const shared = reinterpret_cast<int64_t*>(&published_);
    // A reader must not see half of a number.
    for (size_t i = 0; i < std::size(numbers); ++i)
      __atomic_store_n(shared + i, numbers[i], __ATOMIC_RELAXED);
  }

 private:
  struct Known {
    const char* name = nullptr;
    KernelKind kind = KernelKind::kOther;
  };

  static int64_t Length(uint64_t start, uint64_t end) {
    return end > start ? static_cast<int64_t>(end - start) : 0;
  }

  void AddKernel(const KernelRecord& record) STOKER_REQUIRES(mutex_) {
    const int64_t ns = Length(record.start, record.end);
    const KernelKind kind = KnownKind(record.name);
    if (kind == KernelKind::kCollective) {
      sums_.collective_ns += ns;
      return;
    }
    ++sums_.kernels;
    sums_.kernel_ns += ns;
    if (kind == KernelKind::kFloat32) sums_.float32_ns += ns;
    if (kind == KernelKind::kTf32) sums_.tf32_ns += ns;
    if (kind == KernelKind::kRelayout) sums_.relayout_ns += ns;
    Keep(record.device, {record.start, record.end, true});
  }

  void AddCopy(const CopyRecord& record) STOKER_REQUIRES(mutex_) {
    const bool to_device = record.copy_kind == kHostToDevice;
    if (to_device || record.copy_kind == kDeviceToHost) {
      CudaCopies& copies = !to_device                   ? sums_.to_host
                           : record.source == kPageable ? sums_.from_pageable
                                                        : sums_.from_pinned;
      ++copies.count;
      copies.bytes += static_cast<int64_t>(record.bytes);
      copies.ns += Length(record.start, record.end);
      if (!to_device && record.bytes <= static_cast<uint64_t>(kSmallCopy)) ++sums_.to_host_small;
    }
    Keep(record.device, {record.start, record.end, false});
  }

  void AddWait(const WaitRecord& record) STOKER_REQUIRES(mutex_) {
    if (record.type == kStreamWaitsForEvent) return;
    ++sums_.waits;
    sums_.wait_ns += Length(record.start, record.end);
  }

  // Names stay where they are, so a name is read once.
  KernelKind KnownKind(const char* name) STOKER_REQUIRES(mutex_) {
    Known& known = known_[(reinterpret_cast<uintptr_t>(name) >> 4) % std::size(known_)];
    if (known.name != name) known = {name, KindOf(name)};
    return known.kind;
  }

  void Keep(uint32_t device, const Interval& interval) STOKER_REQUIRES(mutex_) {
    if (device < kCountedDevices && interval.end > interval.start &&
        !intervals_[device].Add(interval))
      ++sums_.dropped;
  }

  Mutex mutex_;
  CudaCounters& published_;
  CudaCounters sums_ STOKER_GUARDED_BY(mutex_);
  Intervals intervals_[kCountedDevices] STOKER_GUARDED_BY(mutex_);
  Known known_[1024] STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
