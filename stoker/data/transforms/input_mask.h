#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Hides a random part of a field for masked modelling: every position is chosen with `probability`,
// independently of the others, and the values there become `value`. The new field `<field>_mask` is
// true for chosen positions; `target`, if named, is a new field with the original values.
//
// A position is one value (`unit: value`: tokens, pixels), or one part of the first dimension
// (`unit: row`: a frame or a token's features [positions, features]). The mask has the field's
// shape, or only its first extent.
//
// Not all chosen positions need be hidden (Devlin, Chang, Lee, Toutanova, "BERT", 2019: chosen
// 0.15; of those 0.1 unchanged, 0.1 random): `unchanged` of the chosen positions keep their values,
// `random` of them get integers drawn evenly from 0..vocabulary-1. The mask is true for all three.
//
// Draws by sample, one for each position and one or more further for a chosen one, so a sample's
// mask differs in each epoch. Any dtype; a float16, bfloat16 or bool field is hidden by the nearest
// value.
struct InputMask {
  static constexpr std::string_view kName = "input_mask";
  static constexpr std::string_view kHelp =
      "Hides random positions of a field, and adds a field that says which.";
  static constexpr bool kArranges = false;
  std::string field = "image";
  double probability = 0.15;
  double value = 0;
  std::string unit = "value";
  double unchanged = 0;
  double random = 0;
  int64_t vocabulary = 0;
  std::string target;

  static void Describe(OptionTable<InputMask>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
