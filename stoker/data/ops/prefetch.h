#pragma once

#include "stoker/base/options.h"
#include "stoker/data/dataset.h"

namespace stoker {

// Keeps elements ready ahead of the consumer, so that making them and using them overlap. Passes
// elements on unchanged.
struct Prefetch {
  static constexpr std::string_view kName = "prefetch";
  static constexpr std::string_view kHelp =
      "Keeps elements ready ahead of the consumer, within the memory budget.";
  std::optional<int64_t> depth;

  static void Describe(OptionTable<Prefetch>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
