#include "stoker/run/weights_file.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "stoker/formats/safetensors/safetensors_checksum.h"

namespace stoker {
namespace {

constexpr const char* kSample = "sample";
constexpr const char* kTarget = "target";
constexpr const char* kLearned = "learned";

constexpr std::string_view kAfterName = ": ";  // as ModelInput::ToString writes parts
constexpr std::string_view kBetweenParts = ", ";

// Of a sample without parts.
std::optional<ModelInput> ShapeIn(std::string_view sample) {
  constexpr std::string_view kBetween = " x ";
  ModelInput shape;
  if (sample == "tokens") return ModelInput{.channels = 0, .tokens = true};
  for (const std::string_view of_steps : {" numbers a step", " number a step"}) {
    if (!sample.ends_with(of_steps)) continue;
    shape.steps = true;
    sample.remove_suffix(of_steps.size());
  }
  const char* at = sample.data();
  const char* const end = at + sample.size();
  for (int64_t* extent : {&shape.channels, &shape.height, &shape.width}) {
    if (extent != &shape.channels) {
      if (shape.steps) break;
      if (!std::string_view(at, end).starts_with(kBetween)) return std::nullopt;
      at += kBetween.size();
    }
    const auto [rest, error] = std::from_chars(at, end, *extent);
    if (error != std::errc() || *extent < 1) return std::nullopt;
    at = rest;
  }
  return at == end ? std::optional(shape) : std::nullopt;
}

}  // namespace

std::optional<ModelInput> SampleShapeIn(std::string_view sample) {
  if (sample.find(kAfterName) == sample.npos) return ShapeIn(sample);
  ModelInput shape;
  while (true) {
    const size_t colon = sample.find(kAfterName), end = sample.find(kBetweenParts);
    if (colon == sample.npos || colon > end) return std::nullopt;
    const size_t begin = colon + kAfterName.size();
    std::optional<ModelInput> part = ShapeIn(sample.substr(begin, end - begin));
    if (!part) return std::nullopt;
    part->name = sample.substr(0, colon);
    shape.parts.push_back(*std::move(part));
    if (end == sample.npos) return shape;
    sample.remove_prefix(end + kBetweenParts.size());
  }
}

Status WriteWeights(const std::string& path, const Weights& weights) {
  SafetensorsMetadata metadata = {{"format", "pt"},
                                  {kSafetensorsChecksum, ChecksumOf(weights.arrays)}};
  if (!weights.sample.empty()) metadata[kSample] = weights.sample;
  if (!weights.target.empty()) metadata[kTarget] = weights.target;
  if (!weights.learned.empty()) metadata[kLearned] = weights.learned;
  return WriteSafetensors(path, weights.arrays, metadata);
}

Result<Weights> ReadWeights(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(path));
  Weights weights;
  for (const SafetensorsEntry& entry : file.entries()) {
    if (!entry.dtype) {
      weights.unread.push_back(entry);
      continue;
    }
    STOKER_ASSIGN_OR_RETURN(Array array, file.Read(entry.name));
    weights.arrays.push_back({entry.name, std::move(array)});
  }
  STOKER_RETURN_IF_ERROR(VerifyChecksum(file, weights.arrays, path).status());
  const auto& metadata = file.metadata();
  if (const auto sample = metadata.find(kSample); sample != metadata.end()) {
    weights.sample = sample->second;
  }
  if (const auto target = metadata.find(kTarget); target != metadata.end()) {
    weights.target = target->second;
  }
  if (const auto learned = metadata.find(kLearned); learned != metadata.end())
    weights.learned = learned->second;
  return weights;
}

}  // namespace stoker
