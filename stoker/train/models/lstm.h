#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Takes sequences of tokens, [samples, length], of any lengths, or of numbers, [samples, length,
// numbers] or [samples, length], and ragged ones; see recurrent_internal.h.
//
// Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", Neural Computation 9(8), 1997.
struct Lstm {
  static constexpr std::string_view kName = "lstm";
  static constexpr std::string_view kHelp =
      "A vector for each token of a sequence, or the numbers of each step, layers of LSTM cells, "
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

  static void Describe(OptionTable<Lstm>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
