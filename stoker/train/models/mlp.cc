#include "stoker/train/models/mlp.h"

#include <torch/nn/modules/linear.h>

#include "stoker/train/core/layers.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/feature_inputs_internal.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker {
namespace {

class MlpModel final : public Model {
 public:
  MlpModel(const Mlp& options, const ModelInput& input) : dropout_(options.dropout) {
    int64_t width = input.num_values();
    if (input.features.HasCategories()) {
      features_ = register_module("features", std::make_shared<internal::FeatureVectors>(
                                                  input.features, FeaturePart::kBoth));
      width = features_->width();
    }
    int64_t place = 1;  // 0 is Flatten
    const int64_t places_a_layer = dropout_ > 0 ? 3 : 2;
    for (const int64_t hidden : options.hidden) {
      AddLayer(place, width, hidden);
      AddBlock(std::to_string(place), {layers_.back().ptr()});
      place += places_a_layer;
      width = hidden;
    }
    AddLayer(place, width, options.classes);
  }

  bool LaunchesAlike() const override { return true; }
  bool DropsOut() const override { return dropout_ > 0; }
  NamedTensors VectorTables() const override {
    return features_ ? features_->VectorTables() : NamedTensors();
  }
  at::Tensor Forward(const at::Tensor& input) override {
    at::Tensor x = input.flatten(1);
    if (features_) x = features_->Forward(x);
    for (size_t i = 0; i + 1 < layers_.size(); ++i) {
      x = RunBlock(i, x, [this, i](const at::Tensor& in) {
        const at::Tensor out = layers_[i](in).relu_();
        return dropout_ > 0 ? Dropout(out, dropout_, is_training()) : out;
      });
    }
    return layers_.back()(x);
  }

 private:
  void AddLayer(int64_t place, int64_t in, int64_t out) {
    layers_.push_back(register_module(std::to_string(place), torch::nn::Linear(in, out)));
  }

  const double dropout_;
  std::shared_ptr<internal::FeatureVectors> features_;  // null: the input is numbers
  std::vector<torch::nn::Linear> layers_;
};

}  // namespace

void Mlp::Describe(OptionTable<Mlp>& table) {
  table
      .Field("classes", &Mlp::classes, "number of outputs: one a class, label or number",
             WidthRange())
      .Field("hidden", &Mlp::hidden, "widths of the layers before the last", WidthRange())
      .Field("dropout", &Mlp::dropout, "share of values dropped after each ReLU",
             OptionRange{.low = 0, .high = 0.99});
}

Result<std::shared_ptr<Model>> Mlp::Build(const ModelInput& input) const {
  STOKER_RETURN_IF_ERROR(internal::CheckOneHotWidth(kName, input.features, FeaturePart::kBoth));
  return std::make_shared<MlpModel>(*this, input);
}

}  // namespace stoker
