// Models of sequences: what pads a sequence counts nothing, and the rest is what torch computes.
#include <torch/nn/functional/linear.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/rnn.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/token_check.h"
#include "stoker/train/models/embedding_bag.h"
#include "stoker/train/models/gru.h"
#include "stoker/train/models/lstm.h"
#include "stoker/train/step/learner.h"

namespace stoker::sequences_test {

constexpr ModelInput kTokens{.channels = 0, .tokens = true};

template <typename Kind>
std::shared_ptr<Model> Built(const Kind& kind) {
  auto model = BuildModel(Configure(kind), kTokens, /*seed=*/1, {});
  EXPECT_THAT(model, IsOk());
  (*model)->eval();
  return *std::move(model);
}

at::Tensor TokensOf(const std::vector<std::vector<int64_t>>& rows) {
  const auto samples = static_cast<int64_t>(rows.size());
  at::Tensor tokens = torch::zeros({samples, static_cast<int64_t>(rows[0].size())}, torch::kLong);
  for (int64_t r = 0; r < samples; ++r)
    tokens[r] = torch::tensor(rows[static_cast<size_t>(r)], torch::kLong);
  return tokens;
}

std::vector<std::pair<std::string, std::shared_ptr<Model>>> AllModels(int64_t padding) {
  std::vector<std::pair<std::string, std::shared_ptr<Model>>> models;
  for (const char* const combine : {"mean", "sum", "sqrtn", "max"}) {
    models.emplace_back(combine, Built(EmbeddingBag{.classes = 3,
                                                    .tokens = 20,
                                                    .width = 8,
                                                    .padding = padding,
                                                    .combine = combine,
                                                    .hidden = {6}}));
  }
  for (const bool bidirectional : {false, true}) {
    const std::string how = bidirectional ? "both ways" : "one way";
    models.emplace_back("lstm " + how, Built(Lstm{.classes = 3,
                                                  .tokens = 20,
                                                  .width = 8,
                                                  .padding = padding,
                                                  .units = 5,
                                                  .layers = 2,
                                                  .bidirectional = bidirectional}));
    models.emplace_back("gru " + how, Built(Gru{.classes = 3,
                                                .tokens = 20,
                                                .width = 8,
                                                .padding = padding,
                                                .units = 5,
                                                .layers = 2,
                                                .bidirectional = bidirectional}));
  }
  return models;
}

TEST(SequenceModels, GiveASampleTheSameScoresAloneAndFilledUpInAnyBatch) {
  const torch::NoGradGuard no_grad;
  for (const int64_t padding : {0, -1, 7}) {
    const std::vector<int64_t> sample = {3, 9, 12};
    const at::Tensor alone = TokensOf({sample});
    const at::Tensor batch = TokensOf({{5, 1, 2, 4, 6, 8, 11},
                                       {3, 9, 12, padding, padding, padding, padding},
                                       {13, padding, padding, padding, padding, padding, padding},
                                       {19, 18, 17, 16, 15, padding, padding}});
    for (const auto& [name, model] : AllModels(padding)) {
      const at::Tensor scores = model->Forward(alone), of_batch = model->Forward(batch);
      EXPECT_EQ(scores.sizes(), (std::vector<int64_t>{1, 3})) << name;
      EXPECT_TRUE(torch::allclose(scores[0], of_batch[1], 1e-5, 1e-6)) << name << " " << padding;
    }
  }
}

// The same sequences, one after the other; what fills them up at the end is left out.
Inputs RaggedOf(const std::vector<std::vector<int64_t>>& rows, int64_t padding) {
  std::vector<int64_t> values, offsets = {0};
  for (const std::vector<int64_t>& row : rows) {
    auto end = row.end();
    while (end != row.begin() && end[-1] == padding) --end;
    values.insert(values.end(), row.begin(), end);
    offsets.push_back(static_cast<int64_t>(values.size()));
  }
  return Inputs::WithOffsets(torch::tensor(values, torch::kLong),
                             torch::tensor(offsets, torch::kLong));
}

TEST(SequenceModels, GiveRaggedSequencesTheScoresAndGradientsOfPaddedOnes) {
  for (const int64_t padding : {0, -1, 7}) {
    // One has padding between its tokens, and one none but padding.
    const std::vector<std::vector<int64_t>> rows = {
        {5, 1, padding, 4, 6, 8, 11},
        {3, 9, 12, padding, padding, padding, padding},
        {padding, padding, padding, padding, padding, padding, padding},
        {19, 18, 17, 16, 15, padding, padding}};
    const auto padded = AllModels(padding), ragged = AllModels(padding);
    for (size_t i = 0; i < padded.size(); ++i) {
      SCOPED_TRACE(fmt::format("{}, padding {}", padded[i].first, padding));
      const at::Tensor expected = padded[i].second->ForwardAll(TokensOf(rows));
      const at::Tensor scores = ragged[i].second->ForwardAll(RaggedOf(rows, padding));
      EXPECT_TRUE(torch::allclose(scores, expected, 1e-5, 1e-6));
      expected.square().sum().backward();
      scores.square().sum().backward();
      const NamedTensors wanted = ParametersOf(*padded[i].second);
      const NamedTensors got = ParametersOf(*ragged[i].second);
      for (size_t p = 0; p < wanted.size(); ++p) {
        EXPECT_TRUE(torch::allclose(got[p].tensor.grad(), wanted[p].tensor.grad(), 1e-4, 1e-5))
            << wanted[p].name;
      }
    }
  }
}

TEST(SequenceModels, TakeRaggedBatchesWithoutAnyToken) {
  for (const auto& [name, model] : AllModels(/*padding=*/0)) {
    const at::Tensor scores = model->ForwardAll(RaggedOf({{}, {}}, /*padding=*/0));
    EXPECT_EQ(scores.sizes(), (std::vector<int64_t>{2, 3})) << name;
    EXPECT_TRUE(torch::isfinite(scores).all().item<bool>()) << name;
  }
}

TEST(SequenceModels, NameTheSampleOfARaggedTokenThatTheyDoNotKnow) {
  for (const auto& [name, model] : AllModels(/*padding=*/0)) {
    const Status status = CatchTorchErrors([&, &model = model] {
      model->ForwardAll(RaggedOf({{1, 2}, {}, {3, 20}, {4}}, /*padding=*/0));
    });
    EXPECT_THAT(status.message(), testing::HasSubstr("sample 2 of the batch has the token 20"))
        << name;
  }
}

// The mask makes the difference: numbers that count as tokens change the scores.
TEST(SequenceModels, ReadWhatFillsUpAsTokensIfItIsNotTheirPadding) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, model] : AllModels(/*padding=*/-1)) {
    const at::Tensor alone = model->Forward(TokensOf({{3, 9, 12}}));
    const at::Tensor filled = model->Forward(TokensOf({{3, 9, 12, 0, 1, 2}}));
    EXPECT_FALSE(torch::allclose(alone, filled, 1e-3, 1e-4)) << name;
  }
}

