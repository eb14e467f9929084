#include "stoker/data/ops/take.h"

#include "stoker/data/ops/slice_internal.h"

namespace stoker {

template <>
const std::vector<Option>& OptionsOf<Take>() {
  static const auto options = WithObjects<Take>(
      {ObjectOption("count", &Take::count, "how many elements to keep, or which share of them",
                    /*required=*/true)});
  return options;
}

Result<Dataset> Take::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const int64_t kept, count.Of(input, kName));
  return SliceDataset(std::move(input), std::string(kName), 0, kept);
}

}  // namespace stoker
