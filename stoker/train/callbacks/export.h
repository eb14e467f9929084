#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Writes the model to use after evaluations, each time to a directory of its own in the run:
// exports/latest/step-00001200 after every evaluation, or exports/best/step-00001200 after those
// that are better than all before (tf.estimator's LatestExporter and BestExporter). Several of them
// in a recipe need a `name` each.
//
// Such a directory is a run without checkpoints: recipe.yaml, what the stages have learned, the
// tuner's choices, weights.safetensors, and evaluation.json with the figures. `stoker predict`,
// `eval`, `inspect` and `export` take it where it is, or a copy of it elsewhere.
//
// A run that is resumed writes the exports of the steps that it makes again anew, and removes those
// of later steps with the first that it writes. Of several ranks rank 0 writes them.
struct Export {
  static constexpr std::string_view kName = "export";
  static constexpr std::string_view kHelp =
      "Writes weights, recipe and learned statistics for use after evaluations: the latest or the "
      "best.";
  int64_t keep = 5;
  std::string best;
  std::string best_mode = "auto";
  std::string name;

  static void Describe(OptionTable<Export>& table);
  Result<std::shared_ptr<Callback>> Build() const;
};

}  // namespace stoker
