#include "stoker/doctor/diagnose.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A run of 10,000 steps of 10 ms and 32 samples, which waits for nothing.
RunProfile Healthy() {
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
RunProfile Starved() {
  RunProfile profile = Healthy();
  profile.training->step_s = 0.050;
  profile.training->wait_s = 0.040;
  profile.input->samples_per_s = 640;
  return profile;
}

Trial InputTrial(RecipeChange change, double ratio) {
  return {.change = std::move(change), .samples_per_s = 640 * ratio, .before = 640};
}
Trial StepTrial(RecipeChange change, double ratio) {
  return {.change = std::move(change),
          .part = TrialPart::kStep,
          .samples_per_s = 3200 * ratio,
          .before = 3200};
}

const RecipeChange kFeed = RecipeChange::Set("train.feed_threads", "auto");
const RecipeChange kMemory = RecipeChange::Set("train.memory", "auto");
const RecipeChange kPrefetch = RecipeChange::Insert("data.train", 3, "prefetch");
const RecipeChange kCache = RecipeChange::Insert("data.train", 0, "cache");

Verdict VerdictOf(const RunProfile& profile) { return Diagnose(profile).verdict; }

TEST(Diagnose, NothingIsPrescribedForARunThatWaitsForNothing) {
  const Diagnosis diagnosis = Diagnose(Healthy());
  EXPECT_EQ(diagnosis.verdict, Verdict::kNone);
  EXPECT_THAT(diagnosis.prescriptions, IsEmpty());
  EXPECT_EQ(diagnosis.lost_share, 0);
  EXPECT_EQ(diagnosis.roof, 1);
  EXPECT_EQ(diagnosis.stage, "");
}

TEST(Diagnose, SmallLossesTogetherPrescribeNothing) {
  RunProfile profile = Healthy();
  profile.training->wait_s = 0.0004;
  profile.training->evaluation_s = 0.9;
  profile.training->checkpoint_s = 0.8;
  profile.training->logging_s = 0.0009;
  profile.trials = {StepTrial(RecipeChange::Set("train.threads", "auto"), 1.1)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kNone);
  EXPECT_THAT(Diagnose(profile).prescriptions, IsEmpty());
}

TEST(Diagnose, WaitingForAStageIsNamedByItsWork) {
  RunProfile profile = Starved();
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kDecode);
  EXPECT_EQ(diagnosis.stage, "decode");
  EXPECT_NEAR(diagnosis.lost_share, 0.79, 0.03);
  EXPECT_NEAR(diagnosis.roof, 4.8, 0.3);
  profile.input->limiting_stage = "color_jitter";
  profile.input->limiting_work = StageWork::kChanges;
  EXPECT_EQ(VerdictOf(profile), Verdict::kAugmentation);
}

TEST(Diagnose, ASourceThatWaitsIsStorageOrNetworkAndOneThatComputesDecodes) {
  RunProfile profile = Starved();
  profile.input->limiting_stage = "folder";
  profile.input->limiting_work = StageWork::kReads;
  profile.input->cpu_s = 1;
  EXPECT_EQ(VerdictOf(profile), Verdict::kStorage);
  profile.input->on_servers = true;
  EXPECT_EQ(VerdictOf(profile), Verdict::kNetwork);
  profile.input->on_servers = false;
  profile.input->cpu_s = 18;
  EXPECT_EQ(VerdictOf(profile), Verdict::kDecode);
}

TEST(Diagnose, FilesOfAFewBytesThatKeepCpusBusyAreSmallRecords) {
  RunProfile profile = Starved();
  profile.input->limiting_stage = "folder";
  profile.input->limiting_work = StageWork::kReads;
  profile.input->many_files = true;
  profile.input->stages[0].bytes = int64_t{160000} * 500;
  EXPECT_EQ(VerdictOf(profile), Verdict::kSmallRecords);
}

TEST(Diagnose, ThreadsAreToBlameOnlyIfATrialWithOthersIsFaster) {
  RunProfile profile = Starved();
  profile.trials = {InputTrial(kFeed, 1.1)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kDecode);
  profile.trials = {InputTrial(kFeed, 3.5)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kThreads);
  profile.trials = {InputTrial(kPrefetch, 2)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kThreads);
  EXPECT_EQ(Diagnose(profile).stage, "");
}

