// What is said of evaluations, checkpoints, lines and start-up.
#include <gmock/gmock.h>

#include <limits>

#include "stoker/doctor/diagnose_testing_internal.h"

namespace stoker::due_findings_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

TEST(Diagnose, AnIntervalThatNoIntegerHoldsIsTheLargestOne) {
  RunProfile profile = Healthy();
  profile.facts.eval_every_steps = std::numeric_limits<int64_t>::max() / 3;
  profile.training->evaluations = 1000;
  profile.training->evaluation_s = 0.2;
  const Diagnosis diagnosis = Diagnose(profile);
  ASSERT_THAT(diagnosis.prescriptions, SizeIs(1));
  EXPECT_EQ(diagnosis.prescriptions[0].change->value, "9223372036854775807");
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

TEST(Diagnose, CheckpointsAfterEpochsAloneComeWithWhatWouldHelp) {
  RunProfile profile = Healthy();
  profile.training->checkpoints = 10010;
  const Diagnosis diagnosis = Diagnose(profile);
  EXPECT_EQ(diagnosis.verdict, Verdict::kCheckpoint);
  EXPECT_THAT(diagnosis.prescriptions, IsEmpty());
  EXPECT_THAT(diagnosis.why, testing::HasSubstr("a faster disk"));
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
  EXPECT_GE(Diagnose(profile).roof, slowed.gain());  // what is regained is lost too
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

}  // namespace stoker::due_findings_test
