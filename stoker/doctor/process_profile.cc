#include "stoker/doctor/process_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/json_or_null.h"

namespace stoker {
namespace {

std::string_view NameOf(ProcessRole role) {
  switch (role) {
    case ProcessRole::kMain: return "main";
    case ProcessRole::kWorker: return "worker";
    case ProcessRole::kOther: break;
  }
  return "other";
}

}  // namespace

std::string_view NameOf(Framework framework) {
  switch (framework) {
    case Framework::kPyTorch: return "pytorch";
    case Framework::kTensorFlow: return "tensorflow";
    case Framework::kJax: return "jax";
    case Framework::kUnknown: break;
  }
  return "";
}

Json ThreadTimes::ToJson() const {
  return {{"cpu", FiniteOrNull(cpu)},     {"queued", FiniteOrNull(queued)},
          {"disk", FiniteOrNull(disk)},   {"lock", FiniteOrNull(lock)},
          {"poll", FiniteOrNull(poll)},   {"network", FiniteOrNull(network)},
          {"read", FiniteOrNull(read)},   {"sleep", FiniteOrNull(sleep)},
          {"child", FiniteOrNull(child)}, {"other", FiniteOrNull(other)}};
}

Json ProcessTimes::ToJson() const {
  return {{"pid", pid},
          {"role", NameOf(role)},
          {"command", command},
          {"seconds", FiniteOrNull(seconds)},
          {"first_thread", first.ToJson()},
          {"threads", threads},
          {"cpus", FiniteOrNull(cpus)},
          {"system_share", FiniteOrNull(system_share)},
          {"minor_faults_per_s", FiniteOrNull(minor_faults_per_s)},
          {"major_faults_per_s", FiniteOrNull(major_faults_per_s)},
          {"disk_bytes_per_s", FiniteOrNull(disk_bytes_per_s)},
          {"read_bytes_per_s", FiniteOrNull(read_bytes_per_s)},
          {"memory_bytes", memory_bytes},
          {"switches_per_s", FiniteOrNull(switches_per_s)}};
}

Json HostTimes::ToJson() const {
  return {{"other_runnable", FiniteOrNull(other_runnable)},
          {"cpu_pressure", OrNull(cpu_pressure)},
          {"disk_pressure", OrNull(disk_pressure)},
          {"memory_pressure", OrNull(memory_pressure)},
          {"swapped_bytes_per_s", FiniteOrNull(swapped_bytes_per_s)},
          {"huge_page_bytes_per_s", FiniteOrNull(huge_page_bytes_per_s)},
          {"throttled_share", FiniteOrNull(throttled_share)},
          {"busiest_disk", busiest_disk},
          {"disk_busy", FiniteOrNull(disk_busy)},
          {"received_bytes_per_s", FiniteOrNull(received_bytes_per_s)},
          {"sent_bytes_per_s", FiniteOrNull(sent_bytes_per_s)},
          {"group_memory_share", OrNull(group_memory_share)},
          {"shared_memory_share", OrNull(shared_memory_share)}};
}

Json GpuTimes::ToJson() const {
  return {{"name", name},
          {"compute_capability",
           compute_major > 0 ? Json(fmt::format("{}.{}", compute_major, compute_minor)) : Json()},
          {"used", OrNull(used)},
          {"power_share", OrNull(power_share)},
          {"memory_share", OrNull(memory_share)},
          {"slowed_by", slowed_by}};
}

Json CudaTimes::ToJson() const {
  return {{"windows", windows},
          {"seconds", FiniteOrNull(seconds)},
          {"busy", FiniteOrNull(busy)},
          {"computing", FiniteOrNull(computing)},
          {"collectives", FiniteOrNull(collectives)},
          {"waits", FiniteOrNull(waits)},
          {"kernels_per_s", FiniteOrNull(kernels_per_s)},
          {"kernel_s", FiniteOrNull(kernel_s)},
          {"float32_share", FiniteOrNull(float32_share)},
          {"tf32_share", FiniteOrNull(tf32_share)},
          {"relayout_share", FiniteOrNull(relayout_share)},
          {"pageable", FiniteOrNull(pageable)},
          {"pageable_bytes_per_s", FiniteOrNull(pageable_bytes_per_s)},
          {"pinned", FiniteOrNull(pinned)},
          {"pinned_bytes_per_s", FiniteOrNull(pinned_bytes_per_s)},
          {"to_host", FiniteOrNull(to_host)},
          {"small_to_host_per_s", FiniteOrNull(small_to_host_per_s)}};
}

const ProcessTimes* ProcessProfile::main() const {
  const auto found = std::ranges::find(processes, ProcessRole::kMain, &ProcessTimes::role);
  return found == processes.end() ? nullptr : &*found;
}

std::vector<const ProcessTimes*> ProcessProfile::workers() const {
  std::vector<const ProcessTimes*> found;
  for (const ProcessTimes& each : processes) {
    if (each.role == ProcessRole::kWorker) found.push_back(&each);
  }
  return found;
}

double ProcessProfile::cpus_used() const {
  const double whole = main() == nullptr ? seconds : main()->seconds;
  double sum = 0;
  for (const ProcessTimes& each : processes) {
    if (whole > 0) sum += each.cpus * std::min(1.0, each.seconds / whole);
  }
  return sum;
}

Json ProcessProfile::ToJson() const {
  Json list = Json::array();
  for (const ProcessTimes& each : processes) list.push_back(each.ToJson());
  return {{"schema", 1},
          {"rank", 0},
          {"host", host},
          {"cpus", cpus},
          {"command", command},
          {"seconds", FiniteOrNull(seconds)},
          {"ended", ended},
          {"exit_code", OrNull(exit_code)},
          {"framework", NameOf(framework)},
          {"machine", machine.ToJson()},
          {"processes", std::move(list)},
          {"python", python ? python->ToJson() : Json()},
          {"serial_map", loader.serial_map.empty() ? Json() : Json(loader.serial_map)},
          {"loader", loader.place.empty() ? Json()
                                          : Json{{"place", loader.place},
                                                 {"num_workers", OrNull(loader.num_workers)},
                                                 {"batch_size", OrNull(loader.batch_size)}}},
          {"gpu", gpu ? gpu->ToJson() : Json()},
          {"cuda", cuda ? cuda->ToJson() : Json()},
          {"notes", notes},
          {"interrupted", interrupted},
          {"error", error.empty() ? Json() : Json(error)}};
}

}  // namespace stoker
