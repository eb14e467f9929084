// What models make of a row of features (data/core/feature_layout.h): one vector of floats for
// layers that follow, or scores at once.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>

#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/feature_layout.h"
#include "stoker/train/core/named_tensor.h"
#include "stoker/train/kernels/feature_gather.h"

namespace stoker::internal {

// The values of some features, taken out of rows. Copies share nothing that changes.
class FeatureSlots {
 public:
  // The columns of `layout` that `part` gets; kBoth: all of them.
  FeatureSlots(const FeatureLayout& layout, FeaturePart part);

  const std::vector<FeatureColumn>& columns() const { return columns_; }  // numbers first
  const std::vector<int64_t>& number_places() const { return numbers_.places; }
  const std::vector<int64_t>& category_places() const { return categories_.places; }
  int64_t num_numbers() const { return num_numbers_; }
  int64_t num_categories() const { return static_cast<int64_t>(most_.size()); }  // slots

  // Returns [samples, num_numbers]. REQUIRES: there are some.
  at::Tensor Numbers(const at::Tensor& rows);

  // The slots of categories, [samples, num_categories]: numbers in the range of each feature, and
  // what each counts: 1, a part of it in a list that is averaged, or 0 where there is no category.
  struct Categories {
    at::Tensor ids;     // int64
    at::Tensor counts;  // float32
  };
  Categories CategoriesOf(const at::Tensor& rows);

 private:
  // One range, or places.
  struct Choice {
    std::vector<int64_t> places;
    at::Tensor on_device;
  };
  static at::Tensor Chosen(const at::Tensor& rows, Choice& choice);

  std::vector<FeatureColumn> columns_;
  int64_t num_numbers_ = 0;
  Choice numbers_, categories_;
  std::vector<int64_t> most_;  // the greatest number in each slot of categories
  at::Tensor most_on_device_;
};

// Checks that FeatureVectors has no more one-hot values than fit. Errors: kInvalidArgument, which
// names the feature with the most categories and says what to do.
Status CheckOneHotWidth(std::string_view model, const FeatureLayout& layout, FeaturePart part);

// Makes one vector of each row: the numbers, then for each feature of categories without an
// embedding a value for each category (one-hot), then the vectors of the others. Parameters:
// `embeddings.NAME.weight`, from a normal distribution with deviation 1 / sqrt(width), as
// tf.feature_column has it.
class FeatureVectors : public torch::nn::Module {
 public:
  FeatureVectors(const FeatureLayout& layout, FeaturePart part);
  int64_t width() const { return gather_->width; }
  // As Model::VectorTables.
  NamedTensors VectorTables() const;
  // rows: float [samples, slots]. Returns float [samples, width]. Rows that want gradients get none
  // on the CPU.
  at::Tensor Forward(const at::Tensor& rows);
  // The same of torch's own parts, for other devices and for tests.
  at::Tensor ForwardOfParts(const at::Tensor& rows);

 private:
  FeatureSlots slots_;
  c10::intrusive_ptr<FeatureGather> gather_;
  std::vector<torch::nn::Embedding> embeddings_;  // the tables
  int64_t one_hot_width_ = 0;
};

// One linear layer over numbers and categories, whose weights begin at zero, as those of
// tf.estimator's linear models. Parameters: `numbers` [classes, numbers], `categories.weight` [all
// categories, classes] and `bias` [classes].
class FeatureWeights : public torch::nn::Module {
 public:
  FeatureWeights(const FeatureLayout& layout, FeaturePart part, int64_t classes);
  // Returns float [samples, classes].
  at::Tensor Forward(const at::Tensor& rows);
  // The same of torch's own parts.
  at::Tensor ForwardOfParts(const at::Tensor& rows);

 private:
  at::Tensor OfNumbers(const at::Tensor& rows);

  FeatureSlots slots_;
  c10::intrusive_ptr<FeatureGather> gather_;  // of the categories
  torch::nn::Embedding categories_{nullptr};  // null: there are none
  at::Tensor numbers_, bias_;
  std::vector<int64_t> begins_;  // of each slot's categories among all
  at::Tensor begins_on_device_;
};

}  // namespace stoker::internal
