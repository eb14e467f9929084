// Evaluations of a run: what they go through, and who is told.
#pragma once

#include "stoker/train/loop/training_session.h"

namespace stoker {

// The model as it would be kept (the average of its weights, where there is one) on `batches`.
//   losses  what it writes to the logs of the samples that cannot be read
//   stop    may be null; once true, the evaluation ends with kCancelled, also in a wait for a batch
Result<Evaluation> EvaluateOn(TrainingSession& session, const Dataset& batches, LossLogging losses,
                              const std::atomic<bool>* stop);

// Passes an evaluation that was due to the recorder, the schedule, early stopping and the
// callbacks, and notes the best so far. Errors: those of callbacks.
//   REQUIRES: its loss is finite
Status NoteEvaluation(TrainingSession& session, const Evaluation& evaluation);

}  // namespace stoker
