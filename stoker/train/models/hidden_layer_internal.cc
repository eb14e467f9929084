#include "stoker/train/models/hidden_layer_internal.h"

#include <ATen/ops/elu.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/selu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>

#include <algorithm>
#include <string_view>

#include "stoker/train/core/layers.h"

namespace stoker::internal {
namespace {

struct NamedActivation {
  std::string_view name;
  at::Tensor (*apply)(const at::Tensor& x);
};
constexpr NamedActivation kActivations[] = {
    // Into the memory of x: no gradient needs what stood there.
    {"relu", [](const at::Tensor& x) { return at::Tensor(x).relu_(); }},
    {"leaky_relu", [](const at::Tensor& x) { return at::leaky_relu(x); }},
    {"elu", [](const at::Tensor& x) { return at::elu(x); }},
    {"selu", [](const at::Tensor& x) { return at::selu(x); }},
    {"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
    {"silu", [](const at::Tensor& x) { return at::silu(x); }},
    {"tanh", [](const at::Tensor& x) { return at::tanh(x); }},
    {"sigmoid", [](const at::Tensor& x) { return at::sigmoid(x); }},
};

auto ActivationNamed(std::string_view name) {
  return std::ranges::find(kActivations, name, &NamedActivation::name)->apply;
}

}  // namespace

OneOf Activations() {
  OneOf names;
  for (const NamedActivation& each : kActivations) names.choices.emplace_back(each.name);
  return names;
}

HiddenLayer::HiddenLayer(int64_t in, int64_t out, const HiddenOptions& options)
    : linear_(torch::nn::LinearOptions(in, out).bias(!options.batch_norm)),
      norm_(nullptr),
      activation_(ActivationNamed(options.activation)),
      dropout_(options.dropout) {
  if (options.batch_norm) norm_ = torch::nn::BatchNorm1d(out);
}

at::Tensor HiddenLayer::operator()(const at::Tensor& x) {
  at::Tensor values = linear_(x);
  if (norm_) values = BatchNorm(*norm_, values);
  const at::Tensor activated = activation_(values);
  return dropout_ > 0 ? Dropout(activated, dropout_, linear_->is_training()) : activated;
}

std::vector<std::shared_ptr<torch::nn::Module>> HiddenLayer::modules() const {
  std::vector<std::shared_ptr<torch::nn::Module>> both = {linear_.ptr()};
  if (norm_) both.push_back(norm_.ptr());
  return both;
}

}  // namespace stoker::internal
