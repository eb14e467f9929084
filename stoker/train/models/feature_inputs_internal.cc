#include "stoker/train/models/feature_inputs_internal.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/container/moduledict.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/train/models/table_vectors_internal.h"

namespace stoker::internal {
namespace {

// Inputs of a layer: beyond this, the rows of a batch and the weights take gigabytes.
constexpr int64_t kMostOneHot = 1 << 16;

// Returns `values` on the device of `like`, kept in `kept` for the next batch.
const at::Tensor& OnDeviceOf(const at::Tensor& like, const std::vector<int64_t>& values,
                             at::Tensor& kept) {
  if (!kept.defined() || kept.device() != like.device())
    kept = at::tensor(values, at::kLong).to(like.device());
  return kept;
}

bool IsRange(const std::vector<int64_t>& places) {
  return places.back() - places.front() + 1 == static_cast<int64_t>(places.size());
}

// Names of modules have no dots.
std::string ModuleName(std::string name, const std::vector<std::string>& taken) {
  std::ranges::replace(name, '.', '_');
  if (name.empty()) name = "_";
  while (std::ranges::find(taken, name) != taken.end()) name += '_';
  return name;
}

}  // namespace

FeatureSlots::FeatureSlots(const FeatureLayout& layout, FeaturePart part) {
  int64_t at = 0;
  for (const FeatureColumn& column : layout.columns) {
    const int64_t begin = std::exchange(at, at + column.slots);
    const bool chosen =
        part == FeaturePart::kBoth || column.part == FeaturePart::kBoth || column.part == part;
    if (!chosen) continue;
    columns_.push_back(column);
    Choice& choice = column.is_numbers() ? numbers_ : categories_;
    for (int64_t slot = 0; slot < column.slots; ++slot) {
      choice.places.push_back(begin + slot);
      if (!column.is_numbers()) most_.push_back(column.categories - 1);
    }
    if (column.is_numbers()) num_numbers_ += column.slots;
  }
}

at::Tensor FeatureSlots::Chosen(const at::Tensor& rows, Choice& choice) {
  const std::vector<int64_t>& places = choice.places;
  if (IsRange(places)) return rows.narrow(1, places.front(), static_cast<int64_t>(places.size()));
  return rows.index_select(1, OnDeviceOf(rows, places, choice.on_device));
}

at::Tensor FeatureSlots::Numbers(const at::Tensor& rows) { return Chosen(rows, numbers_); }

FeatureSlots::Categories FeatureSlots::CategoriesOf(const at::Tensor& rows) {
  const at::Tensor numbers = Chosen(rows, categories_);
  const at::Tensor there = numbers.ge(0);
  // The pipeline has checked the numbers; what a user predicts on has not been through it. NaN is
  // none, and all is bounded before it becomes an integer.
  const at::Tensor bounded =
      at::minimum(numbers.masked_fill(there.logical_not(), 0),
                  OnDeviceOf(rows, most_, most_on_device_).to(numbers.scalar_type()));
  Categories found{.ids = bounded.to(at::kLong), .counts = there.to(at::kFloat)};
  int64_t at = 0;
  for (const FeatureColumn& column : columns_) {
    if (column.is_numbers()) continue;
    const int64_t begin = std::exchange(at, at + column.slots);
    if (column.slots == 1 || column.combine == CombineVectors::kSum) continue;
    at::Tensor counts = found.counts.narrow(1, begin, column.slots);
    const at::Tensor count = counts.sum(1, /*keepdim=*/true).clamp_min(1);
    counts.div_(column.combine == CombineVectors::kMean ? count : count.sqrt());
  }
  return found;
}

namespace {

// Makes the embeddings of features, one for all that share it.
class Embeddings {
 public:
  explicit Embeddings(torch::nn::ModuleDict list) : list_(std::move(list)) {}

  // Returns the place of a feature's embedding among those made.
  size_t For(const FeatureColumn& column) {
    const auto same = std::ranges::find(shared_, column.shared);
    if (!column.shared.empty() && same != shared_.end())
      return static_cast<size_t>(same - shared_.begin());
    torch::nn::Embedding embedding(column.categories, column.embedding);
    const double deviation = 1 / std::sqrt(static_cast<double>(column.embedding));
    torch::nn::init::normal_(embedding->weight, 0, deviation);
    names_.push_back(ModuleName(column.shared.empty() ? column.name : column.shared, names_));
    list_->update({{names_.back(), embedding.ptr()}});
    shared_.push_back(column.shared);
    made_.push_back(std::move(embedding));
    return made_.size() - 1;
  }
  const std::vector<torch::nn::Embedding>& made() const { return made_; }

