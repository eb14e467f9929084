// What is said of the computation of steps.
#include <gmock/gmock.h>

#include "stoker/doctor/diagnose_testing_internal.h"

namespace stoker::step_findings_test {

using testing::HasSubstr;
using testing::SizeIs;

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

}  // namespace stoker::step_findings_test
