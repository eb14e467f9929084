// Activations and batch norms of mlp and wide_and_deep, against torch's parts.
#include <torch/torch.h>

#include "stoker/base/testing.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/mlp.h"
#include "stoker/train/models/wide_and_deep.h"
#include "stoker/train/step/learner.h"

namespace stoker::hidden_layer_test {

namespace F = torch::nn::functional;

constexpr ModelInput kRows{.channels = 1, .height = 1, .width = 5};

template <typename Kind>
std::shared_ptr<Model> Built(const Kind& kind, const ModelInput& input = kRows) {
  auto model = BuildModel(Configure(kind), input, /*seed=*/1, {});
  EXPECT_THAT(model, IsOk());
  return *std::move(model);
}

std::vector<std::string> Names(const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : StateOf(model)) names.push_back(name);
  return names;
}

at::Tensor Rows(int64_t count) {
  torch::manual_seed(2);
  return 2 * torch::randn({count, 1, 1, 5});
}

TEST(HiddenLayer, HasTheActivationThatIsNamed) {
  const struct {
    const char* name;
    at::Tensor (*of)(const at::Tensor&);
  } cases[] = {
      {"relu", [](const at::Tensor& x) { return F::relu(x); }},
      {"leaky_relu", [](const at::Tensor& x) { return F::leaky_relu(x); }},
      {"elu", [](const at::Tensor& x) { return F::elu(x); }},
      {"selu", [](const at::Tensor& x) { return F::selu(x); }},
      {"gelu", [](const at::Tensor& x) { return F::gelu(x); }},
      {"silu", [](const at::Tensor& x) { return F::silu(x); }},
      {"tanh", [](const at::Tensor& x) { return x.tanh(); }},
      {"sigmoid", [](const at::Tensor& x) { return x.sigmoid(); }},
  };
  const at::Tensor rows = Rows(7);
  for (const auto& [name, of] : cases) {
    SCOPED_TRACE(name);
    const auto model = Built(Mlp{.classes = 3, .hidden = {4}, .activation = name});
    const auto state = model->named_parameters();
    const at::Tensor hidden = of(F::linear(rows.flatten(1), state["1.weight"], state["1.bias"]));
    const at::Tensor wanted = F::linear(hidden, state["3.weight"], state["3.bias"]);
    const at::Tensor scores = model->Forward(rows);
    EXPECT_TRUE(torch::allclose(scores, wanted));
    const at::Tensor weight = state["1.weight"];
    EXPECT_TRUE(torch::allclose(torch::autograd::grad({scores.square().sum()}, {weight})[0],
                                torch::autograd::grad({wanted.square().sum()}, {weight})[0]));
  }
}

TEST(HiddenLayer, AnActivationThatThereIsNotIsRefused) {
  EXPECT_THAT(BuildModel(Configure(Mlp{.activation = "relux"}), kRows, 1, {}),
              FailsWith(StatusCode::kInvalidArgument, "relu"));
}

TEST(HiddenLayer, ABatchNormStandsBeforeTheActivationOfALayerWithoutABias) {
  const auto model = Built(
      Mlp{.classes = 3, .hidden = {4, 6}, .dropout = .5, .activation = "tanh", .batch_norm = true});
  // The places of torch.nn.Sequential(Flatten, Linear, BatchNorm1d, Tanh, Dropout, Linear, ...).
  EXPECT_THAT(Names(*model), testing::IsSupersetOf({"1.weight", "2.weight", "2.running_mean",
                                                    "5.weight", "6.bias", "9.weight", "9.bias"}));
  EXPECT_THAT(Names(*model), testing::Not(testing::Contains("1.bias")));
  EXPECT_EQ(Names(*model).size(), 1u + 5 + 1 + 5 + 2);
  const auto plain = Built(Mlp{.classes = 3, .hidden = {4}, .batch_norm = true});
  const auto state = plain->named_parameters();
  const at::Tensor rows = Rows(9);
  plain->train();
  const at::Tensor linear = F::linear(rows.flatten(1), state["1.weight"]);
  const at::Tensor normed =
      (linear - linear.mean(0)) / (linear.var(0, /*unbiased=*/false) + 1e-5).sqrt();
  const at::Tensor wanted = F::linear(F::relu(normed), state["4.weight"], state["4.bias"]);
  EXPECT_TRUE(torch::allclose(plain->Forward(rows), wanted, 1e-4, 1e-5));
  EXPECT_TRUE(
      torch::allclose(plain->named_buffers()["2.running_mean"], .1 * linear.mean(0), 1e-4, 1e-6));
}

