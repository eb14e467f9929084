#include "stoker/run/run_environment.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "stoker/base/instruction_set.h"
#include "stoker/base/json_file.h"
#include "stoker/base/proc_text.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/kept_file.h"
#include "stoker/machine/read_facts.h"

namespace stoker {
namespace {

constexpr size_t Padded(size_t bytes) { return (bytes + 3) / 4 * 4; }

// The number that the linker made from the content of the executable (--build-id), among the notes
// of a segment; empty if it has none.
std::string BuildIdIn(std::span<const std::byte> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof(header));
    notes = notes.subspan(sizeof(header));
    const size_t name = Padded(header.n_namesz), content = Padded(header.n_descsz);
    if (notes.size() < name || notes.size() - name < content) return {};
    const bool is_gnu = std::string_view(reinterpret_cast<const char*>(notes.data()),
                                         header.n_namesz) == std::string_view("GNU\0", 4);
    if (is_gnu && header.n_type == NT_GNU_BUILD_ID) {
      std::string id;
      for (const std::byte byte : notes.subspan(name, header.n_descsz))
        id += fmt::format("{:02x}", std::to_integer<int>(byte));
      return id;
    }
    notes = notes.subspan(name + content);
  }
  return {};
}

std::string BuildId() {
  std::string id;
  // The executable is the first of all.
  const auto first = [](dl_phdr_info* info, size_t, void* found) {
    for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
      if (segment.p_type != PT_NOTE) continue;
      auto& text = *static_cast<std::string*>(found);
      text = BuildIdIn(
          {reinterpret_cast<const std::byte*>(info->dlpi_addr + segment.p_vaddr), segment.p_memsz});
      if (!text.empty()) break;
    }
    return 1;
  };
  ::dl_iterate_phdr(first, &id);
  return id;
}

}  // namespace

Json RunEnvironment::ToJson() const {
  return {{"schema", 1},      {"stoker", stoker},
          {"build", build},   {"torch", torch},
          {"host", host},     {"instruction_set", instruction_set},
          {"kernel", kernel}, {"cpu", cpu},
          {"cpus", cpus},     {"memory_bytes", memory_bytes},
          {"device", device}};
}

Result<RunEnvironment> RunEnvironment::FromJson(const Json& json) {
  if (!json.is_object()) return DataLoss("is no JSON object");
  RunEnvironment out;
  struct Text {
    const char* key;
    std::string& to;
  };
  for (const Text& text :
       {Text{"stoker", out.stoker}, Text{"build", out.build}, Text{"torch", out.torch},
        Text{"instruction_set", out.instruction_set}, Text{"host", out.host},
        Text{"kernel", out.kernel}, Text{"cpu", out.cpu}, Text{"device", out.device}}) {
    const Json value = json.value(text.key, Json(""));
    if (!value.is_string()) return DataLoss("\"{}\" is no text", text.key);
    text.to = value.get<std::string>();
  }
  const Json cpus = json.value("cpus", Json(0)), memory = json.value("memory_bytes", Json(0));
  if (!cpus.is_number_integer() || !memory.is_number_integer())
    return DataLoss("\"cpus\" or \"memory_bytes\" is no whole number");
  out.cpus = static_cast<int>(std::clamp<int64_t>(cpus.get<int64_t>(), 0, 1'000'000));
  out.memory_bytes = std::max<int64_t>(0, memory.get<int64_t>());
  return out;
}

Status WriteRunEnvironment(const std::filesystem::path& run, const RunEnvironment& environment) {
  return WriteFileAtomically(EnvironmentPath(run), JsonFileText(environment.ToJson()));
}

Result<std::optional<RunEnvironment>> ReadRunEnvironment(const std::filesystem::path& run) {
  const std::string path = EnvironmentPath(run);
  const Result<std::string> text = ReadKeptTextFile(path);
  if (!text.ok() && text.status().code() == StatusCode::kNotFound) return std::nullopt;
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  Result<RunEnvironment> environment = RunEnvironment::FromJson(json);
  if (environment.ok()) return std::optional<RunEnvironment>(*std::move(environment));
  return DataLoss("{}: {}; the file is damaged: delete it and look again", path,
                  environment.status().message());
}

int64_t PeakResidentBytes() {
  return MeminfoBytes(ReadSmallText("/proc/self/status"), "VmHWM").value_or(0);
}

RunEnvironment DescribeEnvironment(std::string torch, std::string device) {
  const MachineFacts facts = ReadMachineBasics();
  return {.stoker = STOKER_VERSION,
          .build = BuildId(),
          .torch = std::move(torch),
          .instruction_set = std::string(InstructionSet()),
          .host = facts.host,
          .kernel = facts.kernel,
          .cpu = facts.cpu.model,
          .cpus = UsableCpus(facts.cpu),
          .memory_bytes = facts.memory.limit_bytes.value_or(facts.memory.total_bytes.value_or(0)),
          .device = std::move(device)};
}

}  // namespace stoker
