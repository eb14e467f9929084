#include "stoker/tools/foreign/accelerator_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ranges>
#include <utility>

#include "stoker/machine/activity/cuda_activity.h"
#include "stoker/tools/foreign/process_facts.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr double kGpusEvery =
    0.5;  // seconds; NVML renews its figures as rarely, and takes a millisecond
// NVML is asked less often where that takes more than this share of a CPU, but so often at least.
constexpr double kReadingShare = 0.01, kGpusAtLeastEvery = 2;
constexpr double kNs = 1e-9;

double PerSecond(int64_t begin, int64_t end, double seconds) {
  return seconds > 0 ? static_cast<double>(end - begin) / seconds : 0;
}
double PartOf(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

CudaTimes CudaTimesBetween(const CudaCounters& begin, const CudaCounters& end) {
  const double seconds = kNs * static_cast<double>(end.counted_ns - begin.counted_ns);
  CudaTimes times{.windows = end.windows - begin.windows, .seconds = seconds};
  for (size_t i = 0; i < end.busy_ns.size(); ++i) {
    const double busy = kNs * PerSecond(begin.busy_ns[i], end.busy_ns[i], seconds);
    if (busy <= times.busy) continue;
    // Work that was launched in a window may take longer than that.
    times.busy = std::min(1.0, busy);
    times.computing =
        std::min(1.0, kNs * PerSecond(begin.computing_ns[i], end.computing_ns[i], seconds));
  }
  times.collectives = kNs * PerSecond(begin.collective_ns, end.collective_ns, seconds);
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
  // The program may change its folder.
  return CudaActivityVariables(std::filesystem::absolute(*library).string(),
                               std::filesystem::absolute(folder_->path()).string());
}

void AcceleratorWatch::LeaveUncounted() {
  if (!meter_.Read().empty()) no_counting_ = "kernels are not counted, as --no-gpu-counters says";
}

void AcceleratorWatch::AddGpus() {
  const std::vector<GpuSample> samples = meter_.Read();
  gpus_.resize(std::max(gpus_.size(), samples.size()));
  for (size_t i = 0; i < samples.size(); ++i) {
    const GpuSample& gpu = samples[i];
    GpuSums& sums = gpus_[i];
    sums.name = gpu.name;
    sums.compute_major = gpu.compute_major;
    sums.compute_minor = gpu.compute_minor;
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
  if (folder_) ReadCounters(now, late);
  if (now < gpus_due_) return;
  const double cpu = ThreadCpuSeconds();
  // What precedes the moments that count says little, but it is all that a short program has.
  if (late && !std::exchange(late_, true)) gpus_.clear();
  AddGpus();
  gpus_due_ =
      now + std::clamp((ThreadCpuSeconds() - cpu) / kReadingShare, kGpusEvery, kGpusAtLeastEvery);
}

void AcceleratorWatch::ReadCounters(double now, bool late) {
  const std::string folder = folder_->path().string();
  std::error_code error;
  const auto is_there = [&](int64_t pid) { return HasCudaActivity(folder, pid); };
  const bool all_there = std::filesystem::is_directory(folder_->path(), error) &&
                         std::ranges::all_of(std::views::keys(counted_), is_there);
  if (all_there)
    lost_.reset();
  else if (!lost_)
    lost_ = now;
  for (const CudaActivity& each : ReadCudaActivity(folder)) {
    Counted& counted = counted_[each.pid];
    if (each.counters.counted_ns < counted.last.counted_ns) counted = {};  // another program now
    counted.last = each.counters;
    if (late && !counted.first_late) counted.first_late = each.counters;
  }
}

std::optional<GpuTimes> AcceleratorWatch::Gpu() const {
  const auto busiest = std::ranges::max_element(gpus_, {}, &GpuSums::used);
  if (busiest == gpus_.end()) return std::nullopt;
  GpuTimes times{.name = busiest->name,
                 .compute_major = busiest->compute_major,
                 .compute_minor = busiest->compute_minor};
  if (busiest->with_use > 0) times.used = busiest->used / static_cast<double>(busiest->with_use);
  if (busiest->with_power > 0)
    times.power_share = busiest->power_share / static_cast<double>(busiest->with_power);
  if (busiest->memory_share > 0) times.memory_share = busiest->memory_share;
  for (const auto& [reason, count] : busiest->slowed_by) {
    if (2 * count > busiest->readings) times.slowed_by = reason;
  }
  return times;
}

// The process that trains; else, where that has started others which do, the one that computes
// most.
const AcceleratorWatch::Counted* AcceleratorWatch::CountedOf(int64_t main) const {
  if (const auto found = counted_.find(main); found != counted_.end()) return &found->second;
  const auto most = std::ranges::max_element(
      counted_, {}, [](const auto& each) { return each.second.last.kernel_ns; });
  return most == counted_.end() ? nullptr : &most->second;
}

std::optional<CudaTimes> AcceleratorWatch::CudaOf(int64_t main) const {
  const Counted* const counted = CountedOf(main);
  if (counted == nullptr) return std::nullopt;
  const bool late =
      counted->first_late && counted->last.counted_ns > counted->first_late->counted_ns;
  const CudaCounters begin = late ? *counted->first_late : CudaCounters();
  if (counted->last.counted_ns <= begin.counted_ns) return std::nullopt;
  return CudaTimesBetween(begin, counted->last);
}

std::vector<std::string> AcceleratorWatch::Notes(int64_t main) const {
  constexpr double kUsed = 0.05;
  std::vector<std::string> notes;
  if (!no_counting_.empty()) notes.push_back(no_counting_);
  if (lost_) {
    notes.push_back(fmt::format(
        "the counters of kernels were removed from {} after {}, so figures of the GPU are of the "
        "time before; keep what cleans that folder away, or set TMPDIR to another",
        folder_->path().parent_path().string(), DurationText(*lost_)));
  }
  const Counted* const counted = CountedOf(main);
  if (counted == nullptr) {
    if (folder_ && !lost_ && Gpu() && Gpu()->used.value_or(0) >= kUsed) {
      notes.emplace_back(
          "a GPU was used, but no kernel was counted: another program uses it, or this one lost "
          "the environment that the doctor gave it or cannot write to the folder of temporary "
          "files");
    }
    return notes;
  }
  const CudaCounters& counters = counted->last;
  switch (static_cast<CudaProblem>(counters.problem)) {
    case CudaProblem::kNone: break;
    case CudaProblem::kNoCupti:
      notes.emplace_back(
          "kernels are not counted: the program finds no libcupti that can do it; put the folder "
          "of one into LD_LIBRARY_PATH: CUDA's extras/CUPTI/lib64, or that of the package "
          "nvidia-cuda-cupti");
      break;
    case CudaProblem::kCuptiRefuses:
      notes.push_back(fmt::format(
          "kernels are not counted{}: CUPTI refuses (its error {}); another profiler may have it",
          counters.windows > 0 ? " to the end" : "", counters.problem_code));
      break;
    case CudaProblem::kNoThread:
      notes.push_back(
          fmt::format("kernels are not counted: the program may start no further thread (errno {})",
                      counters.problem_code));
      break;
  }
  if (counters.dropped > 0) {
    notes.push_back(fmt::format(
        "{} records of kernels were dropped, so figures of the GPU are too low", counters.dropped));
  }
  return notes;
}

}  // namespace stoker