TEST(Diagnose, TheMemoryBudgetIsToBlameIfMoreOfItHelpsMoreThanThreads) {
  RunProfile profile = Starved();
  profile.trials = {InputTrial(kFeed, 1.5), InputTrial(kMemory, 4)};
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kMemory);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(2));
  EXPECT_EQ(diagnosis.prescriptions[0].change, kMemory);
  profile.trials = {InputTrial(kFeed, 4), InputTrial(kMemory, 1.5)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kThreads);
}

TEST(Diagnose, ALockIsSeenInTheStatesOfThreads) {
  RunProfile profile = Starved();
  profile.input->lock_share = 0.5;
  EXPECT_EQ(VerdictOf(profile), Verdict::kLock);
  EXPECT_EQ(Diagnose(profile).stage, "decode");
  profile.trials = {InputTrial(kFeed, 2)};  // more threads would only wait longer
  EXPECT_EQ(VerdictOf(profile), Verdict::kLock);
}

TEST(Diagnose, AFewSlowElementsAreSeenInTheSlowestBatches) {
  RunProfile profile = Starved();
  profile.input->slowest_share = 0.7;
  EXPECT_EQ(VerdictOf(profile), Verdict::kSlowElement);
  profile.input->threads = 16;  // which bring their batches in bursts
  EXPECT_EQ(VerdictOf(profile), Verdict::kDecode);
  profile.input->threads = 2;
  profile.input->batches = 5;  // too few to tell
  EXPECT_EQ(VerdictOf(profile), Verdict::kDecode);
}

TEST(Diagnose, AWaitThatNoStageExplainsIsUnknown) {
  RunProfile profile = Starved();
  profile.input->idle = true;
  EXPECT_EQ(VerdictOf(profile), Verdict::kUnknown);
  EXPECT_EQ(Diagnose(profile).stage, "");
  profile.input.reset();
  EXPECT_EQ(VerdictOf(profile), Verdict::kUnknown);
}

TEST(Diagnose, ACacheIsPrescribedWithTheStageThatItFollowsAndItsGain) {
  RunProfile profile = Starved();
  profile.facts.cache_after = 0;
  profile.trials = {InputTrial(kCache, 100)};
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kDecode);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(1));
  const Prescription& cache = diagnosis.prescriptions[0];
  EXPECT_EQ(cache.text, "data.train: `cache` after stage 1 (folder)");
  EXPECT_GT(cache.gain_low, 3);
  EXPECT_LE(cache.gain_low, cache.gain_high);
  EXPECT_LE(cache.gain_high, diagnosis.roof * 1.001);
  EXPECT_EQ(cache.caution, "");
}

TEST(Diagnose, WithoutAChangeOfTheRecipeThereIsAdvice) {
  const Diagnosis diagnosis = Diagnose(Starved());
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(1));
  EXPECT_FALSE(diagnosis.prescriptions[0].change.has_value());
  EXPECT_THAT(diagnosis.prescriptions[0].text, HasSubstr("stoker pack"));
}

TEST(Diagnose, EvaluationsThatTakeMuchOfTheRunAreMadeRarer) {
  RunProfile profile = Healthy();
  profile.facts.eval_every_steps = 10;
  profile.training->evaluations = 1000;
  profile.training->evaluation_s = 0.2;  // 200 s of 300
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kEvaluation);
  EXPECT_NEAR(diagnosis.lost_share, 0.66, 0.02);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(1));
  const Prescription& rarer = diagnosis.prescriptions[0];
  EXPECT_EQ(rarer.change->key, "train.eval_every_steps");
  EXPECT_GE(std::stoi(rarer.change->value), 100);
  EXPECT_LE(rarer.gain_low, 2.9);
  EXPECT_GE(rarer.gain_high, 2.8);
  EXPECT_EQ(rarer.caution, "");
  profile.facts.follows_evaluations = true;
  EXPECT_THAT(Diagnose(profile).prescriptions[0].caution, HasSubstr("early_stopping"));
}

