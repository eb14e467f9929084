#include "stoker/train/step/hogwild.h"

#include <torch/utils.h>

#include <algorithm>

#include "stoker/base/denormals.h"
#include "stoker/base/testing.h"
#include "stoker/device/torch_denormals.h"
#include "stoker/run/testing.h"
#include "stoker/train/core/parameters.h"

namespace stoker::hogwild_test {

constexpr int64_t kTokens = 5000, kClasses = 4;
constexpr ScheduleValue kNow{.lr = .05, .momentum = {}};

// Of each class one sample, whose three tokens begin at `first`; those of a class are its own.
TensorBatch Batch(int64_t first) {
  const at::Tensor classes = torch::arange(kClasses);
  const at::Tensor tokens = first + 3 * classes.unsqueeze(1) + torch::arange(3).unsqueeze(0);
  return {.input = tokens, .target = classes};
}

class HogwildTest : public testing::Test {
 protected:
  void SetUp() override { torch::set_num_threads(2); }

  Recipe Load(int64_t threads, std::vector<std::string> more = {}) {
    std::vector<std::string> set = {
        fmt::format("model={{embedding_bag: {{classes: {}, tokens: {}, width: 8}}}}", kClasses,
                    kTokens),
        "train.optimizer=adagrad", fmt::format("train.hogwild={}", threads)};
    set.insert(set.end(), more.begin(), more.end());
    Result<Recipe> recipe = problem_.Load(set);
    EXPECT_THAT(recipe, IsOk());
    return *std::move(recipe);
  }
  static std::unique_ptr<Learner> MakeLearner(const Recipe& recipe) {
    Result<std::unique_ptr<Learner>> learner = Learner::Create(recipe, kInput, {});
    EXPECT_THAT(learner, IsOk());
    return *std::move(learner);
  }
  static std::unique_ptr<HogwildTeam> MakeTeam(const Recipe& recipe, Learner& leader) {
    Result<std::unique_ptr<HogwildTeam>> team = HogwildTeam::Create(recipe, kInput, {}, leader);
    EXPECT_THAT(team, IsOk());
    return *std::move(team);
  }
  static at::Tensor TableOf(Learner& learner) {
    return learner.model().named_parameters()["embedding.weight"].detach().clone();
  }

  inline static const ModelInput kInput{.channels = 0, .tokens = true};
  SmallProblem problem_;
};

TEST_F(HogwildTest, ThreadsThatShareNoRowMakeTheStepsThatOneWouldMakeAlone) {
  for (const char* const optimizer : {"adagrad", "ftrl", "{adamw: {lazy: true}}"}) {
    SCOPED_TRACE(optimizer);
    // All but the table stays as it is, so that nothing is shared.
    const Recipe recipe = Load(3, {"train.groups=[{match: \"layers.*\", lr: 0}]",
                                   fmt::format("train.optimizer={}", optimizer)});
    const auto leader = MakeLearner(recipe), alone = MakeLearner(recipe);
    const auto team = MakeTeam(recipe, *leader);
    std::vector<TensorBatch> batches = {Batch(10), Batch(200), Batch(3000)};
    for (int64_t step = 1; step <= 4; ++step) {
      if (step == 4) batches.pop_back();  // the end of an epoch
      STOKER_ASSERT_OK_AND_ASSIGN(const HogwildTeam::Outcome outcome,
                                  team->Step(batches, kNow, step));
      EXPECT_EQ(outcome.broken, "");
      double sum = 0;
      for (const TensorBatch& batch : batches) {
        STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss, alone->Step(batch, kNow, step));
        sum += loss.item<double>();
      }
      EXPECT_NEAR(outcome.loss.item<double>(), sum / static_cast<double>(batches.size()), 1e-6);
    }
    EXPECT_TRUE(TableOf(*leader).equal(TableOf(*alone)));
    // The optimizer counts the updates of all.
    for (size_t i = 0; i < leader->StepCounts().size(); ++i)
      EXPECT_TRUE(leader->StepCounts()[i].equal(alone->StepCounts()[i]));
  }
}

TEST_F(HogwildTest, ThreadsThatShareAllRowsLearnAllTheSame) {
  const Recipe recipe = Load(4);
  const auto leader = MakeLearner(recipe);
  const auto team = MakeTeam(recipe, *leader);
  const std::vector<TensorBatch> batches(4, Batch(10));
  double first = 0, last = 0;
  for (int64_t step = 1; step <= 40; ++step) {
    STOKER_ASSERT_OK_AND_ASSIGN(const HogwildTeam::Outcome outcome,
                                team->Step(batches, kNow, step));
    last = outcome.loss.item<double>();
    if (step == 1) first = last;
  }
  EXPECT_LT(last, first / 2);
  STOKER_EXPECT_OK(leader->CheckFinite());
}

