#include "stoker/data/ops/skip.h"

#include <limits>

#include "stoker/data/ops/slice_internal.h"
#include "stoker/data/rewrites/map_order.h"

namespace stoker {

void Skip::Describe(OptionTable<Skip>& table) {
  table.Field("count", &Skip::count, "how many elements to leave out", AtLeast(0)).Required();
}

Result<Dataset> Skip::Build(Dataset input) const {
  return LeaveOutBeforeMaps(kName, std::move(input), [&](Dataset before) -> Result<Dataset> {
    return SliceDataset(std::move(before), std::string(kName), count,
                        std::numeric_limits<int64_t>::max());
  });
}

}  // namespace stoker