TEST(Diagnose, OneEvaluationAtTheEndCannotBeMadeRarer) {
  RunProfile profile = Healthy();
  profile.training->evaluations = 1;
  profile.training->evaluation_s = 100;
  EXPECT_EQ(VerdictOf(profile), Verdict::kEvaluation);
  EXPECT_THAT(Diagnose(profile).prescriptions, IsEmpty());
}

TEST(Diagnose, CheckpointsAreMadeRarerAndWrittenBesideSteps) {
  RunProfile profile = Healthy();
  profile.facts.checkpoint_every_steps = 1;
  profile.facts.checkpoint_async = false;
  profile.training->checkpoints = 10010;
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kCheckpoint);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(2));
  EXPECT_EQ(diagnosis.prescriptions[0].change->key, "train.checkpoint.every_steps");
  EXPECT_EQ(diagnosis.prescriptions[1].change->key, "train.checkpoint.async");
}

TEST(Diagnose, StepsThatAreBrokenOffAllTheTimeAreFasterOnceTheyAreNot) {
  RunProfile profile = Healthy();
  profile.facts.checkpoint_every_steps = 1;
  profile.training->checkpoints = 10010;
  profile.training->checkpoint_s = 0.1;
  const Prescription as_alone = Diagnose(profile).prescriptions[0];
  profile.step->seconds = 0.001;  // in the run it takes 10 ms
  const Prescription slowed = Diagnose(profile).prescriptions[0];
  EXPECT_GT(slowed.gain_low, 3 * as_alone.gain_low);
  EXPECT_GT(std::stoi(slowed.change->value), 3 * std::stoi(as_alone.change->value));
}

TEST(Diagnose, LinesAndCallbacksThatCostMoreThanATenthAreLogging) {
  RunProfile profile = Healthy();
  profile.facts.log_every = 1;
  profile.facts.histograms_every = 1;
  profile.training->logging_s = 0.003;
  profile.training->callbacks_s = 0.020;
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kLogging);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(2));
  EXPECT_EQ(diagnosis.prescriptions[0].change->key, "train.tensorboard.histograms");
  EXPECT_EQ(diagnosis.prescriptions[1].change, RecipeChange::Set("train.log_every", "50"));
  profile.training->callbacks_s = 0;
  profile.machine.accelerator = true;
  EXPECT_EQ(VerdictOf(profile), Verdict::kSynchronization);
}

TEST(Diagnose, StartUpCountsFromAFifthOfThePlannedRun) {
  RunProfile profile = Healthy();
  profile.training->startup_s = 20;
  EXPECT_EQ(VerdictOf(profile), Verdict::kNone);
  profile.training->startup_s = 100;
  EXPECT_EQ(VerdictOf(profile), Verdict::kStartup);
  EXPECT_THAT(Diagnose(profile).prescriptions, IsEmpty());
  profile.input->first_batch_s = 90;
  ASSERT_THAT(Diagnose(profile).prescriptions, SizeIs(1));
  EXPECT_FALSE(Diagnose(profile).prescriptions[0].change.has_value());
}

TEST(Diagnose, TheThreadsOfTheStepAreJudgedByATrial) {
  RunProfile profile = Healthy();
  const RecipeChange threads = RecipeChange::Set("train.threads", "auto");
  profile.trials = {StepTrial(threads, 3)};
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kThreads);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(1));
  EXPECT_EQ(diagnosis.prescriptions[0].change, threads);
  EXPECT_NEAR(diagnosis.prescriptions[0].gain(), 2.6, 0.3);
}

TEST(Diagnose, ABatchThatIsTooSmallIsADecisionAboutAccuracy) {
  RunProfile profile = Healthy();
  profile.trials = {StepTrial(RecipeChange::Set("data.train.3.batch.size", "64"), 4)};
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kSmallRecords);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(1));
  EXPECT_THAT(diagnosis.prescriptions[0].caution, HasSubstr("accuracy"));
}

TEST(Diagnose, DetectingAnomaliesIsComputation) {
  RunProfile profile = Healthy();
  profile.trials = {StepTrial(RecipeChange::Set("train.detect_anomaly", "false"), 4)};
  EXPECT_EQ(VerdictOf(profile), Verdict::kCompute);
}

