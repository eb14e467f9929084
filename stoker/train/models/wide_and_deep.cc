#include "stoker/train/models/wide_and_deep.h"

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>

#include "stoker/train/core/model.h"
#include "stoker/train/models/feature_inputs_internal.h"
#include "stoker/train/models/hidden_layer_internal.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker {
namespace {

class WideAndDeepModel final : public Model {
 public:
  WideAndDeepModel(const WideAndDeep& options, const FeatureLayout& features)
      : dropout_(options.dropout),
        wide_(register_module("wide", std::make_shared<internal::FeatureWeights>(
                                          features, FeaturePart::kWide, options.classes))),
        deep_(register_module(
            "deep", std::make_shared<internal::FeatureVectors>(features, FeaturePart::kDeep))) {
    torch::nn::ModuleList layers = register_module("layers", torch::nn::ModuleList());
    int64_t width = deep_->width();
    for (const int64_t hidden : options.hidden) {
      const internal::HiddenLayer& layer = hidden_.emplace_back(
          width, hidden,
          internal::HiddenOptions{options.activation, options.batch_norm, options.dropout});
      layers->push_back(layer.linear());
      if (layer.norm()) layers->push_back(layer.norm());
      width = hidden;
    }
    last_ = torch::nn::Linear(width, options.classes);
    layers->push_back(last_);
  }

  bool LaunchesAlike() const override { return true; }
  bool DropsOut() const override { return dropout_ > 0; }
  NamedTensors VectorTables() const override { return deep_->VectorTables(); }

  at::Tensor Forward(const at::Tensor& input) override {
    const at::Tensor rows = input.flatten(1);
    at::Tensor x = deep_->Forward(rows);
    for (internal::HiddenLayer& layer : hidden_) x = layer(x);
    return last_(x) + wide_->Forward(rows);
  }

 private:
  const double dropout_;
  const std::shared_ptr<internal::FeatureWeights> wide_;
  const std::shared_ptr<internal::FeatureVectors> deep_;
  std::vector<internal::HiddenLayer> hidden_;
  torch::nn::Linear last_{nullptr};
};

bool HasPart(const FeatureLayout& features, FeaturePart part) {
  return std::ranges::any_of(features.columns, [&](const FeatureColumn& column) {
    return column.part == part || column.part == FeaturePart::kBoth;
  });
}

}  // namespace

void WideAndDeep::Describe(OptionTable<WideAndDeep>& table) {
  table
      .Field("classes", &WideAndDeep::classes, "number of outputs: one a class, label or number",
             WidthRange())
      .Field("hidden", &WideAndDeep::hidden, "widths of the deep layers before the last",
             WidthRange())
      .Field("dropout", &WideAndDeep::dropout, "share of values dropped after each activation",
             OptionRange{.low = 0, .high = 0.99})
      .Field("activation", &WideAndDeep::activation, "function between the deep layers",
             internal::Activations())
      .Field("batch_norm", &WideAndDeep::batch_norm,
             "whether a batch norm stands between each deep layer but the last and its activation; "
             "a batch of "
             "one sample cannot be trained on then (`batch: {drop_remainder: true}`)");
}

Result<std::shared_ptr<Model>> WideAndDeep::Build(const ModelInput& input) const {
  if (input.features.empty()) {
    return InvalidArgument(
        "wide_and_deep takes rows of features: say with data.features what each column is, and set "
        "train.input to `features`, or take `mlp` for numbers alone");
  }
  if (!HasPart(input.features, FeaturePart::kWide) ||
      !HasPart(input.features, FeaturePart::kDeep)) {
    return InvalidArgument(
        "wide_and_deep: no feature is for its {} part; leave `part` out of some, or take {}",
        HasPart(input.features, FeaturePart::kWide) ? "deep" : "wide",
        HasPart(input.features, FeaturePart::kWide) ? "linear" : "mlp");
  }
  STOKER_RETURN_IF_ERROR(internal::CheckOneHotWidth(kName, input.features, FeaturePart::kDeep));
  return std::make_shared<WideAndDeepModel>(*this, input.features);
}

}  // namespace stoker
