#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Takes sequences of tokens, [samples, length], of any lengths, or of numbers, [samples, length,
// numbers] or [samples, length], and ragged ones; see recurrent_internal.h.
//
// Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", arXiv 1406.1078.
struct Gru {
  static constexpr std::string_view kName = "gru";
  static constexpr std::string_view kHelp =
      "A vector for each token of a sequence, or the numbers of each step, layers of GRU cells, "
      "and a linear layer over the last state.";
  static constexpr bool kTakesTokens = true;
  static constexpr bool kTakesSteps = true;
  int64_t classes = 10;
  int64_t tokens = 10000;
  int64_t width = 64;
  int64_t padding = 0;
  int64_t units = 128;
  int64_t layers = 1;
  bool bidirectional = false;
  double dropout = 0;

  static void Describe(OptionTable<Gru>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
