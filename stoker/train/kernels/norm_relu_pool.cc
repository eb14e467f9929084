#include "stoker/train/kernels/norm_relu_pool.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "stoker/device/torch_threads.h"
#include "stoker/train/kernels/norm_relu_pool_kernel.h"
#include "stoker/train/kernels/ranked_norm.h"

namespace stoker {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

ImageExtent ExtentOf(const at::Tensor& x) {
  return {.height = static_cast<size_t>(x.size(2)),
          .width = static_cast<size_t>(x.size(3)),
          .channels = static_cast<size_t>(x.size(1))};
}

// Calls work(image) for all, on torch's threads.
template <typename Work>
void ForEachImage(int64_t images, const Work& work) {
  ForRangesOnTorchThreads(images, [&](int64_t begin, int64_t end) {
    for (int64_t image = begin; image < end; ++image) work(image);
  });
}

// Two sums a channel over all images. Each image's are made by one thread and then added in the
// order of the images, so that the result does not depend on who made them.
class ChannelSums {
 public:
  ChannelSums(int64_t images, size_t channels)
      : channels_(channels), parts_(static_cast<size_t>(images) * 2 * channels) {}

  double* first(int64_t image) {
    return parts_.data() + static_cast<size_t>(image) * 2 * channels_;
  }
  double* second(int64_t image) { return first(image) + channels_; }

  // After this, those of image 0 are the sums over all.
  void Add() {
    for (size_t i = 2 * channels_; i < parts_.size(); ++i) parts_[i % (2 * channels_)] += parts_[i];
  }

