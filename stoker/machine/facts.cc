#include "stoker/machine/facts.h"

#include "stoker/base/control_group.h"
#include "stoker/base/json_or_null.h"

namespace stoker {
namespace {

using stoker::OrNull;

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json OrNull(int count) { return count == 0 ? Json() : Json(count); }

Json CpuJson(const CpuFacts& cpu) {
  return {{"model", OrNull(cpu.model)},
          {"online", OrNull(cpu.online)},
          {"sockets", OrNull(cpu.sockets)},
          {"cores", OrNull(cpu.cores)},
          {"allowed", cpu.allowed},
          {"quota", OrNull(cpu.quota)},
          {"usable", UsableCpus(cpu)},
          {"governor", OrNull(cpu.governor)},
          {"driver", OrNull(cpu.driver)},
          {"preference", OrNull(cpu.preference)},
          {"throttled_periods", OrNull(cpu.throttled_periods)},
          {"periods", OrNull(cpu.periods)},
          {"thermal_throttles", OrNull(cpu.thermal_throttles)}};
}

Json MemoryJson(const MemoryFacts& memory) {
  Json nodes = Json::array();
  for (const NumaNode& node : memory.nodes)
    nodes.push_back({{"id", node.id}, {"memory_bytes", node.memory_bytes}, {"cpus", node.cpus}});
  return {{"total_bytes", OrNull(memory.total_bytes)},
          {"available_bytes", OrNull(memory.available_bytes)},
          {"limit_bytes", OrNull(memory.limit_bytes)},
          {"swap_total_bytes", OrNull(memory.swap_total_bytes)},
          {"swap_used_bytes", OrNull(memory.swap_used_bytes)},
          {"huge_pages", OrNull(memory.huge_pages)},
          {"huge_pages_defrag", OrNull(memory.huge_pages_defrag)},
          {"numa_nodes", nodes}};
}

Json LimitJson(bool known, const std::optional<int64_t>& limit) {
  if (!known) return nullptr;
  return limit ? Json(*limit) : Json("unlimited");
}

Json LimitsJson(const LimitFacts& limits) {
  return {
      {"open_files", LimitJson(limits.open_files_known, limits.open_files)},
      {"open_files_hard", LimitJson(limits.open_files_known, limits.open_files_hard)},
      {"locked_memory_bytes", LimitJson(limits.locked_memory_known, limits.locked_memory_bytes)},
      {"shared_memory_bytes", OrNull(limits.shared_memory_bytes)},
      {"shared_memory_free_bytes", OrNull(limits.shared_memory_free_bytes)},
      {"control_groups", OrNull(limits.control_groups)}};
}

Json GpuJson(const Gpus& found) {
  Json gpus = Json::array();
  for (const GpuFacts& gpu : found.gpus) {
    gpus.push_back({{"name", gpu.name},
                    {"memory_bytes", gpu.memory_bytes},
                    {"memory_used_bytes", gpu.memory_used_bytes},
                    {"temperature_c", OrNull(gpu.temperature_c)},
                    {"slowed_by", gpu.slowed_by}});
  }
  return gpus;
}

Json FileSystemsJson(const std::vector<FileSystemFacts>& systems) {
  Json json = Json::array();
  for (const FileSystemFacts& system : systems) {
    json.push_back({{"path", system.path},
                    {"type", OrNull(system.type)},
                    {"remote", system.remote},
                    {"in_memory", system.in_memory},
                    {"free_bytes", OrNull(system.free_bytes)}});
  }
  return json;
}

}  // namespace

int UsableCpus(const CpuFacts& cpu) {
  return CpusUnder(static_cast<int>(cpu.allowed.size()), cpu.quota);
}

Json ToJson(const MachineFacts& facts) {
  return {{"host", OrNull(facts.host)},
          {"kernel", OrNull(facts.kernel)},
          {"cpu", CpuJson(facts.cpu)},
          {"memory", MemoryJson(facts.memory)},
          {"limits", LimitsJson(facts.limits)},
          {"gpus", GpuJson(facts.gpu)},
          {"gpus_unknown", OrNull(facts.gpu.none)},
          {"nvidia_driver", OrNull(facts.gpu.driver)},
          {"file_systems", FileSystemsJson(facts.file_systems)}};
}

}  // namespace stoker
