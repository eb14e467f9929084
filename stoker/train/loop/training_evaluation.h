// Evaluations of a run: their data, and who receives the results.
#pragma once

#include "stoker/train/loop/training_session.h"

namespace stoker {

// Evaluates the model as it would be stored (with the average of its weights, if any) on `batches`.
// Several ranks share the batches out, with the buffers of rank 0, and all get the same result.
//   losses  which samples that cannot be read it logs
//   stop    may be null; once true, the evaluation ends with kCancelled, also while waiting for a
//           batch
Result<Evaluation> EvaluateOn(TrainingSession& session, const Dataset& batches, LossLogging losses,
                              const std::atomic<bool>* stop);

// Passes an evaluation to the recorder. Errors: those of writing its line; then nothing of the run
// has changed, and it can be stored and evaluate again.
Status RecordEvaluation(TrainingSession& session, const Evaluation& evaluation);

// Passes an evaluation to the schedule, early stopping and the callbacks, and records the best so
// far. Errors: those of callbacks.
//   planned  false if it was due only because something ended the run before its last step: then no
//   weight may depend on it, so that a run resumed without that continues as if it had not
//   ended REQUIRES: its loss is finite
Status NoteEvaluation(TrainingSession& session, const Evaluation& evaluation, bool planned);

}  // namespace stoker
