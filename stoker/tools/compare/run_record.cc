#include "stoker/tools/compare/run_record.h"

#include <utility>

#include "stoker/run/run_directory.h"
#include "stoker/run/run_summary.h"

namespace stoker {
namespace {

template <typename T>
std::optional<T> OrNote(Result<std::optional<T>> read, std::vector<std::string>& notes) {
  if (read.ok()) return *std::move(read);
  notes.push_back(read.status().message());
  return std::nullopt;
}

}  // namespace

Result<RunRecord> ReadRunRecord(const std::string& directory) {
  const RunPaths paths{directory};
  RunRecord record{.name = directory};
  STOKER_ASSIGN_OR_RETURN(record.recipe, ReadRunRecipe(paths.root));
  Result<RunMetrics> metrics = ReadRunMetrics(directory);
  const StatusCode code = metrics.status().code();
  if (metrics.ok()) {
    record.metrics = *std::move(metrics);
    if (!record.metrics.warning.empty()) record.notes.push_back(record.metrics.warning);
  } else if (code != StatusCode::kNotFound && code != StatusCode::kFailedPrecondition) {
    return metrics.status();
  }
  record.choices = OrNote(ReadRunChoices(paths.root), record.notes);
  record.environment = OrNote(ReadRunEnvironment(paths.root), record.notes);
  record.data = OrNote(ReadRunData(paths.root), record.notes);
  record.summary = OrNote(ReadRunSummary(paths.root), record.notes);
  std::error_code error;
  record.state = StateOfRun(paths, std::filesystem::exists(paths.weights(), error));
  return record;
}

}  // namespace stoker
