#include "stoker/run/step_directories.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStep = "step-";

}  // namespace

std::string StepDirectoryName(int64_t step) { return fmt::format("{}{:08}", kStep, step); }

std::optional<int64_t> StepOfDirectory(std::string_view name) {
  const std::string_view whole = name;
  if (!name.starts_with(kStep)) return std::nullopt;
  name.remove_prefix(kStep.size());
  int64_t step = -1;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool read =
      parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() && step >= 0;
  // Another spelling, such as step-7, is not one of ours.
  return read && StepDirectoryName(step) == whole ? std::optional(step) : std::nullopt;
}

Result<std::vector<int64_t>> StepsIn(const fs::path& folder) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::optional<int64_t> step = StepOfDirectory(it->path().filename().string());
    if (step) steps.push_back(*step);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return ErrnoStatus(error.value(), folder.string());
  }
  std::ranges::sort(steps);
  return steps;
}

}  // namespace stoker