TEST(HiddenLayer, IsRecomputedWithTheSameGradientsAndMoments) {
  const Mlp options{.hidden = {16, 8}, .activation = "gelu", .batch_norm = true};
  const auto kept = Built(options), recomputed = Built(options);
  STOKER_ASSERT_OK(recomputed->CheckpointActivations({"*"}));
  const at::Tensor rows = Rows(12);
  for (const auto& model : {kept, recomputed}) {
    model->train();
    model->Forward(rows).square().sum().backward();
  }
  for (const auto& [name, tensor] : ParametersOf(*kept)) {
    EXPECT_TRUE(torch::equal(tensor.grad(), recomputed->named_parameters()[name].grad())) << name;
  }
  for (const auto& buffer : kept->named_buffers()) {
    EXPECT_TRUE(torch::equal(buffer.value(), recomputed->named_buffers()[buffer.key()]))
        << buffer.key();
  }
}

TEST(HiddenLayer, OfWideAndDeepHasThemToo) {
  const FeatureLayout features{
      .columns = {{.name = "age", .slots = 2}, {.name = "city", .slots = 1, .categories = 3}}};
  ModelInput input{.channels = 1, .height = 1, .width = 3};
  input.features = features;
  const WideAndDeep options{.classes = 2, .hidden = {4}, .activation = "elu", .batch_norm = true};
  const auto model = Built(options, input);
  EXPECT_THAT(Names(*model), testing::Not(testing::Contains("layers.0.bias")));
  model->train();
  const at::Tensor rows = torch::tensor({{.5f, 1.f, 0.f}, {1.f, -2.f, 2.f}, {0.f, .25f, 1.f}});
  auto state = model->named_parameters();
  // Categories as one-hot rows; the wide part begins at zero.
  const at::Tensor x =
      torch::cat({rows.narrow(1, 0, 2), torch::one_hot(rows.select(1, 2).to(torch::kLong), 3)}, 1);
  const at::Tensor linear = F::linear(x, state["layers.0.weight"]);
  const at::Tensor normed =
      (linear - linear.mean(0)) / (linear.var(0, /*unbiased=*/false) + 1e-5).sqrt();
  const at::Tensor wanted =
      F::linear(F::elu(normed), state["layers.2.weight"], state["layers.2.bias"]);
  EXPECT_TRUE(torch::allclose(model->Forward(rows), wanted, 1e-4, 1e-5));
  EXPECT_THAT(Names(*Built(WideAndDeep{.classes = 2, .hidden = {4}}, input)),
              testing::IsSupersetOf({"layers.0.bias", "layers.1.weight"}));
}

// `layer_rate` counts layers in the order of registration.
TEST(HiddenLayer, TheLastLayerOfAModelIsRegisteredLast) {
  const auto last = [](const Model& model) { return ParametersOf(model).back().name; };
  EXPECT_EQ(last(*Built(Mlp{.hidden = {4, 4}, .batch_norm = true})), "7.bias");
  ModelInput input = kRows;
  input.features = {
      .columns = {{.name = "age", .slots = 4}, {.name = "city", .slots = 1, .categories = 3}}};
  EXPECT_EQ(last(*Built(WideAndDeep{.hidden = {4, 4}, .batch_norm = true}, input)),
            "layers.4.bias");
}

TEST(HiddenLayer, ANormThatIsToTrainOnOneRowSaysWhatToDo) {
  const auto model = Built(Mlp{.hidden = {4}, .batch_norm = true});
  model->train();
  EXPECT_THAT(CatchTorchErrors([&] { model->Forward(Rows(1)); }),
              FailsWith(StatusCode::kInvalidArgument, "`drop_remainder: true`"));
  model->eval();
  STOKER_EXPECT_OK(CatchTorchErrors([&] { model->Forward(Rows(1)); }));
}

}  // namespace stoker::hidden_layer_test
