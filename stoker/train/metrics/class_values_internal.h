// What metrics have in common: means over batches, and values of single classes.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "stoker/base/json.h"

namespace stoker {

// A mean over the samples of all batches, whose sums stay on their device until it is read.
class BatchesMean {
 public:
  //   sum     of the batch's values, each times what it counts
  //   weight  what they count together
  void Add(const at::Tensor& sum, const at::Tensor& weight);
  // NaN where nothing counts. REQUIRES: at least one Add.
  double Value() const;

 private:
  at::Tensor sum_, weight_;
};

// The mean of the values that are numbers; NaN where there is none.
double MeanOf(const std::vector<double>& values);

// A value of JSON, which has no NaN: null stands for what cannot be said.
Json ValueOrNull(double value);
Json ListOf(const std::vector<double>& values);

}  // namespace stoker
