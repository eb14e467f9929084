#include "stoker/train/step/layer_trace.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>

#include "stoker/base/mutex.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/row_gradient.h"

namespace stoker {
namespace {

// Callbacks are plain functions, and autograd's threads for a device inherit them.
std::atomic<LayerTrace*> active{nullptr};
// Held while there is one: several threads may look for what has broken (hogwild.h).
Mutex one_at_a_time;

std::string OwnerOf(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? parameter : parameter.substr(0, dot);
}

bool AllFinite(const at::Tensor& tensor) {
  const at::Tensor values = tensor.defined() ? ValuesOfGradient(tensor) : tensor;
  return !values.defined() || !values.is_floating_point() || values.numel() == 0 ||
         at::isfinite(values).all().item<bool>();
}

// Operators that only make memory: whatever lay there is in what they give.
bool GivesNoValues(std::string_view name) {
  static constexpr std::string_view kMakers[] = {
      "aten::empty",     "aten::empty_like",        "aten::empty_strided", "aten::empty_permuted",
      "aten::new_empty", "aten::new_empty_strided", "aten::resize_",       "aten::resize_as_"};
  return std::ranges::find(kMakers, name) != std::end(kMakers);
}

// What is at work around an operator.
struct Around : at::ObserverContext {
  explicit Around(int64_t operators) : depth(operators) {}
  const int64_t depth;
};

}  // namespace

std::vector<int64_t> RowsNotFinite(const at::Tensor& values, int64_t most) {
  if (values.dim() == 0 || values.numel() == 0) return {};
  const at::NoGradGuard no_grad;
  const at::Tensor rows = at::isfinite(values.flatten(1 < values.dim() ? 1 : 0))
                              .view({values.size(0), -1})
                              .all(1)
                              .to(at::kCPU)
                              .contiguous();
  std::vector<int64_t> broken;
  for (int64_t i = 0; i < rows.numel() && std::ssize(broken) < most; ++i) {
    if (!rows.data_ptr<bool>()[i]) broken.push_back(i);
  }
  return broken;
}

std::vector<int64_t> SamplesNotFinite(const Inputs& one, int64_t most) {
  const at::Tensor& values = one.all().front();
  if (!one.ragged(0)) return RowsNotFinite(values, most);
  const at::Tensor offsets = one.offsets(0).to(at::kCPU).contiguous();
  const std::span places(offsets.const_data_ptr<int64_t>(), static_cast<size_t>(offsets.numel()));
  std::vector<int64_t> samples;
  for (const int64_t row : RowsNotFinite(values, values.size(0))) {
    const int64_t sample = std::ranges::upper_bound(places, row) - places.begin() - 1;
    if (!samples.empty() && samples.back() == sample) continue;
    if (std::ssize(samples) == most) break;
    samples.push_back(sample);
  }
  return samples;
}

LayerTrace::LayerTrace(const Model& model, Values values) STOKER_NO_THREAD_SAFETY_ANALYSIS
    : checked_(values == Values::kChecked) {
  one_at_a_time.Lock();
  for (const auto& [name, tensor] : StateOf(model)) {
    owners_.emplace(tensor.unsafeGetTensorImpl(), OwnerOf(name));
  }
  active = this;
  handle_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(Started, Ended)
          .needsInputs(true)
          .needsOutputs(checked_)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

LayerTrace::~LayerTrace() STOKER_NO_THREAD_SAFETY_ANALYSIS {
  at::removeCallback(handle_);
  active = nullptr;
  one_at_a_time.Unlock();
}

std::unique_ptr<at::ObserverContext> LayerTrace::Started(const at::RecordFunction& function) {
  LayerTrace* trace = active.load();
  trace->Start(function);
  auto around = std::make_unique<Around>(trace->depth_);
  const bool node = function.scope() == at::RecordScope::BACKWARD_FUNCTION;
  trace->depth_ = node ? 0 : trace->depth_ + 1;
  return around;
}

void LayerTrace::Ended(const at::RecordFunction& function, at::ObserverContext* around) {
  LayerTrace* trace = active.load();
  trace->depth_ = static_cast<const Around*>(around)->depth;
  if (trace->checked_ && trace->depth_ == 0 && trace->first_broken_.empty()) trace->Check(function);
}

void LayerTrace::Start(const at::RecordFunction& function) {
  last_name_ = function.name();
  last_shapes_.clear();
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    backward_ = true;
    const auto forward = layers_.find(function.seqNr());
    if (forward != layers_.end()) layer_ = forward->second;
    return;
  }
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor()) continue;
    const at::Tensor& tensor = input.toTensor();
    if (!tensor.defined()) continue;
    last_shapes_.push_back(tensor.sizes().vec());
    const auto owner = owners_.find(tensor.unsafeGetTensorImpl());
    if (owner != owners_.end() && !backward_) layer_ = owner->second;
  }
  // The number is that of the next node, so an operator made of others must not take it from them.
  if (!backward_ && function.seqNr() >= 0) layers_[function.seqNr()] = layer_;
}

void LayerTrace::Check(const at::RecordFunction& function) {
  if (GivesNoValues(function.name())) return;
  const at::DisableRecordFunctionGuard unobserved;
  const at::NoGradGuard no_grad;
  for (const c10::IValue& output : function.outputs()) {
    if (!output.isTensor() || AllFinite(output.toTensor())) continue;
    first_broken_ = fmt::format("the {} {} ({})", backward_ ? "gradient in" : "output of",
                                LayerName(), function.name());
    return;
  }
}

std::string LayerTrace::LayerName() const {
  return layer_.empty() ? "what comes before the first layer" : fmt::format("layer '{}'", layer_);
}

std::string LayerTrace::LastOperator() const {
  std::vector<std::string> shapes;
  for (const auto& shape : last_shapes_)
    shapes.push_back(fmt::format("[{}]", fmt::join(shape, ", ")));
  return fmt::format("{} ({} of {})", LayerName(), last_name_, fmt::join(shapes, ", "));
}

}  // namespace stoker
