// The start of a run: opens, builds, tries and, for a resumed run, restores everything.
#pragma once

#include <memory>

#include "stoker/train/loop/training_session.h"

namespace stoker {

// Runs up to the first step, and calls the callbacks and `observer`, which may be null. Errors:
// those of Trainer::Run before a step. After an error an existing run is unchanged, and a new one
// is removed (HeldRun::Discard).
Result<std::unique_ptr<TrainingSession>> StartTraining(TrainingSetup setup, CallbackList callbacks,
                                                       TrainObserver* observer,
                                                       const std::atomic<bool>* stop);

}  // namespace stoker
