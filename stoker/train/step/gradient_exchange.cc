#include "stoker/train/step/gradient_exchange.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

#include "stoker/base/trace.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

// A gradient begins where a vector of any CPU may.
constexpr int64_t kAlignment = 64;

// Gradients of a mean loss are small. fp16 has its full 11 bits for numbers from 6.1e-5 to 65504;
// this makes it 6.0e-8 to 64.
constexpr double kHalfFactor = 1024;

int64_t Aligned(int64_t values, int64_t value_bytes) {
  const int64_t unit = kAlignment / value_bytes;
  return (values + unit - 1) / unit * unit;
}

}  // namespace

// Called by the backward pass when it has completed the gradient of a parameter.
class GradientExchange::Hook final : public torch::autograd::PostAccumulateGradHook {
 public:
  Hook(GradientExchange& exchange, size_t parameter) : exchange_(exchange), parameter_(parameter) {}

  void operator()(const at::Tensor&) override {
    if (!exchange_.begun_) return;
    exchange_.Ready(parameter_);
    exchange_.SendReady();
  }

 private:
  GradientExchange& exchange_;
  const size_t parameter_;
};

GradientExchange::GradientExchange(Group& group, std::vector<at::Tensor> parameters, int64_t bytes,
                                   at::ScalarType travel)
    : group_(group),
      parameters_(std::move(parameters)),
      travel_(travel),
      places_(parameters_.size()) {
  Arrange(bytes);
  for (size_t i = 0; i < parameters_.size(); ++i)
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i],
                                                   std::make_unique<Hook>(*this, i));
}

GradientExchange::~GradientExchange() {
  for (const at::Tensor& parameter : parameters_)
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
}

void GradientExchange::Arrange(int64_t bytes) {
  std::vector<size_t> next;
  int64_t filled = 0;
  for (size_t i = parameters_.size(); i-- > 0;) {
    const at::Tensor& parameter = parameters_[i];
    const auto size = static_cast<int64_t>(parameter.nbytes());
    const bool fits = filled + size <= bytes &&
                      (next.empty() || parameters_[next.front()].dtype() == parameter.dtype());
    if (!next.empty() && !fits) {
      MakeBucket(std::exchange(next, {}));
      filled = 0;
    }
    next.push_back(i);
    filled += size;
  }
  if (!next.empty()) MakeBucket(next);
}

void GradientExchange::MakeBucket(const std::vector<size_t>& parameters) {
  const at::Tensor& first = parameters_[parameters.front()];
  int64_t values = 0;
  for (const size_t i : parameters)
    values += Aligned(parameters_[i].numel(), parameters_[i].element_size());
  const auto count = static_cast<int64_t>(parameters.size());
  Bucket bucket{.values = at::zeros({values + count}, first.options().requires_grad(false)),
                .sent = {},
                .gradients = values,
                .parameters = parameters,
                .waiting = 0};
  if (first.scalar_type() == at::kFloat && travel_ != at::kFloat)
    bucket.sent = at::empty_like(bucket.values, bucket.values.options().dtype(travel_));
  int64_t begin = 0;
  for (int64_t n = 0; n < count; ++n) {
    const at::Tensor& parameter = parameters_[parameters[n]];
    const at::Tensor part = bucket.values.narrow(0, begin, parameter.numel());
    places_[parameters[n]] = {
        .bucket = buckets_.size(),
        // The values then travel in the order in which they lie in memory.
        .gradient = parameter.is_non_overlapping_and_dense()
                        ? part.as_strided(parameter.sizes(), parameter.strides())
                        : part.view(parameter.sizes()),
        .there = bucket.values.narrow(0, values + n, 1)};
    begin += Aligned(parameter.numel(), parameter.element_size());
  }
  buckets_.push_back(std::move(bucket));
}

