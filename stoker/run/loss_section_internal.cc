#include "stoker/run/loss_section_internal.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/run/placed_entry_internal.h"

namespace stoker {
namespace {

constexpr const char* kWeights = "weights";
constexpr const char* kBalanced = "balanced";

// Whether the loss `name` has a list of numbers of that name.
bool HasWeights(std::string_view name) {
  const std::vector<KindDescription> kinds = LossRegistry::Known().Describe();
  const auto kind = std::ranges::find(kinds, name, &KindDescription::name);
  if (kind == kinds.end()) return false;
  const auto weights = std::ranges::find(kind->options, kWeights, &Option::name);
  return weights != kind->options.end() && weights->type == OptionTypeName<std::vector<double>>();
}

ConfigNode* BalancedWeights(ConfigNode& loss) {
  if (loss.kind != ConfigNode::Kind::kMap || loss.entries.size() != 1 ||
      !HasWeights(loss.entries.front().key))
    return nullptr;
  ConfigNode* const weights = loss.entries.front().value.Find(kWeights);
  const bool is_word = weights != nullptr && weights->kind == ConfigNode::Kind::kScalar &&
                       !weights->quoted && weights->scalar == kBalanced;
  return is_word ? weights : nullptr;
}

void Replace(ConfigNode& old, ConfigNode by) {
  by.location = old.location;
  old = std::move(by);
}

}  // namespace

Result<LossRegistry::Configured> ParseLoss(const ConfigNode& node, bool& balanced) {
  ConfigNode plain = node;
  ConfigNode* const weights = BalancedWeights(plain);
  if (weights != nullptr) Replace(*weights, ConfigNode::List({}));
  STOKER_ASSIGN_OR_RETURN(LossRegistry::Configured loss, ParsePlaced(LossRegistry::Known(), plain));
  balanced = weights != nullptr;
  return loss;
}

const ConfigNode* WeightsOf(const LossRegistry::Configured& loss) {
  return loss.node.entries.empty() ? nullptr : loss.node.entries.front().value.Find(kWeights);
}

Result<LossRegistry::Configured> WithWeights(const LossRegistry::Configured& loss,
                                             const ConfigNode& written, ConfigNode weights) {
  ConfigNode filled = written;
  ConfigNode* const balanced = BalancedWeights(filled);
  if (balanced == nullptr) return loss;
  Replace(*balanced, std::move(weights));
  return ParsePlaced(LossRegistry::Known(), filled);
}

ConfigNode FilledLoss(const LossRegistry::Configured& loss, bool balanced) {
  ConfigNode filled = loss.node;
  if (balanced) {
    if (ConfigNode* const weights = filled.entries.front().value.Find(kWeights))
      *weights = ConfigNode::Scalar(kBalanced);
  }
  return filled;
}

}  // namespace stoker
