#include "stoker/data/ops/skip.h"

#include <limits>

#include "stoker/data/ops/slice_internal.h"

namespace stoker {

void Skip::Describe(OptionTable<Skip>& table) {
  table.Field("count", &Skip::count, "how many elements to leave out", AtLeast(0)).Required();
}

Result<Dataset> Skip::Build(Dataset input) const {
  return SliceDataset(std::move(input), std::string(kName), count,
                      std::numeric_limits<int64_t>::max());
}

}  // namespace stoker
