// The key train.target of a recipe that names several.
#include "stoker/base/testing.h"
#include "stoker/run/recipe.h"

namespace stoker::target_section_test {

Result<TrainRecipe> Read(const std::string& train) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ParseYaml("train:\n  " + train, "r.yaml"));
  return ParseTrainSection(recipe);
}

TEST(Targets, AreReadEachWithItsOptionsOrderedByName) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe train,
                              Read("target: {taste: {outputs: 2, classes: [dry, sweet]}, "
                                   "price: {loss: mse, weight: 0.5, normalize: auto, log: true}}"));
  const std::vector<TargetRecipe>& targets = train.targets;
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(train.options.AllTargets(), (std::vector<std::string>{"price", "taste"}));
  EXPECT_EQ(targets[0].field, "price");
  EXPECT_EQ(targets[0].outputs, 1);
  EXPECT_EQ(targets[0].weight, .5);
  EXPECT_EQ(targets[0].loss.name, "mse");
  EXPECT_TRUE(targets[0].transform.learns && targets[0].transform.log);
  EXPECT_EQ(targets[1].field, "taste");
  EXPECT_EQ(targets[1].outputs, 2);
  EXPECT_EQ(targets[1].loss.name, "cross_entropy");
  EXPECT_EQ(targets[1].classes[1], "sweet");
}

TEST(Targets, AsTheyAreStoredAreReadAgain) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainRecipe train,
      Read("target: {b: {outputs: 3, loss: {cross_entropy: {weights: balanced}}}, "
           "a: {loss: mae, normalize: {mean: 3, std: 2}}, c: }"));
  const ConfigNode filled = train.Filled();
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe again,
                              ParseTrainSection(ConfigNode::Map({{"train", {}, filled}})));
  EXPECT_EQ(ToYamlLine(again.Filled()), ToYamlLine(filled));
  EXPECT_TRUE(again.targets[1].balanced);
  EXPECT_EQ(again.targets[0].transform.mean, std::vector<double>{3});
}

TEST(Targets, OneStaysOne) {
  for (const char* const yaml : {"target: x", "target: {x: {log: true}}", "epochs: 3"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe train, Read(yaml));
    EXPECT_TRUE(train.targets.empty());
    EXPECT_EQ(train.options.AllTargets().size(), 1u);
  }
}

TEST(Targets, AMistakeIsSaidWithItsPlace) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"target: {a: mse, b: }", "r.yaml:2:15: train.target.a: each of several targets has options"},
      {"target: {a: {output: 2}, b: }", "did you mean 'outputs'?"},
      {"target: {a: {outputs: 0}, b: }", "r.yaml:2:25: train.target.a.outputs is 0"},
      {"target: {a: {weight: 0}, b: }", "r.yaml:2:24: "},
      {"target: {a: {outputs: 2, classes: [x]}, b: }",
       "r.yaml:2:37: train.target.a: classes has 1"},
      {"target: {a: {loss: msee}, b: }", "did you mean 'mse'?"},
      {"target: {a: {outputs: 3, loss: {cross_entropy: {weights: [1, 2]}}}, b: }",
       "train.target.a: its loss has 2 weights of classes, and outputs is 3"},
      {"target: {a: {weight: 1e300}, b: }", "r.yaml:2:24: "},
      {"target: {a: {metrics: [rms]}, b: }", "did you mean 'rmse'?"},
      {"target: {a: {normalize: yes}, b: }", "r.yaml:2:27: train.target.a: normalize is"},
      {"target: {a: , b: }\n  loss: mse", "r.yaml:3:9: train.loss is that of one target"},
      {"target: {a: , b: }\n  metrics: [rmse]", "r.yaml:3:12: train.metrics is that of one target"},
      {"target: {a: {loss: mse}}", "r.yaml:2:22: train.target: 'loss' is an option of several"},
      {"target: {a: {metrics: [f1]}}", "set train.metrics"},
      {"target: {a: {outputs: 2}}", "all outputs of the model are for it"},
      {"target: {}", "r.yaml:2:11: train.target is an empty map"},
      {"target: {a: , b: }\n  checkpoint: {best: a.rmse}", "'a.rmse' is no figure"},
  };
  for (const auto& [yaml, message] : mistakes)
    EXPECT_THAT(Read(yaml), FailsWith(StatusCode::kInvalidArgument, message)) << yaml;
}

TEST(Targets, HaveFiguresOfTheirOwn) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainRecipe train,
      Read("target: {p: {loss: mse, metrics: [rmse]}, c: {outputs: 3, metrics: [f1]}}"));
  std::vector<std::string> names;
  for (const MeasuredFigure& figure : train.Figures()) {
    names.push_back(figure.name);
    const bool higher = figure.name.ends_with("accuracy") || figure.name.ends_with("f1");
    EXPECT_EQ(figure.better == Better::kHigher, higher) << figure.name;
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("c.loss", "c.accuracy", "c.f1", "p.rmse",
                                                   "p.loss", "p.accuracy"));
}

}  // namespace stoker::target_section_test
