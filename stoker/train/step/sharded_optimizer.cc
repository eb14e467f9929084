#include "stoker/train/step/sharded_optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "stoker/base/trace.h"
#include "stoker/cluster/agreement.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

std::vector<int64_t> NumbersOfValues(const TrainedParameters& parameters) {
  std::vector<int64_t> sizes;
  for (const TrainedParameter& parameter : parameters) sizes.push_back(parameter.tensor.numel());
  return sizes;
}

// In the order in which they lie in memory.
at::Tensor ValuesOf(const TrainedParameter& parameter) {
  return parameter.tensor.detach().as_strided({parameter.tensor.numel()}, {1});
}

}  // namespace

std::vector<int64_t> ShareOut(std::span<const int64_t> sizes, int64_t ranks,
                              std::vector<int64_t> filled) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  std::vector<int64_t> owners(sizes.size());
  filled.resize(static_cast<size_t>(ranks));
  for (const size_t i : order) {
    const auto least = std::ranges::min_element(filled);
    owners[i] = least - filled.begin();
    *least += sizes[i];
  }
  return owners;
}

ShardedOptimizer::ShardedOptimizer(Group& group, const TrainedParameters& parameters, Build build,
                                   int64_t bytes)
    : group_(group),
      parameters_(parameters),
      build_(std::move(build)),
      owners_(ShareOut(NumbersOfValues(parameters), group.membership().world)) {
  std::vector<int64_t> lengths(static_cast<size_t>(group.membership().world));
  for (size_t i = 0; i < owners_.size(); ++i)
    lengths[static_cast<size_t>(owners_[i])] += parameters_[i].tensor.numel();
  longest_part_ = std::ranges::max(lengths);
  const auto value_bytes = static_cast<int64_t>(sizeof(float));
  chunk_ = std::clamp<int64_t>(bytes / value_bytes / group.membership().world, 1,
                               std::max<int64_t>(longest_part_, 1));
}

Result<std::unique_ptr<ShardedOptimizer>> ShardedOptimizer::Create(
    Group& group, const TrainedParameters& parameters, Build build, int64_t bytes) {
  for (const TrainedParameter& parameter : parameters) {
    if (parameter.tensor.is_non_overlapping_and_dense() &&
        parameter.tensor.scalar_type() == at::kFloat)
      continue;
    return InvalidArgument(
        "train.distributed.shard_optimizer: the values of '{}' do not lie together in memory as "
        "floats; set it to false",
        parameter.name);
  }
  std::unique_ptr<ShardedOptimizer> optimizer(
      new ShardedOptimizer(group, parameters, std::move(build), bytes));
  TrainedParameters own;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (optimizer->owners_[i] == group.membership().rank) own.push_back(parameters[i]);
  }
  if (!own.empty()) {
    STOKER_ASSIGN_OR_RETURN(optimizer->own_, optimizer->build_(own));
  }
  return optimizer;
}

void ShardedOptimizer::Step(const ScheduleValue& now) {
  if (own_) own_->Step(now);
  lost_ = SendUpdates();
  TORCH_CHECK(lost_.ok(), lost_.message());
}

// Each rank's parameters one after the other are its part; the parts travel in chunks, one of each
// rank at a time, so that room for a few is enough.
Status ShardedOptimizer::SendUpdates() {
  const TraceSpan span("send the updates");
  const at::NoGradGuard no_grad;
  const int64_t world = group_.membership().world;
  const at::Tensor mine = at::empty({chunk_}, at::kFloat);
  const at::Tensor all = at::empty({world, chunk_}, at::kFloat);
  for (int64_t begin = 0; begin < longest_part_; begin += chunk_) {
    CopyChunk(group_.membership().rank, begin, mine, /*into_parameters=*/false);
    STOKER_RETURN_IF_ERROR(group_.AllGather(mine, all, "the updated weights"));
    for (int64_t rank = 0; rank < world; ++rank) {
      if (rank != group_.membership().rank)
        CopyChunk(rank, begin, all.select(0, rank), /*into_parameters=*/true);
    }
  }
  return OkStatus();
}

