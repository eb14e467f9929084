// Evaluations of a run: what they go through, and who is told.
#pragma once

#include "stoker/train/training_session.h"

namespace stoker {

// The model as it would be kept (the average of its weights, where there is one) on `batches`.
//   stop  may be null; once true, the evaluation ends with kCancelled, also in a wait for a batch
Result<Evaluation> EvaluateOn(TrainingSession& session, const Dataset& batches,
                              const std::atomic<bool>* stop);

//   REQUIRES: its loss is finite
// Of the evaluation that was due the recorder, the schedule, early stopping and the callbacks are
// told, and the best so far is noted. Errors: those of callbacks.
Status NoteEvaluation(TrainingSession& session, const Evaluation& evaluation);

}  // namespace stoker
