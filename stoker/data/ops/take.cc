#include "stoker/data/ops/take.h"

#include "stoker/data/ops/slice_internal.h"

namespace stoker {

void Take::Describe(OptionTable<Take>& table) {
  table.Field("count", &Take::count, "how many elements to keep", AtLeast(0)).Required();
}

Result<Dataset> Take::Build(Dataset input) const {
  return SliceDataset(std::move(input), std::string(kName), 0, count);
}

}  // namespace stoker
