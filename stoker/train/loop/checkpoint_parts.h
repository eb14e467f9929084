// Checkpoints of which each rank writes a part (train.checkpoint.parts), into a directory that all
// of them see. No state is gathered: rank 0 needs no room for that of the others.
#pragma once

#include <cstdint>
#include <span>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/train/loop/training_session.h"

namespace stoker {

// Checks that every rank writes where rank 0 reads. Every rank calls it before the first step.
// Errors: kFailedPrecondition: rank 0 does not see what a rank has written, by its number and host;
// those of writing a file.
Status ProbeParts(TrainingSession& session);

// Writes the checkpoint of the last step: each rank its part, then rank 0 publishes all of them
// with `state`. Every rank calls it. All return when it is published, or with an error, after which
// earlier checkpoints are untouched.
//   state, kept_beside  of rank 0 (CheckpointStore::PublishParts)
Status WriteParts(TrainingSession& session, const Json& state,
                  std::span<const int64_t> kept_beside);

}  // namespace stoker
