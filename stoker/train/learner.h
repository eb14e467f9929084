// Learner: model, optimizer and loss on one device in one layout; what a batch is put through.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/device/feeder.h"
#include "stoker/train/choices.h"
#include "stoker/train/model.h"
#include "stoker/train/optimizer.h"
#include "stoker/train/recipe.h"

namespace stoker {

struct Placement {
  c10::Device device = c10::kCPU;
  MemoryFormat memory_format = MemoryFormat::kContiguous;
};

at::MemoryFormat ToTorch(MemoryFormat format);

// Seeds torch's generators, builds the model and moves it where it computes. Equal seeds give equal
// weights, whatever the placement.
Result<std::shared_ptr<Model>> BuildModel(const ModelRegistry::Configured& configured,
                                          const ModelInput& input, uint64_t seed,
                                          const Placement& placement);

// One thread at a time; computes on as many as at::set_num_threads was told.
class Learner {
 public:
  static Result<std::unique_ptr<Learner>> Create(const Recipe& recipe, const ModelInput& input,
                                                 const Placement& placement);

  // Forward, backward, optimizer. Returns the batch's mean loss before the step: a float scalar on
  // the device, not waited for. On the CPU, where the loss is there at once, one that is not finite
  // stops the step before any weight changes. Errors: a class number out of range (which sample),
  // shapes that do not fit, no memory.
  Result<at::Tensor> Step(const TensorBatch& batch, const ScheduleValue& now);

  // Errors: kFailedPrecondition where a parameter or buffer holds a NaN or an infinity (which).
  // Reads all of them: for before a checkpoint.
  Status CheckFinite() const;

  Model& model() { return *model_; }

  // Parameters, buffers and optimizer state, for a checkpoint. Shares memory: write them out before
  // the next step.
  Result<std::vector<NamedArray>> Save() const;
  // `source`: what messages call the arrays' origin.
  Status Restore(std::span<const NamedArray> arrays, std::string_view source);

 private:
  Learner(std::shared_ptr<Model> model, std::unique_ptr<Optimizer> optimizer);
  void ClearGradients();

  const std::shared_ptr<Model> model_;
  const std::unique_ptr<Optimizer> optimizer_;
  std::vector<at::Tensor> parameters_;
};

}  // namespace stoker
