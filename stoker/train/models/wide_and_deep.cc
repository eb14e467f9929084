#include "stoker/train/models/wide_and_deep.h"

#include <algorithm>

#include "stoker/train/core/layers.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/feature_inputs_internal.h"
#include "stoker/train/models/linear_layers_internal.h"
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
    layers_ = AddLinearLayers(register_module("layers", torch::nn::ModuleList()), deep_->width(),
                              options.hidden, options.classes);
  }

  bool LaunchesAlike() const override { return true; }
  bool DropsOut() const override { return dropout_ > 0; }
  NamedTensors VectorTables() const override { return deep_->VectorTables(); }

  at::Tensor Forward(const at::Tensor& input) override {
    const at::Tensor rows = input.flatten(1);
    at::Tensor x = deep_->Forward(rows);
    for (size_t i = 0; i + 1 < layers_.size(); ++i) {
      x = layers_[i](x).relu_();
      if (dropout_ > 0) x = Dropout(x, dropout_, is_training());
    }
    return layers_.back()(x) + wide_->Forward(rows);
  }

 private:
  const double dropout_;
  const std::shared_ptr<internal::FeatureWeights> wide_;
  const std::shared_ptr<internal::FeatureVectors> deep_;
  std::vector<torch::nn::Linear> layers_;
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
      .Field("dropout", &WideAndDeep::dropout, "share of values dropped after each ReLU",
             OptionRange{.low = 0, .high = 0.99});
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
