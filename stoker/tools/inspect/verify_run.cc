#include "stoker/tools/inspect/verify_run.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/data/learn/learned.h"
#include "stoker/io/kept_file.h"
#include "stoker/io/manifest.h"
#include "stoker/run/checkpoint.h"
#include "stoker/run/metrics_file.h"
#include "stoker/run/run_directory.h"
#include "stoker/run/run_environment.h"
#include "stoker/run/step_directories.h"
#include "stoker/tools/chart/run_metrics.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{1} << 30;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Whether a directory has the name and a file of a checkpoint of a training (run/checkpoint.h).
bool IsCheckpoint(const fs::path& directory) {
  if (!StepOfDirectory(directory.filename().string())) return false;
  if (Exists(directory / kManifestName)) return true;
  std::error_code unreadable;
  for (fs::directory_iterator file(directory, unreadable), end; !unreadable && file != end;
       file.increment(unreadable)) {
    if (HoldsTensors(file->path().filename().string())) return true;
  }
  return false;
}

// A file of a checkpoint, by the manifest beside it; the manifest itself by its own checksum, and
// by what it lists being there.
Status VerifyByManifest(const fs::path& path) {
  STOKER_ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Read(path.parent_path().string()));
  if (path.filename() != kManifestName) return manifest.Check(path.filename().string());
  for (const std::string& name : manifest.names()) {
    const fs::path listed = path.parent_path() / name;
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(listed, ignored))) {
      return DataLoss("{}: lists {}, which is missing", path.string(), name);
    }
  }
  return OkStatus();
}

Status VerifyJson(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadKeptTextFile(path, kMostBytes));
  if (Json::accept(text)) return OkStatus();
  return DataLoss("{}: is no JSON, which the run wrote", path);
}

// What metrics.jsonl had when the checkpoint was written.
std::optional<uint64_t> MetricsBytesAt(const std::string& checkpoint) {
  const Result<std::string> text = ReadKeptTextFile(checkpoint + "/state.json", kMostBytes);
  if (!text.ok()) return std::nullopt;
  const Json state = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!state.is_object()) return std::nullopt;
  const Json bytes = state.value("metrics_bytes", Json());
  return bytes.is_number_unsigned() ? std::optional(bytes.get<uint64_t>()) : std::nullopt;
}

bool IsDamaged(const std::string& checkpoint) {
  const Result<Manifest> manifest = Manifest::Read(checkpoint);
  const Status whole = manifest.ok() ? manifest->CheckAll() : manifest.status();
  return whole.code() == StatusCode::kDataLoss;
}

Status VerifyMetrics(const RunPaths& run) {
  if (const Status lines = ReadRunMetrics(run.root.string()).status();
      !lines.ok() && lines.code() != StatusCode::kFailedPrecondition) {
    return lines;
  }
  const CheckpointStore checkpoints(run.checkpoints(), /*keep=*/1);
  STOKER_ASSIGN_OR_RETURN(std::vector<int64_t> steps, checkpoints.Steps());
  std::ranges::reverse(steps);
  for (const int64_t step : steps) {
    const std::optional<uint64_t> written = MetricsBytesAt(checkpoints.PathOf(step));
    if (!written) continue;
    const Status whole = CheckLinesUpTo(run.metrics(), *written);
    if (whole.ok()) return OkStatus();
    // A damaged checkpoint is a finding of its own. A run that goes on from the one before it has
    // cut back the lines.
    if (IsDamaged(checkpoints.PathOf(step))) continue;
    return {whole.code(), fmt::format("{} (by the checkpoint of step {})", whole.message(), step)};
  }
  return OkStatus();
}

}  // namespace

std::optional<VerifiedRunFile> VerifyRunFile(const fs::path& file) {
  std::error_code ignored;
  const fs::path path = fs::absolute(file, ignored);
  if (IsCheckpoint(path.parent_path())) return {{"checkpoint", VerifyByManifest(path)}};
  const RunPaths run{path.parent_path()};
  if (!Exists(run.recipe())) return std::nullopt;
  // By itself: the data that it names may be elsewhere by now. A recipe beside no run is read
  // whole.
  if (path == run.recipe() && (Exists(run.lock()) || Exists(run.evaluation())))
    return {{"recipe", ReadRunRecipe(run.root).status()}};
  if (path == run.learned()) return {{"learned", ReadLearned(path).status()}};
  if (path == run.metrics()) return {{"metrics", VerifyMetrics(run)}};
  // Not progress.json, which is never flushed: a loss of power may leave it empty.
  const std::string json[] = {run.allowed_changes(),
                              run.choices(),
                              run.data(),
                              run.tuning(),
                              run.summary(),
                              run.profile(),
                              EnvironmentPath(run.root),
                              run.evaluation()};
  if (std::ranges::find(json, path.string()) == std::end(json)) return std::nullopt;
  return {{"json", VerifyJson(path)}};
}

}  // namespace stoker
