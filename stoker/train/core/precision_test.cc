#include "stoker/train/core/precision.h"

#include <torch/utils.h>

#include <atomic>

#include "stoker/base/testing.h"
#include "stoker/run/run_directory.h"
#include "stoker/run/testing.h"
#include "stoker/train/loop/trainer.h"
#include "stoker/train/step/learner.h"

namespace stoker::precision_test {

at::ScalarType TypeOfProduct() {
  return at::matmul(torch::ones({2, 2}), torch::ones({2, 2})).scalar_type();
}

TEST(PrecisionScope, HasProductsComputedIn16BitsWhileItLives) {
  {
    const PrecisionScope outer(Precision::kBFloat16, at::kCPU);
    EXPECT_EQ(TypeOfProduct(), at::kBFloat16);
    {
      const PrecisionScope inner(Precision::kFloat16, at::kCPU);
      EXPECT_EQ(TypeOfProduct(), at::kHalf);
    }
    EXPECT_EQ(TypeOfProduct(), at::kBFloat16);
  }
  EXPECT_EQ(TypeOfProduct(), at::kFloat);
  const PrecisionScope none(Precision::kFloat32, at::kCPU);
  EXPECT_EQ(TypeOfProduct(), at::kFloat);
}

class LearnerPrecision : public testing::Test {
 protected:
  std::unique_ptr<Learner> Make(Precision precision, std::vector<std::string> set = {}) {
    set.insert(set.begin(), "model={mlp: {classes: 4, hidden: [16], dropout: 0}}");
    const Result<Recipe> recipe = problem_.Load(set);
    EXPECT_THAT(recipe, IsOk());
    auto learner = Learner::Create(*recipe, {.channels = 1, .height = 8, .width = 8},
                                   {.precision = precision});
    EXPECT_THAT(learner, IsOk());
    return *std::move(learner);
  }
  static TensorBatch Batch(double scale = 1) {
    torch::manual_seed(9);
    return {.input = torch::randn({16, 1, 8, 8}) * scale,
            .target = torch::randint(4, {16}, torch::kLong)};
  }
  static std::vector<at::Tensor> WeightsOf(Learner& learner) {
    std::vector<at::Tensor> weights;
    for (const auto& [name, tensor] : StateOf(learner.model())) {
      weights.push_back(tensor.detach().clone());
    }
    return weights;
  }
  static double Moved(Learner& learner, const std::vector<at::Tensor>& from) {
    const std::vector<at::Tensor> to = WeightsOf(learner);
    double moved = 0;
    for (size_t i = 0; i < from.size(); ++i)
      moved += (to[i] - from[i]).square().sum().item<double>();
    return std::sqrt(moved);
  }

  SmallProblem problem_;
};

constexpr ScheduleValue kRate{.lr = .05, .momentum = {}};

TEST_F(LearnerPrecision, In16BitsStepsAreNearlyThoseOfFloat32AndWeightsStayFloat32) {
  for (const Precision precision : {Precision::kBFloat16, Precision::kFloat16}) {
    SCOPED_TRACE(PrecisionName(precision));
    const auto learner = Make(precision, {"train.optimizer=sgd"});
    const auto reference = Make(Precision::kFloat32, {"train.optimizer=sgd"});
    const std::vector<at::Tensor> before = WeightsOf(*learner);
    for (int step = 1; step <= 3; ++step) {
      STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss, learner->Step(Batch(), kRate, step));
      STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor wanted, reference->Step(Batch(), kRate, step));
      EXPECT_EQ(loss.scalar_type(), at::kFloat);
      EXPECT_NEAR(loss.item<double>(), wanted.item<double>(), 0.01);
    }
    const double difference = Moved(*learner, WeightsOf(*reference));
    EXPECT_LT(difference, 0.03 * Moved(*learner, before));
    EXPECT_GT(difference, 0) << "it has computed in float32";
    for (const at::Tensor& weight : WeightsOf(*learner))
      EXPECT_EQ(weight.scalar_type(), at::kFloat);
  }
}

TEST_F(LearnerPrecision, SkipsAStepWhoseScaledGradientsOverflowAndCountsIt) {
  const auto learner = Make(Precision::kFloat16);
  ASSERT_NE(learner->scaler(), nullptr);
  const std::vector<at::Tensor> before = WeightsOf(*learner);
  // Its loss is finite, but the gradients, 65536 times as large, are not.
  STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss, learner->Step(Batch(1000), kRate));
  EXPECT_TRUE(std::isfinite(loss.item<double>()));
  EXPECT_EQ(Moved(*learner, before), 0);
  EXPECT_EQ(learner->scaler()->skipped(), 1);
  EXPECT_EQ(learner->scaler()->scale(), 32768);
  STOKER_ASSERT_OK(learner->Step(Batch(), kRate, 2));
  EXPECT_GT(Moved(*learner, before), 0);
  EXPECT_EQ(learner->scaler()->skipped(), 1);
}

