#include "stoker/cluster/agreement.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <cstring>

#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

// A code and a message as one text; success is empty.
std::string Packed(const Status& status) {
  if (status.ok()) return {};
  return static_cast<char>('A' + static_cast<int>(status.code())) + status.message();
}

StatusCode CodeOf(const std::string& packed) { return static_cast<StatusCode>(packed[0] - 'A'); }

}  // namespace

Status Agree(Group& group, const Status& mine, std::string_view what) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                          group.GatherTexts(Packed(mine), what));
  // An error comes before a rank that was only asked to stop.
  int64_t first = -1;
  for (int64_t rank = 0; rank < std::ssize(all); ++rank) {
    if (all[rank].empty()) continue;
    const bool better = first < 0 || (CodeOf(all[first]) == StatusCode::kCancelled &&
                                      CodeOf(all[rank]) != StatusCode::kCancelled);
    if (better) first = rank;
  }
  if (first < 0) return OkStatus();
  group.NoteAgreed();
  const std::string message = all[first].substr(1);
  const bool told_there =
      first != group.membership().rank &&
      (mine.ok() || mine.code() == StatusCode::kCancelled || mine.message() == message);
  if (!told_there) return mine;
  return {CodeOf(all[first]), fmt::format("rank {} failed: {}", first, message)};
}

Result<std::string> TextOfFirst(Group& group, std::string_view text, std::string_view what) {
  at::Tensor length = at::full({1}, static_cast<int64_t>(text.size()), at::kLong);
  STOKER_RETURN_IF_ERROR(group.Broadcast(length, /*root=*/0, what));
  const int64_t size = length.item<int64_t>();
  if (size == 0) return std::string();
  at::Tensor bytes = at::empty({size}, at::kByte);
  if (group.membership().rank == 0) std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
  STOKER_RETURN_IF_ERROR(group.Broadcast(bytes, /*root=*/0, what));
  return std::string(static_cast<const char*>(bytes.const_data_ptr()), static_cast<size_t>(size));
}

Result<int64_t> GreatestOf(Group& group, int64_t number, std::string_view what) {
  at::Tensor greatest = at::full({1}, number, at::kLong);
  STOKER_RETURN_IF_ERROR(group.AllReduce(greatest, Reduction::kMax, what));
  return greatest.item<int64_t>();
}

Status CopyFromRank(Group& group, int64_t root, std::span<const at::Tensor> tensors,
                    std::string_view what) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;
    at::Tensor values;
    STOKER_RETURN_IF_ERROR(CatchTorchErrors(
        [&] { values = tensor.detach().clone(at::MemoryFormat::Contiguous).reshape({-1}); }));
    STOKER_RETURN_IF_ERROR(group.Broadcast(values.view(at::kByte), root, what));
    if (group.membership().rank == root) continue;
    STOKER_RETURN_IF_ERROR(
        CatchTorchErrors([&] { tensor.detach().copy_(values.view(tensor.sizes())); }));
  }
  return OkStatus();
}

}  // namespace stoker
