#include "stoker/train/models/inception_v3.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "stoker/train/core/layers.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/inception_blocks_internal.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker {
namespace {

namespace nn = torch::nn;
using internal::InceptionBlock;
using internal::InceptionConvolution;
using internal::InceptionHead;

// Below these the last pool has nothing to read: that of the body, that of the auxiliary head.
constexpr int64_t kSmallest = 75;
constexpr int64_t kSmallestWithHead = 299;

// Spreads of the first weights: of all layers, and of the auxiliary head's last.
constexpr double kSpread = 0.1;
constexpr double kHeadSpread = 0.001;
// Values further from zero are brought to this.
constexpr double kLargestWeight = 2;

// Normal with mean 0, cut off, by the inverse of the cumulative distribution: draws as
// torch.nn.init does, so that equal seeds give equal weights.
void FillTruncatedNormal(at::Tensor weight, double spread) {
  const torch::NoGradGuard no_grad;
  const double bound = std::erf(kLargestWeight / spread / std::numbers::sqrt2);
  weight.uniform_(-bound, bound).erfinv_().mul_(spread * std::numbers::sqrt2);
  weight.clamp_(-kLargestWeight, kLargestWeight);
}

// From the mean and deviation of ImageNet's channels, which torchvision's inputs have, to 0.5 and
// 0.5, with which the weights that it distributes were made.
at::Tensor FromImagenetMoments(const at::Tensor& input) {
  const auto per_channel = [&](const std::vector<double>& values) {
    return torch::tensor(values, input.options()).view({1, 3, 1, 1});
  };
  return input * per_channel({.229 / .5, .224 / .5, .225 / .5}) +
         per_channel({(.485 - .5) / .5, (.456 - .5) / .5, (.406 - .5) / .5});
}

class InceptionV3Model final : public Model {
 public:
  InceptionV3Model(const InceptionV3& options, const ModelInput& input)
      : transforms_input_(options.transform_input),
        aux_weight_(options.aux_weight),
        dropout_(options.dropout) {
    AddStem(input.channels);
    AddBlocks(options.classes);
    classifier_ = register_module("fc", nn::Linear(channels_, options.classes));
    Initialize();
  }

  bool LaunchesAlike() const override { return true; }
  bool DropsOut() const override { return dropout_ > 0; }
  at::Tensor Forward(const at::Tensor& input) override { return Scores(Body(input)); }

  TrainingScores ForwardToTrain(const at::Tensor& input) override {
    const at::Tensor x = Body(input);
    TrainingScores scores;
    if (head_) scores.auxiliary.push_back({head_->Forward(x), aux_weight_});
    scores.scores = Scores(x);
    return scores;
  }

 private:
  // A part of the body, and its number as a block.
  template <typename T>
  struct Numbered {
    std::shared_ptr<T> module;
    size_t number = 0;
  };
  template <typename T>
  Numbered<T> Register(const char* name, std::shared_ptr<T> module) {
    register_module(name, module);
    return {module, AddBlock(name, {module})};
  }
  template <typename T>
  at::Tensor Run(const Numbered<T>& part, const at::Tensor& x) {
    return RunBlock(part.number, x,
                    [&module = *part.module](const at::Tensor& in) { return module.Forward(in); });
  }

  Numbered<InceptionConvolution> Convolution(const char* name, int64_t out,
                                             const InceptionConvolution::Options& options) {
    return Register(
        name, std::make_shared<InceptionConvolution>(std::exchange(channels_, out), out, options));
  }
  void AddStem(int64_t channels) {
    channels_ = channels;
    before_pool1_ = {Convolution("Conv2d_1a_3x3", 32, {.kernel = {3, 3}, .stride = 2}),
                     Convolution("Conv2d_2a_3x3", 32, {.kernel = {3, 3}}),
                     Convolution("Conv2d_2b_3x3", 64, {.kernel = {3, 3}, .padding = {1, 1}})};
    before_pool2_ = {Convolution("Conv2d_3b_1x1", 80, {.kernel = {1, 1}}),
                     Convolution("Conv2d_4a_3x3", 192, {.kernel = {3, 3}})};
  }

