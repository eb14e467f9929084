#include "stoker/data/ops/skip.h"

#include <limits>

#include "stoker/data/ops/slice_internal.h"
#include "stoker/data/rewrites/map_order.h"

namespace stoker {

template <>
const std::vector<Option>& OptionsOf<Skip>() {
  static const auto options = WithObjects<Skip>(
      {ObjectOption("count", &Skip::count, "how many elements to leave out, or which share of them",
                    /*required=*/true)});
  return options;
}

Result<Dataset> Skip::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const int64_t dropped, count.Of(input, kName));
  return LeaveOutBeforeMaps(kName, std::move(input), [&](Dataset before) -> Result<Dataset> {
    return SliceDataset(std::move(before), std::string(kName), dropped,
                        std::numeric_limits<int64_t>::max());
  });
}

}  // namespace stoker
