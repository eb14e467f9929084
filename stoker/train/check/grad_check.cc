#include "stoker/train/check/grad_check.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

bool IsChecked(const at::Tensor& input) { return input.scalar_type() == at::kDouble; }

// The inputs as leaves of their own.
std::vector<at::Tensor> Leaves(const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> leaves;
  for (const at::Tensor& input : inputs) {
    at::Tensor leaf = input.detach().clone(at::MemoryFormat::Contiguous);
    leaves.push_back(IsChecked(leaf) ? leaf.requires_grad_() : leaf);
  }
  return leaves;
}

// [outputs, values of inputs[which]], column by column.
at::Tensor Numerical(const Function& f, std::vector<at::Tensor>& inputs, size_t which,
                     double step) {
  const at::NoGradGuard no_grad;
  const at::Tensor values = inputs[which].view(-1);
  std::vector<at::Tensor> columns;
  for (int64_t i = 0; i < values.numel(); ++i) {
    const at::Tensor value = values[i];
    const double at = value.item<double>();
    value.fill_(at + step);
    const at::Tensor above = f(inputs).to(at::kDouble).flatten().clone();
    value.fill_(at - step);
    columns.push_back((above - f(inputs).to(at::kDouble).flatten()) / (2 * step));
    value.fill_(at);
  }
  return columns.empty() ? at::Tensor() : at::stack(columns, 1);
}

// The same by autograd, row by row, for each checked input.
std::vector<at::Tensor> Analytical(const at::Tensor& output,
                                   const std::vector<at::Tensor>& checked) {
  std::vector<std::vector<at::Tensor>> rows(checked.size());
  for (int64_t i = 0; i < output.numel(); ++i) {
    at::Tensor one = at::zeros_like(output, at::MemoryFormat::Contiguous);
    one.view(-1)[i] = 1;
    const auto gradients = torch::autograd::grad({output}, checked, {one}, /*retain_graph=*/true,
                                                 /*create_graph=*/false, /*allow_unused=*/true);
    for (size_t k = 0; k < checked.size(); ++k) {
      rows[k].push_back(gradients[k].defined() ? gradients[k].flatten().clone()
                                               : at::zeros({checked[k].numel()}, at::kDouble));
    }
  }
  std::vector<at::Tensor> jacobians;
  for (const auto& each : rows) jacobians.push_back(each.empty() ? at::Tensor() : at::stack(each));
  return jacobians;
}

Status Compare(size_t input, const at::Tensor& analytical, const at::Tensor& numerical,
               const GradCheckOptions& options) {
  for (int64_t o = 0; o < analytical.size(0); ++o) {
    for (int64_t i = 0; i < analytical.size(1); ++i) {
      const double ours = analytical[o][i].item<double>(), real = numerical[o][i].item<double>();
      if (std::abs(ours - real) <= options.absolute + options.relative * std::abs(real)) continue;
      return Internal(
          "input {}: the derivative of output value {} by input value {} is {:.6g} by the backward "
          "pass and {:.6g} by differences; correct the backward pass, or look for a kink there",
          input, o, i, ours, real);
    }
  }
  return OkStatus();
}

Status Check(const Function& f, const std::vector<at::Tensor>& given,
             const GradCheckOptions& options) {
  std::vector<at::Tensor> inputs = Leaves(given), checked;
  for (const at::Tensor& input : inputs) {
    if (IsChecked(input)) checked.push_back(input);
  }
  if (checked.empty()) {
    return InvalidArgument("no input is float64; in float32 differences are too coarse to compare");
  }
  const at::Tensor output = f(inputs);
  if (!at::equal(output, f(inputs))) {
    return InvalidArgument("the function gives other values for the same inputs; seed its draws");
  }
  if (!output.requires_grad()) {
    return InvalidArgument("the output depends on no input in a way that autograd knows");
  }
  const std::vector<at::Tensor> analytical = Analytical(output, checked);
  for (size_t i = 0, k = 0; i < inputs.size(); ++i) {
    if (!IsChecked(inputs[i])) continue;
    const at::Tensor& jacobian = analytical[k++];
    if (!jacobian.defined() || inputs[i].numel() == 0) continue;
    STOKER_RETURN_IF_ERROR(Compare(i, jacobian, Numerical(f, inputs, i, options.step), options));
  }
  return OkStatus();
}

}  // namespace

Status GradCheck(const Function& f, const std::vector<at::Tensor>& inputs,
                 const GradCheckOptions& options) {
  return CatchTorchErrors([&] { return Check(f, inputs, options); });
}

}  // namespace stoker