TEST(Diagnose, CopiesCountOnAnAcceleratorOnly) {
  RunProfile profile = Starved();
  profile.step->copy_s = 0.039;
  EXPECT_NE(VerdictOf(profile), Verdict::kCopy);
  profile.machine.accelerator = true;
  profile.input->idle = true;
  profile.training->wait_s = 0.039;
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_THAT(diagnosis.prescriptions, SizeIs(1));
  EXPECT_EQ(diagnosis.prescriptions[0].text, "train.normalize_on: device");
}

TEST(Diagnose, PrescriptionsComeInTheOrderOfTheirGain) {
  RunProfile profile = Starved();
  profile.facts.eval_every_steps = 100;
  profile.training->evaluations = 100;
  profile.training->evaluation_s = 2;
  profile.trials = {InputTrial(kFeed, 1.4), InputTrial(kCache, 50)};
  const Diagnosis diagnosis = Diagnose(profile);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(3));
  for (size_t i = 1; i < diagnosis.prescriptions.size(); ++i)
    EXPECT_GE(diagnosis.prescriptions[i - 1].gain(), diagnosis.prescriptions[i].gain());
  EXPECT_EQ(diagnosis.prescriptions[0].change, kCache);
}

TEST(Diagnose, WithoutAModelOnlyProvenCausesCount) {
  RunProfile profile = Starved();
  profile.training.reset();
  profile.step.reset();
  profile.facts.has_model = false;
  EXPECT_EQ(VerdictOf(profile), Verdict::kNone);
  profile.trials = {InputTrial(kFeed, 4)};
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kThreads);
  EXPECT_NEAR(diagnosis.lost_share, 0.75, 0.01);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(1));
  EXPECT_NEAR(diagnosis.prescriptions[0].gain(), 4, 0.3);
}

TEST(Diagnose, AModelWhoseTrainingFailedGivesNoVerdictAboutItsInput) {
  RunProfile profile = Starved();
  profile.training.reset();
  profile.trials = {InputTrial(kFeed, 4)};
  profile.error = "photo 7: 12 bytes";
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kNone);
  EXPECT_EQ(diagnosis.error, "photo 7: 12 bytes");
}

TEST(Diagnose, NothingMeasuredIsUnknown) {
  const Diagnosis diagnosis = Diagnose({.interrupted = true});
  EXPECT_EQ(diagnosis.verdict, Verdict::kUnknown);
  EXPECT_TRUE(diagnosis.interrupted);
  EXPECT_THAT(diagnosis.prescriptions, IsEmpty());
}

TEST(Diagnose, TimesOfZeroAndNumbersThatAreNoneGiveNoLossAndNoInfinity) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const double odd : {0.0, nan, inf, -inf, -1.0}) {
    for (double TrainingProfile::*field :
         {&TrainingProfile::step_s, &TrainingProfile::wait_s, &TrainingProfile::logging_s,
          &TrainingProfile::callbacks_s, &TrainingProfile::startup_s,
          &TrainingProfile::evaluation_s, &TrainingProfile::checkpoint_s,
          &TrainingProfile::epoch_gap_s, &TrainingProfile::evaluations}) {
      RunProfile profile = Starved();
      profile.facts.eval_every_steps = 1;
      (*profile.training).*field = odd;
      profile.input->samples_per_s = odd;
      profile.step->seconds = odd;
      profile.trials = {{.change = kFeed, .samples_per_s = odd, .before = 1},
                        {.change = kCache, .samples_per_s = 5, .before = odd}};
      const Diagnosis diagnosis = Diagnose(profile);
      EXPECT_GE(diagnosis.lost_share, 0);
      EXPECT_LE(diagnosis.lost_share, 1);
      EXPECT_TRUE(std::isfinite(diagnosis.roof));
      EXPECT_GE(diagnosis.roof, 1);
      for (const Prescription& each : diagnosis.prescriptions) {
        EXPECT_TRUE(std::isfinite(each.gain_low) && std::isfinite(each.gain_high)) << each.text;
        EXPECT_LE(each.gain_low, each.gain_high) << each.text;
      }
    }
  }
}

TEST(Diagnose, ABusyMachineIsMentioned) {
  RunProfile profile = Starved();
  profile.machine.other_runnable = 8;
  EXPECT_THAT(Diagnose(profile).why, HasSubstr("other programs"));
}

