#include "stoker/device/feeder.h"

#include <ATen/ops/empty_like.h>

#include "stoker/base/clock.h"
#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

Status CheckInput(const Field& field) {
  if (!IsFloating(field.dtype)) {
    return InvalidArgument(
        "train.input: field {} is no floating-point input; put `normalize` or `cast: float32` "
        "before `batch`",
        field.ToString());
  }
  if (field.shape.size() < 2) {
    return InvalidArgument("train.input: field {} is no batch; end the pipeline with `batch`",
                           field.ToString());
  }
  return OkStatus();
}

Status CheckTarget(const Field& field) {
  if (IsFloating(field.dtype) || field.dtype == DType::kBool) {
    return InvalidArgument("train.target: field {} does not hold class numbers (integers)",
                           field.ToString());
  }
  if (field.shape.size() != 1) {
    return InvalidArgument(
        "train.target: field {} must have one class number a sample, so the shape [samples]; is "
        "`batch` missing at the end of the pipeline?",
        field.ToString());
  }
  return OkStatus();
}

}  // namespace

Result<FeederFields> FindFeederFields(const Spec& spec, const FeederOptions& options) {
  FeederFields fields;
  STOKER_ASSIGN_OR_RETURN(fields.input, spec.IndexOf("train.input", options.input));
  STOKER_ASSIGN_OR_RETURN(fields.target, spec.IndexOf("train.target", options.target));
  STOKER_RETURN_IF_ERROR(CheckInput(spec.fields[fields.input]));
  STOKER_RETURN_IF_ERROR(CheckTarget(spec.fields[fields.target]));
  return fields;
}

Feeder::Feeder(std::unique_ptr<Iterator> elements, FeederFields fields, FeederOptions options)
    : elements_(std::move(elements)), fields_(fields), options_(std::move(options)) {}

Result<std::unique_ptr<Feeder>> Feeder::Create(std::unique_ptr<Iterator> elements, const Spec& spec,
                                               FeederOptions options) {
  STOKER_ASSIGN_OR_RETURN(const FeederFields fields, FindFeederFields(spec, options));
  return std::unique_ptr<Feeder>(new Feeder(std::move(elements), fields, std::move(options)));
}

Result<std::optional<TensorBatch>> Feeder::Next() {
  const Stopwatch watch;
  STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, elements_->Next());
  waited_ns_ += watch.ElapsedNs();
  if (!element) return std::nullopt;
  STOKER_ASSIGN_OR_RETURN(TensorBatch batch, MakeBatch(*element));
  return std::optional<TensorBatch>(std::move(batch));
}

at::Tensor Feeder::OnDevice(at::Tensor host) const {
  if (options_.device.is_cpu()) return host;
  // The pinned block is kept by torch's host allocator until the copy is done.
  at::Tensor pinned = at::empty_like(host, host.options().pinned_memory(true));
  pinned.copy_(host);
  return pinned.to(options_.device, /*non_blocking=*/true);
}

Result<TensorBatch> Feeder::MakeBatch(const Element& element) const {
  TensorBatch batch;
  const Status status = CatchTorchErrors([&] {
    batch.input = OnDevice(ToTensor(element.arrays[fields_.input])).to(at::kFloat);
    if (options_.channels_last && batch.input.dim() == 4)
      batch.input = batch.input.permute({0, 3, 1, 2});
    batch.input = InLayout(batch.input, options_.memory_format);
    // Converted on the device: bytes travel, not 64-bit integers.
    batch.target = OnDevice(ToTensor(element.arrays[fields_.target])).to(at::kLong);
  });
  STOKER_RETURN_IF_ERROR(status.While("moving a batch to " + options_.device.str()));
  return batch;
}

}  // namespace stoker
