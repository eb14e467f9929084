#include "stoker/run/run_learned.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "stoker/data/recipe/file_changes.h"

namespace stoker {

Status KeepLearned(RunDirectory& run, const DataRecipe& data, const Json& marks) {
  if (!data.learned) return OkStatus();
  Learned learned = *data.learned;
  if (!learned.from.contains("file")) learned.from["data"] = marks.value("train", Json());
  return run.WriteLearned(learned);
}

Result<std::vector<std::string>> LearnedChanges(const std::filesystem::path& run,
                                                const DataRecipe& data, const Json& marks) {
  std::vector<std::string> changes;
  if (!data.learned) return changes;
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<const Learned> before, ReadRunLearned(run));
  if (!before) return changes;
  changes = DifferencesOfLearned(*before, *data.learned);
  if (before->from.contains("file") || !before->from.contains("data")) return changes;
  const FileChanges files = CompareFiles(before->from["data"], marks.value("train", Json()));
  for (const std::string& file : files.changed)
    changes.push_back(fmt::format("it was learned from other files: {}", file));
  return changes;
}

}  // namespace stoker