 private:
  torch::nn::ModuleDict list_;
  std::vector<std::string> names_, shared_;
  std::vector<torch::nn::Embedding> made_;
};

// The features of categories, without where they go.
std::vector<GatheredFeature> GatheredOf(const FeatureSlots& slots) {
  std::vector<GatheredFeature> features;
  size_t place = 0;
  for (const FeatureColumn& column : slots.columns()) {
    if (column.is_numbers()) continue;
    features.push_back({.slot = slots.category_places()[place],
                        .slots = column.slots,
                        .categories = column.categories,
                        .combine = column.combine});
    place += static_cast<size_t>(column.slots);
  }
  return features;
}

}  // namespace

Status CheckOneHotWidth(std::string_view model, const FeatureLayout& layout, FeaturePart part) {
  int64_t width = 0;
  const FeatureColumn* widest = nullptr;
  const FeatureSlots slots(layout, part);
  for (const FeatureColumn& column : slots.columns()) {
    if (column.is_numbers() || column.embedding > 0) continue;
    width += column.categories;
    if (widest == nullptr || column.categories > widest->categories) widest = &column;
  }
  if (width <= kMostOneHot) return OkStatus();
  return InvalidArgument(
      "{}: categories without an embedding have {} inputs, of which {} are of feature '{}'; at "
      "most {} are supported: give it an `embedding`, or fewer categories by `hash`, `limit` or "
      "`buckets`",
      model, width, widest->categories, widest->name, kMostOneHot);
}

FeatureVectors::FeatureVectors(const FeatureLayout& layout, FeaturePart part)
    : slots_(layout, part), gather_(c10::make_intrusive<FeatureGather>()) {
  Embeddings embeddings(register_module("embeddings", torch::nn::ModuleDict()));
  gather_->numbers = slots_.number_places();
  gather_->features = GatheredOf(slots_);
  // One-hot values stand together, before the vectors.
  for (const bool embedded : {false, true}) {
    size_t number = 0;
    for (const FeatureColumn& column : slots_.columns()) {
      if (column.is_numbers()) continue;
      GatheredFeature& feature = gather_->features[number++];
      if ((column.embedding > 0) != embedded) continue;
      feature.to = slots_.num_numbers() + gather_->width;
      gather_->width += embedded ? column.embedding : column.categories;
      if (embedded) feature.table = embeddings.For(column);
    }
    if (!embedded) one_hot_width_ = gather_->width;
  }
  gather_->width += slots_.num_numbers();
  embeddings_ = embeddings.made();
  for (const torch::nn::Embedding& made : embeddings_) {
    gather_->table_rows.push_back(made->weight.size(0));
    gather_->table_widths.push_back(made->weight.size(1));
  }
}

NamedTensors FeatureVectors::VectorTables() const {
  NamedTensors tables;
  size_t number = 0;
  for (const FeatureColumn& column : slots_.columns()) {
    if (column.is_numbers()) continue;
    const GatheredFeature& feature = gather_->features[number++];
    if (feature.table) tables.push_back({column.name, embeddings_[*feature.table]->weight});
  }
  return tables;
}

at::Tensor FeatureVectors::Forward(const at::Tensor& rows) {
  std::vector<at::Tensor> tables;
  std::vector<bool> of_rows;
  for (const torch::nn::Embedding& embedding : embeddings_) {
    tables.push_back(embedding->weight);
    of_rows.push_back(embedding->options.sparse());
  }
  const at::Tensor dense = rows.contiguous();
  if (CanGatherFeatures(dense, tables)) return GatherFeatures(dense, gather_, tables, of_rows);
  return ForwardOfParts(rows);
}

at::Tensor FeatureVectors::ForwardOfParts(const at::Tensor& rows) {
  std::vector<at::Tensor> parts;
  if (slots_.num_numbers() > 0) parts.push_back(slots_.Numbers(rows));
  if (slots_.num_categories() == 0) return parts.front();
  const auto [ids, counts] = slots_.CategoriesOf(rows);
  at::Tensor one_hot;
  if (one_hot_width_ > 0) {
    one_hot = at::zeros({rows.size(0), one_hot_width_}, counts.options());
    parts.push_back(one_hot);
  }
  int64_t slot = 0;
  for (const GatheredFeature& feature : gather_->features) {
    const int64_t begin = std::exchange(slot, slot + feature.slots);
    const at::Tensor of = ids.narrow(1, begin, feature.slots);
    const at::Tensor count = counts.narrow(1, begin, feature.slots);
    if (feature.table) {
      parts.push_back(CountedVectors(embeddings_[*feature.table], of, count).sum(1));
    } else {
      one_hot.scatter_add_(1, of + (feature.to - slots_.num_numbers()), count);
    }
  }
  return at::cat(parts, 1);
}

FeatureWeights::FeatureWeights(const FeatureLayout& layout, FeaturePart part, int64_t classes)
    : slots_(layout, part), gather_(c10::make_intrusive<FeatureGather>()) {
  if (slots_.num_numbers() > 0)
    numbers_ = register_parameter("numbers", at::zeros({classes, slots_.num_numbers()}));
  int64_t categories = 0;
  gather_->features = GatheredOf(slots_);
  for (GatheredFeature& feature : gather_->features) {
    feature.table = 0;
    feature.first_row = std::exchange(categories, categories + feature.categories);
    begins_.insert(begins_.end(), static_cast<size_t>(feature.slots), feature.first_row);
  }
  if (categories > 0) {
    const at::Tensor zeros = at::zeros({categories, classes});
    categories_ = register_module(
        "categories",
        torch::nn::Embedding(torch::nn::EmbeddingOptions(categories, classes)._weight(zeros)));
  }
  bias_ = register_parameter("bias", at::zeros({classes}));
  gather_->width = classes;
  gather_->table_rows = {categories};
  gather_->table_widths = {classes};
}

at::Tensor FeatureWeights::OfNumbers(const at::Tensor& rows) {
  return numbers_.defined() ? at::linear(slots_.Numbers(rows), numbers_, bias_) : bias_;
}

at::Tensor FeatureWeights::Forward(const at::Tensor& rows) {
  const at::Tensor dense = rows.contiguous();
  if (!categories_ || !CanGatherFeatures(dense, {categories_->weight})) return ForwardOfParts(rows);
  return GatherFeatures(dense, gather_, {categories_->weight}, {categories_->options.sparse()}) +
         OfNumbers(rows);
}

at::Tensor FeatureWeights::ForwardOfParts(const at::Tensor& rows) {
  const at::Tensor scores = OfNumbers(rows);
  if (!categories_) return scores;
  const auto [ids, counts] = slots_.CategoriesOf(rows);
  const at::Tensor places = ids + OnDeviceOf(rows, begins_, begins_on_device_);
  return scores + CountedVectors(categories_, places, counts).sum(1);
}

}  // namespace stoker::internal
