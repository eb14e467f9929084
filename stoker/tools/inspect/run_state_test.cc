#include "stoker/tools/inspect/run_state.h"

#include "stoker/base/json_file.h"
#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/run/published_progress.h"

namespace stoker::run_state_test {

// A run that this process trains in.
class RunStateTest : public testing::Test {
 protected:
  RunStateTest()
      : run_(RunDirectory::Create({.root = dir_ / "run"},
                                  *ParseYaml("model: {mlp: {}}", "r.yaml"))) {
    EXPECT_THAT(run_, IsOk());
  }

  std::string HeadlineOf(RunActivity activity, int64_t step) {
    PublishedProgress progress;
    progress.activity = activity;
    progress.step = step;
    progress.total_steps = 40;
    EXPECT_THAT(
        WriteFileAtomically(ProgressPath(run_->paths().root), JsonFileText(progress.ToJson())),
        IsOk());
    return StateOfRun(run_->paths(), /*finished=*/false).headline;
  }

  const TempDir dir_;
  Result<RunDirectory> run_;
};

TEST_F(RunStateTest, OfATrainingSaysHowFarItIs) {
  EXPECT_EQ(StateOfRun(run_->paths(), /*finished=*/false).headline, "starting");
  EXPECT_EQ(HeadlineOf(RunActivity::kSteps, 8), "training: step 8 of 40");
}

TEST_F(RunStateTest, OfOneWithoutAStepYetSaysSoAlsoWhereItGoesOn) {
  const std::string says = "; its first step, or the wait for its data, goes on";
  EXPECT_EQ(HeadlineOf(RunActivity::kStarting, 0), "training: step 0 of 40" + says);
  EXPECT_EQ(HeadlineOf(RunActivity::kStarting, 8), "training: step 8 of 40" + says);
  // A resumed run may evaluate before its first step.
  EXPECT_EQ(HeadlineOf(RunActivity::kEvaluation, 8), "training: step 8 of 40");
}

}  // namespace stoker::run_state_test
