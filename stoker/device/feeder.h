// Feeder: the last stage of the input. Converts elements of an Iterator to the batches of a
// training step: inputs and targets as tensors, on the device, in the model's layout.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/MemoryFormat.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/json.h"
#include "stoker/base/profile.h"
#include "stoker/base/status.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/spec.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/device/inputs.h"

namespace stoker {

struct TensorBatch {
  // Each float32, [samples, ...]; images [samples, channels, height, width]; tokens int64,
  // [samples, length], or ragged, [values]; ragged steps of numbers [values] or [values, numbers].
  Inputs input;
  // Each int64 or float32, [samples], or float32 [samples, numbers] (see Feeder); not defined if
  // FeederOptions::targets is empty. Where samples have weights these are the last, float32
  // [samples].
  Targets target;
  SampleKey key = {};             // of its element: the batch's number
  std::vector<Array> along = {};  // the fields FeederOptions::along, unchanged, in host memory

  int64_t size() const { return input.samples(); }
};

// Check the targets, or one of the inputs, of a batch.
using BatchCheck = std::function<Status(const at::Tensor& values, const SampleKey& batch)>;
using InputCheck = std::function<Status(const Inputs& one, const SampleKey& batch)>;

// Checks in CPU memory, before a batch is copied, on the thread that calls Next. An error replaces
// the batch. Each may be empty.
struct BatchChecks {
  // Floating-point targets are passed as float32; integers, one a sample, unchanged, and only if
  // the device is an accelerator: there a kernel that meets an invalid class number makes the
  // device unusable for the process, while the CPU throws. Weights are passed as float32. In the
  // order of TensorBatch::target; those at the end may be left out.
  std::vector<BatchCheck> targets = {};
  // Of inputs as they are in host memory, in their order, but for bytes that the device normalises.
  // Those at the end may be left out.
  std::vector<InputCheck> inputs = {};
};

// One of the model's inputs.
struct FeederInput {
  std::string name = {};  // in train.input, of one of several
  std::string field = "image";
  // The field of its offsets, if it is ragged (FindOffsets); it holds tokens or steps then.
  std::optional<std::string> offsets = {};
  // Whether those of four dimensions come as [samples, height, width, channels].
  bool channels_last = false;
  // If not empty, they are bytes, which are copied as such and become (x - shift) * scale on the
  // device: one pair for all values, or one for each channel. The bits are those of `normalize` in
  // a pipeline (on accelerators, whose arithmetic is IEEE 754's too).
  std::vector<ShiftScale> normalize = {};
};

struct FeederOptions {
  // The fields that become TensorBatch::input, in this order; at least one.
  std::vector<FeederInput> inputs = {FeederInput{}};
  // The fields that become TensorBatch::target, in this order; empty: no targets, as for
  // predictions.
  std::vector<std::string> targets = {"label"};
  // The field of the samples' weights, which there are only beside targets; empty: there are none.
  std::string sample_weight = {};
  // The fields that have no row for each sample (FieldsWithoutRows), so are neither targets nor
  // weights.
  std::set<std::string> without_rows = {};
  std::vector<std::string> along = {};  // the fields that become TensorBatch::along
  c10::Device device = c10::kCPU;
  // Of the inputs with four dimensions; the others stay contiguous.
  at::MemoryFormat memory_format = at::MemoryFormat::Contiguous;
  BatchChecks check = {};
};

// The places of the fields in a Spec, after checking that inputs and targets can be used. Errors
// (kInvalidArgument, naming the field and what to put into the recipe): no such field, no batch
// dimension, an input that is neither floating point nor tokens (with `normalize`: not bytes), a
// target that is neither one number a sample nor a row of as many for each, a weight that is not
// one number a sample.
struct FeederFields {
  std::vector<size_t> inputs;
  std::vector<std::optional<size_t>> offsets;  // of each input that is ragged
  std::vector<size_t> targets;
  std::optional<size_t> sample_weight;
  std::vector<size_t> along;
};
Result<FeederFields> FindFeederFields(const Spec& spec, const FeederOptions& options);

// On the CPU a float32 input of the right layout is not copied: the tensor shares the element's
// memory. Narrower floats become float32 on the device, which halves the bytes copied. For an
// accelerator the batch is staged in pinned memory and copied on the current stream without
// waiting, so the copy overlaps with kernels launched before.
//
// Targets are copied in the same way, in their own type, and converted on the device: integers (and
// bool), one a sample, become int64 [samples]; floats, one a sample, float32 [samples]; several
// numbers a sample, of any type, float32 [samples, numbers]. Integers above 2^24 lose their last
// bits in a row of float32. The loss defines the meaning of the numbers (train/core/loss.h).
// Weights of samples, of any type, become float32 [samples].
//
// One thread at a time.
class Feeder {
 public:
  // `spec`: that of `elements`. Errors: those of FindFeederFields.
  static Result<std::unique_ptr<Feeder>> Create(std::unique_ptr<Iterator> elements,
                                                const Spec& spec, FeederOptions options);

  // Returns the next batch, nothing at the end, or the pipeline's error.
  Result<std::optional<TensorBatch>> Next();

  // Returns the pipeline's position after the batches returned. See Iterator.
  Result<Json> Save() const { return elements_->Save(); }
  Status Restore(const Json& state) { return elements_->Restore(state); }

  // Returns the total time that Next has waited for the pipeline.
  double waited_seconds() const { return static_cast<double>(waited_ns_) * 1e-9; }
  Profile GetProfile() const { return elements_->GetProfile(); }

 private:
  Feeder(std::unique_ptr<Iterator> elements, FeederFields fields, FeederOptions options);
  at::Tensor OnDevice(at::Tensor host) const;
  // Input `number` as it stands in host memory. Errors: offsets that do not fit the values.
  Result<Inputs> HostInput(size_t number, const Element& element) const;
  at::Tensor MakeInput(size_t number, const at::Tensor& host) const;
  Status CheckInput(size_t number, const Inputs& host, const SampleKey& batch) const;
  Result<at::Tensor> MakeTarget(size_t number, const Element& element) const;
  Result<at::Tensor> MakeSampleWeights(const Element& element) const;
  Status MakeTargets(const Element& element, Targets& targets) const;
  Result<TensorBatch> MakeBatch(const Element& element) const;

  const std::unique_ptr<Iterator> elements_;
  const FeederFields fields_;
  const FeederOptions options_;
  // Of FeederInput::normalize, on the device; undefined where there is none.
  struct Normalization {
    at::Tensor shifts, scales;
  };
  std::vector<Normalization> normalize_;  // one for each input
  int64_t waited_ns_ = 0;
};

}  // namespace stoker
