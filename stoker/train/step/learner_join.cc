// The part of Learner that joins other ranks.
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/device/torch_error.h"
#include "stoker/train/step/finiteness.h"
#include "stoker/train/step/learner.h"

namespace stoker {

Result<StepTotals> Learner::Join(const StepTotals& mine) {
  if (mine.failed > 0) ranks_->Leave();
  if (!broken_) why_.clear();  // of an earlier step, where this one had no samples here
  // Sums show all ranks alike what is not finite; a gradient that stays here must be looked at.
  if (local() && checks_.gradients && !broken_) {
    STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { broken_ = !GradientsAreFinite(parameters_); }));
    if (broken_) why_ = WhyGradients();
  }
  const double loss = loss_.defined() ? loss_.item<double>() * weight_ : 0;
  at::Tensor totals =
      at::tensor({weight_, loss, broken_ ? 1.0 : 0.0, static_cast<double>(mine.samples),
                  static_cast<double>(mine.failed), static_cast<double>(mine.stopped)},
                 at::kDouble);
  STOKER_RETURN_IF_ERROR(local()
                             ? ranks_->group().AllReduce(totals, Reduction::kSum,
                                                         fmt::format("the loss of step {}", step_))
                             : ranks_->exchange()->Finish(step_, totals));
  const auto* const sums = totals.const_data_ptr<double>();
  weight_of_all_ = sums[0];
  if (!local()) {
    weight_ = sums[0];
    expected_ = ranks_->divisor();
  }
  loss_ = at::full({}, sums[1] / sums[0], at::kFloat);
  const StepTotals all{.samples = static_cast<int64_t>(sums[3]),
                       .failed = static_cast<int64_t>(sums[4]),
                       .stopped = static_cast<int64_t>(sums[5])};
  broken_ = sums[2] > 0 || !std::isfinite(sums[1] / sums[0]);
  if (broken_ && all.failed == 0) STOKER_RETURN_IF_ERROR(TellWhyBroken());
  return all;
}

// The ranks decide alike what becomes of the step, and each says what the first of them found.
Status Learner::TellWhyBroken() {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                          ranks_->group().GatherTexts(why_, "why a loss is not finite"));
  const auto told = std::ranges::find_if(all, [](const std::string& why) { return !why.empty(); });
  why_ = told == all.end() ? "the loss is not finite"
                           : fmt::format("rank {}: {}", told - all.begin(), *told);
  return OkStatus();
}

Status Learner::AverageRanks() {
  if (!local() || !ranks_->local()->apart()) return OkStatus();
  std::vector<at::Tensor> tensors;
  for (NamedTensor& each : State()) tensors.push_back(std::move(each.tensor));
  STOKER_RETURN_IF_ERROR(
      ranks_->local()->Average(ranks_->group(), tensors, ranks_->bucket_bytes()));
  return CatchTorchErrors([&] { JudgeWeights(); });
}

}  // namespace stoker
