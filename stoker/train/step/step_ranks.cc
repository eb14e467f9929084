#include "stoker/train/step/step_ranks.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include "stoker/base/log.h"
#include "stoker/train/core/layers.h"

namespace stoker {
namespace {

constexpr double kMegabyte = 1 << 20;

at::ScalarType TravelTypeOf(const DistributedOptions& options) {
  if (options.gradient_type == "bf16") return at::kBFloat16;
  return options.gradient_type == "fp16" ? at::kHalf : at::kFloat;
}

}  // namespace

int64_t BucketBytes(const DistributedOptions& options) {
  return static_cast<int64_t>(options.bucket_mb * kMegabyte);
}

StepRanks::StepRanks(Group& group, const Model& model, const DistributedOptions& options,
                     double divisor)
    : group_(group),
      model_(model),
      divisor_(divisor),
      bucket_bytes_(BucketBytes(options)),
      norms_required_(options.sync_batch_norm == "true"),
      shares_norms_(options.sync_batch_norm != "false" && options.local_steps == 1 &&
                    CountBatchNorms(model) > 0) {
  if (options.local_steps > 1) {
    local_.emplace(options.local_steps);
  } else {
    exchange_.emplace(group, model.parameters(), bucket_bytes_, TravelTypeOf(options));
  }
}

Status StepRanks::Connect() {
  if (!shares_norms_ && !model_.DropsOut()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(beside_, group_.Beside("passes"));
  return OkStatus();
}

Result<int64_t> StepRanks::FirstRow(int64_t rows, int64_t step) {
  if (!model_.DropsOut()) return 0;
  if (!beside_) return Unavailable("step {}: this rank has left the steps of the run", step);
  const Membership& member = group_.membership();
  at::Tensor all = at::empty({member.world, 1}, at::kLong);
  STOKER_RETURN_IF_ERROR(beside_->AllGather(at::full({1}, rows, at::kLong), all,
                                            fmt::format("the rows of step {}", step)));
  return all.narrow(0, 0, member.rank).sum().item<int64_t>();
}

Status StepRanks::CheckNorms(size_t norms) {
  if (norms_checked_ || !shares_norms_) return OkStatus();
  norms_checked_ = true;
  const int64_t all = CountBatchNorms(model_);
  if (static_cast<int64_t>(norms) >= all) return OkStatus();
  const std::string problem = fmt::format(
      "{} of the model's {} batch norms take each rank's rows alone, since the model calls torch's "
      "norms and not BatchNorm (stoker/train/core/layers.h)",
      all - static_cast<int64_t>(norms), all);
  if (norms_required_)
    return InvalidArgument(
        "train.distributed.sync_batch_norm: {}; change the model, or set it to false", problem);
  if (group_.membership().rank == 0) LogWarning("{}", problem);
  return OkStatus();
}

}  // namespace stoker
