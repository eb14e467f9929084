// What a process does on CUDA devices, as counters that a library inside it keeps in a file
// (cuda_activity_library.cc), and that another process reads meanwhile (cuda_activity.h).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

namespace stoker {

inline constexpr int kCountedDevices = 16;

// Times are of the device, in nanoseconds, unless it says otherwise. Counters only grow, some
// seconds after what they count.
struct CudaCopies {
  int64_t count = 0, bytes = 0, ns = 0;
};

struct CudaCounters {
  // The windows in which CUPTI recorded, and their length by the host's clock. What follows is of
  // these times alone.
  int64_t windows = 0, counted_ns = 0;
  // By device: in which a kernel or a copy ran, and in which a kernel did. Kernels of NCCL are in
  // neither: they run while they wait for other ranks.
  std::array<int64_t, kCountedDevices> busy_ns = {}, computing_ns = {};
  int64_t kernels = 0, kernel_ns = 0;
  int64_t float32_ns = 0;     // of kernels that multiply matrices or convolve in float32
  int64_t tf32_ns = 0;        // of those that do so in TF32
  int64_t relayout_ns = 0;    // of kernels that only change the order of channels
  int64_t collective_ns = 0;  // of NCCL's
  CudaCopies from_pageable, from_pinned;  // of the host's memory to the device
  CudaCopies to_host;
  int64_t to_host_small = 0;       // of these, those of at most kSmallCopy bytes: `.item()`
  int64_t waits = 0, wait_ns = 0;  // of the host for a device
  int64_t dropped = 0;             // records that there was no room for
  int64_t problem = 0;             // a CudaProblem; counting has ended
  int64_t problem_code = 0;        // CUPTI's or errno
};
inline constexpr int64_t kSmallCopy = 64;
static_assert(std::is_trivially_copyable_v<CudaCounters>);

enum class CudaProblem : int64_t {
  kNone,
  kNoCupti,       // no libcupti was found
  kCuptiRefuses,  // a call failed, for instance because another profiler has it
  kNoThread,      // the library's thread could not be started
};

// The file PID.cuda: this, at its beginning. A counter that is read while it is written is the old
// or the new one.
struct CudaCountersFile {
  static constexpr uint64_t kMagic = 0x31616475'63727473;  // "strcuda1"
  std::atomic<uint64_t> magic = 0;                         // written last
  CudaCounters counters;
};

// Where the library finds the folder for its file.
inline constexpr const char* kCudaActivityFolder = "STOKER_CUDA_ACTIVITY";
// Where CUDA's driver finds a library to load with the first call of CUDA.
inline constexpr const char* kCudaInjection = "CUDA_INJECTION64_PATH";

}  // namespace stoker