  Numbered<InceptionBlock> Block(const char* name, const InceptionBlock::Design& design) {
    auto block = Register(name, std::make_shared<InceptionBlock>(channels_, design));
    channels_ = block.module->out_channels();
    return block;
  }
  void AddBlocks(int64_t classes) {
    blocks_ = {
        Block("Mixed_5b", internal::InceptionA(32)),  Block("Mixed_5c", internal::InceptionA(64)),
        Block("Mixed_5d", internal::InceptionA(64)),  Block("Mixed_6a", internal::InceptionB()),
        Block("Mixed_6b", internal::InceptionC(128)), Block("Mixed_6c", internal::InceptionC(160)),
        Block("Mixed_6d", internal::InceptionC(160)), Block("Mixed_6e", internal::InceptionC(192))};
    if (aux_weight_ > 0) {
      head_ = register_module("AuxLogits", std::make_shared<InceptionHead>(channels_, classes));
    }
    last_blocks_ = {Block("Mixed_7a", internal::InceptionD()),
                    Block("Mixed_7b", internal::InceptionE()),
                    Block("Mixed_7c", internal::InceptionE())};
  }

  void Initialize() {
    for (const auto& module : modules(/*include_self=*/false)) {
      if (const auto* convolution = module->as<nn::Conv2dImpl>()) {
        FillTruncatedNormal(convolution->weight, kSpread);
      } else if (const auto* linear = module->as<nn::LinearImpl>()) {
        const bool of_head = head_ && linear->weight.is_same(head_->classifier_weight());
        FillTruncatedNormal(linear->weight, of_head ? kHeadSpread : kSpread);
      }
    }
  }

  // Up to where the auxiliary head reads.
  at::Tensor Body(const at::Tensor& input) {
    at::Tensor x = transforms_input_ ? FromImagenetMoments(input) : input;
    for (const auto& convolution : before_pool1_) x = Run(convolution, x);
    x = at::max_pool2d(x, /*kernel_size=*/3, /*stride=*/2);
    for (const auto& convolution : before_pool2_) x = Run(convolution, x);
    x = at::max_pool2d(x, /*kernel_size=*/3, /*stride=*/2);
    for (const auto& block : blocks_) x = Run(block, x);
    return x;
  }
  at::Tensor Scores(at::Tensor x) {
    for (const auto& block : last_blocks_) x = Run(block, x);
    x = at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    if (dropout_ > 0) x = Dropout(x, dropout_, is_training());
    return classifier_(x);
  }

  const bool transforms_input_;
  const double aux_weight_;
  const double dropout_;
  int64_t channels_ = 0;  // after the layers made so far
  std::vector<Numbered<InceptionConvolution>> before_pool1_, before_pool2_;
  std::vector<Numbered<InceptionBlock>> blocks_, last_blocks_;
  std::shared_ptr<InceptionHead> head_;  // none if its loss weighs nothing
  nn::Linear classifier_{nullptr};
};

}  // namespace

void InceptionV3::Describe(OptionTable<InceptionV3>& table) {
  using O = InceptionV3;
  table
      .Field("classes", &O::classes, "number of outputs: one a class, label or number",
             WidthRange())
      .Field("aux_weight", &O::aux_weight,
             "weight of the auxiliary head's loss in training; 0 leaves the head out", AtLeast(0))
      .Field("dropout", &O::dropout, "share of values dropped before the last layer",
             OptionRange{.low = 0, .high = 0.99})
      .Field("transform_input", &O::transform_input,
             "whether images, normalised by ImageNet's mean and deviation, are brought to 0.5 and "
             "0.5 first, as the weights that torchvision distributes want");
}

Result<std::shared_ptr<Model>> InceptionV3::Build(const ModelInput& input) const {
  const int64_t smallest = aux_weight > 0 ? kSmallestWithHead : kSmallest;
  if (input.height < smallest || input.width < smallest) {
    return InvalidArgument(
        "inception_v3: images of {} x {} are too small; it needs at least {} x {}{}", input.height,
        input.width, smallest, smallest,
        aux_weight > 0 && input.height >= kSmallest && input.width >= kSmallest
            ? ", or without its auxiliary head (aux_weight: 0) 75 x 75"
            : ": put `resize` into the pipeline");
  }
  if (transform_input && input.channels != 3) {
    return InvalidArgument(
        "inception_v3: transform_input is for images of 3 channels, these have {}; set it to "
        "false",
        input.channels);
  }
  return std::make_shared<InceptionV3Model>(*this, input);
}

}  // namespace stoker
