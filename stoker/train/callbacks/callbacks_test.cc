#include <torch/utils.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>

#include "stoker/train/callbacks/export.h"
#include "stoker/train/callbacks/log_tensors.h"
#include "stoker/train/callbacks/stop_at.h"
#include "stoker/train/core/callback.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::callbacks_test {

// Writes down which hooks are called, with the steps done.
class Witness : public Callback {
 public:
  explicit Witness(std::vector<std::string>& calls) : calls_(calls) {}
  Status OnStart(RunView& run) override { return Note("start", run); }
  Status OnBatch(RunView& run, const TensorBatch& batch) override {
    samples += batch.size();
    return Note("batch", run);
  }
  Status OnBackward(RunView& run) override {
    EXPECT_TRUE(run.model.parameters()[0].grad().defined());
    return Note("backward", run);
  }
  Status OnStep(RunView& run, const at::Tensor& loss) override {
    EXPECT_GT(loss.item<double>(), 0);
    EXPECT_GT(run.now.lr, 0);
    return Note("step", run);
  }
  Status OnEvaluate(RunView& run, const Evaluation&) override { return Note("evaluate", run); }
  Status OnCheckpoint(RunView& run) override { return Note("checkpoint", run); }
  Status OnEnd(RunView& run) override { return Note("end", run); }

  int64_t samples = 0;

 private:
  Status Note(const char* hook, const RunView& run) {
    calls_.push_back(std::string(hook) + std::to_string(run.step));
    return OkStatus();
  }
  std::vector<std::string>& calls_;
};

class CallbacksTest : public TrainerTest {
 protected:
  std::vector<Json> TensorsOf(const std::string& run) const {
    std::istringstream text(ReadFileForTest((Paths(run).root / "tensors.jsonl").string()));
    std::vector<Json> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
    return lines;
  }
};

TEST_F(CallbacksTest, HooksAreCalledInTheirOrder) {
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe,
                              problem_.Load({"train.epochs=1", "train.accumulate=4"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                              Trainer::Create(std::move(recipe), problem_ / "run"));
  std::vector<std::string> calls;
  trainer->Add("witness", std::make_unique<Witness>(calls));
  STOKER_ASSERT_OK(trainer->Run());
  EXPECT_THAT(calls, testing::ElementsAre("start0", "batch0", "batch0", "batch0", "batch0",
                                          "backward0", "step1", "batch1", "batch1", "backward1",
                                          "step2", "evaluate2", "checkpoint2", "end2"));
}

TEST_F(CallbacksTest, ThoseThatOnlyLookChangeNoByte) {
  STOKER_ASSERT_OK(Train("plain"));
  STOKER_ASSERT_OK(Train("watched", {"train.callbacks=[{log_tensors: {every: 1}}, {profile_steps: "
                                     "{first: 2, last: 3, shapes: true}}]"}));
  EXPECT_EQ(WeightsOf("watched"), WeightsOf("plain"));
}

TEST_F(CallbacksTest, AnErrorOfOneEndsTheRunAndNamesIt) {
  struct Failing : Callback {
    Status OnStep(RunView&, const at::Tensor&) override { return Unavailable("no more"); }
  };
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                              Trainer::Create(std::move(recipe), problem_ / "run"));
  trainer->Add("mine", std::make_unique<Failing>());
  EXPECT_THAT(trainer->Run(),
              FailsWith(StatusCode::kUnavailable, "while calling the callback mine"));
}

TEST_F(CallbacksTest, ARunThatOneRefusesAtItsStartLeavesNothingAndThenNothingToDiscard) {
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load());
  class Refuses final : public Callback {
   public:
    Status OnStart(RunView&) override { return InvalidArgument("no"); }
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer, Trainer::Create(recipe, problem_ / "above/run"));
  trainer->Add("refuses", std::make_unique<Refuses>());
  EXPECT_THAT(trainer->Run(), FailsWith(StatusCode::kInvalidArgument, "no"));
  EXPECT_FALSE(std::filesystem::exists(problem_ / "above"));
  // Another process takes the name.
  STOKER_ASSERT_OK(RunDirectory::Create({problem_ / "above/run"}, recipe.Filled()));
  trainer->Discard();
  STOKER_EXPECT_OK(ReadRunRecipe(problem_ / "above/run"));
}

