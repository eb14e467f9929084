#include "stoker/doctor/diagnose.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "stoker/doctor/diagnose_testing_internal.h"

namespace stoker::diagnose_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

}  // namespace stoker::diagnose_test
