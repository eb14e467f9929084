#include "stoker/tools/program/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace stoker {
namespace {

// Nothing of what is not set or no number.
std::optional<int> NumberOf(const Variable& variable, const char* name) {
  const char* const text = variable(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits = text;
  int number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  return error == std::errc() && end == digits.end() ? std::optional(number) : std::nullopt;
}

// "WORLD_SIZE=4, RANK=1", of those that are set.
std::string ValuesOf(const Variable& variable, std::initializer_list<const char*> names) {
  std::string values;
  for (const char* name : names) {
    const char* const value = variable(name);
    if (value != nullptr) values += fmt::format("{}{}={}", values.empty() ? "" : ", ", name, value);
  }
  return values;
}

// A rank above 0 says as much as a size above 1.
bool TorchrunHasSeveral(const Variable& variable) {
  return NumberOf(variable, "WORLD_SIZE").value_or(1) > 1 ||
         NumberOf(variable, "RANK").value_or(0) > 0 ||
         NumberOf(variable, "LOCAL_RANK").value_or(0) > 0;
}

// SLURM_NTASKS is the job's in a batch script and the step's under srun, which also says how many
// tasks the step has.
bool SlurmHasSeveral(const Variable& variable) {
  if (variable("SLURM_PROCID") == nullptr) return false;
  const std::optional<int> of_step = NumberOf(variable, "SLURM_STEP_NUM_TASKS");
  return of_step.value_or(NumberOf(variable, "SLURM_NTASKS").value_or(1)) > 1;
}

}  // namespace

std::optional<Launch> FindOtherProcesses(const Variable& variable) {
  const auto launch = [&](const char* launcher, std::initializer_list<const char*> names) {
    return Launch{.launcher = launcher, .found = ValuesOf(variable, names)};
  };
  if (TorchrunHasSeveral(variable)) return launch("torchrun", {"WORLD_SIZE", "RANK", "LOCAL_RANK"});
  if (SlurmHasSeveral(variable))
    return launch("Slurm", {"SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"});
  if (NumberOf(variable, "OMPI_COMM_WORLD_SIZE").value_or(1) > 1)
    return launch("Open MPI", {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"});
  if (NumberOf(variable, "PMI_SIZE").value_or(1) > 1)
    return launch("MPI (PMI)", {"PMI_SIZE", "PMI_RANK"});
  return std::nullopt;
}

std::optional<Launch> FindOtherProcesses() {
  return FindOtherProcesses([](const char* name) -> const char* { return ::getenv(name); });
}

Restarts FindRestarts(const Variable& variable) {
  const int done = NumberOf(variable, "TORCHELASTIC_RESTART_COUNT").value_or(0);
  const int most = NumberOf(variable, "TORCHELASTIC_MAX_RESTARTS").value_or(0);
  return {.done = std::max(done, 0), .most = std::max({done, most, 0})};
}

Restarts FindRestarts() {
  return FindRestarts([](const char* name) -> const char* { return ::getenv(name); });
}

}  // namespace stoker
