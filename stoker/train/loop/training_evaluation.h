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
//   planned  false where it was due only because something ended the run before its last step:
//            then no weight may come to depend on it, so that the run, resumed without what ended
//            it, goes on as if it had not been ended
//   REQUIRES: its loss is finite
Status NoteEvaluation(TrainingSession& session, const Evaluation& evaluation, bool planned);

}  // namespace stoker