 private:
  const size_t channels_;
  std::vector<double> parts_;
};

// A channel's constants, as the kernels take them.
struct Statistics {
  explicit Statistics(size_t channels) : mean(channels), inverse_std(channels) {}
  std::vector<float> mean, inverse_std;
};

Statistics RunningStatistics(const NormState& state) {
  Statistics statistics(static_cast<size_t>(state.running_mean.numel()));
  const auto* mean = state.running_mean.const_data_ptr<float>();
  const auto* var = state.running_var.const_data_ptr<float>();
  for (size_t c = 0; c < statistics.mean.size(); ++c) {
    statistics.mean[c] = mean[c];
    statistics.inverse_std[c] = static_cast<float>(1 / std::sqrt(double{var[c]} + state.eps));
  }
  return statistics;
}

// The moments of x, about a value of each channel that is among the data.
ChannelMoments MomentsOf(const at::Tensor& x) {
  const ImageExtent extent = ExtentOf(x);
  const auto* in = x.const_data_ptr<float>();
  const size_t image_size = extent.pixels() * extent.channels;
  ChannelSums sums(x.size(0), extent.channels);
  ForEachImage(x.size(0), [&](int64_t image) {
    AddMoments(in + static_cast<size_t>(image) * image_size, extent, /*origin=*/in,
               sums.first(image), sums.second(image));
  });
  sums.Add();
  const double n = static_cast<double>(x.size(0)) * static_cast<double>(extent.pixels());
  ChannelMoments moments{.count = n, .mean = {}, .var = {}};
  for (size_t c = 0; c < extent.channels; ++c) {
    const double moved = sums.first(0)[c] / n;  // the mean, from the first pixel's value
    const double var = sums.second(0)[c] / n - moved * moved;
    moments.mean.push_back(moved + double{in[c]});
    moments.var.push_back(var < 0 ? 0 : var);  // by rounding; a NaN stays one
  }
  return moments;
}

// The statistics of the batch; moves the running ones towards them.
//   count  receives the values of a channel
Statistics BatchStatistics(const at::Tensor& x, const NormState& state, double& count) {
  const auto channels = static_cast<size_t>(x.size(1));
  const ChannelMoments moments =
      state.ranks ? state.ranks->OfAll([&x] { return MomentsOf(x); },
                                       {state.running_mean.const_data_ptr<float>(), channels})
                  : MomentsOf(x);
  CheckCount(moments, x);
  count = moments.count;
  MoveRunningMoments(state, moments);
  Statistics statistics(channels);
  for (size_t c = 0; c < channels; ++c) {
    statistics.mean[c] = static_cast<float>(moments.mean[c]);
    statistics.inverse_std[c] = static_cast<float>(1 / std::sqrt(moments.var[c] + state.eps));
  }
  return statistics;
}

at::Tensor EmptyPooled(const at::Tensor& x, at::ScalarType dtype) {
  return at::empty({x.size(0), x.size(1), x.size(2) / 2, x.size(3) / 2},
                   x.options().dtype(dtype).memory_format(at::MemoryFormat::ChannelsLast));
}

// What the backward pass wants to see again.
struct Pooled {
  at::Tensor values;
  at::Tensor peak, choice;  // not defined where no gradient is wanted
};

Pooled Forward(const at::Tensor& x, const NormState& state, const Statistics& statistics,
               bool with_gradient) {
  const ImageExtent extent = ExtentOf(x);
  std::vector<float> scale(extent.channels), shift(extent.channels);
  const auto* weight = state.weight.const_data_ptr<float>();
  const auto* bias = state.bias.const_data_ptr<float>();
  for (size_t c = 0; c < extent.channels; ++c) {
    scale[c] = weight[c] * statistics.inverse_std[c];
    shift[c] = bias[c] - statistics.mean[c] * scale[c];
  }
  Pooled pooled{EmptyPooled(x, at::kFloat), {}, {}};
  if (with_gradient) {
    pooled.peak = EmptyPooled(x, at::kFloat);
    pooled.choice = EmptyPooled(x, at::kByte);
  }
  const size_t image_size = extent.pixels() * extent.channels;
  const size_t pooled_size = extent.windows() * extent.channels;
  const auto* in = x.const_data_ptr<float>();
  auto* values = pooled.values.data_ptr<float>();
  float* peak = with_gradient ? pooled.peak.data_ptr<float>() : nullptr;
  PoolChoice* choice = with_gradient ? pooled.choice.data_ptr<uint8_t>() : nullptr;
  ForEachImage(x.size(0), [&](int64_t image) {
    const size_t out = static_cast<size_t>(image) * pooled_size;
    PoolForward(in + static_cast<size_t>(image) * image_size, extent, scale.data(), shift.data(),
                values + out, with_gradient ? peak + out : nullptr,
                with_gradient ? choice + out : nullptr);
  });
  return pooled;
}

struct Gradients {
  at::Tensor x, weight, bias;
};

// What the statistics were taken of.
struct Batch {
  double count = 0;                     // values of a channel; 0: they were the running ones
  c10::intrusive_ptr<NormRanks> ranks;  // that had them together; null: this process alone
};

// dx = a * dy + (b * x + c) for each channel, as PoolBackward takes it.
struct Slopes {
  explicit Slopes(size_t channels) : a(channels), b(channels), c(channels) {}
  std::vector<float> a, b, c;
};

// From the sums of dy and of dy * (x - mean) for each channel: the gradients of weight and bias,
// and the constants for that of x.
Slopes FinishSums(ChannelSums& sums, const at::Tensor& weight, const Statistics& statistics,
                  const Batch& batch, Gradients& gradients) {
  const auto* w = weight.const_data_ptr<float>();
  auto* d_weight = gradients.weight.data_ptr<float>();
  auto* d_bias = gradients.bias.data_ptr<float>();
  const auto channels = static_cast<size_t>(weight.numel());
  Slopes slopes(channels);
  for (size_t k = 0; k < channels; ++k) {
    const double s = statistics.inverse_std[k];
    sums.second(0)[k] *= s;
    d_bias[k] = static_cast<float>(sums.first(0)[k]);
    d_weight[k] = static_cast<float>(sums.second(0)[k]);
    slopes.a[k] = static_cast<float>(double{w[k]} * s);
  }
  if (batch.count == 0) return slopes;
  if (batch.ranks) batch.ranks->Add({sums.first(0), 2 * channels});
  for (size_t k = 0; k < channels; ++k) {
    const double s = statistics.inverse_std[k];
    const double scale = double{w[k]} * s;
    const double slope = -scale * s * sums.second(0)[k] / batch.count;
    slopes.b[k] = static_cast<float>(slope);
    slopes.c[k] = static_cast<float>(-scale * sums.first(0)[k] / batch.count -
                                     slope * double{statistics.mean[k]});
  }
  return slopes;
}

// With y = weight * (x - mean) * s + bias, s = 1 / standard deviation, n values a channel:
//   d bias   = sum of dy
//   d weight = s * sum of dy * (x - mean)
//   dx       = weight * s * (dy - d bias / n - (x - mean) * s * d weight / n)
// (Ioffe and Szegedy, "Batch Normalization", 2015, section 3). The last two terms vanish where the
// statistics were not the batch's. dy is nonzero only where a window's largest value passed.
Gradients Backward(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                   const Statistics& statistics, const at::Tensor& peak, const at::Tensor& choice,
                   const Batch& batch) {
  const ImageExtent extent = ExtentOf(x);
  const size_t image_size = extent.pixels() * extent.channels;
  const size_t pooled_size = extent.windows() * extent.channels;
  const auto* dy = grad.const_data_ptr<float>();
  const auto* peaks = peak.const_data_ptr<float>();
  const auto* choices = choice.const_data_ptr<uint8_t>();
  ChannelSums sums(x.size(0), extent.channels);
  ForEachImage(x.size(0), [&](int64_t image) {
    const size_t at = static_cast<size_t>(image) * pooled_size;
    AddGradientSums(dy + at, peaks + at, choices + at, extent, statistics.mean.data(),
                    sums.first(image), sums.second(image));
  });
  sums.Add();

  Gradients gradients{at::empty_like(x), at::empty_like(weight), at::empty_like(weight)};
  const Slopes slopes = FinishSums(sums, weight, statistics, batch, gradients);
  const auto* in = x.const_data_ptr<float>();
  auto* dx = gradients.x.data_ptr<float>();
  ForEachImage(x.size(0), [&](int64_t image) {
    const size_t at = static_cast<size_t>(image) * image_size;
    const size_t pooled_at = static_cast<size_t>(image) * pooled_size;
    PoolBackward(in + at, dy + pooled_at, choices + pooled_at, extent, slopes.a.data(),
                 slopes.b.data(), slopes.c.data(), dx + at);
  });
  return gradients;
}

at::Tensor AsTensor(const std::vector<float>& values) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, at::kFloat);
  std::ranges::copy(values, tensor.data_ptr<float>());
  return tensor;
}

