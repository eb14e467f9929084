#include "stoker/run/weights_source.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "stoker/formats/probe/file_kind.h"
#include "stoker/formats/pt/pt_file.h"
#include "stoker/io/file.h"
#include "stoker/run/checkpoint.h"
#include "stoker/run/weights_file.h"

namespace stoker {
namespace {

Result<LoadedWeights> FromSafetensors(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(Weights weights, ReadWeights(path));
  return LoadedWeights{.arrays = std::move(weights.arrays),
                       .sample = std::move(weights.sample),
                       .target = std::move(weights.target),
                       .learned = std::move(weights.learned),
                       .source = path,
                       .warnings = {},
                       .unread = std::move(weights.unread)};
}

Result<LoadedWeights> FromPt(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const PtFile file, PtFile::Open(path));
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> arrays, file.ReadAll());
  return LoadedWeights{.arrays = std::move(arrays), .sample = {}, .source = path, .warnings = {}};
}

// Checkpoints of before they were stored say nothing of sample or target.
std::string TextIn(const Json& state, const char* key) {
  const auto text = state.find(key);
  return text != state.end() && text->is_string() ? text->get<std::string>() : "";
}

bool HasAverages(const std::vector<NamedArray>& arrays) {
  return std::ranges::any_of(arrays, [](const NamedArray& array) {
    return array.name == "averaging.updates" && array.array.values<int64_t>()[0] > 0;
  });
}

// Where weights are averaged, their averages are what counts.
std::vector<NamedArray> WeightsOf(std::vector<NamedArray> arrays) {
  const std::string_view prefix = HasAverages(arrays) ? "average." : "model.";
  std::erase_if(arrays, [&](const NamedArray& a) { return !a.name.starts_with(prefix); });
  for (NamedArray& array : arrays) array.name.erase(0, prefix.size());
  return arrays;
}

Result<LoadedWeights> FromNewestCheckpoint(const RunPaths& paths) {
  const CheckpointStore store(paths.checkpoints(), /*keep=*/1);
  Result<CheckpointStore::Newest> newest = store.LoadNewest();
  if (newest.status().code() == StatusCode::kNotFound) {
    return NotFound("{}: has neither weights.safetensors nor a checkpoint yet; train it first",
                    paths.root.string());
  }
  STOKER_RETURN_IF_ERROR(newest.status());
  return LoadedWeights{.arrays = WeightsOf(std::move(newest->checkpoint.tensors)),
                       .sample = TextIn(newest->checkpoint.state, "sample"),
                       .target = TextIn(newest->checkpoint.state, "target"),
                       .learned = TextIn(newest->checkpoint.state, "learned"),
                       .source = store.PathOf(newest->step),
                       .warnings = std::move(newest->warnings)};
}

}  // namespace

Result<LoadedWeights> LoadRunWeights(const RunPaths& paths) {
  Result<LoadedWeights> weights = FromSafetensors(paths.weights());
  if (weights.status().code() != StatusCode::kNotFound) return weights;
  return FromNewestCheckpoint(paths);
}

Result<LoadedWeights> LoadWeights(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return LoadRunWeights(RunPaths{path});
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path.string()));
  std::array<std::byte, kProbeBytes> prefix;
  STOKER_ASSIGN_OR_RETURN(const size_t size, file.ReadUpTo(0, prefix));
  const auto start = std::span(prefix).first(size);
  const FileKind kind = ProbeFile(start);
  if (kind == FileKind::kSafetensors) return FromSafetensors(path.string());
  if (kind == FileKind::kZip || kind == FileKind::kOldTorch) return FromPt(path.string());
  return InvalidArgument(
      "{}: this is {}; weights are read from a run, a .pt or .pth file of PyTorch, or a "
      "safetensors file",
      path.string(), DescribeStart(start));
}

}  // namespace stoker
