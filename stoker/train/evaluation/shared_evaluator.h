// Evaluates a model on several ranks, which share the batches out.
#pragma once

#include <atomic>

#include "stoker/base/status.h"
#include "stoker/cluster/group.h"
#include "stoker/train/evaluation/evaluator.h"

namespace stoker {

// As Evaluate, on every rank at once: each runs its batches through the model, and rank 0 gets the
// scores of all and measures them in the order of one process, so loss and metrics are those of one
// process, of whatever kind they are. All return the evaluation of rank 0.
//   batches  of this rank: of each round of as many as there are ranks its own one (PassOptions)
//   stop     of this process; once true on any rank, all end with kCancelled
// Errors: as Evaluate; on all ranks if one has an error ("rank 3 failed: ..."); those of Group.
Result<Evaluation> EvaluateTogether(Model& model, const Measures& measures,
                                    DevicePrefetcher& batches, Group& group,
                                    const std::atomic<bool>* stop = nullptr);

}  // namespace stoker
