// What a checkpoint's contents are made of: tensors by name, random state, losses, progress.
#include <torch/utils.h>

#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/run/progress.h"
#include "stoker/train/core/named_tensor.h"
#include "stoker/train/loop/loss_log.h"
#include "stoker/train/step/random_state.h"

namespace stoker::training_state_test {

double TakeMean(LossLog& log) {
  const double mean = log.mean();
  log.Clear();
  return mean;
}

TEST(NamedTensors, GoToArraysAndBackWhateverTheirLayout) {
  const at::Tensor values = torch::randn({2, 3, 4, 5});
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto arrays,
      ToNamedArrays({{"w", values.contiguous(at::MemoryFormat::ChannelsLast)}}, "model."));
  EXPECT_EQ(arrays[0].name, "model.w");
  const at::Tensor target = torch::zeros_like(values).contiguous(at::MemoryFormat::ChannelsLast);
  STOKER_ASSERT_OK(CopyArraysInto({{"w", target}}, arrays, "model.", "here"));
  EXPECT_TRUE(torch::equal(target, values));
  EXPECT_TRUE(target.is_contiguous(at::MemoryFormat::ChannelsLast));
}

struct MisfitCase {
  const char* name;
  NamedTensors tensors;
  const char* says;
};

TEST(NamedTensors, ArraysThatDoNotFitAreNamedAndNothingIsCopied) {
  const std::vector<NamedArray> arrays = {{"model.a", Array::Of<float>(std::vector<float>{1, 2})},
                                          {"model.b", Array::Of<float>(std::vector<float>{3})},
                                          {"optimizer.x", Array::Of<float>(std::vector<float>{4})}};
  const at::Tensor two = torch::zeros({2}), one = torch::zeros({1});
  const MisfitCase cases[] = {
      {"missing", {{"a", two}, {"b", one}, {"c", one}}, "c is missing"},
      {"shape", {{"a", two}, {"b", two}}, "b is float32[1], the model has float32[2]"},
      {"type", {{"a", two.to(torch::kDouble)}, {"b", one}}, "the model has float64[2]"},
      {"too many", {{"a", two}}, "b belongs to nothing here"},
  };
  for (const MisfitCase& broken : cases) {
    SCOPED_TRACE(broken.name);
    EXPECT_THAT(CopyArraysInto(broken.tensors, arrays, "model.", "the file"),
                FailsWith(StatusCode::kFailedPrecondition, broken.says));
    EXPECT_EQ(two.sum().item<float>(), 0);
  }
}

TEST(NamedTensors, OfManyMisfitsAFewAreNamedAndTheOthersCounted) {
  NamedTensors many;
  for (int i = 0; i < 9; ++i) many.push_back({std::to_string(i), torch::zeros({1})});
  EXPECT_THAT(CopyArraysInto(many, {}, "", "the file"),
              FailsWith(StatusCode::kFailedPrecondition, "4 is missing; and 4 more"));
}

TEST(RandomState, RestoredItGivesTheSameNumbersAgain) {
  torch::manual_seed(3);
  torch::rand({5});
  const Json state = SaveRandomState(torch::kCPU);
  const at::Tensor expected = torch::rand({5});
  torch::manual_seed(4);
  // Through text, as a checkpoint stores it.
  STOKER_ASSERT_OK(RestoreRandomState(Json::parse(state.dump()), torch::kCPU));
  EXPECT_TRUE(torch::equal(torch::rand({5}), expected));
}

TEST(RandomState, WhatIsNoStateIsRefused) {
  for (const char* text : {"{}", "[]", "3", R"({"cpu": 3})", R"({"cpu": "abc"})",
                           R"({"cpu": "zz"})", R"({"cpu": ""})", R"({"cpu": "00"})"}) {
    EXPECT_THAT(RestoreRandomState(Json::parse(text), torch::kCPU),
                FailsWith(StatusCode::kDataLoss, "random state of cpu"))
        << text;
  }
}

TEST(LossLog, GivesTheMeanSinceTheLastOne) {
  LossLog log;
  EXPECT_TRUE(std::isnan(TakeMean(log)));
  STOKER_ASSERT_OK(log.Add(1, torch::tensor(1.0f)));
  STOKER_ASSERT_OK(log.Add(2, torch::tensor(2.0f)));
  EXPECT_EQ(log.last(), 2);
  EXPECT_EQ(TakeMean(log), 1.5);
  STOKER_ASSERT_OK(log.Add(3, torch::tensor(7.0f)));
  EXPECT_EQ(TakeMean(log), 7);
}

TEST(LossLog, NamesTheStepAtWhichTheLossBroke) {
  LossLog log;
  STOKER_ASSERT_OK(log.Add(1, torch::tensor(1.0f)));
  EXPECT_THAT(log.Add(2, torch::tensor(NAN)),
              FailsWith(StatusCode::kFailedPrecondition, "step 2: the loss is nan"));
  EXPECT_THAT(LossLog().Add(5, torch::tensor(INFINITY)),
              FailsWith(StatusCode::kFailedPrecondition, "step 5: the loss is inf"));
}

TEST(LossLog, ContinuesAfterSavingAndRestoring) {
  LossLog log, restored;
  STOKER_ASSERT_OK(log.Add(1, torch::tensor(0.1f)));
  STOKER_ASSERT_OK(restored.Restore(Json::parse(log.Save().dump())));
  for (LossLog* each : {&log, &restored}) STOKER_ASSERT_OK(each->Add(2, torch::tensor(0.7f)));
  EXPECT_EQ(TakeMean(log), TakeMean(restored));
  EXPECT_THAT(restored.Restore({}), FailsWith(StatusCode::kDataLoss, "missing"));
}

TEST(Progress, GoesToJsonAndBack) {
  Progress progress{.step = 7, .closed_step = 6, .last_evaluation = {}, .best_accuracy = 0.75};
  for (int round = 0; round < 2; ++round) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Progress back,
                                Progress::FromJson(Json::parse(progress.ToJson().dump())));
    EXPECT_EQ(back.ToJson(), progress.ToJson());
    progress.last_evaluation = Evaluation{.samples = 3, .loss = 0.1, .accuracy = 0.5, .seconds = 2};
  }
}

TEST(Progress, EvaluationsOfNumbersHaveNoAccuracy) {
  const Progress progress{.last_evaluation = Evaluation{.samples = 3, .loss = 0.1},
                          .best_loss = 0.05};
  const Json json = Json::parse(progress.ToJson().dump());
  EXPECT_FALSE(json["last_evaluation"].contains("accuracy"));
  EXPECT_TRUE(json["best_accuracy"].is_null());
  STOKER_ASSERT_OK_AND_ASSIGN(const Progress back, Progress::FromJson(json));
  EXPECT_EQ(back.last_evaluation->accuracy, std::nullopt);
  EXPECT_EQ(back.best_accuracy, std::nullopt);
  EXPECT_EQ(back.best_loss, 0.05);
}

TEST(Progress, WhatIsMissingIsNamed) {
  for (const char* key : {"step", "closed_step", "best_accuracy", "last_evaluation"}) {
    Json json = Progress().ToJson();
    json.erase(key);
    EXPECT_THAT(Progress::FromJson(json), FailsWith(StatusCode::kDataLoss, key));
  }
  EXPECT_FALSE(Progress::FromJson(Json::array()).ok());
}

}  // namespace stoker::training_state_test