void GradientExchange::Begin(int64_t step, double scale) {
  step_ = step;
  factor_ = kHalfFactor / scale;
  begun_ = true;
  sent_ = 0;
  failed_ = OkStatus();
  for (Bucket& bucket : buckets_) bucket.waiting = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Place& place = places_[i];
    // What is frozen gets no gradient, and holds nothing up.
    place.ready = !parameters_[i].requires_grad();
    if (!place.ready) ++buckets_[place.bucket].waiting;
    if (!place.ready) continue;
    const at::NoGradGuard no_grad;
    place.gradient.zero_();
    place.there.zero_();
  }
}

void GradientExchange::Ready(size_t parameter) {
  Place& place = places_[parameter];
  if (place.ready) return;
  const at::NoGradGuard no_grad;
  const at::Tensor& gradient = parameters_[parameter].grad();
  if (gradient.defined()) {
    place.gradient.copy_(gradient);
    place.there.fill_(1);
  } else {
    place.gradient.zero_();
    place.there.zero_();
  }
  place.ready = true;
  --buckets_[place.bucket].waiting;
}

void GradientExchange::SendReady() {
  for (; sent_ < buckets_.size() && buckets_[sent_].waiting == 0 && failed_.ok(); ++sent_) {
    Bucket& bucket = buckets_[sent_];
    if (bucket.sent.defined()) Narrow(bucket);
    Result<std::unique_ptr<Exchange>> exchange =
        group_.StartAllReduce(bucket.sent.defined() ? bucket.sent : bucket.values, Reduction::kSum,
                              fmt::format("the gradients of step {}", step_));
    if (exchange.ok())
      exchanges_.push_back(*std::move(exchange));
    else
      failed_ = exchange.status();
  }
}

// What says who has a gradient is not multiplied: it is a count of ranks.
void GradientExchange::Narrow(Bucket& bucket) const {
  const at::NoGradGuard no_grad;
  bucket.sent.copy_(bucket.values);
  if (travel_ != at::kHalf) return;
  at::Tensor gradients = bucket.sent.narrow(0, 0, bucket.gradients);
  gradients.copy_(bucket.values.narrow(0, 0, bucket.gradients) * factor_);
}

// `values` are this rank's own until its bucket's sums are known to be good.
Status GradientExchange::Widen() {
  const at::NoGradGuard no_grad;
  for (Bucket& bucket : buckets_) {
    if (!bucket.sent.defined()) continue;
    if (travel_ == at::kHalf && !bucket.sent.isfinite().all().item<bool>()) {
      STOKER_RETURN_IF_ERROR(
          group_.AllReduce(bucket.values, Reduction::kSum,
                           fmt::format("the gradients of step {}, too large for fp16", step_)));
      continue;
    }
    bucket.values.copy_(bucket.sent);
    if (travel_ == at::kHalf) bucket.values.narrow(0, 0, bucket.gradients).div_(factor_);
  }
  return OkStatus();
}

Status GradientExchange::Finish(int64_t step, at::Tensor totals) {
  const TraceSpan span("wait for other ranks");
  if (!begun_) Begin(step);
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    for (size_t i = 0; i < parameters_.size(); ++i) Ready(i);
  }));
  SendReady();
  STOKER_RETURN_IF_ERROR(failed_);
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Exchange> of_totals,
                          group_.StartAllReduce(std::move(totals), Reduction::kSum,
                                                fmt::format("the loss of step {}", step)));
  exchanges_.push_back(std::move(of_totals));
  for (const std::unique_ptr<Exchange>& exchange : exchanges_)
    STOKER_RETURN_IF_ERROR(exchange->Wait());
  exchanges_.clear();
  begun_ = false;
  return CatchTorchErrors([&]() -> Status {
    STOKER_RETURN_IF_ERROR(Widen());
    TakeSums();
    return OkStatus();
  });
}

void GradientExchange::TakeSums() {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor parameter = parameters_[i];
    if (places_[i].there.item<double>() > 0)
      parameter.mutable_grad() = places_[i].gradient;
    else
      parameter.mutable_grad().reset();
  }
}

}  // namespace stoker
