#include "stoker/tools/trainer/find_run.h"

#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "stoker/run/run_directory.h"

namespace stoker {
namespace {

constexpr std::string_view kTimePattern = "00000000-000000";  // a digit for each 0

bool IsTime(std::string_view text) {
  for (size_t i = 0; i < kTimePattern.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kTimePattern[i] == '0' ? !is_digit : text[i] != kTimePattern[i]) return false;
  }
  return true;
}

// The time in a run's name, and the number that tells runs of one second apart; nothing if the
// name is not that of a run of this recipe.
std::optional<std::pair<std::string, int>> RunOrder(std::string_view name,
                                                    std::string_view recipe_name) {
  const size_t prefix = recipe_name.size() + 1;
  if (name.size() < prefix + kTimePattern.size() || !name.starts_with(recipe_name)) {
    return std::nullopt;
  }
  if (name[prefix - 1] != '-') return std::nullopt;
  const std::string_view rest = name.substr(prefix);
  if (!IsTime(rest)) return std::nullopt;
  std::string time(rest.substr(0, kTimePattern.size()));
  if (rest.size() == kTimePattern.size()) return std::pair(std::move(time), 1);
  int number = 0;
  const char* const begin = rest.data() + kTimePattern.size() + 1;
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (rest[kTimePattern.size()] != '-' || error != std::errc() || stop != end) return std::nullopt;
  return std::pair(std::move(time), number);
}

}  // namespace

Result<std::filesystem::path> FindNewestRun(const std::filesystem::path& parent,
                                            std::string_view recipe_name) {
  std::filesystem::path newest;
  // One that has not finished comes before all that have; then the time counts.
  std::pair<bool, std::pair<std::string, int>> newest_rank;
  std::error_code error;
  for (std::filesystem::directory_iterator it(parent, error), end; !error && it != end;
       it.increment(error)) {
    const auto order = RunOrder(it->path().filename().string(), recipe_name);
    std::error_code ignored;
    const RunPaths paths{it->path()};
    // Without a recipe its process was killed before it began.
    if (!order || !std::filesystem::exists(paths.recipe(), ignored)) continue;
    auto rank = std::pair(!std::filesystem::exists(paths.weights(), ignored), *order);
    if (!newest.empty() && rank <= newest_rank) continue;
    newest = it->path();
    newest_rank = std::move(rank);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return FailedPrecondition("{}: {}; name the run with --run", parent.string(), error.message());
  }
  if (newest.empty()) {
    return NotFound(
        "{}: there is no run of {} to resume that got its name by itself; name the run with --run, "
        "or train without --resume",
        (parent / "").string(), recipe_name);
  }
  return newest;
}

}  // namespace stoker
