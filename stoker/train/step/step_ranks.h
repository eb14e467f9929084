// StepRanks: what one of several ranks exchanges with the others in the steps of a Learner: sums of
// gradients, which rows of a batch are whose, and the statistics of batch norms.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "stoker/base/status.h"
#include "stoker/cluster/group.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/model.h"
#include "stoker/train/step/gradient_exchange.h"
#include "stoker/train/step/local_steps.h"

namespace stoker {

// Returns the bytes that travel together.
int64_t BucketBytes(const DistributedOptions& options);

// One thread at a time.
class StepRanks {
 public:
  // Every rank makes one, with the same model and options.
  //   group, model  must outlive it
  //   divisor  about the weight of a step of all ranks, the same on all: gradients travel divided
  //            by it, so that they have the size that one process would give them
  StepRanks(Group& group, const Model& model, const DistributedOptions& options, double divisor);

  // Connects the ranks for what they exchange in the middle of a pass, if anything. Every rank
  // calls it, before the first step. Errors: those of Group::Beside.
  Status Connect();

  Group& group() const { return group_; }
  // Null where each rank follows its own gradients (local).
  GradientExchange* exchange() { return exchange_ ? &*exchange_ : nullptr; }
  // Null where every step is one of all ranks.
  LocalSteps* local() { return local_ ? &*local_ : nullptr; }
  const LocalSteps* local() const { return local_ ? &*local_ : nullptr; }
  int64_t bucket_bytes() const { return bucket_bytes_; }
  double divisor() const { return divisor_; }

  // Returns the ranks whose rows batch norms take together; null: each takes its own. Then every
  // rank makes the passes of all batches, also of one without rows.
  Group* norms() const { return shares_norms_ ? beside_.get() : nullptr; }

  // Returns which row of the whole batch is the first of this rank's `rows`, where the model draws
  // by rows; else 0. Every rank calls it before the pass of each batch. Errors: those of Group.
  Result<int64_t> FirstRow(int64_t rows, int64_t step);

  // Checks once, after a pass, that all batch norms of the model have taken all ranks' rows.
  //   norms  that have done so in this pass
  // Errors: kInvalidArgument, if the recipe asks for it; otherwise rank 0 warns.
  Status CheckNorms(size_t norms);

  // Lets passes of other ranks fail that wait for one of this rank. The run must end.
  void Leave() { beside_.reset(); }

 private:
  Group& group_;
  const Model& model_;
  const double divisor_;
  const int64_t bucket_bytes_;
  const bool norms_required_;
  bool shares_norms_ = false, norms_checked_ = false;
  std::optional<GradientExchange> exchange_;
  std::optional<LocalSteps> local_;
  // Collectives in the middle of a pass are not among those of gradients, whose order is another on
  // a rank whose pass is shorter; and a rank that cannot make a pass ends them.
  std::unique_ptr<Group> beside_;  // null: no pass needs it, or Leave
};

}  // namespace stoker
