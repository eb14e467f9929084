#include "stoker/train/models/feature_inputs_internal.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/container/moduledict.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stoker::internal {
namespace {

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

// Modules' names have no dots.
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
    const bool chosen = part == FeaturePart::kBoth || column.part == FeaturePart::kBoth ||
                        column.part == part;
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
  const at::Tensor numbers = Chosen(rows, categories_).to(at::kLong);
  // The pipeline has checked the numbers; what a user predicts on has not been through it.
  Categories found{.ids = at::minimum(numbers.clamp_min(0), OnDeviceOf(rows, most_, most_on_device_)),
                   .counts = numbers.ge(0).to(at::kFloat)};
  int64_t at = 0;
  for (const FeatureColumn& column : columns_) {
    if (column.is_numbers()) continue;
    const int64_t begin = std::exchange(at, at + column.slots);
    if (column.slots == 1 || !column.mean) continue;
    at::Tensor counts = found.counts.narrow(1, begin, column.slots);
    counts.div_(counts.sum(1, /*keepdim=*/true).clamp_min(1));
  }
  return found;
}

namespace {

// Makes the embeddings of features, one for all that share it.
class Embeddings {
 public:
  explicit Embeddings(torch::nn::ModuleDict list) : list_(std::move(list)) {}

  torch::nn::Embedding For(const FeatureColumn& column) {
    const auto same = std::ranges::find_if(shared_, [&](const auto& one) {
      return !column.shared.empty() && one.first == column.shared;
    });
    if (same != shared_.end()) return same->second;
    torch::nn::Embedding made(column.categories, column.embedding);
    const double deviation = 1 / std::sqrt(static_cast<double>(column.embedding));
    torch::nn::init::normal_(made->weight, 0, deviation);
    names_.push_back(ModuleName(column.shared.empty() ? column.name : column.shared, names_));
    list_->update({{names_.back(), made.ptr()}});
    if (!column.shared.empty()) shared_.emplace_back(column.shared, made);
    return made;
  }

 private:
  torch::nn::ModuleDict list_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, torch::nn::Embedding>> shared_;
};

}  // namespace

FeatureVectors::FeatureVectors(const FeatureLayout& layout, FeaturePart part)
    : slots_(layout, part) {
  Embeddings embeddings(register_module("embeddings", torch::nn::ModuleDict()));
  int64_t begin = 0, embedded = 0;
  for (const FeatureColumn& column : slots_.columns()) {
    if (column.is_numbers()) continue;
    Encoded encoded{.begin = std::exchange(begin, begin + column.slots), .slots = column.slots};
    if (column.embedding > 0) {
      encoded.embedding = embeddings.For(column);
      embedded += column.embedding;
    } else {
      encoded.one_hot_at = std::exchange(one_hot_width_, one_hot_width_ + column.categories);
    }
    encoded_.push_back(std::move(encoded));
  }
  width_ = slots_.num_numbers() + one_hot_width_ + embedded;
}

at::Tensor FeatureVectors::Forward(const at::Tensor& rows) {
  std::vector<at::Tensor> parts;
  if (slots_.num_numbers() > 0) parts.push_back(slots_.Numbers(rows));
  if (slots_.num_categories() == 0) return parts.front();
  const auto [ids, counts] = slots_.CategoriesOf(rows);
  at::Tensor one_hot;
  if (one_hot_width_ > 0) {
    one_hot = at::zeros({rows.size(0), one_hot_width_}, counts.options());
    parts.push_back(one_hot);
  }
  for (const Encoded& encoded : encoded_) {
    const at::Tensor of = ids.narrow(1, encoded.begin, encoded.slots);
    const at::Tensor count = counts.narrow(1, encoded.begin, encoded.slots);
    if (encoded.embedding) {
      const at::Tensor vectors = at::embedding((*encoded.embedding)->weight, of);
      parts.push_back((vectors * count.unsqueeze(2)).sum(1));
    } else {
      one_hot.scatter_add_(1, of + encoded.one_hot_at, count);
    }
  }
  return at::cat(parts, 1);
}

FeatureWeights::FeatureWeights(const FeatureLayout& layout, FeaturePart part, int64_t classes)
    : slots_(layout, part) {
  if (slots_.num_numbers() > 0)
    numbers_ = register_parameter("numbers", at::zeros({classes, slots_.num_numbers()}));
  int64_t categories = 0;
  for (const FeatureColumn& column : slots_.columns()) {
    if (column.is_numbers()) continue;
    const int64_t begin = std::exchange(categories, categories + column.categories);
    begins_.insert(begins_.end(), static_cast<size_t>(column.slots), begin);
  }
  if (categories > 0)
    categories_ = register_parameter("categories", at::zeros({categories, classes}));
  bias_ = register_parameter("bias", at::zeros({classes}));
}

at::Tensor FeatureWeights::Forward(const at::Tensor& rows) {
  at::Tensor scores = bias_;
  if (numbers_.defined()) scores = scores + slots_.Numbers(rows).matmul(numbers_.t());
  if (categories_.defined()) {
    const auto [ids, counts] = slots_.CategoriesOf(rows);
    const at::Tensor weights =
        at::embedding(categories_, ids + OnDeviceOf(rows, begins_, begins_on_device_));
    scores = scores + (weights * counts.unsqueeze(2)).sum(1);
  }
  return scores;
}

}  // namespace stoker::internal
