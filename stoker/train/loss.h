// Loss: how wrong a batch of scores is; what training makes small.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/train/row_names.h"

namespace stoker {

struct TensorBatch;

// Immutable; concurrent calls are safe.
//   scores  float, [samples, classes], as the model gives them
//   target  int64, [samples], 0 <= value < classes
class Loss {
 public:
  virtual ~Loss() = default;

  // The mean over the samples: a float scalar that can be differentiated. Throws c10::Error on
  // wrong shapes and values.
  virtual at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const = 0;

  // The class that each sample is taken for, int64 [samples]: that of the highest score, unless the
  // loss gives the scores another meaning.
  virtual at::Tensor Predict(const at::Tensor& scores) const { return scores.argmax(1); }

  // What the mean was divided by, so that means of batches make the mean of them all: the samples,
  // or where classes have weights, the sum of theirs, for which a device is waited for.
  virtual double Weight(const at::Tensor& target) const {
    return static_cast<double>(target.size(0));
  }
};

// What is wrong with the target of `batch` for so many classes: names the first sample whose class
// number does not exist, as `names` does. Ok where nothing is. Reads the target back from its
// device: for error messages only.
Status CheckTarget(const TensorBatch& batch, int64_t classes, const RowNames& names);

}  // namespace stoker