TEST(SequenceModels, TakeSamplesWithoutTokens) {
  for (const auto& [name, model] : AllModels(/*padding=*/0)) {
    const at::Tensor scores = model->Forward(TokensOf({{0, 0, 0}, {1, 2, 3}}));
    EXPECT_TRUE(torch::isfinite(scores).all().item<bool>()) << name;
    scores.sum().backward();
    for (const auto& [parameter, tensor] : ParametersOf(*model))
      EXPECT_TRUE(torch::isfinite(tensor.grad()).all().item<bool>()) << name << " " << parameter;
  }
}

TEST(SequenceModels, NameATokenThatTheyDoNotKnow) {
  for (const auto& [name, model] : AllModels(/*padding=*/0)) {
    for (const int64_t wrong : {20, -3}) {
      const Status status = CatchTorchErrors([&, &model = model] {
        model->Forward(TokensOf({{1, 2}, {3, wrong}}));
      });
      EXPECT_THAT(status.message(),
                  testing::HasSubstr(fmt::format("sample 1 of the batch has the token {}", wrong)))
          << name;
      EXPECT_THAT(status.message(), testing::HasSubstr("from 0 to 19 (`tokens`)"));
    }
  }
}

TEST(SequenceModels, KnowMoreTokensThanTheTypeOfTheBatchCanHold) {
  const at::Tensor tokens = torch::tensor({{1, 4999}, {32767, 0}}, torch::kShort);
  const KnownTokens known{.count = 40000, .padding = 70000};
  STOKER_EXPECT_OK(CheckTokens(tokens, known, {}, PlacesInBatch));
  EXPECT_THAT(CheckTokens(tokens, {.count = 32767, .padding = 0}, {}, PlacesInBatch),
              FailsWith(StatusCode::kOutOfRange, "has the token 32767"));
}

TEST(SequenceModels, AndModelsOfNumbersRefuseEachOthersInputs) {
  const auto named = [](const char* name) {
    return *ModelRegistry::Known().Parse(ConfigNode::Scalar(name));
  };
  EXPECT_THAT(BuildModel(named("mlp"), kTokens, 1, {}),
              FailsWith(StatusCode::kInvalidArgument, "cast: float32"));
  EXPECT_THAT(BuildModel(named("embedding_bag"), {.channels = 4}, 1, {}),
              FailsWith(StatusCode::kInvalidArgument, "embedding_bag takes sequences of tokens"));
}

