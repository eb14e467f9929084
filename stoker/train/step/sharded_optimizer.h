// ShardedOptimizer: an optimizer whose state is shared out among ranks, each of which updates the
// parameters whose state it has and sends them to the others.
//
// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter
// Models", arXiv 1910.02054: its first stage. Whole parameters are shared out, as optimizers that
// look at a whole matrix or its norm need (muon, lars, lamb).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/cluster/group.h"
#include "stoker/run/optimizer.h"
#include "stoker/train/core/named_tensor.h"
#include "stoker/train/core/parameters.h"

namespace stoker {

// Returns for each of `sizes` which of `ranks` ranks has it: the largest first, each to the rank
// that has least so far (Graham, "Bounds on multiprocessing timing anomalies", 1969), so that no
// rank has more than its share and one of them. A function of its arguments alone.
//   filled  what each rank has before; empty: nothing
std::vector<int64_t> ShareOut(std::span<const int64_t> sizes, int64_t ranks,
                              std::vector<int64_t> filled = {});

// Gives the same bytes as an optimizer of all parameters on each rank, if this one updates each
// parameter by its own gradient and state alone, as all of Stoker's do. One thread at a time. A
// collective is one of every rank, at the same place.
class ShardedOptimizer final : public Optimizer {
 public:
  // Makes the optimizer of some parameters.
  using Build = std::function<Result<std::unique_ptr<Optimizer>>(const TrainedParameters&)>;

  //   group       must outlive it
  //   parameters  the same on every rank, dense in memory, on the CPU
  //   bytes       that are sent at once
  // Errors: those of `build`; kInvalidArgument: a parameter is not dense.
  static Result<std::unique_ptr<ShardedOptimizer>> Create(Group& group,
                                                          const TrainedParameters& parameters,
                                                          Build build, int64_t bytes);

  // A collective. Throws c10::Error where it fails, of which lost() is the error of Group.
  void Step(const ScheduleValue& now) override;
  const Status& lost() const { return lost_; }

  // Returns the state of this rank's parameters.
  NamedTensors State() const override;

  // Returns the state of all parameters, each with zeros, as the optimizer of one process begins.
  Result<NamedTensors> WholeStateAtFirst() const;

  // Returns about how many bytes of state each rank has, the same on every rank.
  std::vector<int64_t> BytesOfRanks() const;

  // A collective. Returns the state of all parameters on rank 0, of this rank's elsewhere: there it
  // needs room for one parameter's. Errors: those of Group and of `build`.
  Result<NamedTensors> GatherState() const;

  // A collective. Gives each rank its part of the state that rank 0 has.
  //   whole  on rank 0 as WholeStateAtFirst returns it, not used elsewhere
  Status SpreadState(const NamedTensors& whole);

 private:
  ShardedOptimizer(Group& group, const TrainedParameters& parameters, Build build, int64_t bytes);
  Result<NamedTensors> StateAtFirst(const TrainedParameter& parameter) const;
  Result<NamedTensors> OwnState(const NamedTensors& like) const;
  Status SendUpdates();
  void CopyChunk(int64_t owner, int64_t begin, at::Tensor chunk, bool into_parameters) const;

  Group& group_;
  const TrainedParameters parameters_;
  const Build build_;
  std::vector<int64_t> owners_;           // of each parameter: a rank
  std::unique_ptr<Optimizer> own_;        // null: none is this rank's
  int64_t chunk_ = 0, longest_part_ = 0;  // in values, of one rank
  Status lost_;
};

}  // namespace stoker