TEST_F(CallbacksTest, StopAtEndsTheRunAndLeavesTheScheduleAsLongAsItWas) {
  Watcher cut, whole;
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary,
                              Train("cut", {"train.callbacks=[{stop_at: {step: 7}}]"}, &cut));
  EXPECT_EQ(summary.step, 7);
  EXPECT_EQ(summary.ended, "stop_at: step 7");
  EXPECT_EQ(cut.evaluations.back().step, 7);
  EXPECT_TRUE(std::filesystem::exists(Paths("cut").weights()));
  whole.stop_after = 7;
  STOKER_ASSERT_OK(Train("whole", {}, &whole));
  EXPECT_EQ(cut.last_step.lr, whole.last_step.lr);
  EXPECT_EQ(cut.last_step.loss, whole.last_step.loss);
}

TEST_F(CallbacksTest, StopAtSaysThatItsStepNeverComes) {
  testing::internal::CaptureStderr();
  STOKER_ASSERT_OK(Train("run", {"train.callbacks=[{stop_at: {step: 1000}}]"}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("stop_at: step 1000 never comes, since the run ends after "));
}

TEST_F(CallbacksTest, LogTensorsWritesFiguresOfValuesAndGradients) {
  STOKER_ASSERT_OK(Train("run", {"train.callbacks=[{log_tensors: {every: 5, match: '*.bias'}}]"}));
  const std::vector<Json> lines = TensorsOf("run");
  ASSERT_EQ(lines.size(), 6u);  // steps 5, 10 and 15, two parameters each
  EXPECT_EQ(lines[0]["step"], 5);
  EXPECT_EQ(lines[5]["step"], 15);
  for (const Json& line : lines) {
    EXPECT_THAT(line["name"].get<std::string>(), testing::EndsWith(".bias"));
    EXPECT_GT(line["gradient"]["norm"].get<double>(), 0);
    EXPECT_LE(line["value"]["min"].get<double>(), line["value"]["mean"].get<double>());
    EXPECT_EQ(line["value"]["not_finite"], 0);
  }
}

TEST_F(CallbacksTest, LogTensorsOfAResumedRunHasEachStepOnce) {
  const std::vector<std::string> set = {"train.callbacks=[{log_tensors: {every: 2}}]"};
  STOKER_ASSERT_OK(Train("whole", set));
  STOKER_ASSERT_OK(TrainUntil("killed", 9, set));
  std::filesystem::remove_all(CheckpointOf("killed", 9));
  STOKER_ASSERT_OK(Resume("killed", set));
  EXPECT_EQ(TensorsOf("killed"), TensorsOf("whole"));
}

TEST_F(CallbacksTest, LogTensorsRefusesAPatternThatMatchesNothing) {
  EXPECT_THAT(Train("run", {"train.callbacks=[{log_tensors: {match: 'conv*'}}]"}),
              FailsWith(StatusCode::kInvalidArgument, "'conv*' matches no parameter"));
}

TEST_F(CallbacksTest, ProfileStepsWritesATraceOfTheStepsAskedFor) {
  STOKER_ASSERT_OK(
      Train("run", {"train.callbacks=[{profile_steps: {first: 5, last: 7, shapes: true}}]"}));
  const Json trace = Json::parse(ReadFileForTest((Paths("run").root / "trace-5-7.json").string()));
  std::map<std::string, int> count;
  for (const Json& event : trace["traceEvents"]) {
    ++count[event["name"]];
    EXPECT_EQ(event["ph"], "X");
    EXPECT_GE(event["dur"].get<double>(), 0);
  }
  for (const char* once : {"step 5", "step 6", "step 7", "evaluation", "checkpoint"}) {
    EXPECT_EQ(count[once], 1) << once;
  }
  for (const char* of_each : {"wait for data", "forward and backward", "update"}) {
    EXPECT_EQ(count[of_each], 3) << of_each;
  }
  EXPECT_EQ(count.count("step 4") + count.count("step 8"), 0u);
  EXPECT_GE(count["aten::addmm"] + count["aten::linear"], 3);
}

TEST_F(CallbacksTest, ProfileStepsOfARunThatEndsBeforeLeavesWhatThereIs) {
  STOKER_ASSERT_OK(
      Train("run", {"train.callbacks=[{profile_steps: {first: 17, last: 99, operators: false}}]"}));
  EXPECT_TRUE(std::filesystem::exists(Paths("run").root / "trace-17-99.json"));
}

std::vector<std::string> NamesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(folder))
    names.push_back(each.path().filename().string());
  std::ranges::sort(names);
  return names;
}