TEST(EmbeddingBagModel, CombinesTheVectorsOfTheTokens) {
  const torch::NoGradGuard no_grad;
  const at::Tensor input = TokensOf({{4, 4, 7, 0}});
  for (const char* const combine : {"mean", "sum", "sqrtn", "max"}) {
    const auto model =
        Built(EmbeddingBag{.classes = 2, .tokens = 9, .width = 5, .combine = combine});
    const auto parameters = model->named_parameters();
    const at::Tensor vectors =
        parameters["embedding.weight"].index_select(0, torch::tensor({4, 4, 7}));
    const at::Tensor combined = std::string(combine) == "mean"    ? vectors.mean(0)
                                : std::string(combine) == "sum"   ? vectors.sum(0)
                                : std::string(combine) == "sqrtn" ? vectors.sum(0) / std::sqrt(3.0)
                                                                  : vectors.amax(0);
    const at::Tensor expected = torch::nn::functional::linear(
        combined, parameters["layers.0.weight"], parameters["layers.0.bias"]);
    EXPECT_TRUE(torch::allclose(model->Forward(input)[0], expected, 1e-5, 1e-6)) << combine;
  }
}

// torch's modules, each sequence by itself, with the same weights.
template <typename Cells, typename CellOptions, typename Kind>
void ExpectTorchsScores(const Kind& kind) {
  const torch::NoGradGuard no_grad;
  const auto model = Built(kind);
  const auto parameters = model->named_parameters();
  Cells cells(CellOptions(kind.width, kind.units)
                  .num_layers(kind.layers)
                  .bidirectional(kind.bidirectional)
                  .batch_first(true));
  for (auto& parameter : cells->named_parameters())
    parameter.value().copy_(parameters["recurrent." + parameter.key()]);
  const std::vector<std::vector<int64_t>> rows = {
      {3, 1, 4, 1, 5}, {9, 2, 0, 0, 0}, {6, 5, 3, 5, 0}};
  const at::Tensor scores = model->Forward(TokensOf(rows));
  for (size_t row = 0; row < rows.size(); ++row) {
    std::vector<int64_t> tokens = rows[row];
    std::erase(tokens, 0);
    const at::Tensor vectors = torch::embedding(parameters["embedding.weight"],
                                                torch::tensor(tokens, torch::kLong).unsqueeze(0));
    const at::Tensor out = std::get<0>(cells->forward(vectors))[0];  // [length, units * directions]
    at::Tensor last = out[-1];
    // The backward direction ends at the first token.
    if (kind.bidirectional)
      last = torch::cat({last.narrow(0, 0, kind.units), out[0].narrow(0, kind.units, kind.units)});
    const at::Tensor expected =
        torch::nn::functional::linear(last, parameters["head.weight"], parameters["head.bias"]);
    EXPECT_TRUE(torch::allclose(scores[static_cast<int64_t>(row)], expected, 1e-4, 1e-5)) << row;
  }
}

TEST(RecurrentModels, GiveTheScoresOfTorchsCellsOverEachSequenceByItself) {
  for (const int64_t layers : {1, 3}) {
    for (const bool bidirectional : {false, true}) {
      ExpectTorchsScores<torch::nn::LSTM, torch::nn::LSTMOptions>(
          Lstm{.classes = 3,
               .tokens = 10,
               .width = 6,
               .units = 7,
               .layers = layers,
               .bidirectional = bidirectional});
      ExpectTorchsScores<torch::nn::GRU, torch::nn::GRUOptions>(
          Gru{.classes = 3,
              .tokens = 10,
              .width = 6,
              .units = 7,
              .layers = layers,
              .bidirectional = bidirectional});
    }
  }
}

TEST(SequenceModels, LearnNothingFromPadding) {
  for (const auto& [name, model] : AllModels(/*padding=*/0)) {
    model->Forward(TokensOf({{3, 9, 0, 0}, {4, 0, 0, 0}})).square().sum().backward();
    const at::Tensor gradient = model->named_parameters()["embedding.weight"].grad();
    EXPECT_EQ(gradient[0].abs().sum().item<float>(), 0) << name;
    EXPECT_GT(gradient[9].abs().sum().item<float>(), 0) << name;
    EXPECT_EQ(gradient[5].abs().sum().item<float>(), 0) << name;
  }
}

}  // namespace stoker::sequences_test
