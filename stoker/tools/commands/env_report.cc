#include "stoker/tools/commands/env_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/instruction_set.h"
#include "stoker/tools/program/help_formatter.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr int kSchema = 1;

using Rows = std::vector<std::vector<std::string>>;

// Without this a row would be as wide as its longest sentence.
constexpr size_t kWidth = 80;
constexpr size_t kLabel = 18;

std::string Line(std::string_view label, std::string_view text) {
  return fmt::format("  {:<{}}{}\n", label, kLabel - 2, WrapText(text, kWidth, kLabel));
}

std::string BytesText(const std::optional<int64_t>& bytes) {
  return bytes ? ByteText(static_cast<uint64_t>(std::max<int64_t>(0, *bytes))) : "unknown";
}

std::string CpuText(const CpuFacts& cpu) {
  std::string text = cpu.model.empty() ? "unknown model" : cpu.model;
  if (cpu.cores > 0)
    text +=
        fmt::format(", {} in {}", CountText(cpu.cores, "core"), CountText(cpu.sockets, "socket"));
  text += fmt::format(", {}", InstructionSet());
  return text;
}

std::string UsableText(const CpuFacts& cpu) {
  std::string text = fmt::format("{} of {} CPUs may be used", cpu.allowed.size(), cpu.online);
  text += cpu.quota ? fmt::format(", and the control group gives {:g}", *cpu.quota) : ", no quota";
  return text + fmt::format(": Stoker starts {}", CountText(UsableCpus(cpu), "thread"));
}

std::string MemoryText(const MemoryFacts& memory) {
  return fmt::format("{}, of which {} available; {}", BytesText(memory.total_bytes),
                     BytesText(memory.available_bytes),
                     memory.limit_bytes
                         ? fmt::format("the control group gives {}", BytesText(memory.limit_bytes))
                         : "no limit");
}

std::string MachineText(const MachineFacts& facts) {
  std::string text = Line("cpu", CpuText(facts.cpu)) + Line("", UsableText(facts.cpu)) +
                     Line("memory", MemoryText(facts.memory));
  if (facts.memory.nodes.size() > 1)
    text += Line("numa", CountText(std::ssize(facts.memory.nodes), "node"));
  for (const GpuFacts& gpu : facts.gpu.gpus) {
    std::string about = fmt::format("{}, {}, {} in use", gpu.name, BytesText(gpu.memory_bytes),
                                    BytesText(gpu.memory_used_bytes));
    if (gpu.temperature_c) about += fmt::format(", {} degrees Celsius", *gpu.temperature_c);
    text += Line("gpu", about);
  }
  if (!facts.gpu.none.empty()) text += Line("gpu", "none known: " + facts.gpu.none);
  return text;
}

std::string LimitText(bool known, const std::optional<int64_t>& limit, bool is_bytes) {
  if (!known) return "unknown";
  if (!limit) return "unlimited";
  return is_bytes ? BytesText(limit) : WithThousands(static_cast<double>(*limit));
}

std::string LimitsText(const LimitFacts& limits) {
  std::string files = LimitText(limits.open_files_known, limits.open_files, false);
  if (limits.open_files_known)
    files += fmt::format(" (at most {})", LimitText(true, limits.open_files_hard, false));
  return Line("open files", files) +
         Line("locked memory",
              LimitText(limits.locked_memory_known, limits.locked_memory_bytes, true)) +
         Line("/dev/shm", limits.shared_memory_bytes
                              ? fmt::format("{}, {} free", BytesText(limits.shared_memory_bytes),
                                            BytesText(limits.shared_memory_free_bytes))
                              : "unknown") +
         Line("control groups", limits.control_groups.empty() ? "none" : limits.control_groups);
}

std::string VersionsText(const EnvReport& report) {
  const EnvVersions& versions = report.versions;
  return Line("stoker", STOKER_VERSION) +
         Line("torch", versions.torch.empty() ? "none: " + versions.no_torch : versions.torch) +
         Line("arrow", versions.arrow.empty() ? "none: " + versions.no_arrow : versions.arrow) +
         Line("kernel", report.facts.kernel.empty() ? "unknown" : report.facts.kernel) +
         Line("nvidia driver", report.facts.gpu.driver.empty() ? "none" : report.facts.gpu.driver);
}

std::string RateText(const std::optional<double>& bytes_per_s) {
  return bytes_per_s ? ByteText(static_cast<uint64_t>(*bytes_per_s)) + "/s" : "-";
}

std::string CountRate(const std::optional<double>& per_second) {
  return per_second ? WithThousands(*per_second) + "/s" : "-";
}