TEST(TrialsFor, AreOfWhatTheRecipeLimits) {
  RunProfile profile = Starved();
  EXPECT_THAT(TrialsFor(profile), IsEmpty());
  profile.facts.feed_threads = 1;
  profile.facts.memory_set = true;
  profile.facts.ends_with_prefetch = false;
  profile.facts.cache_after = 2;
  const std::vector<TrialPlan> plans = TrialsFor(profile);
  ASSERT_THAT(plans, SizeIs(4));
  EXPECT_EQ(plans[0].change, kFeed);
  EXPECT_EQ(plans[1].change, kMemory);
  EXPECT_EQ(plans[2].change, RecipeChange::Insert("data.train", 4, "prefetch"));
  EXPECT_EQ(plans[3].change, RecipeChange::Insert("data.train", 2, "cache"));
}

TEST(TrialsFor, ACacheThatDoesNotFitIsNotTried) {
  RunProfile profile = Starved();
  profile.facts.cache_after = 2;
  profile.facts.cache_bytes = 1000;
  profile.machine.memory_budget = 1999;
  EXPECT_THAT(TrialsFor(profile), IsEmpty());
  profile.machine.memory_budget = 2000;
  EXPECT_THAT(TrialsFor(profile), SizeIs(1));
}

TEST(TrialsFor, TheInputOfAHealthyRunIsNotTried) {
  RunProfile profile = Healthy();
  profile.facts.feed_threads = 1;
  profile.facts.cache_after = 2;
  EXPECT_THAT(TrialsFor(profile), IsEmpty());
}

TEST(TrialsFor, TheStepIsTriedWithOtherThreadsAndALargerBatch) {
  RunProfile profile = Healthy();
  profile.facts.threads = 16;
  profile.facts.batch = 2;
  const std::vector<TrialPlan> plans = TrialsFor(profile);
  ASSERT_THAT(plans, SizeIs(2));
  EXPECT_EQ(plans[0], (TrialPlan{RecipeChange::Set("train.threads", "auto"), TrialPart::kStep}));
  EXPECT_EQ(plans[1],
            (TrialPlan{RecipeChange::Set("data.train.3.batch.size", "16"), TrialPart::kStep}));
}

TEST(Diagnosis, JsonHasTheKeysOfTheSchema) {
  RunProfile profile = Starved();
  profile.trials = {InputTrial(kFeed, 3)};
  const Json json = Diagnose(profile).ToJson();
  for (const char* key : {"schema", "rank", "host", "verdict", "stage", "lost_share", "roof", "why",
                          "sentence", "prescriptions", "error", "interrupted"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["verdict"], "threads");
  EXPECT_EQ(json["host"], "here");
  for (const char* key : {"change", "gain_low", "gain_high", "why", "caution", "edit"})
    EXPECT_TRUE(json["prescriptions"][0].contains(key)) << key;
  EXPECT_EQ(json["prescriptions"][0]["change"], "train.feed_threads: auto");
}

TEST(Diagnosis, EveryVerdictHasANameOfItsOwnAndASentence) {
  std::vector<std::string> names;
  for (int i = 0; i < kVerdicts; ++i) {
    const Diagnosis diagnosis{.verdict = static_cast<Verdict>(i), .lost_share = 0.5, .roof = 2};
    names.emplace_back(NameOf(diagnosis.verdict));
    EXPECT_TRUE(diagnosis.Sentence().ends_with('.'));
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_THAT((Diagnosis{.verdict = Verdict::kLock, .stage = "map", .lost_share = 0.5, .roof = 2})
                  .Sentence(),
              HasSubstr("(stage `map`): 50% of the time is lost, so the run could be 2 times"));
}

TEST(RunProfile, JsonHasNoNumberThatIsNone) {
  RunProfile profile = Starved();
  profile.training->step_s = std::numeric_limits<double>::quiet_NaN();
  profile.trials = {InputTrial(kFeed, std::numeric_limits<double>::infinity())};
  const Json json = profile.ToJson();
  EXPECT_TRUE(json["training"]["step_s"].is_null());
  EXPECT_TRUE(json["trials"][0]["samples_per_s"].is_null());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["rank"], 0);
  EXPECT_EQ(Json::parse(json.dump()), json);
}

}  // namespace
}  // namespace stoker
