#include "stoker/train/models/resnet.h"

#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "stoker/train/core/layers.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker {
namespace {

namespace nn = torch::nn;

constexpr int64_t kFirstWidth = 64;

struct ResnetDesign {
  std::array<int64_t, 4> blocks;  // of each stage; a stage halves the image but for the first
  bool bottleneck = false;        // blocks of 1 x 1, 3 x 3, 1 x 1 instead of two of 3 x 3
};

// A bias would be removed again by the norm after it.
nn::Conv2d Convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

// The convolution and norm that bring a block's input to the shape of its output.
class ShortcutModule final : public nn::Module {
 public:
  ShortcutModule(int64_t in, int64_t out, int64_t stride)
      : convolution_(register_module("0", Convolution(in, out, 1, stride))),
        norm_(register_module("1", nn::BatchNorm2d(out))) {}

  at::Tensor Forward(const at::Tensor& input) { return BatchNorm(*norm_, convolution_(input)); }

 private:
  nn::Conv2d convolution_;
  nn::BatchNorm2d norm_;
};

class ResidualBlock final : public nn::Module {
 public:
  // Makes its layers in torchvision's order, so that they draw the same first values.
  ResidualBlock(int64_t in, int64_t width, int64_t stride, bool bottleneck) {
    const int64_t out = bottleneck ? 4 * width : width;
    if (stride != 1 || in != out) shortcut_ = std::make_shared<ShortcutModule>(in, out, stride);
    if (bottleneck) {
      Add(in, width, 1, 1);
      Add(width, width, 3, stride);
      Add(width, out, 1, 1);
    } else {
      Add(in, width, 3, stride);
      Add(width, out, 3, 1);
    }
    if (shortcut_) register_module("downsample", shortcut_);
  }

  at::Tensor Forward(const at::Tensor& input) {
    at::Tensor x = input;
    for (size_t i = 0; i < layers_.size(); ++i) {
      x = BatchNorm(*layers_[i].norm, layers_[i].convolution(x));
      if (i + 1 < layers_.size()) x = x.relu_();
    }
    return x.add_(shortcut_ ? shortcut_->Forward(input) : input).relu_();
  }

  nn::BatchNorm2d& last_norm() { return layers_.back().norm; }

 private:
  struct Layer {
    nn::Conv2d convolution;
    nn::BatchNorm2d norm;
  };

  void Add(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    const std::string number = std::to_string(layers_.size() + 1);
    layers_.push_back({register_module("conv" + number, Convolution(in, out, kernel, stride)),
                       register_module("bn" + number, nn::BatchNorm2d(out))});
  }

  std::vector<Layer> layers_;
  std::shared_ptr<ShortcutModule> shortcut_;
};

// Holds blocks, called 0, 1, 2.
class StageModule final : public nn::Module {
 public:
  void Add(std::shared_ptr<ResidualBlock> block) {
    register_module(std::to_string(children().size()), std::move(block));
  }
};

class ResnetModel final : public Model {
 public:
  template <typename Options>
  ResnetModel(const ResnetDesign& design, const Options& options, const ModelInput& input)
      : pools_(options.stem == "imagenet"), dropout_(options.dropout) {
    stem_ = register_module("conv1", pools_ ? Convolution(input.channels, kFirstWidth, 7, 2)
                                            : Convolution(input.channels, kFirstWidth, 3, 1));
    stem_norm_ = register_module("bn1", nn::BatchNorm2d(kFirstWidth));
    int64_t channels = kFirstWidth;
    for (size_t i = 0; i < design.blocks.size(); ++i) {
      channels = AddStage(static_cast<int64_t>(i), design, channels);
    }
    classifier_ = register_module("fc", nn::Linear(channels, options.classes));
    Initialize(options.zero_init_residual);
  }

