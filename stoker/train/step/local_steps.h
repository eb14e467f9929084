// LocalSteps: ranks that learn apart for a number of steps and then take the mean of what they
// hold.
//
// Source: McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized
// Data", arXiv 1602.05629: each rank counts by the samples that it has learned from. The
// optimizer's state is averaged too, as Yu et al., "On the Linear Speedup Analysis of Communication
// Efficient Momentum SGD", arXiv 1905.03817, do with momentum; so all ranks hold the same then, and
// one checkpoint is that of all.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "stoker/base/status.h"
#include "stoker/cluster/group.h"

namespace stoker {

// Replaces the tensors of each rank by the weighted mean of all ranks', which have the same shapes,
// types and order; whole numbers are rounded. Every rank gets the same bytes. The tensors may have
// any strides, and lie on the CPU. Needs room for `bytes`, or for the largest tensor, twice.
//   weight  of this rank, not negative; that of all ranks together is positive
//   total   the sum of all ranks' weights
// Errors: those of Group; kResourceExhausted.
Status AverageOverRanks(Group& group, std::span<const at::Tensor> tensors, double weight,
                        double total, int64_t bytes);

// Counts the steps since the last mean. One thread at a time.
class LocalSteps {
 public:
  //   every  steps between two means
  explicit LocalSteps(int64_t every) : every_(every) {}

  // Notes a step that has moved the weights.
  //   mine, total  the weights (Loss::Weight) of its samples, of this rank and of all ranks
  void Note(double mine, double total) {
    ++steps_;
    mine_ += mine;
    total_ += total;
  }

  // Returns whether a mean is due, and whether ranks hold different weights. The same on all ranks.
  bool due() const { return steps_ >= every_; }
  bool apart() const { return total_ > 0; }

  // AverageOverRanks with the weights noted, which then begin anew. REQUIRES: apart.
  Status Average(Group& group, std::span<const at::Tensor> tensors, int64_t bytes);

  // Forgets what was noted, where all ranks have taken the same weights.
  void Forget() { *this = LocalSteps(every_); }

 private:
  int64_t every_;
  int64_t steps_ = 0;
  double mine_ = 0, total_ = 0;
};

}  // namespace stoker
