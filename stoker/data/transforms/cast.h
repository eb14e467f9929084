#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Converts the values of a field to another dtype, by the rules of image/cast.h: float to integer
// truncates and clamps, integer to narrower integer keeps the low bits, to a narrower float rounds
// to nearest even. A field that has the dtype already passes unchanged.
struct Cast {
  static constexpr std::string_view kName = "cast";
  static constexpr std::string_view kHelp =
      "Converts a field to another dtype. Values are not scaled; `normalize` does that.";
  static constexpr bool kArranges = false;
  std::string field = "image";
  std::string dtype = "float32";

  static void Describe(OptionTable<Cast>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
