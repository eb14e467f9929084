#include "stoker/train/predictor.h"

#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/train/testing.h"
#include "stoker/train/trainer.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

class StopAt : public TrainObserver {
 public:
  explicit StopAt(int64_t step) : step_(step) {}
  void OnStep(const StepEvent& event) override {
    if (event.step == step_) stop = true;
  }
  std::atomic<bool> stop{false};

 private:
  const int64_t step_;
};

class PredictorTest : public testing::Test {
 protected:
  Result<TrainSummary> Train(int64_t stop_at = -1) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load({"train.epochs=10"}));
    STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Create(std::move(recipe), run_));
    StopAt observer(stop_at);
    return trainer->Run(&observer, &observer.stop);
  }

  SmallProblem problem_;
  const std::string run_ = problem_ / "run";
};

TEST_F(PredictorTest, EvaluatesToWhatTrainingEndedWith) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(run_));
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation evaluation, predictor->EvaluateRun());
  EXPECT_EQ(evaluation.accuracy, summary.last_evaluation->accuracy);
  EXPECT_EQ(evaluation.loss, summary.last_evaluation->loss);
  EXPECT_EQ(evaluation.samples, 32);
}

TEST_F(PredictorTest, PredictsEverySampleAsEvaluationDoes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(run_));
  // The shape that the idx source gives: one channel.
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictions,
                              predictor->Predict(QuadrantImages(32).Reshaped({32, 1, 8, 8})));
  ASSERT_EQ(predictions.size(), 32u);
  int correct = 0;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const auto& p = predictions[i].probabilities;
    ASSERT_EQ(p.size(), 4u);
    EXPECT_NEAR(p[0] + p[1] + p[2] + p[3], 1, 1e-5);
    for (const float other : p) EXPECT_LE(other, p[static_cast<size_t>(predictions[i].best)]);
    correct += predictions[i].best == static_cast<int64_t>(i % 4);
  }
  EXPECT_EQ(correct / 32.0, summary.last_evaluation->accuracy);
  EXPECT_THAT(predictor->classes(),
              testing::ElementsAre("northwest", "northeast", "southwest", "southeast"));
}

TEST_F(PredictorTest, NeedsNoTrainingDataToPredict) {
  STOKER_ASSERT_OK(Train());
  fs::remove(problem_ / "train-images");
  fs::remove(problem_ / "eval-images");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(run_));
  STOKER_EXPECT_OK(predictor->Predict(QuadrantImages(1).Reshaped({1, 1, 8, 8})));
  EXPECT_THAT(predictor->EvaluateRun(), FailsWith(StatusCode::kNotFound, "images"));
}

TEST_F(PredictorTest, TakesTheNewestCheckpointOfARunThatHasNotFinished) {
  STOKER_ASSERT_OK(Train(/*stop_at=*/9));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(run_));
  EXPECT_THAT(predictor->weights(), testing::HasSubstr("step-00000009"));
  STOKER_EXPECT_OK(predictor->EvaluateRun());
}

TEST_F(PredictorTest, WithoutWeightsSaysWhatToDo) {
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load());
  { STOKER_ASSERT_OK(Trainer::Create(std::move(recipe), run_)); }
  EXPECT_THAT(Predictor::Open(run_), FailsWith(StatusCode::kNotFound, "train it first"));
  EXPECT_THAT(Predictor::Open(problem_ / "nowhere"),
              FailsWith(StatusCode::kNotFound, "is no run directory"));
}

TEST_F(PredictorTest, DamagedWeightsAreAnError) {
  STOKER_ASSERT_OK(Train());
  fs::resize_file(run_ + "/weights.safetensors", 100);
  EXPECT_THAT(Predictor::Open(run_), FailsWith(StatusCode::kDataLoss, "weights.safetensors"));
}

TEST_F(PredictorTest, SamplesThatTheModelCannotTakeAreRefused) {
  STOKER_ASSERT_OK(Train());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(run_));
  EXPECT_THAT(
      predictor->Predict(QuadrantImages(2).Reshaped({2, 1, 4, 16}).Reshaped({4, 1, 4, 8})),
      FailsWith(StatusCode::kFailedPrecondition, "4 x 8 (channels x height x width) are not"));
  EXPECT_THAT(predictor->Predict(Array::Allocate(DType::kUInt8, {})),
              FailsWith(StatusCode::kInvalidArgument, "first dimension"));
}

}  // namespace
}  // namespace stoker
