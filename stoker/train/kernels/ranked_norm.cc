#include "stoker/train/kernels/ranked_norm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm_update_stats.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <vector>

namespace stoker {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr const char* kRanksOfNorm = "ranks";
constexpr const char* kCountOfNorm = "count";
constexpr const char* kEpsOfNorm = "eps";

std::vector<double> AsDoubles(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kCPU, at::kDouble).contiguous();
  const auto* data = values.const_data_ptr<double>();
  return {data, data + values.numel()};
}

at::Tensor AsFloats(const std::vector<double>& values, c10::Device device) {
  const std::vector<float> floats(values.begin(), values.end());
  return at::from_blob(const_cast<float*>(floats.data()), {std::ssize(floats)}, at::kFloat)
      .to(device, /*non_blocking=*/false, /*copy=*/true);
}

// About their own mean, by torch's two passes.
ChannelMoments MomentsOfRows(const at::Tensor& x) {
  if (x.numel() == 0) return {};
  // Of 16 bits torch would give moments of 16 bits.
  const auto [mean, var] = at::batch_norm_update_stats(x.to(at::kFloat), {}, {}, /*momentum=*/0);
  return {.count = static_cast<double>(x.numel()) / static_cast<double>(x.size(1)),
          .mean = AsDoubles(mean),
          .var = AsDoubles(var)};
}

std::vector<float> OriginOf(const NormState& state, int64_t channels) {
  if (!state.running_mean.defined()) return std::vector<float>(static_cast<size_t>(channels));
  const at::Tensor mean = state.running_mean.to(at::kCPU, at::kFloat).contiguous();
  const auto* values = mean.const_data_ptr<float>();
  return {values, values + mean.numel()};
}

// [channels], so that it meets the channels of x.
at::Tensor Along(const at::Tensor& channels, const at::Tensor& x) {
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[1] = channels.numel();
  return channels.view(shape);
}

// The sums of dy and of dy * (x - mean) over all ranks become those of dx: see
// NormReluPool's Backward for the formulas. Torch's own pass with given moments makes the first
// term of dx and, but for a factor, both sums.
class RankedNormFunction : public torch::autograd::Function<RankedNormFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const Variable& bias, const NormState& state,
                          const ChannelMoments& moments) {
    const at::Tensor mean = AsFloats(moments.mean, x.device());
    const at::Tensor var = AsFloats(moments.var, x.device());
    context->save_for_backward({x, weight, mean, var});
    context->saved_data[kRanksOfNorm] = c10::IValue::make_capsule(state.ranks);
    context->saved_data[kCountOfNorm] = moments.count;
    context->saved_data[kEpsOfNorm] = state.eps;
    if (x.numel() == 0) return at::empty_like(x);
    return std::get<0>(at::native_batch_norm(x, weight, bias, mean, var, /*training=*/false,
                                             /*momentum=*/0, state.eps));
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &var = saved[3];
    const double count = context->saved_data[kCountOfNorm].toDouble();
    const double eps = context->saved_data[kEpsOfNorm].toDouble();
    const auto ranks = c10::static_intrusive_pointer_cast<NormRanks>(
        context->saved_data[kRanksOfNorm].toCapsule());
    at::Tensor dx = at::empty_like(x), of_weight = at::zeros_like(mean), of_bias = of_weight;
    if (x.numel() > 0) {
      std::tie(dx, of_weight, of_bias) =
          at::native_batch_norm_backward(outputs[0], x, weight, mean, var, {}, {},
                                         /*train=*/false, eps, {true, true, true});
    }
    const size_t channels = static_cast<size_t>(mean.numel());
    std::vector<double> sums = AsDoubles(of_bias), products = AsDoubles(of_weight);
    sums.insert(sums.end(), products.begin(), products.end());
    ranks->Add(sums);
    AddShareOfMoments(dx, x, sums, channels,
                      {.count = count, .mean = AsDoubles(mean), .var = AsDoubles(var)},
                      AsDoubles(weight), eps);
    return {dx, of_weight.to(weight.scalar_type()), of_bias.to(weight.scalar_type()), Variable(),
            Variable()};
  }

 private:
  // Adds what reaches x through mean and variance: b * x + c for each channel.
  //   sums  of dy, then of dy * (x - mean) / deviation
  static void AddShareOfMoments(at::Tensor& dx, const at::Tensor& x,
                                const std::vector<double>& sums, size_t channels,
                                const ChannelMoments& moments, const std::vector<double>& scale,
                                double eps) {
    if (x.numel() == 0) return;
    std::vector<double> slope(channels), shift(channels);
    for (size_t c = 0; c < channels; ++c) {
      const double s = 1 / std::sqrt(moments.var[c] + eps);
      slope[c] = -scale[c] * s * s * sums[channels + c] / moments.count;
      shift[c] = -scale[c] * s * sums[c] / moments.count - slope[c] * moments.mean[c];
    }
    at::Tensor whole = dx.to(at::kFloat);  // itself, unless of 16 bits
    whole.add_(Along(AsFloats(shift, x.device()), x));
    whole.addcmul_(x.to(at::kFloat), Along(AsFloats(slope, x.device()), x));
    dx = whole.to(dx.scalar_type());
  }
};

}  // namespace

void MoveRunningMoments(const NormState& state, const ChannelMoments& batch) {
  if (!state.running_mean.defined()) return;
  const at::NoGradGuard no_grad;
  const auto move = [&](const at::Tensor& running, const std::vector<double>& now) {
    std::vector<double> moved = AsDoubles(running);
    for (size_t c = 0; c < moved.size(); ++c)
      moved[c] = (1 - state.momentum) * moved[c] + state.momentum * now[c];
    running.copy_(AsFloats(moved, running.device()));
  };
  move(state.running_mean, batch.mean);
  // The estimate without bias, as torch keeps it.
  std::vector<double> unbiased = batch.var;
  for (double& var : unbiased) var = var * batch.count / (batch.count - 1);
  move(state.running_var, unbiased);
}

void CheckCount(const ChannelMoments& batch, const at::Tensor& x) {
  TORCH_CHECK_VALUE(batch.count > 1, kOneValueOfAChannel,
                    ", here is less on all ranks together, on this one ", x.sizes(), "; ",
                    kMoreSamplesForNorms);
}

at::Tensor RankedNorm(const at::Tensor& x, const NormState& state) {
  TORCH_CHECK(x.dim() >= 2, "batch norm takes [rows, channels, ...], here are ", x.sizes());
  const ChannelMoments moments = state.ranks->OfAll(
      [&x] {
        const at::NoGradGuard no_grad;
        return MomentsOfRows(x);
      },
      OriginOf(state, x.size(1)));
  CheckCount(moments, x);
  MoveRunningMoments(state, moments);
  // Autograd takes no tensor that is not defined.
  const auto options = x.options().dtype(at::kFloat).requires_grad(false);
  const at::Tensor weight = state.weight.defined() ? state.weight : at::ones({x.size(1)}, options);
  const at::Tensor bias = state.bias.defined() ? state.bias : at::zeros({x.size(1)}, options);
  return RankedNormFunction::apply(x, weight, bias, state, moments);
}

}  // namespace stoker