TEST_F(LearnerPrecision, ClipsGradientsAfterTheyAreUnscaled) {
  const auto learner =
      Make(Precision::kFloat16, {"train.optimizer={sgd: {momentum: 0}}", "train.clip.norm=0.01"});
  const std::vector<at::Tensor> before = WeightsOf(*learner);
  STOKER_ASSERT_OK(learner->Step(Batch(), {.lr = 1, .momentum = {}}));
  EXPECT_NEAR(Moved(*learner, before), .01, 1e-5);
}

TEST_F(LearnerPrecision, OnlyFloat16ScalesTheLoss) {
  EXPECT_EQ(Make(Precision::kFloat32)->scaler(), nullptr);
  EXPECT_EQ(Make(Precision::kBFloat16)->scaler(), nullptr);
}

// Stops after step 4.
class StopAt4 final : public TrainObserver {
 public:
  explicit StopAt4(std::atomic<bool>& stop) : stop_(stop) {}
  void OnStep(const StepEvent& event) override { stop_ = event.step >= 4; }

 private:
  std::atomic<bool>& stop_;
};

TEST(TrainerPrecision, AResumedRunInFloat16EndsWithTheSameBytes) {
  const SmallProblem problem;
  const std::vector<std::string> set = {"train.precision=fp16"};
  const auto begin = [&](const std::string& run) {
    auto recipe = problem.Load(set);
    EXPECT_THAT(recipe, IsOk());
    return *Trainer::Create(*std::move(recipe), problem / run);
  };
  STOKER_ASSERT_OK(begin("whole")->Run());
  std::atomic<bool> stop = false;
  StopAt4 observer(stop);
  STOKER_ASSERT_OK(begin("parts")->Run(&observer, &stop));
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem.Load(set));
  STOKER_ASSERT_OK_AND_ASSIGN(auto resumed, Trainer::Resume(std::move(recipe), problem / "parts"));
  STOKER_ASSERT_OK(resumed->Run());
  EXPECT_EQ(ReadFileForTest(problem / "parts/weights.safetensors"),
            ReadFileForTest(problem / "whole/weights.safetensors"));
  EXPECT_THAT(ReadFileForTest(problem / "whole/choices.json"), testing::HasSubstr("fp16"));
  EXPECT_THAT(ReadFileForTest(problem / "whole/metrics.jsonl"),
              testing::HasSubstr("\"skipped_steps\":0"));
}

TEST(TrainerPrecision, AResumedRunKeepsThePrecisionThatWasChosen) {
  const SmallProblem problem;
  const std::vector<std::string> set = {"train.precision=auto"};
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem.Load(set));
  std::atomic<bool> stop = false;
  StopAt4 observer(stop);
  STOKER_ASSERT_OK_AND_ASSIGN(auto trainer, Trainer::Create(recipe, problem / "run"));
  STOKER_ASSERT_OK(trainer->Run(&observer, &stop));
  trainer.reset();
  STOKER_ASSERT_OK_AND_ASSIGN(std::optional<Choices> choices, ReadRunChoices(problem / "run"));
  // The other one.
  choices->precision =
      choices->precision == Precision::kFloat32 ? Precision::kBFloat16 : Precision::kFloat32;
  WriteFileForTest(problem / "run/choices.json", choices->ToJson().dump());
  STOKER_ASSERT_OK_AND_ASSIGN(auto resumed, Trainer::Resume(std::move(recipe), problem / "run"));
  STOKER_ASSERT_OK(resumed->Run());
  STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Choices> after, ReadRunChoices(problem / "run"));
  EXPECT_EQ(after->precision, choices->precision);
}

TEST(Choices, AreReadBackAndOlderOnesHaveFloat32) {
  const Choices choices{.memory_format = MemoryFormat::kChannelsLast,
                        .precision = Precision::kBFloat16,
                        .threads = 3,
                        .cudnn_benchmark = true,
                        .graph = true,
                        .flush_denormals = true,
                        .feed_threads = 5,
                        .device_prefetch = 2,
                        .normalize_on_host = true};
  STOKER_ASSERT_OK_AND_ASSIGN(const Choices read, Choices::FromJson(choices.ToJson()));
  EXPECT_EQ(read, choices);
  Json old = choices.ToJson();
  for (const char* key : {"precision", "cudnn_benchmark", "graph", "flush_denormals",
                          "feed_threads", "device_prefetch", "normalize_on_host"}) {
    old.erase(key);
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const Choices before, Choices::FromJson(old));
  EXPECT_EQ(before, (Choices{.memory_format = MemoryFormat::kChannelsLast, .threads = 3}));
  old["precision"] = "int4";
  EXPECT_THAT(Choices::FromJson(old),
              FailsWith(StatusCode::kInvalidArgument, "precision 'int4' is unknown"));
}

}  // namespace stoker::precision_test
