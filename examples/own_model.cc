// Trains a model of one's own on Fashion-MNIST: 500 steps, with everything that a recipe has by
// default.
#include <fmt/core.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "stoker/data/data.h"
#include "stoker/train/core/model.h"
#include "stoker/train/loop/trainer.h"

using namespace stoker;

// Filters that halve the image twice, and a linear layer.
class TwoConvolutions final : public Model {
 public:
  TwoConvolutions(int64_t filters, const ModelInput& input)
      : first_(Halving(input.channels, filters)),
        second_(Halving(filters, 2 * filters)),
        head_(2 * filters * ((input.height + 3) / 4) * ((input.width + 3) / 4), 10) {
    register_module("first", first_);
    register_module("second", second_);
    register_module("head", head_);
  }
  at::Tensor Forward(const at::Tensor& input) override {
    return head_(second_(first_(input).relu_()).relu_().flatten(1));
  }

 private:
  static torch::nn::Conv2d Halving(int64_t in, int64_t out) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).stride(2).padding(1));
  }

  torch::nn::Conv2d first_, second_;
  torch::nn::Linear head_;
};

// Its options, as the recipe in the run directory names them.
struct Mine {
  static constexpr std::string_view kName = "mine";
  static constexpr std::string_view kHelp = "Two convolutions and a linear layer.";
  int64_t filters = 16;

  static void Describe(OptionTable<Mine>& table) {
    table.Field("filters", &Mine::filters, "of the first convolution", AtLeast(1));
  }
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const {
    return std::make_shared<TwoConvolutions>(filters, input);
  }
};

Result<Dataset> Images(const std::filesystem::path& root, const std::string& part) {
  return Source(Idx{.images = root / (part + "-images-idx3-ubyte.gz"),
                    .labels = root / (part + "-labels-idx1-ubyte.gz")}) |
         Shuffle{} | Normalize{.mean = {0.286}, .std = {0.353}} | Batch{.size = 128} | Prefetch{};
}

Status Run(const std::filesystem::path& root, const std::filesystem::path& run) {
  STOKER_ASSIGN_OR_RETURN(const Dataset train, Images(root, "train"));
  STOKER_ASSIGN_OR_RETURN(const Dataset eval, Images(root, "t10k"));
  Recipe recipe{.data = {.train = train, .eval = eval}, .model = Configure(Mine{}), .train = {}};
  recipe.train.options.max_steps = 500;
  STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Create(std::move(recipe), run));
  STOKER_ASSIGN_OR_RETURN(const TrainSummary summary, trainer->Run());
  fmt::print("{} steps, accuracy {:.3f}; the weights are in {}\n", summary.step,
             summary.last_evaluation->accuracy.value(), summary.run);
  return OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "Usage: own_model FASHION-MNIST RUN\n");
    return 2;
  }
  const Status status = Run(argv[1], argv[2]);
  if (!status.ok()) fmt::print(stderr, "error: {}\n", status.message());
  return status.ok() ? 0 : 1;
}
