#include "stoker/train/predict/predictor.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <tuple>

#include "stoker/base/testing.h"
#include "stoker/run/testing.h"
#include "stoker/train/loop/trainer.h"

namespace stoker::predictor_test {

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

// What PredictRun gives, one entry a sample.
struct RunAnswers {
  PredictSummary summary;
  std::vector<int64_t> first;  // of each batch
  std::vector<Prediction> predictions;
  std::vector<int64_t> numbers, labels;
};

Result<RunAnswers> AnswersOf(Predictor& predictor, const PredictOptions& options) {
  RunAnswers all;
  STOKER_ASSIGN_OR_RETURN(
      all.summary, predictor.PredictRun(options, [&](const PredictedBatch& batch) {
        all.first.push_back(batch.first);
        std::ranges::copy(batch.predictions, std::back_inserter(all.predictions));
        std::ranges::copy(batch.numbers, std::back_inserter(all.numbers));
        for (const Array& field : batch.fields)
          std::ranges::copy(field.values<uint8_t>(), std::back_inserter(all.labels));
        return OkStatus();
      }));
  return all;
}

TEST_F(PredictorTest, PredictsTheSamplesOfItsPipelineAsTheyArePredictedOneByOne) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(run_));
  STOKER_ASSERT_OK_AND_ASSIGN(const RunAnswers run, AnswersOf(*predictor, {.fields = {"label"}}));
  EXPECT_EQ(run.summary.samples, 32);
  EXPECT_TRUE(run.summary.numbered);
  EXPECT_THAT(run.summary.disturbances, testing::IsEmpty());
  EXPECT_THAT(run.first, testing::ElementsAre(0, 10, 20, 30));  // the last batch has two
  STOKER_ASSERT_OK_AND_ASSIGN(const auto samples,
                              predictor->Predict(QuadrantImages(32).Reshaped({32, 1, 8, 8})));
  int correct = 0;
  ASSERT_EQ(run.predictions.size(), 32u);
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(run.predictions[i].probabilities, samples[i].probabilities);
    EXPECT_EQ(run.predictions[i].scores, samples[i].scores);
    EXPECT_EQ(run.numbers[i], static_cast<int64_t>(i));
    EXPECT_EQ(run.labels[i], static_cast<int64_t>(i % 4));
    correct += run.predictions[i].best == run.labels[i];
  }
  EXPECT_EQ(correct / 32.0, summary.last_evaluation->accuracy);
}

TEST_F(PredictorTest, PredictsDataWithoutLabels) {
  STOKER_ASSERT_OK(Train());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto labelled, Predictor::Open(run_));
  STOKER_ASSERT_OK_AND_ASSIGN(const RunAnswers wanted, AnswersOf(*labelled, {}));
  fs::remove(problem_ / "eval-labels");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto predictor,
      Predictor::Open(run_, {"data.eval.idx={images: eval-images}", "data.eval.batch.size=7"}));
  EXPECT_THAT(predictor->EvaluateRun(), FailsWith(StatusCode::kInvalidArgument, "label"));
  STOKER_ASSERT_OK_AND_ASSIGN(const RunAnswers got, AnswersOf(*predictor, {}));
  ASSERT_EQ(got.predictions.size(), 32u);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(got.predictions[i].best, wanted.predictions[i].best);
}

TEST_F(PredictorTest, SaysWhichSampleEachIsWhereThePipelineReordersThem) {
  STOKER_ASSERT_OK(Train());
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto predictor,
      Predictor::Open(run_, {"data.eval=[idx: {images: eval-images, labels: eval-labels}, shuffle, "
                             "normalize: {mean: 0.5, std: 0.25}, batch: 10]"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const RunAnswers run, AnswersOf(*predictor, {.fields = {"label"}}));
  EXPECT_THAT(run.summary.disturbances, testing::ElementsAre("shuffle reorders elements"));
  EXPECT_FALSE(std::ranges::is_sorted(run.numbers));
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(run.labels[i], run.numbers[i] % 4);
}

TEST_F(PredictorTest, EndsAPassAtItsLimitAtAnErrorAndWhenToldTo) {
  STOKER_ASSERT_OK(Train());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(run_));
  STOKER_ASSERT_OK_AND_ASSIGN(const RunAnswers some,
                              AnswersOf(*predictor, {.fields = {"label"}, .limit = 13}));
  EXPECT_EQ(some.summary.samples, 13);
  EXPECT_EQ(some.predictions.size(), 13u);
  EXPECT_EQ(some.numbers.size(), 13u);
  EXPECT_EQ(some.labels.size(), 13u);
  const auto refuse = [](const PredictedBatch&) { return ResourceExhausted("no room"); };
  EXPECT_THAT(predictor->PredictRun({}, refuse), FailsWith(StatusCode::kResourceExhausted, "room"));
  std::atomic<bool> stop{false};
  const auto ask_to_stop = [&](const PredictedBatch&) {
    stop = true;
    return OkStatus();
  };
  EXPECT_THAT(predictor->PredictRun({.stop = &stop}, ask_to_stop),
              FailsWith(StatusCode::kCancelled, "stopped after 10 samples"));
}

TEST_F(PredictorTest, RefusesFieldsAndPipelinesThatItCannotPredictFrom) {
  STOKER_ASSERT_OK(Train());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(run_));
  const auto take = [](const PredictedBatch&) { return OkStatus(); };
  const Status no_field = predictor->PredictRun({.fields = {"id"}}, take).status();
  EXPECT_THAT(no_field, FailsWith(StatusCode::kInvalidArgument, "no field 'id'"));
  EXPECT_THAT(no_field.message(), testing::Not(testing::HasSubstr("#")));
  const std::string source = "idx: {images: eval-images}";
  const std::tuple<std::string, StatusCode, const char*> kCases[] = {
      {"[" + source + ", batch: 4]", StatusCode::kInvalidArgument, "put `normalize`"},
      {"[" + source + ", normalize]", StatusCode::kInvalidArgument, "end it with `batch`"},
      {"[" + source + ", normalize, batch: 4, repeat]", StatusCode::kInvalidArgument, "never ends"},
      {"[range: 5, batch: 4]", StatusCode::kInvalidArgument, "set train.input to"},
  };
  for (const auto& [eval, code, says] : kCases) {
    SCOPED_TRACE(eval);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto other, Predictor::Open(run_, {"data.eval=" + eval}));
    EXPECT_THAT(other->PredictRun({}, take), FailsWith(code, says));
  }
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
  EXPECT_THAT(predictor->Predict(Array::Allocate(DType::kUInt8, {1, 3, 40, 50})),
              FailsWith(StatusCode::kFailedPrecondition,
                        "of data.eval before `normalize`: `decode: {channels: grey}` and `resize: "
                        "{height: 8, width: 8}`"));
  EXPECT_THAT(predictor->Predict(Array::Allocate(DType::kUInt8, {})),
              FailsWith(StatusCode::kInvalidArgument, "first dimension"));
}

}  // namespace stoker::predictor_test