std::vector<float> AsVector(const at::Tensor& tensor) {
  const auto* values = tensor.const_data_ptr<float>();
  return {values, values + tensor.numel()};
}

constexpr const char* kCount = "count";
constexpr const char* kRanks = "ranks";

class NormReluPoolFunction : public torch::autograd::Function<NormReluPoolFunction> {
 public:
  // `weight` and `bias` are those of `state`: autograd sees what is an argument of its own.
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const Variable& /*bias*/, const NormState& state) {
    double count = 0;
    const Statistics statistics =
        state.training ? BatchStatistics(x, state, count) : RunningStatistics(state);
    const Pooled pooled = Forward(x, state, statistics, /*with_gradient=*/true);
    context->save_for_backward({x, weight, AsTensor(statistics.mean),
                                AsTensor(statistics.inverse_std), pooled.peak, pooled.choice});
    context->saved_data[kCount] = count;
    if (state.training && state.ranks)
      context->saved_data[kRanks] = c10::IValue::make_capsule(state.ranks);
    return pooled.values;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    Statistics statistics(0);
    statistics.mean = AsVector(saved[2]);
    statistics.inverse_std = AsVector(saved[3]);
    const at::Tensor grad = outputs[0].contiguous(at::MemoryFormat::ChannelsLast);
    Gradients gradients =
        Backward(grad, saved[0], saved[1], statistics, saved[4], saved[5], BatchOf(*context));
    return {std::move(gradients.x), std::move(gradients.weight), std::move(gradients.bias),
            Variable()};
  }

 private:
  static Batch BatchOf(AutogradContext& context) {
    Batch batch{.count = context.saved_data[kCount].toDouble(), .ranks = {}};
    if (const auto ranks = context.saved_data.find(kRanks); ranks != context.saved_data.end())
      batch.ranks = c10::static_intrusive_pointer_cast<NormRanks>(ranks->second.toCapsule());
    return batch;
  }
};

bool WantsGradient(const at::Tensor& x, const NormState& state) {
  return at::GradMode::is_enabled() &&
         (x.requires_grad() || state.weight.requires_grad() || state.bias.requires_grad());
}

}  // namespace

bool CanNormReluPool(const at::Tensor& x) {
  return x.dim() == 4 && x.is_cpu() && x.scalar_type() == at::kFloat && x.size(0) > 0 &&
         x.size(2) >= 2 && x.size(3) >= 2 && x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor NormReluPool(const at::Tensor& x, const NormState& state) {
  TORCH_CHECK(CanNormReluPool(x),
              "NormReluPool takes float images in channels-last order on the CPU, here are ",
              x.toString(), x.sizes());
  for (const at::Tensor* each :
       {&state.weight, &state.bias, &state.running_mean, &state.running_var}) {
    TORCH_CHECK(each->is_cpu() && each->scalar_type() == at::kFloat && each->is_contiguous() &&
                    each->numel() == x.size(1),
                "batch norm wants ", x.size(1), " floats for as many channels, here are ",
                each->toString(), each->sizes());
  }
  if (WantsGradient(x, state)) {
    return NormReluPoolFunction::apply(x, state.weight, state.bias, state);
  }
  double count = 0;
  const Statistics statistics =
      state.training ? BatchStatistics(x, state, count) : RunningStatistics(state);
  return Forward(x, state, statistics, /*with_gradient=*/false).values;
}

}  // namespace stoker
