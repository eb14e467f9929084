#include "stoker/run/allowed_changes.h"

#include <algorithm>
#include <string>

#include "stoker/base/json.h"
#include "stoker/base/json_file.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/kept_file.h"
#include "stoker/run/run_directory.h"

namespace stoker {
namespace fs = std::filesystem;
namespace {

constexpr char kCheckpoint[] = "checkpoint", kRecipe[] = "recipe";

}  // namespace

Result<std::optional<AllowedChanges>> ReadAllowedChanges(const fs::path& root) {
  const std::string path = RunPaths{root}.allowed_changes();
  const Result<std::string> text = ReadKeptTextFile(path);
  if (text.status().code() == StatusCode::kNotFound) return std::nullopt;
  STOKER_RETURN_IF_ERROR(text.status());
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const Json checkpoint = json.is_object() ? json.value(kCheckpoint, Json()) : Json();
  const Json recipe = json.is_object() ? json.value(kRecipe, Json()) : Json();
  if (!checkpoint.is_number_integer() || !recipe.is_boolean()) {
    return DataLoss(
        "{}: must hold the step of a checkpoint and whether the recipe was changed; delete it, and "
        "resume with --allow-changes where the recipe or the data were changed",
        path);
  }
  return AllowedChanges{.checkpoint = checkpoint.get<int64_t>(), .recipe = recipe.get<bool>()};
}

Status WriteAllowedChanges(const fs::path& root, const AllowedChanges& allowed) {
  return WriteFileAtomically(
      RunPaths{root}.allowed_changes(),
      JsonFileText(Json{{kCheckpoint, allowed.checkpoint}, {kRecipe, allowed.recipe}}));
}

Status ForgetAllowedChanges(const fs::path& root, std::span<const int64_t> steps) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<AllowedChanges> allowed, ReadAllowedChanges(root));
  const auto covered = [&](int64_t step) { return allowed->Cover(step); };
  if (!allowed || std::ranges::any_of(steps, covered)) return OkStatus();
  return RemoveAtomically(RunPaths{root}.allowed_changes());
}

}  // namespace stoker
