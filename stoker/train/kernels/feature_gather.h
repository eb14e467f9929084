// Takes rows of features apart (data/core/feature_layout.h) and puts what they stand for into one
// vector a sample, for the CPU.
//
// Of torch's own parts this is some six operators a feature, forward and backward, on some KB,
// which take longer to call than to run. This is one operator each way for all features.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/custom_class.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/data/core/combine_vectors.h"

namespace stoker {

// One feature of categories: `slots` numbers from `slot` on in a row, each a category, or below 0
// for none. Numbers beyond the last category count as that.
struct GatheredFeature {
  int64_t slot = 0;
  int64_t slots = 1;
  int64_t categories = 1;
  CombineVectors combine = CombineVectors::kMean;  // of several slots
  int64_t to = 0;                                  // the first value of the vector that it adds to
  std::optional<size_t> table;  // whose rows are added; nothing: 1 is added at to + category
  int64_t first_row = 0;        // of the table, for category 0
};

// What becomes of a row. Immutable once it is used.
struct FeatureGather : torch::CustomClassHolder {
  std::vector<int64_t> numbers;  // slots that are copied to the first values of the vector
  std::vector<GatheredFeature> features;
  std::vector<int64_t> table_rows, table_widths;
  int64_t width = 0;  // of the vector
};

// Returns whether GatherFeatures accepts them: float in CPU memory, dense.
bool CanGatherFeatures(const at::Tensor& rows, const std::vector<at::Tensor>& tables);

// Returns float [samples, width]; zeros where nothing is added. Has gradients for the tables, not
// for the rows, and no second derivatives. Each sum is in the order of the samples, so the bits do
// not depend on the number of threads. REQUIRES: CanGatherFeatures, and tables of the sizes that
// `gather` says.
//   rows     [samples, slots]
//   tables   [table_rows[i], table_widths[i]]
//   of_rows  which tables get a gradient of rows (train/core/row_gradient.h)
at::Tensor GatherFeatures(const at::Tensor& rows, const c10::intrusive_ptr<FeatureGather>& gather,
                          const std::vector<at::Tensor>& tables, const std::vector<bool>& of_rows);

}  // namespace stoker
