#pragma once

#include "stoker/train/models/towers_internal.h"

namespace stoker {

// Each input goes through a model of its own, a tower, whose outputs (its `classes`) are values for
// the layers that follow:
//
//   model:
//     joined:
//       towers: {picture: {convnet: {classes: 64}}, words: {embedding_bag: {classes: 32}}}
//       classes: 10
//   train:
//     input: {picture: image, words: text}
//
// Parameters: `towers.NAME.*`, those of each tower, then `layers.N.*` of the layers. A ReLU
// precedes each layer, dropout each but the first.
struct Joined {
  static constexpr std::string_view kName = "joined";
  static constexpr std::string_view kHelp =
      "A model of several inputs: one for each (train.input), joined by linear layers.";
  static constexpr bool kTakesInputs = true;
  internal::Towers towers;
  int64_t classes = 10;
  std::vector<int64_t> hidden = {128};
  double dropout = 0;

  static void Describe(OptionTable<Joined>& table);
  // Errors: kInvalidArgument if the towers are not those that train.input names; those of the
  // towers' models, with the name of the input.
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

template <>
const std::vector<Option>& OptionsOf<Joined>();

}  // namespace stoker
