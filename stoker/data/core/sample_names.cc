#include "stoker/data/core/sample_names.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {
namespace {

bool CombinesKeys(const DatasetNode& node) {
  return node.inputs().size() > 1 && node.key_origin() == KeyOrigin::kInputs;
}

// Those of the inputs of a stage that combines pipelines.
class CombinedNames final : public SampleNames {
 public:
  using Inputs = std::vector<std::shared_ptr<const SampleNames>>;  // null for one without names
  explicit CombinedNames(Inputs inputs) : inputs_(std::move(inputs)) {}

  std::string NameOf(int64_t index, std::string_view field) const override {
    return NameOfKey({.epoch = 0, .index = index}, field);
  }
  std::string NameOfKey(const SampleKey& key, std::string_view field) const override {
    if (key.index < 0) return "";
    const int64_t count = std::ssize(inputs_);
    const auto& names = inputs_[static_cast<size_t>(key.index % count)];
    return names ? names->NameOfKey({key.epoch, key.index / count}, field) : "";
  }

 private:
  const Inputs inputs_;
};

// Null if none of the inputs has names.
std::shared_ptr<const SampleNames> NamesOfAll(const std::vector<Dataset>& inputs) {
  CombinedNames::Inputs names;
  for (const Dataset& input : inputs) names.push_back(FindSampleNames(input));
  if (std::ranges::count(names, nullptr) == std::ssize(names)) return nullptr;
  return std::make_shared<const CombinedNames>(std::move(names));
}

}  // namespace

bool KeepsKeys(const DatasetNode& node) {
  return node.inputs().size() == 1 && node.key_origin() == KeyOrigin::kInput;
}

std::shared_ptr<const SampleNames> FindSampleNames(const Dataset& dataset) {
  const Dataset* at = &dataset;
  while (KeepsKeys(at->node())) at = &at->node().input();
  if (CombinesKeys(at->node())) return NamesOfAll(at->node().inputs());
  return std::dynamic_pointer_cast<const SampleNames>(at->shared_node());
}

std::string NameInMessage(const Dataset& dataset, const SampleKey& key, std::string_view message) {
  const std::shared_ptr<const SampleNames> names = FindSampleNames(dataset);
  std::string first;
  if (names == nullptr) return first;
  for (const Field& field : dataset.spec().fields) {
    std::string name = names->NameOfKey(key, field.name);
    if (name.empty()) continue;
    if (message.find(name) != std::string_view::npos) return name;
    if (first.empty()) first = std::move(name);
  }
  return first;
}

}  // namespace stoker
