#include "stoker/train/step/local_steps.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <utility>
#include <vector>

#include "stoker/base/trace.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

constexpr std::string_view kWhat = "the mean of the weights";

// Tensors that travel together, as one type: floats of 32 bits as they are, all others as floats of
// 64, which hold a count exactly.
class Bucket {
 public:
  explicit Bucket(at::ScalarType travel) : travel_(travel) {}

  void Add(const at::Tensor& tensor) {
    tensors_.push_back(tensor.detach());
    bytes_ += tensor.numel() * static_cast<int64_t>(at::elementSize(travel_));
  }
  int64_t bytes() const { return bytes_; }

  // Replaces the tensors by the sums over all ranks of `share` of each, and is empty then.
  Status Reduce(Group& group, double share) {
    if (tensors_.empty()) return OkStatus();
    at::Tensor sums;
    STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
      std::vector<at::Tensor> flat;
      for (const at::Tensor& tensor : tensors_) flat.push_back(tensor.to(travel_).reshape({-1}));
      sums = at::cat(flat).mul_(share);
    }));
    STOKER_RETURN_IF_ERROR(group.AllReduce(sums, Reduction::kSum, kWhat));
    STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { TakeFrom(sums); }));
    tensors_.clear();
    bytes_ = 0;
    return OkStatus();
  }

 private:
  void TakeFrom(const at::Tensor& sums) const {
    int64_t begin = 0;
    for (const at::Tensor& tensor : tensors_) {
      at::Tensor mean = sums.narrow(0, begin, tensor.numel()).view(tensor.sizes());
      begin += tensor.numel();
      tensor.copy_(at::isFloatingType(tensor.scalar_type()) ? mean : mean.round());
    }
  }

  const at::ScalarType travel_;
  std::vector<at::Tensor> tensors_;
  int64_t bytes_ = 0;
};

}  // namespace

Status AverageOverRanks(Group& group, std::span<const at::Tensor> tensors, double weight,
                        double total, int64_t bytes) {
  const at::NoGradGuard no_grad;
  const double share = weight / total;
  Bucket floats(at::kFloat), others(at::kDouble);
  for (const at::Tensor& tensor : tensors) {
    Bucket& bucket = tensor.scalar_type() == at::kFloat ? floats : others;
    bucket.Add(tensor);
    if (bucket.bytes() >= bytes) STOKER_RETURN_IF_ERROR(bucket.Reduce(group, share));
  }
  STOKER_RETURN_IF_ERROR(floats.Reduce(group, share));
  return others.Reduce(group, share);
}

Status LocalSteps::Average(Group& group, std::span<const at::Tensor> tensors, int64_t bytes) {
  const TraceSpan span("mean of the ranks' weights");
  STOKER_RETURN_IF_ERROR(AverageOverRanks(group, tensors, mine_, total_, bytes));
  Forget();
  return OkStatus();
}

}  // namespace stoker
