#include "stoker/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "stoker/base/log.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file.h"

namespace stoker {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "step-";
constexpr const char* kTensors = "tensors.safetensors";
constexpr const char* kState = "state.json";
constexpr const char* kManifest = "manifest.json";
constexpr int kFormat = 1;

std::optional<int64_t> StepOf(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  int64_t step = -1;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), step);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size() || step < 0) {
    return std::nullopt;
  }
  return step;
}

std::string Crc(std::string_view bytes) { return fmt::format("{:08x}", Crc32c(bytes)); }

std::string_view TextOf(const Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), buffer.size()};
}

// The manifest's own checksum covers its list of files as this prints it, so a manifest is right
// only if it is, byte for byte, what this makes of that list.
std::string ManifestText(const Json& files) {
  const Json manifest = {{"format", kFormat}, {"files", files}, {"crc32c", Crc(files.dump())}};
  return manifest.dump(2) + "\n";
}

Status AddToManifest(const std::string& directory, const char* file, Json& files) {
  STOKER_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Open(directory + "/" + file));
  files[file] = {{"bytes", mapped.bytes().size()},
                 {"crc32c", fmt::format("{:08x}", Crc32c(mapped.bytes()))}};
  return OkStatus();
}

Result<Json> ReadManifest(const std::string& directory) {
  const std::string path = directory + "/" + kManifest;
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  const Json manifest = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object() || !manifest.value("files", Json()).is_object() ||
      ManifestText(manifest["files"]) != text) {
    return DataLoss("{}: is damaged: it does not match its own checksum", path);
  }
  return manifest["files"];
}

// The bytes of one file, after comparing them with the manifest.
Result<Buffer> ReadVerified(const std::string& directory, const Json& files, const char* file) {
  const std::string path = directory + "/" + file;
  const Json entry = files.value(file, Json::object());
  if (!entry.is_object() || !entry.value("bytes", Json()).is_number_unsigned() ||
      !entry.value("crc32c", Json()).is_string()) {
    return DataLoss("{}: the manifest beside it does not give its size and CRC-32C", path);
  }
  STOKER_ASSIGN_OR_RETURN(Buffer bytes, ReadWholeFile(path, uint64_t{1} << 40));
  const auto size = entry["bytes"].get<uint64_t>();
  if (bytes.size() != size) {
    return DataLoss("{}: is damaged: it has {} bytes, the manifest says {}", path, bytes.size(),
                    size);
  }
  const std::string crc = Crc(TextOf(bytes)), expected = entry["crc32c"].get<std::string>();
  if (crc != expected) {
    return DataLoss("{}: is damaged: its CRC-32C is {}, the manifest says {}", path, crc, expected);
  }
  return bytes;
}

Result<std::vector<NamedArray>> ParseTensors(Buffer bytes, const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const SafetensorsFile file,
                          SafetensorsFile::Parse(std::move(bytes), path));
  return file.ReadAll();
}

}  // namespace

std::string CheckpointStore::PathOf(int64_t step) const {
  return (fs::path(directory_) / fmt::format("{}{:08}", kPrefix, step)).string();
}

Status CheckpointStore::Write(int64_t step, std::span<const NamedArray> tensors, const Json& state,
                              std::span<const int64_t> kept_beside) {
  STOKER_RETURN_IF_ERROR(CreateDirectories(directory_));
  std::error_code error;
  if (fs::exists(PathOf(step), error)) {
    if (Load(step).ok()) return OkStatus();
    STOKER_RETURN_IF_ERROR(RemoveAtomically(PathOf(step)));
  }
  STOKER_ASSIGN_OR_RETURN(AtomicDirectory made, AtomicDirectory::Create(PathOf(step)));
  STOKER_RETURN_IF_ERROR(WriteSafetensors(made.path() + "/" + kTensors, tensors));
  STOKER_RETURN_IF_ERROR(WriteFileAtomically(made.path() + "/" + kState, state.dump(2) + "\n"));
  Json files;
  STOKER_RETURN_IF_ERROR(AddToManifest(made.path(), kTensors, files));
  STOKER_RETURN_IF_ERROR(AddToManifest(made.path(), kState, files));
  STOKER_RETURN_IF_ERROR(WriteFileAtomically(made.path() + "/" + kManifest, ManifestText(files)));
  STOKER_RETURN_IF_ERROR(made.Commit());
  // The new one is safe whatever happens to the old ones.
  if (const Status tidied = RemoveOld(step, kept_beside); !tidied.ok()) {
    LogWarning("old checkpoints stay: {}", tidied.message());
  }
  return OkStatus();
}

// Keeps the newest up to `written`. Those of later steps were passed over as damaged when the run
// was resumed before them, and must not take the place of a whole one.
Status CheckpointStore::RemoveOld(int64_t written, std::span<const int64_t> kept_beside) const {
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, Steps());
  const int64_t usable = std::ranges::upper_bound(steps, written) - steps.begin();
  for (int64_t i = 0; i < std::ssize(steps); ++i) {
    const int64_t step = steps[static_cast<size_t>(i)];
    const bool beside = i < usable && std::ranges::find(kept_beside, step) != kept_beside.end();
    if (beside || (i >= usable - keep_ && i < usable)) continue;
    STOKER_RETURN_IF_ERROR(RemoveAtomically(PathOf(step)));
  }
  return RemoveStaleTemporaries(directory_).status();
}

Result<std::vector<int64_t>> CheckpointStore::Steps() const {
  std::vector<int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator it(directory_, error), end; !error && it != end;
       it.increment(error)) {
    const std::optional<int64_t> step = StepOf(it->path().filename().string());
    if (step) steps.push_back(*step);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return ErrnoStatus(error.value(), directory_);
  }
  std::ranges::sort(steps);
  return steps;
}

Result<Checkpoint> CheckpointStore::Load(int64_t step) const {
  const std::string directory = PathOf(step);
  STOKER_ASSIGN_OR_RETURN(const Json files, ReadManifest(directory));
  STOKER_ASSIGN_OR_RETURN(const Buffer state, ReadVerified(directory, files, kState));
  STOKER_ASSIGN_OR_RETURN(Buffer tensors, ReadVerified(directory, files, kTensors));
  Checkpoint checkpoint;
  checkpoint.state = Json::parse(TextOf(state), nullptr, /*allow_exceptions=*/false);
  if (!checkpoint.state.is_object()) {
    return DataLoss("{}/{}: is no JSON object", directory, kState);
  }
  STOKER_ASSIGN_OR_RETURN(checkpoint.tensors,
                          ParseTensors(std::move(tensors), directory + "/" + kTensors));
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
    newest.warnings.push_back(
        fmt::format("checkpoint of step {} is passed over: {}", *step, loaded.status().message()));
  }
  return DataLoss("{}: all {} checkpoints are damaged; the newest: {}", directory_, steps.size(),
                  newest.warnings.front());
}

}  // namespace stoker
