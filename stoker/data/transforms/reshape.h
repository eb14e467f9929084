#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Gives the values of a field another shape, in their order and without a copy: a row of 784
// numbers becomes an image by `reshape: {shape: [1, 28, 28], field: x}`. One extent may be -1: as
// many as there are. The shape is that of an element, so put reshape before `batch`; after it the
// first extent is that of the batch (-1). `shape: []` makes a number of an array of one.
//
// Errors: at once for values that do not fill the shape, if their number is known; else names the
// element.
struct Reshape {
  static constexpr std::string_view kName = "reshape";
  static constexpr std::string_view kHelp =
      "Gives the values of a field another shape, in their order.";
  static constexpr bool kArranges = false;
  std::vector<int64_t> shape;
  std::string field = "image";

  static void Describe(OptionTable<Reshape>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
