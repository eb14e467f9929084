#include "stoker/tools/top/top_verdict.h"

#include "stoker/base/testing.h"
#include "stoker/tools/top/top_testing_internal.h"

namespace stoker::top_verdict_test {

using testing::HasSubstr;
using testing::StartsWith;

TEST(VerdictOfRun, NamesTheStageThatStepsWaitFor) {
  const auto verdict = VerdictOfRun(MadeUpRun(), {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->verdict, Verdict::kDecode);
  EXPECT_EQ(verdict->stage, "decode");
  EXPECT_NEAR(verdict->lost_share, 0.6, 0.05);
  EXPECT_THAT(VerdictText(*verdict),
              StartsWith("decode: Training waits for samples to be decoded"));
  EXPECT_THAT(VerdictText(*verdict), HasSubstr("`decode`: 2 threads spent 96%"));
}

TEST(VerdictOfRun, OfARunThatHasItsDataIsNone) {
  TopHistory history = MadeUpRun();
  for (TopSample& sample : history.samples) {
    sample.progress->work.waited_s *= 0.01;
    sample.progress->work.evaluation_s = 0;
    sample.progress->input->limit.reset();
    sample.progress->starved.reset();
  }
  const auto verdict = VerdictOfRun(history, {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->verdict, Verdict::kNone);
  EXPECT_EQ(VerdictText(*verdict), "none: nothing that is seen is worth a change");
  EXPECT_EQ(AdviceFor(*verdict, std::nullopt), "");
}

// The window alone is what the shares are of, however long the run is planned to be.
TEST(VerdictOfRun, EvaluationsOfTheLastSecondsAreSeenAndRarerOnesPrescribed) {
  TopHistory history = MadeUpRun();
  for (TopSample& sample : history.samples) {
    PublishedWork& work = sample.progress->work;
    work.waited_s = 0;
    work.step_s *= 0.5;
    work.evaluation_s = 0.5 * work.seconds;
    work.evaluations = static_cast<int64_t>(work.seconds);
    sample.progress->input->limit.reset();
    sample.progress->starved.reset();
  }
  RecipeFacts facts;
  facts.eval_every = 3;
  const auto verdict = VerdictOfRun(history, facts);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->verdict, Verdict::kEvaluation);
  EXPECT_NEAR(verdict->lost_share, 0.5, 0.05);
  EXPECT_THAT(AdviceFor(*verdict, std::nullopt), StartsWith("train.eval_every: "));
}

TEST(VerdictOfRun, WithoutAStepInTheWindowNothingIsConcluded) {
  TopHistory history = MadeUpRun(5, 6);
  history.samples[1].progress->work.steps = history.samples[0].progress->work.steps;
  EXPECT_FALSE(VerdictOfRun(history, {}));
  history.samples[1].progress.reset();
  EXPECT_FALSE(VerdictOfRun(history, {}));
}

TEST(AdviceFor, OfARunThatWaitsIsTheRunsOwn) {
  const TopHistory history = MadeUpRun();
  const auto verdict = VerdictOfRun(history, {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(AdviceFor(*verdict, history.now().progress->starved), "leave train.feed_threads out");
}

// A source that computes more than steps leave is one that decompresses.
TEST(ProfileOf, LeavesThePipelineTheCpuTimeThatStepsDoNotTake) {
  const TopHistory history = MadeUpRun();
  const auto window = RunWindowOf(history);
  ASSERT_TRUE(window);
  PublishedProgress progress = *history.now().progress;
  EXPECT_NEAR(ProfileOf(*window, progress, {}).input->cpu_s, 20 - 3, 1e-9);
  progress.compute_threads = 4;
  EXPECT_NEAR(ProfileOf(*window, progress, {}).input->cpu_s, 20 - 12, 1e-9);
  progress.accelerator = true;
  EXPECT_NEAR(ProfileOf(*window, progress, {}).input->cpu_s, 20 - 3, 1e-9);
}

}  // namespace stoker::top_verdict_test
