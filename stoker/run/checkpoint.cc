#include "stoker/run/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "stoker/base/json_file.h"
#include "stoker/base/log.h"
#include "stoker/io/manifest.h"
#include "stoker/run/retried_write.h"
#include "stoker/run/step_directories.h"

namespace stoker {
namespace fs = std::filesystem;
namespace {

constexpr const char* kTensors = "tensors.safetensors";
constexpr const char* kState = "state.json";
constexpr std::string_view kListed[] = {kTensors, kState};  // in the manifest of a whole one

std::string_view TextOf(const Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), buffer.size()};
}

Result<std::vector<NamedArray>> ParseTensors(Buffer bytes, const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const SafetensorsFile file,
                          SafetensorsFile::Parse(std::move(bytes), path));
  return file.ReadAll();
}

// The files with tensors that a manifest lists. One without any is damaged: the file is missed.
std::vector<std::string> TensorFiles(const Manifest& manifest) {
  std::vector<std::string> files = manifest.names();
  std::erase_if(files, [](const std::string& name) { return !HoldsTensors(name); });
  return files.empty() ? std::vector<std::string>{kTensors} : files;
}

// Compares the files of a checkpoint with their checksums, in little memory.
Status CompareWithManifest(const std::string& directory) {
  STOKER_ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Read(directory));
  for (const std::string& name : TensorFiles(manifest)) {
    STOKER_RETURN_IF_ERROR(manifest.Check(name));
  }
  return manifest.Check(kState);
}

}  // namespace

std::string PartName(int64_t part, int64_t parts) {
  return fmt::format("tensors-{:05}-of-{:05}.safetensors", part, parts);
}

bool HoldsTensors(std::string_view name) {
  return name == kTensors || (name.starts_with("tensors-") && name.ends_with(".safetensors"));
}

std::string CheckpointStore::PathOf(int64_t step) const {
  return (fs::path(directory_) / StepDirectoryName(step)).string();
}

Status CheckpointStore::Write(int64_t step, std::span<const NamedArray> tensors, const Json& state,
                              std::span<const int64_t> kept_beside) {
  STOKER_RETURN_IF_ERROR(
      WriteWithRetries("the checkpoint", [&] { return WriteOnce(step, tensors, state); }));
  TidyAfter(step, kept_beside);
  return OkStatus();
}

// The new one is safe whatever happens to the old ones.
void CheckpointStore::TidyAfter(int64_t written, std::span<const int64_t> kept_beside) {
  if (const Status tidied = RemoveOld(written, kept_beside); !tidied.ok()) {
    LogWarning("old checkpoints stay: {}", tidied.message());
  }
}

Result<std::optional<AtomicDirectory>> CheckpointStore::Begin(int64_t step) {
  STOKER_RETURN_IF_ERROR(CreateDirectories(directory_));
  std::error_code error;
  if (fs::exists(PathOf(step), error)) {
    const Status there = CompareWithManifest(PathOf(step));
    if (there.ok()) return std::nullopt;
    if (there.code() != StatusCode::kDataLoss) return there;
    STOKER_RETURN_IF_ERROR(RemoveAtomically(PathOf(step)));
  }
  STOKER_ASSIGN_OR_RETURN(AtomicDirectory begun, AtomicDirectory::Create(PathOf(step)));
  return std::optional(std::move(begun));
}

Status CheckpointStore::WriteOnce(int64_t step, std::span<const NamedArray> tensors,
                                  const Json& state) {
  STOKER_ASSIGN_OR_RETURN(std::optional<AtomicDirectory> made, Begin(step));
  if (!made) return OkStatus();
  Status filled = WriteSafetensors(made->path() + "/" + kTensors, tensors);
  if (filled.ok()) filled = WriteFileAtomically(made->path() + "/" + kState, JsonFileText(state));
  if (filled.ok()) filled = Manifest::Write(made->path(), kListed);
  return filled.ok() ? made->Commit() : made->WithFinalName(filled);
}

Result<std::optional<AtomicDirectory>> CheckpointStore::BeginParts(int64_t step) {
  std::optional<AtomicDirectory> begun;
  STOKER_RETURN_IF_ERROR(WriteWithRetries("the checkpoint", [&]() -> Status {
    STOKER_ASSIGN_OR_RETURN(begun, Begin(step));
    return OkStatus();
  }));
  return begun;
}