  bool LaunchesAlike() const override { return true; }
  bool DropsOut() const override { return dropout_ > 0; }
  at::Tensor Forward(const at::Tensor& input) override {
    at::Tensor x = BatchNorm(*stem_norm_, stem_(input)).relu_();
    if (pools_) x = at::max_pool2d(x, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
    for (size_t i = 0; i < blocks_.size(); ++i) {
      x = RunBlock(i, x,
                   [&block = *blocks_[i]](const at::Tensor& in) { return block.Forward(in); });
    }
    x = at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    if (dropout_ > 0) x = Dropout(x, dropout_, is_training());
    return classifier_(x);
  }

 private:
  int64_t AddStage(int64_t number, const ResnetDesign& design, int64_t in) {
    const int64_t width = kFirstWidth << number;
    auto stage = std::make_shared<StageModule>();
    for (int64_t i = 0; i < design.blocks[static_cast<size_t>(number)]; ++i) {
      const int64_t stride = i == 0 && number > 0 ? 2 : 1;
      blocks_.push_back(std::make_shared<ResidualBlock>(in, width, stride, design.bottleneck));
      stage->Add(blocks_.back());
      AddBlock(fmt::format("layer{}.{}", number + 1, i), {blocks_.back()});
      in = design.bottleneck ? 4 * width : width;
    }
    register_module("layer" + std::to_string(number + 1), std::move(stage));
    return in;
  }

  // Weights of convolutions such that what flows back keeps its variance (He et al., arXiv
  // 1502.01852); norms are made with ones and zeros.
  void Initialize(bool zero_init_residual) {
    for (const auto& module : modules(/*include_self=*/false)) {
      if (const auto* convolution = module->as<nn::Conv2dImpl>()) {
        nn::init::kaiming_normal_(convolution->weight, /*a=*/0, torch::kFanOut, torch::kReLU);
      }
    }
    if (!zero_init_residual) return;
    for (const auto& block : blocks_) nn::init::zeros_(block->last_norm()->weight);
  }

  const bool pools_;
  const double dropout_;
  nn::Conv2d stem_{nullptr};
  nn::BatchNorm2d stem_norm_{nullptr};
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;  // of all stages
  nn::Linear classifier_{nullptr};
};

template <typename T>
void DescribeResnet(OptionTable<T>& table) {
  table
      .Field("classes", &T::classes, "number of outputs: one a class, label or number",
             WidthRange())
      .Field("stem", &T::stem,
             "how it begins: imagenet brings images to a quarter of their size (7x7 convolution "
             "and max pool), small keeps them (3x3 convolution), for images of 32 x 32",
             OneOf{{"imagenet", "small"}})
      .Field("zero_init_residual", &T::zero_init_residual,
             "whether the last norm of a block begins at zero, so that the block does nothing at "
             "first; helps large batches")
      .Field("dropout", &T::dropout, "share of values dropped before the last layer",
             OptionRange{.low = 0, .high = 0.99});
}

}  // namespace

void Resnet18::Describe(OptionTable<Resnet18>& table) { DescribeResnet(table); }
void Resnet34::Describe(OptionTable<Resnet34>& table) { DescribeResnet(table); }
void Resnet50::Describe(OptionTable<Resnet50>& table) { DescribeResnet(table); }

Result<std::shared_ptr<Model>> Resnet18::Build(const ModelInput& input) const {
  constexpr ResnetDesign kDesign{.blocks = {2, 2, 2, 2}, .bottleneck = false};
  return std::make_shared<ResnetModel>(kDesign, *this, input);
}

Result<std::shared_ptr<Model>> Resnet34::Build(const ModelInput& input) const {
  constexpr ResnetDesign kDesign{.blocks = {3, 4, 6, 3}, .bottleneck = false};
  return std::make_shared<ResnetModel>(kDesign, *this, input);
}

Result<std::shared_ptr<Model>> Resnet50::Build(const ModelInput& input) const {
  constexpr ResnetDesign kDesign{.blocks = {3, 4, 6, 3}, .bottleneck = true};
  return std::make_shared<ResnetModel>(kDesign, *this, input);
}

}  // namespace stoker