// Copies the values from `begin` of the part of `owner`, or those to there.
void ShardedOptimizer::CopyChunk(int64_t owner, int64_t begin, at::Tensor chunk,
                                 bool into_parameters) const {
  int64_t at = 0;  // of the part
  const int64_t end = begin + chunk.numel();
  for (size_t i = 0; i < parameters_.size() && at < end; ++i) {
    if (owners_[i] != owner) continue;
    const int64_t size = parameters_[i].tensor.numel();
    const int64_t first = std::max(at, begin), last = std::min(at + size, end);
    if (first < last) {
      at::Tensor of_parameter = ValuesOf(parameters_[i]).narrow(0, first - at, last - first);
      at::Tensor of_chunk = chunk.narrow(0, first - begin, last - first);
      if (into_parameters)
        of_parameter.copy_(of_chunk);
      else
        of_chunk.copy_(of_parameter);
    }
    at += size;
  }
}

NamedTensors ShardedOptimizer::State() const { return own_ ? own_->State() : NamedTensors(); }

// As Adam's, the state of most optimizers is twice as large as the parameters.
std::vector<int64_t> ShardedOptimizer::BytesOfRanks() const {
  std::vector<int64_t> bytes(static_cast<size_t>(group_.membership().world));
  for (size_t i = 0; i < owners_.size(); ++i)
    bytes[static_cast<size_t>(owners_[i])] +=
        2 * static_cast<int64_t>(parameters_[i].tensor.nbytes());
  return bytes;
}

Result<NamedTensors> ShardedOptimizer::StateAtFirst(const TrainedParameter& parameter) const {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Optimizer> alone, build_({parameter}));
  return alone->State();
}

Result<NamedTensors> ShardedOptimizer::WholeStateAtFirst() const {
  NamedTensors whole;
  for (const TrainedParameter& parameter : parameters_) {
    STOKER_ASSIGN_OR_RETURN(NamedTensors state, StateAtFirst(parameter));
    std::ranges::move(state, std::back_inserter(whole));
  }
  return whole;
}

// Returns the tensors of the same names that this rank has.
Result<NamedTensors> ShardedOptimizer::OwnState(const NamedTensors& like) const {
  std::unordered_map<std::string, at::Tensor> own;
  for (NamedTensor& each : State()) own.emplace(std::move(each.name), std::move(each.tensor));
  NamedTensors found;
  for (const NamedTensor& each : like) {
    const auto there = own.find(each.name);
    if (there == own.end())
      return FailedPrecondition(
          "train.distributed.shard_optimizer: the optimizer has no state '{}' for some of the "
          "parameters, and has it for one alone; set it to false",
          each.name);
    found.push_back({each.name, there->second});
  }
  return found;
}

Result<NamedTensors> ShardedOptimizer::GatherState() const {
  const int64_t rank = group_.membership().rank;
  NamedTensors whole;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    STOKER_ASSIGN_OR_RETURN(NamedTensors state, StateAtFirst(parameters_[i]));
    if (owners_[i] == rank) {
      STOKER_ASSIGN_OR_RETURN(state, OwnState(state));
    }
    std::vector<at::Tensor> tensors;
    for (const NamedTensor& each : state) tensors.push_back(each.tensor);
    if (owners_[i] != 0)
      STOKER_RETURN_IF_ERROR(
          CopyFromRank(group_, owners_[i], tensors, "the state of the optimizer"));
    if (rank == 0 || owners_[i] == rank) std::ranges::move(state, std::back_inserter(whole));
  }
  return whole;
}

Status ShardedOptimizer::SpreadState(const NamedTensors& whole) {
  const int64_t rank = group_.membership().rank;
  size_t next = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    STOKER_ASSIGN_OR_RETURN(NamedTensors state, StateAtFirst(parameters_[i]));
    if (rank == 0) {
      for (NamedTensor& each : state) each.tensor = whole[next++].tensor;
    } else if (owners_[i] == rank) {
      STOKER_ASSIGN_OR_RETURN(state, OwnState(state));
    }
    std::vector<at::Tensor> tensors;
    for (const NamedTensor& each : state) tensors.push_back(each.tensor);
    if (owners_[i] != 0) {
      STOKER_RETURN_IF_ERROR(CopyFromRank(group_, 0, tensors, "the state of the optimizer"));
    } else if (rank == 0) {
      STOKER_ASSIGN_OR_RETURN(const NamedTensors own, OwnState(state));
      const at::NoGradGuard no_grad;
      for (size_t n = 0; n < own.size(); ++n) at::Tensor(own[n].tensor).copy_(tensors[n]);
    }
  }
  return OkStatus();
}

}  // namespace stoker
