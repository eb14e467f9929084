#include "stoker/tools/foreign/accelerator_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "stoker/machine/activity/cuda_activity.h"

namespace stoker {
namespace {

constexpr double kGpusEvery =
    0.5;  // seconds; NVML renews its figures as rarely, and takes a millisecond
constexpr double kNs = 1e-9;

double PerSecond(int64_t begin, int64_t end, double seconds) {
  return seconds > 0 ? static_cast<double>(end - begin) / seconds : 0;
}
double PartOf(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

CudaTimes CudaTimesBetween(const CudaCounters& begin, const CudaCounters& end) {
  const double seconds = kNs * static_cast<double>(end.counted_ns - begin.counted_ns);
  CudaTimes times{.seconds = seconds};
  for (size_t i = 0; i < end.busy_ns.size(); ++i)
    times.busy = std::max(times.busy, kNs * PerSecond(begin.busy_ns[i], end.busy_ns[i], seconds));
  times.busy = std::min(times.busy, 1.0);
  times.waits = kNs * PerSecond(begin.wait_ns, end.wait_ns, seconds);
  times.kernels_per_s = PerSecond(begin.kernels, end.kernels, seconds);
  const double kernels = kNs * PerSecond(begin.kernel_ns, end.kernel_ns, seconds);
  times.kernel_s = PartOf(kernels, times.kernels_per_s);
  times.float32_share = PartOf(kNs * PerSecond(begin.float32_ns, end.float32_ns, seconds), kernels);
  times.tf32_share = PartOf(kNs * PerSecond(begin.tf32_ns, end.tf32_ns, seconds), kernels);
  times.relayout_share =
      PartOf(kNs * PerSecond(begin.relayout_ns, end.relayout_ns, seconds), kernels);
  times.pageable = kNs * PerSecond(begin.from_pageable.ns, end.from_pageable.ns, seconds);
  times.pageable_bytes_per_s =
      PerSecond(begin.from_pageable.bytes, end.from_pageable.bytes, seconds);
  times.pinned = kNs * PerSecond(begin.from_pinned.ns, end.from_pinned.ns, seconds);
  times.pinned_bytes_per_s = PerSecond(begin.from_pinned.bytes, end.from_pinned.bytes, seconds);
  times.to_host = kNs * PerSecond(begin.to_host.ns, end.to_host.ns, seconds);
  times.small_to_host_per_s = PerSecond(begin.to_host_small, end.to_host_small, seconds);
  return times;
}

std::vector<std::pair<std::string, std::string>> AcceleratorWatch::PrepareCounting() {
  if (meter_.Read().empty()) return {};
  if (std::getenv(kCudaInjection) != nullptr) {
    no_counting_ = fmt::format("kernels are not counted: {} is set already", kCudaInjection);
    return {};
  }
  Result<std::string> library = FindCudaActivityLibrary();
  if (!library.ok()) {
    no_counting_ = library.status().message();
    return {};
  }
  Result<TemporaryDirectory> folder = TemporaryDirectory::Create("doctor");
  if (!folder.ok()) {
    no_counting_ = "kernels are not counted: " + folder.status().message();
    return {};
  }
  folder_.emplace(*std::move(folder));
  return CudaActivityVariables(*library, folder_->path().string());
}

void AcceleratorWatch::AddGpus() {
  const std::vector<GpuSample> samples = meter_.Read();
  gpus_.resize(std::max(gpus_.size(), samples.size()));
  for (size_t i = 0; i < samples.size(); ++i) {
    const GpuSample& gpu = samples[i];
    GpuSums& sums = gpus_[i];
    sums.name = gpu.name;
    ++sums.readings;
    if (gpu.used) {
      sums.used += *gpu.used;
      ++sums.with_use;
    }
    if (gpu.power_w && gpu.power_limit_w && *gpu.power_limit_w > 0) {
      sums.power_share += *gpu.power_w / *gpu.power_limit_w;
      ++sums.with_power;
    }
    if (gpu.memory_bytes && gpu.memory_used_bytes) {
      sums.memory_share =
          std::max(sums.memory_share, PartOf(static_cast<double>(*gpu.memory_used_bytes),
                                             static_cast<double>(*gpu.memory_bytes)));
    }
    for (const std::string& reason : gpu.slowed_by) ++sums.slowed_by[reason];
  }
}

void AcceleratorWatch::Look(double now, bool late) {
  if (now < due_) return;
  due_ = now + kGpusEvery;
  // What precedes the moments that count says little, but it is all that a short program has.
  if (late && !std::exchange(late_, true)) gpus_.clear();
  AddGpus();
  if (!folder_) return;
  for (const CudaActivity& each : ReadCudaActivity(folder_->path().string())) {
    Counted& counted = counted_[each.pid];
    counted.last = each.counters;
    if (late && !counted.first_late) counted.first_late = each.counters;
  }
}

std::optional<GpuTimes> AcceleratorWatch::Gpu() const {
  const auto busiest = std::ranges::max_element(gpus_, {}, &GpuSums::used);
  if (busiest == gpus_.end()) return std::nullopt;
  GpuTimes times{.name = busiest->name};
  if (busiest->with_use > 0) times.used = busiest->used / static_cast<double>(busiest->with_use);
  if (busiest->with_power > 0)
    times.power_share = busiest->power_share / static_cast<double>(busiest->with_power);
  if (busiest->memory_share > 0) times.memory_share = busiest->memory_share;
  for (const auto& [reason, count] : busiest->slowed_by) {
    if (2 * count > busiest->readings) times.slowed_by = reason;
  }
  return times;
}

std::optional<CudaTimes> AcceleratorWatch::CudaOf(int64_t pid) const {
  const auto found = counted_.find(pid);
  if (found == counted_.end() || found->second.last.problem != 0) return std::nullopt;
  const Counted& counted = found->second;
  const bool late = counted.first_late && counted.last.counted_ns > counted.first_late->counted_ns;
  const CudaCounters begin = late ? *counted.first_late : CudaCounters();
  if (counted.last.counted_ns <= begin.counted_ns) return std::nullopt;
  return CudaTimesBetween(begin, counted.last);
}

std::vector<std::string> AcceleratorWatch::Notes(int64_t pid) const {
  std::vector<std::string> notes;
  if (!no_counting_.empty()) notes.push_back(no_counting_);
  const auto found = counted_.find(pid);
  if (found == counted_.end()) return notes;
  const CudaCounters& counters = found->second.last;
  switch (static_cast<CudaProblem>(counters.problem)) {
    case CudaProblem::kNone: break;
    case CudaProblem::kNoCupti:
      notes.emplace_back(
          "kernels are not counted: the program finds no libcupti; pip install nvidia-cuda-cupti, "
          "or put CUDA's "
          "extras/CUPTI/lib64 into LD_LIBRARY_PATH");
      break;
    case CudaProblem::kCuptiRefuses:
      notes.push_back(fmt::format(
          "kernels are not counted: CUPTI refuses (its error {}); another profiler may have it",
          counters.problem_code));
      break;
  }
  if (counters.dropped > 0)
    notes.push_back(fmt::format("CUPTI dropped {} records, so figures of the GPU are too low",
                                counters.dropped));
  return notes;
}

}  // namespace stoker
