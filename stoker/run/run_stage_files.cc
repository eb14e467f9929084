#include "stoker/run/run_stage_files.h"

#include <optional>
#include <string>

#include "stoker/base/json.h"
#include "stoker/data/recipe/file_changes.h"
#include "stoker/data/recipe/file_marks.h"
#include "stoker/run/run_directory.h"

namespace stoker {

Status CheckStageFiles(const std::filesystem::path& run, const ConfigNode& recipe,
                       const Dataset& dataset) {
  const ConfigNode* const data = recipe.Find("data");
  const ConfigNode* const root = data != nullptr ? data->Find("root") : nullptr;
  STOKER_ASSIGN_OR_RETURN(const Json now,
                          MarkStageFiles(dataset, root != nullptr ? root->scalar : ""));
  if (now.empty()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const std::optional<Json> trained, ReadRunData(run));
  const std::optional<std::string> other =
      trained ? FindOtherStageFile(*trained, now) : std::nullopt;
  if (!other) return OkStatus();
  return FailedPrecondition(
      "{} is not what {} was trained with, so its model would take other words for those that it "
      "knows; put that file back, or train again",
      *other, run.string());
}

}  // namespace stoker
