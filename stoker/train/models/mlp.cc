#include "stoker/train/models/mlp.h"

#include <torch/nn/modules/linear.h>

#include "stoker/train/core/model.h"
#include "stoker/train/models/feature_inputs_internal.h"
#include "stoker/train/models/hidden_layer_internal.h"
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
    for (const int64_t hidden : options.hidden) {
      AddHidden(place, width, hidden, options);
      place += 2 + (options.batch_norm ? 1 : 0) + (dropout_ > 0 ? 1 : 0);
      width = hidden;
    }
    last_ = register_module(std::to_string(place), torch::nn::Linear(width, options.classes));
  }

  bool LaunchesAlike() const override { return true; }
  bool DropsOut() const override { return dropout_ > 0; }
  NamedTensors VectorTables() const override {
    return features_ ? features_->VectorTables() : NamedTensors();
  }
  at::Tensor Forward(const at::Tensor& input) override {
    at::Tensor x = input.flatten(1);
    if (features_) x = features_->Forward(x);
    for (size_t i = 0; i < hidden_.size(); ++i) {
      x = RunBlock(i, x, [this, i](const at::Tensor& in) { return hidden_[i](in); });
    }
    return last_(x);
  }

 private:
  void AddHidden(int64_t place, int64_t in, int64_t out, const Mlp& options) {
    const internal::HiddenLayer& layer = hidden_.emplace_back(
        in, out, internal::HiddenOptions{options.activation, options.batch_norm, options.dropout});
    register_module(std::to_string(place), layer.linear());
    if (layer.norm()) register_module(std::to_string(place + 1), layer.norm());
    AddBlock(std::to_string(place), layer.modules());
  }

  const double dropout_;
  std::shared_ptr<internal::FeatureVectors> features_;  // null: the input is numbers
  std::vector<internal::HiddenLayer> hidden_;
  torch::nn::Linear last_{nullptr};
};

}  // namespace

void Mlp::Describe(OptionTable<Mlp>& table) {
  table
      .Field("classes", &Mlp::classes, "number of outputs: one a class, label or number",
             WidthRange())
      .Field("hidden", &Mlp::hidden, "widths of the layers before the last", WidthRange())
      .Field("dropout", &Mlp::dropout, "share of values dropped after each activation",
             OptionRange{.low = 0, .high = 0.99})
      .Field("activation", &Mlp::activation, "function between the layers", internal::Activations())
      .Field("batch_norm", &Mlp::batch_norm,
             "whether a batch norm stands between each layer but the last and its activation; a "
             "batch of "
             "one sample cannot be trained on then (`batch: {drop_remainder: true}`)");
}

Result<std::shared_ptr<Model>> Mlp::Build(const ModelInput& input) const {
  STOKER_RETURN_IF_ERROR(internal::CheckOneHotWidth(kName, input.features, FeaturePart::kBoth));
  return std::make_shared<MlpModel>(*this, input);
}

}  // namespace stoker
