// profile.json of a run: where the time of the process that trained it went.
#pragma once

#include "stoker/base/json.h"
#include "stoker/train/loop/training_session.h"

namespace stoker {

// Returns its content; docs/profiles.md has the schema.
Json ProfileOfTraining(const TrainingSession& session);

// Writes it, if this process has made a step. That it cannot be written is a warning: the run is as
// good without it.
void WriteTrainingProfile(TrainingSession& session);

}  // namespace stoker
