// Feeder: the last hop of the input pipeline. Takes elements from an Iterator and hands out what a
// training step wants: an input and a target tensor, on the device, in the layout the model likes.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/MemoryFormat.h>

#include <functional>
#include <memory>
#include <optional>
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

namespace stoker {

struct TensorBatch {
  at::Tensor input;  // float32, [samples, ...]; images [samples, channels, height, width]
  // int64 or float32, [samples], or float32 [samples, numbers] (see Feeder); undefined where
  // FeederOptions::target is nothing
  at::Tensor target;
  SampleKey key = {};             // of its element: the batch's number
  std::vector<Array> along = {};  // the fields FeederOptions::along, untouched, in host memory

  int64_t size() const { return input.size(0); }
};

// Looks at the targets of a batch.
using TargetCheck = std::function<Status(const at::Tensor& target, const SampleKey& batch)>;

struct FeederOptions {
  std::string input = "image";  // the field that becomes TensorBatch::input
  // The field that becomes TensorBatch::target; nothing: targets are not wanted and need not be
  // there, as in data that are only predicted from.
  std::optional<std::string> target = "label";
  std::vector<std::string> along = {};  // the fields that become TensorBatch::along
  c10::Device device = c10::kCPU;
  // Whether inputs of four dimensions come as [samples, height, width, channels].
  bool channels_last = false;
  // Of the inputs with four dimensions; the others stay contiguous.
  at::MemoryFormat memory_format = at::MemoryFormat::Contiguous;
  // Where there are any, inputs are bytes, which travel as such and become (x - shift) * scale on
  // the device: one pair for all values, or one for each channel. The bits are those of `normalize`
  // in a pipeline (on accelerators, whose arithmetic is IEEE 754's too).
  std::vector<ShiftScale> normalize = {};
  // For the caller who knows what targets must be like: is shown each batch of them in CPU memory
  // before it travels, on the thread that calls Next. Floating-point ones come as float32;
  // integers, one a sample, come as they are, and only where they travel to an accelerator: a
  // kernel that finds a class number that does not exist there ends the process's use of the
  // device, while on the CPU it throws. An error comes in the place of the batch. May be empty.
  TargetCheck check_target = {};
};

// The places of the fields in a Spec, after checking that input and target can be used. Errors
// (kInvalidArgument, naming the field and what to put into the recipe): no such field, no batch
// dimension, an input that is not floating point (with `normalize`: not bytes), a target that is
// neither one number a sample nor a row of as many for each.
struct FeederFields {
  size_t input = 0;
  std::optional<size_t> target;
  std::vector<size_t> along;
};
Result<FeederFields> FindFeederFields(const Spec& spec, const FeederOptions& options);

// On the CPU an input of float32 that has the layout asked for is not copied: the tensor shares the
// element's memory. Narrower floats become float32 on the device, so half the bytes travel. For an
// accelerator the batch is staged in pinned memory and copied on the current stream without
// waiting, so that the copy of a batch runs while the kernels launched before are still at work.
//
// Targets go the same way, in the type that they have, and get theirs on the device: integers (and
// bool), one a sample, become int64 [samples]; floats, one a sample, float32 [samples]; several
// numbers a sample, of whatever type, float32 [samples, numbers]. Integers above 2^24 lose their
// last bits in a row of float32. What the numbers mean is for the loss to say (train/core/loss.h).
//
// One thread at a time.
class Feeder {
 public:
  // `spec`: of the elements that `elements` gives. Errors: those of FindFeederFields.
  static Result<std::unique_ptr<Feeder>> Create(std::unique_ptr<Iterator> elements,
                                                const Spec& spec, FeederOptions options);

  // The next batch, nothing at the end, or the pipeline's error.
  Result<std::optional<TensorBatch>> Next();

  // Where the pipeline stands: the batches handed out are done. See Iterator.
  Result<Json> Save() const { return elements_->Save(); }
  Status Restore(const Json& state) { return elements_->Restore(state); }

  // Time spent waiting in Next for the pipeline, in all: what the model was kept from computing.
  double waited_seconds() const { return static_cast<double>(waited_ns_) * 1e-9; }
  Profile GetProfile() const { return elements_->GetProfile(); }

 private:
  Feeder(std::unique_ptr<Iterator> elements, FeederFields fields, FeederOptions options);
  at::Tensor OnDevice(at::Tensor host) const;
  at::Tensor MakeInput(const Array& array) const;
  Result<at::Tensor> MakeTarget(const Element& element) const;
  Result<TensorBatch> MakeBatch(const Element& element) const;

  const std::unique_ptr<Iterator> elements_;
  const FeederFields fields_;
  const FeederOptions options_;
  at::Tensor shifts_, scales_;  // of options_.normalize, on the device
  int64_t waited_ns_ = 0;
};

}  // namespace stoker
