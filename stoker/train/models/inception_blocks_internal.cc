#include "stoker/train/models/inception_blocks_internal.h"

#include <utility>

#include "stoker/train/core/layers.h"

namespace stoker::internal {
namespace {

namespace nn = torch::nn;

constexpr double kNormEps = 1e-3;

using Step = InceptionBlock::Step;

Step Square(std::string name, int64_t out, int64_t kernel, int64_t padding = 0) {
  return {std::move(name), out, {.kernel = {kernel, kernel}, .padding = {padding, padding}}};
}
Step Halving(std::string name, int64_t out) {
  return {std::move(name), out, {.kernel = {3, 3}, .stride = 2}};
}
// One value high and `extent` wide, and the other way round; the image keeps its size.
Step Wide(std::string name, int64_t out, int64_t extent) {
  return {std::move(name), out, {.kernel = {1, extent}, .padding = {0, extent / 2}}};
}
Step High(std::string name, int64_t out, int64_t extent) {
  return {std::move(name), out, {.kernel = {extent, 1}, .padding = {extent / 2, 0}}};
}
Step BesideLast(Step step) {
  step.beside_last = true;
  return step;
}

}  // namespace

InceptionConvolution::InceptionConvolution(int64_t in, int64_t out, const Options& options)
    : convolution_(register_module(
          "conv", nn::Conv2d(nn::Conv2dOptions(in, out, {options.kernel[0], options.kernel[1]})
                                 .stride(options.stride)
                                 .padding({options.padding[0], options.padding[1]})
                                 .bias(false)))),
      norm_(register_module("bn", nn::BatchNorm2d(nn::BatchNorm2dOptions(out).eps(kNormEps)))) {}

at::Tensor InceptionConvolution::Forward(const at::Tensor& input) {
  return BatchNorm(*norm_, convolution_(input)).relu_();
}

InceptionBlock::InceptionBlock(int64_t in, const Design& design) : pool_(design.pool) {
  for (const Branch& branch : design.branches) branches_.push_back(AddBranch(in, branch));
  behind_pool_ = AddBranch(in, design.behind_pool);
  if (pool_ != Pool::kNone && behind_pool_.empty()) out_channels_ += in;
}

InceptionBlock::Layers InceptionBlock::AddBranch(int64_t in, const Branch& branch) {
  Layers layers;
  int64_t before = in, last = in;
  for (const Step& step : branch) {
    if (step.beside_last) {
      out_channels_ += last;
    } else {
      before = last;
    }
    layers.push_back({register_module(step.name, std::make_shared<InceptionConvolution>(
                                                     before, step.out, step.options)),
                      step.beside_last});
    last = step.out;
  }
  if (!branch.empty()) out_channels_ += last;
  return layers;
}

void InceptionBlock::RunBranch(const Layers& layers, const at::Tensor& input,
                               std::vector<at::Tensor>& outputs) {
  at::Tensor before = input, last = input;
  for (const Layer& layer : layers) {
    if (layer.beside_last) {
      outputs.push_back(last);
    } else {
      before = last;
    }
    last = layer.convolution->Forward(before);
  }
  outputs.push_back(last);
}

at::Tensor InceptionBlock::Forward(const at::Tensor& input) {
  std::vector<at::Tensor> outputs;
  for (const Layers& branch : branches_) RunBranch(branch, input, outputs);
  if (pool_ == Pool::kAverage) {
    RunBranch(behind_pool_, at::avg_pool2d(input, /*kernel_size=*/3, /*stride=*/1, /*padding=*/1),
              outputs);
  }
  if (pool_ == Pool::kMax) {
    RunBranch(behind_pool_, at::max_pool2d(input, /*kernel_size=*/3, /*stride=*/2), outputs);
  }
  return at::cat(outputs, 1);
}

InceptionBlock::Design InceptionA(int64_t pooled) {
  return {.branches = {{Square("branch1x1", 64, 1)},
                       {Square("branch5x5_1", 48, 1), Square("branch5x5_2", 64, 5, 2)},
                       {Square("branch3x3dbl_1", 64, 1), Square("branch3x3dbl_2", 96, 3, 1),
                        Square("branch3x3dbl_3", 96, 3, 1)}},
          .pool = InceptionBlock::Pool::kAverage,
          .behind_pool = {Square("branch_pool", pooled, 1)}};
}

InceptionBlock::Design InceptionB() {
  return {.branches = {{Halving("branch3x3", 384)},
                       {Square("branch3x3dbl_1", 64, 1), Square("branch3x3dbl_2", 96, 3, 1),
                        Halving("branch3x3dbl_3", 96)}},
          .pool = InceptionBlock::Pool::kMax};
}

InceptionBlock::Design InceptionC(int64_t width) {
  return {.branches = {{Square("branch1x1", 192, 1)},
                       {Square("branch7x7_1", width, 1), Wide("branch7x7_2", width, 7),
                        High("branch7x7_3", 192, 7)},
                       {Square("branch7x7dbl_1", width, 1), High("branch7x7dbl_2", width, 7),
                        Wide("branch7x7dbl_3", width, 7), High("branch7x7dbl_4", width, 7),
                        Wide("branch7x7dbl_5", 192, 7)}},
          .pool = InceptionBlock::Pool::kAverage,
          .behind_pool = {Square("branch_pool", 192, 1)}};
}

InceptionBlock::Design InceptionD() {
  return {.branches = {{Square("branch3x3_1", 192, 1), Halving("branch3x3_2", 320)},
                       {Square("branch7x7x3_1", 192, 1), Wide("branch7x7x3_2", 192, 7),
                        High("branch7x7x3_3", 192, 7), Halving("branch7x7x3_4", 192)}},
          .pool = InceptionBlock::Pool::kMax};
}

InceptionBlock::Design InceptionE() {
  return {
      .branches = {{Square("branch1x1", 320, 1)},
                   {Square("branch3x3_1", 384, 1), Wide("branch3x3_2a", 384, 3),
                    BesideLast(High("branch3x3_2b", 384, 3))},
                   {Square("branch3x3dbl_1", 448, 1), Square("branch3x3dbl_2", 384, 3, 1),
                    Wide("branch3x3dbl_3a", 384, 3), BesideLast(High("branch3x3dbl_3b", 384, 3))}},
      .pool = InceptionBlock::Pool::kAverage,
      .behind_pool = {Square("branch_pool", 192, 1)}};
}

InceptionHead::InceptionHead(int64_t in, int64_t classes)
    : narrow_(register_module("conv0", std::make_shared<InceptionConvolution>(
                                           in, 128, InceptionConvolution::Options{{1, 1}}))),
      whole_(register_module("conv1", std::make_shared<InceptionConvolution>(
                                          128, 768, InceptionConvolution::Options{{5, 5}}))),
      classifier_(register_module("fc", nn::Linear(768, classes))) {}

at::Tensor InceptionHead::Forward(const at::Tensor& input) {
  const at::Tensor x = at::avg_pool2d(input, /*kernel_size=*/5, /*stride=*/3);
  return classifier_(
      at::adaptive_avg_pool2d(whole_->Forward(narrow_->Forward(x)), {1, 1}).flatten(1));
}

}  // namespace stoker::internal
