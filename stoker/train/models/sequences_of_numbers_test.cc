// Recurrent models over sequences of numbers, of one length and ragged: the scores are those that
// torch's cells give each sequence by itself.
#include <torch/nn/functional/linear.h>
#include <torch/nn/modules/rnn.h>
#include <torch/utils.h>

#include "stoker/base/config.h"
#include "stoker/base/testing.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/sample_of_zeros.h"
#include "stoker/train/models/gru.h"
#include "stoker/train/models/lstm.h"
#include "stoker/train/step/learner.h"

namespace stoker::sequences_of_numbers_test {

constexpr ModelInput kWindows{.channels = 1, .height = 6, .width = 4};
constexpr ModelInput kRagged{.channels = 4, .steps = true};

template <typename Kind>
std::shared_ptr<Model> Built(const Kind& kind, const ModelInput& input) {
  auto model = BuildModel(Configure(kind), input, /*seed=*/1, {});
  EXPECT_THAT(model, IsOk());
  (*model)->eval();
  return *std::move(model);
}

// A sequence by itself, [length, numbers], through torch's modules with the model's weights.
template <typename Cells, typename CellOptions, typename Kind>
at::Tensor TorchsScores(const Kind& kind, const Model& model, const at::Tensor& sequence) {
  const auto parameters = model.named_parameters();
  Cells cells(CellOptions(sequence.size(1), kind.units)
                  .num_layers(kind.layers)
                  .bidirectional(kind.bidirectional)
                  .batch_first(true));
  for (auto& parameter : cells->named_parameters())
    parameter.value().copy_(parameters["recurrent." + parameter.key()]);
  const at::Tensor out = std::get<0>(cells->forward(sequence.unsqueeze(0)))[0];
  at::Tensor last = out[-1];
  // The backward direction ends at the first step.
  if (kind.bidirectional)
    last = torch::cat({last.narrow(0, 0, kind.units), out[0].narrow(0, kind.units, kind.units)});
  return torch::nn::functional::linear(last, parameters["head.weight"], parameters["head.bias"]);
}

template <typename Cells, typename CellOptions, typename Kind>
void ExpectTorchsScores(const Kind& kind) {
  const torch::NoGradGuard no_grad;
  const auto expected = [&](const Model& model, const at::Tensor& sequence) {
    return TorchsScores<Cells, CellOptions>(kind, model, sequence);
  };

  const auto windows = Built(kind, kWindows);
  const at::Tensor batch = torch::randn({3, 6, 4});
  const at::Tensor scores = windows->Forward(batch);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(torch::allclose(scores[i], expected(*windows, batch[i]), 1e-4, 1e-5)) << i;

  const auto ragged = Built(kind, kRagged);
  const at::Tensor values = torch::randn({9, 4});
  const at::Tensor of_ragged =
      ragged->ForwardAll(Inputs::WithOffsets(values, torch::tensor({0, 2, 2, 7, 9}, torch::kLong)));
  ASSERT_EQ(of_ragged.size(0), 4);
  const std::vector<std::pair<int64_t, int64_t>> places = {{0, 2}, {2, 0}, {2, 5}, {7, 2}};
  for (size_t i = 0; i < places.size(); ++i) {
    const auto [begin, length] = places[i];
    // One without a step is a step of zeros.
    const at::Tensor own = length == 0 ? torch::zeros({1, 4}) : values.narrow(0, begin, length);
    EXPECT_TRUE(
        torch::allclose(of_ragged[static_cast<int64_t>(i)], expected(*ragged, own), 1e-4, 1e-5))
        << i;
  }
}

TEST(SequencesOfNumbers, HaveTheScoresOfTorchsCellsOverEachByItself) {
  for (const int64_t layers : {1, 2}) {
    for (const bool bidirectional : {false, true}) {
      ExpectTorchsScores<torch::nn::LSTM, torch::nn::LSTMOptions>(
          Lstm{.classes = 3, .units = 7, .layers = layers, .bidirectional = bidirectional});
      ExpectTorchsScores<torch::nn::GRU, torch::nn::GRUOptions>(
          Gru{.classes = 3, .units = 7, .layers = layers, .bidirectional = bidirectional});
    }
  }
}

TEST(SequencesOfNumbers, OfOneNumberAStepMayHaveNoDimensionForIt) {
  const torch::NoGradGuard no_grad;
  const auto model = Built(Gru{.classes = 2, .units = 5}, {.channels = 6});
  const at::Tensor batch = torch::randn({3, 6});
  EXPECT_TRUE(torch::equal(model->Forward(batch), model->Forward(batch.unsqueeze(2))));

  const auto ragged = Built(Gru{.classes = 2, .units = 5}, {.channels = 1, .steps = true});
  const at::Tensor values = torch::randn({5}), places = torch::tensor({0, 3, 5}, torch::kLong);
  EXPECT_TRUE(torch::equal(ragged->ForwardAll(Inputs::WithOffsets(values, places)),
                           ragged->ForwardAll(Inputs::WithOffsets(values.unsqueeze(1), places))));
}

TEST(SequencesOfNumbers, OfWhichNoneHasAStepHaveScores) {
  const torch::NoGradGuard no_grad;
  const auto model = Built(Lstm{.classes = 2, .units = 5}, kRagged);
  const Inputs none =
      Inputs::WithOffsets(torch::zeros({0, 4}), torch::tensor({0, 0, 0}, torch::kLong));
  EXPECT_TRUE(torch::equal(model->ForwardAll(none)[1], model->Forward(torch::zeros({1, 1, 4}))[0]));
}

TEST(SequencesOfNumbers, OfWhichThereAreNoneHaveNoScoresAndNoGradients) {
  for (const ModelInput& input : {kWindows, kRagged}) {
    const auto model = Built(Gru{.classes = 2, .units = 5, .bidirectional = true}, input);
    const Inputs none =
        input.steps ? Inputs::WithOffsets(torch::zeros({0, 4}), torch::zeros({1}, torch::kLong))
                    : Inputs(torch::zeros({0, 6, 4}));
    const at::Tensor scores = model->ForwardAllToTrain(none).scores;
    EXPECT_EQ(scores.sizes(), (std::vector<int64_t>{0, 2}));
    scores.sum().backward();
    EXPECT_EQ(model->named_parameters()["head.weight"].grad().abs().sum().item<float>(), 0);
  }
}

TEST(SequencesOfNumbers, HaveTheGradientsOfEachByItself) {
  const auto ragged = Built(Lstm{.classes = 2, .units = 5, .layers = 2}, kRagged);
  const at::Tensor values = torch::randn({7, 4});
  const at::Tensor places = torch::tensor({0, 3, 4, 7}, torch::kLong);
  ragged->ForwardAllToTrain(Inputs::WithOffsets(values, places)).scores.square().sum().backward();
  std::vector<at::Tensor> together;
  for (const at::Tensor& parameter : ragged->parameters())
    together.push_back(parameter.grad().clone());
  ragged->zero_grad();
  for (int64_t i = 0; i < 3; ++i) {
    const auto begin = places[i].item<int64_t>(), end = places[i + 1].item<int64_t>();
    ragged->Forward(values.narrow(0, begin, end - begin).unsqueeze(0)).square().sum().backward();
  }
  size_t number = 0;
  for (const at::Tensor& parameter : ragged->parameters())
    EXPECT_TRUE(torch::allclose(parameter.grad(), together[number++], 1e-4, 1e-5)) << number;
}

TEST(SequencesOfNumbers, HaveNoTableOfTokens) {
  const auto model = Built(Gru{.classes = 2, .units = 5}, kWindows);
  EXPECT_FALSE(model->Tokens().has_value());
  EXPECT_TRUE(model->VectorTables().empty());
  EXPECT_TRUE(model->ReadsSequences());
  EXPECT_FALSE(model->named_parameters().contains("embedding.weight"));
}

TEST(SequencesOfNumbers, HaveASampleOfZeros) {
  const torch::NoGradGuard no_grad;
  for (const ModelInput& input : {kWindows, kRagged}) {
    const auto model = Built(Lstm{.classes = 2, .units = 5}, input);
    EXPECT_EQ(model->ForwardAll(SampleOfZeros(input)).sizes(), (std::vector<int64_t>{1, 2}));
  }
  const Inputs both = SampleOfZeros({.parts = {kWindows, kRagged}});
  EXPECT_FALSE(both.ragged(0));
  EXPECT_TRUE(both.ragged(1));
}

// As a recipe names it, so that what it takes is checked.
Status StatusOf(const char* model, const ModelInput& input) {
  return BuildModel(*ModelRegistry::Known().Parse(*ParseYaml(model, "m.yaml")), input, /*seed=*/1,
                    {})
      .status();
}

TEST(SequencesOfNumbers, AreRefusedWhereTheyAreNoneOrTheModelTakesOthers) {
  const auto refused = [](std::string_view says) {
    return FailsWith(StatusCode::kInvalidArgument, std::string(says));
  };
  STOKER_EXPECT_OK(StatusOf("gru", kWindows));
  STOKER_EXPECT_OK(StatusOf("lstm", kRagged));
  EXPECT_THAT(StatusOf("gru: {tokens: 9}", kWindows),
              refused("gru: tokens, width and padding are for"));
  EXPECT_THAT(StatusOf("lstm: {padding: 1}", kRagged), refused("4 numbers a step; leave them out"));
  EXPECT_THAT(StatusOf("gru", {.channels = 3, .height = 8, .width = 8}),
              refused("gru takes sequences of tokens or of"));
  EXPECT_THAT(StatusOf("gru", {.channels = 1, .height = 8, .width = 0}),
              refused("holds samples of 1 x 8 x 0"));
  const FeatureLayout columns{.columns = {{.name = "size", .slots = 3}}};
  EXPECT_THAT(StatusOf("gru", {.channels = 3, .features = columns}),
              refused("rows of features, which have no order"));
  EXPECT_THAT(StatusOf("mlp", kRagged), refused("ragged: sequences of 4 numbers a step"));
  EXPECT_THAT(StatusOf("embedding_bag", kRagged),
              refused("embedding_bag takes sequences of tokens"));
  EXPECT_THAT(StatusOf("embedding_bag", kWindows),
              refused("or take lstm or gru for sequences of num"));
}

}  // namespace stoker::sequences_of_numbers_test
