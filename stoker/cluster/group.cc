#include "stoker/cluster/group.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace stoker {

Status Group::AllReduce(at::Tensor tensor, Reduction reduction, std::string_view what) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Exchange> exchange,
                          StartAllReduce(std::move(tensor), reduction, what));
  return exchange->Wait();
}

Result<std::vector<std::string>> Group::GatherTexts(std::string_view text, std::string_view what) {
  const int64_t world = membership().world;
  const at::Tensor length = at::full({1}, static_cast<int64_t>(text.size()), at::kLong);
  at::Tensor lengths = at::empty({world, 1}, at::kLong);
  STOKER_RETURN_IF_ERROR(AllGather(length, lengths, what));
  const auto* const sizes = lengths.const_data_ptr<int64_t>();

  const int64_t longest = *std::max_element(sizes, sizes + world);
  std::vector<std::string> texts(world);
  if (longest == 0) return texts;
  at::Tensor padded = at::zeros({longest}, at::kByte);
  std::memcpy(padded.mutable_data_ptr(), text.data(), text.size());
  at::Tensor gathered = at::empty({world, longest}, at::kByte);
  STOKER_RETURN_IF_ERROR(AllGather(padded, gathered, what));
  const auto* const bytes = static_cast<const char*>(gathered.const_data_ptr());
  for (int64_t rank = 0; rank < world; ++rank)
    texts[rank].assign(bytes + rank * longest, sizes[rank]);
  return texts;
}

}  // namespace stoker
