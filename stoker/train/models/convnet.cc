#include "stoker/train/models/convnet.h"

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "stoker/train/core/layers.h"
#include "stoker/train/core/model.h"
#include "stoker/train/kernels/norm_relu_pool.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker {
namespace {

// Places in the nn.Sequential whose names the parameters have.
constexpr int64_t kPlacesABlock = 4;

int64_t HalvedTimes(int64_t extent, size_t times) { return extent >> times; }

class ConvnetModel final : public Model {
 public:
  ConvnetModel(const Convnet& options, const ModelInput& input) {
    int64_t channels = input.channels;
    int64_t place = 0;
    for (const int64_t width : options.channels) {
      AddLayers(place, channels, width);
      channels = width;
      place += kPlacesABlock;
    }
    const size_t blocks = options.channels.size();
    const int64_t values =
        channels * HalvedTimes(input.height, blocks) * HalvedTimes(input.width, blocks);
    classifier_ =
        register_module(std::to_string(place + 1), torch::nn::Linear(values, options.classes));
  }

  bool LaunchesAlike() const override { return true; }
  at::Tensor Forward(const at::Tensor& input) override {
    at::Tensor x = input;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      x = RunBlock(i, x, [&block = blocks_[i]](const at::Tensor& in) {
        return block.Pool(block.convolution(in));
      });
    }
    return classifier_(x.flatten(1));
  }

 private:
  struct Block {
    torch::nn::Conv2d convolution;
    torch::nn::BatchNorm2d norm;

    // Batch norm, ReLU and pooling: fused where that is possible.
    at::Tensor Pool(const at::Tensor& x) {
      if (CanNormReluPool(x)) return NormReluPool(x, StateForPass(*norm));
      // The largest of four, then ReLU, is ReLU, then the largest of four, gradients included: but
      // on a quarter of the values.
      return at::max_pool2d(BatchNorm(*norm, x), 2).relu_();
    }
  };

  void AddLayers(int64_t place, int64_t in, int64_t out) {
    const auto options = torch::nn::Conv2dOptions(in, out, 3).padding(1).bias(false);
    blocks_.push_back({register_module(std::to_string(place), torch::nn::Conv2d(options)),
                       register_module(std::to_string(place + 1), torch::nn::BatchNorm2d(out))});
    // Called as its convolution is.
    AddBlock(std::to_string(place), {blocks_.back().convolution.ptr(), blocks_.back().norm.ptr()});
  }

  std::vector<Block> blocks_;
  torch::nn::Linear classifier_{nullptr};
};

}  // namespace

void Convnet::Describe(OptionTable<Convnet>& table) {
  table
      .Field("classes", &Convnet::classes, "number of outputs: one a class, label or number",
             WidthRange())
      .Field("channels", &Convnet::channels, "channels of each block", WidthRange());
}

Result<std::shared_ptr<Model>> Convnet::Build(const ModelInput& input) const {
  const int64_t smallest = int64_t{1} << std::min<size_t>(channels.size(), 32);
  if (input.height < smallest || input.width < smallest) {
    return InvalidArgument(
        "convnet: images of {} x {} are too small for {} blocks, each of which halves them; they "
        "need at least {} x {}: give fewer `channels`",
        input.height, input.width, channels.size(), smallest, smallest);
  }
  return std::make_shared<ConvnetModel>(*this, input);
}

}  // namespace stoker
