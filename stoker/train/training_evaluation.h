// Evaluations of a run: what they go through, and who is told.
#pragma once

#include "stoker/train/training_session.h"

namespace stoker {

// The model as it would be kept (the average of its weights, where there is one) on `batches`.
Result<Evaluation> EvaluateOn(TrainingSession& session, const Dataset& batches,
                              const std::atomic<bool>* stop);

// The evaluation that is due: the recorder, the schedule, early stopping and the callbacks are
// told, and the best so far is noted. Errors: kCancelled where the run was asked to stop meanwhile,
// so that the resumed run evaluates again; a loss that is not finite.
Status EvaluateRun(TrainingSession& session);

}  // namespace stoker
