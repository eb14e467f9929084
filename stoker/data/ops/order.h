#pragma once

#include <filesystem>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns the elements of its input at the positions that a file lists, in that order: a sampling
// order of one's own, such as a curriculum, a list of indices or PyTorch's Sampler. A position may
// be listed several times or not at all.
//
//   - order: easy-first.npy
//
// The file is a .npy of integers in one dimension, or text with one whole number from 0 a line; a
// relative path starts at data.root. It is read when the pipeline is built: 8 bytes a position,
// within the budget. The order is the same in every epoch.
//
// By position, and the input must be. The key of an element is its position in the output, so later
// random stages treat repeated elements differently each time.
struct Order {
  static constexpr std::string_view kName = "order";
  static constexpr std::string_view kHelp =
      "The elements at the positions that a file lists, in that order.";
  static constexpr bool kArranges = true;
  std::filesystem::path file;

  static void Describe(OptionTable<Order>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
