// The parts of inception_v3: blocks whose branches see the same input and are joined along the
// channels. Tables 1 and figures 5 to 7 and 10 of arXiv 1512.00567; names as in torchvision.
#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stoker::internal {

// Convolution without a bias, batch norm, ReLU.
class InceptionConvolution final : public torch::nn::Module {
 public:
  struct Options {
    std::array<int64_t, 2> kernel;
    int64_t stride = 1;
    std::array<int64_t, 2> padding = {0, 0};
  };
  InceptionConvolution(int64_t in, int64_t out, const Options& options);
  at::Tensor Forward(const at::Tensor& input);

 private:
  torch::nn::Conv2d convolution_;
  torch::nn::BatchNorm2d norm_;
};

// A block made from a description of its branches.
class InceptionBlock final : public torch::nn::Module {
 public:
  struct Step {
    std::string name;
    int64_t out = 0;
    InceptionConvolution::Options options;
    // Reads the output of the step before the last one: two consecutive such steps share their
    // input and are concatenated.
    bool beside_last = false;
  };
  using Branch = std::vector<Step>;
  enum class Pool { kNone, kAverage, kMax };  // of 3 x 3; kMax halves the image

  // The branch that begins with a pool comes last; it may be empty.
  struct Design {
    std::vector<Branch> branches;
    Pool pool = Pool::kNone;
    Branch behind_pool = {};
  };
  InceptionBlock(int64_t in, const Design& design);
  at::Tensor Forward(const at::Tensor& input);
  int64_t out_channels() const { return out_channels_; }

 private:
  struct Layer {
    std::shared_ptr<InceptionConvolution> convolution;
    bool beside_last = false;
  };
  using Layers = std::vector<Layer>;

  Layers AddBranch(int64_t in, const Branch& branch);
  static void RunBranch(const Layers& layers, const at::Tensor& input,
                        std::vector<at::Tensor>& outputs);

  std::vector<Layers> branches_;
  Pool pool_;
  Layers behind_pool_;
  int64_t out_channels_ = 0;
};

// 35 x 35: 1x1, 5x5, two 3x3, and `pooled` channels after an average pool.
InceptionBlock::Design InceptionA(int64_t pooled);
// To 17 x 17.
InceptionBlock::Design InceptionB();
// 17 x 17: 7x7 factorised into 1x7 and 7x1, of `width` channels.
InceptionBlock::Design InceptionC(int64_t width);
// To 8 x 8.
InceptionBlock::Design InceptionD();
// 8 x 8: 3x3 replaced by parallel 1x3 and 3x1.
InceptionBlock::Design InceptionE();

// The auxiliary head: scores from 17 x 17.
class InceptionHead final : public torch::nn::Module {
 public:
  InceptionHead(int64_t in, int64_t classes);
  at::Tensor Forward(const at::Tensor& input);
  const at::Tensor& classifier_weight() const { return classifier_->weight; }

 private:
  std::shared_ptr<InceptionConvolution> narrow_, whole_;
  torch::nn::Linear classifier_{nullptr};
};

}  // namespace stoker::internal
