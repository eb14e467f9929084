#include "stoker/train/core/model.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/base/short_text.h"
#include "stoker/run/sample_noun.h"
#include "stoker/train/core/parameters.h"

namespace stoker {
namespace {

template <typename Items>
void Append(const Items& items, NamedTensors& out) {
  for (const auto& item : items) out.push_back({item.key(), item.value()});
}

// The first few, for messages.
constexpr size_t kNamesTold = 4;

}  // namespace

size_t Model::AddBlock(std::string name, std::vector<std::shared_ptr<torch::nn::Module>> modules) {
  blocks_.push_back({.name = std::move(name), .modules = std::move(modules)});
  return blocks_.size() - 1;
}

at::Tensor Model::PaddedTokens(const Inputs& inputs) const {
  if (!inputs.any_ragged()) return inputs.only();
  const std::optional<KnownTokens> known = Tokens();
  TORCH_CHECK(
      known.has_value(),
      "the samples are ragged, and the model neither says with which number tokens are to be "
      "padded (Model::Tokens) nor takes them as they are (Model::ForwardAll)");
  return inputs.Padded(known->padding);
}

Status Model::CheckpointActivations(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const auto matches = [&](const Block& block) { return MatchesPattern(block.name, pattern); };
    if (std::ranges::any_of(blocks_, matches)) continue;
    if (blocks_.empty()) {
      return InvalidArgument(
          "this model has no blocks that could be computed again; leave the key out");
    }
    std::string names;
    for (size_t i = 0; i < std::min(blocks_.size(), kNamesTold); ++i) {
      names += fmt::format("{}'{}'", i == 0 ? "" : ", ", blocks_[i].name);
    }
    return InvalidArgument(
        "'{}' matches no block of the model; there are {}{}; * stands for all of them",
        ShortText(pattern), names, blocks_.size() > kNamesTold ? ", ..." : "");
  }
  for (Block& block : blocks_) {
    block.checkpointed = std::ranges::any_of(
        patterns, [&](const std::string& pattern) { return MatchesPattern(block.name, pattern); });
    block.parameters.clear();
    block.buffers.clear();
    if (!block.checkpointed) continue;
    for (const auto& module : block.modules) {
      std::ranges::move(module->parameters(), std::back_inserter(block.parameters));
      std::ranges::move(module->buffers(), std::back_inserter(block.buffers));
    }
  }
  return OkStatus();
}

std::string NounOf(const Model& model, const ModelInput& input) {
  return model.ReadsSequences() ? "sequence" : std::string(NounOf(input));
}

NamedTensors ParametersOf(const Model& model) {
  NamedTensors tensors;
  Append(model.named_parameters(), tensors);
  return tensors;
}

NamedTensors StateOf(const Model& model) {
  NamedTensors tensors = ParametersOf(model);
  Append(model.named_buffers(), tensors);
  return tensors;
}

int64_t CountParameters(const Model& model) {
  int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace stoker
