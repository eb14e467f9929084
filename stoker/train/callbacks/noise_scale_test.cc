#include "stoker/train/callbacks/noise_scale.h"

#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/training_plan.h"
#include "stoker/train/step/learner.h"
#include "stoker/train/tune/noise_average.h"

namespace stoker::noise_scale_test {

using Assignments = std::vector<std::string>;

Assignments With(Assignments more) {
  more.insert(more.begin(), {"model.mlp.dropout=0", "train.log_every=1", "train.epochs=1"});
  return more;
}

// The squared norm of the gradient of these batches' mean loss at the first weights, of a learner
// of its own and added up value by value.
double DirectNorm(const Recipe& recipe, const ModelInput& input,
                  const std::vector<TensorBatch>& batches) {
  const auto learner = Learner::Create(recipe, input, {});
  EXPECT_THAT(learner, IsOk());
  for (const TensorBatch& batch : batches) {
    EXPECT_THAT((*learner)->Backward(batch, std::ssize(batches)), IsOk());
  }
  double squared = 0;
  for (const at::Tensor& parameter : (*learner)->model().parameters()) {
    const at::Tensor gradient = parameter.grad().contiguous();
    for (int64_t i = 0; i < gradient.numel(); ++i) {
      const auto value = static_cast<double>(gradient.data_ptr<float>()[i]);
      squared += value * value;
    }
  }
  return squared;
}

class NoiseScaleTest : public TrainerTest {
 protected:
  void Open(const Assignments& set) {
    STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load(With(set)));
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainingPlan plan, MakePlan(recipe));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder,
                                OpenFeed(recipe, plan.batches.dataset, {}, plan));
    for (int i = 0; i < 2; ++i) {
      STOKER_ASSERT_OK_AND_ASSIGN(std::optional<TensorBatch> batch, feeder->Next());
      batches_.push_back(*std::move(batch));
    }
    input_ = plan.input;
    recipe_ = std::make_unique<Recipe>(std::move(recipe));
  }
  // The noise scale in each line of the metrics that has one.
  std::vector<double> Reported(const std::string& run) const {
    std::vector<double> scales;
    for (const std::string& line : MetricsOf(run)) {
      const Json json = Json::parse(line);
      if (json.contains("noise_scale")) scales.push_back(json["noise_scale"]);
    }
    return scales;
  }

  std::unique_ptr<Recipe> recipe_;
  ModelInput input_;
  std::vector<TensorBatch> batches_;
};

TEST_F(NoiseScaleTest, IsThatOfADirectComputationFromHalvesOfABatch) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "products are those of TF32 on an accelerator";
  Open({});
  const TensorBatch& whole = batches_[0];
  const TensorBatch half{whole.input.Rows(0, 8), whole.target.Rows(0, 8)};
  NoiseAverage direct(0);
  const auto expected = direct.Add({8, DirectNorm(*recipe_, input_, {half})},
                                   {16, DirectNorm(*recipe_, input_, {whole})});
  STOKER_ASSERT_OK(
      Train("run", With({"train.callbacks=[{noise_scale: {every: 1, smooth: 0}}]"})).status());
  ASSERT_TRUE(expected);
  ASSERT_FALSE(Reported("run").empty());
  EXPECT_NEAR(Reported("run").front() / *expected, 1, 1e-4);
}

TEST_F(NoiseScaleTest, IsThatOfADirectComputationFromTheBatchesOfAStep) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "products are those of TF32 on an accelerator";
  Open({"train.accumulate=2"});
  NoiseAverage direct(0);
  const auto expected = direct.Add({16, DirectNorm(*recipe_, input_, {batches_[0]})},
                                   {32, DirectNorm(*recipe_, input_, batches_)});
  STOKER_ASSERT_OK(Train("run", With({"train.accumulate=2",
                                      "train.callbacks=[{noise_scale: {every: 1, smooth: 0}}]"}))
                       .status());
  ASSERT_TRUE(expected);
  ASSERT_FALSE(Reported("run").empty());
  EXPECT_NEAR(Reported("run").front() / *expected, 1, 1e-4);
}

TEST_F(NoiseScaleTest, IsTheSameWhereTheLossIsScaledForFloat16) {
  const std::string measured = "train.callbacks=[{noise_scale: {every: 1, smooth: 0}}]";
  for (const char* batches : {"train.accumulate=1", "train.accumulate=2"}) {
    SCOPED_TRACE(batches);
    const std::string run(batches);
    STOKER_ASSERT_OK(Train(run + "-32", With({measured, batches})).status());
    STOKER_ASSERT_OK(
        Train(run + "-16", With({measured, batches, "train.precision=fp16"})).status());
    ASSERT_FALSE(Reported(run + "-32").empty());
    ASSERT_FALSE(Reported(run + "-16").empty());
    EXPECT_NEAR(Reported(run + "-16").front() / Reported(run + "-32").front(), 1, 0.05);
  }
}

TEST_F(NoiseScaleTest, IsNotMeasuredWhereHalfABatchIsOneSampleWhichBatchNormWouldRefuse) {
  for (const auto& [size, measured] : std::vector<std::pair<int, bool>>{{3, false}, {4, true}}) {
    const std::string run = fmt::format("by{}", size);
    const std::string data = fmt::format(
        "data.train=[{{idx: {{images: train-images, labels: train-labels}}}}, "
        "{{normalize: {{mean: 0.5, std: 0.25}}}}, {{batch: {{size: {}}}}}]",
        size);
    STOKER_ASSERT_OK(
        Train(run, With({data, "train.callbacks=[{noise_scale: {every: 1, smooth: 0}}]"}))
            .status());
    EXPECT_EQ(!Reported(run).empty(), measured) << size;
  }
}

TEST_F(NoiseScaleTest, ChangesNoBitOfTheWeights) {
  STOKER_ASSERT_OK(Train("plain", With({"model.mlp.dropout=0.25"})).status());
  STOKER_ASSERT_OK(Train("measured", With({"model.mlp.dropout=0.25",
                                           "train.callbacks=[{noise_scale: {every: 2}}]"}))
                       .status());
  EXPECT_EQ(WeightsOf("plain"), WeightsOf("measured"));
}

TEST_F(NoiseScaleTest, OfAResumedRunIsThatOfOneThatWasNotStopped) {
  // Measured at steps 2, 4, 6, ...; stopped between a measurement and the next line.
  const Assignments set = {"model.mlp.dropout=0", "train.log_every=3",
                           "train.callbacks=[{noise_scale: {every: 2, smooth: 0.9}}]"};
  STOKER_ASSERT_OK(Train("whole", set).status());
  STOKER_ASSERT_OK(TrainUntil("stopped", 8, set).status());
  STOKER_ASSERT_OK(Resume("stopped", set).status());
  ASSERT_GT(Reported("whole").size(), 3u);
  EXPECT_EQ(MetricsOf("stopped"), MetricsOf("whole"));
}

}  // namespace stoker::noise_scale_test
