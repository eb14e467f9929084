#include "stoker/run/recipe_changes.h"

#include "stoker/run/testing.h"

namespace stoker::recipe_changes_test {

class RecipeChangesTest : public testing::Test {
 protected:
  // Of a run begun with `begun` that goes on with `begun` and `changed`.
  RecipeChanges Changes(const std::vector<std::string>& begun, const std::string& changed) const {
    std::vector<std::string> all = begun;
    all.push_back(changed);
    return CompareRecipes(problem_.Load(begun)->Filled(), *problem_.Load(all));
  }

  const SmallProblem problem_;
};

const std::string kEvaluations[] = {"train.eval_every=2", "train.eval_every_steps=4",
                                    "train.limit_batches.eval=1", "data.eval.normalize.mean=0.4"};
const std::string kCheckpoints[] = {"train.checkpoint.every_steps=3", "train.checkpoint.best=loss",
                                    "train.checkpoint.best_mode=max"};

TEST_F(RecipeChangesTest, WhatMakesNoWeightsOtherOnesIsHarmless) {
  for (const char* const changed :
       {"data.classes=[a, b, c, d]", "train.log_every=7", "train.metrics=[f1]",
        "train.tensorboard=true", "train.feed_threads=3", "train.device_prefetch=2",
        "train.tune=off", "train.lint=false", "train.sanity=false", "train.detect_anomaly=true",
        "train.checkpoint.keep=9", "train.checkpoint.every_minutes=1",
        "train.checkpoint.async=false", "train.checkpoint.parts=true"}) {
    const RecipeChanges changes = Changes({"train.on_nonfinite=rollback"}, changed);
    EXPECT_THAT(changes.of_weights, testing::IsEmpty()) << changed;
    EXPECT_EQ(changes.harmless.size(), 1u) << changed;
  }
}

TEST_F(RecipeChangesTest, WeighingMetricsMakesNoWeightsOtherOnesUnlessEvaluationsAreFollowed) {
  const std::string weight = "train.sample_weight=w", weighted = "train.weighted_metrics=true";
  EXPECT_THAT(Changes({weight}, weighted).of_weights, testing::IsEmpty());
  EXPECT_EQ(Changes({weight}, weighted).harmless.size(), 1u);
  EXPECT_EQ(Changes({weight, "train.early_stopping.patience=2"}, weighted).of_weights.size(), 1u);
}

TEST_F(RecipeChangesTest, OfSeveralTargetsMetricsAndNamesMakeNoWeightsOtherOnes) {
  const std::vector<std::string> begun = {
      "train.target={label: {outputs: 3}, size: {loss: mse, metrics: [rmse]}}", "data.classes=[]"};
  for (const char* const harmless :
       {"train.target.label.metrics=[f1]", "train.target.label.classes=[a, b, c]"})
    EXPECT_THAT(Changes(begun, harmless).of_weights, testing::IsEmpty()) << harmless;
  for (const char* const changed : {"train.target.label.weight=2", "train.target.size.loss=mae",
                                    "train.target.label.outputs=4"})
    EXPECT_FALSE(Changes(begun, changed).of_weights.empty()) << changed;
  std::vector<std::string> followed = begun;
  followed.push_back("train.early_stopping={metric: size.rmse, patience: 2}");
  EXPECT_EQ(Changes(followed, "train.target.size.metrics=[rmse, mae]").of_weights.size(), 1u);
}

TEST_F(RecipeChangesTest, EvaluationsMatterWhereSomethingFollowsThem) {
  for (const std::string& changed : kEvaluations) {
    EXPECT_THAT(Changes({}, changed).of_weights, testing::IsEmpty()) << changed;
    EXPECT_THAT(Changes({"train.checkpoint.best=loss"}, changed).of_weights, testing::IsEmpty());
    const std::string key = changed.substr(0, changed.find('='));
    for (const std::vector<std::string>& followed :
         {std::vector<std::string>{"train.schedule={plateau: {lr: 0.01}}"},
          {"train.early_stopping.patience=2"},
          {"train.early_stopping.goal=0.1"},
          {"train.on_nonfinite=rollback", "train.checkpoint.best=loss"}}) {
      const RecipeChanges changes = Changes(followed, changed);
      ASSERT_EQ(changes.of_weights.size(), 1u) << changed << " with " << followed[0];
      EXPECT_THAT(changes.of_weights[0], testing::StartsWith(key.substr(0, 9)));
    }
  }
}

TEST_F(RecipeChangesTest, MetricsMatterWhereSomethingFollowsOne) {
  const std::string metrics = "train.metrics=[f1]", changed = "train.metrics=[top2, f1]";
  EXPECT_THAT(Changes({metrics, "train.early_stopping.patience=2"}, changed).of_weights,
              testing::IsEmpty());
  for (const std::vector<std::string>& followed :
       {std::vector<std::string>{metrics, "train.early_stopping={metric: f1, patience: 2}"},
        {metrics, "train.on_nonfinite=rollback", "train.checkpoint.best=f1"}}) {
    EXPECT_EQ(Changes(followed, changed).of_weights.size(), 1u) << followed[1];
  }
}

TEST_F(RecipeChangesTest, PlannedCheckpointsMatterWhereARunGoesBackToThem) {
  for (const std::string& changed : kCheckpoints) {
    EXPECT_THAT(Changes({}, changed).of_weights, testing::IsEmpty()) << changed;
    EXPECT_THAT(Changes({"train.on_nonfinite=skip"}, changed).of_weights, testing::IsEmpty());
    EXPECT_EQ(Changes({"train.on_nonfinite=rollback"}, changed).of_weights.size(), 1u) << changed;
  }
}

TEST_F(RecipeChangesTest, AllElseMatters) {
  for (const char* const changed :
       {"train.epochs=5", "train.seed=2", "train.on_nonfinite=skip", "train.accumulate=2",
        "train.early_stopping.patience=2", "train.limit_batches.train=2", "train.average=ema",
        "train.callbacks=[{stop_at: {step: 3}}]", "model.mlp.dropout=0.5", "train.clip.norm=1",
        "data.train.normalize.mean=0.4", "train.precision=bf16", "train.tf32=false"}) {
    const RecipeChanges changes = Changes({}, changed);
    EXPECT_FALSE(changes.of_weights.empty()) << changed;
    EXPECT_THAT(changes.harmless, testing::IsEmpty()) << changed;
  }
}

// As in a run of a Stoker that did not have them yet.
TEST_F(RecipeChangesTest, KeysThatTheRunsRecipeDoesNotHaveCountAtTheirDefaults) {
  const auto changes = [&](const std::vector<std::string>& now) {
    ConfigNode before = problem_.Load({})->Filled();
    for (ConfigNode::Entry& section : before.entries) {
      if (section.key == "train") {
        std::erase_if(section.value.entries, [](const auto& e) { return e.key == "denormals"; });
      }
      if (section.key == "model") {
        std::erase_if(section.value.entries[0].value.entries,
                      [](const auto& e) { return e.key == "activation"; });
      }
    }
    return CompareRecipes(before, *problem_.Load(now));
  };
  EXPECT_FALSE(changes({}).any());
  EXPECT_THAT(changes({"train.denormals=keep"}).of_weights,
              testing::ElementsAre("train.denormals: auto -> keep"));
  EXPECT_THAT(changes({"model.mlp.activation=tanh"}).of_weights,
              testing::ElementsAre("model.mlp.activation: relu -> tanh"));
}

// Options inside options, such as those of each feature of a row.
TEST_F(RecipeChangesTest, OptionsOfFieldsThatTheRunsRecipeDoesNotHaveCountAtTheirDefaultsToo) {
  const auto loaded = [&](const std::string& more) {
    return problem_.Load({fmt::format(
        "data.train.2={{feature_row: {{features: {{label: {{is: category, categories: 4{}}}}}}}}}",
        more)});
  };
  ConfigNode before = loaded("")->Filled();
  size_t taken_out = 0;
  for (ConfigNode::Entry& section : before.entries) {
    if (section.key != "data") continue;
    for (ConfigNode::Entry& pipeline : section.value.entries) {
      if (pipeline.key != "train") continue;
      ConfigNode::Entry& stage = pipeline.value.items[2].entries[0];
      for (ConfigNode::Entry& option : stage.value.entries) {
        if (option.key != "features") continue;
        taken_out += std::erase_if(option.value.entries[0].value.entries, [](const auto& e) {
          return e.key == "most" || e.key == "longer";
        });
      }
    }
  }
  EXPECT_EQ(taken_out, 2u);
  EXPECT_FALSE(CompareRecipes(before, *loaded("")).any());
  EXPECT_EQ(CompareRecipes(before, *loaded(", embedding: 3")).of_weights.size(), 1u);
}

TEST_F(RecipeChangesTest, WhatTheChoicesDependOnIsChosenAgain) {
  EXPECT_TRUE(Changes({}, "train.denormals=keep").choose_again);
  EXPECT_TRUE(Changes({}, "train.threads=2").choose_again);
  EXPECT_TRUE(Changes({}, "train.precision=bf16").choose_again);
  EXPECT_FALSE(Changes({}, "train.log_every=7").choose_again);
}

}  // namespace stoker::recipe_changes_test