TEST_F(CallbacksTest, ExportsOfTheLatestAreTheModelAfterEachEvaluationAndOnlySoManyStay) {
  STOKER_ASSERT_OK(
      Train("run", {"train.eval_every_steps=4", "train.callbacks=[{export: {keep: 2}}]"}));
  const std::filesystem::path latest = Paths("run").root / "exports/latest";
  const std::vector<std::string> steps = NamesIn(latest);
  ASSERT_EQ(steps.size(), 2u);
  const RunPaths last{latest / steps.back()};
  EXPECT_EQ(ReadFileForTest(last.weights()), WeightsOf("run"));
  EXPECT_EQ(ReadFileForTest(last.recipe()), ReadFileForTest(Paths("run").recipe()));
  EXPECT_NE(ReadFileForTest(RunPaths{latest / steps.front()}.weights()), WeightsOf("run"));
  const Json figures =
      Json::parse(ReadFileForTest((latest / steps.back() / "evaluation.json").string()));
  const Json summary = Json::parse(ReadFileForTest(Paths("run").summary()));
  EXPECT_EQ(figures["step"], summary["step"]);
  EXPECT_EQ(figures["evaluation"]["loss"], summary["last_evaluation"]["loss"]);
}

TEST_F(CallbacksTest, AnExportOfTheBestIsWrittenOnlyWhereNoneBeforeWasAsGood) {
  Watcher watcher;
  STOKER_ASSERT_OK(Train(
      "run", {"train.eval_every_steps=2", "train.callbacks=[{export: {best: loss, keep: 100}}]"},
      &watcher));
  std::vector<std::string> better;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& each : watcher.evaluations) {
    if (each.evaluation.loss >= best) continue;
    best = each.evaluation.loss;
    better.push_back(fmt::format("step-{:08}", each.step));
  }
  EXPECT_EQ(NamesIn(Paths("run").root / "exports/best"), better);
}

TEST_F(CallbacksTest, ExportsOfAResumedRunAreThoseOfOneThatWasNotStopped) {
  const std::vector<std::string> set = {
      "train.eval_every_steps=2",
      "train.callbacks=[{export: {keep: 3}}, {export: {best: loss, keep: 2}}]"};
  STOKER_ASSERT_OK(Train("whole", set));
  STOKER_ASSERT_OK(TrainUntil("killed", 9, set));
  std::filesystem::remove_all(CheckpointOf("killed", 9));
  // Of a step that is made again later, and of one that is not.
  for (const char* folder : {"latest", "best"}) {
    std::filesystem::create_directories(Paths("killed").root / "exports" / folder /
                                        "step-00000010");
    std::filesystem::create_directories(Paths("killed").root / "exports" / folder /
                                        "step-00009999");
  }
  STOKER_ASSERT_OK(Resume("killed", set));
  for (const char* folder : {"exports/latest", "exports/best"}) {
    const std::vector<std::string> names = NamesIn(Paths("whole").root / folder);
    EXPECT_EQ(NamesIn(Paths("killed").root / folder), names);
    for (const std::string& name : names) {
      const auto weights = [&](const char* run) {
        return ReadFileForTest(RunPaths{Paths(run).root / folder / name}.weights());
      };
      EXPECT_EQ(weights("killed"), weights("whole")) << folder << " " << name;
    }
  }
}

TEST_F(CallbacksTest, AnExportByAFigureThatIsNotMeasuredIsRefusedBeforeTheFirstStep) {
  EXPECT_THAT(Train("run", {"train.callbacks=[{export: {best: auc}}]"}),
              FailsWith(StatusCode::kInvalidArgument, "auc"));
  EXPECT_FALSE(std::filesystem::exists(Paths("run").root));
}

