// Profiles of made-up runs. Only tests include it.
#pragma once

#include <utility>

#include "stoker/doctor/diagnose.h"

namespace stoker {

// A run of 10,000 steps of 10 ms and 32 samples, which waits for nothing.
inline RunProfile Healthy() {
  RunProfile profile{.recipe = "recipe.yaml", .machine = {.host = "here", .cpus = 4}};
  profile.facts = {.has_model = true,
                   .stages = {"folder", "shuffle", "decode", "batch", "prefetch"},
                   .ends_with_prefetch = true,
                   .batch_key = "data.train.3.batch.size",
                   .batch = 32};
  profile.input = InputProfile{
      .samples_per_s = 32000,
      .seconds = 5,
      .samples = 160000,
      .threads = 4,
      .cpu_s = 18,
      .stages = {{.name = "folder",
                  .work = StageWork::kReads,
                  .elements = 160000,
                  .bytes = int64_t{160000} * 100000,
                  .busy_s = 4},
                 {.name = "decode", .work = StageWork::kDecodes, .elements = 160000, .busy_s = 15}},
      .limiting_stage = "decode",
      .why = "4 threads spent 96% of the time in it",
      .limiting_work = StageWork::kDecodes,
      .batches = 5000};
  profile.step = StepProfile{.batch = 32, .seconds = 0.0098, .threads = 4};
  profile.training = TrainingProfile{.steps = 500,
                                     .samples = 16000,
                                     .seconds = 5,
                                     .step_s = 0.010,
                                     .wait_s = 0.0001,
                                     .logging_s = 0.00001,
                                     .startup_s = 1,
                                     .evaluation_s = 0.5,
                                     .checkpoint_s = 0.02,
                                     .total_steps = 10000,
                                     .steps_per_epoch = 1000,
                                     .evaluations = 10,
                                     .checkpoints = 10,
                                     .epochs = 10};
  return profile;
}

// The same, but four fifths of its steps are spent waiting for data.
inline RunProfile Starved() {
  RunProfile profile = Healthy();
  profile.training->step_s = 0.050;
  profile.training->wait_s = 0.040;
  profile.input->samples_per_s = 640;
  return profile;
}

inline Trial InputTrial(RecipeChange change, double ratio) {
  return {.change = std::move(change), .samples_per_s = 640 * ratio, .before = 640};
}
inline Trial StepTrial(RecipeChange change, double ratio) {
  return {.change = std::move(change),
          .part = TrialPart::kStep,
          .samples_per_s = 3200 * ratio,
          .before = 3200};
}

inline const RecipeChange kFeed = RecipeChange::Set("train.feed_threads", "auto");
inline const RecipeChange kMemory = RecipeChange::Set("train.memory", "auto");
inline const RecipeChange kPrefetch = RecipeChange::Insert("data.train", 3, "prefetch");
inline const RecipeChange kCache = RecipeChange::Insert("data.train", 0, "cache");

inline Verdict VerdictOf(const RunProfile& profile) { return Diagnose(profile).verdict; }

}  // namespace stoker
