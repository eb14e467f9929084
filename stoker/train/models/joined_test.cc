// Several inputs, each through a model of its own.
#include "stoker/train/models/joined.h"

#include <ATen/ops/cat.h>

#include "stoker/base/testing.h"
#include "stoker/run/build_kind.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/embedding_bag.h"
#include "stoker/train/models/mlp.h"
#include "stoker/train/step/learner.h"

namespace stoker::joined_test {

using testing::AllOf;
using testing::HasSubstr;

const ModelInput kRow{.channels = 5, .name = "row"};
const ModelInput kWords{.channels = 0, .tokens = true, .name = "words"};
const ModelInput kBoth{.parts = {kRow, kWords}};

Joined Both() {
  return {.towers = {{"words", Configure(EmbeddingBag{.classes = 3, .tokens = 20, .width = 8})},
                     {"row", Configure(Mlp{.classes = 4, .hidden = {6}})}},
          .classes = 2,
          .hidden = {7}};
}

TEST(Joined, GivesWhatTheTowersGiveToTheLayersInTheOrderOfTheInputs) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto model, BuildModel(Configure(Both()), kBoth, 1, {}));
  const at::Tensor row = torch::randn({6, 5});
  const at::Tensor words = torch::randint(1, 20, {6, 4});
  std::map<std::string, at::Tensor> state;
  for (const auto& [name, tensor] : StateOf(*model)) state[name] = tensor;
  for (const char* name :
       {"towers.row.1.weight", "towers.row.3.bias", "layers.0.weight", "layers.1.bias"})
    EXPECT_TRUE(state.contains(name)) << name;
  EXPECT_EQ(state["layers.0.weight"].sizes(), (std::vector<int64_t>{7, 4 + 3}));

  // The towers alone, with the same weights.
  const auto tower = [&](const auto& kind, const ModelInput& input, const std::string& prefix) {
    const auto made = *BuildModel(Configure(kind), input, 9, {});
    const at::NoGradGuard no_grad;
    for (const auto& [name, tensor] : StateOf(*made)) tensor.copy_(state.at(prefix + name));
    return made;
  };
  const auto of_row = tower(Mlp{.classes = 4, .hidden = {6}}, kRow, "towers.row.");
  const auto of_words =
      tower(EmbeddingBag{.classes = 3, .tokens = 20, .width = 8}, kWords, "towers.words.");
  at::Tensor x = at::cat({of_row->Forward(row), of_words->Forward(words)}, 1).relu();
  x = torch::addmm(state["layers.0.bias"], x, state["layers.0.weight"].t()).relu();
  x = torch::addmm(state["layers.1.bias"], x, state["layers.1.weight"].t());
  EXPECT_TRUE(torch::allclose(model->ForwardAll(Inputs({row, words})), x, 1e-5, 1e-6));
}

TEST(Joined, GivesARaggedInputToItsTowerWithItsOffsets) {
  const at::Tensor row = torch::randn({3, 5});
  const at::Tensor words = torch::tensor({{1, 2, 0}, {0, 0, 0}, {3, 4, 5}}, torch::kLong);
  Inputs ragged(row);
  ragged.Add(torch::tensor({1, 2, 3, 4, 5}, torch::kLong),
             torch::tensor({0, 2, 2, 5}, torch::kLong));
  for (const bool kept : {false, true}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto model, BuildModel(Configure(Both()), kBoth, 1, {}));
    if (kept) {
      STOKER_ASSERT_OK(model->CheckpointActivations({"towers.*"}));
    }
    const at::Tensor scores = model->ForwardAll(ragged);
    EXPECT_TRUE(torch::allclose(scores, model->ForwardAll(Inputs({row, words})), 1e-5, 1e-6));
    scores.sum().backward();
    for (const auto& [name, tensor] : ParametersOf(*model))
      EXPECT_TRUE(tensor.grad().defined()) << name;
  }
}

