#include "stoker/data/learn/training_requests.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "stoker/base/named_kind.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/bucket_by_length.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/center_crop.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/data/transforms/random_crop.h"
#include "stoker/data/transforms/random_flip.h"
#include "stoker/data/transforms/random_resized_crop.h"
#include "stoker/data/transforms/resize.h"

namespace stoker {
namespace {

ConfigNode EntryFor(const TrainingRequest& request) {
  const ConfigLocation& at = request.place;
  ConfigNode options =
      ConfigNode::Map({{"field", at, ConfigNode::Scalar(request.field, /*quoted=*/true)}});
  options.location = at;
  ConfigNode entry = ConfigNode::Map({{std::string(request.stage), at, std::move(options)}});
  entry.location = at;
  return entry;
}

bool Groups(const ConfigNode& item) {
  const std::string_view name = NamedKind(item);
  return name == Batch::kName || name == PaddedBatch::kName || name == BucketByLength::kName;
}

// Stages that change one field, which their option `field` names, and no others that their options
// do not name.
constexpr std::string_view kOfOneField[] = {
    Cast::kName,       CenterCrop::kName,        Decode::kName,     Normalize::kName,
    RandomCrop::kName, RandomResizedCrop::kName, RandomFlip::kName, Resize::kName};

bool NamesField(const ConfigNode& node, std::string_view field) {
  const auto names = [&](const ConfigNode& inner) { return NamesField(inner, field); };
  return (node.kind == ConfigNode::Kind::kScalar && node.scalar == field) ||
         std::ranges::any_of(node.items, names) ||
         std::ranges::any_of(node.entries, [&](const ConfigNode::Entry& entry) {
           return entry.key == field || names(entry.value);
         });
}

// Whether a stage keeps all samples in their order, and `field` as it is. Each of these stages
// works on `image` where its options do not say otherwise.
bool LeavesAlone(const ConfigNode& item, std::string_view field) {
  const bool drops = item.entries.size() > 1;  // on_error
  const bool of_one = std::ranges::find(kOfOneField, NamedKind(item)) != std::end(kOfOneField);
  return of_one && !drops && field != Decode().field && !NamesField(item, field);
}

// The earliest place of the list where samples are those that are trained on, and `field` is as the
// loss gets it.
size_t PlaceFor(const ConfigNode& list, std::string_view field) {
  size_t place = static_cast<size_t>(std::ranges::find_if(list.items, Groups) - list.items.begin());
  while (place > 1 && LeavesAlone(list.items[place - 1], field)) --place;
  return place;
}

}  // namespace

bool IsOfTraining(std::string_view stage) {
  return stage == kTargetRequest || stage == kLogTargetRequest || stage == kClassWeightsRequest;
}

bool IsEntryOfTraining(const ConfigNode& item) {
  return item.entries.size() == 1 && IsOfTraining(item.entries.front().key);
}

std::string_view AskingOption(std::string_view stage) {
  return stage == kClassWeightsRequest ? "weights" : "normalize";
}

std::vector<std::string> TargetsOf(const ConfigNode& recipe) {
  const ConfigNode* const train = recipe.Find("train");
  const ConfigNode* const target = train == nullptr ? nullptr : train->Find("target");
  if (target == nullptr) return {"label"};
  if (target->kind != ConfigNode::Kind::kMap) return {target->scalar};
  std::vector<std::string> names;
  for (const ConfigNode::Entry& entry : target->entries) names.push_back(entry.key);
  return names;
}

ConfigNode WithTrainingRequests(std::span<const TrainingRequest> requests, ConfigNode list) {
  if (list.kind != ConfigNode::Kind::kList || list.items.empty()) return list;
  for (const TrainingRequest& request : requests) {
    const size_t place = PlaceFor(list, request.field);
    list.items.insert(list.items.begin() + static_cast<std::ptrdiff_t>(place), EntryFor(request));
  }
  return list;
}

}  // namespace stoker
