#include "stoker/train/loop/training_profile.h"

#include "stoker/base/host_name.h"
#include "stoker/base/json_or_null.h"
#include "stoker/base/log.h"
#include "stoker/base/profile.h"

namespace stoker {

Json ProfileOfTraining(const TrainingSession& session) {
  const BesideSteps& beside = session.beside;
  return {{"schema", 1},
          {"rank", 0},
          {"host", HostName()},
          {"command", "train"},
          {"step", session.progress.step},
          {"samples", session.total.samples},
          {"steps_s", FiniteOrNull(session.total.seconds)},
          {"waited_s", FiniteOrNull(session.batches->waited_seconds())},
          {"evaluations", beside.evaluations},
          {"evaluation_s", FiniteOrNull(beside.evaluation_seconds)},
          {"checkpoints", beside.checkpoints},
          {"checkpoint_s", FiniteOrNull(beside.checkpoint_seconds)},
          {"logging_s", FiniteOrNull(beside.logging_seconds)},
          {"callbacks_s", FiniteOrNull(beside.callback_seconds)},
          {"input", session.batches->GetProfile().ToJson()}};
}

void WriteTrainingProfile(TrainingSession& session) {
  if (session.total.samples == 0 || !session.keeps_run()) return;
  const Status written = session.setup.run.WriteProfile(ProfileOfTraining(session));
  if (!written.ok()) LogWarning("the run has no new profile: {}", written.message());
}

}  // namespace stoker