TEST(Joined, SaysWhichTokensEachInputKnows) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto model, BuildModel(Configure(Both()), kBoth, 1, {}));
  const TokensByInput known = model->TokensOfAll();
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known[0], std::nullopt);
  ASSERT_TRUE(known[1].has_value());
  EXPECT_EQ(known[1]->count, 20);
}

TEST(Joined, KeepsOnlyTheInputsOfTheTowersThatAreNamed) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto model, BuildModel(Configure(Both()), kBoth, 1, {}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto kept, BuildModel(Configure(Both()), kBoth, 1, {}));
  STOKER_ASSERT_OK(kept->CheckpointActivations({"towers.*"}));
  const Inputs inputs({torch::randn({6, 5}), torch::randint(1, 20, {6, 4})});
  for (const auto& each : {model, kept}) each->ForwardAll(inputs).sum().backward();
  const NamedTensors a = ParametersOf(*model), b = ParametersOf(*kept);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(torch::equal(a[i].tensor.grad(), b[i].tensor.grad())) << a[i].name;
}

TEST(Joined, NeedsATowerForEachInputAndNoOther) {
  Joined other = Both();
  other.towers = {{"words", Configure(EmbeddingBag{})}, {"rows", Configure(Mlp{})}};
  EXPECT_THAT(BuildModel(Configure(other), kBoth, 1, {}),
              FailsWith(StatusCode::kInvalidArgument,
                        "its towers are words, rows, and train.input names row, words"));
}

TEST(Joined, ATowerThatDoesNotTakeItsInputIsNamed) {
  const auto parsed = ParseYaml("joined: {towers: {words: mlp, row: mlp}}", "r.yaml");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto kind, ModelRegistry::Known().Parse(*parsed));
  EXPECT_THAT(BuildModel(kind, kBoth, 1, {}),
              FailsWith(StatusCode::kInvalidArgument,
                        "r.yaml:1:26: while building the tower words: mlp takes numbers"));
}

TEST(Joined, TakesNoSingleInputAndOtherModelsNotSeveral) {
  const auto parse = [](const char* yaml) {
    return *ModelRegistry::Known().Parse(*ParseYaml(yaml, "r.yaml"));
  };
  EXPECT_THAT(
      BuildModel(parse("joined: {towers: {row: mlp}}"), kRow, 1, {}),
      FailsWith(StatusCode::kInvalidArgument,
                "joined takes several inputs, each by its name (train.input: {NAME: FIELD"));
  EXPECT_THAT(
      BuildModel(parse("mlp"), kBoth, 1, {}),
      FailsWith(StatusCode::kInvalidArgument,
                "mlp takes one input, and train.input names 2, row: 5 x 1 x 1, words: tokens"));
}

TEST(Joined, IsReadAndWrittenWithItsTowersAndTheirMistakesHavePlaces) {
  const auto parse = [](const char* yaml) {
    return ModelRegistry::Known().Parse(*ParseYaml(yaml, "r.yaml"));
  };
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto kind, parse("joined: {towers: {row: {mlp: {classes: 4}}, words: embedding_bag}}"));
  const ConfigNode& options = kind.node.entries.front().value;
  EXPECT_EQ(options.Find("towers")->Find("row")->Find("mlp")->Find("classes")->scalar, "4");
  STOKER_EXPECT_OK(ModelRegistry::Known().Parse(kind.node));
  EXPECT_THAT(
      parse("joined: {towers: {row: mpl}}"),
      FailsWith(StatusCode::kInvalidArgument, "r.yaml:1:24: joined.towers: unknown model 'mpl'"));
  EXPECT_THAT(parse("joined: {towers: [mlp]}"),
              FailsWith(StatusCode::kInvalidArgument, "is no map of models"));
  EXPECT_THAT(parse("joined: {}"), FailsWith(StatusCode::kInvalidArgument, "towers"));
}

}  // namespace stoker::joined_test
