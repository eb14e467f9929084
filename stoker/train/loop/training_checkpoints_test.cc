// Checkpoints that are written while training goes on.
#include <filesystem>
#include <numeric>

#include "stoker/train/core/callback.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::training_checkpoints_test {

namespace fs = std::filesystem;

// A checkpoint of every trick that has something in it.
const std::vector<std::string> kEveryStep = {"train.checkpoint={every_steps: 1, keep: 100}",
                                             "train.average=ema", "train.accumulate=2"};

// Puts a file where the directory of checkpoints was, before that of `step` is written.
class Obstruct : public Callback {
 public:
  Obstruct(std::string checkpoints, int64_t step)
      : checkpoints_(std::move(checkpoints)), step_(step) {}
  Status OnCheckpoint(RunView& run) override {
    if (run.checkpoint != step_ - 1) return OkStatus();
    fs::rename(checkpoints_, checkpoints_ + "-aside");
    WriteFileForTest(checkpoints_, "in the way");
    return OkStatus();
  }

 private:
  const std::string checkpoints_;
  const int64_t step_;
};

class AsyncCheckpointTest : public TrainerTest {
 protected:
  Result<TrainSummary> TrainObstructed(const std::string& run, int64_t step,
                                       std::vector<std::string> set) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Create(std::move(recipe), problem_ / run));
    trainer->Add("obstruct", std::make_unique<Obstruct>(Paths(run).checkpoints(), step));
    return trainer->Run();
  }
  // state.json without what depends on time.
  std::string StateOf(const std::string& run, int64_t step) const {
    Json state = Json::parse(ReadFileForTest(CheckpointOf(run, step) + "/state.json"));
    state.erase("metrics_bytes");
    Json& progress = state["progress"];
    progress.erase("train_seconds");
    if (!progress["last_evaluation"].is_null()) progress["last_evaluation"].erase("seconds");
    return state.dump();
  }
  std::string TensorsOf(const std::string& run, int64_t step) const {
    return ReadFileForTest(CheckpointOf(run, step) + "/tensors.safetensors");
  }
};

TEST_F(AsyncCheckpointTest, HaveTheBytesOfThoseThatTrainingWaitsFor) {
  std::vector<std::string> waiting = kEveryStep;
  waiting.emplace_back("train.checkpoint.async=false");
  STOKER_ASSERT_OK(Train("async", kEveryStep));
  STOKER_ASSERT_OK(Train("waiting", waiting));
  for (int64_t step = 1; step <= 9; ++step) {
    SCOPED_TRACE(step);
    ASSERT_EQ(TensorsOf("async", step), TensorsOf("waiting", step));
    ASSERT_EQ(StateOf("async", step), StateOf("waiting", step));
  }
  EXPECT_EQ(WeightsOf("async"), WeightsOf("waiting"));
  EXPECT_EQ(MetricsOf("async"), MetricsOf("waiting"));
}

TEST_F(AsyncCheckpointTest, EachThatIsAskedForIsStoredAndToldOfInItsOrder) {
  Watcher watcher;
  STOKER_ASSERT_OK(Train("run", kEveryStep, &watcher));
  std::vector<int64_t> all(9);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(watcher.checkpoints, all);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto stored,
                              CheckpointStore(Paths("run").checkpoints(), 1).Steps());
  EXPECT_EQ(stored, all);
}

TEST_F(AsyncCheckpointTest, AnErrorEndsTheRunAndThoseBeforeAreUntouched) {
  STOKER_ASSERT_OK(Train("whole", kEveryStep));
  for (const int64_t step : {4, 9}) {  // 9 is the last: the error is seen at the end
    SCOPED_TRACE(step);
    const std::string run = "obstructed" + std::to_string(step);
    const Result<TrainSummary> result = TrainObstructed(run, step, kEveryStep);
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.status().message(),
                testing::HasSubstr("writing the checkpoint of step " + std::to_string(step) +
                                   " (those before it are untouched)"));
    EXPECT_FALSE(fs::exists(Paths(run).weights()));
    fs::remove(Paths(run).checkpoints());
    fs::rename(Paths(run).checkpoints() + "-aside", Paths(run).checkpoints());
    Watcher watcher;
    STOKER_ASSERT_OK(Resume(run, kEveryStep, &watcher));
    EXPECT_EQ(watcher.start.first_step, step - 1);
    EXPECT_EQ(WeightsOf(run), WeightsOf("whole"));
    EXPECT_EQ(MetricsOf(run), MetricsOf("whole"));
  }
}

// What is told of a checkpoint may come later than the step, but never is one forgotten.
TEST_F(AsyncCheckpointTest, AnInterruptedRunEndsWithItsCheckpointStored) {
  for (const int64_t step : {1, 4, 6}) {
    Watcher watcher;
    watcher.stop_after = step;
    const std::string run = "stopped" + std::to_string(step);
    STOKER_ASSERT_OK(Train(run, {}, &watcher));
    ASSERT_FALSE(watcher.checkpoints.empty());
    EXPECT_EQ(watcher.checkpoints.back(), step);
    STOKER_EXPECT_OK(CheckpointStore(Paths(run).checkpoints(), 1).Load(step).status());
  }
}

// A loss that breaks names the newest checkpoint, also where that was still being written.
TEST_F(AsyncCheckpointTest, ABrokenLossNamesTheCheckpointJustBefore) {
  const Result<TrainSummary> result = Train(
      "run",
      {"train.schedule={constant: {lr: 1.0e+30}}", "train.checkpoint={every_steps: 1, keep: 100}"});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.status().message(),
              testing::HasSubstr("the last good checkpoint is " + CheckpointOf("run", 1)));
}

}  // namespace stoker::training_checkpoints_test
