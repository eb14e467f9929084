#include "stoker/run/run_status.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "stoker/base/testing.h"

namespace stoker::run_status_test {

// A run of 4 steps, whose pipeline has two stages.
RunStatus::Of FourSteps(const std::string& path) {
  return {.path = path,
          .total_steps = 4,
          .steps_per_epoch = 2,
          .noun = "image",
          .device = "cpu",
          .compute_threads = 3,
          .find_limit =
              [] {
                LimitingStage limit;
                limit.name = "folder";
                limit.why = "because";
                limit.work = LimitingStage::Work::kReads;
                limit.many_files = true;
                return limit;
              },
          .get_profile =
              [] {
                Profile profile;
                profile.threads = 2;
                profile.stages = {{.name = "folder", .elements = 7, .busy_s = 1.5},
                                  {.name = "batch", .elements = 2, .starved_s = 0.5}};
                return profile;
              }};
}

StepEvent Step(int64_t step, double waited) {
  return {.step = step,
          .samples = 8,
          .loss = 0.5,
          .lr = 0.1,
          .train_seconds = static_cast<double>(step),
          .waited_seconds = waited * static_cast<double>(step),
          .train_samples = 8 * step,
          .beside = {.evaluation_seconds = 0.25, .evaluations = 1}};
}

TEST(RunStatus, PublishesThatItHasBegunBeforeTheFirstStep) {
  const TempDir run;
  const RunStatus status(FourSteps(ProgressPath(run.path())));
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress progress, ReadPublishedProgress(run.path()));
  EXPECT_EQ(progress.activity, RunActivity::kStarting);
  EXPECT_EQ(progress.total_steps, 4);
  EXPECT_EQ(progress.pid, ::getpid());
  EXPECT_FALSE(progress.host.empty());
  EXPECT_GE(progress.cpus, 1);
  EXPECT_FALSE(progress.input);
}

TEST(RunStatus, PublishesTheLastStepWithStagesAndWhatTheyWaitFor) {
  const TempDir run;
  RunStatus status(FourSteps(ProgressPath(run.path())));
  for (int64_t step = 1; step <= 4; ++step) status.Stepped(Step(step, 0.75));
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress progress, ReadPublishedProgress(run.path()));
  EXPECT_EQ(progress.activity, RunActivity::kSteps);
  EXPECT_EQ(progress.step, 4);
  EXPECT_EQ(progress.epoch, 2);
  EXPECT_EQ(progress.loss, 0.5);
  EXPECT_EQ(progress.work.steps, 4);
  EXPECT_EQ(progress.work.samples, 32);
  EXPECT_EQ(progress.work.step_s, 4);
  EXPECT_EQ(progress.work.waited_s, 3);
  EXPECT_EQ(progress.work.evaluation_s, 0.25);
  ASSERT_TRUE(progress.input);
  EXPECT_EQ(progress.input->threads, 2);
  ASSERT_EQ(progress.input->stages.size(), 2u);
  EXPECT_EQ(progress.input->stages[0].name, "folder");
  EXPECT_EQ(progress.input->stages[0].busy_s, 1.5);
  EXPECT_EQ(progress.input->stages[1].starved_s, 0.5);
  ASSERT_TRUE(progress.input->limit);
  EXPECT_EQ(progress.input->limit->stage, "folder");
  EXPECT_EQ(progress.input->limit->work, StageWork::kReads);
  EXPECT_TRUE(progress.input->limit->many_files);
  EXPECT_TRUE(progress.starved);
}

TEST(RunStatus, ARunThatHardlyWaitsHasNoLimit) {
  const TempDir run;
  RunStatus status(FourSteps(ProgressPath(run.path())));
  for (int64_t step = 1; step <= 4; ++step) status.Stepped(Step(step, 0.01));
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress progress, ReadPublishedProgress(run.path()));
  EXPECT_FALSE(progress.input->limit);
  EXPECT_FALSE(progress.starved);
}

TEST(RunStatus, SaysWhenAnEvaluationBegins) {
  const TempDir run;
  RunStatus status(FourSteps(ProgressPath(run.path())));
  status.Stepped(Step(1, 0));
  // A write so soon after another is left out; the loop ends once there was time enough.
  PublishedProgress progress;
  while (progress.activity != RunActivity::kEvaluation) {
    status.Begins(RunActivity::kEvaluation);
    STOKER_ASSERT_OK_AND_ASSIGN(progress, ReadPublishedProgress(run.path()));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(progress.step, 1);
}

TEST(RunStatus, WritesAgainAfterAWriteThatFailed) {
  const TempDir folder;
  const std::filesystem::path run = folder.path() / "run";
  RunStatus status(FourSteps(ProgressPath(run)));  // there is no such folder yet
  status.Stepped(Step(1, 0));
  std::filesystem::create_directory(run);
  for (int64_t step = 2; step <= 4; ++step) status.Stepped(Step(step, 0));
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress progress, ReadPublishedProgress(run));
  EXPECT_EQ(progress.step, 4);
}

TEST(RunStatus, CountsWhatFollowedTheLastStepWhenTheProcessEnds) {
  const TempDir run;
  RunStatus status(FourSteps(ProgressPath(run.path())));
  for (int64_t step = 1; step <= 4; ++step) status.Stepped(Step(step, 0));
  status.Ends({.evaluation_seconds = 1.25, .evaluations = 2});
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress progress, ReadPublishedProgress(run.path()));
  EXPECT_EQ(progress.work.evaluation_s, 1.25);
  EXPECT_EQ(progress.work.evaluations, 2);
  EXPECT_EQ(progress.step, 4);
}

}  // namespace stoker::run_status_test