TEST_F(CallbacksTest, TwoExportsToOneDirectoryAreRefusedAndTwoNamesAreNot) {
  EXPECT_THAT(
      Train("run", {"train.callbacks=[{export: {best: loss}}, {export: {best: accuracy}}]"}),
      FailsWith(StatusCode::kInvalidArgument, "give one of them another `name`"));
  EXPECT_FALSE(std::filesystem::exists(Paths("run").root));
  STOKER_ASSERT_OK(
      Train("run", {"train.callbacks=[{export: {best: loss, keep: 1}}, {export: {best: "
                    "accuracy, keep: 1, name: surest}}]"}));
  EXPECT_EQ(NamesIn(Paths("run").root / "exports/best").size(), 1u);
  EXPECT_EQ(NamesIn(Paths("run").root / "exports/surest").size(), 1u);
  EXPECT_THAT(problem_.Load({"train.callbacks=[{export: {name: ../x}}]"}),
              FailsWith(StatusCode::kInvalidArgument, "of no directory"));
}

TEST_F(CallbacksTest, ADirectoryThatOnlyLooksLikeAnExportStays) {
  const std::filesystem::path latest = Paths("run").root / "exports/latest";
  STOKER_ASSERT_OK(TrainUntil("run", 3, {"train.callbacks=[{export: {keep: 1}}]"}));
  std::filesystem::create_directories(latest / "step-3");
  STOKER_ASSERT_OK(Resume("run", {"train.callbacks=[{export: {keep: 1}}]"}));
  EXPECT_TRUE(std::filesystem::exists(latest / "step-3"));
  EXPECT_EQ(NamesIn(latest).size(), 2u);
}

TEST_F(CallbacksTest, TheBestByOneFigureIsNotComparedWithAnother) {
  const Result<std::shared_ptr<Callback>> by_accuracy = Export{.best = "accuracy"}.Build();
  const Result<std::shared_ptr<Callback>> by_loss = Export{.best = "loss"}.Build();
  STOKER_ASSERT_OK(
      (*by_accuracy)->Restore({{"figure", "accuracy"}, {"mode", "auto"}, {"best", 1}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Json kept, (*by_accuracy)->Save());
  EXPECT_EQ(kept["best"], 1);
  STOKER_ASSERT_OK((*by_loss)->Restore(kept));
  STOKER_ASSERT_OK_AND_ASSIGN(const Json anew, (*by_loss)->Save());
  EXPECT_EQ(anew["best"], Json());
  EXPECT_THAT((*by_loss)->Restore({{"best", "much"}}),
              FailsWith(StatusCode::kDataLoss, "no number"));
}

TEST_F(CallbacksTest, AnExportThatNeverCameIsToldOfAtTheEnd) {
  testing::internal::CaptureStderr();
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load({"train.callbacks=[{export: {}}]"}));
  recipe.data.eval.reset();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                              Trainer::Create(std::move(recipe), problem_ / "run"));
  STOKER_ASSERT_OK(trainer->Run());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("exports/latest: the run had no evaluation"));
}

TEST_F(CallbacksTest, AListThatIsNoneIsRefused) {
  EXPECT_THAT(problem_.Load({"train.callbacks={stop_at: {step: 1}}"}),
              FailsWith(StatusCode::kInvalidArgument, "it must be a list"));
  EXPECT_THAT(problem_.Load({"train.callbacks=[stop_it]"}),
              FailsWith(StatusCode::kInvalidArgument, "stop_at"));
}

// In C++ one is named like any kind, or is any class with a Build.
TEST_F(CallbacksTest, ARecipeMadeInCodeTakesConfiguredOnes) {
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load());
  recipe.train.callbacks = {Configure(LogTensors{.every = 3}), Configure(StopAt{.step = 4})};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                              Trainer::Create(std::move(recipe), problem_ / "run"));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, trainer->Run());
  EXPECT_EQ(summary.step, 4);
}

}  // namespace stoker::callbacks_test