TEST_F(HogwildTest, TheLastStepOfAnEpochMayHaveFewerBatchesThanThreads) {
  const Recipe recipe = Load(3);
  const auto leader = MakeLearner(recipe);
  const auto team = MakeTeam(recipe, *leader);
  const at::Tensor before = TableOf(*leader);
  STOKER_ASSERT_OK_AND_ASSIGN(const HogwildTeam::Outcome outcome,
                              team->Step(std::vector{Batch(30)}, kNow, 1));
  EXPECT_TRUE(outcome.loss.defined());
  EXPECT_FALSE(TableOf(*leader).equal(before));
}

TEST_F(HogwildTest, ABatchThatFailsIsNamedAndTheOthersCount) {
  const Recipe recipe = Load(2);
  const auto leader = MakeLearner(recipe);
  const auto team = MakeTeam(recipe, *leader);
  TensorBatch wrong = Batch(100);
  wrong.target = wrong.target.only() + 1;
  const at::Tensor before = TableOf(*leader);
  EXPECT_THAT(team->Step(std::vector{Batch(30), wrong}, kNow, 1),
              FailsWith(StatusCode::kDataLoss, "sample 3"));
  const at::Tensor after = TableOf(*leader);
  EXPECT_FALSE(after.narrow(0, 30, 12).equal(before.narrow(0, 30, 12)));
  EXPECT_TRUE(after.narrow(0, 100, 12).equal(before.narrow(0, 100, 12)));
  STOKER_EXPECT_OK(team->Step(std::vector{Batch(30), Batch(100)}, kNow, 2));
}

TEST_F(HogwildTest, ALossThatIsNotFiniteIsToldWithItsReasonAlsoOfSeveralThreadsAtOnce) {
  const Recipe recipe = Load(2);
  const auto leader = MakeLearner(recipe);
  {
    const at::NoGradGuard no_grad;
    leader->model()
        .named_parameters()["embedding.weight"]
        .narrow(0, 100, 200)
        .fill_(std::numeric_limits<float>::quiet_NaN());
  }
  const auto team = MakeTeam(recipe, *leader);
  for (const int64_t first : {30, 200}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const HogwildTeam::Outcome outcome,
        team->Step(std::vector{Batch(first), Batch(100)}, kNow, /*step=*/1));
    EXPECT_THAT(outcome.broken, testing::HasSubstr("the loss is nan"));
  }
}

TEST_F(HogwildTest, WeightsAreAveragedOnceAStep) {
  const Recipe recipe = Load(2, {"train.average={kind: ema, decay: 0.5}"});
  Result<std::unique_ptr<Learner>> leader =
      Learner::Create(recipe, kInput, {}, {.total_steps = 10, .steps_per_epoch = 10});
  ASSERT_THAT(leader, IsOk());
  const auto team = MakeTeam(recipe, **leader);
  for (int64_t step = 1; step <= 2; ++step)
    STOKER_ASSERT_OK(team->Step(std::vector{Batch(30), Batch(100)}, kNow, step));
  const NamedTensors states = (*leader)->State();
  const auto updates = std::ranges::find(states, "averaging.updates", &NamedTensor::name);
  ASSERT_NE(updates, states.end());
  EXPECT_EQ(updates->tensor.item<int64_t>(), 2);
}

TEST_F(HogwildTest, EachThreadComputesAloneAndFlushesDenormalsAsTheCallerDoes) {
  const TorchFloatModes modes;
  FlushTorchDenormals(true);
  const Recipe recipe = Load(2);
  const auto leader = MakeLearner(recipe);
  const auto team = MakeTeam(recipe, *leader);
  int threads = 0;
  uint32_t mode = 0;
  // The sample of a wrong target is named where the step is made.
  team->NameRows([&](const SampleKey&, std::span<const int64_t>) {
    threads = torch::get_num_threads();
    mode = FloatMode();
    return "this one";
  });
  TensorBatch wrong = Batch(100);
  wrong.target = wrong.target.only() + 1;
  for (int64_t step = 1; step <= 2; ++step) {
    for (const auto& batches : {std::vector{Batch(30), wrong}, std::vector{wrong, Batch(30)}}) {
      threads = 0;
      EXPECT_THAT(team->Step(batches, kNow, step), FailsWith(StatusCode::kDataLoss, "this one"));
      EXPECT_EQ(threads, 1);
      EXPECT_EQ(mode, FloatMode());
    }
  }
  EXPECT_EQ(torch::get_num_threads(), 2);
}

}  // namespace stoker::hogwild_test
