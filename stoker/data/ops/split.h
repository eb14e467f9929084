#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps one side of the data, for training or for evaluation. Two pipelines with the same input and
// the same options but `side` part its elements; `data.split` of a recipe makes these two.
//
//   - split: {side: train, eval: 0.2, by: customer}
//
// Evaluation gets a share (`eval`), or fold k of n (`fold: k/n`). Which side an element is on
// depends on its key and `seed`, never on the run's seed, so it stays there when others are added:
//   by, group   the hash of these fields decides, and elements with the same values stay together.
//               An element stays on its side wherever it stands; shares are those of independent
//               draws, within sqrt(share (1 - share) / keys) or so.
//   (neither)   its number in its source decides: of each run of 1 / share elements one is drawn.
//               The share is exact to less than one element, and elements that are appended move
//               no other.
//   stratify    the same, but in each class by the number in the class (of the key, by its first
//               sample, where there is one): of every class the share is exact to less than one.
//               The first sample of a class is trained on unless there are folds. A class whose
//               samples are all for evaluation is an error; one that evaluation lacks is a warning.
//
// By position if the input is, and its elements stand in the same order in every pass; then the
// number of elements is known. If fields decide, every element of the input is made once when the
// pipeline is built, so put split directly after the source. The table takes about 2 bits an
// element, within the budget. Of an input that is read in order the number is not known beforehand,
// as after `filter`, and `stratify` is an error.
struct Split {
  static constexpr std::string_view kName = "split";
  static constexpr std::string_view kHelp =
      "Keeps one side of the data, for training or evaluation, by the key of each element.";
  static constexpr bool kArranges = true;
  std::optional<double> eval;
  std::string fold;
  std::vector<std::string> by;
  std::string group;
  std::string stratify;
  int64_t seed = 0;
  std::string side;

  static void Describe(OptionTable<Split>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