std::string StorageText(const StorageRoofs& storage) {
  std::string text = Line("storage", fmt::format("{} ({}{})", storage.path,
                                                 storage.type.empty() ? "unknown" : storage.type,
                                                 storage.how.empty() ? "" : ", " + storage.how));
  if (!storage.problem.empty()) text += Line("", storage.problem);
  Rows rows;
  if (storage.read_bytes_per_s)
    rows.push_back(
        {"in sequence", fmt::format("{} read, {} written", RateText(storage.read_bytes_per_s),
                                    RateText(storage.write_bytes_per_s))});
  else if (storage.write_bytes_per_s)
    rows.push_back({"in sequence", RateText(storage.write_bytes_per_s) + " written"});
  if (storage.random_reads_per_s)
    rows.push_back({"at random", fmt::format("{} of 4 KiB, one at a time",
                                             CountRate(storage.random_reads_per_s))});
  if (storage.random_bytes_per_s)
    rows.push_back(
        {"", fmt::format("{} in 128 KiB, 16 at a time", RateText(storage.random_bytes_per_s))});
  if (storage.small_files_per_s)
    rows.push_back({"small files", fmt::format("{} of 16 KiB, one at a time; {}, 16 at a time",
                                               CountRate(storage.small_files_per_s),
                                               CountRate(storage.small_files_together_per_s))});
  for (const auto& row : rows) text += Line("  " + row[0], row[1]);
  return text;
}

std::string MemoryRates(const std::optional<MemoryRoofs>& memory) {
  if (!memory) return "not measured";
  return fmt::format("{} read, {} written, {} copied", RateText(memory->read_bytes_per_s),
                     RateText(memory->write_bytes_per_s), RateText(memory->copy_bytes_per_s));
}

std::string MeasuredText(const EnvReport& report) {
  const Roofs& roofs = report.roofs;
  std::string text;
  for (const StorageRoofs& storage : roofs.storage) text += StorageText(storage);
  const std::string together = CountText(roofs.cpus, "thread");
  text += Line("memory", "1 thread: " + MemoryRates(roofs.memory));
  text += Line("", together + ": " + MemoryRates(roofs.memory_together));
  if (roofs.decode && roofs.decode_together)
    text +=
        Line("decoding", fmt::format("JPEGs of 500 x 375 pixels: {} by 1 thread, {} by {}",
                                     CountRate(roofs.decode->pictures_per_s),
                                     CountRate(roofs.decode_together->pictures_per_s), together));
  for (const CopyRoofs& copies : roofs.copies)
    text += Line("copies", fmt::format("to {}: {} from pinned memory, {} from other memory",
                                       copies.device, RateText(copies.pinned_bytes_per_s),
                                       RateText(copies.pageable_bytes_per_s)));
  if (!report.no_copies.empty()) text += Line("copies", "not measured: " + report.no_copies);
  if (roofs.all_reduce) {
    text +=
        Line("all-reduce", fmt::format("{} processes here: {:.2g} ms for 64 numbers, {} of 16 MiB",
                                       roofs.all_reduce->processes, 1e3 * roofs.all_reduce->small_s,
                                       RateText(roofs.all_reduce->bytes_per_s)));
  } else {
    text += Line("all-reduce", "not measured: " + report.no_all_reduce);
  }
  text += report.roofs_file.empty() ? Line("kept", "nowhere: " + report.roofs_problem)
                                    : Line("kept in", report.roofs_file);
  return text;
}

std::string WarningsText(const std::vector<MachineWarning>& warnings) {
  std::string text;
  for (const MachineWarning& warning : warnings) {
    text += fmt::format("  {}\n      {}\n",
                        WrapText(fmt::format("{} [{}]", warning.what, warning.source), kWidth, 2),
                        WrapText(warning.advice, kWidth, 6));
  }
  return text;
}

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

std::string EnvReport::ToText() const {
  const std::vector<MachineWarning> warnings = Warnings();
  std::string text = fmt::format("machine {}\n{}limits\n{}versions\n{}measured in {}\n{}",
                                 facts.host, MachineText(facts), LimitsText(facts.limits),
                                 VersionsText(*this), DurationText(seconds), MeasuredText(*this));
  if (warnings.empty()) return text + "no known trap was found\n";
  return text + CountText(std::ssize(warnings), "trap") + "\n" + WarningsText(warnings);
}

Json EnvReport::ToJson() const {
  Json warnings = Json::array();
  for (const MachineWarning& warning : Warnings()) warnings.push_back(stoker::ToJson(warning));
  return {{"schema", kSchema},
          {"machine", stoker::ToJson(facts)},
          {"versions",
           {{"stoker", STOKER_VERSION},
            {"torch", OrNull(versions.torch)},
            {"torch_problem", OrNull(versions.no_torch)},
            {"arrow", OrNull(versions.arrow)},
            {"arrow_problem", OrNull(versions.no_arrow)},
            {"instruction_set", std::string(InstructionSet())}}},
          {"roofs", roofs.ToJson()},
          {"seconds", seconds},
          {"copies_problem", OrNull(no_copies)},
          {"all_reduce_problem", OrNull(no_all_reduce)},
          {"roofs_file", OrNull(roofs_file)},
          {"roofs_problem", OrNull(roofs_problem)},
          {"warnings", warnings}};
}

}  // namespace stoker
