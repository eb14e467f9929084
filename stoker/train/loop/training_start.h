// The start of a run: everything is opened, built, tried and, where the run goes on, restored.
#pragma once

#include <memory>

#include "stoker/train/loop/training_session.h"

namespace stoker {

// Up to the moment before the first step; callbacks are told, and so is `observer`, which may be
// null. Errors: those of Trainer::Run that come before a step. A run that does not fit the recipe
// is left as it was; of one that would have been new nothing is left (HeldRun::Discard).
Result<std::unique_ptr<TrainingSession>> StartTraining(TrainingSetup setup, CallbackList callbacks,
                                                       TrainObserver* observer,
                                                       const std::atomic<bool>* stop);

}  // namespace stoker
