#include "stoker/train/models/linear.h"

#include <torch/nn/modules/linear.h>

#include "stoker/train/core/model.h"
#include "stoker/train/models/feature_inputs_internal.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker {
namespace {

class LinearModel final : public Model {
 public:
  LinearModel(int64_t values, int64_t classes) : layer_(values, classes) {
    // Place 1 of torch.nn.Sequential(Flatten(), Linear(values, classes)).
    register_module("1", layer_);
  }

  bool LaunchesAlike() const override { return true; }
  at::Tensor Forward(const at::Tensor& input) override { return layer_(input.flatten(1)); }

 private:
  torch::nn::Linear layer_;
};

class LinearFeaturesModel final : public Model {
 public:
  LinearFeaturesModel(const FeatureLayout& features, int64_t classes)
      : layer_(register_module("features", std::make_shared<internal::FeatureWeights>(
                                               features, FeaturePart::kBoth, classes))) {}

  bool LaunchesAlike() const override { return true; }
  at::Tensor Forward(const at::Tensor& input) override { return layer_->Forward(input.flatten(1)); }

 private:
  const std::shared_ptr<internal::FeatureWeights> layer_;
};

}  // namespace

void Linear::Describe(OptionTable<Linear>& table) {
  table.Field("classes", &Linear::classes, "number of outputs: one a class, label or number",
              WidthRange());
}

Result<std::shared_ptr<Model>> Linear::Build(const ModelInput& input) const {
  if (input.features.HasCategories())
    return std::make_shared<LinearFeaturesModel>(input.features, classes);
  return std::make_shared<LinearModel>(input.num_values(), classes);
}

}  // namespace stoker