Status CheckpointStore::PublishParts(int64_t step, AtomicDirectory begun, Json parts,
                                     const Json& state, std::span<const int64_t> kept_beside) {
  const std::string state_path = begun.path() + "/" + kState;
  const Status filled = WriteWithRetries("the checkpoint", [&]() -> Status {
    STOKER_RETURN_IF_ERROR(WriteFileAtomically(state_path, JsonFileText(state)));
    STOKER_ASSIGN_OR_RETURN(parts[kState], Manifest::EntryOf(state_path));
    return Manifest::WriteEntries(begun.path(), parts);
  });
  if (!filled.ok()) return begun.WithFinalName(filled);
  STOKER_RETURN_IF_ERROR(begun.Commit());
  TidyAfter(step, kept_beside);
  return OkStatus();
}

// Keeps the newest up to `written`, which is whole. Those of later steps were passed over as
// damaged when the run was resumed before them, and must not take the place of a whole one; what is
// not proved to be damaged stays.
Status CheckpointStore::RemoveOld(int64_t written, std::span<const int64_t> kept_beside) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, Steps());
  const int64_t usable = std::ranges::upper_bound(steps, written) - steps.begin();
  for (int64_t i = 0; i < std::ssize(steps); ++i) {
    const int64_t step = steps[static_cast<size_t>(i)];
    const bool beside = i < usable && std::ranges::find(kept_beside, step) != kept_beside.end();
    if (beside || (i >= usable - keep_ && i < usable)) continue;
    if (i >= usable && !IsProvedDamaged(step)) continue;
    STOKER_RETURN_IF_ERROR(RemoveAtomically(PathOf(step)));
  }
  return RemoveStaleTemporaries(directory_).status();
}

bool CheckpointStore::IsProvedDamaged(int64_t step) {
  if (not_proved_damaged_.contains(step)) return false;
  if (CompareWithManifest(PathOf(step)).code() == StatusCode::kDataLoss) return true;
  not_proved_damaged_.insert(step);
  return false;
}

Result<std::vector<int64_t>> CheckpointStore::Steps() const { return StepsIn(directory_); }

Result<Checkpoint> CheckpointStore::Load(int64_t step) const {
  const std::string directory = PathOf(step);
  STOKER_ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Read(directory));
  STOKER_ASSIGN_OR_RETURN(const Buffer state, manifest.ReadFile(kState));
  Checkpoint checkpoint;
  checkpoint.state = Json::parse(TextOf(state), nullptr, /*allow_exceptions=*/false);
  if (!checkpoint.state.is_object()) {
    return DataLoss("{}/{}: is no JSON object", directory, kState);
  }
  for (const std::string& name : TensorFiles(manifest)) {
    STOKER_ASSIGN_OR_RETURN(Buffer bytes, manifest.ReadFile(name));
    STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> tensors,
                            ParseTensors(std::move(bytes), fmt::format("{}/{}", directory, name)));
    std::ranges::move(tensors, std::back_inserter(checkpoint.tensors));
  }
  return checkpoint;
}

Result<CheckpointStore::Newest> CheckpointStore::LoadNewest() const {
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, Steps());
  if (steps.empty()) return NotFound("{}: holds no checkpoint", directory_);
  Newest newest;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    Result<Checkpoint> loaded = Load(*step);
    if (loaded.ok()) {
      newest.step = *step;
      newest.checkpoint = *std::move(loaded);
      return newest;
    }
    if (loaded.status().code() != StatusCode::kDataLoss) {
      return Status(loaded.status().code(),
                    fmt::format("{}. Whether the checkpoint of step {} is whole cannot be told, so "
                                "it is not passed over: try again when it can be read, or move {} "
                                "elsewhere to use the one before",
                                loaded.status().message(), *step, PathOf(*step)));
    }
    newest.warnings.push_back(
        fmt::format("checkpoint of step {} is passed over: {}", *step, loaded.status().message()));
  }
  return DataLoss(
      "{}: all {} checkpoints are damaged; put a copy of one back, or begin a new run with the "
      "recipe.yaml beside them; the newest: {}",
      directory_, steps.size(), newest.warnings.front());
}

}  // namespace stoker
