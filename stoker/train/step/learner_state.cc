// The part of Learner that is stored and restored.
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "stoker/cluster/agreement.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/step/finiteness.h"
#include "stoker/train/step/learner.h"

namespace stoker {
namespace {

constexpr std::string_view kModelPrefix = "model.";
constexpr std::string_view kOptimizerPrefix = "optimizer.";
constexpr std::string_view kScalerPrefix = "scaler.";
constexpr std::string_view kAveragePrefix = "average.";
constexpr std::string_view kAveragingPrefix = "averaging.";

Status WithAdvice(const Status& status) {
  if (status.code() != StatusCode::kFailedPrecondition) return status;
  return {status.code(),
          status.message() +
              ". A run goes on with the optimizer that it began with; to begin with its weights "
              "alone, start another run with train.init_from: ITS DIRECTORY"};
}

}  // namespace

Status Learner::CheckFinite() const {
  std::string broken;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { broken = FirstNotFinite(StateOf(*model_)); }));
  if (broken.empty()) return OkStatus();
  return FailedPrecondition("the weights '{}' are no longer finite", broken);
}

NamedTensors Learner::State() const { return StateWith(optimizer_->State()); }

void Learner::ShareStateOf(const Learner& other) {
  const at::NoGradGuard no_grad;
  const auto share = [](std::vector<at::Tensor> mine, const std::vector<at::Tensor>& theirs) {
    for (size_t i = 0; i < mine.size(); ++i) mine[i].set_data(theirs[i].detach());
  };
  share(model_->parameters(), other.model_->parameters());
  share(model_->buffers(), other.model_->buffers());
  NamedTensors mine = optimizer_->State();
  const NamedTensors theirs = other.optimizer_->State();
  for (size_t i = 0; i < mine.size(); ++i) {
    if (mine[i].tensor.scalar_type() != at::kLong) mine[i].tensor.set_data(theirs[i].tensor);
  }
}

std::vector<at::Tensor> Learner::StepCounts() const {
  std::vector<at::Tensor> counts;
  for (const NamedTensor& state : optimizer_->State()) {
    if (state.tensor.scalar_type() == at::kLong) counts.push_back(state.tensor);
  }
  return counts;
}

Result<NamedTensors> Learner::GatherState() {
  STOKER_RETURN_IF_ERROR(AverageRanks());
  if (!sharded()) return State();
  STOKER_ASSIGN_OR_RETURN(NamedTensors of_optimizer, sharded_->GatherState());
  return StateWith(std::move(of_optimizer));
}

// The running moments of norms that take each rank's own rows: those of rank 0 count.
std::set<std::string> Learner::OfFirstRank() const {
  std::set<std::string> names;
  for (const auto& buffer : model_->named_buffers()) {
    for (const std::string_view prefix : {kModelPrefix, kAveragePrefix})
      names.insert(fmt::format("{}{}", prefix, buffer.key()));
  }
  return names;
}

Result<NamedTensors> Learner::PartOfState() {
  STOKER_RETURN_IF_ERROR(AverageRanks());
  const Membership& member = ranks_->group().membership();
  NamedTensors alike = StateWith(sharded() ? NamedTensors() : optimizer_->State());
  std::vector<int64_t> sizes;
  for (const NamedTensor& each : alike) sizes.push_back(static_cast<int64_t>(each.tensor.nbytes()));
  const std::vector<int64_t> writers =
      ShareOut(sizes, member.world, sharded() ? sharded_->BytesOfRanks() : std::vector<int64_t>());
  const std::set<std::string> of_first = OfFirstRank();
  NamedTensors part;
  for (size_t i = 0; i < alike.size(); ++i) {
    const int64_t writer = of_first.contains(alike[i].name) ? 0 : writers[i];
    if (writer == member.rank) part.push_back(std::move(alike[i]));
  }
  if (!sharded()) return part;
  for (NamedTensor& own : sharded_->State())
    part.push_back({fmt::format("{}{}", kOptimizerPrefix, own.name), std::move(own.tensor)});
  return part;
}

NamedTensors Learner::StateWith(NamedTensors of_optimizer) const {
  NamedTensors all;
  const auto add = [&](std::string_view prefix, NamedTensors part) {
    for (auto& [name, tensor] : part) {
      all.push_back({fmt::format("{}{}", prefix, name), std::move(tensor)});
    }
  };
  add(kModelPrefix, StateOf(*model_));
  add(kOptimizerPrefix, std::move(of_optimizer));
  if (scaler_) add(kScalerPrefix, scaler_->State());
  if (!average_.kept()) return all;
  add(kAveragePrefix, average_.Averages());
  add(kAveragingPrefix, {{"updates", average_.updates()}});
  return all;
}

Status Learner::RestoreOptimizer(std::span<const NamedArray> arrays, std::string_view source) {
  NamedTensors state;
  if (sharded()) {
    STOKER_ASSIGN_OR_RETURN(state, sharded_->WholeStateAtFirst());
  } else {
    state = optimizer_->State();
  }
  STOKER_RETURN_IF_ERROR(CopyArraysInto(state, arrays, kOptimizerPrefix, source));
  if (sharded()) to_be_spread_ = std::move(state);
  return OkStatus();
}

// Nobody has restored anything in a new run: then optimizers are at their beginning everywhere.
Status Learner::TakeStateOfFirst() {
  constexpr std::string_view kWhat = "the weights";
  if (local()) ranks_->local()->Forget();
  Group& group = ranks_->group();
  std::vector<at::Tensor> tensors;
  for (NamedTensor& each : StateWith(sharded() ? NamedTensors() : optimizer_->State()))
    tensors.push_back(std::move(each.tensor));
  STOKER_RETURN_IF_ERROR(CopyFromRank(group, /*root=*/0, tensors, kWhat));
  if (!sharded()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const int64_t restored,
                          GreatestOf(group, to_be_spread_.has_value() ? 1 : 0, kWhat));
  const NamedTensors whole = std::exchange(to_be_spread_, std::nullopt).value_or(NamedTensors());
  return restored > 0 ? sharded_->SpreadState(whole) : OkStatus();
}

Status Learner::Restore(std::span<const NamedArray> arrays, std::string_view source) {
  STOKER_RETURN_IF_ERROR(CopyArraysInto(StateOf(*model_), arrays, kModelPrefix, source));
  STOKER_RETURN_IF_ERROR(WithAdvice(RestoreOptimizer(arrays, source)));
  const auto holds = [&](std::string_view prefix) {
    return std::ranges::any_of(
        arrays, [&](const NamedArray& array) { return array.name.starts_with(prefix); });
  };
  // A run may have begun in another precision, or without averages.
  if (scaler_ && holds(kScalerPrefix)) {
    STOKER_RETURN_IF_ERROR(CopyArraysInto(scaler_->State(), arrays, kScalerPrefix, source));
  }
  if (!average_.kept() || !holds(kAveragePrefix)) return OkStatus();
  STOKER_RETURN_IF_ERROR(CopyArraysInto(average_.Averages(), arrays, kAveragePrefix, source));
  return CopyArraysInto({{"updates", average_.updates()}}, arrays, kAveragingPrefix, source);
}

}  // namespace stoker
