// What a run computes with: the versions of the code and the machine. environment.json of a run,
// for comparisons of runs; nothing else depends on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// Empty or 0: unknown.
struct RunEnvironment {
  std::string stoker;           // version
  std::string build;            // of the executable, in hexadecimal; another code has another
  std::string torch;            // version
  std::string instruction_set;  // of Stoker's kernels
  std::string host;
  std::string kernel;
  std::string cpu;           // model
  int cpus = 0;              // that the process could use
  int64_t memory_bytes = 0;  // of the machine, or the control group's limit
  std::string device;        // "cuda:0 (NVIDIA H100)"

  Json ToJson() const;
  // A member that is missing is unknown. Errors: kDataLoss if one has another type.
  static Result<RunEnvironment> FromJson(const Json& json);
};

// Describes this process and machine.
//   torch, device  which only code that sees torch knows
RunEnvironment DescribeEnvironment(std::string torch, std::string device);

inline std::string EnvironmentPath(const std::filesystem::path& run) {
  return (run / "environment.json").string();
}

// Writes it atomically. Errors: those of io/atomic_file.h.
Status WriteRunEnvironment(const std::filesystem::path& run, const RunEnvironment& environment);

// Reads what the run was last computed with; nothing if it does not say, as runs of versions
// before. Errors: kDataLoss, with the path; those of reading.
Result<std::optional<RunEnvironment>> ReadRunEnvironment(const std::filesystem::path& run);

// Returns the most bytes that this process has had in memory at a time; 0 if unknown.
int64_t PeakResidentBytes();

}  // namespace stoker
